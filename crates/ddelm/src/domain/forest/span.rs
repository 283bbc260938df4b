//! Parts of sides.

/// Which part of a side a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Span {
    /// All of it.
    Whole,
    /// The first half, counter-clockwise.
    First,
    /// The second half.
    Second,
    /// A smaller part, of an element that will be cut into rings: subdomains have none.
    Part {
        /// Into `2^level` parts the side is cut, at least four.
        level: u32,
        /// Which of them, counter-clockwise.
        index: u64,
    },
}

impl Span {
    /// One of `2^level` equal parts, counter-clockwise.
    pub(super) fn part(level: u32, index: u64) -> Self {
        match (level, index) {
            (0, _) => Span::Whole,
            (1, 0) => Span::First,
            (1, _) => Span::Second,
            _ => Span::Part { level, index },
        }
    }

    /// The parameter of the side at parameter t of the piece.
    pub fn along(self, t: f64) -> f64 {
        match self {
            Span::Whole => t,
            Span::First => 0.5 * t,
            Span::Second => 0.5 + 0.5 * t,
            Span::Part { index, .. } => self.length() * (index as f64 + t),
        }
    }

    /// The part of the side.
    pub fn length(self) -> f64 {
        match self {
            Span::Whole => 1.0,
            Span::First | Span::Second => 0.5,
            Span::Part { level, .. } => 1.0 / (1u64 << level) as f64,
        }
    }

    /// Whether it begins where the side does.
    pub fn begins(self) -> bool {
        self.along(0.0) == 0.0
    }

    /// Whether it ends where the side does.
    pub fn ends(self) -> bool {
        self.along(1.0) == 1.0
    }
}
