//! Memory between solves.

use libmimalloc_sys::{mi_option_get, mi_option_set, mi_option_t};
use mimalloc::MiMalloc;

/// Large matrices come and go. This allocator keeps their memory for the next solve; the system's gives it back, and pays for it again.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The option `purge_delay`: milliseconds until memory that is free goes back to the system.
const PURGE_DELAY: mi_option_t = 15;

/// What it is if nobody has changed it.
const USUAL: i64 = 10;

/// Keeps memory for ten seconds: most programs in Python solve again before.
pub fn keep() {
    #[expect(unsafe_code, reason = "options of a C library; this is called once, before anything is computed")]
    // SAFETY: the option exists, and any number is a delay. It is no other option, for its value is the one expected.
    unsafe {
        if mi_option_get(PURGE_DELAY) == USUAL {
            mi_option_set(PURGE_DELAY, 10_000);
        }
    }
}
