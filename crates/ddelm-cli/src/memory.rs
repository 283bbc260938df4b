//! What happens when memory runs out.
//!
//! Nothing can be saved then, on whichever thread it happens: the process says so and ends, and under `mpirun` all others
//! end with it. The language itself would abort, without an exit code that means something, and there is no stable way to
//! tell it otherwise; so the allocator does it. Sizes that are no sizes end in a panic of the matrix library.

use std::alloc::{GlobalAlloc, Layout};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ddelm::base::atomic;
use ddelm::exchange::Launch;
use libmimalloc_sys::{mi_option_get, mi_option_set, mi_option_t};
use mimalloc::MiMalloc;

use crate::CANNOT_COMPUTE;
use crate::stderr::say;

/// What the matrix library's panic says.
const SIGN: &str = "AllocError";

/// Time that another thread has to end the process.
const MOMENT: Duration = Duration::from_secs(5);

/// The option `purge_delay` of the allocator: milliseconds until memory that is free goes back to the system.
const PURGE_DELAY: mi_option_t = 15;

/// What it is if nobody has changed it.
const USUAL: i64 = 10;

/// Keeps memory that is free for ten seconds, not for ten milliseconds: a loop over solves, or a program in Python, takes it again before.
/// Where ten eigenvalues were found, a quarter of the time went into giving it back and forth.
pub fn keep() {
    #[expect(unsafe_code, reason = "options of a C library; this is called once, before anything is computed")]
    // SAFETY: the option exists, and any number is a delay. It is no other option, for its value is the one expected.
    unsafe {
        if mi_option_get(PURGE_DELAY) == USUAL {
            mi_option_set(PURGE_DELAY, 10_000);
        }
    }
}

/// Large matrices come and go. This allocator keeps their memory for the next one, where that of the system gives it back
/// and pays for it again: up to a tenth of the time of a solve.
pub struct Allocator(pub MiMalloc);

#[allow(unsafe_code, reason = "an allocator is unsafe by its nature; every call goes on as it came")]
// SAFETY: all memory comes from MiMalloc and goes back to it, with the arguments of the caller.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        found(unsafe { self.0.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        found(unsafe { self.0.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        found(unsafe { self.0.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

/// The memory, if there is some.
#[inline]
fn found(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end();
    }
    memory
}

/// Ends the process with a message when a matrix finds no room.
pub fn watch() {
    let usual = take_hook();
    set_hook(Box::new(move |panic| match lacks_memory(panic) {
        true => end(),
        false => usual(panic),
    }));
}

fn lacks_memory(panic: &PanicHookInfo<'_>) -> bool {
    panic.payload().downcast_ref::<String>().is_some_and(|message| message.contains(SIGN))
}

/// Other threads may find no room either; one of them says so, and the others wait for the end.
#[cold]
fn end() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Ordering::Relaxed) {
        std::thread::sleep(MOMENT);
        return;
    }
    atomic::abandon();
    let rank = Launch::detect().map_or(String::new(), |launch| format!(" on rank {}", launch.rank));
    say(format!("error: out of memory{rank}"));
    say(" |\n = hint: use fewer points or subdomains, or more ranks on more machines");
    exit(CANNOT_COMPUTE.into());
}
