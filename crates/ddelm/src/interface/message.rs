//! What ranks send each other.

/// Numbers for another rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// Where they go.
    pub rank: usize,
    /// The numbers.
    pub values: Vec<f64>,
    /// How many come back.
    pub answer: usize,
}
