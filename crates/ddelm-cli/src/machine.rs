//! The machine that a command runs on: this process, or one rank among those that `mpirun` started.

use std::sync::Arc;

use ddelm::Error;
use ddelm::exchange::{Exchange, Launch, Serial};

use crate::failure::Failure;

/// A machine that commands share.
#[derive(Clone)]
pub struct Machine(pub Arc<dyn Exchange>);

impl Machine {
    /// Finds the machine.
    pub fn start() -> Result<Self, Error> {
        match Launch::detect() {
            Some(launch) => Ok(Machine(on_ranks(launch)?)),
            None => Ok(Machine::default()),
        }
    }

    /// Whether this rank is the one that reads and writes for all.
    pub fn leads(&self) -> bool {
        self.0.rank() == 0
    }

    /// What only the first rank does, while the others wait.
    pub fn alone<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<Option<T>, Failure> {
        self.agree(self.leads().then(work).transpose())
    }

    /// The same outcome on all ranks. Only one of them has something to say about a failure.
    pub fn agree<T>(&self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        match outcome {
            Ok(value) => Ok(self.0.agree(Ok(())).map(|()| value)?),
            Err(Failure { error, file }) => {
                let error = self.0.agree(Err(error)).err().unwrap_or(Error::Interrupted);
                Err(Failure { error, file })
            }
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Machine(Arc::new(Serial))
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.0.rank(), self.0.size())
    }
}

#[cfg(feature = "mpi")]
fn on_ranks(_: Launch) -> Result<Arc<dyn Exchange>, Error> {
    Ok(Arc::new(ddelm_mpi::Mpi::start()?))
}

/// Without MPI every rank would solve the whole problem for itself.
#[cfg(not(feature = "mpi"))]
fn on_ranks(launch: Launch) -> Result<Arc<dyn Exchange>, Error> {
    match launch {
        Launch { size: 1, .. } => Ok(Arc::new(Serial)),
        Launch { rank: 0, size } => Err(Error::input(
            "mpirun",
            format!("{size} ranks"),
            "this ddelm was built without MPI",
            "build it with cargo build --release --features mpi (Debian: libopenmpi-dev openmpi-bin libclang-dev libmumps-dev)",
        )),
        Launch { .. } => Err(Error::Elsewhere { rank: 0, problem: "it was built without MPI".into(), input: true }),
    }
}
