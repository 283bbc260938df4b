//! How good an element is, from the directions of its sides at its corners.
//!
//! At a corner with sides u and v (tangents of curved sides, as long as the side) the quality is
//! `2 det A / |A|^2` with `A = [u v] W^-1`, W the corner of the ideal shape: a right angle between equal sides for a
//! quadrilateral, 60 degrees for a triangle. It is 1 for the ideal shape, and 0 or less where the corner is flat, folded,
//! or a joint of two sides of a smooth boundary.

use std::collections::HashMap;

use crate::domain::map::Point;

use super::arrangement::Arrangement;
use super::chords::Chords;
use super::plane::{cross, dot, norm, subtract};

/// A triangle or quadrilateral of vertices, in the making.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    corners: [usize; 4],
    sides: usize,
    /// The region it lies in.
    pub region: Option<usize>,
}

impl Cell {
    /// A triangle.
    pub fn triangle([a, b, c]: [usize; 3], region: Option<usize>) -> Self {
        Cell { corners: [a, b, c, usize::MAX], sides: 3, region }
    }

    /// A quadrilateral.
    pub fn quadrilateral(corners: [usize; 4], region: Option<usize>) -> Self {
        Cell { corners, sides: 4, region }
    }

    /// The corners, counter-clockwise.
    pub fn corners(&self) -> &[usize] {
        &self.corners[..self.sides]
    }
}

/// The directions of curved sides at their ends.
#[derive(Debug, Clone)]
pub struct Tangents {
    /// For the side from a to b the derivative at a, as long as the side.
    curved: HashMap<[usize; 2], Point>,
    /// Vertices from here on are on no curve.
    fixed: usize,
}

impl Tangents {
    /// The directions of all curved chords.
    pub fn new(chords: &Chords, arrangement: &Arrangement) -> Self {
        let mut curved = HashMap::new();
        for (k, chord) in chords.chords.iter().enumerate() {
            let curve = chords.curve(arrangement, k);
            if curve.is_straight() {
                continue;
            }
            let length = norm(subtract(chords.vertices[chord.ends[1]], chords.vertices[chord.ends[0]]));
            let scaled = |d: Point, sign: f64| d.map(|v| sign * v * length / norm(d));
            curved.insert(chord.ends, scaled(curve.derivative(0.0), 1.0));
            curved.insert([chord.ends[1], chord.ends[0]], scaled(curve.derivative(1.0), -1.0));
        }
        Tangents { curved, fixed: chords.vertices.len() }
    }

    /// The direction of the side from a to b, at a.
    pub fn at(&self, points: &[Point], a: usize, b: usize) -> Point {
        let curved = (a < self.fixed && b < self.fixed).then(|| self.curved.get(&[a, b])).flatten();
        curved.copied().unwrap_or_else(|| subtract(points[b], points[a]))
    }

    /// The directions of both sides at a corner, counter-clockwise.
    fn corner(&self, points: &[Point], corners: &[usize], k: usize) -> [Point; 2] {
        let n = corners.len();
        let (v, next, last) = (corners[k], corners[(k + 1) % n], corners[(k + n - 1) % n]);
        [self.at(points, v, next), self.at(points, v, last)]
    }

    /// The angle at a corner, in degrees from 0 to 360.
    pub fn angle(&self, points: &[Point], corners: &[usize], k: usize) -> f64 {
        let [u, v] = self.corner(points, corners, k);
        cross(u, v).atan2(dot(u, v)).rem_euclid(std::f64::consts::TAU).to_degrees()
    }

    /// The quality at a corner.
    pub fn corner_quality(&self, points: &[Point], corners: &[usize], k: usize) -> f64 {
        let [u, v] = self.corner(points, corners, k);
        // For a triangle A = [u, (2 v - u)/sqrt 3].
        let v = if corners.len() == 4 { v } else { [0, 1].map(|a| (2.0 * v[a] - u[a]) / 3f64.sqrt()) };
        2.0 * cross(u, v) / (dot(u, u) + dot(v, v))
    }

    /// The least quality of the corners.
    pub fn quality(&self, points: &[Point], corners: &[usize]) -> f64 {
        (0..corners.len()).map(|k| self.corner_quality(points, corners, k)).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ideal_shapes_have_quality_one() {
        let none = Tangents { curved: HashMap::new(), fixed: 0 };
        let h = 0.75f64.sqrt();
        let points = [[0.0, 0.0], [1.0, 0.0], [0.5, h], [1.0, 1.0], [0.0, 1.0], [2.0, 0.0]];
        assert!((none.quality(&points, &[0, 1, 2]) - 1.0).abs() < 1e-15);
        assert!((none.quality(&points, &[0, 1, 3, 4]) - 1.0).abs() < 1e-15);
        assert!(none.quality(&points, &[0, 5, 1]).abs() < 1e-15);
        assert!(none.quality(&points, &[0, 2, 1]) < 0.0);
        assert!((none.angle(&points, &[0, 1, 2], 0) - 60.0).abs() < 1e-12);
    }
}
