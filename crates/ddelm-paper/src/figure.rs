//! Figures 3 and 4: the random sources and coefficients, the solutions, and where the default preset errs.

use std::sync::Arc;

use ddelm::method::settings::Preset;
use ddelm::problem::field::{Field, Samples};
use ddelm::problem::gallery;
use ddelm::{Decomposition, Error, Result};

use super::Laboratory;
use super::item::Item;
use super::run::Run;
use super::study::Study;
use ddelm_picture::{self as picture, Grid, HeatMap, heat_map};

/// Points along a side of a picture.
const RESOLUTION: usize = 400;

/// Subdomains in each direction of the pictures of errors.
const SIDE: usize = 16;

/// The studies of a figure.
pub fn studies(number: u8) -> [Study; 2] {
    match number {
        3 => [Study::Source(16), Study::Source(32)],
        _ => [Study::Coefficient(16), Study::Coefficient(32)],
    }
}

/// Draws a figure, and writes its text after every row of pictures.
pub fn reproduce(laboratory: &Laboratory, number: u8) -> Result<()> {
    let mut text = String::new();
    for study in studies(number) {
        text.push_str(&row(laboratory, number, study)?);
        laboratory.write(Item::Figure(number), &text)?;
    }
    Ok(())
}

/// Draws the field, the solution and the error of a study; returns the Markdown that shows them.
fn row(laboratory: &Laboratory, number: u8, study: Study) -> Result<String> {
    let field = laboratory.realizations.field(study)?;
    let (name, symbol, alpha, field) = match study {
        Study::Coefficient(alpha) => ("rho", "\u{3c1}", alpha, gallery::rough_coefficient(field)),
        Study::Source(alpha) => ("f", "f", alpha, field),
        Study::Poisson | Study::Plate => ("f", "f", 16, field),
    };
    let reference = laboratory.reference(study)?;
    let problem = study.problem(&laboratory.realizations)?;
    let solution = Run::new(Preset::Fast, SIDE, study.default_points(SIDE), laboratory.seed)
        .solution(laboratory, study, &problem)?;
    let whole = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [1, 1])?);

    let title = |what: &str| format!("{what}, \u{3b1} = {alpha}");
    let values = |field: &dyn Field| -> Result<Grid> {
        let mut grid = Grid::over([0.0, 1.0, 0.0, 1.0], RESOLUTION);
        let (x, y) = grid.centres();
        grid.values = vec![0.0; x.len()];
        let failed = Error::callback(name);
        field.values(&Samples::at(&x, &y), &mut grid.values).map_err(failed)?;
        Ok(grid)
    };
    let exact = values(&reference.solution)?;
    let mut error = values(&solution)?;
    error.values.iter_mut().zip(&exact.values).for_each(|(u, exact)| *u -= exact);
    let pictures = [
        (name, HeatMap { title: title(symbol), ..heat_map(&whole, symbol, false, values(field.as_ref())?, false) }),
        ("u", HeatMap { title: title("u"), ..heat_map(&whole, "u", false, exact, false) }),
        (
            "error",
            HeatMap {
                title: title(&format!("error of the default preset on {SIDE} \u{d7} {SIDE}")),
                ..heat_map(&solution.decomposition, "|error|", true, error, false)
            },
        ),
    ];
    let mut text = String::new();
    for (what, map) in pictures {
        let file = format!("figure-{number}-{what}-{alpha}.png");
        picture::write(&laboratory.output.join(&file), &map.scene())?;
        text.push_str(&format!("![{what} for alpha = {alpha}]({file})\n"));
    }
    Ok(format!("alpha = {alpha}:\n\n{text}\n"))
}
