//! LocELM / DPIELM, a baseline: local networks with C^0 and C^1 rows on the interfaces, in one global least-squares
//! problem.
//!
//! Nothing is eliminated: the matrix has as many columns as there are neurons in all subdomains, and is dense here. It is
//! meant for comparison at sizes where that is bearable.
//!
//! # References
//! Dong, Li, Local extreme learning machines and domain decomposition (2021); Dwivedi, Srinivasan (2020).

use faer::Mat;

use crate::error::{Error, Result};
use crate::factor::{pivoted_qr, solve_upper};

/// Rows of one subdomain in the global problem.
pub struct LocalBlock {
    /// K: the equation, conditions and traces.
    pub k: Mat<f64>,
    /// A: the fluxes.
    pub a: Mat<f64>,
    /// F
    pub f: Vec<f64>,
    /// For every row of K the interface value it is the trace of, if any.
    pub trace: Vec<Option<usize>>,
    /// For every row of A that counts: the row, its jump and its unit.
    pub jumps: Vec<(usize, usize, f64)>,
}

/// Entries of the largest matrix that is tried (2 GiB).
const LARGEST: usize = 1 << 28;

/// The output coefficients of all subdomains, and the rank of the global matrix.
pub fn solve(blocks: &[LocalBlock], unknowns: usize, jumps: usize, cut: Option<f64>) -> Result<(Vec<Vec<f64>>, usize)> {
    // A value shared by k subdomains gives k - 1 rows: each of the others equals the first.
    let mut first: Vec<Option<(usize, usize)>> = vec![None; unknowns];
    let mut continuity: Vec<[(usize, usize); 2]> = Vec::new();
    let mut own: Vec<(usize, usize)> = Vec::new();
    for (s, block) in blocks.iter().enumerate() {
        for (row, trace) in block.trace.iter().enumerate() {
            match trace.map(|unknown| (unknown, first[unknown])) {
                None => own.push((s, row)),
                Some((unknown, None)) => first[unknown] = Some((s, row)),
                Some((_, Some(other))) => continuity.push([other, (s, row)]),
            }
        }
    }
    let starts: Vec<usize> = blocks.iter().scan(0, |at, b| Some(std::mem::replace(at, *at + b.k.ncols()))).collect();
    let columns: usize = blocks.iter().map(|b| b.k.ncols()).sum();
    let rows = own.len() + continuity.len() + jumps;
    if rows * columns > LARGEST {
        return Err(Error::input(
            "method",
            "locelm",
            format!("the global matrix would have {rows} x {columns} entries ({} GiB)", rows * columns >> 27),
            "use fewer subdomains or neurons, or method = \"schur\"",
        ));
    }
    let (mut k, mut f) = (Mat::zeros(rows, columns), Mat::zeros(rows, 1));
    for (i, &(s, row)) in own.iter().enumerate() {
        k.as_mut().row_mut(i).subcols_mut(starts[s], blocks[s].k.ncols()).copy_from(blocks[s].k.row(row));
        f[(i, 0)] = blocks[s].f[row];
    }
    for (i, sides) in continuity.iter().enumerate() {
        for (&(s, row), sign) in sides.iter().zip([1.0, -1.0]) {
            let mut target = k.as_mut().row_mut(own.len() + i).subcols_mut(starts[s], blocks[s].k.ncols());
            target += faer::Scale(sign) * blocks[s].k.row(row);
        }
    }
    for (s, block) in blocks.iter().enumerate() {
        for &(row, jump, unit) in &block.jumps {
            let at = own.len() + continuity.len() + jump;
            let mut target = k.as_mut().row_mut(at).subcols_mut(starts[s], block.a.ncols());
            target += faer::Scale(unit) * block.a.row(row);
        }
    }
    let cut = cut.unwrap_or(f64::EPSILON * rows.max(columns) as f64);
    let factor = pivoted_qr(k, cut, rows.min(columns))?;
    factor.q.apply_transpose(f.as_mut());
    let rank = factor.columns.len();
    let mut y = f.get(..rank, ..).to_owned();
    solve_upper(factor.r.as_ref(), y.as_mut());
    let mut c = vec![0.0; columns];
    factor.columns.iter().enumerate().for_each(|(i, &column)| c[column] = y[(i, 0)]);
    Ok((starts.iter().zip(blocks).map(|(&at, b)| c[at..at + b.k.ncols()].to_vec()).collect(), rank))
}
