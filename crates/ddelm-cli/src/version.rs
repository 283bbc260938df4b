//! What this binary is and what was built into it.

use std::sync::LazyLock;

/// The version.
pub fn short() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The version and the features built in.
pub fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let features = ddelm::FEATURES.map(|(name, built)| format!("{}{name}", if built { '+' } else { '-' }));
        format!("{}\nfeatures: {}", short(), features.join(" "))
    });
    &TEXT
}
