//! Memory between solves.

use mimalloc::MiMalloc;

/// Large matrices come and go. This allocator keeps their memory for the next solve; the system's gives it back, and pays for it again.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;
