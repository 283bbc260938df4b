//! What this binary is and what was built into it.

use std::sync::LazyLock;

/// The version.
pub fn short() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The version and the features built in.
pub fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| format!("{}\nthreads: {}", short(), rayon::current_num_threads()));
    &TEXT
}
