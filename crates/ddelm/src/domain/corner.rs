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
//! So stacks that would be wider than 62 degrees are cut lengthwise: the side across is halved, and its halves again where they are still
//! too wide. Where a tensor is not a multiple of the identity, the angle counts in coordinates in which it is: with a diffusion of 1 along
//! x and `1e-4` along y a square has nine stacks that shrink toward the x-axis. Neighbours outside are cut alike.

use crate::domain::exponents::Sector;
use crate::domain::map::ring::{DEPTH, Ring, sigma_at};
use crate::domain::map::{MapRef, Point};
use crate::domain::plane::{cross, dot, subtract};
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

/// How wide stacks may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How far they open, at most.
    opening: f64,
    /// The smallest ellipse of Bernstein on which log r may be singular, along the side across.
    ellipse: f64,
}

impl Limits {
    /// 62 degrees, where elements are what a mesh has made of them.
    pub const USUAL: Limits = Limits { opening: 62.0 * DEGREE, ellipse: 2.9 };

    /// Those of the halves of a square, where there will be many stacks and one more costs little.
    pub const NARROW: Limits = Limits { opening: 46.0 * DEGREE, ellipse: 4.2 };
}

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// How often a side is halved for its stacks, at most: tensors whose axes differ by `4^20` have the same stacks as those beyond.
const MOST_HALVINGS: u32 = 20;

/// A vertex of a decomposition that gets rings.
#[derive(Debug, Clone, PartialEq)]
pub struct RingVertex {
    /// Its number.
    pub vertex: usize,
    /// The smallest exponent of the solution there (see [`exponents`](crate::domain::exponents)), which says how deep rings go.
    pub exponent: f64,
    /// The sectors about it whose tensors prefer a direction.
    pub sectors: Vec<Sector>,
}

impl From<(usize, f64)> for RingVertex {
    /// A vertex with its exponent, and no preferred directions about it.
    fn from((vertex, exponent): (usize, f64)) -> Self {
        RingVertex { vertex, exponent, sectors: Vec::new() }
    }
}

/// Where the side from `first` to `last`, across from a vertex at the origin, is cut into stacks: the ends of its pieces, from 0 to 1.
/// Points are in coordinates in which the tensor is a multiple of the identity. Pieces that are too wide are halved, and these again, so
/// that they meet those of other elements in wholes and halves.
pub fn stack_ends(first: Point, last: Point, limits: Limits) -> Vec<f64> {
    let mut ends = vec![0.0];
    add_ends([first, last], [0.0, 1.0], limits, MOST_HALVINGS, &mut ends);
    ends
}

fn add_ends([first, last]: [Point; 2], [from, to]: [f64; 2], limits: Limits, halvings: u32, ends: &mut Vec<f64>) {
    if halvings == 0 || is_slim(first, last, limits) {
        ends.push(to);
        return;
    }
    let (middle, half) = ([0, 1].map(|a| 0.5 * (first[a] + last[a])), 0.5 * (from + to));
    add_ends([first, middle], [from, half], limits, halvings - 1, ends);
    add_ends([middle, last], [half, to], limits, halvings - 1, ends);
}

/// Whether a triangle with a corner at the origin, and the other two there, makes a good stack.
fn is_slim(first: Point, last: Point, limits: Limits) -> bool {
    let across = subtract(last, first);
    let length = dot(across, across);
    // r vanishes at `t = foot +- i height` along the side.
    let (foot, height) = (-dot(first, across) / length, cross(first, across).abs() / length);
    let sum = (2.0 * foot).hypot(2.0 * height) + (2.0 * foot - 2.0).hypot(2.0 * height);
    let ellipse = 0.5 * (sum + (sum * sum - 4.0).max(0.0).sqrt());
    cross(first, last).atan2(dot(first, last)) <= limits.opening && ellipse >= limits.ellipse
}

/// The triangles into which a reference shape falls about one of its corners, counter-clockwise, each with that corner first: every
/// side of the shape that does not end there is cut at its [ends](stack_ends).
///
/// # Panics
/// If there is no such corner, or not one list for each of the sides.
pub fn corner_triangles(shape: Shape, corner: usize, ends: &[Vec<f64>]) -> Vec<[Point; 3]> {
    let corners = shape.corners();
    let count = corners.len();
    assert!(corner < count, "a reference shape with {count} corners has no corner {corner}");
    assert_eq!(ends.len(), count - 2, "one list of ends for each side that does not end in the corner");
    let side = |(k, ends): (usize, &Vec<f64>)| {
        let at = |t: f64| shape.side_point((corner + k + 1) % count, t);
        ends.windows(2).map(|pair| [corners[corner], at(pair[0]), at(pair[1])]).collect::<Vec<_>>()
    };
    ends.iter().enumerate().flat_map(side).collect()
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
            (Shape::Triangle, vec![vec![0.0, 1.0]]),
            (Shape::Triangle, vec![vec![0.0, 0.25, 0.5, 0.75, 1.0]]),
            (Shape::Quadrilateral, vec![vec![0.0, 1.0], vec![0.0, 1.0]]),
            (Shape::Quadrilateral, vec![vec![0.0, 1.0], vec![0.0, 0.125, 0.5, 1.0]]),
        ] {
            for corner in 0..shape.sides() {
                let triangles = corner_triangles(shape, corner, &pieces);
                assert_eq!(triangles.len(), pieces.iter().map(|ends| ends.len() - 1).sum::<usize>());
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
        let isosceles = |degrees: f64| {
            let (s, c) = (0.5 * degrees.to_radians()).sin_cos();
            stack_ends([c, -s], [c, s], Limits::USUAL).len() - 1
        };
        assert_eq!([1.0, 45.0, 60.0, 61.9].map(isosceles), [1; 4]);
        assert_eq!([63.0, 90.0, 123.0].map(isosceles), [2; 3]);
        assert_eq!([125.0, 135.0].map(isosceles), [4; 2]);
        // Small where the side is next to the vertex.
        let ends = stack_ends([1.0, 0.0], [1.0, 20.0], Limits::USUAL);
        assert_eq!(ends, [0.0, 0.0625, 0.125, 0.25, 0.5, 1.0]);
        assert_eq!(stack_ends([1.0, 20.0], [0.0, 20.0], Limits::USUAL), [0.0, 1.0]);
        // Halves of squares are good enough for all.
        assert_eq!(stack_ends([1.0, 0.0], [1.0, 1.0], Limits::NARROW), [0.0, 1.0]);
    }

    #[test]
    fn a_side_that_points_at_the_vertex_is_cut_although_it_hardly_opens() {
        let ends = stack_ends([1.0, 0.01], [100.0, 0.01], Limits::USUAL);
        assert!(ends.len() > 5 && ends[1] < 0.05, "{ends:?}");
    }
}
