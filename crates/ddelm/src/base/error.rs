//! The one error type of the library.
//!
//! Running out of iterations or missing a tolerance is not an error: it is a [`Status`](crate::method::report::Status) of a
//! solution. An error means that there is no solution, and says what was wrong, where, and what to do.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use crate::base::amount::bytes;

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a field could not be evaluated: the error of the function behind it, as it was.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that the method cannot work with.
    #[error("{key} = {value}: {problem}")]
    Input {
        /// Path of the setting, as in a problem file: `discretization.points`.
        key: String,
        /// The value that was given.
        value: String,
        /// Why it cannot be used.
        problem: String,
        /// What to do instead.
        hint: String,
    },
    /// A problem file that is not TOML.
    #[error("{problem}")]
    Syntax {
        /// What was found, and what was expected.
        problem: String,
        /// The place in the file, in bytes.
        span: Range<usize>,
    },
    /// An override of a key that is not of the form `key=value`, or whose key cannot stand where it says.
    #[error("{text}: {problem}")]
    Override {
        /// The override.
        text: String,
        /// What is wrong with it.
        problem: String,
        /// What to write.
        hint: String,
    },
    /// A key that a problem file must have.
    #[error("{key} is missing")]
    MissingKey {
        /// Path of the key.
        key: String,
        /// What to write.
        hint: String,
    },
    /// A key that a problem file cannot have.
    #[error("unknown key {key}")]
    UnknownKey {
        /// Path of the key.
        key: String,
        /// The nearest known key.
        hint: String,
    },
    /// A formula that cannot be read.
    #[error("{key}: {error}")]
    Formula {
        /// Path of the setting that holds the formula.
        key: String,
        /// The formula and the place in it.
        error: FormulaError,
    },
    /// A coefficient, source or boundary value that is infinite or not a number at a collocation node.
    #[error("{quantity} is {value} at x = {x}, y = {y}{}", subdomain.map(|s| format!(" (subdomain {s})")).unwrap_or_default())]
    NotFinite {
        /// What was evaluated, as a path in a problem file: `equation.source`.
        quantity: String,
        /// The value found.
        value: f64,
        /// Where.
        x: f64,
        /// Where.
        y: f64,
        /// The subdomain that asked for it.
        subdomain: Option<usize>,
    },
    /// The problem has no unique solution.
    #[error("the problem has no unique solution: {reason}")]
    NotUnique {
        /// Why not.
        reason: String,
        /// What to add.
        hint: String,
    },
    /// A function given by the caller failed.
    #[error("{quantity}: {failure}")]
    Callback {
        /// What was evaluated.
        quantity: String,
        /// The function's own error.
        failure: Failure,
    },
    /// A computation that could not be carried out.
    #[error("{stage}: {problem}")]
    Compute {
        /// The stage of the method.
        stage: &'static str,
        /// What happened.
        problem: String,
        /// What to try.
        hint: String,
    },
    /// A solve that takes more memory than there is; see [`memory`](crate::base::memory).
    #[error(
        "the solve takes about {} of memory, {} {}",
        bytes(*needed),
        if *given { "more than the limit of" } else { "and available are" },
        bytes(*available)
    )]
    Memory {
        /// The setting that is most to blame.
        key: &'static str,
        /// Bytes that it takes, roughly.
        needed: u64,
        /// Bytes that it may take.
        available: u64,
        /// Whether that limit was given, and not found.
        given: bool,
    },
    /// A file that cannot be read.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// A file that cannot be written.
    #[error("{}: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// Another rank of a parallel run failed; it has the error and tells the user.
    #[error("rank {rank}: {problem}")]
    Elsewhere {
        /// The first rank that failed.
        rank: usize,
        /// What it says.
        problem: String,
        /// Whether the input was at fault there.
        input: bool,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A setting that the method cannot work with.
    pub fn input(
        key: impl Into<String>,
        value: impl std::fmt::Display,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Error::Input { key: key.into(), value: value.to_string(), problem: problem.into(), hint: hint.into() }
    }

    /// Names what a function of the caller's that failed was to give.
    pub fn callback(quantity: &str) -> impl Fn(Failure) -> Self {
        move |failure| Error::Callback { quantity: quantity.into(), failure }
    }

    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Input { hint, .. }
            | Error::Override { hint, .. }
            | Error::MissingKey { hint, .. }
            | Error::UnknownKey { hint, .. }
            | Error::NotUnique { hint, .. }
            | Error::Compute { hint, .. }
            | Error::File { hint, .. }
            | Error::Write { hint, .. } => Some(hint).filter(|h| !h.is_empty()).map(String::as_str),
            Error::Formula { error, .. } => error.hint.as_deref(),
            Error::NotFinite { .. } => Some("check the formula for a division by zero, a root or a logarithm there"),
            Error::Memory { given: true, .. } => Some("use fewer points or subdomains, or raise the limit"),
            Error::Memory { .. } => Some(
                "use fewer points or subdomains; discretization.max_memory = \"64 GB\" counts instead of what is available",
            ),
            Error::Syntax { .. } => Some("a problem file is TOML: key = value, [table], and formulas in quotes"),
            Error::Callback { .. } | Error::Elsewhere { .. } | Error::Interrupted => None,
        }
    }

    /// The setting that is at fault, as a path in a problem file.
    pub fn key(&self) -> Option<&str> {
        match self {
            Error::Input { key, .. }
            | Error::MissingKey { key, .. }
            | Error::UnknownKey { key, .. }
            | Error::Formula { key, .. } => Some(key),
            Error::Memory { key, .. } => Some(key),
            Error::NotUnique { .. } => Some("boundary"),
            Error::NotFinite { quantity, .. } | Error::Callback { quantity, .. } => Some(quantity),
            _ => None,
        }
    }

    /// Whether the input was at fault, and not the computation.
    pub fn is_input(&self) -> bool {
        match self {
            // The same problem fits on another machine.
            Error::Memory { .. } | Error::Compute { .. } | Error::Write { .. } | Error::Interrupted => false,
            Error::Elsewhere { input, .. } => *input,
            _ => true,
        }
    }
}

/// What is wrong with a formula, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// The formula.
    pub formula: String,
    /// The place in it, in bytes; empty at the end of the formula.
    pub span: Range<usize>,
    /// What was found, and what was expected.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl FormulaError {
    pub(crate) fn new(formula: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { formula: formula.into(), span, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The column of the place, in characters from 1.
    pub fn column(&self) -> usize {
        self.formula.char_indices().take_while(|&(byte, _)| byte < self.span.start).count() + 1
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (column {})", self.message, self.column())
    }
}

impl std::error::Error for FormulaError {}
