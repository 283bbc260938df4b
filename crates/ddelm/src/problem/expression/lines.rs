//! Straight lines along which a formula jumps or has a kink.
//!
//! `if(x + 0.3*y > 0.7, 100, 1)` changes where its comparison does. What is compared is followed through the tape as
//! `a x + b y + c` for as long as it is that; a difference of two such numbers vanishes along a line. The same holds for the operands
//! of `abs`, `sign`, `step`, `min` and `max`.

use super::builder::Builder;
use super::function::{Binary, Unary};
use super::tape::{Id, Op, Tape, Variable};

/// `a x + b y + c`, by its three numbers.
type Linear = [f64; 3];

impl Tape {
    /// The lines `a x + b y + c = 0` along which the formula may jump or have a kink.
    pub(super) fn lines(&self) -> Vec<Linear> {
        let known = self.linear_operations();
        self.ops.iter().filter_map(|&op| changes_at(op, &known)).collect()
    }

    /// The formula as it is on the side of all of its lines that a point lies on: comparisons are what they are there.
    pub(super) fn beside(&self, [x, y]: [f64; 2]) -> Tape {
        let known = self.linear_operations();
        let mut tape = Builder::default();
        let mut places: Vec<Id> = Vec::with_capacity(self.ops.len());
        for &op in &self.ops {
            let side = changes_at(op, &known).map(|[a, b, c]| a * x + b * y + c).filter(|side| *side != 0.0);
            let new = op.with_operands(|operand| places[operand]);
            let place = match (new, side) {
                (Op::Unary(Unary::Abs, a), Some(side)) if side > 0.0 => a,
                (Op::Unary(Unary::Abs, a), Some(_)) => tape.unary(Unary::Negate, a),
                (Op::Unary(Unary::Sign, _), Some(side)) => tape.constant(side.signum()),
                (Op::Unary(Unary::Step, _), Some(side)) => tape.constant(f64::from(u8::from(side > 0.0))),
                (Op::Binary(Binary::Less | Binary::AtMost, ..), Some(side)) => {
                    tape.constant(f64::from(u8::from(side < 0.0)))
                }
                (Op::Binary(Binary::Min, a, b), Some(side)) => {
                    if side < 0.0 {
                        a
                    } else {
                        b
                    }
                }
                (Op::Binary(Binary::Max, a, b), Some(side)) => {
                    if side > 0.0 {
                        a
                    } else {
                        b
                    }
                }
                _ => tape.again(self, new),
            };
            places.push(place);
        }
        tape.finish(places[places.len() - 1])
    }

    /// The operations that are linear functions of x and y.
    fn linear_operations(&self) -> Vec<Option<Linear>> {
        let mut known: Vec<Option<Linear>> = Vec::with_capacity(self.ops.len());
        for &op in &self.ops {
            known.push(self.linear(op, &known));
        }
        known
    }

    /// An operation as a linear function of x and y, if it is one of operands that are.
    fn linear(&self, op: Op, known: &[Option<Linear>]) -> Option<Linear> {
        let scaled = |of: Linear, by: f64| of.map(|v| by * v);
        Some(match op {
            Op::Constant(bits) => [0.0, 0.0, f64::from_bits(bits)],
            Op::Variable(Variable::X) => [1.0, 0.0, 0.0],
            Op::Variable(Variable::Y) => [0.0, 1.0, 0.0],
            Op::Variable(Variable::Parameter(index)) => [0.0, 0.0, self.parameters[index].1],
            Op::Unary(Unary::Negate, a) => scaled(known[a]?, -1.0),
            Op::Binary(Binary::Add, a, b) => difference(known[a]?, scaled(known[b]?, -1.0)),
            Op::Binary(Binary::Subtract, a, b) => difference(known[a]?, known[b]?),
            Op::Binary(Binary::Multiply, a, b) => match (known[a]?, known[b]?) {
                ([0.0, 0.0, by], of) | (of, [0.0, 0.0, by]) => scaled(of, by),
                _ => return None,
            },
            Op::Binary(Binary::Divide, a, b) => match known[b]? {
                [0.0, 0.0, by] => known[a]?.map(|v| v / by),
                _ => return None,
            },
            _ => return None,
        })
        .filter(|of: &Linear| of.iter().all(|v| v.is_finite()))
    }
}

/// What vanishes where an operation jumps or has a kink, if it is known to be a line.
fn changes_at(op: Op, known: &[Option<Linear>]) -> Option<Linear> {
    let line = match op {
        Op::Unary(Unary::Abs | Unary::Sign | Unary::Step, a) => known[a],
        Op::Binary(Binary::Less | Binary::AtMost | Binary::Min | Binary::Max, a, b) => {
            known[a].zip(known[b]).map(|(a, b)| difference(a, b))
        }
        _ => None,
    };
    line.filter(|[a, b, _]| *a != 0.0 || *b != 0.0)
}

fn difference(a: Linear, b: Linear) -> Linear {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[cfg(test)]
mod tests {
    use crate::problem::expression::{Formula, Names};
    use crate::problem::field::{Field, Samples};

    #[test]
    fn formulas_know_the_lines_along_which_they_change() {
        for (text, expected) in [
            ("if(x + 0.5*y > 0.75, 100, 1)", vec![[-1.0, -0.5, 0.75]]),
            ("abs(2*x - 1) + sin(y)", vec![[2.0, 0.0, -1.0]]),
            ("1 + step(y - x)*x^2", vec![[-1.0, 1.0, 0.0]]),
            ("max(0, (x - 0.5*(y + 1))/2)^1.5", vec![[-0.5, 0.25, 0.25]]),
            ("if(x < 0.25 && y < 0.5, 1, 2)", vec![[1.0, 0.0, -0.25], [0.0, 1.0, -0.5]]),
            // A circle is no line, and a comparison of numbers none, either.
            ("if(x^2 + y^2 < 1, 1, 2) + max(1, 2)", vec![]),
            ("floor(3*x)", vec![]),
        ] {
            assert_eq!(Formula::parse(text).unwrap().lines(), expected, "{text}");
        }
    }

    #[test]
    fn on_one_side_of_its_lines_a_formula_is_another_one() {
        let beside = |text: &str, at: [f64; 2]| Formula::parse(text).unwrap().beside(at).unwrap();
        let text = "if(x + y > 1, 100, max(x, y)) + abs(y - 2*x) + step(x)";
        assert_eq!(beside("if(x + y > 1, 100, 1)", [0.9, 0.9]).constant(), Some(100.0));
        for at in [[0.9, 0.8], [0.1, 0.8], [0.4, 0.1], [-0.5, 0.2]] {
            let (same, field) = (beside(text, at), Formula::parse(text).unwrap());
            assert!(same.lines().is_empty());
            let value = |of: &dyn Field, [x, y]: [f64; 2]| {
                let mut out = [0.0];
                of.values(&Samples::at(&[x], &[y]), &mut out).unwrap();
                out[0]
            };
            assert_eq!(value(same.as_ref(), at), value(&field, at));
        }
        // The parameters of a formula stay what they are.
        let names = Names { parameters: [("k".to_string(), 2.0)].into(), ..Names::default() };
        let formula = Formula::parse_in("if(x < 0.5, k, 1)", &names).unwrap().beside([0.1, 0.1]).unwrap();
        assert_eq!(formula.parameter_value("k"), Some(2.0));
    }
}
