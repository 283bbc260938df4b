//! Text from files, such that a terminal shows it and does nothing else.

use std::borrow::Cow;

/// The text with every character written out that a terminal would obey instead of showing it: control characters but for
/// ends of lines and tabs, and those that change the direction of writing.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            _ if is_harmless(c) => shown.push(c),
            '\r' if text[at..].starts_with("\r\n") => shown.push(c),
            _ => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

fn is_harmless(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(printable("a\tb\nsin(\u{3c0})\r\n"), "a\tb\nsin(\u{3c0})\r\n");
        assert_eq!(printable("\u{1b}[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(printable("a\rb\u{9b}2J\u{202e}c"), "a\\u{d}b\\u{9b}2J\\u{202e}c");
    }
}
