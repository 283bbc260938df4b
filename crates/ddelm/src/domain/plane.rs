//! Points and vectors of the plane: the few operations that the geometry needs.

/// A point or a vector of the plane.
pub type Point = [f64; 2];

/// a - b
pub fn subtract(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

/// `(1 - t) a + t b`
pub fn between(a: Point, b: Point, t: f64) -> Point {
    [(1.0 - t) * a[0] + t * b[0], (1.0 - t) * a[1] + t * b[1]]
}

/// Length of a vector.
pub fn norm(v: Point) -> f64 {
    v[0].hypot(v[1])
}

/// Distance of two points.
pub fn distance(a: Point, b: Point) -> f64 {
    norm(subtract(a, b))
}

/// Scalar product.
pub fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// `a_0 b_1 - a_1 b_0`: positive if b lies to the left of a.
pub fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// Twice the signed area of the triangle a b c: positive if it is run counter-clockwise.
pub fn twice_area(a: Point, b: Point, c: Point) -> f64 {
    cross(subtract(b, a), subtract(c, a))
}

/// Distance of a point from a segment.
pub fn segment_distance(p: Point, a: Point, b: Point) -> f64 {
    let d = subtract(b, a);
    let length = dot(d, d);
    let t = if length > 0.0 { (dot(subtract(p, a), d) / length).clamp(0.0, 1.0) } else { 0.0 };
    distance(p, between(a, b, t))
}

/// A box with sides along the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    /// Lower left corner.
    pub low: Point,
    /// Upper right corner.
    pub high: Point,
}

impl Rectangle {
    /// The box of nothing.
    pub const EMPTY: Self = Rectangle { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };

    /// The smallest box around points.
    pub fn around(points: impl IntoIterator<Item = Point>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| b.union(Rectangle { low: p, high: p }))
    }

    /// The smallest box around two.
    pub fn union(self, other: Self) -> Self {
        Rectangle {
            low: [0, 1].map(|a| self.low[a].min(other.low[a])),
            high: [0, 1].map(|a| self.high[a].max(other.high[a])),
        }
    }

    /// The box with a margin on every side.
    pub fn grown(self, margin: f64) -> Self {
        Rectangle { low: self.low.map(|v| v - margin), high: self.high.map(|v| v + margin) }
    }

    /// Whether two boxes have a point in common.
    pub fn meets(&self, other: &Self) -> bool {
        (0..2).all(|a| self.low[a] <= other.high[a] && other.low[a] <= self.high[a])
    }

    /// The largest coordinate, without its sign.
    pub fn farthest(&self) -> f64 {
        self.low.iter().chain(&self.high).fold(0.0, |far, v| far.max(v.abs()))
    }

    /// Whether a point lies in the box.
    pub fn contains(&self, p: Point) -> bool {
        (0..2).all(|a| self.low[a] <= p[a] && p[a] <= self.high[a])
    }

    /// Width and height.
    pub fn extent(&self) -> Point {
        subtract(self.high, self.low)
    }

    /// The middle.
    pub fn center(&self) -> Point {
        between(self.low, self.high, 0.5)
    }
}
