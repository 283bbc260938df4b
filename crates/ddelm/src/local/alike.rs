//! Which subdomains have the same rows, known before there are any.
//!
//! Where coefficients are constant, rows depend on the [form](Form) of the map and on what lies behind the sides. Where they also
//! prefer no direction, a turned or reflected form is the same: the corners of a rectangle have one set of rings among them. Whoever
//! computes rows for the first of each kind only, computes them once.

use std::collections::HashMap;

use crate::domain::decomposition::{Behind, Piece};
use crate::domain::forest::Span;
use crate::domain::map::Form;
use crate::local::operator::EdgeUnits;
use crate::local::places::Scene;
use crate::problem::model::Condition;
use crate::problem::operators::BoundaryRow;

/// For each of some subdomains the place in the list of the first one with the same rows: its own, if none is known to have them.
/// Nodes are those of sides, not of corners.
pub fn alike(scene: &Scene<'_>, units: &[EdgeUnits], subdomains: &[usize]) -> Vec<usize> {
    if scene.about.is_some() || !scene.problem.equation.is_constant() {
        return (0..subdomains.len()).collect();
    }
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let place = |(k, &s): (usize, &usize)| match kind(scene, units, s) {
        Some(kind) => *first.entry(kind).or_insert(k),
        None => k,
    };
    subdomains.iter().enumerate().map(place).collect()
}

/// Numbers that say which rows subdomain s has, where that is known.
fn kind(scene: &Scene<'_>, units: &[EdgeUnits], s: usize) -> Option<Vec<u64>> {
    let subdomain = scene.subdomain(s);
    let form = subdomain.map.form()?;
    let mut out = Vec::with_capacity(40);
    add_form(&form, scene.problem.equation.prefers_no_direction(), &mut out);
    for &Piece { side, span, behind } in &subdomain.pieces {
        let span = match span {
            Span::Whole => 0,
            Span::First => 1,
            Span::Second => 2,
            Span::Part { .. } => return None,
        };
        out.extend([side as u64, span]);
        match behind {
            Behind::Core => out.push(0),
            Behind::Edge { edge, .. } => {
                let EdgeUnits { trace, carries, .. } = &units[edge];
                out.extend([1, trace[0].to_bits(), trace[1].to_bits(), u64::from(*carries)]);
            }
            Behind::Boundary(part) => {
                out.push(2);
                add_condition(&scene.problem.conditions[part], &mut out)?;
            }
        }
    }
    Some(out)
}

fn add_form(form: &Form, up_to_motions: bool, out: &mut Vec<u64>) {
    // Zeros have no sign here.
    let mut add = |numbers: &[f64]| out.extend(numbers.iter().map(|v| (v + 0.0).to_bits()));
    add(&[form.shape.sides() as f64]);
    match up_to_motions {
        true => add(&form.products()),
        false => add(form.vectors.as_flattened()),
    }
    if let Some((sigma, innermost)) = form.rings {
        add(&sigma);
        add(&[f64::from(u8::from(innermost))]);
    }
}

/// What the rows of a condition depend on; `None` where that varies.
fn add_condition(condition: &Condition, out: &mut Vec<u64>) -> Option<()> {
    for row in condition.rows() {
        match row {
            BoundaryRow::Trace(pair) => out.extend([0, pair as u64]),
            BoundaryRow::Flux(None) => out.push(1),
            BoundaryRow::Flux(Some(multiple)) => out.extend([2, multiple.constant()?.to_bits()]),
        }
    }
    Some(())
}
