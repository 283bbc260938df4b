//! Several solutions that belong together, as `ddelm solve --out` writes them: times, or eigenfunctions.

use std::path::{Path, PathBuf};

use ddelm::solution::save;
use ddelm::{Error, Result, Solution};
use rayon::prelude::*;

use crate::saved::SOLUTION;
use crate::view::{Field, View};
use ddelm::base::number::digits;
use ddelm::base::parallel::in_order;
use ddelm_picture::{self as picture, ColourScale, HeatMap};

/// Milliseconds that an animation takes about, and those of a frame at least and at most.
const DURATION: usize = 6_000;
const SHORTEST: usize = 40;
const LONGEST: usize = 800;

/// Frames that an animation may have: each of them takes a megabyte.
const MOST: usize = 2_000;

/// The name of one of several files: numbers from 1 on stand before the extension.
pub fn numbered(name: &str, number: usize) -> String {
    match name.split_once('.') {
        Some((stem, extension)) => format!("{stem}-{number}.{extension}"),
        None => format!("{name}-{number}"),
    }
}

/// Reads the solutions of a directory in their order.
pub fn read(directory: &Path) -> Result<Vec<Solution>> {
    let paths: Vec<PathBuf> =
        (1..).map(|k| directory.join(numbered(SOLUTION, k))).take_while(|path| path.exists()).collect();
    let refuse = |problem: String, hint: &str| Err(Error::File { path: directory.into(), problem, hint: hint.into() });
    if paths.len() < 2 {
        let problem = format!("the directory has no {}: there is no series to animate", numbered(SOLUTION, 2));
        return refuse(problem, "give [time] times = [...] in the problem file, and solve it with --out");
    }
    if paths.len() > MOST {
        let problem = format!("it has {} solutions, and an animation has at most {MOST} frames", paths.len());
        return refuse(problem, "ask for fewer times");
    }
    paths.iter().map(|path| Ok(save::read(path)?.solution)).collect()
}

/// A field of all solutions as an animation, in the same colours. What needs the problem cannot be shown.
pub fn animation(solutions: &[Solution], field: Field, contours: bool) -> Result<Vec<u8>> {
    let refuse = |problem: String| Error::Compute { stage: "animation", problem, hint: String::new() };
    let map = |(k, solution): (usize, &Solution)| -> Result<HeatMap> {
        let mut map = View { solution, problem: None }.heat_map(field, contours)?;
        map.title = format!("{}{}", field.name(), title(k, solution));
        Ok(map)
    };
    let maps: Vec<HeatMap> = in_order(solutions.par_iter().enumerate().map(map))?;
    let Some(first) = maps.first() else { return Err(refuse("there are no solutions".into())) };
    let all: Vec<f64> = maps.iter().flat_map(|map| &map.grid.values).copied().collect();
    let scale = ColourScale::of_values(&first.scale.axis.label, &all);
    let frame = |map: HeatMap| picture::png(&HeatMap { scale: scale.clone(), ..map }.scene()).map_err(refuse);
    let frames: Vec<Vec<u8>> = in_order(maps.into_par_iter().map(frame))?;
    let pause = (DURATION / frames.len().max(1)).clamp(SHORTEST, LONGEST);
    picture::apng(&frames, pause as u16).map_err(refuse)
}

/// What tells a solution from the others: its time, or its eigenvalue.
fn title(number: usize, solution: &Solution) -> String {
    let report = &solution.report;
    match (&report.time, report.eigenvalues.get(number)) {
        (Some(time), _) => format!(" at t = {:.4}", time.t),
        (None, Some(found)) => format!(" for the eigenvalue {}", digits(found.value)),
        (None, None) => format!(", {}", number + 1),
    }
}
