//! Numbers and sections of a mesh file, text or binary, with their places for messages.

use std::path::Path;

use crate::base::error::{Error, Result};

/// A place in a mesh file.
pub struct Scanner<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    /// Whether numbers are binary.
    pub binary: bool,
    /// Whether binary numbers have their most significant byte first.
    pub big_endian: bool,
}

impl<'a> Scanner<'a> {
    /// The start of a file.
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Scanner { path, bytes, at: 0, binary: false, big_endian: false }
    }

    /// An error at this place.
    pub fn error<T>(&self, problem: impl std::fmt::Display) -> Result<T> {
        let line = 1 + self.bytes[..self.at.min(self.bytes.len())].iter().filter(|b| **b == b'\n').count();
        let place = if self.binary { format!("byte {}", self.at) } else { format!("line {line}") };
        Err(Error::File {
            path: self.path.into(),
            problem: format!("{place}: {problem}"),
            hint: "write the mesh again, as MSH 2.2 or 4.1".into(),
        })
    }

    /// An integer: four bytes, or a word.
    pub fn int(&mut self, what: &str) -> Result<i64> {
        if self.binary { Ok(i64::from(i32::from_ne_bytes(self.raw(what)?))) } else { self.word(what) }
    }

    /// A count or a tag: eight bytes, or a word.
    pub fn size(&mut self, what: &str) -> Result<u64> {
        if self.binary { Ok(u64::from_ne_bytes(self.raw(what)?)) } else { self.word(what) }
    }

    /// A real number.
    pub fn real(&mut self, what: &str) -> Result<f64> {
        let start = self.at;
        let value = if self.binary { f64::from_ne_bytes(self.raw(what)?) } else { self.word(what)? };
        if !value.is_finite() {
            self.at = start;
            return self.error(format_args!("{what} is {value}"));
        }
        Ok(value)
    }

    /// Checks a count before memory is made for it: each of the things takes `bytes` bytes or more.
    pub fn count(&self, count: u64, bytes: usize, what: &str) -> Result<usize> {
        let room = (self.bytes.len() - self.at.min(self.bytes.len())) / bytes.max(1) + 1;
        match usize::try_from(count) {
            Ok(count) if count <= room => Ok(count),
            _ => self.error(format_args!("{count} {what}, but the file is too short for them")),
        }
    }

    /// The next word as a number, in text.
    pub fn word<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if length == 0 {
            return self.error(format_args!("the file ends where {what} should be"));
        }
        let text = String::from_utf8_lossy(&rest[..length.min(40)]).into_owned();
        match text.parse() {
            Ok(value) => {
                self.at += length;
                Ok(value)
            }
            Err(_) => self.error(format_args!("found `{text}` where {what} should be")),
        }
    }

    /// The rest of the line.
    pub fn line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        rest[..length].trim_ascii()
    }

    /// The name of the next section, and moves behind its line; `None` at the end of the file.
    pub fn section(&mut self) -> Option<String> {
        while self.at < self.bytes.len() {
            if let Some(name) = self.line().strip_prefix(b"$") {
                return Some(String::from_utf8_lossy(name).into_owned());
            }
        }
        None
    }

    /// Moves behind the end of a section.
    pub fn end(&mut self, section: &str) -> Result<()> {
        let end = format!("$End{section}");
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let found = rest.windows(end.len()).position(|w| w == end.as_bytes());
        let Some(place) = found else {
            return self.error(format_args!("there is no {end}"));
        };
        self.at += place;
        self.line();
        Ok(())
    }

    /// Checks that a section ends here, up to white space.
    pub fn expect_end(&mut self, section: &str) -> Result<()> {
        let before = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        if self.line() == format!("$End{section}").as_bytes() {
            return Ok(());
        }
        self.at = before;
        self.error(format_args!("the section {section} does not end where its counts say"))
    }

    fn raw<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let Some(bytes) = self.bytes.get(self.at..self.at + N) else {
            return self.error(format_args!("the file ends where {what} should be"));
        };
        self.at += N;
        let mut bytes: [u8; N] = bytes.try_into().expect("the slice has N bytes");
        if self.big_endian != cfg!(target_endian = "big") {
            bytes.reverse();
        }
        Ok(bytes)
    }
}
