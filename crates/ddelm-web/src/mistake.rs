//! Errors on their way to the page: message, hint, and the place in the text.

use ddelm::file::Origin;
use ddelm::{Error, ProblemFile};
use serde::Serialize;

/// What is wrong with a problem file, or with a solve.
#[derive(Debug, Serialize)]
pub struct Mistake {
    /// What happened.
    message: String,
    /// What to do.
    hint: Option<String>,
    /// Where in the text, in the units that JavaScript counts strings in.
    from: Option<usize>,
    to: Option<usize>,
}

impl Mistake {
    /// An error of a problem file, at its place where that is in the text.
    pub fn new(file: &ProblemFile, error: &Error) -> Self {
        let mut mistake = Self::plain(error);
        if let Some(place) = file.place(error).filter(|place| place.origin == Origin::File) {
            let text = file.text(Origin::File);
            let units = |byte: usize| text.get(..byte).map(|before| before.encode_utf16().count());
            (mistake.from, mistake.to) = (units(place.span.start), units(place.span.end));
        }
        mistake
    }

    /// An error without a place.
    pub fn plain(error: &Error) -> Self {
        // The column in a formula is left out: the place shows it.
        let message = match error {
            Error::Formula { key, error } => format!("{key}: {}", error.message),
            other => other.to_string(),
        };
        Mistake { message, hint: error.hint().map(str::to_owned), from: None, to: None }
    }

    /// The mistake as the page reads it.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers are JSON")
    }
}
