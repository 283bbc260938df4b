//! Triangles joined in pairs to quadrilaterals, and flips of the side between two triangles.

use std::collections::HashMap;

use crate::domain::map::Point;

use super::chords::ordered;
use super::quality::{Cell, Tangents};
use super::triangulate::{Triangle, neighbours};

/// The angles that a quadrilateral may have, in degrees.
const ANGLES: [f64; 2] = [35.0, 145.0];

/// The least quality of a corner of a quadrilateral.
const LEAST_QUALITY: f64 = 0.3;

/// Flips the side opposite of a corner at which two sides of a smooth boundary meet: such a triangle has an angle of nearly
/// 180 degrees. The two new triangles replace it and its neighbour if their worst quality is better.
pub fn flip_flat_corners(
    points: &[Point],
    triangles: &mut [Triangle],
    chords: &HashMap<[usize; 2], usize>,
    tangents: &Tangents,
) {
    const FLAT: f64 = 135.0;
    const PASSES: usize = 8;
    for _ in 0..PASSES {
        let corners: Vec<[usize; 3]> = triangles.iter().map(|t| t.corners).collect();
        let adjacent = neighbours(&corners);
        let mut changed = vec![false; triangles.len()];
        for t in 0..triangles.len() {
            // Only corners between two chords can be so flat.
            let flat = |&k: &usize| tangents.angle(points, &corners[t], k) > FLAT;
            let Some(k) = (0..3).filter(|_| !changed[t]).find(flat) else { continue };
            let [v, a, b] = [0, 1, 2].map(|i| corners[t][(k + i) % 3]);
            let across = adjacent[t][(k + 1) % 3].filter(|&u| !changed[u] && !chords.contains_key(&ordered([a, b])));
            let Some(u) = across else { continue };
            let far = corners[u].into_iter().find(|c| *c != a && *c != b).expect("a triangle has a third corner");
            let new = [[v, a, far], [v, far, b]];
            let worst = |pair: [[usize; 3]; 2]| {
                pair.map(|c| tangents.quality(points, &c)).into_iter().fold(f64::INFINITY, f64::min)
            };
            if worst(new) > worst([corners[t], corners[u]]) {
                triangles[t].corners = new[0];
                triangles[u].corners = new[1];
                changed[t] = true;
                changed[u] = true;
            }
        }
        if !changed.contains(&true) {
            break;
        }
    }
}

/// Joins triangles of one region across sides that are no chords, the best quadrilaterals first.
pub fn pair(
    points: &[Point],
    triangles: &[Triangle],
    chords: &HashMap<[usize; 2], usize>,
    tangents: &Tangents,
) -> Vec<Cell> {
    let corners: Vec<[usize; 3]> = triangles.iter().map(|t| t.corners).collect();
    let adjacent = neighbours(&corners);
    let mut candidates: Vec<(f64, usize, usize, [usize; 4])> = Vec::new();
    for (t, sides) in adjacent.iter().enumerate() {
        for (k, u) in sides.iter().enumerate() {
            let Some(u) = u.filter(|&u| u > t) else { continue };
            let [a, b, c] = [0, 1, 2].map(|i| corners[t][(k + i) % 3]);
            if chords.contains_key(&ordered([a, b])) {
                continue;
            }
            let far = corners[u].into_iter().find(|v| *v != a && *v != b).expect("a triangle has a third corner");
            let quad = [a, far, b, c];
            let fine = |k: usize| (ANGLES[0]..=ANGLES[1]).contains(&tangents.angle(points, &quad, k));
            let quality = tangents.quality(points, &quad);
            if (0..4).all(fine) && quality > LEAST_QUALITY {
                // Equal to rounding is equal, so that the order does not hang on the last bit.
                candidates.push(((quality * 1e6).round(), t, u, quad));
            }
        }
    }
    candidates.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let mut taken = vec![false; triangles.len()];
    let mut cells = Vec::new();
    for (_, t, u, quad) in candidates {
        if !taken[t] && !taken[u] {
            taken[t] = true;
            taken[u] = true;
            cells.push((t, Cell::quadrilateral(quad, triangles[t].region)));
        }
    }
    let left = (0..triangles.len()).filter(|&t| !taken[t]);
    cells.extend(left.map(|t| (t, Cell::triangle(corners[t], triangles[t].region))));
    cells.sort_by_key(|(t, _)| *t);
    cells.into_iter().map(|(_, cell)| cell).collect()
}
