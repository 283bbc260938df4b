//! Signals that ask the program to end: Ctrl-C (SIGINT), SIGTERM and SIGHUP.
//!
//! A computation that polls a flag is given a moment to stop by itself. Where nobody polls (errors are measured, files are
//! written), or where the moment passes, the process removes its temporary files and ends. A second signal ends it at
//! once.

use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ddelm::base::atomic;

use crate::CANNOT_COMPUTE;
use crate::stderr::say;

/// Time to notice a signal.
const PATIENCE: Duration = Duration::from_millis(700);

/// Time to finish, for a computation that has noticed it.
const GRACE: Duration = Duration::from_secs(10);

/// Whether the program was asked to end, whether a computation polls that, and whether one has noticed it.
static ASKED: AtomicBool = AtomicBool::new(false);
static POLLED: AtomicBool = AtomicBool::new(false);
static NOTICED: AtomicBool = AtomicBool::new(false);

/// Whether to end. The computation that asks is taken to do so when it must.
pub fn asked() -> bool {
    let asked = ASKED.load(Ordering::Relaxed);
    if asked {
        NOTICED.store(true, Ordering::Relaxed);
    }
    asked
}

/// Says whether a computation polls [`asked`] from now on.
pub fn polled(yes: bool) {
    POLLED.store(yes, Ordering::Relaxed);
}

fn stop() {
    let again = ASKED.swap(true, Ordering::Relaxed);
    if again || !POLLED.load(Ordering::Relaxed) {
        end();
    }
    let wait = || {
        thread::sleep(PATIENCE);
        if NOTICED.load(Ordering::Relaxed) {
            thread::sleep(GRACE);
        }
        end();
    };
    if thread::Builder::new().spawn(wait).is_err() {
        end();
    }
}

fn end() {
    atomic::abandon();
    say("error: interrupted");
    exit(CANNOT_COMPUTE.into());
}

/// Listens for signals. To be called before there are other threads, which inherit what this one does not receive.
#[cfg(unix)]
pub fn watch() {
    use nix::sys::signal::{SigSet, Signal};
    let ignored = ignored();
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // `nohup` and shells without job control mean it.
        if ignored & (1 << (signal as u32 - 1)) == 0 {
            signals.add(signal);
        }
    }
    if signals.thread_block().is_err() {
        return;
    }
    let listen = move || {
        while signals.wait().is_ok() {
            stop();
        }
    };
    if thread::Builder::new().name("signals".into()).spawn(listen).is_err() {
        // They end the process, as they always did.
        let _ = signals.thread_unblock();
    }
}

/// The signals that whoever started the process told it to ignore, one bit each.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Listens for Ctrl-C.
#[cfg(not(unix))]
pub fn watch() {
    // Where no handler can be set, Ctrl-C ends the process as it always did.
    let _ = ctrlc::set_handler(stop);
}
