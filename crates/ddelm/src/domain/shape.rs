//! The reference shapes.
//!
//! Corners are counted counter-clockwise, side k runs from corner k to corner k + 1, for s from 0 to 1. Two subdomains that
//! share a side run through it in opposite directions.

use serde::{Deserialize, Serialize};

use super::plane::Point;

/// A reference shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Corners (0,0), (1,0), (0,1).
    Triangle,
    /// Corners (0,0), (1,0), (1,1), (0,1).
    Quadrilateral,
}

/// Something for each of the shapes that there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PerShape<T> {
    quadrilateral: Option<T>,
    triangle: Option<T>,
}

impl<T> PerShape<T> {
    /// Makes it for some shapes.
    pub fn new<E>(shapes: &[Shape], mut of: impl FnMut(Shape) -> Result<T, E>) -> Result<Self, E> {
        let mut one = |shape| shapes.contains(&shape).then(|| of(shape)).transpose();
        Ok(PerShape { quadrilateral: one(Shape::Quadrilateral)?, triangle: one(Shape::Triangle)? })
    }

    /// That of a shape, if it is there.
    pub fn get(&self, shape: Shape) -> Option<&T> {
        match shape {
            Shape::Quadrilateral => self.quadrilateral.as_ref(),
            Shape::Triangle => self.triangle.as_ref(),
        }
    }

    /// That of a shape.
    ///
    /// # Panics
    /// If the shape was not among those that it was made for.
    pub fn of(&self, shape: Shape) -> &T {
        self.get(shape).expect("it was made for every shape of the decomposition")
    }

    /// That of the first shape there is.
    ///
    /// # Panics
    /// If it was made for no shape.
    pub fn any(&self) -> &T {
        self.iter().next().expect("it was made for the shapes of a decomposition").1
    }

    /// Something else for each shape.
    pub fn map<U>(self, f: impl Fn(T) -> U) -> PerShape<U> {
        PerShape { quadrilateral: self.quadrilateral.map(&f), triangle: self.triangle.map(&f) }
    }

    /// All of them with their shapes: that of the quadrilateral first.
    pub fn iter(&self) -> impl Iterator<Item = (Shape, &T)> {
        let quadrilateral = self.quadrilateral.iter().map(|t| (Shape::Quadrilateral, t));
        quadrilateral.chain(self.triangle.iter().map(|t| (Shape::Triangle, t)))
    }
}

impl Shape {
    /// Number of corners and of sides.
    pub fn sides(self) -> usize {
        self.corners().len()
    }

    /// The corners, counter-clockwise.
    pub fn corners(self) -> &'static [Point] {
        match self {
            Shape::Triangle => &[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
            Shape::Quadrilateral => &[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        }
    }

    /// The reference point at parameter s of a side, counter-clockwise.
    pub fn side_point(self, side: usize, s: f64) -> Point {
        let (a, b) = (self.corners()[side], self.corners()[(side + 1) % self.sides()]);
        [0, 1].map(|k| (1.0 - s) * a[k] + s * b[k])
    }

    /// The side as a vector, from its first corner to its last.
    pub fn side_vector(self, side: usize) -> Point {
        let (a, b) = (self.corners()[side], self.corners()[(side + 1) % self.sides()]);
        [b[0] - a[0], b[1] - a[1]]
    }

    /// The area.
    pub fn area(self) -> f64 {
        match self {
            Shape::Triangle => 0.5,
            Shape::Quadrilateral => 1.0,
        }
    }

    /// Whether a reference point lies on the perimeter.
    pub fn on_perimeter(self, xi: Point) -> bool {
        let last = match self {
            Shape::Triangle => xi[0] + xi[1] == 1.0,
            Shape::Quadrilateral => xi.contains(&1.0),
        };
        last || xi.contains(&0.0)
    }

    /// A point on the line to the centre, so far from the perimeter at least.
    pub fn inside(self, xi: Point, distance: f64) -> Point {
        match self {
            Shape::Quadrilateral => xi.map(|t| t.clamp(distance, 1.0 - distance)),
            Shape::Triangle => {
                let c = self.center();
                [0, 1].map(|a| xi[a] + 3.0 * distance * (c[a] - xi[a]))
            }
        }
    }

    /// `count x count` points of equal weight that fill the shape, none of them on its perimeter: middles of cells. A
    /// triangle has those of its `count^2` congruent triangles.
    pub fn middles(self, count: usize) -> Vec<Point> {
        let n = count as f64;
        match self {
            Shape::Quadrilateral => {
                (0..count * count).map(|k| [k / count, k % count].map(|i| (i as f64 + 0.5) / n)).collect()
            }
            Shape::Triangle => {
                let third = 1.0 / 3.0;
                let upward = (0..count).flat_map(|i| (0..count - i).map(move |j| [i as f64 + third, j as f64 + third]));
                let downward =
                    (1..count).flat_map(|i| (1..=count - i).map(move |j| [i as f64 - third, j as f64 - third]));
                upward.chain(downward).map(|p| p.map(|t| t / n)).collect()
            }
        }
    }

    /// The centre.
    pub fn center(self) -> Point {
        match self {
            Shape::Triangle => [1.0 / 3.0; 2],
            Shape::Quadrilateral => [0.5; 2],
        }
    }

    /// A regular set of points, corners and sides included, with `count` intervals per side.
    pub fn lattice(self, count: usize) -> impl Iterator<Item = Point> {
        let at = move |k: usize| k as f64 / count as f64;
        (0..=count).flat_map(move |j| {
            let last = if self == Shape::Triangle { count - j } else { count };
            (0..=last).map(move |i| [at(i), at(j)])
        })
    }

    /// How far outside the shape a reference point lies: negative inside.
    pub fn outside(self, xi: Point) -> f64 {
        let low = (-xi[0]).max(-xi[1]);
        match self {
            Shape::Triangle => low.max(xi[0] + xi[1] - 1.0),
            Shape::Quadrilateral => low.max(xi[0] - 1.0).max(xi[1] - 1.0),
        }
    }

    /// The nearest point of the shape, or one close to it.
    pub fn clamp(self, xi: Point) -> Point {
        let [x, y] = xi.map(|t| t.clamp(0.0, 1.0));
        let excess = x + y - 1.0;
        if self == Shape::Triangle && excess > 0.0 {
            let x = (x - 0.5 * excess).clamp(0.0, 1.0);
            return [x, 1.0 - x];
        }
        [x, y]
    }
}
