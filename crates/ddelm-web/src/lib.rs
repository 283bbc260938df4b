//! The library in a browser: a problem file as text in, a solved problem out, with the arrays that a page draws.
//!
//! Nothing here knows what a domain looks like; see [`Drawing`]. Errors come as JSON, a [`Mistake`] each.

mod field;
mod mistake;

use std::cell::RefCell;
use std::sync::Arc;

use ddelm::exchange::Serial;
use ddelm::method::settings::Method;
use ddelm::solution::drawing::{Drawing, Tables};
use ddelm::solution::{Gradients, save};
use ddelm::{Problem, ProblemFile, Silent, Solution, Solver};
// Nothing is called: the dependency says that matrix products may use SIMD.
use gemm_common as _;
use wasm_bindgen::prelude::wasm_bindgen;

use field::Field;
use mistake::Mistake;

/// Points of a drawing, about: more than a picture of a few hundred pixels shows.
const POINTS: f64 = 14_000.0;

/// Intervals along a side of a subdomain in a drawing.
const INTERVALS: [f64; 2] = [4.0, 40.0];

thread_local! {
    /// Tables of the basis at the points of the drawing: a drag needs the same ones again and again.
    static TABLES: RefCell<Tables> = RefCell::default();
}

/// A solved problem, and the drawing of its domain.
#[wasm_bindgen]
pub struct Solved {
    text: String,
    problem: Problem,
    solution: Solution,
    drawing: Drawing,
    gradients: Gradients,
}

/// Solves a problem file. Overrides are those of the command line's `--set`.
///
/// Where `quick`, the error is neither measured nor estimated, which takes longer than the solve: for a drag, which shows the
/// next solution before anybody has read a figure.
#[wasm_bindgen]
pub fn solve(text: &str, overrides: Vec<String>, quick: bool) -> Result<Solved, String> {
    let file = overrides.into_iter().fold(ProblemFile::new(text), ProblemFile::set);
    let wrong = |error: ddelm::Error| Mistake::new(&file, &error).json();
    let case = file.case().map_err(wrong)?;
    let solution = if quick && case.tolerance.is_none() && case.settings.method == Method::Schur {
        let cut = case.decomposition().map_err(wrong)?;
        Solver::once(Arc::new(Serial), &case.problem, cut, &case.settings, &Silent).map_err(wrong)?
    } else {
        case.solve(&Silent).map_err(wrong)?
    };
    let per_subdomain = (POINTS / solution.decomposition.len() as f64).sqrt();
    let intervals = per_subdomain.clamp(INTERVALS[0], INTERVALS[1]) as usize;
    let drawing = Drawing::new(&solution.decomposition, intervals);
    let gradients = TABLES.with_borrow_mut(|tables| drawing.gradients(&solution, tables));
    Ok(Solved { text: file.resolved().map_err(wrong)?, problem: case.problem, solution, drawing, gradients })
}

#[wasm_bindgen]
impl Solved {
    /// The report of the solve, as the command line's `--json` has it.
    pub fn report(&self) -> String {
        serde_json::to_string(&self.solution.report).expect("a report holds nothing that JSON does not know")
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
        let known = |field: &Field| field.known(&self.problem, &self.solution);
        Field::ALL.into_iter().filter(known).map(|field| field.name().to_owned()).collect()
    }

    /// The values of a field at the points of the drawing.
    pub fn field(&self, name: &str) -> Result<Vec<f64>, String> {
        let field = Field::named(name)?;
        let Solved { problem, solution, drawing, gradients, .. } = self;
        field.drawn(problem, solution, drawing, gradients).map_err(|error| Mistake::plain(&error).json())
    }

    /// The values of a field at any points; not a number outside the domain.
    pub fn values(&self, name: &str, x: &[f64], y: &[f64]) -> Result<Vec<f64>, String> {
        let field = Field::named(name)?;
        field.values(&self.problem, &self.solution, x, y).map_err(|error| Mistake::plain(&error).json())
    }

    /// The file that `ddelm solve` would write.
    pub fn safetensors(&self) -> Result<Vec<u8>, String> {
        save::encode("solution.safetensors", &self.solution, Some(&self.text))
            .map_err(|error| Mistake::plain(&error).json())
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
