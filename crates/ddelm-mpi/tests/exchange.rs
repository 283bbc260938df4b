//! The checks of the exchange under `mpirun` on one to four ranks.
//!
//! Started by `cargo test`, this program starts itself under `mpirun`; started by `mpirun`, it is one of the ranks.

#[path = "../../ddelm/tests/exchange/body.rs"]
mod body;

use std::process::{Command, ExitCode};
use std::sync::Arc;

use ddelm::exchange::Launch;
use ddelm_mpi::Mpi;

fn main() -> ExitCode {
    match Launch::detect() {
        Some(_) => rank(),
        None => launch(),
    }
}

/// Runs all checks as one rank. A check that fails panics, which ends all ranks.
fn rank() -> ExitCode {
    let mpi = match Mpi::start() {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let machine: body::Machine = Arc::new(mpi);
    for (name, check) in body::CHECKS {
        check(&machine);
        if machine.rank() == 0 {
            println!("{} ranks: {name} ... ok", machine.size());
        }
    }
    ExitCode::SUCCESS
}

fn launch() -> ExitCode {
    let passed = std::env::current_exe().is_ok_and(|program| {
        (1..=4).all(|ranks| {
            let status = Command::new("mpirun")
                .args(["-n", &ranks.to_string()])
                .arg(&program)
                // Containers run as root, and have fewer cores than ranks.
                .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
                .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
                .status();
            status.is_ok_and(|status| status.success())
        })
    });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
