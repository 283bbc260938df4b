//! A formula as a tape: the list of its operations, each after its operands, run on blocks of points.
//!
//! A block's values stay in the cache while the tape passes over them, and every operation is one loop. Derivatives
//! come from the same tape by the chain rule, operation by operation (forward mode), in any of its variables:
//! D f(a, b) = f_a D a + f_b D b. Second derivatives are in [`curvature`](super::curvature).

use std::cell::Cell;
use std::mem::take;

use crate::problem::field::{Dependence, Failure, FieldRef, Samples};

use super::function::{Binary, Unary, select};

/// A place on the tape.
pub(super) type Id = usize;

/// What a formula is a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Variable {
    X,
    Y,
    U,
    Ux,
    Uy,
    T,
    /// The parameter with this index.
    Parameter(usize),
}

/// An operation, with its operands by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Op {
    /// A number, by its bits: so it can be compared and hashed.
    Constant(u64),
    Variable(Variable),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// The second where the first is not zero, and otherwise the third.
    If(Id, Id, Id),
    /// The field with this index, at the point given by the operands.
    Field(usize, Id, Id),
}

impl Op {
    /// The same operation with other operands.
    pub(super) fn with_operands(self, mut operand: impl FnMut(Id) -> Id) -> Self {
        match self {
            Op::Constant(_) | Op::Variable(_) => self,
            Op::Unary(f, a) => Op::Unary(f, operand(a)),
            Op::Binary(f, a, b) => Op::Binary(f, operand(a), operand(b)),
            Op::If(c, a, b) => Op::If(operand(c), operand(a), operand(b)),
            Op::Field(f, a, b) => Op::Field(f, operand(a), operand(b)),
        }
    }

    /// Whether the derivative can be other than zero, given whether those of the operands can.
    fn varies(self, operand: impl Fn(Id) -> bool) -> bool {
        match self {
            Op::Constant(_) | Op::Variable(_) => false,
            Op::Unary(f, a) => !f.is_piecewise_constant() && operand(a),
            Op::Binary(f, a, b) => !f.is_piecewise_constant() && (operand(a) || operand(b)),
            Op::If(_, a, b) | Op::Field(_, a, b) => operand(a) || operand(b),
        }
    }
}

/// The operations of a formula in order; the last one gives its value.
#[derive(Clone)]
pub(super) struct Tape {
    pub(super) ops: Vec<Op>,
    pub(super) fields: Vec<FieldRef>,
    /// Names and values of the parameters that are variables.
    pub(super) parameters: Vec<(String, f64)>,
}

impl Tape {
    /// The value, if it is a constant.
    pub(super) fn constant(&self) -> Option<f64> {
        match self.ops[..] {
            [Op::Constant(bits)] => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Functions that a value takes, with those of the fields.
    pub(super) fn work(&self) -> usize {
        let of = |op: &Op| match *op {
            Op::Constant(_) | Op::Variable(_) | Op::Binary(..) | Op::If(..) => 0,
            Op::Unary(..) => 1,
            Op::Field(f, ..) => self.fields[f].work(),
        };
        1 + self.ops.iter().map(of).sum::<usize>()
    }

    /// What it depends on beside x and y, directly or through a field.
    pub(super) fn depends_on(&self) -> Dependence {
        let of = |op: &Op| match *op {
            Op::Variable(Variable::T) => Dependence { time: true, ..Dependence::default() },
            Op::Variable(Variable::U) => Dependence { state: true, ..Dependence::default() },
            Op::Variable(Variable::Ux | Variable::Uy) => {
                Dependence { state: true, slopes: true, ..Dependence::default() }
            }
            Op::Field(f, ..) => self.fields[f].depends_on(),
            _ => Dependence::default(),
        };
        self.ops.iter().map(of).fold(Dependence::default(), Dependence::or)
    }

    /// The parameters that are variables.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name.as_str())
    }

    /// The parameter of this name as a variable.
    pub(super) fn parameter(&self, name: &str) -> Option<Variable> {
        self.parameters().position(|known| known == name).map(Variable::Parameter)
    }

    /// For each operation whether its derivative in a variable can be other than zero. Those that cannot are never computed,
    /// and so do not turn into NaN as 0 times infinity.
    pub(super) fn varies(&self, variable: Variable) -> Vec<bool> {
        let mut varies = Vec::with_capacity(self.ops.len());
        for &op in &self.ops {
            let here = op == Op::Variable(variable) || op.varies(|operand: Id| varies[operand]);
            varies.push(here);
        }
        varies
    }

    pub(super) fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        let mut work = Values::new(self, at.len(), BLOCK);
        for (at, out) in at.blocks(work.block).zip(out.chunks_mut(work.block)) {
            for id in 0..self.ops.len() {
                self.value(id, &at, &mut work)?;
            }
            out.copy_from_slice(work.last(&work.rows, at.len()));
        }
        Ok(())
    }

    /// The partial derivatives in some variables. Returns `false` if a field in the formula does not know its gradient.
    pub(super) fn derivatives<const N: usize>(
        &self,
        variables: [Variable; N],
        at: &Samples<'_>,
        mut out: [&mut [f64]; N],
    ) -> Result<bool, Failure> {
        let mut work = Values::new(self, at.len(), BLOCK);
        let mut slopes = Slopes::new(work.block);
        let mut axes = variables.map(|variable| Axis::new(self, variable, work.block));
        let mut start = 0;
        for at in at.blocks(work.block) {
            for id in 0..self.ops.len() {
                self.value(id, &at, &mut work)?;
                if !self.derivative(id, &at, &work, &mut slopes, &mut axes)? {
                    return Ok(false);
                }
            }
            for (axis, out) in axes.iter().zip(&mut out) {
                out[start..][..at.len()].copy_from_slice(work.last(&axis.rows, at.len()));
            }
            start += at.len();
        }
        Ok(true)
    }

    /// Computes the values of one operation.
    pub(super) fn value(&self, id: Id, at: &Samples<'_>, work: &mut Values) -> Result<(), Failure> {
        let (operands, out) = work.rows.split_at_mut(id * work.block);
        let out = &mut out[..at.len()];
        let operand = |id: Id| &operands[id * work.block..][..at.len()];
        match self.ops[id] {
            Op::Constant(_) => (),
            Op::Variable(variable) => self.variable(variable, at, out)?,
            Op::Unary(f, a) => f.values(operand(a), out),
            Op::Binary(f, a, b) => f.values(operand(a), operand(b), out),
            Op::If(c, a, b) => select(operand(c), operand(a), operand(b), out),
            Op::Field(f, a, b) => {
                self.fields[f].values(&self.elsewhere(at, [a, b], [operand(a), operand(b)]), out)?;
            }
        }
        Ok(())
    }

    fn variable(&self, variable: Variable, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        let state = || at.state.ok_or("the formula uses the solution, and there is none here");
        match variable {
            Variable::X => out.copy_from_slice(at.x),
            Variable::Y => out.copy_from_slice(at.y),
            Variable::T => out.fill(at.t),
            Variable::U => out.copy_from_slice(state()?.u),
            Variable::Ux => out.copy_from_slice(state()?.ux),
            Variable::Uy => out.copy_from_slice(state()?.uy),
            Variable::Parameter(index) => out.fill(self.parameters[index].1),
        }
        Ok(())
    }

    /// The points that a field is asked at, given by its operands. At (x, y) itself what is known of the samples holds.
    pub(super) fn elsewhere<'a>(&self, at: &Samples<'a>, operands: [Id; 2], [x, y]: [&'a [f64]; 2]) -> Samples<'a> {
        let here = operands.map(|id| self.ops[id]) == [Variable::X, Variable::Y].map(Op::Variable);
        if here { *at } else { Samples { t: at.t, ..Samples::at(x, y) } }
    }

    /// Computes the derivatives of one operation from its values and those of its operands.
    fn derivative(
        &self,
        id: Id,
        at: &Samples<'_>,
        work: &Values,
        slopes: &mut Slopes,
        axes: &mut [Axis],
    ) -> Result<bool, Failure> {
        if !axes.iter().any(|axis| axis.varies[id]) {
            return Ok(true);
        }
        let wanted = |operand: Id| axes.iter().any(|axis| axis.varies[operand]);
        if !slopes.find(self, id, at, work, wanted)? {
            return Ok(false);
        }
        let count = at.len();
        for axis in axes {
            let (before, out) = axis.rows.split_at_mut(id * work.block);
            let out = &mut out[..count];
            let row = |operand: Id| &before[operand * work.block..][..count];
            match self.ops[id] {
                // Filled in once and for all.
                Op::Constant(_) | Op::Variable(_) => (),
                // Products with the slopes 1 and 0 would let through what is not a number in the branch that does not count.
                Op::If(c, a, b) => select(work.row(c, count), row(a), row(b), out),
                Op::Unary(_, a) => {
                    out.fill(0.0);
                    add_products(out, &slopes.left, axis.varies[a].then(|| row(a)));
                }
                Op::Binary(_, a, b) | Op::Field(_, a, b) => {
                    out.fill(0.0);
                    add_products(out, &slopes.left, axis.varies[a].then(|| row(a)));
                    add_products(out, &slopes.right, axis.varies[b].then(|| row(b)));
                }
            }
        }
        Ok(true)
    }
}

fn add_products(out: &mut [f64], a: &[f64], b: Option<&[f64]>) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b.unwrap_or_default()) {
        *out += a * b;
    }
}

/// Points that the tape passes over at a time.
const BLOCK: usize = 128;

thread_local! {
    /// Rows that are not in use: formulas are evaluated at a few points at a time, many times over.
    static SPARE: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// The values of one block of points: a row for each operation. What is not a constant is stale until it is computed.
pub(super) struct Values {
    /// The length of a row.
    pub(super) block: usize,
    rows: Vec<f64>,
}

impl Values {
    /// Rows for a tape, with the constants filled in, of at most `block` points.
    pub(super) fn new(tape: &Tape, count: usize, block: usize) -> Self {
        // Functions given from Python cost microseconds a call, so they get more points at a time.
        let largest = if tape.fields.is_empty() { block } else { 8 * block };
        let block = count.clamp(1, largest);
        let mut rows = SPARE.take();
        rows.resize(block * tape.ops.len(), 0.0);
        for (row, op) in rows.chunks_exact_mut(block).zip(&tape.ops) {
            if let Op::Constant(bits) = *op {
                row.fill(f64::from_bits(bits));
            }
        }
        Values { block, rows }
    }

    /// The row of an operation.
    pub(super) fn row(&self, id: Id, count: usize) -> &[f64] {
        &self.rows[id * self.block..][..count]
    }

    /// The row of the last operation.
    pub(super) fn last<'a>(&self, rows: &'a [f64], count: usize) -> &'a [f64] {
        &rows[rows.len() - self.block..][..count]
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        SPARE.set(take(&mut self.rows));
    }
}

/// The derivatives of one block of points in one variable: a row for each operation.
struct Axis {
    varies: Vec<bool>,
    /// Zero where nothing varies.
    rows: Vec<f64>,
}

impl Axis {
    fn new(tape: &Tape, variable: Variable, block: usize) -> Self {
        let mut rows = vec![0.0; block * tape.ops.len()];
        for (row, op) in rows.chunks_exact_mut(block).zip(&tape.ops) {
            if *op == Op::Variable(variable) {
                row.fill(1.0);
            }
        }
        Axis { varies: tape.varies(variable), rows }
    }
}

/// The slopes of one operation in its operands.
pub(super) struct Slopes {
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
}

impl Slopes {
    pub(super) fn new(block: usize) -> Self {
        Slopes { left: vec![0.0; block], right: vec![0.0; block] }
    }

    /// Finds the slopes in those operands that are wanted. Returns `false` if a field does not know them.
    pub(super) fn find(
        &mut self,
        tape: &Tape,
        id: Id,
        at: &Samples<'_>,
        work: &Values,
        wanted: impl Fn(Id) -> bool,
    ) -> Result<bool, Failure> {
        let count = at.len();
        let value = |id: Id| work.row(id, count);
        let (left, right) = (&mut self.left[..count], &mut self.right[..count]);
        match tape.ops[id] {
            Op::Constant(_) | Op::Variable(_) | Op::If(..) => (),
            Op::Unary(f, a) => f.slopes(value(a), value(id), left),
            Op::Binary(f, a, b) => {
                if wanted(a) {
                    f.left_slopes(value(a), value(b), value(id), left);
                }
                if wanted(b) {
                    f.right_slopes(value(a), value(b), value(id), right);
                }
            }
            Op::Field(f, a, b) => {
                return tape.fields[f].gradients(&tape.elsewhere(at, [a, b], [value(a), value(b)]), left, right);
            }
        }
        Ok(true)
    }
}
