//! The patch test: when the exact solution lies in the span of the features, the whole pipeline reproduces it to
//! rounding. It needs no tuning and catches every wrong sign, index and normal.

use std::sync::Arc;

use ddelm::method::settings::{GivenWeights, InterfaceSolver, Truncation};
use ddelm::network::activation::Activation;
use ddelm::problem::Diffusion;
use ddelm::problem::field::FieldRef;
use ddelm::problem::field::function_with_gradient;
use ddelm::{Condition, Decomposition, Equation, Problem, Settings, Solver, constant, function};

const NEURONS: usize = 24;
const SUBDOMAINS: usize = 6;
const SIDES: [[f64; 2]; 4] = [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]];

/// A network in physical coordinates, the same in all subdomains.
#[derive(Clone)]
struct Network {
    activation: Activation,
    w: Vec<[f64; 2]>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Network {
    fn new(activation: Activation) -> Arc<Self> {
        let angle = |j: usize, k: f64| (j as f64 * k + 0.3).sin();
        Arc::new(Network {
            activation,
            w: (0..NEURONS).map(|j| [2.0 * angle(j, 1.7), 2.0 * angle(j, 2.9)]).collect(),
            b: (0..NEURONS).map(|j| angle(j, 0.77)).collect(),
            c: (0..NEURONS).map(|j| angle(j, 1.1)).collect(),
        })
    }

    /// The derivative of so many orders in x and y.
    fn derivative(&self, orders: [i32; 2], x: f64, y: f64) -> f64 {
        let k = (orders[0] + orders[1]) as usize;
        (0..NEURONS)
            .map(|j| {
                let w = self.w[j];
                let sigma = self.activation.derivatives(w[0] * x + w[1] * y + self.b[j])[k];
                self.c[j] * w[0].powi(orders[0]) * w[1].powi(orders[1]) * sigma
            })
            .sum()
    }

    fn given(&self) -> GivenWeights {
        let one: Vec<f64> = (0..2).flat_map(|k| self.w.iter().map(move |w| w[k])).collect();
        GivenWeights { neurons: NEURONS, w: one.repeat(SUBDOMAINS), b: self.b.repeat(SUBDOMAINS) }
    }

    fn exact(self: &Arc<Self>) -> FieldRef {
        let (u, g) = (self.clone(), self.clone());
        function_with_gradient(
            move |x, y| u.derivative([0, 0], x, y),
            move |x, y| [g.derivative([1, 0], x, y), g.derivative([0, 1], x, y)],
        )
    }

    fn laplacian(&self, x: f64, y: f64) -> f64 {
        self.derivative([2, 0], x, y) + self.derivative([0, 2], x, y)
    }
}

fn diffusion() -> [[FieldRef; 2]; 2] {
    [
        [
            function_with_gradient(|x, y| 2.0 + x.sin() * y, |x, y| [x.cos() * y, x.sin()]),
            function_with_gradient(|x, y| 0.3 * x * y, |x, y| [0.3 * y, 0.3 * x]),
        ],
        // Not symmetric, and without a gradient of its own: the solver differentiates it.
        [function_with_gradient(|x, _| 0.2 * x * x, |x, _| [0.4 * x, 0.0]), function(|x, y| 1.5 + (x + y).cos())],
    ]
}

/// a grad u
fn flux(u: &Network, x: f64, y: f64) -> [f64; 2] {
    let (ux, uy) = (u.derivative([1, 0], x, y), u.derivative([0, 1], x, y));
    [(2.0 + x.sin() * y) * ux + 0.3 * x * y * uy, 0.2 * x * x * ux + (1.5 + (x + y).cos()) * uy]
}

fn conormal(u: &Arc<Network>, side: usize) -> impl Fn(f64, f64) -> f64 + Send + Sync + 'static {
    let (u, n) = (u.clone(), SIDES[side]);
    move |x, y| {
        let f = flux(&u, x, y);
        n[0] * f[0] + n[1] * f[1]
    }
}

/// Second order with variable tensor, advection and reaction. `turn` moves the kinds of conditions round the sides.
fn second_order(u: &Arc<Network>, turn: usize) -> Problem {
    let v = u.clone();
    let source = function(move |x, y| {
        let d = |i, j| v.derivative([i, j], x, y);
        let (a, b) = (2.0 + x.sin() * y, 0.3 * x * y);
        let (c, e) = (0.2 * x * x, 1.5 + (x + y).cos());
        let second = a * d(2, 0) + (b + c) * d(1, 1) + e * d(0, 2);
        let first = (x.cos() * y) * d(1, 0) + (0.3 * y - (x + y).sin()) * d(0, 1);
        -(second + first) + (1.0 + y) * d(1, 0) - x * d(0, 1) + (2.0 + x * y) * d(0, 0)
    });
    let condition = |side: usize| match (side + turn) % 3 {
        0 => Condition::dirichlet(u.exact()),
        1 => Condition::neumann(function(conormal(u, side))),
        _ => {
            let (v, g) = (u.clone(), conormal(u, side));
            let value = function(move |x, y| g(x, y) + (1.0 + x * x) * v.derivative([0, 0], x, y));
            Condition::robin(function(|x, _| 1.0 + x * x), value)
        }
    };
    Problem::new(
        Equation::SecondOrder {
            diffusion: Diffusion::Tensor(diffusion()),
            advection: Some([function(|_, y| 1.0 + y), function(|x, _| -x)]),
            reaction: Some(function(|x, y| 2.0 + x * y)),
        },
        source,
        (0..4).map(condition).collect(),
    )
    .with_exact(u.exact())
}

fn plate(u: &Arc<Network>, turn: usize) -> Problem {
    let v = u.clone();
    let load = function(move |x, y| {
        0.5 * (v.derivative([4, 0], x, y) + 2.0 * v.derivative([2, 2], x, y) + v.derivative([0, 4], x, y))
    });
    let condition = |side: usize| {
        let v = u.clone();
        if (side + turn).is_multiple_of(2) {
            Condition::simply_supported(u.exact(), function(move |x, y| v.laplacian(x, y)))
        } else {
            let n = SIDES[side];
            let slope = move |x, y| n[0] * v.derivative([1, 0], x, y) + n[1] * v.derivative([0, 1], x, y);
            Condition::clamped(u.exact(), function(slope))
        }
    };
    Problem::new(Equation::Plate { rigidity: constant(0.5) }, load, (0..4).map(condition).collect())
        .with_exact(u.exact())
}

fn error(problem: &Problem, settings: &Settings) -> f64 {
    let decomposition = Decomposition::rectangle([-0.5, 1.0], [0.2, 1.4], [3, 2]).unwrap();
    let solution = Solver::new(problem, Arc::new(decomposition), settings).unwrap().solve().unwrap();
    let errors = solution.errors(problem.exact.as_ref().unwrap().as_ref(), 20).unwrap();
    errors.h1.unwrap().max(errors.interface_rms.unwrap_or(0.0))
}

fn settings(u: &Network, base: Settings) -> Settings {
    Settings {
        points: 9,
        activation: u.activation,
        weights: Some(Arc::new(u.given())),
        // The paper's conjugate gradients stop at 1e-9; the patch test is about the equations, not about them.
        interface: InterfaceSolver::Direct,
        ..base
    }
}

#[test]
fn second_order_is_exact_with_every_condition_on_every_side() {
    let u = Network::new(Activation::Tanh);
    for base in [Settings::fast(), Settings::paper()] {
        for turn in 0..3 {
            let found = error(&second_order(&u, turn), &settings(&u, base.clone()));
            assert!(found < 1e-10, "{:?}, turn {turn}: {found:e}", base.nodes);
        }
    }
}

#[test]
fn the_plate_is_exact_supported_and_clamped() {
    let u = Network::new(Activation::Tanh);
    for base in [Settings::fast(), Settings::paper()] {
        for turn in 0..2 {
            let found = error(&plate(&u, turn), &settings(&u, base.clone()));
            assert!(found < 1e-10, "{:?}, turn {turn}: {found:e}", base.nodes);
        }
    }
}

#[test]
fn every_activation_and_truncation_is_exact() {
    for activation in [Activation::Tanh, Activation::Sin, Activation::Gaussian] {
        let u = Network::new(activation);
        for truncation in [Truncation::Qr, Truncation::Svd] {
            let settings = Settings { truncation, ..settings(&u, Settings::fast()) };
            let found = error(&second_order(&u, 1), &settings);
            assert!(found < 1e-10, "{activation:?} {truncation:?}: {found:e}");
        }
    }
}

#[test]
fn conjugate_gradients_reach_the_same_solution() {
    let u = Network::new(Activation::Tanh);
    let tight =
        Settings { interface: InterfaceSolver::Cg, interface_tolerance: 1e-13, ..settings(&u, Settings::fast()) };
    let found = error(&second_order(&u, 0), &tight);
    assert!(found < 1e-9, "{found:e}");
}
