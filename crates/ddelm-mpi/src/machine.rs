//! Several processes, started by `mpirun`: the message passing interface, through rsmpi.
//!
//! MPI is started for calls from one thread at a time (`MPI_THREAD_SERIALIZED`): threads work inside a rank, and
//! whoever leads the solve talks to the other ranks.
//!
//! # Faults
//! A rank that dies is noticed by `mpirun`, which ends the others. A rank that fails and lives tells the others the next
//! time they [agree](Exchange::agree). A panic ends them all, for the others may wait anywhere.
//!
//! # References
//! Message Passing Interface Forum, MPI: A Message-Passing Interface Standard, version 3.1: sections 3.7 (nonblocking
//! communication), 5.5 (gather), 5.9 (reductions), 6.4.2 (ranks that share memory), 8.7 (startup, abort), 12.4
//! (threads).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;

use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::request::multiple_scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};
use mpi::{Count, Rank, Threading};

use ddelm::interface::{DirectFactor, Exchange, Message, System};
use ddelm::{Error, Result};

use crate::distributed::DistributedFactor;

/// As many ranks as `mpirun` started. Clones are the same machine.
#[derive(Clone)]
pub struct Mpi(Arc<Session>);

/// The time between the start of MPI and its end.
struct Session {
    rank: usize,
    size: usize,
    threads: usize,
    /// See [`Exchange::sent`].
    sent: AtomicU64,
    /// Ends MPI when it is dropped.
    _universe: Universe,
}

impl Mpi {
    /// Starts MPI. A process can do this once.
    pub fn start() -> Result<Self> {
        let trouble = |problem: &str| Error::Compute {
            stage: "start",
            problem: problem.into(),
            hint: "start one machine per process, with an MPI library that supports threads".into(),
        };
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| trouble("MPI runs already in this process"))?;
        if threading < Threading::Serialized {
            return Err(trouble("the MPI library does not allow threads"));
        }
        let world = universe.world();
        let neighbours = world.split_shared(0).size() as usize;
        Ok(Mpi(Arc::new(Session {
            rank: world.rank() as usize,
            size: world.size() as usize,
            threads: threads_beside(neighbours),
            sent: AtomicU64::new(0),
            _universe: universe,
        })))
    }

    /// Counts numbers that are sent, if there is anybody to send them to.
    fn count(&self, numbers: usize) {
        let numbers = if self.0.size > 1 { numbers } else { 0 };
        self.0.sent.fetch_add((size_of::<f64>() * numbers) as u64, Ordering::Relaxed);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ending MPI waits for the other ranks, which wait for this one.
        if std::thread::panicking() {
            world().abort(1);
        }
    }
}

/// How a rank failed.
#[derive(Clone, Copy)]
enum Kind {
    Input,
    Compute,
    Interrupted,
}

impl Kind {
    fn of(input: bool) -> Self {
        if input { Kind::Input } else { Kind::Compute }
    }
}

fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

/// The threads of one of so many ranks on a machine. Where `mpirun` binds ranks to cores, that limits them further.
fn threads_beside(ranks: usize) -> usize {
    let allowed = available_parallelism().map_or(1, usize::from);
    let cores = std::fs::read_to_string("/proc/cpuinfo")
        .map_or(0, |info| info.lines().filter(|line| line.starts_with("processor")).count());
    allowed.min(cores.max(allowed) / ranks.max(1)).max(1)
}

impl Exchange for Mpi {
    fn rank(&self) -> usize {
        self.0.rank
    }

    fn size(&self) -> usize {
        self.0.size
    }

    fn threads(&self) -> usize {
        self.0.threads
    }

    fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    fn sum(&self, values: &mut [f64]) {
        self.count(values.len());
        let mine = values.to_vec();
        world().all_reduce_into(&mine[..], values, SystemOperation::sum());
    }

    fn max(&self, values: &mut [f64]) {
        self.count(values.len());
        let mine = values.to_vec();
        world().all_reduce_into(&mine[..], values, SystemOperation::max());
    }

    fn swap(&self, messages: &[Message], work: &mut dyn FnMut()) -> Vec<Vec<f64>> {
        self.count(messages.iter().map(|message| message.values.len()).sum());
        let world = world();
        let mut answers: Vec<Vec<f64>> = messages.iter().map(|message| vec![0.0; message.answer]).collect();
        multiple_scope(2 * messages.len(), |scope, requests| {
            for (message, answer) in messages.iter().zip(&mut answers) {
                let other = world.process_at_rank(message.rank as Rank);
                requests.add(other.immediate_receive_into(scope, &mut answer[..]));
                requests.add(other.immediate_send(scope, &message.values[..]));
            }
            work();
            requests.wait_all(&mut Vec::new());
        });
        answers
    }

    fn gather(&self, mine: &[f64]) -> Vec<Vec<f64>> {
        let world = world();
        let root = world.process_at_rank(0);
        let count = mine.len() as Count;
        if self.rank() > 0 {
            self.count(mine.len());
            root.gather_into(&count);
            root.gather_varcount_into(mine);
            return Vec::new();
        }
        let mut counts: Vec<Count> = vec![0; self.size()];
        root.gather_into_root(&count, &mut counts[..]);
        let starts: Vec<Count> = counts.iter().scan(0, |at, n| Some(std::mem::replace(at, *at + n))).collect();
        let mut all = vec![0.0; counts.iter().map(|&n| n as usize).sum()];
        root.gather_varcount_into_root(mine, &mut PartitionMut::new(&mut all[..], &counts[..], &starts[..]));
        let piece = |(&start, &count): (&Count, &Count)| all[start as usize..(start + count) as usize].to_vec();
        starts.iter().zip(&counts).map(piece).collect()
    }

    fn agree(&self, outcome: Result<()>) -> Result<()> {
        // One number says who failed and how: the smallest is the first rank. An error that was agreed on before keeps
        // its rank.
        let code = |rank: usize, kind: Kind| 3 * rank as i32 + kind as i32;
        let mine = match &outcome {
            Ok(()) => i32::MAX,
            Err(Error::Interrupted) => code(self.rank(), Kind::Interrupted),
            Err(Error::Elsewhere { rank, input, .. }) => code(*rank, Kind::of(*input)),
            Err(error) => code(self.rank(), Kind::of(error.is_input())),
        };
        let mut first = mine;
        world().all_reduce_into(&mine, &mut first, SystemOperation::min());
        if first == i32::MAX {
            return Ok(());
        }
        let (rank, kind) = ((first / 3) as usize, first % 3);
        if kind == Kind::Interrupted as i32 {
            return Err(Error::Interrupted);
        }
        let mine = outcome.err().filter(|_| rank == self.rank());
        let problem = self.broadcast(rank, &mine.as_ref().map_or(String::new(), Error::to_string));
        Err(mine.unwrap_or(Error::Elsewhere { rank, problem, input: kind == Kind::Input as i32 }))
    }

    fn factor(&self, system: &System<'_>) -> Result<Box<dyn DirectFactor>> {
        match self.size() {
            1 => system.factor(),
            _ => Ok(Box::new(DistributedFactor::new(Arc::new(self.clone()), system)?)),
        }
    }
}
