//! Computations off the interpreter: the threads they run on, signals, and progress.
//!
//! The calling thread lets go of the interpreter and waits, while a pool of our own does the work. Python handles
//! signals on its main thread only, which is why that thread does not take part: it wakes up every [`PULSE`] to look
//! for Ctrl-C and to tell the user's callback how far the work has come.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ddelm::base::progress::{Progress, Stage};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::exception;

/// How often the waiting thread looks for signals.
const PULSE: Duration = Duration::from_millis(50);

/// How long an interrupted computation may take to notice before it is left to itself.
const GRACE: Duration = Duration::from_millis(400);

/// Runs `work` on the pool and waits for it without holding the interpreter. `callback` is called on this thread, as
/// `callback(stage, done, total, residual)`.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Progress) -> ddelm::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let told = callback.is_some();
    let counter = Arc::new(Counter { sender, told, stop: AtomicBool::new(false), done: 0.into(), residual: 0.into() });
    let shared = counter.clone();
    pool()?.spawn(move || {
        // A panic in a spawned task would end the process.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(shared.as_ref())));
        // Sending fails when nobody listens any more, because the work was left to itself.
        let _ = shared.sender.send(Event::Done(outcome));
    });
    let mut wait = Wait { receiver: receiver.into(), counter, callback, stage: None };
    match wait.outcome(py) {
        Ok(Ok(result)) => result.map_err(exception),
        Ok(Err(_)) => Err(PyRuntimeError::new_err("internal error: the computation panicked")),
        Err(raised) => {
            wait.abandon(py);
            Err(raised)
        }
    }
}

/// What the work tells the thread that waits.
enum Event<T> {
    /// A stage of so many steps begins; the bits of the last residual before it.
    Begin(Stage, usize, u64),
    Done(thread::Result<ddelm::Result<T>>),
}

/// The listener of the library. Stages are announced; steps are only counted, for they may be many and short.
struct Counter<T> {
    sender: Sender<Event<T>>,
    /// Whether stages are told to anybody: to wake a thread for nothing takes a tenth of a small solve.
    told: bool,
    stop: AtomicBool,
    done: AtomicUsize,
    /// The bits of the last residual; 0 for none.
    residual: AtomicU64,
}

impl<T: Send> Progress for Counter<T> {
    fn begin(&self, stage: Stage, steps: usize) {
        self.done.store(0, Relaxed);
        let residual = self.residual.swap(0, Relaxed);
        if self.told {
            let _ = self.sender.send(Event::Begin(stage, steps, residual));
        }
    }

    fn step(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    fn residual(&self, _iteration: usize, residual: f64, _goal: f64) {
        self.residual.store(residual.to_bits(), Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

/// The thread that waits.
struct Wait<'a, 'py, T> {
    // A receiver may not be shared between threads, which is how PyO3 sees a closure without the interpreter.
    receiver: Mutex<Receiver<Event<T>>>,
    counter: Arc<Counter<T>>,
    callback: Option<&'a Bound<'py, PyAny>>,
    stage: Option<(Stage, usize)>,
}

impl<T: Send> Wait<'_, '_, T> {
    /// What the work returned, or what a signal or the callback raised.
    fn outcome(&mut self, py: Python<'_>) -> PyResult<thread::Result<ddelm::Result<T>>> {
        loop {
            match self.next(py, PULSE) {
                Ok(Event::Begin(stage, steps, residual)) => {
                    self.tell(usize::MAX, residual)?;
                    self.stage = Some((stage, steps));
                    self.tell(0, 0)?;
                }
                Ok(Event::Done(outcome)) => {
                    if matches!(outcome, Ok(Ok(_))) {
                        self.tell(usize::MAX, self.counter.residual.load(Relaxed))?;
                    }
                    return Ok(outcome);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.tell(self.counter.done.load(Relaxed), self.counter.residual.load(Relaxed))?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("internal error: no outcome"));
                }
            }
            py.check_signals()?;
        }
    }

    fn next(&self, py: Python<'_>, patience: Duration) -> Result<Event<T>, RecvTimeoutError> {
        let receiver = &self.receiver;
        py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience))
    }

    /// Tells the callback how many steps of the current stage are done, and the residual by its bits.
    fn tell(&self, done: usize, residual: u64) -> PyResult<()> {
        let (Some(callback), Some((stage, total))) = (self.callback, self.stage) else {
            return Ok(());
        };
        let residual = Some(residual).filter(|&bits| bits != 0).map(f64::from_bits);
        callback.call1((stage.name(), done.min(total), total, residual)).map(|_| ())
    }

    /// Asks the work to stop and gives it a moment. If it is in the middle of a long step, it stops after that.
    fn abandon(&self, py: Python<'_>) {
        self.counter.stop.store(true, Relaxed);
        let end = Instant::now() + GRACE;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            if !matches!(self.next(py, left), Ok(Event::Begin(..))) {
                break;
            }
        }
    }
}

/// The pool, and the process it belongs to.
struct Pool {
    process: u32,
    pool: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// The pool for a computation that starts now.
///
/// A function of the user that is called from the pool may itself evaluate a solution. Its thread must not wait for
/// the pool it belongs to, so it gets a thread of its own.
fn pool() -> PyResult<Arc<ThreadPool>> {
    if rayon::current_thread_index().is_some() {
        return build(1);
    }
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match slot.as_ref() {
        Some(pool) if pool.process == std::process::id() => Ok(pool.pool.clone()),
        _ => install(&mut slot, 0),
    }
}

/// Replaces the pool. After a fork the old one has no threads any more, and dropping it would wait for them.
fn install(slot: &mut Option<Pool>, threads: usize) -> PyResult<Arc<ThreadPool>> {
    let pool = build(threads)?;
    let old = slot.replace(Pool { process: std::process::id(), pool: pool.clone() });
    if old.as_ref().is_some_and(|old| old.process != std::process::id()) {
        std::mem::forget(old);
    }
    Ok(pool)
}

/// A pool of so many threads; 0 is one per core, or what `RAYON_NUM_THREADS` says.
fn build(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|k| format!("ddelm {k}")).build();
    pool.map(Arc::new).map_err(|e| PyRuntimeError::new_err(format!("cannot start threads: {e}")))
}

/// Number of threads that computations use.
#[pyfunction]
pub fn threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Sets the number of threads; `None` is one per core.
#[pyfunction]
#[pyo3(signature = (threads=None))]
pub fn set_threads(threads: Option<usize>) -> PyResult<()> {
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads = 0: at least one thread is needed\nhint: None is one per core"));
    }
    install(&mut POOL.lock().unwrap_or_else(PoisonError::into_inner), threads.unwrap_or(0)).map(|_| ())
}
