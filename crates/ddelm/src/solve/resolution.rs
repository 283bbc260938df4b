//! Whether the data of a problem are resolved: the data between the nodes, against the interpolant through nodes.
//!
//! A subdomain sees coefficients, source and boundary values at its nodes, and nothing of what lies between them: a jump, a
//! layer or a spike there changes the solution and no row. So every field is sampled on a grid of its own, about a quarter of
//! a million points over the domain, and compared with the tensor-product interpolant through `n x n` Chebyshev nodes of the subdomain,
//! the polynomial that has about as much to tell as the features. All points lie strictly inside their
//! subdomain, so that a jump along its sides is none.
//!
//! Two numbers come out for a field. The *mismatch* is the largest difference, relative to the size of the field (of
//! the diffusion: relative to the diffusion there, for it acts by ratios). The *share* is what the nodes do not tell in the
//! mean of a subdomain, relative to the whole: differences that cancel over a subdomain hardly move the solution, the
//! mass of a spike does.

mod patch;

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::base::error::Result;
use crate::base::number::brief;
use crate::domain::decomposition::{Decomposition, Subdomain, part_name, width_across};
use crate::domain::map::{Point, side_speed};
use crate::domain::sample::Sample;
use crate::problem::field::FieldRef;
use crate::problem::model::{Diffusion, Problem};
use crate::solution::tails::Tail;

use patch::{Compared, Grid, Patch, Sampler};

/// How closely fields are looked at.
struct Density {
    /// Points over the whole domain, about so many.
    samples: usize,
    /// Points along the whole boundary.
    along: usize,
    /// Points in each direction of a subdomain for every twelve of its nodes, at least.
    per_dozen: usize,
    /// Distances from the sides of a subdomain at which fields are sampled as well, relative to it: a jump that should be
    /// on a line and is beside it, at 0.3333 for a third, leaves a sliver that decides about the values on the side.
    close: &'static [f64],
    /// The part of a field, relative to all of it, that the nodes of a subdomain may miss in the mean.
    share: f64,
}

impl Density {
    /// Points in each direction of a subdomain, at least.
    fn least(&self, points: usize) -> usize {
        self.per_dozen * points / 12 + 1
    }
}

/// A quarter of a million points: some 5 ms for a formula.
const THOROUGH: Density = Density {
    samples: 1 << 18,
    along: 1 << 13,
    per_dozen: 15,
    close: &[1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10],
    share: f64::INFINITY,
};

/// An eighth of them, for a solve that must not take much longer than it needs.
const USUAL: Density = Density {
    samples: 1 << 15,
    along: 1 << 11,
    per_dozen: 15,
    close: &[1e-4, 1e-6, 1e-8, 1e-10],
    share: f64::INFINITY,
};

/// Fewer than the nodes, which a field that is not resolved misses nearly everywhere. What is beside a line is so from the smallest distance on.
const QUICK: Density = Density { samples: 0, along: 0, per_dozen: 8, close: &[1e-8], share: f64::INFINITY };

/// Most points in one direction of a subdomain.
const MOST: usize = 512;

/// Functions in a value that cost as much as a formula; a field with more of them is sampled at fewer points.
const USUAL_WORK: usize = 16;

/// Mismatches beyond which a field is called unresolved: of the diffusion, and of everything else.
const SERIOUS: [f64; 2] = [0.05, 0.1];

/// Fields smaller than this, beside the largest of the right-hand sides, are rounding.
const ROUNDING: f64 = 1e-9;

/// What lies between the nodes of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Unseen {
    /// The field, as a path in a problem file.
    pub key: String,
    /// The largest difference to the interpolant, relative to the size of the field.
    pub mismatch: f64,
    /// How much of the field, relative to all of it, the nodes do not tell in the mean of subdomains; at most 1.
    pub share: f64,
    /// Whether that is more than a smooth field has on the way to being resolved.
    pub serious: bool,
    /// Subdomains in which it is.
    pub subdomains: usize,
    /// The subdomain with the largest difference.
    pub subdomain: usize,
    /// Where it is.
    pub point: Point,
    /// The value there.
    pub value: f64,
    /// The interpolant there.
    pub expected: f64,
}

/// How well the nodes of a decomposition tell the data of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// One entry for every field that varies.
    pub fields: Vec<Unseen>,
    /// Where some field is not resolved.
    pub unresolved: Vec<Unresolved>,
}

/// A subdomain in which a field is not resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Unresolved {
    /// The subdomain.
    pub subdomain: usize,
    /// What the nodes tell of the field in each direction.
    pub tails: [Tail; 2],
    /// The largest value of the field there.
    pub size: f64,
    /// How wrong a solution may be by that alone; of the diffusion 1.
    pub weight: f64,
    /// Whether its values are wrong between the nodes, and not only its mean.
    pub serious: bool,
}

impl Resolution {
    /// Samples all data of the problem, for subdomains with n points per side. Refuses a diffusion that is not positive
    /// at one of the samples, and values that are not finite.
    pub fn new(problem: &Problem, decomposition: &Decomposition, points: usize) -> Result<Self> {
        Self::sampled(problem, decomposition, points, &THOROUGH)
    }

    /// [`Resolution::new`] at an eighth of the points.
    pub fn usual(problem: &Problem, decomposition: &Decomposition, points: usize) -> Result<Self> {
        Self::sampled(problem, decomposition, points, &USUAL)
    }

    /// [`Resolution::new`] at few points, for a few hundredths of the time of a solve: jumps and layers inside subdomains
    /// are found, spikes may not be.
    pub fn quick(problem: &Problem, decomposition: &Decomposition, points: usize) -> Result<Self> {
        Self::sampled(problem, decomposition, points, &QUICK)
    }

    /// [`Resolution::usual`], which also finds where more than a share of a field is missed in the mean.
    pub fn with_means(problem: &Problem, decomposition: &Decomposition, points: usize, share: f64) -> Result<Self> {
        Self::sampled(problem, decomposition, points, &Density { share, ..USUAL })
    }

    fn sampled(problem: &Problem, decomposition: &Decomposition, points: usize, density: &Density) -> Result<Self> {
        let (mut groups, diffusion) = interior_groups(problem, decomposition, points, density)?;
        groups.extend(boundary_groups(problem, decomposition, points, density)?);
        // What a value of one is as a source: units of length and diffusion are anybody's choice.
        let [x0, x1, y0, y1] = decomposition.bounding_box();
        let unit = diffusion / (x1 - x0).min(y1 - y0).powi(problem.equation.order() as i32);
        let size = |g: &Group| match g.kind {
            Kind::Source => g.size / unit,
            Kind::Boundary => g.size,
            _ => 0.0,
        };
        let values = problem.conditions.iter().flat_map(|c| &c.values).filter_map(|field| field.constant());
        let constants = values.chain(problem.source.constant().map(|f| f / unit)).map(f64::abs);
        let largest = ROUNDING * groups.iter().map(size).chain(constants).fold(0.0, f64::max);
        let floor = |g: &Group| if g.kind == Kind::Source { largest * unit } else { largest };
        let unresolved = groups.iter().flat_map(|group| group.affected(floor(group), density.share)).collect();
        Ok(Resolution { fields: groups.iter().filter_map(|group| group.summary(floor(group))).collect(), unresolved })
    }

    /// The largest mismatch of all fields.
    pub fn worst(&self) -> f64 {
        self.fields.iter().map(|f| f.mismatch).fold(0.0, f64::max)
    }

    /// How wrong a solution that has only seen the nodes may be: the largest share of the fields that are not resolved.
    pub fn missed(&self) -> f64 {
        self.fields.iter().filter(|f| f.serious).map(|f| f.share).fold(0.0, f64::max)
    }

    /// One warning for every field that is not resolved.
    pub fn warnings(&self, decomposition: &Decomposition) -> Vec<String> {
        let all = decomposition.len();
        let warning = |f: &Unseen| {
            let Unseen { key, subdomains, subdomain, .. } = f;
            let [x, y] = f.point.map(|at| brief(at, 6));
            let (value, expected, mismatch) = (brief(f.value, 4), brief(f.expected, 4), brief(f.mismatch, 2));
            format!(
                "{key} is not resolved in {subdomains} of {all} subdomains: in subdomain {subdomain} at x = {x}, \
                 y = {y} it is {value}, and the nodes suggest {expected} (off by {mismatch} of its size); \
                 put lines of the decomposition along jumps, and more subdomains or points where it is steep"
            )
        };
        self.fields.iter().filter(|f| f.serious).map(warning).collect()
    }
}

/// What a field is in the problem.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Diffusion,
    /// Advection or reaction, with what stands beside it: the size of the diffusion in the same units.
    LowerOrder(f64),
    Source,
    Coefficient,
    Boundary,
}

impl Kind {
    /// Whether a piece may be found to be unresolved beside the whole field, which is at least as large.
    fn may_be_unresolved(self, piece: &Piece, share: f64) -> bool {
        match self {
            Kind::Diffusion => piece.worst > SERIOUS[0],
            _ => piece.worst > SERIOUS[1] * piece.size || piece.missing.abs() > share * piece.integral,
        }
    }
}

/// The samples of the fields that belong together: the entries of a tensor, the values on the whole boundary.
struct Group {
    kind: Kind,
    /// The largest value.
    size: f64,
    pieces: Vec<Piece>,
}

/// One field in one subdomain.
#[derive(Debug, Clone)]
struct Piece {
    key: String,
    subdomain: usize,
    /// What the nodes tell of the field in each direction; nothing where its mismatch is small.
    tails: [Tail; 2],
    /// Area, or length.
    measure: f64,
    /// Largest value.
    size: f64,
    /// Integral of the field's size, and of the difference to the interpolant; that of a source counts by its [`reach`].
    integral: f64,
    missing: f64,
    /// The largest difference (of the diffusion, relative), where it is, and the two values.
    worst: f64,
    point: Point,
    value: f64,
    expected: f64,
}

impl Group {
    fn new(kind: Kind, pieces: Vec<Piece>) -> Self {
        Group { kind, size: pieces.iter().map(|p| p.size).fold(0.0, f64::max), pieces }
    }

    /// What differences are measured by, and the relative one that is too large.
    fn limits(&self, floor: f64) -> (f64, f64) {
        match self.kind {
            Kind::Diffusion => (1.0, SERIOUS[0]),
            Kind::LowerOrder(beside) => (self.size.max(beside), SERIOUS[1]),
            Kind::Source | Kind::Boundary | Kind::Coefficient => (self.size.max(floor), SERIOUS[1]),
        }
    }

    /// Where differences are too large, or the part of the field that is missed.
    fn affected(&self, floor: f64, share: f64) -> Vec<Unresolved> {
        let (relative, limit) = self.limits(floor);
        let all = self.whole(floor);
        let weight = |p: &Piece| if self.kind == Kind::Diffusion { 1.0 } else { p.missing.abs() / all };
        let place = |p: &Piece| {
            let serious = relative > 0.0 && p.worst / relative > limit;
            // What cancels to next to nothing, as the terms of the Laplacian of a harmonic function, is rounding, and has no tails to follow.
            let rounding = self.kind == Kind::Source && p.size <= floor;
            let missed = self.kind != Kind::Diffusion && !rounding && weight(p) > share;
            let place = Unresolved { subdomain: p.subdomain, tails: p.tails, size: p.size, weight: weight(p), serious };
            (serious || missed).then_some(place)
        };
        self.pieces.iter().filter_map(place).collect()
    }

    /// The integral of the field's size over everything, or of what stands beside it.
    fn whole(&self, floor: f64) -> f64 {
        let beside = if let Kind::LowerOrder(beside) = self.kind { beside } else { floor };
        let sum = |f: fn(&Piece) -> f64| self.pieces.iter().map(f).sum::<f64>();
        sum(|p| p.integral).max(beside * sum(|p| p.measure))
    }

    fn summary(&self, floor: f64) -> Option<Unseen> {
        let (relative, limit) = self.limits(floor);
        let mismatch = |p: &Piece| if relative > 0.0 { p.worst / relative } else { 0.0 };
        let worst = self.pieces.iter().max_by(|a, b| a.worst.total_cmp(&b.worst))?;
        let measure: f64 = self.pieces.iter().map(|p| p.measure).sum();
        let affected: Vec<&Piece> = self.pieces.iter().filter(|p| mismatch(p) > limit).collect();
        let share = match self.kind {
            // What a jump in one place does to the flux it does everywhere that the flux goes.
            Kind::Diffusion => {
                mismatch(worst).min(1.0) * (affected.iter().map(|p| p.measure).sum::<f64>() / measure).sqrt()
            }
            _ => {
                let all = self.whole(floor);
                let missing: f64 = self.pieces.iter().map(|p| p.missing.abs()).sum();
                if all > 0.0 { (missing / all).min(1.0) } else { 0.0 }
            }
        };
        let mut subdomains: Vec<usize> = affected.iter().map(|p| p.subdomain).collect();
        subdomains.sort_unstable();
        subdomains.dedup();
        Some(Unseen {
            key: worst.key.clone(),
            mismatch: mismatch(worst),
            share,
            serious: !affected.is_empty(),
            subdomains: subdomains.len(),
            subdomain: worst.subdomain,
            point: worst.point,
            value: worst.value,
            expected: worst.expected,
        })
    }
}

/// Points in one direction of a subdomain for fields of so much work.
fn cells(decomposition: &Decomposition, points: usize, fields: &[&FieldRef], density: &Density) -> usize {
    let work = fields.iter().map(|f| f.work()).max().unwrap_or(1).div_ceil(USUAL_WORK);
    let wanted = (density.samples / (work * decomposition.len())).isqrt();
    wanted.clamp(density.least(points), MOST.max(2 * points))
}

/// The fields of the equation, and the source; and the size of the diffusion, or of what leads instead.
fn interior_groups(
    problem: &Problem,
    decomposition: &Decomposition,
    points: usize,
    density: &Density,
) -> Result<(Vec<Group>, f64)> {
    let advection: Vec<&FieldRef> = problem.equation.advection().into_iter().flatten().collect();
    let reaction: Vec<&FieldRef> = problem.equation.reaction().into_iter().collect();
    let leading = problem.equation.leading();
    let named = |fields, key| Looked { fields, look: Look::Each(key) };
    let mut looked = vec![named(vec![&problem.source], "equation.source")];
    if let Some(diffusion) = leading {
        looked.push(Looked { fields: diffusion.entries(), look: Look::Diffusion(diffusion) });
        looked.push(named(advection, "equation.advection"));
        looked.push(named(reaction, "equation.reaction"));
    }
    let mut pieces = pieces_of(&looked, decomposition, points, density)?.into_iter();
    let mut next = || pieces.next().expect("as many as were looked at");
    let mut source = next();
    source.iter_mut().for_each(|piece| piece.missing *= reach(problem, decomposition, piece.subdomain));
    let mut groups = vec![Group::new(Kind::Source, source)];
    let mut size = 1.0;
    if let Some(diffusion) = leading {
        let group = Group::new(Kind::Diffusion, next());
        // The first eigenvalue of the diffusion on the box of the domain: what a reaction is measured by.
        let mean = match group.pieces.is_empty() {
            true => diffusion.entries()[0].constant().unwrap_or(0.0),
            false => {
                let sum = |f: fn(&Piece) -> f64| group.pieces.iter().map(f).sum::<f64>();
                sum(|p| p.integral) / sum(|p| p.measure)
            }
        };
        let b = decomposition.bounding_box();
        let wave = std::f64::consts::PI * (1.0 / (b[1] - b[0])).hypot(1.0 / (b[3] - b[2]));
        groups.push(group);
        groups.push(Group::new(Kind::LowerOrder(mean.abs() * wave), next()));
        groups.push(Group::new(Kind::LowerOrder(mean.abs() * wave * wave), next()));
        if mean.abs() > 0.0 {
            size = mean.abs();
        }
    }
    Ok((groups, size))
}

/// Fields that are looked at together.
struct Looked<'a> {
    fields: Vec<&'a FieldRef>,
    look: Look<'a>,
}

enum Look<'a> {
    /// Each by itself, under this name.
    Each(&'a str),
    /// The entries of the diffusion.
    Diffusion(&'a Diffusion),
}

impl Looked<'_> {
    fn pieces(&self, patch: &Patch<'_>, share: f64) -> Result<Vec<Piece>> {
        match self.look {
            Look::Diffusion(diffusion) => patch.diffusion(diffusion),
            Look::Each(key) => {
                let varying = self.fields.iter().filter(|f| f.constant().is_none());
                varying.map(|f| patch.piece(f, key, share)).collect()
            }
        }
    }
}

/// The pieces of all fields that vary, by those that are looked at together.
fn pieces_of(
    looked: &[Looked<'_>],
    decomposition: &Decomposition,
    points: usize,
    density: &Density,
) -> Result<Vec<Vec<Piece>>> {
    let varies = |looked: &Looked<'_>| looked.fields.iter().any(|field| field.constant().is_none());
    let wanted = |looked: &Looked<'_>| varies(looked).then(|| cells(decomposition, points, &looked.fields, density));
    let wanted: Vec<Option<usize>> = looked.iter().map(wanted).collect();
    // Fields that cost about the same are looked at in the same points.
    let sizes: BTreeSet<usize> = wanted.iter().copied().flatten().collect();
    let shapes = decomposition.shapes();
    let grid = |cells: usize| (cells, Grid::new(Sampler::new(points, cells, density.close), &shapes));
    let grids: Vec<(usize, Grid)> = sizes.into_iter().map(grid).collect();
    let in_one = |s: usize| -> Result<Vec<Vec<Piece>>> {
        let mut found = vec![Vec::new(); looked.len()];
        for (size, grid) in &grids {
            let patch = Patch::new(decomposition, s, grid);
            for ((found, looked), _) in
                found.iter_mut().zip(looked).zip(&wanted).filter(|(_, wanted)| **wanted == Some(*size))
            {
                *found = looked.pieces(&patch, density.share)?;
            }
        }
        Ok(found)
    };
    let found: Vec<Result<Vec<Vec<Piece>>>> = (0..decomposition.len()).into_par_iter().map(in_one).collect();
    let mut all = vec![Vec::new(); looked.len()];
    // The error of the first subdomain that has one, whichever thread was first.
    for found in found {
        all.iter_mut().zip(found?).for_each(|(all, found)| all.extend(found));
    }
    Ok(all)
}

/// How much of a source in a subdomain the solution elsewhere sees: beside a given value it falls with the distance from there, as
/// Green's function does.
fn reach(problem: &Problem, decomposition: &Decomposition, s: usize) -> f64 {
    let subdomain = &decomposition.subdomains[s];
    let widths = subdomain.boundaries().filter(|(_, part)| problem.conditions[*part].is_essential());
    let width = widths.map(|(side, _)| width_across(subdomain.map.as_ref(), side)).fold(f64::INFINITY, f64::min);
    let [x0, x1, y0, y1] = decomposition.bounding_box();
    (width / (x1 - x0).min(y1 - y0)).min(1.0)
}

/// The boundary values, first and second, and the coefficients of Robin conditions.
fn boundary_groups(
    problem: &Problem,
    decomposition: &Decomposition,
    points: usize,
    density: &Density,
) -> Result<Vec<Group>> {
    let of = |(s, place): (usize, &Subdomain)| -> Vec<(usize, usize, usize)> {
        place.boundaries().map(|(side, part)| (s, side, part)).collect()
    };
    let sides: Vec<(usize, usize, usize)> = decomposition.subdomains.iter().enumerate().flat_map(of).collect();
    let cells = (density.along / sides.len().max(1)).clamp(density.least(points), 2 * MOST);
    let sampler = Sampler::new(points, cells, density.close);
    let pieces = |field: &(dyn Fn(usize) -> Option<FieldRef> + Sync)| -> Result<Vec<Piece>> {
        let found: Vec<Result<Option<Piece>>> = sides
            .par_iter()
            .map(|&(s, side, part)| {
                let Some(field) = field(part).filter(|field| field.constant().is_none()) else { return Ok(None) };
                let (place, key) = (&decomposition.subdomains[s], part_name(decomposition, part));
                let (map, shape) = (place.map.as_ref(), place.map.shape());
                let sample = |t: &[f64]| Sample::new(place, t.iter().map(|&t| shape.side_point(side, t)));
                let fine = sample(&sampler.fine);
                let values = fine.values(field.as_ref(), &key, s)?;
                let mut expected = vec![0.0; fine.x.len()];
                let at_nodes = sample(&sampler.nodes).values(field.as_ref(), &key, s)?;
                sampler.line(&at_nodes, &mut expected);
                let length = |k: usize| {
                    let xi = shape.side_point(side, sampler.fine[k]);
                    side_speed(map, side, map.jacobian(xi)) * sampler.widths[k]
                };
                // The sides of a quadrilateral are in turns along its first and its second coordinate.
                let along = sampler.lines.line(&at_nodes, side >= 2);
                let tails = if side % 2 == 0 { [along, Tail::NOTHING] } else { [Tail::NOTHING, along] };
                let (points, values) = (&fine, values.as_slice());
                let compared = Compared { key: &key, subdomain: s, points, values, expected: &expected };
                Ok(Some(Piece { tails, ..compared.piece(length, |_| 1.0) }))
            })
            .collect();
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    };
    let conditions = &problem.conditions;
    let mut groups = vec![Group::new(Kind::Coefficient, pieces(&|part| conditions[part].multiple().cloned())?)];
    for index in 0..problem.equation.pairs() {
        groups.push(Group::new(Kind::Boundary, pieces(&|part| conditions[part].values.get(index).cloned())?));
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::expression::Formula;
    use crate::problem::field::constant;
    use crate::problem::model::{Condition, Equation};
    use std::sync::Arc;

    fn formula(text: &str) -> FieldRef {
        Arc::new(Formula::parse(text).unwrap())
    }

    fn check(diffusion: &str, source: &str, boundary: &str, counts: [usize; 2]) -> Result<Resolution> {
        let problem = Problem {
            equation: Equation::diffusion(formula(diffusion)),
            source: formula(source),
            conditions: vec![Condition::dirichlet(formula(boundary)); 4],
            mean: None,
            exact: None,
        };
        Resolution::new(&problem, &Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts)?, 16)
    }

    #[test]
    fn smooth_fields_and_jumps_along_lines_are_resolved() {
        let found = check("1 + 99*step(x - 0.5)", "sin(2*pi*x)*exp(y) + 5*step(y - 0.25)", "x*y", [4, 4]).unwrap();
        assert_eq!(found.fields.len(), 3);
        assert!(found.worst() < 1e-12 && found.missed() == 0.0, "{found:?}");
    }

    #[test]
    fn jumps_layers_and_spikes_inside_a_subdomain_are_found_where_they_are() {
        for diffusion in ["1 + 99*step(x - 0.4)", "50.5 + 49.5*tanh(1000*(x - 0.4))"] {
            let found = check(diffusion, "1", "0", [4, 4]).unwrap();
            let a = &found.fields[0];
            assert!(a.serious && a.subdomains == 4 && a.key == "equation.diffusion", "{a:?}");
            assert!((a.point[0] - 0.4).abs() < 0.05 && a.share > 0.4, "{a:?}");
        }
        let spike = check("1", "1000*exp(-3e5*((x - 0.31)^2 + (y - 0.44)^2))", "0", [4, 4]).unwrap();
        let f = &spike.fields[0];
        assert!((f.point[0] - 0.31).hypot(f.point[1] - 0.44) < 0.01 && f.subdomain == 5 && f.share > 0.5, "{f:?}");
        let side = check("1", "1", "step(x - 0.3)", [4, 4]).unwrap();
        assert!(
            side.fields[0].serious
                && side.warnings(&Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4]).unwrap())[0]
                    .starts_with("boundary.")
        );
    }

    #[test]
    fn a_jump_just_beside_a_line_is_found() {
        for at in ["0.333333333", "0.33334", "0.3332"] {
            let found = check(&format!("1 + 9*step(x - {at})"), "1", "0", [3, 3]).unwrap();
            assert!(found.fields[0].serious, "{at}: {found:?}");
        }
        let unit = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 3]).unwrap();
        let jump = Problem {
            equation: Equation::diffusion(formula("1 + 9*step(x - 0.33)")),
            source: constant(1.0),
            conditions: vec![Condition::dirichlet(constant(0.0)); 4],
            mean: None,
            exact: None,
        };
        assert!(Resolution::quick(&jump, &unit, 16).unwrap().fields[0].serious);
        assert!(!check("1 + 9*step(x - 1/3)", "1", "0", [3, 3]).unwrap().fields[0].serious);
    }

    #[test]
    fn a_negative_spot_that_no_node_sees_is_refused() {
        let error = check("1 - 2*exp(-1e5*((x - 0.31)^2 + (y - 0.44)^2))", "1", "0", [2, 2]).unwrap_err();
        assert!(error.to_string().contains("must be positive"), "{error}");
    }

    #[test]
    fn rounding_is_not_a_field() {
        let problem = Problem {
            equation: Equation::poisson(),
            source: constant(1.0),
            conditions: vec![
                Condition::dirichlet(formula("exp(x + y) - exp(x)*exp(y)")),
                Condition::dirichlet(formula("exp(x + y)")),
                Condition::dirichlet(formula("exp(x + y)")),
                Condition::dirichlet(formula("exp(x + y)")),
            ],
            mean: None,
            exact: None,
        };
        let unit = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [2, 2]).unwrap();
        assert!(Resolution::new(&problem, &unit, 16).unwrap().worst() < 1e-12);
    }
}
