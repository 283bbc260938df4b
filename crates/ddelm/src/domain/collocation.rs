//! Collocation nodes of a reference shape, and which of them a subdomain has.
//!
//! Three rules. *Uniform* (the paper, squares only): an `(n+1) x (n+1)` grid with corners; a corner inside the domain is a cross
//! point, one unknown with one flux row per edge it lies on (paper, Remark 3.1). *Chebyshev*: inside, Chebyshev-Lobatto
//! points `t_k = (1 - cos(pi k / n)) / 2` without their ends; on every piece of a side `2n/3` Gauss nodes, so that no corner is a node,
//! there are as many fluxes as interface values, and a jump that vanishes at the nodes has mean zero. *Gauss*: the points of a rule of integration
//! inside, and `n` Gauss nodes on every piece, for equations that are [tested](crate::local::tested) and not collocated.
//!
//! Inside a triangle the nodes are `lambda_a = (1 + 2 v_i - v_j - v_k) / 3`, `i + j + k = p`, from the Chebyshev points v of order
//! `p = n + 2`. Sides have the same nodes as those of a square, so that both meet on an edge.

use serde::{Deserialize, Serialize};

use crate::algebra::quadrature::gauss;
use crate::base::error::{Error, Result};

use super::decomposition::{Decomposition, Subdomain};
use super::forest::Span;
use super::map::Point;
use super::shape::{PerShape, Shape};

/// Where the nodes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nodes {
    /// A uniform grid with corners.
    Uniform,
    /// Chebyshev points inside, Gauss points on the sides; no corners.
    Chebyshev,
    /// Gauss points inside and on the sides: the equation is tested with every function of the basis instead of collocated.
    Gauss,
}

/// Intervals per side, at most.
const MOST_POINTS: usize = 4096;

/// By how much the order of the nodes inside a triangle exceeds that of a square: its corners have few of them.
const TRIANGLE_EXTRA: usize = 2;

/// Gauss points inside in one direction, beyond the number of intervals: products of two functions and a coefficient are integrated.
const GAUSS_EXTRA: usize = 2;

/// A node on the perimeter of the reference shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerimeterNode {
    /// Where it is.
    pub xi: Point,
    /// The side it lies on; for a corner the vertical one.
    pub side: usize,
    /// For a corner: which one, as an index into `Subdomain::vertices`.
    pub corner: Option<usize>,
    /// What its rows are multiplied with: the root of its quadrature weight relative to the mean, or one.
    pub root: f64,
}

/// The nodes of a reference shape, the same for every subdomain of that shape.
#[derive(Debug, Clone)]
pub struct Collocation {
    /// The shape.
    pub shape: Shape,
    /// Intervals per side, n.
    pub points: usize,
    /// Transmission pairs.
    pub pairs: usize,
    /// The rule.
    pub nodes: Nodes,
    /// Whether there are nodes for the halves of sides.
    pub halves: bool,
    /// The inner nodes of a side or of half a side, parameters in `(0, 1)`: `n - 1` of them, or `2n/3` Gauss nodes.
    pub side: Vec<f64>,
    /// The interior nodes.
    pub interior: Vec<Point>,
    /// Their weights in integrals over the shape, where they are points of a rule of integration; nothing elsewhere.
    pub interior_weights: Vec<f64>,
    /// The nodes on the perimeter: those of the whole sides, then the corners if they are nodes, then those of the
    /// halves of the sides if there are any.
    pub perimeter: Vec<PerimeterNode>,
    /// Where integrals over a subdomain are taken.
    pub integration: Integration,
}

/// The points and weights of integrals over the reference shape and its sides: more points than there are nodes, for a
/// coefficient between the nodes counts as well.
#[derive(Debug, Clone)]
pub struct Integration {
    /// Points on the sides, as many on each.
    pub around: Vec<Point>,
    /// Their weights, which add up to one on every side.
    pub around_weights: Vec<f64>,
    /// Points inside.
    pub inside: Vec<Point>,
    /// Their weights, which add up to the area of the shape.
    pub inside_weights: Vec<f64>,
}

impl Integration {
    /// Half as many points again as intervals: fewer integrate as well, but with more rounding.
    pub fn new(shape: Shape, points: usize) -> Self {
        let order = points + points.div_ceil(2);
        let ((t, w), (inside, inside_weights)) = (gauss(order), gauss_inside(shape, order));
        Integration {
            around: (0..shape.sides()).flat_map(|side| t.iter().map(move |&t| shape.side_point(side, t))).collect(),
            around_weights: w.repeat(shape.sides()),
            inside,
            inside_weights,
        }
    }
}

/// Gauss points inside a shape, so many in each direction, with weights that add up to its area.
fn gauss_inside(shape: Shape, order: usize) -> (Vec<Point>, Vec<f64>) {
    let (t, w) = gauss(order);
    let square = || t.iter().zip(&w).flat_map(|a| t.iter().zip(&w).map(move |b| (a, b)));
    match shape {
        Shape::Quadrilateral => square().map(|((&x, a), (&y, b))| ([x, y], a * b)).unzip(),
        // The square collapsed to a triangle: x = s, y = (1 - s) t.
        Shape::Triangle => square().map(|((&s, a), (&t, b))| ([s, (1.0 - s) * t], a * b * (1.0 - s))).unzip(),
    }
}

impl Collocation {
    /// The nodes for n intervals per side, n at least 2, and an equation with so many transmission pairs: what
    /// [`Settings::validate`](crate::method::settings::Settings::validate) accepts. With `halves` there are nodes for the
    /// halves of sides as well.
    ///
    /// # Panics
    /// If there are more than 4096 intervals per side, or for uniform nodes on other shapes than whole squares.
    pub fn new(shape: Shape, nodes: Nodes, points: usize, pairs: usize, halves: bool) -> Self {
        assert!(points <= MOST_POINTS, "{points} intervals per side are more than {MOST_POINTS}");
        let whole_squares = shape == Shape::Quadrilateral && !halves;
        assert!(nodes != Nodes::Uniform || whole_squares, "uniform nodes are those of whole squares");
        let (side, roots) = match nodes {
            Nodes::Uniform => (axis(nodes, points), vec![1.0; points - 1]),
            Nodes::Chebyshev | Nodes::Gauss => {
                let (side, weights) = gauss(side_nodes(nodes, points, pairs));
                let mean = weights.len() as f64;
                (side, weights.iter().map(|w| (w * mean).sqrt()).collect())
            }
        };
        let on_side = |s: usize, span: Span| {
            let node = move |(&t, &root): (&f64, &f64)| PerimeterNode {
                xi: shape.side_point(s, span.along(t)),
                side: s,
                corner: None,
                root,
            };
            side.iter().zip(&roots).map(node).collect::<Vec<_>>()
        };
        let mut perimeter: Vec<PerimeterNode> =
            (0..shape.sides()).flat_map(|side| on_side(side, Span::Whole)).collect();
        if nodes == Nodes::Uniform {
            perimeter.extend(shape.corners().iter().enumerate().map(|(c, &xi)| PerimeterNode {
                xi,
                side: if xi[0] == 0.0 { 3 } else { 1 },
                corner: Some(c),
                root: 1.0,
            }));
        }
        if halves {
            let both = |side| [Span::First, Span::Second].map(|span| on_side(side, span)).concat();
            perimeter.extend((0..shape.sides()).flat_map(both));
        }
        let (interior, interior_weights) = interior(shape, nodes, points);
        let integration = Integration::new(shape, points);
        Collocation { shape, points, pairs, nodes, halves, side, interior, interior_weights, perimeter, integration }
    }

    /// Whether the flux balance of a subdomain is a row of K. The paper has none; where rows are tested with every function, they are
    /// tested with one, too, which is that balance.
    pub fn conserves(&self) -> bool {
        self.nodes == Nodes::Chebyshev
    }

    /// The perimeter nodes of a subdomain without hanging sides.
    pub fn whole_perimeter(&self) -> usize {
        let corners = if self.nodes == Nodes::Uniform { self.shape.sides() } else { 0 };
        self.shape.sides() * self.side.len() + corners
    }

    /// Rows of K of a subdomain without hanging sides.
    pub fn rows(&self) -> usize {
        self.interior.len() + self.pairs * self.whole_perimeter() + usize::from(self.conserves())
    }

    /// The first node of a piece of a side, as an index into `perimeter`.
    fn first_node(&self, side: usize, span: Span) -> usize {
        let (m, whole) = (self.side.len(), self.whole_perimeter());
        match span {
            Span::Whole => side * m,
            Span::First => whole + 2 * side * m,
            Span::Second => whole + (2 * side + 1) * m,
            Span::Part { .. } => unreachable!("sides of subdomains are one piece, or two"),
        }
    }

    /// Which nodes a subdomain has.
    pub fn layout(&self, subdomain: &Subdomain) -> Layout {
        let m = self.side.len();
        let mut layout = Layout { nodes: Vec::new(), pieces: Vec::new(), fluxes: Vec::new(), flux_starts: Vec::new() };
        for piece in &subdomain.pieces {
            let first = self.first_node(piece.side, piece.span);
            layout.pieces.push(layout.nodes.len());
            layout.nodes.extend(first..first + m);
        }
        let corners = if self.nodes == Nodes::Uniform { self.shape.sides() } else { 0 };
        let first_corner = layout.nodes.len();
        layout.nodes.extend((0..corners).map(|c| self.shape.sides() * m + c));
        for (piece, &start) in subdomain.pieces.iter().zip(&layout.pieces) {
            layout.flux_starts.push(layout.fluxes.len());
            layout.fluxes.extend(start..start + m);
            if corners > 0 {
                layout.fluxes.extend([piece.side, (piece.side + 1) % corners].map(|c| first_corner + c));
            }
        }
        layout
    }
}

/// Rows of K of a square without hanging sides, without making its nodes.
pub fn rows_of_square(nodes: Nodes, points: usize, pairs: usize) -> usize {
    let (inside, corners, balance) = match nodes {
        Nodes::Uniform => (points - 1, 4, 0),
        Nodes::Chebyshev => (points - 1, 0, 1),
        Nodes::Gauss => (points + GAUSS_EXTRA, 0, 0),
    };
    inside * inside + pairs * (4 * side_nodes(nodes, points, pairs) + corners) + balance
}

/// The nodes of all shapes that a decomposition has. Those of the sides are the same for all.
pub type Collocations = PerShape<Collocation>;

/// The nodes of the shapes of a decomposition, see [`Collocation::new`].
pub fn collocations(decomposition: &Decomposition, nodes: Nodes, points: usize, pairs: usize) -> Result<Collocations> {
    let (shapes, halves) = (decomposition.shapes(), decomposition.has_hanging_sides());
    if nodes == Nodes::Uniform && (halves || shapes.contains(&Shape::Triangle)) {
        let (problem, hint) = ("uniform nodes are those of whole squares", "use nodes = \"chebyshev\"");
        return Err(Error::input("discretization.nodes", "uniform", problem, hint));
    }
    PerShape::new(&shapes, |shape| Ok(Collocation::new(shape, nodes, points, pairs, halves)))
}

/// The nodes that a subdomain has on its perimeter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The nodes, as indices into [`Collocation::perimeter`]: piece by piece, then the corners if they are nodes.
    pub nodes: Vec<usize>,
    /// The place in `nodes` where every piece begins.
    pub pieces: Vec<usize>,
    /// The places in `nodes` at which fluxes are taken: for every piece its nodes, then its two ends if they are nodes.
    pub fluxes: Vec<usize>,
    /// The place in `fluxes` where every piece begins.
    pub flux_starts: Vec<usize>,
}

/// Inner nodes in one direction.
fn axis(nodes: Nodes, points: usize) -> Vec<f64> {
    let n = points as f64;
    let node = |k: usize| match nodes {
        Nodes::Uniform => k as f64 / n,
        // sin^2 instead of (1 - cos) / 2: the nodes are symmetric to the last bit near 0.
        Nodes::Gauss => unreachable!("Gauss points come with their weights"),
        Nodes::Chebyshev => (std::f64::consts::FRAC_PI_2 * k as f64 / n).sin().powi(2),
    };
    (1..points).map(node).collect()
}

/// The interior nodes, and their weights where they have some.
fn interior(shape: Shape, nodes: Nodes, points: usize) -> (Vec<Point>, Vec<f64>) {
    let interior = match (shape, nodes) {
        (_, Nodes::Gauss) => return gauss_inside(shape, points + GAUSS_EXTRA),
        (Shape::Quadrilateral, _) => {
            let axis = axis(nodes, points);
            axis.iter().flat_map(|&x| axis.iter().map(move |&y| [x, y])).collect()
        }
        (Shape::Triangle, _) => {
            let p = points + TRIANGLE_EXTRA;
            let axis = axis(nodes, p);
            let v = |k: usize| axis[k - 1];
            let node = |i: usize, j: usize| {
                let k = p - i - j;
                [(1.0 + 2.0 * v(i) - v(j) - v(k)) / 3.0, (1.0 + 2.0 * v(j) - v(i) - v(k)) / 3.0]
            };
            (1..p).flat_map(|i| (1..p - i).map(move |j| (i, j))).map(|(i, j)| node(i, j)).collect()
        }
    };
    (interior, Vec::new())
}

/// Inner nodes of a side for n intervals: n - 1 uniform ones, or Gauss nodes. Of these two thirds of n, three fifths for the
/// plate. Fewer lose digits; more bring none, and noise to the plate. Rows that are tested take n: fewer than the traces of the basis
/// have degrees would carry rough ones over as smooth ones, and these grow along a stream.
pub fn side_nodes(nodes: Nodes, points: usize, pairs: usize) -> usize {
    let share = if pairs == 1 { 2.0 / 3.0 } else { 0.6 };
    match nodes {
        Nodes::Uniform => points.saturating_sub(1),
        Nodes::Gauss => points,
        Nodes::Chebyshev => (share * points as f64).round() as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_paper() {
        let uniform = Collocation::new(Shape::Quadrilateral, Nodes::Uniform, 16, 1, false);
        assert_eq!(uniform.rows(), 17 * 17);
        let chebyshev = Collocation::new(Shape::Quadrilateral, Nodes::Chebyshev, 16, 1, true);
        assert_eq!(chebyshev.rows(), 15 * 15 + 4 * 11 + 1);
        assert_eq!(chebyshev.perimeter.len(), 12 * 11);
        assert!((chebyshev.side[3] + chebyshev.side[7] - 1.0).abs() < 1e-15);
        for (nodes, points, pairs) in
            [(Nodes::Uniform, 9, 1), (Nodes::Chebyshev, 13, 1), (Nodes::Chebyshev, 17, 2), (Nodes::Gauss, 9, 1)]
        {
            let made = Collocation::new(Shape::Quadrilateral, nodes, points, pairs, false);
            assert_eq!(rows_of_square(nodes, points, pairs), made.rows());
        }
    }

    #[test]
    fn nodes_of_a_triangle_lie_inside_and_are_symmetric() {
        let triangle = Collocation::new(Shape::Triangle, Nodes::Chebyshev, 10, 1, false);
        assert_eq!(triangle.interior.len(), 11 * 10 / 2);
        for &[x, y] in &triangle.interior {
            assert!(Shape::Triangle.outside([x, y]) < 0.0);
            let turned = [y, 1.0 - x - y];
            assert!(triangle.interior.iter().any(|p| (p[0] - turned[0]).hypot(p[1] - turned[1]) < 1e-15));
        }
    }

    #[test]
    fn integrals_are_exact_for_polynomials() {
        for shape in [Shape::Triangle, Shape::Quadrilateral] {
            let rule = Integration::new(shape, 6);
            let sum: f64 = rule.inside.iter().zip(&rule.inside_weights).map(|(p, w)| w * p[0] * p[0] * p[1]).sum();
            let exact = if shape == Shape::Triangle { 1.0 / 60.0 } else { 1.0 / 6.0 };
            assert!(
                (sum - exact).abs() < 1e-15 && (rule.inside_weights.iter().sum::<f64>() - shape.area()).abs() < 1e-14
            );
        }
    }
}
