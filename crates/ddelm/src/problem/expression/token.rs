//! The tokens of a formula: numbers, names and signs, each with its place in the text.

use std::ops::Range;

use super::FormulaError;

/// The binding powers of a comparison.
pub(super) const COMPARISON: (u8, u8) = (5, 6);

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Name,
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
    And,
    Or,
    Not,
    Open,
    Close,
    Comma,
    End,
}

/// A token and its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub fn span(self) -> Range<usize> {
        self.start..self.end
    }

    pub fn starts_operand(self) -> bool {
        matches!(self.kind, Kind::Number(_) | Kind::Name | Kind::Open)
    }

    /// The left and right binding power of an infix operator.
    pub fn infix(self) -> Option<(u8, u8)> {
        match self.kind {
            Kind::Or => Some((1, 2)),
            Kind::And => Some((3, 4)),
            _ if self.is_comparison() => Some(COMPARISON),
            Kind::Plus | Kind::Minus => Some((7, 8)),
            Kind::Times | Kind::Over => Some((9, 10)),
            // Powers group from the right.
            Kind::Power => Some((14, 13)),
            _ => None,
        }
    }

    pub fn is_comparison(self) -> bool {
        matches!(self.kind, Kind::Less | Kind::AtMost | Kind::Greater | Kind::AtLeast | Kind::Equal | Kind::Unequal)
    }
}

/// The names in a text, with their places.
pub(super) fn names_in(text: &str) -> Result<Vec<(&str, Range<usize>)>, FormulaError> {
    let names = tokens(text)?.into_iter().filter(|token| token.kind == Kind::Name);
    Ok(names.map(|token| (&text[token.span()], token.span())).collect())
}

/// Whether a text can be used as a name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic()) && name_length(text) == text.len()
}

/// Splits a formula into tokens; the last one is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let (kind, length) = match first {
            _ if first.is_whitespace() => {
                start += first.len_utf8();
                continue;
            }
            '+' => (Kind::Plus, 1),
            '-' => (Kind::Minus, 1),
            '*' if rest.starts_with("**") => (Kind::Power, 2),
            '*' => (Kind::Times, 1),
            '/' => (Kind::Over, 1),
            '^' => (Kind::Power, 1),
            '<' if rest.starts_with("<=") => (Kind::AtMost, 2),
            '<' => (Kind::Less, 1),
            '>' if rest.starts_with(">=") => (Kind::AtLeast, 2),
            '>' => (Kind::Greater, 1),
            '=' if rest.starts_with("==") => (Kind::Equal, 2),
            '!' if rest.starts_with("!=") => (Kind::Unequal, 2),
            '!' => (Kind::Not, 1),
            '&' if rest.starts_with("&&") => (Kind::And, 2),
            '|' if rest.starts_with("||") => (Kind::Or, 2),
            '(' => (Kind::Open, 1),
            ')' => (Kind::Close, 1),
            ',' => (Kind::Comma, 1),
            _ if first == '_' || first.is_alphabetic() => (Kind::Name, name_length(rest)),
            _ => match number_length(rest) {
                0 => return Err(unexpected_character(text, start, first)),
                length => (number(text, start..start + length)?, length),
            },
        };
        tokens.push(Token { kind, start, end: start + length });
        start += length;
    }
    tokens.push(Token { kind: Kind::End, start, end: start });
    Ok(tokens)
}

fn name_length(text: &str) -> usize {
    let in_name = |c: char| c == '_' || c.is_alphabetic() || c.is_ascii_digit();
    text.find(|c| !in_name(c)).unwrap_or(text.len())
}

/// The length of the number at the start of the text, 0 if there is none.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text.as_bytes()[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    if text[length..].starts_with('.') {
        let decimals = digits(length + 1);
        if length + decimals == 0 {
            return 0;
        }
        length += 1 + decimals;
    }
    // Without digits after it, an `e` is the number e.
    if length > 0 && text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn number(text: &str, span: Range<usize>) -> Result<Kind, FormulaError> {
    match text[span.clone()].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Kind::Number(value)),
        _ => Err(FormulaError::new(text, span, "the number is too large")),
    }
}

fn unexpected_character(text: &str, start: usize, found: char) -> FormulaError {
    let error = FormulaError::new(text, start..start + found.len_utf8(), format!("unexpected character `{found}`"));
    let before = &text[..start];
    let hint = match found {
        '.' if ["np", "numpy", "math"].iter().any(|module| before.ends_with(module)) => {
            "functions are called without a module: `sin(x)`"
        }
        '=' => "write `==` to compare",
        '&' => "write `&&`",
        '|' => "write `||`, or `abs(x)`",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '?' | ':' => "write `if(condition, a, b)`",
        '%' => "write `mod(a, b)`",
        '[' | ']' | '{' | '}' => "use parentheses",
        '·' | '×' | '⋅' => "write `*`",
        '÷' => "write `/`",
        '−' | '–' => "write `-`",
        '²' => "write `^2`",
        '³' => "write `^3`",
        '√' => "write `sqrt(...)`",
        _ => return error,
    };
    error.hint(hint)
}
