//! What any program needs: errors, progress, memory, threads, and files of numbers.

pub mod amount;
pub mod atomic;
pub mod clock;
pub mod csv;
pub mod error;
pub mod memory;
pub mod npz;
pub mod number;
pub mod parallel;
pub mod progress;
