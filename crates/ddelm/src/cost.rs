//! What a solve will cost, from its sizes alone.
//!
//! The counts of operations and numbers are those of the stages: a QR factorization of R x r per different local
//! problem, its Dirichlet-to-Neumann map, and a nested-dissection factorization of the interface system. They
//! are meant to warn of an hour or of 100 GB, not to tell 2 s from 3 s.

use crate::collocation::{Collocation, Nodes};
use crate::problem::{Diffusion, Equation};
use crate::settings::{InterfaceSolver, Settings, Sharing};

/// Operations per second and thread that the stages reach together on a common processor.
const RATE: f64 = 8e9;

/// What the program itself takes.
const BASE_BYTES: f64 = 8e6;

/// The rank of the local matrices, relative to their rows, that the features usually have.
const USUAL_RANK: f64 = 0.8;

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
    /// The cost of a solve on `counts[0] x counts[1]` subdomains with so many threads.
    pub fn new(equation: &Equation, counts: [usize; 2], settings: &Settings, threads: usize) -> Self {
        let pairs = equation.pairs();
        let collocation = Collocation::new(settings.nodes, settings.points);
        let (rows, subdomains) = (collocation.rows(pairs), counts[0] * counts[1]);
        let congruent = settings.sharing == Sharing::Shared && has_constant_coefficients(equation);
        let factorizations = if congruent { 1 } else { subdomains };
        let unknowns = unknowns(counts, settings, pairs);
        let (local_flops, local_numbers) = local(rows, settings, pairs);
        let (flops, numbers) = match settings.interface {
            InterfaceSolver::Direct => interface(unknowns as f64, (settings.points - 1) as f64 * pairs as f64),
            InterfaceSolver::Cg => (0.0, 0.0),
        };
        let count = factorizations as f64;
        Cost {
            rows,
            factorizations,
            unknowns,
            bytes: BASE_BYTES + 8.0 * (count * local_numbers + numbers),
            seconds: (count * local_flops + flops) / (RATE * threads.max(1) as f64),
        }
    }
}

/// Values on the interior edges, and at the cross points where they are nodes.
fn unknowns([nx, ny]: [usize; 2], settings: &Settings, pairs: usize) -> usize {
    let edges = (nx - 1) * ny + nx * (ny - 1);
    let crosses = if settings.nodes == Nodes::Uniform { (nx - 1) * (ny - 1) } else { 0 };
    pairs * (edges * (settings.points - 1) + crosses)
}

/// Operations and numbers of one local problem.
fn local(rows: usize, settings: &Settings, pairs: usize) -> (f64, f64) {
    let rank = (settings.neurons() as f64).min(USUAL_RANK * rows as f64);
    let (rows, traces) = (rows as f64, (4 * (settings.points - 1) * pairs) as f64);
    let factor = 2.0 * rows * rank * rank;
    let map = 4.0 * rows * rank * traces + rank * rank * traces + 2.0 * traces * traces * (rank + rows);
    // R lives inside of Q, but where it leads to the neurons of a network of its own.
    let kept = if settings.sharing == Sharing::Shared { rows } else { rows + rank };
    (factor + map, kept * rank + traces * (2.0 * rank + rows + 2.0 * traces))
}

/// Operations and numbers of the interface system with edges of `block` unknowns. A separator of a small grid touches
/// all of it, so that the factor first grows with the square root of the edges, and with their logarithm later.
fn interface(unknowns: f64, block: f64) -> (f64, f64) {
    let edges = (unknowns / block).max(1.0);
    let nonzeros = unknowns * block * (2.0 * edges.sqrt()).min(6.0 * edges.log2()).max(1.0);
    // The matrix, and the factor.
    (nonzeros * nonzeros / unknowns.max(1.0), 2.0 * nonzeros)
}

fn has_constant_coefficients(equation: &Equation) -> bool {
    match equation {
        Equation::Plate { .. } => true,
        Equation::SecondOrder { diffusion, advection, reaction } => {
            let diffusion = match diffusion {
                Diffusion::Scalar(a) => a.constant().is_some(),
                Diffusion::Tensor(a) => a.iter().flatten().all(|entry| entry.constant().is_some()),
            };
            let others = advection.iter().flatten().chain(reaction);
            diffusion && others.into_iter().all(|field| field.constant().is_some())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::ProblemFile;
    use crate::progress::Silent;

    #[test]
    fn sizes_are_those_of_the_solve() {
        let text = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n\
                    [discretization]\nsubdomains = [3, 2]\npoints = 8\nestimate = false\n";
        for extra in ["preset=fast", "preset=paper", "equation.diffusion=1+x+y^2"] {
            let case = ProblemFile::new(text).set(extra).case().unwrap();
            let cost = Cost::new(&case.problem.equation, case.subdomains, &case.settings, 1);
            let report = case.solve(&Silent).unwrap().report;
            assert_eq!(cost.unknowns, report.interface.unknowns, "{extra}");
            assert_eq!(cost.rows, report.features.rows, "{extra}");
            assert_eq!(cost.factorizations, report.features.factorizations, "{extra}");
        }
    }
}
