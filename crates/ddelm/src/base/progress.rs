//! What a long computation tells its caller, and how the caller stops it.

use serde::Serialize;

use crate::base::error::{Error, Result};

/// The stages of a solve, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Rows and features of the subdomains.
    Assemble,
    /// Local factorizations.
    Factor,
    /// The interface system.
    Interface,
    /// Output coefficients.
    Recover,
    /// The second solution that the error estimate needs.
    Estimate,
    /// Products with the inverse of the operator, on the way to its eigenvalues.
    Eigenvalues,
    /// Steps in time.
    Time,
    /// Whole solves.
    Sweep,
}

impl Stage {
    /// The stage as a word.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Assemble => "assemble",
            Stage::Factor => "factor",
            Stage::Interface => "interface",
            Stage::Recover => "recover",
            Stage::Estimate => "estimate",
            Stage::Eigenvalues => "eigenvalues",
            Stage::Time => "time",
            Stage::Sweep => "sweep",
        }
    }
}

/// A listener. All methods do nothing unless overridden; they may be called from any thread.
pub trait Progress: Sync {
    /// A stage of so many steps begins.
    fn begin(&self, _stage: Stage, _steps: usize) {}

    /// A step of the current stage is done.
    fn step(&self) {}

    /// Conjugate gradients have reached a relative residual, on the way to a goal.
    fn residual(&self, _iteration: usize, _residual: f64, _goal: f64) {}

    /// Whether the computation should stop as soon as it can.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An error where the computation should stop.
pub(crate) fn stop_if_asked(progress: &dyn Progress) -> Result<()> {
    if progress.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
