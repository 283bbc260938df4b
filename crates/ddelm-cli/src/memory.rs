//! What happens when memory runs out.
//!
//! Matrices that find no room end in a panic of the matrix library, on whichever thread asked for them. Nothing can be
//! saved then: the process says so and ends, and under `mpirun` all others end with it. Whatever else finds no room is
//! ended by the language itself, with the message `memory allocation of ... bytes failed`.

use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use ddelm::exchange::Launch;

/// What the matrix library's panic says.
const SIGN: &str = "AllocError";

/// Ends the process with a message and this exit code when a matrix finds no room.
pub fn watch(code: i32) {
    let usual = take_hook();
    set_hook(Box::new(move |panic| match lacks_memory(panic) {
        true => end(code),
        false => usual(panic),
    }));
}

fn lacks_memory(panic: &PanicHookInfo<'_>) -> bool {
    panic.payload().downcast_ref::<String>().is_some_and(|message| message.contains(SIGN))
}

/// Other threads may find no room either; one of them says so.
fn end(code: i32) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    let rank = Launch::detect().map_or(String::new(), |launch| format!(" on rank {}", launch.rank));
    eprintln!("error: out of memory{rank}");
    eprintln!(" |\n = hint: use fewer points or subdomains, or more ranks on more machines");
    exit(code);
}
