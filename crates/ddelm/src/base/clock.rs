//! The clock that stages are timed with.
//!
//! A browser has none that the standard library knows: there `performance.now()` tells the time.

#[cfg(not(target_family = "wasm"))]
pub use std::time::Instant;
#[cfg(target_family = "wasm")]
pub use web_time::Instant;
