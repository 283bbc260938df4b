//! How it is solved: the choices, what they cost, and the report on what came of them.

pub mod cost;
pub mod report;
pub mod settings;
