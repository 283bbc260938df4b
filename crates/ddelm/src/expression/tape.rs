//! A formula as a tape: the list of its operations, each after its operands, run on blocks of points.
//!
//! A block's values stay in the cache while the tape passes over them, and every operation is one loop. Gradients
//! come from the same tape by the chain rule, operation by operation (forward jets):
//! grad f(a, b) = f_a grad a + f_b grad b.

use std::collections::HashMap;
use std::f64::consts::E;

use crate::field::{Failure, FieldRef};

use super::function::{Binary, Unary};

/// A place on the tape.
pub(super) type Id = usize;

/// An operation, with its operands by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Op {
    /// A number, by its bits: so it can be compared and hashed.
    Constant(u64),
    X,
    Y,
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// The field with this index, at the point given by the operands.
    Field(usize, Id, Id),
}

impl Op {
    /// The same operation with other operands.
    fn with_operands(self, mut operand: impl FnMut(Id) -> Id) -> Self {
        match self {
            Op::Constant(_) | Op::X | Op::Y => self,
            Op::Unary(f, a) => Op::Unary(f, operand(a)),
            Op::Binary(f, a, b) => Op::Binary(f, operand(a), operand(b)),
            Op::Field(f, a, b) => Op::Field(f, operand(a), operand(b)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    op: Op,
    /// Whether the derivative in x, and that in y, can be other than zero. Those that cannot are never computed, and
    /// so do not turn into NaN as 0 times infinity.
    varies: [bool; 2],
}

/// Writes a tape: computes with constants at once, and keeps one copy of equal operations.
#[derive(Default)]
pub(super) struct Builder {
    nodes: Vec<Node>,
    known: HashMap<Op, Id>,
    fields: Vec<FieldRef>,
}

impl Builder {
    pub(super) fn constant(&mut self, value: f64) -> Id {
        self.push(Op::Constant(value.to_bits()))
    }

    pub(super) fn x(&mut self) -> Id {
        self.push(Op::X)
    }

    pub(super) fn y(&mut self) -> Id {
        self.push(Op::Y)
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
        match self.nodes[id].op {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn push(&mut self, op: Op) -> Id {
        if let Some(&id) = self.known.get(&op) {
            return id;
        }
        let mut varies = [op == Op::X, op == Op::Y];
        op.with_operands(|operand| {
            for (varies, also) in varies.iter_mut().zip(self.nodes[operand].varies) {
                *varies |= also;
            }
            operand
        });
        if matches!(op, Op::Unary(f, _) if f.is_piecewise_constant()) {
            varies = [false, false];
        }
        let id = self.nodes.len();
        self.nodes.push(Node { op, varies });
        self.known.insert(op, id);
        id
    }

    /// The tape that ends with `root`, without the operations that it does not need.
    pub(super) fn finish(self, root: Id) -> Tape {
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for id in (0..=root).rev() {
            if needed[id] {
                self.nodes[id].op.with_operands(|operand| {
                    needed[operand] = true;
                    operand
                });
            }
        }
        let mut places = vec![0; root + 1];
        let mut nodes = Vec::new();
        for id in (0..=root).filter(|&id| needed[id]) {
            places[id] = nodes.len();
            let Node { op, varies } = self.nodes[id];
            nodes.push(Node { op: op.with_operands(|operand| places[operand]), varies });
        }
        Tape { nodes, fields: self.fields }
    }
}

/// The operations of a formula in order; the last one gives its value.
#[derive(Clone)]
pub(super) struct Tape {
    nodes: Vec<Node>,
    fields: Vec<FieldRef>,
}

impl Tape {
    /// The value, if it is a constant.
    pub(super) fn constant(&self) -> Option<f64> {
        match self.nodes[..] {
            [Node { op: Op::Constant(bits), .. }] => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(super) fn values(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let mut work = Workspace::new(self, x.len(), 0);
        for ((x, y), out) in x.chunks(work.block).zip(y.chunks(work.block)).zip(out.chunks_mut(work.block)) {
            for id in 0..self.nodes.len() {
                self.value(id, x, y, &mut work)?;
            }
            out.copy_from_slice(work.last(&work.values, x.len()));
        }
        Ok(())
    }

    /// Returns `false` if a field in the formula does not know its gradient.
    pub(super) fn gradients(&self, x: &[f64], y: &[f64], dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        let mut work = Workspace::new(self, x.len(), 2);
        let targets = dx.chunks_mut(work.block).zip(dy.chunks_mut(work.block));
        for ((x, y), (dx, dy)) in x.chunks(work.block).zip(y.chunks(work.block)).zip(targets) {
            for id in 0..self.nodes.len() {
                self.value(id, x, y, &mut work)?;
                if !self.derivative(id, x.len(), &mut work)? {
                    return Ok(false);
                }
            }
            dx.copy_from_slice(work.last(&work.derivatives[0], x.len()));
            dy.copy_from_slice(work.last(&work.derivatives[1], x.len()));
        }
        Ok(true)
    }

    /// Computes the values of one operation.
    fn value(&self, id: Id, x: &[f64], y: &[f64], work: &mut Workspace) -> Result<(), Failure> {
        let (operands, out) = work.values.split_at_mut(id * work.block);
        let out = &mut out[..x.len()];
        let operand = |id: Id| &operands[id * work.block..][..x.len()];
        match self.nodes[id].op {
            Op::Constant(_) => (),
            Op::X => out.copy_from_slice(x),
            Op::Y => out.copy_from_slice(y),
            Op::Unary(f, a) => f.values(operand(a), out),
            Op::Binary(f, a, b) => f.values(operand(a), operand(b), out),
            Op::Field(f, a, b) => self.fields[f].values(operand(a), operand(b), out)?,
        }
        Ok(())
    }

    /// Computes the derivatives of one operation from its values and those of its operands.
    fn derivative(&self, id: Id, points: usize, work: &mut Workspace) -> Result<bool, Failure> {
        let Workspace { block, values, derivatives, slopes } = work;
        let value = |id: Id| &values[id * *block..][..points];
        let varies = |id: Id| self.nodes[id].varies != [false, false];
        let [left, right] = slopes;
        let (left, right) = (&mut left[..points], &mut right[..points]);
        let operands = match self.nodes[id].op {
            _ if !varies(id) => return Ok(true),
            Op::Constant(_) | Op::X | Op::Y => return Ok(true),
            Op::Unary(f, a) => {
                f.slopes(value(a), value(id), left);
                [Some((a, &*left)), None]
            }
            Op::Binary(f, a, b) => {
                if varies(a) {
                    f.left_slopes(value(a), value(b), value(id), left);
                }
                if varies(b) {
                    f.right_slopes(value(a), value(b), value(id), right);
                }
                [Some((a, &*left)), Some((b, &*right))]
            }
            Op::Field(f, a, b) => {
                if !self.fields[f].gradients(value(a), value(b), left, right)? {
                    return Ok(false);
                }
                [Some((a, &*left)), Some((b, &*right))]
            }
        };
        for (axis, derivatives) in derivatives.iter_mut().enumerate() {
            let (before, out) = derivatives.split_at_mut(id * *block);
            let out = &mut out[..points];
            out.fill(0.0);
            for (operand, slope) in operands.into_iter().flatten() {
                if self.nodes[operand].varies[axis] {
                    add_products(out, slope, &before[operand * *block..]);
                }
            }
        }
        Ok(true)
    }
}

fn add_products(out: &mut [f64], a: &[f64], b: &[f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out += a * b;
    }
}

/// The numbers of one block of points: a row for each operation.
struct Workspace {
    /// The length of a row.
    block: usize,
    values: Vec<f64>,
    /// In x and in y; both empty if there is no need for them.
    derivatives: [Vec<f64>; 2],
    /// Slopes of one operation in its operands.
    slopes: [Vec<f64>; 2],
}

impl Workspace {
    /// Rows for a tape, for its values and `axes` derivatives, with what never changes filled in.
    fn new(tape: &Tape, points: usize, axes: usize) -> Self {
        // Functions given from Python cost microseconds a call, so they get more points at a time.
        let largest = if tape.fields.is_empty() { 128 } else { 1024 };
        let block = points.clamp(1, largest);
        let size = block * tape.nodes.len();
        let mut work = Self {
            block,
            values: vec![0.0; size],
            derivatives: std::array::from_fn(|axis| vec![0.0; if axis < axes { size } else { 0 }]),
            slopes: std::array::from_fn(|axis| vec![0.0; if axis < axes { block } else { 0 }]),
        };
        for (id, node) in tape.nodes.iter().enumerate() {
            let row = id * block..(id + 1) * block;
            match node.op {
                Op::Constant(bits) => work.values[row].fill(f64::from_bits(bits)),
                Op::X if axes > 0 => work.derivatives[0][row].fill(1.0),
                Op::Y if axes > 0 => work.derivatives[1][row].fill(1.0),
                _ => (),
            }
        }
        work
    }

    /// The row of the last operation.
    fn last<'a>(&self, rows: &'a [f64], points: usize) -> &'a [f64] {
        &rows[rows.len() - self.block..][..points]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field;

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
        let (x, y) = (tape.x(), tape.y());
        let (xy, yx) = (tape.binary(Binary::Multiply, x, y), tape.binary(Binary::Multiply, y, x));
        assert_eq!(xy, yx);
        let (a, b) = (tape.binary(Binary::Subtract, x, y), tape.binary(Binary::Subtract, y, x));
        assert_ne!(a, b);
        let sum = tape.binary(Binary::Add, xy, yx);
        assert_eq!(tape.finish(sum).nodes.len(), 4);
    }

    #[test]
    fn operations_without_use_are_left_out() {
        let mut tape = Builder::default();
        let (x, zero) = (tape.x(), tape.constant(0.0));
        let sine = tape.unary(Unary::Sin, x);
        let one = tape.binary(Binary::Power, sine, zero);
        let root = tape.binary(Binary::Add, x, one);
        let tape = tape.finish(root);
        assert_eq!(tape.nodes.len(), 3);
        assert!(tape.nodes.iter().all(|node| !matches!(node.op, Op::Unary(..))));
    }

    #[test]
    fn powers_become_products() {
        for (n, operations) in [(1, 1), (2, 2), (3, 3), (4, 3), (7, 5), (-2, 4)] {
            let mut tape = Builder::default();
            let (x, n) = (tape.x(), tape.constant(f64::from(n)));
            let root = tape.binary(Binary::Power, x, n);
            assert_eq!(tape.finish(root).nodes.len(), operations, "x^{n}");
        }
    }

    #[test]
    fn constant_fields_are_constants() {
        let mut tape = Builder::default();
        let x = tape.x();
        let root = tape.field(&field::constant(4.0), x, x);
        assert_eq!(tape.finish(root).constant(), Some(4.0));
    }
}
