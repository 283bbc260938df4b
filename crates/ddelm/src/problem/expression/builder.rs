//! How a tape is written.

use std::collections::HashMap;
use std::f64::consts::E;

use crate::problem::field::FieldRef;

use super::function::{Binary, Unary};
use super::tape::{Id, Op, Tape, Variable};

/// Writes a tape: computes with constants at once, and keeps one copy of equal operations.
#[derive(Default)]
pub(super) struct Builder {
    ops: Vec<Op>,
    known: HashMap<Op, Id>,
    fields: Vec<FieldRef>,
    parameters: Vec<(String, f64)>,
}

impl Builder {
    /// How many operations there are by now.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    pub(super) fn constant(&mut self, value: f64) -> Id {
        self.push(Op::Constant(value.to_bits()))
    }

    pub(super) fn variable(&mut self, variable: Variable) -> Id {
        self.push(Op::Variable(variable))
    }

    /// A parameter as a variable, to take derivatives in it.
    pub(super) fn parameter(&mut self, name: &str, value: f64) -> Id {
        let known = self.parameters.iter().position(|(known, _)| known == name);
        let index = known.unwrap_or_else(|| {
            self.parameters.push((name.into(), value));
            self.parameters.len() - 1
        });
        self.variable(Variable::Parameter(index))
    }

    pub(super) fn unary(&mut self, f: Unary, a: Id) -> Id {
        let Some(a) = self.value(a) else {
            return self.push(Op::Unary(f, a));
        };
        let mut value = [0.0];
        f.values(&[a], &mut value);
        self.constant(value[0])
    }

    pub(super) fn binary(&mut self, f: Binary, a: Id, b: Id) -> Id {
        if let (Some(a), Some(b)) = (self.value(a), self.value(b)) {
            let mut value = [0.0];
            f.values(&[a], &[b], &mut value);
            return self.constant(value[0]);
        }
        match f {
            Binary::Power => self.power(a, b),
            Binary::Add | Binary::Multiply => self.push(Op::Binary(f, a.min(b), a.max(b))),
            _ => self.push(Op::Binary(f, a, b)),
        }
    }

    /// a where the condition is not zero, and otherwise b.
    pub(super) fn select(&mut self, condition: Id, a: Id, b: Id) -> Id {
        match self.value(condition) {
            Some(value) if value.is_nan() => condition,
            Some(value) => {
                if value != 0.0 {
                    a
                } else {
                    b
                }
            }
            None => self.push(Op::If(condition, a, b)),
        }
    }

    /// A user's field at the point (a, b).
    pub(super) fn field(&mut self, field: &FieldRef, a: Id, b: Id) -> Id {
        if let Some(value) = field.constant() {
            return self.constant(value);
        }
        let known = self.fields.iter().position(|known| std::sync::Arc::ptr_eq(known, field));
        let index = known.unwrap_or_else(|| {
            self.fields.push(field.clone());
            self.fields.len() - 1
        });
        self.push(Op::Field(index, a, b))
    }

    /// The operations of another tape at the point (x, y), so that its derivatives are exact here, too.
    pub(super) fn inline(&mut self, tape: &Tape, x: Id, y: Id) -> Id {
        let mut places = Vec::with_capacity(tape.ops.len());
        for &op in &tape.ops {
            let place = match op {
                Op::Variable(Variable::X) => x,
                Op::Variable(Variable::Y) => y,
                op => self.again(tape, op.with_operands(|operand| places[operand])),
            };
            places.push(place);
        }
        places[places.len() - 1]
    }

    /// An operation of another tape, with operands on this one.
    pub(super) fn again(&mut self, tape: &Tape, op: Op) -> Id {
        match op {
            Op::Variable(Variable::Parameter(index)) => {
                let (name, value) = &tape.parameters[index];
                self.parameter(name, *value)
            }
            Op::Unary(f, a) => self.unary(f, a),
            Op::Binary(f, a, b) => self.binary(f, a, b),
            Op::If(c, a, b) => self.select(c, a, b),
            Op::Field(f, a, b) => self.field(&tape.fields[f], a, b),
            op @ (Op::Constant(_) | Op::Variable(_)) => self.push(op),
        }
    }

    /// a^b. Small integer powers become products, which are fast and right for negative a.
    fn power(&mut self, a: Id, b: Id) -> Id {
        const LARGEST_PRODUCT: f64 = 16.0;
        match (self.value(a), self.value(b)) {
            (_, Some(n)) if n.fract() == 0.0 && n.abs() <= LARGEST_PRODUCT => {
                let product = self.product(a, n.abs() as u32);
                if n >= 0.0 {
                    return product;
                }
                let one = self.constant(1.0);
                self.binary(Binary::Divide, one, product)
            }
            (_, Some(0.5)) => self.unary(Unary::Sqrt, a),
            (Some(E), _) => self.unary(Unary::Exp, b),
            (Some(2.0), _) => self.unary(Unary::Exp2, b),
            _ => self.push(Op::Binary(Binary::Power, a, b)),
        }
    }

    /// a^n by repeated squaring.
    fn product(&mut self, a: Id, n: u32) -> Id {
        match n {
            0 => self.constant(1.0),
            1 => a,
            _ => {
                let root = self.product(a, n / 2);
                let square = self.binary(Binary::Multiply, root, root);
                if n.is_multiple_of(2) { square } else { self.binary(Binary::Multiply, square, a) }
            }
        }
    }

    /// The value of a constant.
    fn value(&self, id: Id) -> Option<f64> {
        match self.ops[id] {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn push(&mut self, op: Op) -> Id {
        if let Some(&id) = self.known.get(&op) {
            return id;
        }
        let id = self.ops.len();
        self.ops.push(op);
        self.known.insert(op, id);
        id
    }

    /// The tape that ends with `root`, without the operations that it does not need.
    pub(super) fn finish(self, root: Id) -> Tape {
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for id in (0..=root).rev() {
            if needed[id] {
                self.ops[id].with_operands(|operand| {
                    needed[operand] = true;
                    operand
                });
            }
        }
        let mut places = vec![0; root + 1];
        let mut ops = Vec::new();
        for id in (0..=root).filter(|&id| needed[id]) {
            places[id] = ops.len();
            ops.push(self.ops[id].with_operands(|operand| places[operand]));
        }
        Tape { ops, fields: self.fields, parameters: self.parameters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field;

    #[test]
    fn constants_are_computed_at_once() {
        let mut tape = Builder::default();
        let (two, three) = (tape.constant(2.0), tape.constant(3.0));
        let six = tape.binary(Binary::Multiply, two, three);
        let root = tape.unary(Unary::Negate, six);
        assert_eq!(tape.finish(root).constant(), Some(-6.0));
    }

    #[test]
    fn equal_operations_are_kept_once() {
        let mut tape = Builder::default();
        let (x, y) = (tape.variable(Variable::X), tape.variable(Variable::Y));
        let (xy, yx) = (tape.binary(Binary::Multiply, x, y), tape.binary(Binary::Multiply, y, x));
        assert_eq!(xy, yx);
        let (a, b) = (tape.binary(Binary::Subtract, x, y), tape.binary(Binary::Subtract, y, x));
        assert_ne!(a, b);
        let sum = tape.binary(Binary::Add, xy, yx);
        assert_eq!(tape.finish(sum).ops.len(), 4);
    }

    #[test]
    fn operations_without_use_are_left_out() {
        let mut tape = Builder::default();
        let (x, zero) = (tape.variable(Variable::X), tape.constant(0.0));
        let sine = tape.unary(Unary::Sin, x);
        let one = tape.binary(Binary::Power, sine, zero);
        let root = tape.binary(Binary::Add, x, one);
        let tape = tape.finish(root);
        assert_eq!(tape.ops.len(), 3);
        assert!(tape.ops.iter().all(|op| !matches!(op, Op::Unary(..))));
    }

    #[test]
    fn powers_become_products() {
        for (n, operations) in [(1, 1), (2, 2), (3, 3), (4, 3), (7, 5), (-2, 4)] {
            let mut tape = Builder::default();
            let (x, n) = (tape.variable(Variable::X), tape.constant(f64::from(n)));
            let root = tape.binary(Binary::Power, x, n);
            assert_eq!(tape.finish(root).ops.len(), operations, "x^{n}");
        }
    }

    #[test]
    fn constant_fields_are_constants() {
        let mut tape = Builder::default();
        let x = tape.variable(Variable::X);
        let root = tape.field(&field::constant(4.0), x, x);
        assert_eq!(tape.finish(root).constant(), Some(4.0));
    }
}
