//! LocELM / DPIELM, a baseline: local networks with C^0 and C^1 rows on the interfaces, in one global least-squares
//! problem.
//!
//! Nothing is eliminated: the matrix has as many columns as there are neurons in all subdomains, and is dense here. It is
//! meant for comparison at sizes where that is bearable.
//!
//! # References
//! Dong, Li, Local extreme learning machines and domain decomposition (2021); Dwivedi, Srinivasan (2020).

use std::sync::Arc;

use faer::Mat;

use crate::algebra::factor::{pivoted_qr, solve_upper};
use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Stage};
use crate::domain::decomposition::Decomposition;
use crate::local::matrices::{Columns, LocalProblem};
use crate::local::places::Scene;
use crate::local::right_hand_side::{DataRows, RightHandSide};
use crate::method::report::{FeaturesReport, InterfaceReport, RankSpan, Report, Seconds};
use crate::method::settings::{InterfaceSolver, Settings};
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::plan::Plan;
use crate::solve::stages::{Assembled, Stages, flux_unit};

/// Rows of one subdomain in the global problem.
struct Block {
    /// K: the equation, conditions and traces.
    k: Mat<f64>,
    /// A: the fluxes.
    a: Mat<f64>,
    /// F
    f: Vec<f64>,
    /// For every row of K the interface value it is the trace of, if any.
    trace: Vec<Option<usize>>,
    /// For every row of A that counts: the row, its jump and its unit.
    jumps: Vec<(usize, usize, f64)>,
}

impl Block {
    /// The rows of a subdomain with this right-hand side.
    fn new(plan: &Plan, settings: &Settings, assembled: &Assembled, s: usize, f: Vec<f64>) -> Self {
        let (numbering, rows) = (&plan.portion.whole, &*assembled.rows[s]);
        let collocation = plan.collocations.of(plan.shape(s));
        let network = plan.networks.of(plan.shape(s), s);
        let all_fluxes: Vec<usize> = (0..rows.layout.fluxes.len() * numbering.pairs).collect();
        let (truncation, cut) = (settings.truncation, settings.feature_cut(collocation.rows()));
        let columns = Columns::Features { network, truncation, cut, guarded: false, shortest: false };
        let (flux_rows, weighting) = (&all_fluxes[..], plan.weighting);
        let (k, a) = LocalProblem { columns, collocation, rows, weighting, trace_rows: &[], flux_rows }.matrices();
        let gather = numbering.gather(&plan.decomposition.subdomains[s], &rows.layout);
        let mut trace = vec![None; k.nrows()];
        let inside = collocation.interior.len();
        gather.unknowns.iter().for_each(|&(row, unknown)| trace[inside + row] = Some(unknown));
        let multiplier = |jump: usize| rows.flux_multiplier[numbering.jump_place(jump).1];
        let unit = |jump: usize| flux_unit(numbering, &assembled.units, jump) / multiplier(jump);
        let jumps = gather.fluxes.iter().map(|&(row, jump)| (row, jump, unit(jump))).collect();
        Block { k: k.into_inner(), a: a.into_inner(), f, trace, jumps }
    }
}

/// Entries of the largest matrix that is tried (2 GiB).
const LARGEST: usize = 1 << 28;

/// Solves a problem with one global least-squares problem.
pub fn solve(
    problem: &Problem,
    decomposition: Arc<Decomposition>,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Solution> {
    let clock = Instant::now();
    let plan = Plan::new(problem, decomposition.clone(), settings)?;
    let stages = Stages { plan: &plan, scene: Scene::linear(problem, &decomposition), progress, kept: None };
    let assembled = stages.assemble()?;
    let data = stages.data_rows(&assembled);
    let (collocations, numbering) = (&plan.collocations, &plan.portion.whole);
    let side = RightHandSide { equation: &problem.equation, decomposition: &decomposition, collocations };
    let block = |(s, data): (usize, &DataRows)| {
        let f = side.of(s, data, &[problem.data()])?.col_as_slice(0).to_vec();
        Ok(Block::new(&plan, settings, &assembled, s, f))
    };
    let blocks: Vec<Block> = data.iter().enumerate().map(block).collect::<Result<_>>()?;
    let assemble = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    progress.begin(Stage::Factor, 1);
    let (coefficients, rank) =
        least_squares(&blocks, numbering.unknowns(), numbering.jump_count(), settings.drop_below)?;
    let factor = clock.elapsed().as_secs_f64();
    let features = FeaturesReport {
        neurons: settings.neurons(),
        scale: settings.scale_for(&problem.equation, collocations.any().shape),
        rows: collocations.any().rows(),
        rank: RankSpan { min: rank, max: rank },
        factorizations: 1,
    };
    let seconds = Seconds { assemble, factor, total: assemble + factor, ..Seconds::default() };
    let interface = InterfaceReport::new(InterfaceSolver::Direct, 0);
    let report = Report::new(settings.method, [decomposition.len(), settings.points], interface, features, seconds);
    let remainders = vec![Vec::new(); decomposition.len()];
    Ok(Solution {
        decomposition: decomposition.clone(),
        networks: plan.networks.clone(),
        coefficients,
        remainders,
        interface: Vec::new(),
        report,
        in_basis: None,
    })
}

/// The output coefficients of all subdomains, and the rank of the global matrix.
fn least_squares(blocks: &[Block], unknowns: usize, jumps: usize, cut: Option<f64>) -> Result<(Vec<Vec<f64>>, usize)> {
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
            format!("the global matrix would have {rows} x {columns} entries ({} GiB)", (rows * columns) >> 27),
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
