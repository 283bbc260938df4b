//! Elliptic boundary value problems by domain-decomposed extreme learning machines.
//!
//! # The method in one page
//!
//! The domain is cut into subdomains. On each of them the solution is a network with one hidden layer and fixed random
//! weights, `u_s = sum_j c_j sigma(w_j . xi + b_j)`, in coordinates xi in which the subdomain is the unit square. The equation
//! `L u = f` at interior nodes, the boundary conditions, and `u_s = u_Gamma` at interface nodes are linear in the output
//! coefficients c:
//!
//! ```text
//! K_s c_s = F_s + E_s u_Gamma                        (equation, conditions, traces)
//! sum_s A_s c_s = 0                                  (the fluxes of both sides of an edge cancel)
//! ```
//!
//! There are more rows than neurons, so `c_s = K_s^+ (F_s + E_s u_Gamma)` is a least-squares solution, found for every
//! subdomain alone. What is left is a least-squares problem for the interface values, with the normal matrix (paper, eq.
//! (3.5))
//!
//! ```text
//! S = sum_s E_s' (I - K_s K_s^+) E_s + D' D,         D = sum_s A_s K_s^+ E_s.
//! ```
//!
//! It is sparse, symmetric and positive definite. With `u_Gamma` known, the subdomains are recovered independently.
//!
//! Two sets of choices are built in: [`Settings::paper`](settings::Settings::paper) is Algorithm 1 of the paper to the letter;
//! [`Settings::fast`](settings::Settings::fast), the default, uses the same idea with Chebyshev nodes, one well-conditioned
//! basis of shared features, scaled rows and a direct interface solve with refinement, and reaches rounding level.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use ddelm::{decomposition::Decomposition, gallery, settings::Settings, solver::Solver};
//!
//! let problem = gallery::poisson(); // -Laplacian u = f with u = sin(2 pi x) e^y
//! let squares = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4])?);
//! let solver = Solver::new(&problem, squares, &Settings::fast())?; // factors
//! let solution = solver.solve()?; // cheap, also for other sources and boundary values
//! let u = solution.values(&[0.25], &[1.0])[0];
//! assert!((u - 1f64.exp()).abs() < 1e-11);
//! # Ok::<(), ddelm::Error>(())
//! ```
//!
//! # Symbols
//!
//! | paper | here | file |
//! | --- | --- | --- |
//! | L, B, f, g | [`Problem`](problem::Problem) | `problem.rs` |
//! | Omega_s, Gamma | [`Decomposition`](decomposition::Decomposition), maps `x = F(xi)` | `decomposition.rs`, `map.rs` |
//! | x_i, x_b, x_Gamma | [`Collocation`](collocation::Collocation) and its numbers | `collocation.rs` |
//! | phi_j, w_j, b_j | [`FeatureNetwork`](features::FeatureNetwork) | `features.rs`, `activation.rs` |
//! | L phi_j at a point | [`Symbol`](symbol::Symbol): at most five numbers per ridge function | `symbol.rs`, `assembly.rs` |
//! | rows of K, A, F | [`operator`], right-hand sides | `operator.rs`, `right_hand_side.rs` |
//! | psi, reference basis | [`ReferenceBasis`](basis::ReferenceBasis) | `basis.rs` |
//! | K^+, A K^+ B | [`LocalFactor`](local::LocalFactor), in `factor` | `local.rs`, `factor/` |
//! | S, u_Gamma | [`Interface`](interface::Interface): elimination, conjugate gradients, refinement | `interface/` |
//! | Algorithm 1 | [`Solver`](solver::Solver) | `stages.rs`, `solver.rs` |
//! | u_theta | [`Solution`](solution::Solution), [coefficients of the neurons](lift) | `solution.rs`, `lift.rs`, `twofold.rs` |
//!
//! # References
//!
//! C.-O. Lee, Y. Lee, B. Ryoo, *A nonoverlapping domain decomposition method for extreme learning machines: elliptic
//! problems*.

pub mod activation;
pub mod adaptive;
pub mod assembly;
pub mod atomic;
pub mod basis;
pub mod chebyshev;
pub mod collocation;
pub mod cost;
pub mod decomposition;
pub mod error;
pub mod estimate;
pub mod exchange;
pub mod expression;
pub mod factor;
pub mod features;
pub mod field;
pub mod file;
pub mod finite_element;
pub mod gallery;
pub mod graded;
pub mod interface;
pub mod lift;
pub mod local;
pub mod locelm;
pub mod map;
pub mod npz;
pub mod operator;
pub mod problem;
pub mod progress;
pub mod random_field;
pub mod report;
mod right_hand_side;
#[cfg(feature = "save")]
pub mod save;
pub mod settings;
pub mod solution;
pub mod solver;
mod stages;
pub mod symbol;
pub mod tuning;
pub mod twofold;
pub mod typeset;
#[cfg(feature = "vtk")]
pub mod vtk;

pub use error::{Error, Result};

/// The optional parts of this library, and whether they were built in.
pub const FEATURES: [(&str, bool); 3] =
    [("mpi", cfg!(feature = "mpi")), ("save", cfg!(feature = "save")), ("vtk", cfg!(feature = "vtk"))];
