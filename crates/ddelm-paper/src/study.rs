//! The problems of Tables 2 to 7, with the random fields in them.

use std::path::PathBuf;
use std::sync::Arc;

use ddelm::problem::field::FieldRef;
use ddelm::problem::gallery::{self, Material};
use ddelm::problem::random_field::RandomField;
use ddelm::{Problem, Result};
use serde::{Deserialize, Serialize};

/// Modes of the paper's random fields.
const MODES: usize = 256;

/// A problem of the paper's section 4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Study {
    /// Poisson's equation with a known solution.
    Poisson,
    /// Poisson's equation with a random source, for an alpha.
    Source(u32),
    /// A variable coefficient from a random field, for an alpha.
    Coefficient(u32),
    /// The simply supported plate.
    Plate,
}

impl Study {
    /// The problem of a table.
    pub fn of_table(number: u8) -> Self {
        match number {
            3 => Study::Source(16),
            4 => Study::Source(32),
            5 => Study::Coefficient(16),
            6 => Study::Coefficient(32),
            7 => Study::Plate,
            _ => Study::Poisson,
        }
    }

    /// The boundary value problem.
    pub fn problem(self, realizations: &Realizations) -> Result<Problem> {
        Ok(match self {
            Study::Poisson => gallery::poisson(),
            Study::Plate => gallery::plate(Material::PAPER),
            Study::Source(_) => gallery::random_source(realizations.field(self)?),
            Study::Coefficient(_) => gallery::random_coefficient(realizations.field(self)?),
        })
    }

    /// Points per side of a subdomain with the default preset. Never more neurons than the paper has.
    ///
    /// Smooth solutions need few. Random fields have up to `0.5 alpha` waves across the square, and some ten points for
    /// each of them.
    pub fn default_points(self, side: usize) -> usize {
        match (self, side) {
            (_, 16) => 16,
            (_, 8) => 32,
            (Study::Poisson | Study::Plate, 4) => 16,
            (Study::Poisson | Study::Plate, _) => 32,
            _ => 40,
        }
    }
}

/// Where the random fields come from.
#[derive(Debug, Clone)]
pub struct Realizations {
    /// The seed of the sources; that of the coefficients is one more.
    pub seed: u64,
    /// A folder with `source16.npz`, `source32.npz`, `coefficient16.npz` and `coefficient32.npz` to use instead.
    pub folder: Option<PathBuf>,
}

impl Realizations {
    /// The random field of a study; that of the Poisson study's table has none and gets the source's.
    pub fn field(&self, study: Study) -> Result<FieldRef> {
        // Inside tanh the authors' field has size one, not alpha^2 as the paper's text says: their coefficient files and
        // their figure show it. With alpha^2 the coefficient would jump between 0.1 and 2.1.
        let (name, alpha, seed, size) = match study {
            Study::Coefficient(alpha) => ("coefficient", f64::from(alpha), self.seed.wrapping_add(1), 1.0),
            Study::Source(alpha) => ("source", f64::from(alpha), self.seed, f64::from(alpha).powi(2)),
            Study::Poisson | Study::Plate => ("source", 16.0, self.seed, 256.0),
        };
        Ok(Arc::new(match &self.folder {
            Some(folder) => RandomField::load(folder.join(format!("{name}{alpha}.npz")))?,
            None => RandomField::new(alpha, MODES, seed)?.scaled(size / (alpha * alpha)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{INTERVALS, rows};

    #[test]
    fn the_default_preset_never_has_more_neurons_than_the_paper() {
        for table in 2..=7 {
            for row in rows(table) {
                assert!(Study::of_table(table).default_points(row.side) * row.side <= INTERVALS);
            }
        }
    }
}
