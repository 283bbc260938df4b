//! Standard output, where results go.

use std::io::{self, StdoutLock, Write};

use ddelm::Error;

use crate::failure::Failure;

/// Prints a result.
pub fn print(text: &str) -> Result<(), Failure> {
    Ok(write(|out| out.write_all(text.as_bytes()))?)
}

/// Writes results. A reader that has seen enough (`ddelm ... | head`) is no failure.
pub fn write(fill: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>) -> ddelm::Result<()> {
    let mut out = io::stdout().lock();
    match fill(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Write {
            path: "standard output".into(),
            problem: format!("cannot write: {error}"),
            hint: String::new(),
        }),
        _ => Ok(()),
    }
}
