//! Layers are found from thick to thin.
//!
//! Where advection or reaction is much larger than diffusion, the solution has layers that are far thinner than the first
//! subdomains. A solution that does not resolve them oscillates everywhere, and its tails ask for splitting where nothing is. So the
//! problem is solved with more diffusion before, with which layers are as thick as subdomains resolve, then with an
//! eighth of that, and so on: every time the subdomains at a layer are a little too wide, and they alone.
//!
//! Layers along the boundary need no search. Beside a side with the outward normal n the equation is, across the side,
//!
//! ```text
//! -a u'' + (b . n) u' + (c + |b_t| / L) u = 0,   u = exp(-k s),   k = (b . n + sqrt((b . n)^2 + 4 a (c + |b_t| / L))) / 2 a,
//! ```
//!
//! at the distance s, where `b_t` runs along the side for at most L: this is 1 / k thick at an outflow, far thicker at an inflow, and has the
//! square root of the diffusion where the advection runs along the side or a reaction is all there is. So subdomains at the boundary
//! are cut as exp(-k s) asks for before anything is solved.

use crate::base::error::Result;
use crate::domain::decomposition::{Decomposition, Subdomain, width_across};
use crate::domain::map::{Point, unit_normal};
use crate::domain::sample::Sample;
use crate::domain::shape::Shape;
use crate::problem::field::FieldRef;
use crate::problem::model::{Diffusion, Problem};
use crate::solution::tails::{Lines, Tails};

/// The thickness of a layer that a subdomain resolves to a few digits: its width over this.
const THICK: f64 = 20.0;

/// The width of a subdomain in units of a layer, at most: thinner layers are between its nodes.
const STEEPEST: f64 = 50.0;

/// How far from a side of a subdomain coefficients are taken, relative to the subdomain.
const BESIDE: f64 = 0.3;

/// By how much diffusion falls from one solve to the next: three cuts toward a layer.
const STEP: f64 = 8.0;

/// Diffusion that is added, relative to what is there, and still makes a difference.
const NOTHING: f64 = 0.5;

/// How much diffusion to add to a problem in one solve after the other, so that layers are found; nothing where subdomains
/// resolve all the layers that there can be.
pub(crate) fn added_diffusions(problem: &Problem, decomposition: &Decomposition) -> Result<Vec<f64>> {
    // What a nonlinear problem is like is not known before it is solved.
    if problem.is_nonlinear() || problem.equation.leading().is_none() {
        return Ok(Vec::new());
    }
    let (mut first, mut least) = (0.0f64, f64::INFINITY);
    for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
        // Rings are small, and where they are large the elements around them are larger.
        if decomposition.ring(s).is_some() {
            continue;
        }
        let (wanted, diffusion) = wanted(problem, subdomain, s)?;
        if wanted > diffusion {
            (first, least) = (first.max(wanted), least.min(diffusion));
        }
    }
    let fall = std::iter::successors(Some(first), |added| Some(added / STEP));
    Ok(fall.take_while(|added| *added > NOTHING * least).collect())
}

/// What layers along the boundary leave in every subdomain with n points per side, if the solution has them.
pub(crate) fn boundary_layers(problem: &Problem, decomposition: &Decomposition, points: usize) -> Result<Vec<Tails>> {
    let lines = Lines::new(points + 1);
    let nodes = lines.nodes();
    let [x0, x1, y0, y1] = decomposition.bounding_box();
    let longest = (x1 - x0).hypot(y1 - y0);
    let tails_of = |(s, subdomain): (usize, &Subdomain)| -> Result<Tails> {
        let mut across = [0, 1].map(|_| vec![0.0; nodes.len()]);
        if subdomain.map.shape() == Shape::Quadrilateral {
            for (side, part) in subdomain.boundaries() {
                let held = problem.conditions[part].is_essential();
                let rate = decay(problem, subdomain, s, side, longest)?;
                // A given flux is met by a slope, and that by little.
                let height = if held { 1.0 } else { (1.0 / (rate * longest)).min(1.0) };
                let width = width_across(subdomain.map.as_ref(), side);
                // Sides begin at the bottom and run counter-clockwise.
                let (direction, at_one) = (1 - side % 2, side == 1 || side == 2);
                for (value, &t) in across[direction].iter_mut().zip(&nodes) {
                    *value += height * (-(rate * width).min(STEEPEST) * if at_one { 1.0 - t } else { t }).exp();
                }
            }
        }
        let directions = across.map(|values| lines.line(&values, false));
        Ok(Tails { directions, size: 1.0 })
    };
    decomposition.subdomains.iter().enumerate().map(tails_of).collect()
}

/// The rate k at which a layer along a side falls; the largest of three points beside it, for coefficients may be singular on it.
fn decay(problem: &Problem, subdomain: &Subdomain, s: usize, side: usize, longest: f64) -> Result<f64> {
    let map = subdomain.map.as_ref();
    let along_side = [0.1, 0.5, 0.9].map(|t| map.shape().side_point(side, t));
    let sample = Sample::new(subdomain, along_side.map(|xi| map.shape().inside(xi, BESIDE)));
    let values = |field: &FieldRef, key: &str| sample.values(field.as_ref(), key, s);
    let equation = &problem.equation;
    let mut largest = 0.0f64;
    let diffusion = match equation.leading() {
        None => return Ok(0.0),
        Some(diffusion) => diffusion.by_rows(),
    };
    let mut a = [[[0.0; 3]; 2]; 2];
    for i in 0..2 {
        for j in 0..2 {
            if let Some(field) = diffusion[i][j] {
                a[i][j].copy_from_slice(&values(field, "equation.diffusion")?);
            }
        }
    }
    let mut b = [[0.0; 3]; 2];
    for (b, field) in b.iter_mut().zip(equation.advection().into_iter().flatten()) {
        b.copy_from_slice(&values(field, "equation.advection")?);
    }
    let c = match equation.reaction() {
        None => vec![0.0; 3],
        Some(field) => values(field, "equation.reaction")?,
    };
    for k in 0..3 {
        let n = unit_normal(map, side, map.jacobian(along_side[k]));
        let normal = (0..2).map(|i| (0..2).map(|j| n[i] * a[i][j][k] * n[j]).sum::<f64>()).sum::<f64>();
        let out = b[0][k] * n[0] + b[1][k] * n[1];
        let along = (b[0][k] * n[1] - b[1][k] * n[0]).abs();
        let root = (out * out + 4.0 * normal * (c[k] + along / longest).max(0.0)).sqrt();
        largest = largest.max((out + root) / (2.0 * normal));
    }
    Ok(largest)
}

/// The diffusion with which a subdomain resolves layers, and the least that there is.
fn wanted(problem: &Problem, subdomain: &Subdomain, s: usize) -> Result<(f64, f64)> {
    let map = subdomain.map.as_ref();
    let xi: Vec<Point> = match map.shape() {
        Shape::Quadrilateral => [0.1, 0.5, 0.9].iter().flat_map(|&a| [0.1, 0.5, 0.9].map(|b| [a, b])).collect(),
        Shape::Triangle => vec![[0.1, 0.1], [0.8, 0.1], [0.1, 0.8], [0.3, 0.3]],
    };
    let sample = Sample::new(subdomain, xi);
    let values = |field: &FieldRef, key: &str| sample.values(field.as_ref(), key, s);
    let jacobian = map.jacobian(map.shape().center());
    let widths = [0, 1].map(|a: usize| jacobian[0][a].hypot(jacobian[1][a]));
    let equation = &problem.equation;
    let mut diffusion = f64::INFINITY;
    for (i, row) in equation.leading().into_iter().flat_map(Diffusion::by_rows).enumerate() {
        if let Some(a) = row[i] {
            diffusion = values(a, "equation.diffusion")?.into_iter().fold(diffusion, f64::min);
        }
    }
    let mut wanted = 0.0f64;
    if let Some([bx, by]) = equation.advection() {
        let (bx, by) = (values(bx, "equation.advection")?, values(by, "equation.advection")?);
        // What a subdomain is wide in the direction of the advection.
        let across = |[x, y]: Point| {
            let along = |a: usize| (x * jacobian[0][a] + y * jacobian[1][a]).abs();
            along(0).max(along(1))
        };
        wanted = bx.into_iter().zip(by).map(|(x, y)| across([x, y]) / THICK).fold(wanted, f64::max);
    }
    if let Some(c) = equation.reaction() {
        let width = widths[0].max(widths[1]) / THICK;
        wanted = values(c, "equation.reaction")?.into_iter().map(|c| c * width * width).fold(wanted, f64::max);
    }
    Ok((wanted, diffusion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::constant;
    use crate::problem::model::{Condition, Equation};

    #[test]
    fn a_layer_is_as_thick_as_its_equation_says() {
        let unit = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [1, 1]).unwrap();
        let problem = |b: [f64; 2], c: f64| Problem {
            equation: Equation::SecondOrder {
                diffusion: Diffusion::Scalar(constant(1e-4)),
                advection: Some(b.map(constant)),
                reaction: Some(constant(c)),
            },
            source: constant(1.0),
            conditions: vec![Condition::dirichlet(constant(0.0)); 4],
            mean: None,
            exact: None,
        };
        let rate = |b: [f64; 2], c: f64, side: usize| {
            decay(&problem(b, c), &unit.subdomains[0], 0, side, std::f64::consts::SQRT_2).unwrap()
        };
        // Sides are bottom, right, top, left: outflow, along, inflow, and a reaction alone.
        assert!((rate([2.0, 0.0], 0.0, 1) / 2e4 - 1.0).abs() < 1e-3);
        assert!((rate([2.0, 0.0], 0.0, 0) / (2e4 / std::f64::consts::SQRT_2).sqrt() - 1.0).abs() < 1e-3);
        assert!(rate([2.0, 0.0], 0.0, 3) < 1e-3);
        assert!((rate([0.0, 0.0], 1.0, 2) / 100.0 - 1.0).abs() < 1e-12);
        let tails = boundary_layers(&problem([2.0, 0.0], 0.0), &unit, 12).unwrap();
        let [x, y] = tails[0].directions;
        assert_eq!((x.end, y.end), (Some(true), None));
        assert!(x.last > 1e-3 && y.last > 1e-3, "{x:?} {y:?}");
        let calm = boundary_layers(&problem([1e-5, 0.0], 0.0), &unit, 12).unwrap();
        assert!(calm[0].directions.iter().all(|tail| tail.last < 1e-12), "{calm:?}");
    }
}
