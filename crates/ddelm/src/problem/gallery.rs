//! Problems with known solutions, and those of the paper's section 4.2.
//!
//! All are posed on the unit square, with the parts of the boundary left, right, bottom, top, unless they say that the
//! domain is free. The solver never looks at the exact solution.
//!
//! ```
//! use std::sync::Arc;
//! use ddelm::{Decomposition, Settings, Solver};
//! use ddelm::problem::gallery;
//!
//! let problem = gallery::poisson();
//! let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [2, 2])?);
//! let solution = Solver::new(&problem, decomposition, &Settings::fast())?.solve()?;
//! let errors = solution.errors(problem.exact.as_deref().unwrap(), 32)?;
//! assert!(errors.l2 < 1e-9);
//! # Ok::<(), ddelm::Error>(())
//! ```
//!
//! # References
//!
//! The paper's section 4.2: Table 2 is [`poisson`], Tables 3 and 4 [`random_source`], Tables 5 and 6
//! [`random_coefficient`], Table 7 [`plate`].

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::problem::expression::Formula;
use crate::problem::field::{FieldRef, constant, function, function_with_gradient};
use crate::problem::model::{Condition, Diffusion, Equation, Problem};

/// `-Laplacian u = f` with `u = sin(2 pi x) e^y` (paper, Table 2).
pub fn poisson() -> Problem {
    growing_wave(TAU, 4)
}

/// `-Laplacian u = f` with `u = sin(k x) e^y` on any domain whose boundary has so many parts, with Dirichlet conditions
/// on all of them.
pub fn growing_wave(k: f64, parts: usize) -> Problem {
    let exact = growing(k);
    Problem::new(
        Equation::poisson(),
        function(move |x, y| (k * k - 1.0) * (k * x).sin() * y.exp()),
        vec![Condition::dirichlet(exact.clone()); parts],
    )
    .with_exact(exact)
}

/// `-Laplacian u = f` with `u = sin(k pi x) sin(l pi y)`; zero on the boundary for whole numbers k and l.
pub fn sines(k: f64, l: f64) -> Problem {
    let exact = sine_product(1.0, k, l);
    Problem::new(Equation::poisson(), sine_product(PI * PI * (k * k + l * l), k, l), dirichlet(&exact))
        .with_exact(exact)
}

/// `-Laplacian u = f`, u = 0 on the boundary, with a random field as source (paper, Tables 3 and 4).
///
/// The solution is not known. It has weak singularities at the corners, where f does not vanish but u does.
pub fn random_source(field: FieldRef) -> Problem {
    Problem::new(Equation::poisson(), field, dirichlet(&constant(0.0)))
}

/// `-div(rho grad u) = 1`, u = 0 on the boundary, with `rho = tanh(field) + 1.1` (paper, Tables 5 and 6).
///
/// The solution is not known. The paper's fields are of size one here: [`RandomField::scaled`] by `1 / alpha^2`.
///
/// [`RandomField::scaled`]: crate::problem::random_field::RandomField::scaled
pub fn random_coefficient(field: FieldRef) -> Problem {
    Problem::new(Equation::diffusion(rough_coefficient(field)), constant(1.0), dirichlet(&constant(0.0)))
}

/// `rho = tanh(field) + 1.1`, between 0.1 and 2.1, with its gradient.
pub fn rough_coefficient(field: FieldRef) -> FieldRef {
    let fields = BTreeMap::from([("grf".to_owned(), field)]);
    Arc::new(Formula::parse_with("tanh(grf(x, y)) + 1.1", &fields).expect("the formula is valid"))
}

/// The material of a plate, in any system of units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Young's modulus E.
    pub modulus: f64,
    /// Thickness H.
    pub thickness: f64,
    /// Poisson's ratio nu.
    pub ratio: f64,
}

impl Material {
    /// That of the paper: `E = 1e7`, `H = 1e-3`, `nu = 0.3`.
    pub const PAPER: Material = Material { modulus: 1e7, thickness: 1e-3, ratio: 0.3 };

    /// The flexural rigidity `D = E H^3 / (12 (1 - nu^2))`.
    pub fn rigidity(&self) -> f64 {
        self.modulus * self.thickness.powi(3) / (12.0 * (1.0 - self.ratio * self.ratio))
    }
}

/// A simply supported plate with load `sin(pi x) sin(pi y)` and solution `sin(pi x) sin(pi y) / (4 pi^4 D)` (paper,
/// Table 7, with [`Material::PAPER`]).
pub fn plate(material: Material) -> Problem {
    let rigidity = material.rigidity();
    let zero = constant(0.0);
    Problem::new(
        Equation::Plate { rigidity: constant(rigidity) },
        sine_product(1.0, 1.0, 1.0),
        vec![Condition::simply_supported(zero.clone(), zero); 4],
    )
    .with_exact(sine_product(1.0 / (4.0 * PI.powi(4) * rigidity), 1.0, 1.0))
}

/// A clamped plate with rigidity 1 and `u = sin(2 x + 1) e^y`.
pub fn clamped_plate() -> Problem {
    let u = |x: f64, y: f64| (2.0 * x + 1.0).sin() * y.exp();
    let slope = |x: f64, y: f64| 2.0 * (2.0 * x + 1.0).cos() * y.exp();
    let exact = function_with_gradient(u, move |x, y| [slope(x, y), u(x, y)]);
    // Outward: left, right, bottom, top.
    let slopes: [FieldRef; 4] =
        [function(move |x, y| -slope(x, y)), function(slope), function(move |x, y| -u(x, y)), function(u)];
    Problem::new(
        Equation::Plate { rigidity: constant(1.0) },
        function(move |x, y| 9.0 * u(x, y)),
        slopes.map(|slope| Condition::clamped(exact.clone(), slope)).into(),
    )
    .with_exact(exact)
}

/// `-Laplacian u - k^2 u = 0` with a plane wave, `u = cos(k (0.6 x + 0.8 y))`.
pub fn helmholtz(k: f64) -> Problem {
    let [a, b] = [0.6 * k, 0.8 * k];
    let exact = function_with_gradient(
        move |x, y| (a * x + b * y).cos(),
        move |x, y| [-a, -b].map(|w| w * (a * x + b * y).sin()),
    );
    Problem::new(
        Equation::SecondOrder {
            diffusion: Diffusion::Scalar(constant(1.0)),
            advection: None,
            reaction: Some(constant(-k * k)),
        },
        constant(0.0),
        dirichlet(&exact),
    )
    .with_exact(exact)
}

/// `-diffusion Laplacian u + (1, 1/2) . grad u = f` with `u = sin(2 pi x) e^y`.
pub fn advection_diffusion(diffusion: f64) -> Problem {
    let exact = growing(TAU);
    let source = move |x: f64, y: f64| {
        let (sin, cos) = (TAU * x).sin_cos();
        (diffusion * (TAU * TAU - 1.0) * sin + TAU * cos + 0.5 * sin) * y.exp()
    };
    Problem::new(
        Equation::SecondOrder {
            diffusion: Diffusion::Scalar(constant(diffusion)),
            advection: Some([constant(1.0), constant(0.5)]),
            reaction: None,
        },
        function(source),
        dirichlet(&exact),
    )
    .with_exact(exact)
}

/// `-div(a grad u) = f` with `u = sin(2 x) e^y` and the tensor `a = [[2 + sin x, 0.3 x y], [0.3 x y, 1.5 + cos y]]`; a
/// Robin condition on the left, Neumann on top, Dirichlet on the other sides.
pub fn mixed_conditions() -> Problem {
    let u = |x: f64, y: f64| (2.0 * x).sin() * y.exp();
    let flux = |x: f64, y: f64| {
        let [ux, uy] = [2.0 * (2.0 * x).cos() * y.exp(), (2.0 * x).sin() * y.exp()];
        [(2.0 + x.sin()) * ux + 0.3 * x * y * uy, 0.3 * x * y * ux + (1.5 + y.cos()) * uy]
    };
    let source = move |x: f64, y: f64| {
        let (sin, cos) = ((2.0 * x).sin() * y.exp(), 2.0 * (2.0 * x).cos() * y.exp());
        let second = (2.0 + x.sin()) * -4.0 * sin + 0.6 * x * y * cos + (1.5 + y.cos()) * sin;
        let first = (x.cos() + 0.3 * x) * cos + (0.3 * y - y.sin()) * sin;
        -(second + first)
    };
    let mixed = function_with_gradient(|x, y| 0.3 * x * y, |x, y| [0.3 * y, 0.3 * x]);
    let tensor = [
        [function_with_gradient(|x, _| 2.0 + x.sin(), |x, _| [x.cos(), 0.0]), mixed.clone()],
        [mixed, function_with_gradient(|_, y| 1.5 + y.cos(), |_, y| [0.0, -y.sin()])],
    ];
    let exact = growing(2.0);
    let given = Condition::dirichlet(exact.clone());
    let left = Condition::robin(function(|_, y| 1.0 + y), function(move |x, y| (1.0 + y) * u(x, y) - flux(x, y)[0]));
    let top = Condition::neumann(function(move |x, y| flux(x, y)[1]));
    Problem::new(
        Equation::SecondOrder { diffusion: Diffusion::Tensor(tensor), advection: None, reaction: None },
        function(source),
        vec![left, given.clone(), given, top],
    )
    .with_exact(exact)
}

/// `sin(k x) e^y`.
fn growing(k: f64) -> FieldRef {
    function_with_gradient(
        move |x, y| (k * x).sin() * y.exp(),
        move |x, y| [k * (k * x).cos() * y.exp(), (k * x).sin() * y.exp()],
    )
}

/// `factor sin(k pi x) sin(l pi y)`.
fn sine_product(factor: f64, k: f64, l: f64) -> FieldRef {
    let [k, l] = [k * PI, l * PI];
    function_with_gradient(
        move |x, y| factor * (k * x).sin() * (l * y).sin(),
        move |x, y| [factor * k * (k * x).cos() * (l * y).sin(), factor * l * (k * x).sin() * (l * y).cos()],
    )
}

/// The same values on all four sides.
fn dirichlet(values: &FieldRef) -> Vec<Condition> {
    vec![Condition::dirichlet(values.clone()); 4]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decomposition::Decomposition;
    use crate::method::settings::Settings;
    use crate::problem::field::Samples;
    use crate::problem::random_field::RandomField;
    use crate::solve::solver::Solver;

    fn l2_error(problem: &Problem) -> f64 {
        let decomposition = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 2]).unwrap();
        let solver = Solver::new(problem, Arc::new(decomposition), &Settings::fast()).unwrap();
        solver.solve().unwrap().errors(problem.exact.as_deref().unwrap(), 20).unwrap().l2
    }

    /// A wrong source, sign or condition gives an error of order one.
    #[test]
    fn the_solver_finds_the_solutions_that_are_given() {
        for (name, problem) in [
            ("poisson", poisson()),
            ("sines", sines(2.0, 3.0)),
            ("plate", plate(Material::PAPER)),
            ("clamped plate", clamped_plate()),
            ("helmholtz", helmholtz(7.0)),
            ("advection", advection_diffusion(0.1)),
            ("mixed", mixed_conditions()),
        ] {
            let error = l2_error(&problem);
            assert!(error < 1e-8, "{name}: {error:e}");
        }
    }

    #[test]
    fn the_rough_coefficient_knows_its_gradient() {
        let field: FieldRef = Arc::new(RandomField::new(16.0, 256, 3).unwrap());
        let rho = rough_coefficient(field);
        let (x, y, h) = (0.31, 0.62, 1e-6);
        let mut values = [0.0; 4];
        rho.values(&Samples::at(&[x + h, x - h, x, x], &[y, y, y + h, y - h]), &mut values).unwrap();
        let (mut dx, mut dy) = ([0.0], [0.0]);
        assert!(rho.gradients(&Samples::at(&[x], &[y]), &mut dx, &mut dy).unwrap());
        let scale = 1.0 + dx[0].abs() + dy[0].abs();
        assert!(((values[0] - values[1]) / (2.0 * h) - dx[0]).abs() < 1e-3 * scale, "{dx:?}");
        assert!(((values[2] - values[3]) / (2.0 * h) - dy[0]).abs() < 1e-3 * scale, "{dy:?}");
    }
}
