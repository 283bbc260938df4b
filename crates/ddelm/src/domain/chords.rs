//! Strands cut into sides of elements, and the chords of those sides.

use std::collections::HashMap;

use crate::domain::map::Point;

use super::arrangement::{Arrangement, Strand};
use super::curve::Curve;
use super::mesh::MeshSettings;
use super::partners::{Partner, partners};
use super::plane::{distance, norm};
use super::quadtree::Quadtree;
use super::sizes::allowed_turn;

/// A side of elements on a strand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chord {
    /// Its ends.
    pub ends: [usize; 2],
    /// Its strand.
    pub strand: usize,
    /// The parameters of the strand at its ends.
    pub interval: [f64; 2],
    /// The chord of a periodic side that it is, moved.
    pub partner: Option<usize>,
}

/// All sides on strands. The first vertices are those of the arrangement.
#[derive(Debug, Clone, Default)]
pub struct Chords {
    /// Where sides end.
    pub vertices: Vec<Point>,
    /// The sides.
    pub chords: Vec<Chord>,
    /// The strands that are cut together.
    partners: Vec<Option<Partner>>,
}

impl Chords {
    /// Cuts strands so that no piece is longer than the size there or turns too much: the density
    /// `max(1/size, curvature/turn)` is shared equally by the pieces. The larger density of two partners counts for both.
    pub fn new(arrangement: &Arrangement, field: &Quadtree, settings: &MeshSettings) -> Self {
        let partners = partners(arrangement, &settings.periodic);
        let mut this = Chords { vertices: arrangement.vertices.clone(), chords: Vec::new(), partners };
        let follows = |k: usize| this.partners.iter().flatten().any(|partner| partner.strand == k);
        let leading: Vec<usize> = (0..arrangement.strands.len()).filter(|&k| !follows(k)).collect();
        for k in leading {
            let (strand, partner) = (&arrangement.strands[k], this.partners[k]);
            let least = if strand.ends[0] == strand.ends[1] { 3 } else { 1 };
            let density = |s: f64| {
                let (p, curvature) = (strand.curve.point(s), strand.curve.curvature(s));
                let (mut size, mut turn) = (field.size(p), allowed_turn(strand, curvature, settings));
                if let Some(partner) = partner {
                    // What is convex here is concave there.
                    size = size.min(field.size(partner.moved(p)));
                    turn = turn.min(allowed_turn(strand, -curvature, settings));
                }
                (1.0 / size).max(curvature.abs() / turn)
            };
            let cuts = equal_parts(&strand.curve, density, least);
            let first = this.chords.len();
            this.cut(arrangement, k, &cuts);
            let Some(partner) = partner else { continue };
            let inner = &cuts[..cuts.len() - 1];
            let mut there: Vec<f64> =
                inner.iter().map(|&s| partner.parameter(arrangement, strand.curve.point(s))).collect();
            if partner.reversed {
                there.reverse();
            }
            there.push(1.0);
            this.cut(arrangement, partner.strand, &there);
            for i in 0..cuts.len() {
                let j = if partner.reversed { cuts.len() - 1 - i } else { i };
                this.join(first + i, first + cuts.len() + j);
            }
        }
        this.halve_twins(arrangement);
        this
    }

    /// Cuts a strand at the given parameters, of which the last is 1.
    fn cut(&mut self, arrangement: &Arrangement, strand: usize, cuts: &[f64]) {
        let Strand { curve, ends, .. } = &arrangement.strands[strand];
        let mut from = (0.0, ends[0]);
        for (c, &s) in cuts.iter().enumerate() {
            let end = if c + 1 == cuts.len() { ends[1] } else { self.add_vertex(curve.point(s)) };
            self.chords.push(Chord { ends: [from.1, end], strand, interval: [from.0, s], partner: None });
            from = (s, end);
        }
    }

    fn join(&mut self, a: usize, b: usize) {
        self.chords[a].partner = Some(b);
        self.chords[b].partner = Some(a);
    }

    /// Halves chords by their numbers, and their partners with them.
    pub fn halve(&mut self, arrangement: &Arrangement, which: &[usize]) {
        let mut which: Vec<usize> = which.iter().flat_map(|&k| [Some(k), self.chords[k].partner]).flatten().collect();
        which.sort_unstable();
        which.dedup();
        for k in which {
            let chord = self.chords[k];
            let Some(partner) = self.partners[chord.strand] else {
                // A chord that follows another is halved with it.
                if chord.partner.is_none() {
                    self.halve_at(arrangement, k, middle_of(&chord));
                }
                continue;
            };
            let t = chord.partner.expect("strands with partners have chords with partners");
            let middle = arrangement.strands[chord.strand].curve.point(middle_of(&chord));
            let second = self.halve_at(arrangement, k, middle_of(&chord));
            let other = self.halve_at(arrangement, t, partner.parameter(arrangement, middle));
            let [near, far] = if partner.reversed { [other, t] } else { [t, other] };
            self.join(k, near);
            self.join(second, far);
        }
        self.halve_twins(arrangement);
    }

    /// Halves a chord at a parameter; it becomes its first half, and the number of the second comes back.
    fn halve_at(&mut self, arrangement: &Arrangement, k: usize, middle: f64) -> usize {
        let chord = self.chords[k];
        let v = self.add_vertex(arrangement.strands[chord.strand].curve.point(middle));
        self.chords[k] = Chord { ends: [chord.ends[0], v], interval: [chord.interval[0], middle], ..chord };
        self.chords.push(Chord { ends: [v, chord.ends[1]], interval: [middle, chord.interval[1]], ..chord });
        self.chords.len() - 1
    }

    /// The chords by their ends, the smaller number first.
    pub fn by_ends(&self) -> HashMap<[usize; 2], usize> {
        self.chords.iter().enumerate().map(|(k, c)| (ordered(c.ends), k)).collect()
    }

    /// The curve of a chord.
    pub fn curve(&self, arrangement: &Arrangement, k: usize) -> Curve {
        let chord = &self.chords[k];
        arrangement.strands[chord.strand].curve.between(chord.interval[0], chord.interval[1])
    }

    /// Two curves between the same two vertices, an arc and its chord say, must not become the same chord.
    fn halve_twins(&mut self, arrangement: &Arrangement) {
        let mut seen: HashMap<[usize; 2], usize> = HashMap::new();
        let mut twins = Vec::new();
        for (k, chord) in self.chords.iter().enumerate() {
            if let Some(other) = seen.insert(ordered(chord.ends), k) {
                twins.extend([other, k]);
            }
        }
        if !twins.is_empty() {
            self.halve(arrangement, &twins);
        }
    }

    fn add_vertex(&mut self, p: Point) -> usize {
        self.vertices.push(p);
        self.vertices.len() - 1
    }
}

fn middle_of(chord: &Chord) -> f64 {
    0.5 * (chord.interval[0] + chord.interval[1])
}

/// Two numbers, the smaller one first.
pub fn ordered([a, b]: [usize; 2]) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

/// The ends of parts with equal shares of the integral of a density over the length; the last is 1.
fn equal_parts(curve: &Curve, density: impl Fn(f64) -> f64, least: usize) -> Vec<f64> {
    // Enough points for the midpoint rule: the density jumps where cells of the field end.
    let length = distance(curve.point(0.0), curve.point(0.5)) + distance(curve.point(0.5), curve.point(1.0));
    let estimate = length * [0.02, 0.25, 0.5, 0.75, 0.98].map(&density).into_iter().fold(0.0, f64::max);
    let count = ((16.0 * estimate) as usize).clamp(64, 100_000);
    let mut integral = vec![0.0];
    for k in 0..count {
        let s = (k as f64 + 0.5) / count as f64;
        integral.push(integral[k] + density(s) * norm(curve.derivative(s)) / count as f64);
    }
    let total = integral[count];
    let parts = ((total - 0.05).ceil() as usize).max(least);
    let mut cuts = Vec::with_capacity(parts);
    let mut k = 0;
    for part in 1..parts {
        let share = total * part as f64 / parts as f64;
        while integral[k + 1] < share {
            k += 1;
        }
        let inside = (share - integral[k]) / (integral[k + 1] - integral[k]);
        cuts.push((k as f64 + inside) / count as f64);
    }
    cuts.push(1.0);
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_into_equal_parts() {
        let line = Curve::line([0.0, 0.0], [2.0, 0.0]);
        let cuts = equal_parts(&line, |_| 2.0, 1);
        assert_eq!(cuts.len(), 4);
        for (k, s) in cuts.iter().enumerate() {
            assert!((s - (k + 1) as f64 / 4.0).abs() < 1e-14);
        }
        assert_eq!(equal_parts(&line, |_| 2.01, 1).len(), 4);
        assert_eq!(equal_parts(&line, |_| 2.1, 1).len(), 5);
    }
}
