//! What stands for archives in a build without the feature `files`: an error that says so.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, Write};

use super::Array;

/// Refuses to read.
pub fn unpack(_: impl Read + Seek, _: u64) -> io::Result<BTreeMap<String, Array>> {
    Err(refused())
}

/// Refuses to write.
pub fn pack(_: &mut (impl Write + Seek), _: &[(&str, Array)]) -> io::Result<()> {
    Err(refused())
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this build has no archives (feature `files`)")
}
