//! Second derivatives of a formula, by the chain rule on its tape.
//!
//! `f_i = f_a a_i + f_b b_i`, and
//! `f_ij = f_aa a_i a_j + f_ab (a_i b_j + a_j b_i) + f_bb b_i b_j + f_a a_ij + f_b b_ij`
//! for each operation f(a, b) and all i, j of those of the variables (x, y, u, ux, uy) that the formula has.

use crate::problem::field::{Failure, FirstDerivatives, Jets, Samples};
use crate::problem::jets::{self, VARIABLES, pair};

use super::function::select;
use super::tape::{Id, Op, Slopes, Tape, Values, Variable};

/// Points at a time: a row has up to twenty numbers for each of them.
const BLOCK: usize = 32;

/// The variables in the order of [`Jets`].
const ORDER: [Variable; VARIABLES] = [Variable::X, Variable::Y, Variable::U, Variable::Ux, Variable::Uy];

/// Writes values, first and second derivatives. Returns `false` if a field in the formula does not know its own.
pub(super) fn jets(tape: &Tape, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
    out.reset(at.len());
    // A field that depends on u would have derivatives beside those in its operands.
    if tape.fields.iter().any(|field| field.depends_on().state) {
        return Ok(false);
    }
    let mut work = Values::new(tape, at.len(), BLOCK);
    let mut rows = Rows::new(tape, &ORDER, work.block);
    let mut start = 0;
    for at in at.blocks(work.block) {
        for id in 0..tape.ops.len() {
            tape.value(id, &at, &mut work)?;
            if !rows.step(tape, id, &at, &work)? {
                return Ok(false);
            }
        }
        let (last, here) = (tape.ops.len() - 1, start..start + at.len());
        out.value[here.clone()].copy_from_slice(work.row(last, at.len()));
        for (k, &i) in rows.active.iter().enumerate() {
            out.first[i][here.clone()].copy_from_slice(&rows.first[k][last * work.block..][..at.len()]);
            for (l, &j) in rows.active.iter().enumerate().skip(k) {
                let row = &rows.second[pair(k, l)][last * work.block..][..at.len()];
                out.second[pair(i, j)][here.clone()].copy_from_slice(row);
            }
        }
        start += at.len();
    }
    Ok(true)
}

/// Writes the second derivatives in a parameter and in each of the variables. Returns `false` if a field in the formula does not
/// know its own.
pub(super) fn mixed(
    tape: &Tape,
    parameter: Variable,
    at: &Samples<'_>,
    out: &mut FirstDerivatives,
) -> Result<bool, Failure> {
    out.iter_mut().for_each(|out| out.fill(0.0));
    // One variable less than there is room for, and the parameter.
    let (some, rest) = out.split_at_mut(VARIABLES - 1);
    Ok(mixed_in(&ORDER[..VARIABLES - 1], tape, parameter, at, some)?
        && mixed_in(&ORDER[VARIABLES - 1..], tape, parameter, at, rest)?)
}

fn mixed_in(
    variables: &[Variable],
    tape: &Tape,
    parameter: Variable,
    at: &Samples<'_>,
    out: &mut [Vec<f64>],
) -> Result<bool, Failure> {
    let mut work = Values::new(tape, at.len(), BLOCK);
    let asked: Vec<Variable> = variables.iter().copied().chain([parameter]).collect();
    let mut rows = Rows::new(tape, &asked, work.block);
    let last_asked = variables.len();
    let Some(with) = rows.active.iter().position(|&i| i == last_asked) else { return Ok(true) };
    if rows.active.len() == 1 {
        return Ok(true);
    }
    let mut start = 0;
    for at in at.blocks(work.block) {
        for id in 0..tape.ops.len() {
            tape.value(id, &at, &mut work)?;
            if !rows.step(tape, id, &at, &work)? {
                return Ok(false);
            }
        }
        let last = (tape.ops.len() - 1) * work.block;
        for (k, &i) in rows.active.iter().enumerate().filter(|(_, i)| **i < last_asked) {
            out[i][start..start + at.len()].copy_from_slice(&rows.second[pair(k, with)][last..][..at.len()]);
        }
        start += at.len();
    }
    Ok(true)
}

/// The derivatives of one block of points: a row for each operation, for each variable and pair of variables that the formula has.
struct Rows {
    /// The variables that the formula has, by their places among those asked for.
    active: Vec<usize>,
    /// For each of them whether an operation varies with it.
    varies: Vec<Vec<bool>>,
    first: Vec<Vec<f64>>,
    /// By pairs of places in `active`, so that some stay empty.
    second: Vec<Vec<f64>>,
    slopes: Slopes,
    /// f_aa, f_ab and f_bb of one operation.
    curvatures: [Vec<f64>; 3],
    /// The jets of a field.
    field: Jets,
}

impl Rows {
    /// For at most [`VARIABLES`] variables.
    fn new(tape: &Tape, variables: &[Variable], block: usize) -> Self {
        let all: Vec<Vec<bool>> = variables.iter().map(|&variable| tape.varies(variable)).collect();
        let active: Vec<usize> = (0..variables.len()).filter(|&i| all[i].last() == Some(&true)).collect();
        let size = block * tape.ops.len();
        let mut first = vec![vec![0.0; size]; active.len()];
        let mut second = vec![Vec::new(); jets::PAIRS];
        for (k, &i) in active.iter().enumerate() {
            for l in k..active.len() {
                second[pair(k, l)] = vec![0.0; size];
            }
            for (row, op) in first[k].chunks_exact_mut(block).zip(&tape.ops) {
                if *op == Op::Variable(variables[i]) {
                    row.fill(1.0);
                }
            }
        }
        Rows {
            varies: active.iter().map(|&i| all[i].clone()).collect(),
            active,
            first,
            second,
            slopes: Slopes::new(block),
            curvatures: [(); 3].map(|()| vec![0.0; block]),
            field: Jets::default(),
        }
    }

    /// Computes the derivatives of one operation.
    fn step(&mut self, tape: &Tape, id: Id, at: &Samples<'_>, work: &Values) -> Result<bool, Failure> {
        if !self.varies.iter().any(|varies| varies[id]) {
            return Ok(true);
        }
        let operands = match tape.ops[id] {
            Op::Constant(_) | Op::Variable(_) => return Ok(true),
            Op::If(c, a, b) => {
                self.select(work.row(c, at.len()), [a, b], id, work.block);
                return Ok(true);
            }
            Op::Unary(_, a) => [a, a],
            Op::Binary(_, a, b) | Op::Field(_, a, b) => [a, b],
        };
        let Some(curved) = self.parts(tape, id, at, work)? else { return Ok(false) };
        let both = !matches!(tape.ops[id], Op::Unary(..));
        self.combine(operands, both, curved, id, work.block, at.len());
        Ok(true)
    }

    /// The slopes and curvatures of one operation in its operands, and whether it has curvatures; `None` where a field does not know
    /// its own.
    fn parts(&mut self, tape: &Tape, id: Id, at: &Samples<'_>, work: &Values) -> Result<Option<bool>, Failure> {
        let count = at.len();
        let value = |id: Id| work.row(id, count);
        if let Op::Field(f, a, b) = tape.ops[id] {
            let there = tape.elsewhere(at, [a, b], [value(a), value(b)]);
            if !tape.fields[f].jets(&there, &mut self.field)? {
                return Ok(None);
            }
            self.slopes.left[..count].copy_from_slice(&self.field.first[jets::X]);
            self.slopes.right[..count].copy_from_slice(&self.field.first[jets::Y]);
            for (k, (i, j)) in [(jets::X, jets::X), (jets::X, jets::Y), (jets::Y, jets::Y)].into_iter().enumerate() {
                self.curvatures[k][..count].copy_from_slice(self.field.second(i, j));
            }
            return Ok(Some(true));
        }
        let wanted = |operand: Id| self.varies.iter().any(|varies| varies[operand]);
        self.slopes.find(tape, id, at, work, wanted)?;
        match tape.ops[id] {
            Op::Unary(f, a) => {
                let Some(curvature) = f.curvature() else { return Ok(Some(false)) };
                let pairs = value(a).iter().zip(value(id));
                self.curvatures[0].iter_mut().zip(pairs).for_each(|(out, (&a, &v))| *out = curvature(a, v));
            }
            Op::Binary(f, a, b) => {
                let Some(curvatures) = f.curvatures() else { return Ok(Some(false)) };
                for p in 0..count {
                    let found = curvatures(value(a)[p], value(b)[p], value(id)[p]);
                    self.curvatures.iter_mut().zip(found).for_each(|(row, found)| row[p] = found);
                }
            }
            Op::Constant(_) | Op::Variable(_) | Op::If(..) | Op::Field(..) => (),
        }
        Ok(Some(true))
    }

    /// The chain rule. `both` says whether there is a right operand, `curved` whether there are curvatures.
    fn combine(&mut self, [a, b]: [Id; 2], both: bool, curved: bool, id: Id, block: usize, count: usize) {
        let [aa, ab, bb] = &self.curvatures;
        for k in 0..self.active.len() {
            let has = |l: usize, operand: Id| self.varies[l][operand] && (operand == a || both);
            for l in k..self.active.len() {
                let first = |l: usize, operand: Id| &self.first[l][operand * block..][..count];
                let (before, out) = self.second[pair(k, l)].split_at_mut(id * block);
                let out = &mut out[..count];
                out.fill(0.0);
                let second = |operand: Id| &before[operand * block..][..count];
                if has(k, a) && has(l, a) {
                    add(out, |p| self.slopes.left[p] * second(a)[p]);
                }
                if both && has(k, b) && has(l, b) {
                    add(out, |p| self.slopes.right[p] * second(b)[p]);
                }
                if !curved {
                    continue;
                }
                if has(k, a) && has(l, a) {
                    add(out, |p| aa[p] * first(k, a)[p] * first(l, a)[p]);
                }
                if both && has(k, a) && has(l, b) {
                    add(out, |p| ab[p] * first(k, a)[p] * first(l, b)[p]);
                }
                if both && has(k, b) && has(l, a) {
                    add(out, |p| ab[p] * first(k, b)[p] * first(l, a)[p]);
                }
                if both && has(k, b) && has(l, b) {
                    add(out, |p| bb[p] * first(k, b)[p] * first(l, b)[p]);
                }
            }
            let (before, out) = self.first[k].split_at_mut(id * block);
            let out = &mut out[..count];
            out.fill(0.0);
            let first = |operand: Id| &before[operand * block..][..count];
            if self.varies[k][a] {
                add(out, |p| self.slopes.left[p] * first(a)[p]);
            }
            if both && self.varies[k][b] {
                add(out, |p| self.slopes.right[p] * first(b)[p]);
            }
        }
    }

    /// The derivatives of the branch that counts.
    fn select(&mut self, condition: &[f64], [a, b]: [Id; 2], id: Id, block: usize) {
        let filled = self.first.iter_mut().chain(self.second.iter_mut().filter(|rows| !rows.is_empty()));
        for rows in filled {
            let (before, out) = rows.split_at_mut(id * block);
            let row = |operand: Id| &before[operand * block..][..condition.len()];
            select(condition, row(a), row(b), &mut out[..condition.len()]);
        }
    }
}

fn add(out: &mut [f64], term: impl Fn(usize) -> f64) {
    out.iter_mut().enumerate().for_each(|(p, out)| *out += term(p));
}
