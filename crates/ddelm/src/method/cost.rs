//! What a solve will cost, from its sizes alone.
//!
//! The counts of operations and numbers are those of the stages: a QR factorization of R x r per different local
//! problem, its Dirichlet-to-Neumann map, and a nested-dissection factorization of the interface system. They
//! are meant to warn of an hour or of 100 GB, not to tell 2 s from 3 s.

use crate::base::error::Result;
use crate::base::memory;
use crate::domain::collocation::{Nodes, side_nodes};
use crate::domain::decomposition::Decomposition;
use crate::domain::division::Tally;
use crate::method::settings::{Coupling, InterfaceSolver, Settings, Sharing};
use crate::problem::model::Equation;

/// Operations per second and thread that the stages reach together on a common processor.
const RATE: f64 = 8e9;

/// What the program itself takes.
const BASE_BYTES: f64 = 8e6;

/// The rank of the local matrices, relative to their rows, that the features usually have.
const USUAL_RANK: f64 = 0.8;

/// What is left of the interface system's memory where subdomains are congruent.
const CONGRUENT: f64 = 0.45;

/// Matrices of rows and neurons that there are at a time while the reference basis is made.
const BASIS: f64 = 1.2;

/// The sizes of a solve, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Rows of a local matrix.
    pub rows: usize,
    /// Local problems that have to be factored.
    pub factorizations: usize,
    /// Interface values.
    pub unknowns: usize,
    /// Memory, roughly.
    pub bytes: f64,
    /// Seconds without conjugate gradients, roughly.
    pub seconds: f64,
}

impl Cost {
    /// The cost of a solve on a decomposition with so many threads.
    pub fn on(equation: &Equation, decomposition: &Decomposition, settings: &Settings, threads: usize) -> Self {
        Cost::of(equation, &decomposition.tally(), settings, threads)
    }

    /// Refuses a solve that does not fit into the memory of this machine, or into what the settings allow. On a parallel
    /// machine every rank has its share.
    pub fn check_memory(&self, settings: &Settings, ranks: usize) -> Result<()> {
        memory::check("discretization.points", self.bytes / ranks.max(1) as f64, settings.max_memory)
    }

    /// The cost of a solve on a decomposition with so many subdomains and edges.
    pub fn of(equation: &Equation, counts: &Tally, settings: &Settings, threads: usize) -> Self {
        let (pairs, subdomains) = (equation.pairs(), counts.subdomains);
        let (rows, block) = (rows(settings, pairs), inner(settings, pairs) as f64 * pairs as f64);
        let congruent = settings.sharing == Sharing::Shared && equation.has_constant_coefficients();
        let factorizations = if congruent { counts.shapes } else { subdomains };
        let unknowns = unknowns(counts, settings, pairs);
        let (local_flops, local_numbers) = local(rows, settings, 4.0 * block);
        let (flops, numbers) = match (settings.interface, settings.coupling()) {
            (InterfaceSolver::Direct, Coupling::FluxBalance) => interface(unknowns as f64, block),
            // The jumps are unknowns as well.
            (InterfaceSolver::Direct, Coupling::LeastSquares) => interface(2.0 * unknowns as f64, 2.0 * block),
            (InterfaceSolver::Cg, _) => (0.0, 0.0),
        };
        // Congruent boxes of subdomains are eliminated once.
        let numbers = if congruent && counts.shapes == 1 { CONGRUENT * numbers } else { numbers };
        // The reference basis is made from all neurons.
        let basis =
            if settings.sharing == Sharing::Shared { BASIS * rows as f64 * settings.neurons() as f64 } else { 0.0 };
        let count = factorizations as f64;
        Cost {
            rows,
            factorizations,
            unknowns,
            bytes: BASE_BYTES + 8.0 * (count * local_numbers + numbers + basis),
            seconds: (count * local_flops + flops) / (RATE * threads.max(1) as f64),
        }
    }
}

/// Nodes inside a side of a subdomain.
fn inner(settings: &Settings, pairs: usize) -> usize {
    side_nodes(settings.nodes(), settings.points, pairs)
}

/// Rows of a local matrix: the interior nodes, for each pair those of the perimeter, and the flux balance.
fn rows(settings: &Settings, pairs: usize) -> usize {
    let (corners, balance) = if settings.nodes() == Nodes::Uniform { (4, 0) } else { (0, 1) };
    let (inside, around) = (settings.points.saturating_sub(1), inner(settings, pairs).saturating_mul(4));
    let perimeter = around.saturating_add(corners).saturating_mul(pairs);
    inside.saturating_mul(inside).saturating_add(perimeter).saturating_add(balance)
}

/// Values on the interior edges, and at the cross points where they are nodes.
fn unknowns(counts: &Tally, settings: &Settings, pairs: usize) -> usize {
    let crosses = if settings.nodes() == Nodes::Uniform { counts.crosses } else { 0 };
    counts.edges.saturating_mul(inner(settings, pairs)).saturating_add(crosses).saturating_mul(pairs)
}

/// Operations of one local problem with so many interface values, and the numbers that are kept of it.
fn local(rows: usize, settings: &Settings, traces: f64) -> (f64, f64) {
    let rank = (settings.neurons() as f64).min(USUAL_RANK * rows as f64);
    let rows = rows as f64;
    let factor = 2.0 * rows * rank * rank;
    let map = 4.0 * rows * rank * traces + rank * rank * traces + 2.0 * traces * traces * rank;
    // Networks of their own need the way to their neurons as well.
    let lift = if settings.sharing == Sharing::Shared { 0.0 } else { rank * rank };
    (factor + map, traces * (rows + 2.0 * traces) + lift)
}

/// Operations and numbers of the interface system with edges of `block` unknowns. A separator of a small grid touches
/// all of it, so that the factor first grows with the square root of the edges, and with their logarithm later.
fn interface(unknowns: f64, block: f64) -> (f64, f64) {
    let edges = (unknowns / block.max(1.0)).max(1.0);
    let nonzeros = unknowns * block * (2.0 * edges.sqrt()).min(6.0 * edges.log2()).max(1.0);
    // L and U, and the updates on the way.
    (2.0 * nonzeros * nonzeros / unknowns.max(1.0), 2.4 * nonzeros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::progress::Silent;
    use crate::file::ProblemFile;

    #[test]
    fn sizes_that_are_no_sizes_have_a_cost_all_the_same() {
        let poisson = Equation::poisson();
        for (counts, points) in [([0, 0], 0), ([0, 5], 1), ([usize::MAX; 2], 16), ([4, 4], usize::MAX / 2)] {
            let settings = Settings { points, max_memory: Some(1 << 40), ..Settings::fast() };
            let cost = Cost::of(&poisson, &Tally::of_rectangle(counts), &settings, 0);
            assert_eq!(cost.check_memory(&settings, 0).is_err(), points > 1, "{counts:?} {points}: {cost:?}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_solve() {
        let text = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n\
                    [discretization]\nsubdomains = [3, 2]\npoints = 8\nestimate = false\n";
        for (extra, rings) in [
            ("preset=fast", 4),
            ("discretization.corners=none", 0),
            ("preset=paper", 0),
            ("equation.diffusion=1+x+y^2", 4),
        ] {
            let case = ProblemFile::new(text).set(extra).case().unwrap();
            let cost = case.cost(1).unwrap();
            let report = case.solve(&Silent).unwrap().report;
            assert_eq!(report.rings, rings, "{extra}");
            assert_eq!(cost.unknowns, report.interface.unknowns, "{extra}");
            assert_eq!(cost.rows, report.features.rows, "{extra}");
            // Rings about corners that look alike share their factors, which is not foreseen.
            let (foreseen, found) = (cost.factorizations, report.features.factorizations);
            assert!(foreseen == found || rings > 0 && foreseen > found, "{extra}: {foreseen}, {found}");
            let decomposition = case.decomposition().unwrap();
            assert_eq!(cost, Cost::on(&case.problem.equation, &decomposition, &case.settings, 1), "{extra}");
        }
    }

    #[test]
    fn sizes_on_other_domains_are_those_of_the_solve() {
        let rest = "points = 8\nestimate = false\ncorners = 'none'\n[equation]\nsource = 1\n";
        for (domain, different) in [
            (
                "polygon = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]\n[boundary]\ndirichlet = 0\n[discretization]",
                1,
            ),
            ("circle = { center = [0, 0], radius = 1 }\n[boundary]\ndirichlet = 0\n[discretization]", 20),
            (
                "x = [0, 1]\ny = [0, 1]\n[boundary]\nperiodic = ['x']\ndirichlet = 0\n[discretization]\nsubdomains = [4, 4]",
                1,
            ),
        ] {
            let case = ProblemFile::new(format!("[domain]\n{domain}\n{rest}")).case().unwrap();
            let (cost, report) = (case.cost(1).unwrap(), case.solve(&Silent).unwrap().report);
            assert_eq!(cost.unknowns, report.interface.unknowns, "{domain}");
            assert_eq!((cost.factorizations, report.features.factorizations), (different, different), "{domain}");
        }
    }
}
