//! What must be true of the places of loops: holes inside and apart, regions inside, no angle of zero.

use crate::base::error::{Error, Result};
use crate::domain::plane::Point;

use super::arrangement::{Arrangement, LoopId, Owner, Strand};
use super::loops::{Loop, show};
use super::meeting::Polyline;

impl Arrangement {
    /// At a vertex no two boundaries meet, and no two strands with the domain between them at an angle of zero: there is no
    /// element for that place.
    pub(super) fn check_vertices(&self) -> Result<()> {
        const LEAST_ANGLE: f64 = 0.5;
        // Outgoing strands of each vertex: direction, strand, whether the domain is on its left.
        let mut outgoing: Vec<Vec<(f64, usize, bool)>> = vec![Vec::new(); self.vertices.len()];
        for (k, strand) in self.strands.iter().enumerate() {
            let [left, right] = strand.domain();
            let (d, e) = (strand.curve.derivative(0.0), strand.curve.derivative(1.0));
            outgoing[strand.ends[0]].push((d[1].atan2(d[0]), k, left));
            outgoing[strand.ends[1]].push(((-e[1]).atan2(-e[0]), k, right));
        }
        for (v, around) in outgoing.iter_mut().enumerate() {
            let place = show(self.vertices[v]);
            let owners = around.iter().flat_map(|&(_, k, _)| &self.strands[k].owners).filter(|o| o.id.is_boundary());
            let mut loops: Vec<&Owner> = Vec::new();
            for owner in owners {
                if loops.first().is_some_and(|first| first.id != owner.id) {
                    let what = if loops[0].id == LoopId::Outer { "the outer boundary" } else { "another hole" };
                    let problem = format!("the hole touches {what} at {place} ({})", loops[0].key);
                    return Err(Error::input(
                        &owner.key,
                        "the piece",
                        problem,
                        "a hole lies inside and touches no other boundary",
                    ));
                }
                loops.push(owner);
            }
            around.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (i, &(from, k, inside)) in around.iter().enumerate() {
                let (to, l, _) = around[(i + 1) % around.len()];
                let angle = (to - from).rem_euclid(std::f64::consts::TAU).to_degrees();
                if inside && k != l && angle < LEAST_ANGLE {
                    let (a, b) = (self.strands[k].key(), self.strands[l].key());
                    let problem = format!("it meets {a} at an angle of {} degrees at {place}", angle.round());
                    return Err(Error::input(
                        b,
                        "the piece",
                        problem,
                        "curves meet at an angle, or share a whole piece",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Holes inside and not in each other, regions inside. Strands of regions in holes are set aside.
    pub(super) fn check_places<'a>(&mut self, loops: impl Iterator<Item = (LoopId, &'a Loop)>) -> Result<()> {
        let lines: Vec<Polyline> = self.strands.iter().map(|s| Polyline::new(&s.curve)).collect();
        let inside = |id: LoopId, p: Point| {
            // A loop runs through a slit twice.
            let times = |strand: &Strand| strand.owners.iter().filter(|owner| owner.id == id).count();
            let own = self.strands.iter().zip(&lines).filter(|(strand, _)| times(strand) % 2 == 1);
            own.map(|(_, line)| line.crossed_by_ray(p)).sum::<usize>() % 2 == 1
        };
        let loops: Vec<(LoopId, &Loop)> = loops.collect();
        let mut dropped = Vec::new();
        for (k, strand) in self.strands.iter().enumerate() {
            let p = strand.curve.point(0.5);
            let on = |id: LoopId| strand.owners.iter().any(|o| o.id == id);
            for owner in &strand.owners {
                let (what, hint) = match owner.id {
                    LoopId::Outer => continue,
                    LoopId::Hole(_) => ("the hole", "a hole lies inside the outer boundary"),
                    LoopId::Region(_) => {
                        ("the region", "a region lies inside the outer boundary, or shares pieces of it")
                    }
                };
                if !on(LoopId::Outer) && !inside(LoopId::Outer, p) {
                    let problem = format!("{what} lies outside the domain at {}", show(p));
                    return Err(Error::input(&owner.key, "the piece", problem, hint));
                }
                for &(id, other) in &loops {
                    if !matches!(id, LoopId::Hole(_)) || on(id) || !inside(id, p) {
                        continue;
                    }
                    if matches!(owner.id, LoopId::Hole(_)) {
                        let problem = format!("the hole lies inside another one ({}) at {}", other.key, show(p));
                        return Err(Error::input(&owner.key, "the piece", problem, "leave out the inner one"));
                    }
                    dropped.push(k);
                }
            }
        }
        for (k, strand) in std::mem::take(&mut self.strands).into_iter().enumerate() {
            if dropped.contains(&k) { self.hidden.push(strand) } else { self.strands.push(strand) }
        }
        Ok(())
    }
}
