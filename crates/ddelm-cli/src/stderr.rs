//! Standard error, where everything goes that is not a result.

use std::fmt::Display;
use std::io::Write;

use crate::printable::printable;

/// Says something. What a file or an argument brought along cannot steer the terminal.
pub fn say(text: impl Display) {
    say_styled(printable(&text.to_string()));
}

/// Says something with colours. Where nobody can listen, because the disk is full or the other end closed, nothing is lost:
/// results go elsewhere.
pub fn say_styled(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
