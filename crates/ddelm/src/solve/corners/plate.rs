//! Corners of plates: elements that get smaller toward them.
//!
//! A clamped plate behaves like `r^3.74` at a right angle, whatever its load is, and one that is supported like `r^4 log r` where the load
//! does not vanish there. With four derivatives in the equation an element at the corner makes an error that more points hardly
//! lessen, and that depends on their number by chance. Errors of the first eigenvalue of a clamped square, 16 points, with
//! elements of this size at the corners:
//!
//! ```text
//! 1/2      1/4      1/8      1/16     1/32     1/64      1/128
//! 1e-6     2e-8     4e-9     9e-10    2e-11    2e-12     5e-13
//! ```
//!
//! Rings are for equations of second order. Every level of smaller elements costs three squares at a right angle.

use super::{Fan, Search, around, fan, vertex_at};
use crate::base::error::Result;
use crate::domain::decomposition::Decomposition;
use crate::method::settings::Corners;
use crate::problem::model::Problem;

/// The size of the elements at a right angle, relative to the domain.
const SMALLEST: f64 = 1.0 / 64.0;

/// Angles in quarter turns, and the least exponents of clamped plates there, which are below those of supported ones for most angles. M.
/// L. Williams, Surface stress singularities resulting from various boundary conditions in angular corners of plates under bending (1951).
const EXPONENTS: [f64; 4] = [3.740, 2.0, 1.544, 1.5];

/// Elements are halved at most so often.
const MOST_LEVELS: usize = 24;

/// A decomposition with small elements at the corners that are asked for.
pub(super) fn split_toward_corners(
    problem: &Problem,
    mut decomposition: Decomposition,
    corners: &Corners,
) -> Result<Decomposition> {
    let [x0, x1, y0, y1] = decomposition.bounding_box();
    let extent = (x1 - x0).min(y1 - y0);
    for _ in 0..MOST_LEVELS {
        let search = Search::new(problem, &decomposition)?;
        let mut large: Vec<usize> = fans(&search, corners)?
            .iter()
            .filter(|(fan, radius)| *radius > (1.0 + 1e-9) * extent * size_at(fan))
            .flat_map(|(fan, _)| fan.elements.iter().map(|(s, _)| *s))
            .collect();
        if large.is_empty() {
            break;
        }
        large.sort_unstable();
        large.dedup();
        decomposition = decomposition.split(&large)?;
    }
    Ok(decomposition)
}

/// The corners that are asked for, with the shortest sides that end there.
fn fans(search: &Search<'_>, corners: &Corners) -> Result<Vec<(Fan, f64)>> {
    let decomposition = search.decomposition;
    let around = around(decomposition);
    let wanted: Vec<usize> = match corners {
        Corners::Points(points) => points.iter().map(|&p| vertex_at(decomposition, p)).collect::<Result<_>>()?,
        _ => (0..around.len()).filter(|&v| !decomposition.vertices[v].parts.is_empty()).collect(),
    };
    let found = wanted.into_iter().filter_map(|v| fan(decomposition, &around[v]));
    let found = found.filter(|fan| fan.parts.is_some() && search.is_candidate(fan));
    Ok(found
        .map(|fan| {
            let radius = search.radius(&fan);
            (fan, radius)
        })
        .collect())
}

/// The size of elements at a corner, relative to the domain: as small as makes the power of the distance there what it is at a right
/// angle.
fn size_at(fan: &Fan) -> f64 {
    let turn = (fan.angles[fan.angles.len() - 1] - fan.angles[0]) / std::f64::consts::FRAC_PI_2;
    let place = (turn - 1.0).clamp(0.0, 2.999);
    let (k, share) = (place as usize, place.fract());
    let exponent = EXPONENTS[k] + share * (EXPONENTS[k + 1] - EXPONENTS[k]);
    SMALLEST.powf(EXPONENTS[0] / exponent)
}
