//! How the heat that leaves through a side changes with a parameter of the diffusion, with the source and with a boundary value: one
//! transposed solve for all of them.

use std::sync::Arc;

use ddelm::problem::functional::Functional;
use ddelm::{ProblemFile, Silent, Solver, constant};

const TEXT: &str = r#"
[parameters]
k = 2.0
g = 0.5
[equation]
diffusion = "1 + k*x*y"
source = "1"
[boundary]
dirichlet = "g*x"
[domain]
x = [0, 1]
y = [0, 1]
[discretization]
subdomains = [2, 2]
points = 10
"#;

/// The right side of a rectangle, among left, right, bottom and top.
const RIGHT: usize = 1;

/// Differentiates the heat through the right side of a square.
pub fn main() -> ddelm::Result<()> {
    let case = ProblemFile::new(TEXT).case()?;
    let solver = Arc::new(Solver::new(&case.problem, case.decomposition()?, &case.settings)?);
    let adjoint = solver.adjoint(&case.problem.data(), &Silent)?;
    let heat = Functional::Flux(RIGHT);
    let gradient = adjoint.gradient(&heat, &Silent)?;
    let (k, g) = (gradient.parameter("k")?, gradient.parameter("g")?);
    let source = gradient.along(&gradient.fields.source, &constant(1.0))?;
    println!("heat changes by {k:.6} per k, {g:.6} per g and {source:.6} per unit of the source");
    // It is linear in source and boundary value: what the two count makes up the whole.
    let whole = adjoint.solution().functional(&case.problem, &heat)?;
    assert!((source + 0.5 * g - whole).abs() < 1e-10 * whole.abs(), "{source} + {g}/2 and {whole}");
    Ok(())
}
