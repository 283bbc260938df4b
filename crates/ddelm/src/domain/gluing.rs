//! Decompositions from maps: sides with the same points are glued together.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::base::number::brief;

use super::decomposition::{Decomposition, Origin, Trunk};
use super::forest::{Root, RootSide};
use super::map::{Map, MapRef, Point, determinant};
use super::plane::{Rectangle, distance};

impl Decomposition {
    /// The union of the images of reference shapes under `maps`. Sides with the same ends and middle are glued
    /// to an interface; of the other sides, `part` of the midpoint says which part of the boundary they belong to. Parts
    /// have their numbers as names.
    ///
    /// Neighbours must share whole sides, with the same points at the same place along them.
    pub fn from_maps(maps: Vec<MapRef>, parts: usize, part: impl Fn(Point) -> usize) -> Result<Self> {
        let names = (0..parts).map(|part| part.to_string()).collect();
        Self::glued(maps, names, |_, _, midpoint| part(midpoint))
    }

    /// The same subdomains with parts of the boundary identified: a point on the first part of a pair is the point on the
    /// second one at the same place along it. Both must be cut alike. What is left of the parts keeps its order.
    pub fn periodic(self, pairs: &[(usize, usize)]) -> Result<Self> {
        if pairs.is_empty() {
            return Ok(self);
        }
        if let Some(rings) = &self.rings {
            return rings.periodic(pairs);
        }
        let Trunk { origin, roots, maps, regions, .. } = self.trunk.as_ref();
        let mut roots = roots.clone();
        for &(a, b) in pairs {
            identify(&mut roots, maps, a, b, &self.parts)?;
        }
        let gone = |part: usize| pairs.iter().any(|&(a, b)| part == a || part == b);
        let left: Vec<usize> = (0..self.parts.len()).filter(|&part| !gone(part)).collect();
        for side in roots.iter_mut().flat_map(|root| &mut root.sides) {
            if let RootSide::Boundary(part) = side {
                *part = left.binary_search(part).expect("the sides of identified parts have partners");
            }
        }
        let parts = left.iter().map(|&part| self.parts[part].clone()).collect();
        let (origin, maps, regions) = (origin.clone(), maps.clone(), regions.clone());
        let forest = self.forest().on(&roots);
        let trunk = Trunk { origin, roots, maps, regions, periodic: true };
        Ok(Self::grown(Arc::new(trunk), Some(forest), parts, self.regions.clone()))
    }

    /// [`Decomposition::from_maps`] with names, and a part for each open side: its subdomain, which side, and its midpoint.
    pub fn glued(maps: Vec<MapRef>, parts: Vec<String>, part: impl Fn(usize, usize, Point) -> usize) -> Result<Self> {
        let geometry = |problem: String| Error::Input {
            key: "decomposition".into(),
            value: format!("{} maps", maps.len()),
            problem,
            hint: "neighbouring subdomains share whole sides, and every map has a positive Jacobian".into(),
        };
        let mut roots = joined(&maps).map_err(geometry)?;
        for (s, root) in roots.iter_mut().enumerate() {
            for (side, behind) in root.sides.iter_mut().enumerate() {
                if matches!(behind, RootSide::Root(..)) {
                    continue;
                }
                let midpoint = point_along(&maps, (s, side), 0.5);
                let index = part(s, side, midpoint);
                if index >= parts.len() {
                    return Err(geometry(format!("the side at {midpoint:?} is on part {index}, of {}", parts.len())));
                }
                *behind = RootSide::Boundary(index);
            }
        }
        let regions = vec![None; maps.len()];
        let trunk = Trunk { origin: Origin::Maps, roots, maps, regions, periodic: false };
        Ok(Self::grown(Arc::new(trunk), None, parts, Vec::new()))
    }
}

/// The roots with neighbours where two sides are the same, and no part of the boundary yet elsewhere; or why they do not fit.
fn joined(maps: &[MapRef]) -> std::result::Result<Vec<Root>, String> {
    let extent = |map: &MapRef| {
        let [w, h] = Rectangle::around(map.shape().lattice(16).map(|xi| map.point(xi))).extent();
        w.min(h)
    };
    let smallest = maps.iter().map(extent).fold(f64::INFINITY, f64::min);
    if maps.is_empty() || !(smallest > 0.0 && smallest.is_finite()) {
        return Err("a subdomain has no area".into());
    }
    let closeness = 1e-6 * smallest;
    let mut middles = Middles { cell: closeness, seen: HashMap::new() };
    let mut roots: Vec<Root> = Vec::with_capacity(maps.len());
    for (s, map) in maps.iter().enumerate() {
        if let Some((xi, det)) = fold(map.as_ref()) {
            let ([a, b], [x, y]) = (xi, map.point(xi));
            return Err(format!(
                "the Jacobian of subdomain {s} is {} at x = {x}, y = {y} (reference point {a}, {b}): \
                 the map folds, or turns the subdomain over",
                brief(det, 4)
            ));
        }
        let shape = map.shape();
        roots.push(Root { shape, sides: vec![RootSide::Boundary(usize::MAX); shape.sides()] });
        for side in 0..shape.sides() {
            let midpoint = point_along(maps, (s, side), 0.5);
            let Some((t, other)) = middles.find(midpoint) else {
                middles.insert(midpoint, (s, side));
                continue;
            };
            if matches!(roots[t].sides[other], RootSide::Root(..)) {
                return Err(format!("three subdomains share the side at {midpoint:?}"));
            }
            if t == s {
                return Err(format!("subdomain {s} touches itself"));
            }
            if !same_side(maps, [(t, other), (s, side)], [0.0; 2], closeness) {
                return Err(format!("subdomains {t} and {s} do not share their side at {midpoint:?}"));
            }
            roots[t].sides[other] = RootSide::Root(s, side);
            roots[s].sides[side] = RootSide::Root(t, other);
        }
    }
    Ok(roots)
}

/// Identifies part `a` of the boundary with part `b`, which is the same curve elsewhere.
pub(super) fn identify(roots: &mut [Root], maps: &[MapRef], a: usize, b: usize, names: &[String]) -> Result<()> {
    let refuse = |problem: String| {
        let pair = format!("[\"{}\", \"{}\"]", names[a], names[b]);
        Error::input("boundary.periodic", pair, problem, "periodic sides are translates of each other, cut alike")
    };
    let on = |part: usize| -> Vec<(usize, usize, Point)> {
        let sides = |(s, root): (usize, &Root)| {
            let here = (0..root.sides.len()).filter(|&k| root.sides[k] == RootSide::Boundary(part));
            here.map(|k| (s, k, point_along(maps, (s, k), 0.5))).collect::<Vec<_>>()
        };
        roots.iter().enumerate().flat_map(sides).collect()
    };
    let (first, second) = (on(a), on(b));
    if first.len() != second.len() || first.is_empty() {
        return Err(refuse(format!("they consist of {} and {} sides of subdomains", first.len(), second.len())));
    }
    let around = |sides: &[(usize, usize, Point)]| Rectangle::around(sides.iter().map(|side| side.2));
    let (one, other) = (around(&first), around(&second));
    let center = |r: &Rectangle| [0, 1].map(|k| 0.5 * (r.low[k] + r.high[k]));
    let shift = [0, 1].map(|k| center(&other)[k] - center(&one)[k]);
    let [w, h] = Rectangle { low: one.low, high: one.high }.union(other).extent();
    let closeness = 1e-8 * (w + h);
    for (s, k, p) in first {
        let moved = [p[0] + shift[0], p[1] + shift[1]];
        let partner = second.iter().find(|(.., q)| distance(*q, moved) < closeness);
        let Some(&(t, l, _)) = partner else {
            return Err(refuse(format!("the side at x = {}, y = {} has no partner", p[0], p[1])));
        };
        if !same_side(maps, [(s, k), (t, l)], shift, closeness) {
            return Err(refuse(format!("the side at x = {}, y = {} is not a translate of its partner", p[0], p[1])));
        }
        if s == t {
            return Err(refuse(format!("subdomain {s} is its own neighbour: use two subdomains or more across")));
        }
        roots[s].sides[k] = RootSide::Root(t, l);
        roots[t].sides[l] = RootSide::Root(s, k);
    }
    Ok(())
}

/// Middles of sides by position, to within a distance.
struct Middles {
    cell: f64,
    seen: HashMap<(i64, i64), Vec<Middle>>,
}

/// A middle, and the subdomain and side that it belongs to.
type Middle = (Point, (usize, usize));

impl Middles {
    fn key(&self, p: Point) -> (i64, i64) {
        let k = |v: f64| (v / (4.0 * self.cell)).floor() as i64;
        (k(p[0]), k(p[1]))
    }

    fn find(&self, p: Point) -> Option<(usize, usize)> {
        let (i, j) = self.key(p);
        let near = (-1..=1).flat_map(|a| (-1..=1).map(move |b| (i.saturating_add(a), j.saturating_add(b))));
        let found = near.filter_map(|key| self.seen.get(&key)).flatten();
        found.into_iter().find(|(q, _)| distance(p, *q) < self.cell).map(|&(_, side)| side)
    }

    fn insert(&mut self, p: Point, side: (usize, usize)) {
        self.seen.entry(self.key(p)).or_default().push((p, side));
    }
}

/// The point at t along a side of a subdomain.
fn point_along(maps: &[MapRef], (s, side): (usize, usize), t: f64) -> Point {
    maps[s].point(maps[s].shape().side_point(side, t))
}

/// Whether one side, moved by `shift`, has the same points as another, which runs the other way.
fn same_side(maps: &[MapRef], [one, other]: [(usize, usize); 2], shift: Point, closeness: f64) -> bool {
    [0.0, 0.2, 0.5, 0.7, 1.0].iter().all(|&t| {
        let (p, q) = (point_along(maps, one, t), point_along(maps, other, 1.0 - t));
        distance([p[0] + shift[0], p[1] + shift[1]], q) < closeness
    })
}

/// Intervals in each direction of the lattice on which maps are checked.
const FOLD_STEPS: usize = 48;

/// A reference point at which the Jacobian of a map is not positive, and its determinant there.
fn fold(map: &dyn Map) -> Option<(Point, f64)> {
    let steps = if map.affine().is_some() { 1 } else { FOLD_STEPS };
    fold_at(map, map.shape().lattice(steps))
}

/// The first of some reference points at which the Jacobian of a map has the wrong sign, and its determinant there.
pub(crate) fn fold_at(map: &dyn Map, mut points: impl Iterator<Item = Point>) -> Option<(Point, f64)> {
    let sign = if map.is_mirrored() { -1.0 } else { 1.0 };
    let sound = |det: f64| sign * det > 0.0 && det.is_finite();
    points.find_map(|xi| Some((xi, determinant(map.jacobian(xi)))).filter(|&(_, det)| !sound(det)))
}
