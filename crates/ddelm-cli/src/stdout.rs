//! Standard output, where results go.

use std::io::{self, Write};

use ddelm::Error;

use crate::failure::Failure;

/// Prints a result. A reader that has seen enough (`ddelm ... | head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::from(Error::Write {
            path: "standard output".into(),
            problem: format!("cannot write: {error}"),
            hint: String::new(),
        })),
        _ => Ok(()),
    }
}
