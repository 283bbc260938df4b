//! The program `ddelm`; see the library of this crate.

use std::process::ExitCode;

use ddelm_cli::memory::{Allocator, keep};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(mimalloc::MiMalloc);

fn main() -> ExitCode {
    keep();
    ExitCode::from(ddelm_cli::run(std::env::args_os()))
}
