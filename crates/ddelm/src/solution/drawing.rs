//! What a picture of a solution is made of: triangles with values at their corners, and the borders of the subdomains.
//!
//! Every subdomain is a patch with a regular lattice of its reference shape, mapped to the plane, `x = F_s(xi)`. Patches share no
//! points, so a jump between two of them is seen as one, and curved ones are drawn as they are. Nothing here knows what the
//! domain looks like.
//!
//! With many subdomains in one basis the values come from a table of the basis at the lattice: `u_s = Psi y_s`. The table
//! does not depend on the solution, and [`Tables`] keeps it from one solution to the next.

use std::convert::Infallible;
use std::sync::Arc;

use faer::Mat;

use crate::base::error::Result;
use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;
use crate::domain::shape::{PerShape, Shape};
use crate::local::basis::ReferenceBasis;
use crate::solution::evaluate::{Gradients, Solution};

/// Tables that are kept: one for every shape, on a fine and on a coarse lattice.
const KEPT: usize = 4;

/// Straight pieces of a side that is curved.
const PIECES: usize = 24;

/// The triangles and lines of a picture.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// The points of the patches, one patch after the other.
    pub points: Vec<Point>,
    /// The corners of the triangles, counter-clockwise, as numbers of points.
    pub triangles: Vec<[u32; 3]>,
    /// All sides of all subdomains; those between two of them may be there twice.
    pub borders: Vec<Vec<Point>>,
    /// The sides on the boundary of the domain.
    pub outline: Vec<Vec<Point>>,
    /// The reference points of a patch of every shape.
    lattices: PerShape<Vec<Point>>,
    /// The shapes of the subdomains.
    shapes: Vec<Shape>,
}

/// Tables of bases at the lattices of a drawing, kept for the next solution in the same bases.
#[derive(Debug, Clone, Default)]
pub struct Tables(Vec<(Arc<ReferenceBasis>, usize, Mat<f64>)>);

impl Drawing {
    /// Draws a decomposition with so many intervals along a side of a subdomain.
    pub fn new(decomposition: &Decomposition, intervals: usize) -> Self {
        let intervals = intervals.max(1);
        let per_shape = PerShape::new(&decomposition.shapes(), |shape| {
            Ok::<_, Infallible>((shape.lattice(intervals).collect::<Vec<Point>>(), triangles(shape, intervals)))
        });
        let Ok(per_shape) = per_shape;
        let mut drawing = Drawing {
            points: Vec::new(),
            triangles: Vec::new(),
            borders: Vec::new(),
            outline: Vec::new(),
            lattices: per_shape.clone().map(|(lattice, _)| lattice),
            shapes: decomposition.subdomains.iter().map(|subdomain| subdomain.map.shape()).collect(),
        };
        for (subdomain, &shape) in decomposition.subdomains.iter().zip(&drawing.shapes) {
            let (first, map) = (drawing.points.len() as u32, subdomain.map.as_ref());
            let (lattice, cells) = per_shape.of(shape);
            drawing.points.extend(lattice.iter().map(|&xi| map.point(xi)));
            drawing.triangles.extend(cells.iter().map(|corners| corners.map(|k| first + k)));
            let pieces = if map.affine().is_some() { 1 } else { PIECES };
            for side in 0..shape.sides() {
                let at = |k: usize| map.point(shape.side_point(side, k as f64 / pieces as f64));
                let line: Vec<Point> = (0..=pieces).map(at).collect();
                if subdomain.boundary(side).is_some() {
                    drawing.outline.push(line.clone());
                }
                drawing.borders.push(line);
            }
        }
        drawing
    }

    /// A value for every point, from a function of a subdomain and its reference points.
    pub fn values(&self, of: impl Fn(usize, &[Point]) -> Result<Vec<f64>>) -> Result<Vec<f64>> {
        let patch = |(s, &shape): (usize, &Shape)| of(s, self.lattices.of(shape));
        let patches: Vec<Vec<f64>> = self.shapes.iter().enumerate().map(patch).collect::<Result<_>>()?;
        Ok(patches.concat())
    }

    /// u and its gradient at every point, for a solution on the decomposition that is drawn.
    pub fn gradients(&self, solution: &Solution, tables: &mut Tables) -> Gradients {
        let mut patches = vec![Gradients::default(); self.shapes.len()];
        for (shape, lattice) in self.lattices.iter() {
            let members: Vec<usize> = (0..self.shapes.len()).filter(|&s| self.shapes[s] == shape).collect();
            let table = solution.basis(shape).map(|basis| tables.of(basis, lattice));
            for (&s, found) in members.iter().zip(solution.gradients_at(&members, lattice, table)) {
                patches[s] = found;
            }
        }
        let joined = |of: fn(Gradients) -> Vec<f64>| patches.iter().cloned().flat_map(of).collect();
        Gradients { u: joined(|patch| patch.u), ux: joined(|patch| patch.ux), uy: joined(|patch| patch.uy) }
    }
}

impl Tables {
    /// The table of a basis at a lattice, which is known by its number of points.
    fn of(&mut self, basis: &Arc<ReferenceBasis>, lattice: &[Point]) -> &Mat<f64> {
        let wanted = |(of, points, _): &(Arc<ReferenceBasis>, usize, Mat<f64>)| {
            Arc::ptr_eq(of, basis) && *points == lattice.len()
        };
        let place = self.0.iter().position(wanted).unwrap_or_else(|| {
            // Those of the other shape and lattice will be asked for again.
            self.0.truncate(KEPT - 1);
            self.0.insert(0, (basis.clone(), lattice.len(), basis.derivatives(lattice, &[0, 1, 2])));
            0
        });
        &self.0[place].2
    }
}

/// Two triangles for every cell of a lattice; along the slanted side of a triangle, one.
fn triangles(shape: Shape, intervals: usize) -> Vec<[u32; 3]> {
    let n = intervals as u32;
    let mut found = Vec::new();
    let mut start = 0;
    for j in 0..n {
        let cells = if shape == Shape::Triangle { n - j } else { n };
        let above = start + cells + 1;
        for i in 0..cells {
            let [a, b, c, d] = [start + i, start + i + 1, above + i + 1, above + i];
            found.push([a, b, d]);
            if shape == Shape::Quadrilateral || i + 1 < cells {
                found.push([b, c, d]);
            }
        }
        start = above;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::domain::map::{MapRef, Polar};
    use crate::domain::mesh::{Mesh, MeshSettings};
    use crate::domain::outline::{Loop, Outline};
    use crate::{Condition, Equation, Problem, Settings, Solver, constant, function};

    fn area(points: &[Point], triangles: &[[u32; 3]]) -> f64 {
        let corner = |k: u32| points[k as usize];
        let of = |[a, b, c]: &[u32; 3]| {
            let ([ax, ay], [bx, by], [cx, cy]) = (corner(*a), corner(*b), corner(*c));
            0.5 * ((bx - ax) * (cy - ay) - (cx - ax) * (by - ay))
        };
        assert!(triangles.iter().all(|t| of(t) > 0.0), "every triangle is counter-clockwise");
        triangles.iter().map(of).sum()
    }

    #[test]
    fn triangles_fill_the_reference_shapes() {
        for (shape, expected) in [(Shape::Triangle, 0.5), (Shape::Quadrilateral, 1.0)] {
            for n in [1, 2, 7] {
                let points: Vec<Point> = shape.lattice(n).collect();
                assert!((area(&points, &triangles(shape, n)) - expected).abs() < 1e-14, "{shape:?} {n}");
            }
        }
    }

    /// Half a ring in four pieces, on which u = x y.
    fn ring(points: usize) -> Solution {
        let sector = |k: usize| {
            let angle = [PI * k as f64 / 4.0, PI * (k + 1) as f64 / 4.0];
            Arc::new(Polar { centre: [0.0; 2], radius: [1.0, 2.0], angle }) as MapRef
        };
        let decomposition = Decomposition::from_maps((0..4).map(sector).collect(), 1, |_| 0).unwrap();
        let problem =
            Problem::new(Equation::poisson(), constant(0.0), vec![Condition::dirichlet(function(|x, y| x * y))]);
        let settings = Settings { points, ..Settings::fast() };
        Solver::new(&problem, decomposition, &settings).unwrap().solve().unwrap()
    }

    #[test]
    fn a_ring_is_drawn_with_its_outline_and_its_values() {
        let solution = ring(12);
        let drawing = Drawing::new(&solution.decomposition, 16);
        assert!((area(&drawing.points, &drawing.triangles) - 1.5 * PI).abs() < 0.02);
        assert_eq!((drawing.borders.len(), drawing.outline.len()), (16, 10));
        assert!(drawing.outline.iter().flatten().all(|p| (1.0 - 1e-9..2.0 + 1e-9).contains(&p[0].hypot(p[1]))));
        let mut tables = Tables::default();
        let g = drawing.gradients(&solution, &mut tables);
        for (k, [x, y]) in drawing.points.iter().enumerate() {
            assert!((g.u[k] - x * y).abs() < 1e-6 && (g.ux[k] - y).abs() < 1e-4 && (g.uy[k] - x).abs() < 1e-4);
        }
        let values = drawing.values(|s, xi| Ok(solution.local_gradients(s, xi).u)).unwrap();
        assert!(values.iter().zip(&g.u).all(|(a, b)| (a - b).abs() < 1e-11));
    }

    #[test]
    fn triangles_and_quadrilaterals_are_drawn_together() {
        let l = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let outline = Outline::new(Loop::polygon("domain.polygon", &l, None).unwrap(), vec![], vec![]).unwrap();
        let mesh = Mesh::of_outline(&outline, &MeshSettings { size: Some(0.7), ..MeshSettings::default() }).unwrap();
        let decomposition = Decomposition::of_mesh(mesh).unwrap();
        let problem =
            Problem::new(Equation::poisson(), constant(0.0), vec![Condition::dirichlet(function(|x, y| x * y)); 6]);
        let settings = Settings { points: 10, ..Settings::fast() };
        let solution = Solver::new(&problem, decomposition, &settings).unwrap().solve().unwrap();
        let drawing = Drawing::new(&solution.decomposition, 5);
        assert!((area(&drawing.points, &drawing.triangles) - 3.0).abs() < 1e-12);
        let pieces = drawing.outline.iter().flat_map(|line| line.windows(2));
        let length: f64 = pieces.map(|ends| (ends[1][0] - ends[0][0]).hypot(ends[1][1] - ends[0][1])).sum();
        assert!((length - 8.0).abs() < 1e-12, "{length}");
        let g = drawing.gradients(&solution, &mut Tables::default());
        assert!(drawing.points.iter().zip(&g.u).all(|([x, y], u)| (u - x * y).abs() < 1e-8));
    }

    #[test]
    fn tables_follow_the_basis_and_the_lattice() {
        let mut tables = Tables::default();
        for (points, intervals) in [(12, 8), (12, 8), (12, 5), (10, 5)] {
            let solution = ring(points);
            let drawing = Drawing::new(&solution.decomposition, intervals);
            let kept = drawing.gradients(&solution, &mut tables);
            assert_eq!(kept, drawing.gradients(&solution, &mut Tables::default()), "{points} {intervals}");
        }
    }
}
