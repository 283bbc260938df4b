//! Elliptic boundary value problems by domain-decomposed extreme learning machines.
//!
//! # The method in one page
//!
//! The domain is cut into subdomains. On each of them the solution is a network with one hidden layer and fixed random
//! weights, `u_s = sum_j c_j sigma(w_j . xi + b_j)`, in coordinates xi in which the subdomain is the unit square, with a few
//! polynomials beside the neurons. The equation
//! `L u = f` at interior nodes, the boundary conditions, and `u_s = u_Gamma` at interface nodes are linear in the output
//! coefficients c:
//!
//! ```text
//! K_s c_s = F_s + E_s u_Gamma                        (equation, conditions, traces)
//! sum_s A_s c_s = 0                                  (the fluxes of both sides of an edge cancel)
//! ```
//!
//! There are more rows than neurons, so `c_s = K_s^+ (F_s + E_s u_Gamma)` is a least-squares solution, found for every
//! subdomain alone. What is left is that the fluxes balance,
//!
//! ```text
//! D u_Gamma = d,     D = sum_s A_s K_s^+ E_s,   d = -sum_s A_s K_s^+ F_s,
//! ```
//!
//! a sparse system with as many equations as interface values. The paper weighs it against the residuals of the subdomains,
//! with the normal matrix `S = sum_s E_s' (I - K_s K_s^+) E_s + D' D` (its eq. (3.5)). With `u_Gamma` known, the subdomains
//! are recovered independently.
//!
//! Two sets of choices are built in: [`Settings::paper`] is Algorithm 1 of the paper to the letter; [`Settings::fast`], the
//! default, uses the same idea with Chebyshev nodes inside and Gauss nodes on the sides, one well-conditioned basis of
//! shared features, scaled rows, a row for the flux balance of every subdomain and a direct interface solve with refinement,
//! and reaches rounding level.
//!
//! # Example
//!
//! ```
//! use ddelm::{Condition, Decomposition, Equation, Problem, Settings, Solver, function};
//!
//! let u = |x: f64, y: f64| (6.0 * x).sin() * y.exp();
//! let problem = Problem::new(
//!     Equation::poisson(), // -Laplacian u = f
//!     function(move |x, y| 35.0 * u(x, y)),
//!     vec![Condition::dirichlet(function(u)); 4], // left, right, bottom, top
//! );
//! let squares = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4])?;
//! let solver = Solver::new(&problem, squares, &Settings::fast())?; // factors
//! let solution = solver.solve()?; // cheap, also for other sources and boundary values
//! let found = solution.values(&[0.25], &[1.0])[0];
//! assert!((found - u(0.25, 1.0)).abs() < 1e-11);
//! # Ok::<(), ddelm::Error>(())
//! ```
//!
//! `examples/` has a program for each kind of problem. What most users need is at the root; the rest is in the storeys of the
//! house, each of which uses only those above it:
//!
//! | storey | what it is |
//! | --- | --- |
//! | [`base`] | errors, progress, memory, files of numbers |
//! | [`algebra`] | factorizations, sums in twice the precision, quadrature |
//! | [`problem`] | what is to be solved: equation, conditions, fields, formulas |
//! | [`domain`] | where: maps, subdomains, their nodes, outlines and meshes |
//! | [`network`] | functions: features, polynomials, operators on them |
//! | [`method`] | how: settings, their cost, the report |
//! | [`local`] | one subdomain: rows, basis, factor |
//! | [`interface`] | all of them together: numbering, elimination, refinement |
//! | [`exchange`] | the machines: one process, or several with MPI |
//! | [`solution`] | values, norms, files |
//! | [`solve`] | the algorithm, its estimate, tolerance, tuning |
//! | [`file`](mod@file) | problem files: text in, problem and settings out |
//!
//! # Symbols
//!
//! | paper | here | file |
//! | --- | --- | --- |
//! | L, B, f, g | [`Problem`] | `problem/model.rs` |
//! | Omega_s, Gamma | [`Decomposition`], maps `x = F(xi)` | `domain/decomposition.rs`, `domain/map.rs` |
//! | x_i, x_b, x_Gamma | [`Collocation`](domain::collocation::Collocation), [`Numbering`](interface::Numbering) | `domain/collocation.rs`, `interface/numbering.rs` |
//! | phi_j, w_j, b_j | [`FeatureNetwork`](network::features::FeatureNetwork) | `network/features.rs`, `network/activation.rs` |
//! | L phi_j at a point | [`Symbol`](network::symbol::Symbol): at most five numbers per ridge function | `network/symbol.rs`, `network/assembly.rs` |
//! | rows of K, A, F | [`rows`](local::rows), [`operator`](local::operator), right-hand sides | `local/rows.rs`, `local/perimeter.rs`, `local/right_hand_side.rs` |
//! | psi, reference basis | [`ReferenceBasis`](local::basis::ReferenceBasis) | `local/basis.rs` |
//! | K^+, A K^+ B | [`LocalFactor`](local::local_factor::LocalFactor), in `factor` | `local/matrices.rs`, `local/local_factor.rs`, `algebra/factor/` |
//! | S, u_Gamma | [`Interface`](interface::Interface): elimination, conjugate gradients, refinement | `interface/` |
//! | Algorithm 1 | [`Solver`] | `solve/stages.rs`, `solve/solver.rs` |
//! | N(u) = 0, N'(u) (not in the paper) | [`linearize`](problem::linearize), [`newton`](solve::newton) | `problem/linearize.rs`, `solve/newton.rs` |
//! | u_theta | [`Solution`], [coefficients of the neurons](local::lift) | `solution/evaluate.rs`, `local/lift.rs`, `algebra/twofold.rs` |
//!
//! # References
//!
//! C.-O. Lee, Y. Lee, B. Ryoo, *A nonoverlapping domain decomposition method for extreme learning machines: elliptic
//! problems*.

// In the order of the storeys, with empty lines that keep it.
pub mod base;

pub mod algebra;

pub mod problem;

pub mod domain;

pub mod network;

pub mod method;

pub mod local;

pub mod interface;

pub mod exchange;

pub mod solution;

pub mod solve;

pub mod file;

pub use base::error::{Error, Result};
pub use base::progress::Silent;
pub use domain::area::Domain;
pub use domain::decomposition::Decomposition;
pub use file::ProblemFile;
pub use method::report::Report;
pub use method::settings::Settings;
pub use problem::expression::formula;
pub use problem::field::{constant, function};
pub use problem::model::{Condition, Equation, Problem};
pub use solution::evaluate::Solution;
pub use solve::case::Case;
pub use solve::solver::Solver;

/// The optional parts of this library, and whether they were built in.
pub const FEATURES: [(&str, bool); 2] = [("files", cfg!(feature = "files")), ("parallel", cfg!(feature = "parallel"))];
