//! What this binary is and what was built into it.

use std::sync::LazyLock;

/// The version.
pub fn short() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The version and the features built in.
pub fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut features = [("mpi", cfg!(feature = "mpi"))].into_iter().chain(ddelm::FEATURES).collect::<Vec<_>>();
        features.sort_unstable();
        let text = features.iter().map(|(name, built)| format!("{}{name}", if *built { '+' } else { '-' }));
        format!("{}\nfeatures: {}", short(), text.collect::<Vec<_>>().join(" "))
    });
    &TEXT
}
