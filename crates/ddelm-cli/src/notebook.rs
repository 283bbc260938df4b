//! What a notebook shows of problems and solutions: the words and pictures of the command line, for the Python package.

use ddelm::solve::case::Case;
use ddelm::{Error, Result, Solution};

use crate::command::check;
use crate::series;
use crate::view::{Field, View};
use ddelm_picture as picture;

/// What a case asks for and will cost, as `ddelm check` says it: lines of text, with a name in front of the first of each
/// kind.
pub fn entries(case: &Case) -> Result<Vec<(&'static str, String)>> {
    check::entries(case)
}

/// The solution as a PNG file.
pub fn thumbnail(solution: &Solution) -> Result<Vec<u8>> {
    let scene = View { solution, problem: None }.heat_map(Field::U, false)?.scene();
    picture::png(&scene).map_err(|problem| Error::Compute { stage: "picture", problem, hint: String::new() })
}

/// Solutions that follow each other as an animated PNG file.
pub fn animation(solutions: &[Solution]) -> Result<Vec<u8>> {
    series::animation(solutions, Field::U, false)
}
