//! Layers are found from thick to thin.
//!
//! Where advection or reaction is much larger than diffusion, the solution has layers that are far thinner than the first
//! subdomains. A solution that does not resolve them oscillates everywhere, and its tails ask for splitting where nothing is. So the
//! problem is solved with more diffusion before, with which layers are as thick as subdomains resolve, then with an
//! eighth of that, and so on: every time the subdomains at a layer are a little too wide, and they alone.

use crate::base::error::Result;
use crate::domain::decomposition::{Decomposition, Subdomain};
use crate::domain::map::Point;
use crate::domain::sample::Sample;
use crate::domain::shape::Shape;
use crate::problem::field::FieldRef;
use crate::problem::model::{Diffusion, Problem};

/// The thickness of a layer that a subdomain resolves to a few digits: its width over this.
const THICK: f64 = 20.0;

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
