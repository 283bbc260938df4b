//! The rings of an element about one of its corners: how deep, how many, and which parts of the element.
//!
//! A solution that behaves like `r^lambda` has gone down to `e^-27.6 = 1e-12` of its size at depth `-log r = 27.6 / lambda`; powers
//! above one are no worse than `r` itself. The depth is cut into rings of equal width in sigma (see
//! [`ring`](crate::domain::map::ring)), four of them unless they would be wider than 1.6: the depth doubles every 0.7.
//!
//! ```text
//! depth = 27.6 / min(1, lambda),   length = ln(2 depth + 1),   k = max(4, ceil(length / 1.6))
//! ```
//!
//! A triangle has one stack of k rings. A quadrilateral `c, a, b, d` has two, on the halves `c, a, b` and `c, b, d` of its reference
//! square. All elements about a vertex take the same intervals, those of the smallest exponent of the vertex, so that rings meet in
//! whole sides.
//!
//! The sides across a stack are straight, and log r along them is the less smooth the wider they open. Error of `r^(2/3)` on
//! nothing but rings, 16 points:
//!
//! ```text
//! opening in degrees    22       45       54       60       68       90       135
//! relative L2           2e-14    5e-14    1e-12    6e-12    7e-11    2e-8     6e-5
//! ```
//!
//! So stacks that would be wider than 62 degrees are cut lengthwise, into two or four; their neighbour outside has a side with as many
//! pieces. Where a tensor is not a multiple of the identity, the angle counts in coordinates in which it is.

use crate::domain::map::ring::{DEPTH, Ring, sigma_at};
use crate::domain::map::{MapRef, Point};
use crate::domain::shape::Shape;

/// Exponents below this are treated as this: `e^(-27.6 / 0.04)` is the end of the normal numbers.
pub const SMALLEST_EXPONENT: f64 = 0.04;

/// The fewest rings.
const RINGS: usize = 4;

/// The widest ring, in sigma.
const WIDEST: f64 = 1.6;

/// The intervals of sigma of the rings about a vertex whose smallest exponent is `lambda`, from the outside. Neighbours share an end
/// to the last bit; the first begins at zero.
pub fn ring_intervals(lambda: f64) -> Vec<[f64; 2]> {
    let depth = DEPTH / lambda.clamp(SMALLEST_EXPONENT, 1.0);
    let length = sigma_at(depth);
    let count = RINGS.max((length / WIDEST).ceil() as usize);
    let cut = |k: usize| length * k as f64 / count as f64;
    (0..count).map(|k| [cut(k), cut(k + 1)]).collect()
}

/// Stacks open no wider than this: 62 degrees.
const WIDEST_OPENING: f64 = 62.0 * std::f64::consts::PI / 180.0;

/// Into how many stacks a triangle is cut whose sides at the vertex have this angle between them: a power of two.
pub fn stacks(opening: f64) -> usize {
    let count = (opening / WIDEST_OPENING).ceil().max(1.0) as usize;
    count.next_power_of_two()
}

/// The triangles into which a reference shape falls about one of its corners, counter-clockwise, each with that corner first: every
/// side of the shape that does not end there is cut into so many pieces of equal length, [`stacks`] of its triangle.
///
/// # Panics
/// If there is no such corner, or not one number for each of the sides.
pub fn corner_triangles(shape: Shape, corner: usize, pieces: &[usize]) -> Vec<[Point; 3]> {
    let corners = shape.corners();
    let count = corners.len();
    assert!(corner < count, "a reference shape with {count} corners has no corner {corner}");
    assert_eq!(pieces.len(), count - 2, "one number of pieces for each side that does not end in the corner");
    let side = |(k, &pieces): (usize, &usize)| {
        let at = move |i: usize| shape.side_point((corner + k + 1) % count, i as f64 / pieces as f64);
        (0..pieces).map(move |i| [corners[corner], at(i), at(i + 1)])
    };
    pieces.iter().enumerate().flat_map(side).collect()
}

/// The rings of a triangle of the reference shape of `map` about its first corner, which lies at `corner`; from the outside, the last
/// one innermost.
pub fn ring_stack(map: &MapRef, corner: Point, triangle: [Point; 3], intervals: &[[f64; 2]]) -> Vec<Ring> {
    let last = intervals.len().saturating_sub(1);
    let ring = |(k, &sigma)| Ring::new(map.clone(), corner, triangle, sigma, k == last);
    intervals.iter().enumerate().map(ring).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::map::ring::psi;
    use crate::domain::plane::twice_area;

    #[test]
    fn depth_and_number_follow_the_exponent() {
        for (lambda, depth, count) in
            [(2.0, 27.6, 4), (1.0, 27.6, 4), (0.5, 55.2, 4), (0.1, 276.0, 4), (0.05, 552.0, 5)]
        {
            let rings = ring_intervals(lambda);
            assert_eq!(rings.len(), count, "{lambda}");
            assert_eq!(rings[0][0], 0.0);
            assert!(rings.windows(2).all(|pair| pair[0][1] == pair[1][0]));
            assert!((psi(rings[count - 1][1]) / depth - 1.0).abs() < 1e-14);
            assert!(rings.iter().all(|[a, b]| b - a <= WIDEST));
        }
    }

    #[test]
    fn the_end_of_the_rings_is_a_normal_number() {
        for lambda in [0.04, 1e-3, 0.0, -1.0] {
            let end = (-psi(ring_intervals(lambda).last().unwrap()[1])).exp();
            assert!(end.is_normal() && end < 1e-290, "{lambda}: {end}");
        }
    }

    #[test]
    fn triangles_tile_the_shape_about_every_corner() {
        for (shape, pieces) in [
            (Shape::Triangle, vec![1]),
            (Shape::Triangle, vec![4]),
            (Shape::Quadrilateral, vec![1, 1]),
            (Shape::Quadrilateral, vec![1, 2]),
        ] {
            for corner in 0..shape.sides() {
                let triangles = corner_triangles(shape, corner, &pieces);
                assert_eq!(triangles.len(), pieces.iter().sum::<usize>());
                let areas: Vec<f64> = triangles.iter().map(|&[a, b, c]| twice_area(a, b, c)).collect();
                assert!(areas.iter().all(|&area| area > 0.0));
                assert_eq!(areas.iter().sum::<f64>(), (shape.sides() - 2) as f64);
                assert!(triangles.iter().all(|triangle| triangle[0] == shape.corners()[corner]));
                assert!(triangles.windows(2).all(|pair| pair[0][2] == pair[1][1]));
            }
        }
    }

    #[test]
    fn wide_openings_are_cut() {
        let degrees = |d: f64| stacks(d.to_radians());
        assert_eq!([1.0, 45.0, 60.0, 61.9].map(degrees), [1; 4]);
        assert_eq!([63.0, 90.0, 123.0].map(degrees), [2; 3]);
        assert_eq!([125.0, 170.0].map(degrees), [4; 2]);
    }
}
