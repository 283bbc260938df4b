//! Reads a formula: tokens to a tape.
//!
//! The parser is of Pratt's kind: an operator carries a left and a right binding power, and an operand goes to the
//! neighbour that binds it more strongly. Every token knows its place in the text, for the messages.

use std::ops::Range;

use super::FormulaError;
use super::builder::Builder;
use super::function::{Binary, FUNCTIONS, Function, Unary};
use super::names::Names;
use super::spelling::nearest;
use super::tape::{Id, Tape, Variable};
use super::token::{Kind, Token, tokens};

/// Names of what is not a function.
pub(super) const VALUES: [&str; 8] = ["x", "y", "pi", "e", "t", "u", "ux", "uy"];

/// How deep parentheses, calls, signs and powers may be nested, so that the stack is never used up.
const DEEPEST: usize = 200;

/// Operations on a tape, at most, once functions are written out: each may double what it calls.
const LONGEST: usize = 20_000;

/// The binding power of a sign: above a product, below a power, so that -x^2 is -(x^2).
const SIGN_POWER: u8 = 11;

/// A formula that was read.
pub(super) struct Reading {
    /// Its tape, with the values of parameters.
    pub tape: Tape,
    /// Its tape with parameters as variables, if it has any.
    pub open: Option<Box<Tape>>,
}

/// Reads a formula.
pub(super) fn parse(text: &str, names: &Names) -> Result<Reading, FormulaError> {
    let tokens = tokens(text)?;
    let read = |open: bool| -> Parsed<(Tape, bool)> {
        let tokens = tokens.clone();
        let mut parser =
            Parser { text, tokens, at: 0, depth: 0, names, open, has_parameters: false, tape: Builder::default() };
        let root = parser.formula()?;
        Ok((parser.tape.finish(root), parser.has_parameters))
    };
    let (tape, has_parameters) = read(false)?;
    let open = if has_parameters { Some(Box::new(read(true)?.0)) } else { None };
    Ok(Reading { tape, open })
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    names: &'a Names,
    /// Whether parameters are variables.
    open: bool,
    has_parameters: bool,
    tape: Builder,
}

type Parsed<T> = Result<T, FormulaError>;

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    /// The next token. The end is never passed.
    fn advance(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// The whole text.
    fn formula(&mut self) -> Parsed<Id> {
        if self.peek().kind == Kind::End {
            let error = self.error(0..self.text.len(), "the formula is empty");
            return Err(error.hint("write a number, or an expression in x and y"));
        }
        let root = self.expression(0)?;
        let token = self.peek();
        match token.kind {
            Kind::End => Ok(root),
            Kind::Close => Err(self.error(token.span(), "this `)` closes nothing")),
            _ => Err(self.stray_comma()),
        }
    }

    /// Operands joined by operators that bind at least with `power`.
    fn expression(&mut self, power: u8) -> Parsed<Id> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let error = self.error(self.peek().span(), format!("nested more than {DEEPEST} levels deep"));
            return Err(error.hint("leave out parentheses that are not needed"));
        }
        let mut left = self.operand()?;
        while let Some((left_power, right_power)) = self.infix()? {
            if left_power < power {
                break;
            }
            let operator = self.advance();
            let right = self.expression(right_power)?;
            left = self.operation(operator, left, right);
            let next = self.peek();
            if operator.is_comparison() && next.is_comparison() {
                let error = self.error(next.span(), "comparisons cannot be chained");
                return Err(error.hint("write `a < b && b < c`"));
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operation(&mut self, operator: Token, left: Id, right: Id) -> Id {
        let (f, left, right) = match operator.kind {
            Kind::Plus => (Binary::Add, left, right),
            Kind::Minus => (Binary::Subtract, left, right),
            Kind::Times => (Binary::Multiply, left, right),
            Kind::Over => (Binary::Divide, left, right),
            Kind::Power => (Binary::Power, left, right),
            Kind::Less => (Binary::Less, left, right),
            Kind::AtMost => (Binary::AtMost, left, right),
            Kind::Greater => (Binary::Less, right, left),
            Kind::AtLeast => (Binary::AtMost, right, left),
            Kind::Equal => (Binary::Equal, left, right),
            Kind::Unequal => (Binary::Unequal, left, right),
            Kind::And => (Binary::And, left, right),
            Kind::Or => (Binary::Or, left, right),
            Kind::Number(_) | Kind::Name | Kind::Not | Kind::Open | Kind::Close | Kind::Comma | Kind::End => {
                unreachable!("only operators have a binding power")
            }
        };
        self.tape.binary(f, left, right)
    }

    /// The binding powers of the operator after an operand, if there is one.
    fn infix(&self) -> Parsed<Option<(u8, u8)>> {
        let (before, token) = (self.tokens[self.at - 1], self.peek());
        if !token.starts_operand() {
            return Ok(token.infix());
        }
        let error = self.error(token.span(), format!("expected an operator, found {}", self.found(token)));
        match &self.text[token.span()] {
            "and" => return Err(error.hint("write `&&`")),
            "or" => return Err(error.hint("write `||`")),
            _ => (),
        }
        match (before.kind, token.kind) {
            (Kind::Number(_), Kind::Number(_)) => Err(error),
            _ => Err(error.hint(format!("write `{}*{}`", self.outline(before), self.outline(token)))),
        }
    }

    /// A number, a name, a call, an operand with a sign or an expression in parentheses.
    fn operand(&mut self) -> Parsed<Id> {
        let token = self.advance();
        match token.kind {
            Kind::Number(value) => Ok(self.tape.constant(value)),
            Kind::Name => self.name(token),
            Kind::Plus => self.expression(SIGN_POWER),
            Kind::Minus => {
                let operand = self.expression(SIGN_POWER)?;
                Ok(self.tape.unary(Unary::Negate, operand))
            }
            Kind::Not => {
                let operand = self.expression(SIGN_POWER)?;
                Ok(self.tape.unary(Unary::Not, operand))
            }
            Kind::Open => {
                let inner = self.expression(0)?;
                match self.peek().kind {
                    Kind::Close => self.advance(),
                    Kind::Comma => return Err(self.stray_comma()),
                    _ => return Err(self.not_closed(token)),
                };
                Ok(inner)
            }
            _ => {
                let message = format!("expected a number, a name or `(`, found {}", self.found(token));
                Err(self.error(token.span(), message))
            }
        }
    }

    fn name(&mut self, token: Token) -> Parsed<Id> {
        let name = &self.text[token.span()];
        match name {
            "x" => return Ok(self.tape.variable(Variable::X)),
            "y" => return Ok(self.tape.variable(Variable::Y)),
            "t" => return self.variable(token, Variable::T),
            "u" => return self.variable(token, Variable::U),
            "ux" => return self.variable(token, Variable::Ux),
            "uy" => return self.variable(token, Variable::Uy),
            "pi" => return Ok(self.tape.constant(std::f64::consts::PI)),
            "e" => return Ok(self.tape.constant(std::f64::consts::E)),
            _ => (),
        }
        if let Some(function) = Function::named(name) {
            return match function {
                Function::Unary(f) => {
                    let [a] = self.arguments(token, "x")?;
                    Ok(self.tape.unary(f, a))
                }
                Function::Binary(f) => {
                    let [a, b] = self.arguments(token, "x, y")?;
                    Ok(self.tape.binary(f, a, b))
                }
                Function::Clamp => {
                    let [v, low, high] = self.arguments(token, "x, low, high")?;
                    let above = self.tape.binary(Binary::Max, v, low);
                    Ok(self.tape.binary(Binary::Min, above, high))
                }
                Function::If => {
                    let [condition, a, b] = self.arguments(token, "condition, a, b")?;
                    Ok(self.tape.select(condition, a, b))
                }
            };
        }
        let names = self.names;
        if let Some(&value) = names.parameters.get(name) {
            self.has_parameters = true;
            return Ok(if self.open { self.tape.parameter(name, value) } else { self.tape.constant(value) });
        }
        if let Some(field) = names.fields.get(name) {
            let [a, b] = self.place(token)?;
            return Ok(self.tape.field(field, a, b));
        }
        if let Some(function) = names.functions.get(name) {
            let [a, b] = self.place(token)?;
            self.has_parameters |= function.open.is_some();
            let tape = function.open.as_deref().filter(|_| self.open).unwrap_or(&function.tape);
            if self.tape.len() + tape.ops.len() > LONGEST {
                let message = format!("with `{name}` written out, the formula has more than {LONGEST} operations");
                return Err(self.error(token.span(), message).hint("use fewer functions inside of functions"));
            }
            return Ok(self.tape.inline(tape, a, b));
        }
        Err(self.unknown_name(token))
    }

    /// The time or the solution, where there is one.
    fn variable(&mut self, token: Token, variable: Variable) -> Parsed<Id> {
        let (allowed, is_what) = match variable {
            Variable::T => (self.names.variables.time, "the time, and there is none"),
            _ => (self.names.variables.state, "the solution or its gradient, which is not known"),
        };
        if allowed {
            return Ok(self.tape.variable(variable));
        }
        let error = self.error(token.span(), format!("`{}` is {is_what} here", &self.text[token.span()]));
        let known = self.names.variables.names().join(", ");
        Err(error.hint(format!("this formula may use {known}, and names from [parameters], [functions] and [fields]")))
    }

    /// Where a function of the user is asked: at its arguments, or at (x, y) where there are none.
    fn place(&mut self, name: Token) -> Parsed<[Id; 2]> {
        if self.peek().kind == Kind::Open {
            return self.arguments(name, "x, y");
        }
        Ok([Variable::X, Variable::Y].map(|variable| self.tape.variable(variable)))
    }

    /// The arguments of the function whose name was read; `example` shows what they look like.
    fn arguments<const N: usize>(&mut self, name: Token, example: &str) -> Parsed<[Id; N]> {
        let text = &self.text[name.span()];
        let hint = format!("write `{text}({example})`");
        let open = self.peek();
        if open.kind != Kind::Open {
            return Err(self.error(name.span(), format!("`{text}` is a function")).hint(hint));
        }
        self.advance();
        let mut arguments = Vec::new();
        if self.peek().kind != Kind::Close {
            arguments.push(self.expression(0)?);
            while self.peek().kind == Kind::Comma {
                self.advance();
                arguments.push(self.expression(0)?);
            }
        }
        let close = self.advance();
        if close.kind != Kind::Close {
            return Err(self.not_closed(open));
        }
        arguments.try_into().map_err(|found: Vec<Id>| {
            let plural = if N == 1 { "" } else { "s" };
            let message = format!("`{text}` takes {N} argument{plural}, found {}", found.len());
            self.error(name.start..close.end, message).hint(hint)
        })
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>) -> FormulaError {
        FormulaError::new(self.text, span, message)
    }

    fn not_closed(&self, open: Token) -> FormulaError {
        self.error(open.span(), "this `(` is not closed")
    }

    /// The error of a comma that is next, outside of a call.
    fn stray_comma(&self) -> FormulaError {
        let error = self.error(self.peek().span(), "a `,` can only stand between the arguments of a function");
        let (before, after) = (self.tokens[self.at - 1], self.tokens[(self.at + 1).min(self.tokens.len() - 1)]);
        match (before.kind, after.kind) {
            (Kind::Number(_), Kind::Number(_)) => {
                error.hint(format!("write `{}.{}`", &self.text[before.span()], &self.text[after.span()]))
            }
            _ => error,
        }
    }

    fn unknown_name(&self, token: Token) -> FormulaError {
        let name = &self.text[token.span()];
        let error = self.error(token.span(), format!("unknown name `{name}`"));
        match name {
            "π" => return error.hint("write `pi`"),
            "and" => return error.hint("write `&&`"),
            "or" => return error.hint("write `||`"),
            "not" => return error.hint("write `!`"),
            "where" => return error.hint("write `if(condition, a, b)`"),
            _ => (),
        }
        let functions = FUNCTIONS.iter().map(|&(name, _)| name);
        let values = self.names.variables.names().into_iter().chain(["pi", "e"]);
        match nearest(name, values.chain(functions).chain(self.names.given())) {
            Some(known) => error.hint(format!("did you mean `{known}`?")),
            None => error,
        }
    }

    /// How to name a token in a message.
    fn found(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the formula".into(),
            _ => format!("`{}`", &self.text[token.span()]),
        }
    }

    /// An operand that begins or ends with this token, in short.
    fn outline(&self, token: Token) -> String {
        let text = &self.text[token.span()];
        match token.kind {
            Kind::Open | Kind::Close => "(...)".into(),
            Kind::Name if !VALUES.contains(&text) && !self.names.parameters.contains_key(text) => {
                format!("{text}(...)")
            }
            _ => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::field;

    fn failure(text: &str) -> FormulaError {
        let mut names = Names::default();
        names.add_field("grf", field::function(|x, y| x + y)).unwrap();
        names.add_parameter("kappa", 2.0).unwrap();
        match parse(text, &names) {
            Ok(_) => panic!("`{text}` is read"),
            Err(error) => error,
        }
    }

    #[test]
    fn problems_have_a_place_a_message_and_a_hint() {
        let cases = [
            // The place is marked under the formula.
            ("sine(x)", "^^^^", "unknown name `sine`", "did you mean `sin`?"),
            ("1 + gfr(x, y)", "    ^^^", "unknown name `gfr`", "did you mean `grf`?"),
            ("2*potato", "  ^^^^^^", "unknown name `potato`", ""),
            ("2x", " ^", "expected an operator, found `x`", "write `2*x`"),
            ("2 sin(x)", "  ^^^", "expected an operator, found `sin`", "write `2*sin(...)`"),
            ("x(y+1)", " ^", "expected an operator, found `(`", "write `x*(...)`"),
            ("(x+1)(y+1)", "     ^", "expected an operator, found `(`", "write `(...)*(...)`"),
            ("2e", " ^", "expected an operator, found `e`", "write `2*e`"),
            ("1.2.3", "   ^^", "expected an operator, found `.3`", ""),
            ("x + ", "    ", "expected a number, a name or `(`, found the end of the formula", ""),
            ("x + * y", "    ^", "expected a number, a name or `(`, found `*`", ""),
            ("()", " ^", "expected a number, a name or `(`, found `)`", ""),
            ("2*(x + (y", "       ^", "this `(` is not closed", ""),
            ("sin(x", "   ^", "this `(` is not closed", ""),
            ("x + 1)", "     ^", "this `)` closes nothing", ""),
            ("1,5", " ^", "a `,` can only stand between the arguments of a function", "write `1.5`"),
            ("(x, y)", "  ^", "a `,` can only stand between the arguments of a function", ""),
            ("1 + sin(x, y)", "    ^^^^^^^^^", "`sin` takes 1 argument, found 2", "write `sin(x)`"),
            ("atan2()", "^^^^^^^", "`atan2` takes 2 arguments, found 0", "write `atan2(x, y)`"),
            ("grf(x)", "^^^^^^", "`grf` takes 2 arguments, found 1", "write `grf(x, y)`"),
            ("2 kappa", "  ^^^^^", "expected an operator, found `kappa`", "write `2*kappa`"),
            ("kapa", "^^^^", "unknown name `kapa`", "did you mean `kappa`?"),
            ("if(x < 1, 2)", "^^^^^^^^^^^^", "`if` takes 3 arguments, found 2", "write `if(condition, a, b)`"),
            ("clamp x", "^^^^^", "`clamp` is a function", "write `clamp(x, low, high)`"),
            ("0 < x < 1", "      ^", "comparisons cannot be chained", "write `a < b && b < c`"),
            ("x = 1", "  ^", "unexpected character `=`", "write `==` to compare"),
            ("x & y", "  ^", "unexpected character `&`", "write `&&`"),
            ("x and y", "  ^^^", "expected an operator, found `and`", "write `&&`"),
            ("not(x)", "^^^", "unknown name `not`", "write `!`"),
            ("x <", "   ", "expected a number, a name or `(`, found the end of the formula", ""),
            (
                "1 + t",
                "    ^",
                "`t` is the time, and there is none here",
                "this formula may use x, y, and names from [parameters], [functions] and [fields]",
            ),
            (
                "sin(ux)",
                "    ^^",
                "`ux` is the solution or its gradient, which is not known here",
                "this formula may use x, y, and names from [parameters], [functions] and [fields]",
            ),
            ("sin x", "^^^", "`sin` is a function", "write `sin(x)`"),
            ("sin(x,)", "      ^", "expected a number, a name or `(`, found `)`", ""),
            ("", "", "the formula is empty", "write a number, or an expression in x and y"),
            ("  ", "^^", "the formula is empty", "write a number, or an expression in x and y"),
            ("1e999", "^^^^^", "the number is too large", ""),
            ("x @ y", "  ^", "unexpected character `@`", ""),
            ("np.sin(x)", "  ^", "unexpected character `.`", "functions are called without a module: `sin(x)`"),
            ("x²", " ^", "unexpected character `²`", "write `^2`"),
            ("2*π", "  ^", "unknown name `π`", "write `pi`"),
            ("äöü + ß", "^^^", "unknown name `äöü`", ""),
            ("x − 1", "  ^", "unexpected character `−`", "write `-`"),
        ];
        for (text, mark, message, hint) in cases {
            let error = failure(text);
            let columns = |bytes: Range<usize>| text[bytes].chars().count();
            let found = " ".repeat(columns(0..error.span.start)) + &"^".repeat(columns(error.span.clone()));
            assert_eq!(found, mark, "`{text}`");
            assert_eq!(error.message, message, "`{text}`");
            assert_eq!(error.hint.as_deref().unwrap_or(""), hint, "`{text}`");
            assert_eq!(error.formula, text);
        }
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(failure("2*π + sine(x)").to_string(), "unknown name `π` (column 3)");
        assert_eq!(failure("x + 1 ÷ 2").to_string(), "unexpected character `÷` (column 7)");
        assert_eq!(
            failure("x +").to_string(),
            "expected a number, a name or `(`, found the end of the formula (column 4)"
        );
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let many = 100_000;
        let texts = [
            "(".repeat(many),
            "(".repeat(many) + "x" + &")".repeat(many),
            "-".repeat(many) + "x",
            "x^".repeat(many) + "x",
            "sin(".repeat(many) + "x",
        ];
        for text in texts {
            let error = failure(&text);
            assert_eq!(error.message, "nested more than 200 levels deep");
            assert!(error.span.end < 2000);
        }
    }

    #[test]
    fn long_formulas_are_read() {
        let deep = "(".repeat(190) + "x" + &")".repeat(190);
        let wide = "x".to_owned() + &" + sin(x)*y".repeat(10_000);
        for text in [deep, wide] {
            assert!(parse(&text, &Names::default()).is_ok());
        }
    }

    /// Reads a text, and checks the place of the error if there is one.
    fn read_anything(text: &str) -> Result<(), TestCaseError> {
        if let Err(error) = parse(text, &Names::default()) {
            prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error.span);
            prop_assert!(!error.to_string().is_empty());
        }
        Ok(())
    }

    const WORDS: [&str; 36] = [
        "x", "y", "pi", "e", "1", ".5", "2e-3", "1e", ".", "sin", "atan2", "sni", "(", ")", ",", "+", "-", "*", "/",
        "^", "**", " ", "²", "é", "<", ">=", "==", "!", "=", "&&", "|", "||", "if", "clamp", "t", "ux",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            read_anything(&text)?;
        }

        #[test]
        fn no_text_of_tokens_panics(
            words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..20)
        ) {
            read_anything(&words.concat())?;
        }
    }
}
