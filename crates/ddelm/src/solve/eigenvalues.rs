//! Eigenvalues and eigenfunctions, `L u = lambda u` with homogeneous conditions.
//!
//! The solver inverts the shifted operator: from the source to the solution, both by what the rows see of them
//! (loads, `solve/nodal.rs`), `A = (L - sigma)^-1`. There is no mass matrix. Arnoldi's iteration (`solve/arnoldi.rs`)
//! finds the eigenvalues mu of A of largest magnitude, and
//!
//! ```text
//! lambda = sigma + 1 / mu
//! ```
//!
//! are those of L closest to sigma. It starts from the eigenfunctions on the same subdomains with fewer points, which cost a
//! fraction and are found from random vectors; one to three products of the whole block do the rest.
//!
//! The error of each is estimated by the difference to the same eigenvalue on a second
//! decomposition with other features, as that of a solution is ([`estimate`](crate::solve::estimate)), from the same start.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Mat;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Stage};
use crate::domain::collocation::Nodes;
use crate::domain::decomposition::Decomposition;
use crate::domain::shape::Shape;
use crate::method::report::{Eigenvalue, Status, UNRESOLVED};
use crate::method::settings::Settings;
use crate::problem::field::{FieldRef, constant};
use crate::problem::model::{ConditionKind, Problem};
use crate::solution::evaluate::Solution;
use crate::solve::arnoldi::{Pair, Spectrum, WILD, Wanted, arnoldi};
use crate::solve::estimate::Second;
use crate::solve::nodal::{Loads, Nodal};
use crate::solve::orthonormal::Views;
use crate::solve::resolution::Resolution;
use crate::solve::solver::Solver;
use crate::solve::stacked::Stacked;

/// Eigenvalues that may be asked for.
const MOST: usize = 200;

/// Residuals of the first and of the second decomposition, and of fewer points, relative to the eigenvalue of the inverse; and those
/// that are enough where the error of an eigenvalue is the square of its residual.
const TOLERANCE: [f64; 2] = [1e-12, 2e-9];
const SECOND_TOLERANCE: [f64; 2] = [1e-12, 1e-8];
const COARSE_TOLERANCE: [f64; 2] = [1e-7, 1e-7];

/// The points that the iteration starts with, as a share of those that it ends with; where there are many subdomains for each
/// eigenvalue, so that all eigenfunctions are smooth in them; how many that is; and the fewest points that are worth it.
const COARSE: f64 = 0.5;
const COARSE_OF_MANY: f64 = 0.45;
const MANY: usize = 8;
const FEWEST: usize = 6;

/// The error of the interface values in a product with the inverse, relative to the residual to reach.
const SOLVED: f64 = 0.1;

/// Products with the inverse, of blocks, that are made with fewer points and with all of them: about so many.
const COARSE_PRODUCTS: usize = 20;
const PRODUCTS: usize = 3;

/// Eigenvalues beyond those that are asked for, with fewer points and on the second decomposition: the last ones may differ.
const BEYOND: usize = 2;

/// Rounding of an eigenvalue, relative to it: differences below this are chance.
const ROUNDING: f64 = 2e-14;

/// The part of its neighbours' error that an eigenvalue has at least, and how many of them are asked, itself included. Multiple ones
/// may be near by chance together, so that three are too few.
const UNUSUAL: f64 = 0.5;
const WINDOW: usize = 5;

/// An eigenfunction whose mean is less than this of its root mean square has mean zero.
const NO_MEAN: f64 = 1e-3;

/// Which eigenvalues are wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Eigenvalues {
    /// How many.
    pub count: usize,
    /// The number that they are closest to.
    pub near: f64,
}

/// An eigenvalue and its eigenfunction.
#[derive(Clone)]
pub struct Eigenpair {
    /// The eigenvalue and its estimated error.
    pub eigenvalue: Eigenvalue,
    /// The eigenfunction: its L2 norm is one, and its mean is positive, or its first large value is. Of a pair of complex
    /// eigenfunctions the real and the imaginary part, one with each of the two eigenvalues.
    pub function: Solution,
}

impl Eigenvalues {
    /// The homogeneous problem for the shifted operator, and the shift.
    pub fn posed(&self, problem: &Problem, area: f64) -> Result<(Problem, f64)> {
        self.check()?;
        let zero = |field: &FieldRef| field.constant() == Some(0.0);
        let mut posed = Problem { source: constant(0.0), mean: None, exact: None, ..problem.clone() };
        for value in posed.conditions.iter_mut().flat_map(|condition| &mut condition.values) {
            *value = constant(0.0);
        }
        let natural = |kind: &ConditionKind| match kind {
            ConditionKind::Neumann => true,
            ConditionKind::Robin { coefficient } => zero(coefficient),
            _ => false,
        };
        let free = posed.conditions.iter().all(|condition| natural(&condition.kind));
        // A constant is an eigenfunction for 0: a number below it is as near to all others.
        let singular = self.near == 0.0 && free && posed.equation.reaction().is_none_or(zero);
        let shift = if singular { -1.0 / area } else { self.near };
        if shift != 0.0 {
            posed.equation = posed.equation.plus_reaction(-shift).ok_or_else(|| {
                let problem = "the operator of a plate cannot be shifted: only its lowest eigenvalues can be found";
                Error::input("eigenvalues.near", self.near, problem, "leave it out")
            })?;
        }
        Ok((posed, shift))
    }

    fn check(&self) -> Result<()> {
        if !(1..=MOST).contains(&self.count) {
            let problem = format!("between 1 and {MOST} eigenvalues can be found");
            return Err(Error::input("eigenvalues.count", self.count, problem, "for example 10"));
        }
        if !self.near.is_finite() {
            return Err(Error::input("eigenvalues.near", self.near, "it is not a finite number", "for example 0.0"));
        }
        Ok(())
    }

    /// Finds them in ascending order, with estimates where asked. Source, boundary values and exact solution do not matter.
    pub fn find(
        &self,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        estimate: bool,
        progress: &dyn Progress,
    ) -> Result<Vec<Eigenpair>> {
        self.search(problem, decomposition, settings, [estimate, true], progress)
    }

    /// The same with the first eigenfunction alone. Its report has all eigenvalues.
    pub(crate) fn find_first(
        &self,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        estimate: bool,
        progress: &dyn Progress,
    ) -> Result<Eigenpair> {
        Ok(self.search(problem, decomposition, settings, [estimate, false], progress)?.swap_remove(0))
    }

    /// Finds them, and the eigenfunctions of `all` or of the first.
    fn search(
        &self,
        problem: &Problem,
        decomposition: Arc<Decomposition>,
        settings: &Settings,
        [estimate, all]: [bool; 2],
        progress: &dyn Progress,
    ) -> Result<Vec<Eigenpair>> {
        let [x0, x1, y0, y1] = decomposition.bounding_box();
        let (posed, shift) = self.posed(problem, (x1 - x0) * (y1 - y0))?;
        let clock = Instant::now();
        let coarse = Coarse::new(&posed, &decomposition, settings, self.count, progress)?;
        let spent = clock.elapsed().as_secs_f64();
        let nodal = factored(&posed, &decomposition, settings, PRODUCTS, progress)?;
        let clock = Instant::now();
        let near = coarse.as_ref().map(|coarse| nodal.loads_from(&coarse.nodal, &coarse.y));
        let stacked = Stacked::new(&nodal)?;
        let mut spectrum = inverse_spectrum(&stacked, [self.count, 0], TOLERANCE, near, progress)?;
        let mut found = eigenvalues(&spectrum, shift);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| {
            (found[a].value.total_cmp(&found[b].value)).then(found[a].imaginary.total_cmp(&found[b].imaginary))
        });
        let wanted = if all { (0..found.len()).collect() } else { spectrum.with_partner(order[0]) };
        let mut functions = eigenfunctions(&stacked, &spectrum, &wanted, progress)?;
        let seconds = spent + clock.elapsed().as_secs_f64();
        // The second solver takes the place of the first.
        drop(nodal);
        spectrum.forget_vectors();
        let mut warnings = ignored(problem);
        let clock = Instant::now();
        if estimate {
            progress.begin(Stage::Estimate, 1);
            let seen = Resolution::quick(&posed, &decomposition, settings.points)?;
            let second = Second::beside(&posed, &decomposition, &seen, settings)?;
            let nodal = factored(&posed, &second.decomposition, &second.settings, PRODUCTS, progress)?;
            let near = coarse.as_ref().map(|coarse| nodal.loads_located(&coarse.nodal, &coarse.y));
            let stacked = Stacked::new(&nodal)?;
            let other = inverse_spectrum(&stacked, [self.count, BEYOND], SECOND_TOLERANCE, near, progress)?;
            compare(&mut found, &spectrum, &eigenvalues(&other, shift), &order);
            warnings.extend(seen.warnings(&decomposition));
        }
        let estimated = clock.elapsed().as_secs_f64();
        let status = judge(&found, &spectrum, &mut warnings);
        let eigenvalues: Vec<Eigenvalue> = order.iter().map(|&k| found[k]).collect();
        for report in functions.iter_mut().map(|function| &mut function.report) {
            report.eigenvalues = eigenvalues.clone();
            report.status = status;
            report.warnings.extend(warnings.iter().cloned());
            report.seconds.interface += seconds;
            report.seconds.total += seconds;
            report.seconds.estimate = if estimate { estimated } else { 0.0 };
        }
        let mut functions: BTreeMap<usize, Solution> = wanted.into_iter().zip(functions).collect();
        order.truncate(if all { order.len() } else { 1 });
        let pair = |k: usize| Eigenpair {
            eigenvalue: found[k],
            function: functions.remove(&k).expect("every number is in the order once"),
        };
        Ok(order.into_iter().map(pair).collect())
    }
}

/// What the problem has and its eigenvalues do not see.
fn ignored(problem: &Problem) -> Vec<String> {
    let zero = |field: &FieldRef| field.constant() == Some(0.0);
    let data = problem.data();
    let given = [
        (!zero(&data.source), "the source"),
        (!data.boundary.iter().flatten().all(zero), "the boundary values"),
        (problem.mean.is_some_and(|mean| mean != 0.0), "the mean"),
        (problem.exact.is_some(), "the exact solution"),
    ];
    let names: Vec<&str> = given.iter().filter(|(given, _)| *given).map(|(_, name)| *name).collect();
    match names.is_empty() {
        true => Vec::new(),
        false => vec![format!("eigenvalues are those of the homogeneous problem: ignoring {}", names.join(", "))],
    }
}

/// The factored problem, ready for so many products of blocks with the inverse.
fn factored(
    posed: &Problem,
    decomposition: &Arc<Decomposition>,
    settings: &Settings,
    products: usize,
    progress: &dyn Progress,
) -> Result<Nodal> {
    let solver = Solver::with_progress(posed, decomposition.clone(), settings, progress)?;
    Ok(Nodal::new(Arc::new(solver), "eigenvalues")?.prepared_for(products, false))
}

/// Eigenfunctions on the same subdomains with fewer points: the iterations with all points start from them.
struct Coarse {
    nodal: Nodal,
    /// Their coefficients.
    y: Vec<Mat<f64>>,
}

impl Coarse {
    /// Some more than are wanted, from random vectors; none where there are few points anyway.
    fn new(
        posed: &Problem,
        decomposition: &Arc<Decomposition>,
        settings: &Settings,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Option<Self>> {
        let share = if decomposition.len() >= MANY * count { COARSE_OF_MANY } else { COARSE };
        let points = (share * settings.points as f64).round() as usize;
        if points < FEWEST {
            return Ok(None);
        }
        let settings = Settings { points, neurons: None, ..settings.clone() };
        let nodal = factored(posed, decomposition, &settings, COARSE_PRODUCTS, progress)?;
        let stacked = Stacked::new(&nodal)?;
        let spectrum = inverse_spectrum(&stacked, [count, BEYOND], COARSE_TOLERANCE, None, progress)?;
        let all: Vec<usize> = (0..spectrum.pairs.len()).collect();
        let loads = stacked.loads(&spectrum.vectors(&all));
        let y = nodal.coefficients(&loads, stacked.guess(SOLVED * COARSE_TOLERANCE[0]), progress)?;
        Ok(Some(Coarse { nodal, y }))
    }
}

/// So many eigenvalues of largest magnitude of the inverse, and some beyond them, and its eigenvectors, from loads near them or from
/// nothing.
fn inverse_spectrum(
    stacked: &Stacked,
    [count, beyond]: [usize; 2],
    tolerance: [f64; 2],
    near: Option<Loads>,
    progress: &dyn Progress,
) -> Result<Spectrum> {
    let nodal = stacked.nodal;
    let near = near.map(|near| stacked.vectors(&near));
    let most = 6 * count + 60;
    let enough = SOLVED * tolerance[0];
    let self_adjoint = is_squared(nodal);
    let tolerance = tolerance[usize::from(self_adjoint)];
    progress.begin(Stage::Eigenvalues, most);
    let apply = |vectors: &Views<'_>| {
        let images = stacked.invert(vectors, enough, progress)?;
        (0..vectors[0].ncols()).for_each(|_| progress.step());
        Ok(images)
    };
    arnoldi(&Wanted { count, beyond, tolerance, self_adjoint, most }, near, apply, stacked.random())
}

/// Whether errors of eigenvalues are the squares of residuals: for a self-adjoint operator, in the inner product of L2.
fn is_squared(nodal: &Nodal) -> bool {
    let solver = &nodal.solver;
    let nodes =
        solver.decomposition().shapes() == [Shape::Quadrilateral] && solver.settings().nodes() == Nodes::Chebyshev;
    nodes && solver.problem().equation.is_self_adjoint()
}

/// `sigma + 1 / mu`.
fn eigenvalues(spectrum: &Spectrum, shift: f64) -> Vec<Eigenvalue> {
    let value = |[re, im]: [f64; 2]| {
        let square = re * re + im * im;
        Eigenvalue { value: shift + re / square, imaginary: -im / square, estimate: None }
    };
    spectrum.pairs.iter().map(|pair| value(pair.value)).collect()
}

/// The eigenfunctions of some pairs as solutions: one more product with the inverse, of x / mu.
fn eigenfunctions(
    stacked: &Stacked,
    spectrum: &Spectrum,
    wanted: &[usize],
    progress: &dyn Progress,
) -> Result<Vec<Solution>> {
    let (nodal, count) = (stacked.nodal, wanted.len());
    let pairs: Vec<&Pair> = wanted.iter().map(|&k| &spectrum.pairs[k]).collect();
    let vectors = stacked.loads(&spectrum.vectors(wanted));
    let mut loads = vectors.clone();
    for (load, x) in loads.iter_mut().zip(&vectors) {
        for (k, pair) in pairs.iter().enumerate() {
            let [re, im] = pair.value;
            let square = re * re + im * im;
            // (p + iq) / (re + i im), with p and q in two columns.
            let partner = if im > 0.0 { (k + 1).min(count - 1) } else { k.saturating_sub(1) };
            let (of, with) = (x.col_as_slice(k), x.col_as_slice(partner));
            let entries = load.col_as_slice_mut(k).iter_mut().zip(of).zip(with);
            // A real one has no partner.
            entries.for_each(|((load, x), z)| *load = (re * x + if im == 0.0 { 0.0 } else { im * z }) / square);
        }
    }
    let mut functions = nodal.solutions(&loads, progress)?;
    let y: Vec<Mat<f64>> = (nodal.solver.locals.iter())
        .map(|local| {
            let of = |k: usize| &functions[k].in_basis.as_ref().expect("one process has them all").coefficients;
            let mut y = Mat::zeros(of(0)[local.subdomain].len(), count);
            (0..count).for_each(|k| y.col_as_slice_mut(k).copy_from_slice(&of(k)[local.subdomain]));
            y
        })
        .collect();
    let norms = Norms::new(nodal, &y, count);
    let mut k = 0;
    while k < count {
        // The two parts of a complex one keep their proportion.
        let end = if pairs[k].value[1] > 0.0 { (k + 2).min(count) } else { k + 1 };
        let norm = norms.squares[k..end].iter().sum::<f64>().sqrt();
        let factor = norms.sign[k] / norm;
        functions[k..end].iter_mut().for_each(|function| function.scale(factor));
        k = end;
    }
    Ok(functions)
}

/// Sizes and signs of functions.
struct Norms {
    /// The squares of their L2 norms.
    squares: Vec<f64>,
    /// The sign of the mean, or of the first value that is at least half the largest where there is none.
    sign: Vec<f64>,
}

impl Norms {
    fn new(nodal: &Nodal, y: &[Mat<f64>], count: usize) -> Self {
        let values = nodal.inside(y);
        let area: f64 = nodal.weights().iter().flatten().sum();
        let sum = |k: usize, of: fn(f64) -> f64| -> f64 {
            let piece =
                |(u, w): (&Mat<f64>, &Vec<f64>)| u.col_as_slice(k).iter().zip(w).map(|(u, w)| w * of(*u)).sum::<f64>();
            values.iter().zip(nodal.weights()).map(piece).sum()
        };
        let squares: Vec<f64> = (0..count).map(|k| sum(k, |u| u * u)).collect();
        let sign = |k: usize| {
            let mean = sum(k, |u| u) / area;
            if mean.abs() > NO_MEAN * (squares[k] / area).sqrt() {
                return mean.signum();
            }
            let all = || values.iter().flat_map(|u| u.col_as_slice(k));
            let largest = all().fold(0.0, |largest: f64, u| largest.max(u.abs()));
            all().find(|u| u.abs() >= 0.5 * largest).map_or(1.0, |u| u.signum())
        };
        Norms { sign: (0..count).map(sign).collect(), squares }
    }
}

/// Puts the distances to the nearest of other eigenvalues in the place of the estimates. `order` is ascending.
///
/// One distance may be small by chance. An eigenvalue is not taken to be much more accurate than its neighbours are usually: the
/// median of its own distance and theirs, in relative terms, bounds it from below.
fn compare(found: &mut [Eigenvalue], spectrum: &Spectrum, others: &[Eigenvalue], order: &[usize]) {
    let size = |e: &Eigenvalue| e.value.hypot(e.imaginary);
    let nearest: Vec<f64> = (found.iter())
        .map(|eigenvalue| {
            let distance = |other: &Eigenvalue| {
                (other.value - eigenvalue.value).hypot(other.imaginary.abs() - eigenvalue.imaginary.abs())
            };
            others.iter().map(distance).fold(f64::INFINITY, f64::min)
        })
        .collect();
    let relative = |k: usize| nearest[k] / size(&found[k]).max(f64::MIN_POSITIVE);
    let mut usual = vec![0.0; found.len()];
    for (place, &k) in order.iter().enumerate() {
        let first = place.saturating_sub(WINDOW / 2).min(order.len().saturating_sub(WINDOW));
        let last = (first + WINDOW).min(order.len());
        let mut window: Vec<f64> = order[first..last].iter().map(|&k| relative(k)).collect();
        window.sort_by(f64::total_cmp);
        usual[k] = window[(window.len() - 1) / 2];
    }
    for (k, pair) in spectrum.pairs.iter().enumerate() {
        let (distance, inverse) = (size(&found[k]), pair.value[0].hypot(pair.value[1]));
        let iteration = match pair.condition {
            // The error of an eigenvalue of an operator that is nearly normal is the square of its residual.
            1.0 => (pair.residual / inverse).powi(2) / inverse,
            _ if pair.residual <= TOLERANCE[0] * inverse => 0.0,
            condition => condition * pair.residual / (inverse * inverse),
        };
        // Where errors are magnified and the iteration has not converged, no digit is known.
        let unknown = pair.condition >= WILD || !spectrum.converged && pair.condition > 1.0;
        let rounding = distance.max(inverse.recip()) * if unknown { 1.0 } else { ROUNDING * pair.condition };
        found[k].estimate = Some((nearest[k] + iteration).max(UNUSUAL * usual[k] * distance).max(rounding));
    }
}

/// The status, and warnings of what was not reached.
fn judge(found: &[Eigenvalue], spectrum: &Spectrum, warnings: &mut Vec<String>) -> Status {
    if !spectrum.converged {
        warnings.push(format!("the eigenvalues have not converged after {} products", spectrum.products));
        return Status::MaxIterations;
    }
    // An eigenvalue may be zero: its distance from the number that it is near to is a size as well.
    let large = |(e, pair): &(&Eigenvalue, &Pair)| {
        let distance = pair.value[0].hypot(pair.value[1]).recip();
        e.estimate.is_some_and(|estimate| estimate > UNRESOLVED * e.value.hypot(e.imaginary).max(distance))
    };
    match found.iter().zip(&spectrum.pairs).find(large) {
        None => Status::Solved,
        Some((e, _)) => {
            warnings.push(format!(
                "the estimated error of the eigenvalue {:.6e} is {:.1e}: it is not resolved (more subdomains or points \
                 may help)",
                e.value,
                e.estimate.unwrap_or_default()
            ));
            Status::Unresolved
        }
    }
}
