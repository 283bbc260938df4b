//! The program `ddelm`; see the library of this crate.

use std::process::ExitCode;

use ddelm_cli::memory::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(mimalloc::MiMalloc);

fn main() -> ExitCode {
    ExitCode::from(ddelm_cli::run(std::env::args_os()))
}
