//! The library in a browser: a problem file as text in, a solved problem out, with the arrays that a page draws.
//!
//! Nothing here knows what a domain looks like; see [`Drawing`]. Errors come as JSON, a [`Mistake`] each.

mod field;
mod mistake;

use std::cell::RefCell;
use std::sync::Arc;

use ddelm::exchange::Serial;
use ddelm::method::report::Eigenvalue;
use ddelm::method::settings::Method;
use ddelm::solution::drawing::{Drawing, Tables};
use ddelm::solution::{Gradients, save};
use ddelm::solve::case::Case;
use ddelm::solve::eigenvalues::Eigenpair;
use ddelm::solve::time::Moment;
use ddelm::{Problem, ProblemFile, Silent, Solution, Solver};
// Nothing is called: the dependency says that matrix products may use SIMD.
use gemm_common as _;
use wasm_bindgen::prelude::wasm_bindgen;

use field::{Field, Kind};
use mistake::Mistake;

/// Points of a drawing, about: more than a picture of a few hundred pixels shows.
const POINTS: f64 = 14_000.0;

/// The same while something is dragged: enough for colours that move.
const QUICK_POINTS: f64 = 5_000.0;

/// Intervals along a side of a subdomain in a drawing.
const INTERVALS: [f64; 2] = [4.0, 40.0];

thread_local! {
    /// Tables of the basis at the points of the drawing: a drag needs the same ones again and again.
    static TABLES: RefCell<Tables> = RefCell::default();
}

/// One of the solutions of a problem.
struct Member {
    /// What distinguishes it: an eigenvalue or a time.
    name: String,
    /// What it solves.
    problem: Problem,
    solution: Solution,
}

/// A solved problem, and the drawing of its domain: one solution, or several eigenfunctions or moments, of which one is shown.
#[wasm_bindgen]
pub struct Solved {
    text: String,
    kind: Kind,
    members: Vec<Member>,
    shown: usize,
    drawing: Drawing,
    gradients: Gradients,
}

/// Solves a problem file. Overrides are those of the command line's `--set`.
///
/// Where `quick`, the error is neither measured nor estimated, which takes longer than the solve, and the drawing is coarser: for
/// a drag, which shows the next solution before anybody has read a figure.
#[wasm_bindgen]
pub fn solve(text: &str, overrides: Vec<String>, quick: bool) -> Result<Solved, String> {
    let file = overrides.into_iter().fold(ProblemFile::new(text), ProblemFile::set);
    let wrong = |error: ddelm::Error| Mistake::new(&file, &error).json();
    let case = file.case().map_err(wrong)?;
    let (kind, members) = members(&case, quick).map_err(wrong)?;
    // Eigenfunctions begin with the first, times end with the last.
    let shown = if kind == Kind::Moment { members.len() - 1 } else { 0 };
    let solution = &members[shown].solution;
    let points = if quick { QUICK_POINTS } else { POINTS };
    let per_subdomain = (points / solution.decomposition.len() as f64).sqrt();
    let intervals = per_subdomain.clamp(INTERVALS[0], INTERVALS[1]) as usize;
    let drawing = Drawing::new(&solution.decomposition, intervals);
    let gradients = TABLES.with_borrow_mut(|tables| drawing.gradients(solution, tables));
    Ok(Solved { text: file.resolved().map_err(wrong)?, kind, members, shown, drawing, gradients })
}

/// What a problem asks for.
fn members(case: &Case, quick: bool) -> ddelm::Result<(Kind, Vec<Member>)> {
    if case.time.is_some() {
        let member =
            |Moment { t, solution }| Member { name: format!("t = {t}"), problem: case.problem.at_time(t), solution };
        return Ok((Kind::Moment, case.evolve(&Silent)?.into_iter().map(member).collect()));
    }
    let case = Case { estimate: case.estimate && !quick, ..case.clone() };
    if case.eigenvalues.is_some() {
        let member = |Eigenpair { eigenvalue, function }| Member {
            name: written(&eigenvalue),
            problem: case.problem.clone(),
            solution: function,
        };
        return Ok((Kind::Eigenfunction, case.eigenpairs(&Silent)?.into_iter().map(member).collect()));
    }
    let direct = case.tolerance.is_none() && case.settings.method == Method::Schur && !case.problem.is_nonlinear();
    let solution = if quick && direct {
        Solver::once(Arc::new(Serial), &case.problem, case.decomposition()?, &case.settings, &Silent)?
    } else {
        case.solve(&Silent)?
    };
    Ok((Kind::Steady, vec![Member { name: String::new(), problem: case.problem, solution }]))
}

/// An eigenvalue with twelve digits.
fn written(eigenvalue: &Eigenvalue) -> String {
    let short = |value: f64| format!("{value:.11e}").parse::<f64>().unwrap_or(value);
    let (real, imaginary) = (short(eigenvalue.value), short(eigenvalue.imaginary));
    if imaginary == 0.0 {
        real.to_string()
    } else {
        format!("{real} {} {}i", if imaginary < 0.0 { '-' } else { '+' }, imaginary.abs())
    }
}

#[wasm_bindgen]
impl Solved {
    /// The report of the solve, as the command line's `--json` has it.
    pub fn report(&self) -> String {
        serde_json::to_string(&self.member().solution.report).expect("a report holds nothing that JSON does not know")
    }

    /// What distinguishes the solutions, where there are several: eigenvalues or times.
    pub fn names(&self) -> Vec<String> {
        let several = self.kind != Kind::Steady;
        self.members.iter().filter(|_| several).map(|member| member.name.clone()).collect()
    }

    /// The number of the solution that is shown.
    pub fn shown(&self) -> usize {
        self.shown
    }

    /// Shows another one of several solutions; a number that is too large means the last.
    pub fn choose(&mut self, number: usize) {
        self.shown = number.min(self.members.len() - 1);
        let solution = &self.members[self.shown].solution;
        self.gradients = TABLES.with_borrow_mut(|tables| self.drawing.gradients(solution, tables));
    }

    /// The points of the drawing: x, y, x, y, ...
    pub fn points(&self) -> Vec<f64> {
        self.drawing.points.as_flattened().to_vec()
    }

    /// The corners of the triangles, as numbers of points.
    pub fn triangles(&self) -> Vec<u32> {
        self.drawing.triangles.as_flattened().to_vec()
    }

    /// The sides of the subdomains: x, y, x, y, ... with a pair that is not a number after every line.
    pub fn borders(&self) -> Vec<f64> {
        lines(&self.drawing.borders)
    }

    /// The boundary of the domain, as [`borders`](Self::borders).
    pub fn outline(&self) -> Vec<f64> {
        lines(&self.drawing.outline)
    }

    /// The names of the fields that the problem has.
    pub fn fields(&self) -> Vec<String> {
        let Member { problem, solution, .. } = self.member();
        let known = |field: &Field| field.known(self.kind, problem, solution);
        Field::ALL.into_iter().filter(known).map(|field| field.name().to_owned()).collect()
    }

    /// The values of a field at the points of the drawing.
    pub fn field(&self, name: &str) -> Result<Vec<f64>, String> {
        let field = Field::named(name)?;
        let Member { problem, solution, .. } = self.member();
        field.drawn(problem, solution, &self.drawing, &self.gradients).map_err(|error| Mistake::plain(&error).json())
    }

    /// The values of a field at any points; not a number outside the domain.
    pub fn values(&self, name: &str, x: &[f64], y: &[f64]) -> Result<Vec<f64>, String> {
        let field = Field::named(name)?;
        let Member { problem, solution, .. } = self.member();
        field.values(problem, solution, x, y).map_err(|error| Mistake::plain(&error).json())
    }

    /// The file that `ddelm solve` would write.
    pub fn safetensors(&self) -> Result<Vec<u8>, String> {
        // The problem does not say which of several solutions this is.
        let problem = Some(self.text.as_str()).filter(|_| self.kind == Kind::Steady);
        save::encode("solution.safetensors", &self.member().solution, problem)
            .map_err(|error| Mistake::plain(&error).json())
    }
}

impl Solved {
    /// The solution that is shown.
    fn member(&self) -> &Member {
        &self.members[self.shown]
    }
}

/// 256 colours, red, green, blue each: those of the program's pictures for values, or for sizes of errors.
#[wasm_bindgen]
pub fn colours(sizes: bool) -> Vec<u8> {
    let gradient = if sizes { colorous::MAGMA } else { colorous::VIRIDIS };
    (0..256).map(|k| gradient.eval_continuous(f64::from(k) / 255.0)).flat_map(|c| [c.r, c.g, c.b]).collect()
}

/// Lines one after the other, with a pair that is not a number after each.
fn lines(lines: &[Vec<[f64; 2]>]) -> Vec<f64> {
    lines.iter().flat_map(|line| line.iter().chain(&[[f64::NAN; 2]])).flatten().copied().collect()
}
