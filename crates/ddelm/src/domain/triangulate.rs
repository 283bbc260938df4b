//! Constrained Delaunay triangulation of chords and inner points, and which triangles lie where.

use std::collections::HashMap;

use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use crate::domain::map::Point;

use super::arrangement::{Arrangement, LoopId, Owner};
use super::chords::{Chord, Chords, ordered};
use super::meeting::{Polyline, ray_crosses};
use super::plane::{Rectangle, twice_area};

/// The triangles of all points, counter-clockwise, with all chords as sides; or the numbers of chords that cannot be, as
/// they cross others or have a point on them.
pub fn triangulate(points: &[Point], chords: &[[usize; 2]]) -> Result<Vec<[usize; 3]>, Vec<usize>> {
    // Coordinates of size one, which the exact predicates of the triangulation want.
    let b = Rectangle::around(points.iter().copied());
    let (center, scale) = (b.center(), b.extent()[0].max(b.extent()[1]));
    let tidy = |v: f64| if v.abs() < 1e-30 { 0.0 } else { v };
    let scaled = |p: &Point| Point2::new(tidy((p[0] - center[0]) / scale), tidy((p[1] - center[1]) / scale));
    let mut refused: Vec<[usize; 2]> = Vec::new();
    let loaded = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(
        points.iter().map(scaled).collect(),
        chords.to_vec(),
        |ends| refused.push(ordered(ends)),
    );
    // Coordinates that are not finite are those of curves that are too steep for numbers.
    let Ok(cdt) = loaded else { return Err((0..chords.len()).collect()) };
    if cdt.num_vertices() != points.len() {
        // Two points are one: the chords that end there are too short to be told apart.
        return Err((0..chords.len()).collect());
    }
    let handle = spade::handles::FixedVertexHandle::from_index;
    let missing = |ends: &[usize; 2]| {
        refused.contains(&ordered(*ends)) || !cdt.exists_constraint(handle(ends[0]), handle(ends[1]))
    };
    let bad: Vec<usize> = (0..chords.len()).filter(|&k| missing(&chords[k])).collect();
    if !bad.is_empty() {
        return Err(bad);
    }
    Ok(cdt.inner_faces().map(|face| face.vertices().map(|v| v.fix().index())).collect())
}

/// The triangles across the sides of each triangle: side k is from corner k to corner k + 1.
pub fn neighbours(triangles: &[[usize; 3]]) -> Vec<[Option<usize>; 3]> {
    let side = |t: usize, k: usize| (ordered([triangles[t][k], triangles[t][(k + 1) % 3]]), t, k);
    let mut sides: Vec<_> = (0..triangles.len()).flat_map(|t| (0..3).map(move |k| side(t, k))).collect();
    sides.sort_unstable();
    let mut out = vec![[None; 3]; triangles.len()];
    for w in sides.windows(2) {
        let ((a, t, k), (b, u, l)) = (w[0], w[1]);
        if a == b {
            out[t][k] = Some(u);
            out[u][l] = Some(t);
        }
    }
    out
}

/// A triangle of the domain and its region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    /// Corners, counter-clockwise.
    pub corners: [usize; 3],
    /// The region it lies in.
    pub region: Option<usize>,
}

/// The triangles in the domain with their regions. Parts between chords are told apart by one point of each.
pub fn inside(points: &[Point], triangles: &[[usize; 3]], chords: &Chords, arrangement: &Arrangement) -> Vec<Triangle> {
    let (by_ends, fixed) = (chords.by_ends(), chords.vertices.len());
    let adjacent = neighbours(triangles);
    let mut seen = vec![false; triangles.len()];
    let area = |t: usize| twice_area(points[triangles[t][0]], points[triangles[t][1]], points[triangles[t][2]]);
    let segment =
        |chord: &Chord| (chord.ends.map(|v| chords.vertices[v]), arrangement.strands[chord.strand].owners.as_slice());
    let sizes = region_areas(chords.chords.iter().map(segment));
    let mut place: Vec<Option<Option<Option<usize>>>> = vec![None; triangles.len()];
    for start in 0..triangles.len() {
        if place[start].is_some() {
            continue;
        }
        // A part: all triangles that are reached without crossing a chord.
        let (mut part, mut next) = (vec![start], 0);
        seen[start] = true;
        while let Some(&t) = part.get(next) {
            next += 1;
            for k in 0..3 {
                let ends = [triangles[t][k], triangles[t][(k + 1) % 3]];
                let on_chord = ends.iter().all(|&v| v < fixed) && by_ends.contains_key(&ordered(ends));
                if let Some(u) = adjacent[t][k].filter(|&u| !on_chord && !seen[u]) {
                    seen[u] = true;
                    part.push(u);
                }
            }
        }
        let largest = part.iter().copied().max_by(|&t, &u| area(t).total_cmp(&area(u)).then(u.cmp(&t)));
        let corners = triangles[largest.expect("a part has a triangle")].map(|v| points[v]);
        let middle = [0, 1].map(|a| (corners[0][a] + corners[1][a] + corners[2][a]) / 3.0);
        // Between the outermost points of a straight side there can be a triangle without area, by rounding.
        let [w, h] = Rectangle::around(corners).extent();
        let flat = twice_area(corners[0], corners[1], corners[2]) < 1e-13 * (w * w + h * h);
        let found = if flat { None } else { place_of(middle, chords, arrangement, &sizes) };
        for t in part {
            place[t] = Some(found);
        }
    }
    let regions = place.into_iter().map(|p| p.expect("every triangle is in a part"));
    triangles.iter().zip(regions).filter_map(|(&corners, p)| p.map(|region| Triangle { corners, region })).collect()
}

/// The region of a point of the domain, the smallest that holds it; the outer `None` outside the domain.
fn place_of(p: Point, chords: &Chords, arrangement: &Arrangement, sizes: &[f64]) -> Option<Option<usize>> {
    let mut crossed: HashMap<LoopId, usize> = HashMap::new();
    for chord in &chords.chords {
        if ray_crosses(p, chords.vertices[chord.ends[0]], chords.vertices[chord.ends[1]]) {
            for owner in &arrangement.strands[chord.strand].owners {
                *crossed.entry(owner.id).or_default() += 1;
            }
        }
    }
    for strand in &arrangement.hidden {
        let count = Polyline::new(&strand.curve).crossed_by_ray(p);
        for owner in &strand.owners {
            *crossed.entry(owner.id).or_default() += count;
        }
    }
    smallest_region(&crossed, sizes)
}

/// The smallest region about a point from which a ray crosses loops so often; the outer `None` outside the domain.
pub(super) fn smallest_region(crossed: &HashMap<LoopId, usize>, sizes: &[f64]) -> Option<Option<usize>> {
    let within = |id: LoopId| crossed.get(&id).is_some_and(|count| count % 2 == 1);
    let in_hole = crossed.keys().any(|&id| matches!(id, LoopId::Hole(_)) && within(id));
    if !within(LoopId::Outer) || in_hole {
        return None;
    }
    let regions = (0..sizes.len()).filter(|&r| within(LoopId::Region(r)));
    Some(regions.min_by(|&a, &b| sizes[a].total_cmp(&sizes[b]).then(a.cmp(&b))))
}

/// Areas inside the segments of the regions, whose strands in holes are missing: good enough to tell the inner from the outer.
pub(super) fn region_areas<'a>(segments: impl Iterator<Item = ([Point; 2], &'a [Owner])>) -> Vec<f64> {
    let mut areas: Vec<f64> = Vec::new();
    for ([a, b], owners) in segments {
        for owner in owners {
            let LoopId::Region(r) = owner.id else { continue };
            areas.resize(areas.len().max(r + 1), 0.0);
            areas[r] += 0.5 * (a[0] * b[1] - a[1] * b[0]) * if owner.reversed { -1.0 } else { 1.0 };
        }
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_two_triangles_and_crossed_chords_are_refused() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let sides = [[0, 1], [1, 2], [2, 3], [3, 0]];
        let triangles = triangulate(&square, &sides).unwrap();
        assert_eq!(triangles.len(), 2);
        for t in &triangles {
            assert!(twice_area(square[t[0]], square[t[1]], square[t[2]]) > 0.0);
        }
        assert_eq!(neighbours(&triangles).iter().flatten().flatten().count(), 2);
        let crossed = triangulate(&square, &[[0, 1], [0, 2], [1, 3]]).unwrap_err();
        assert!(crossed == [1] || crossed == [2]);
        let through = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
        assert_eq!(triangulate(&through, &[[0, 1], [1, 3]]).unwrap_err(), [0]);
    }
}
