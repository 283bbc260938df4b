//! ddelm
pub mod activation;
pub mod adaptive;
pub mod assembly;
pub mod atomic;
pub mod basis;
pub mod chebyshev;
pub mod collocation;
pub mod cost;
pub mod decomposition;
pub mod error;
pub mod estimate;
pub mod exchange;
pub mod expression;
pub mod factor;
pub mod features;
pub mod field;
pub mod file;
pub mod finite_element;
pub mod gallery;
pub mod graded;
pub mod interface;
pub mod local;
pub mod locelm;
pub mod map;
pub mod npz;
pub mod operator;
pub mod problem;
pub mod progress;
pub mod random_field;
pub mod report;
#[cfg(feature = "save")]
pub mod save;
mod right_hand_side;
pub mod settings;
pub mod solution;
pub mod solver;
mod stages;
pub mod symbol;
pub mod typeset;
#[cfg(feature = "vtk")]
pub mod vtk;

pub use error::{Error, Result};
