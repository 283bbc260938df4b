//! Plan, solver, update: a solver on an old plan has the bits of a new one, whatever was solved on the plan before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ddelm::base::progress::{Progress, Stage};
use ddelm::exchange::Serial;
use ddelm::method::settings::InterfaceSolver;
use ddelm::problem::gallery;
use ddelm::solve::plan::Plan;
use ddelm::{Decomposition, Equation, Error, Problem, Settings, Silent, Solution, Solver, constant, function};

fn squares(counts: [usize; 2]) -> Arc<Decomposition> {
    Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap())
}

/// `-div((1 + k x y) grad u) = 1`, u = 0 on the boundary.
fn diffusing(k: f64) -> Problem {
    let diffusion = if k == 0.0 { constant(1.0) } else { function(move |x, y| 1.0 + k * x * y) };
    Problem { equation: Equation::diffusion(diffusion), ..gallery::poisson() }
}

fn assert_same(one: &Solution, other: &Solution, what: &str) {
    let bits = |numbers: &[Vec<f64>]| -> Vec<u64> { numbers.iter().flatten().map(|x| x.to_bits()).collect() };
    assert_eq!(bits(&one.coefficients), bits(&other.coefficients), "{what}");
    assert_eq!(bits(&one.remainders), bits(&other.remainders), "{what}");
    assert_eq!(one.report.residual.to_bits(), other.report.residual.to_bits(), "{what}");
    assert_eq!(one.report.warnings, other.report.warnings, "{what}");
}

#[test]
fn an_update_has_the_bits_of_a_new_solver() {
    let fast = Settings { points: 8, ..Settings::fast() };
    let iterative = Settings { interface: InterfaceSolver::Cg, ..Settings { points: 6, ..Settings::paper() } };
    for (name, settings) in [("fast", fast), ("paper", Settings { points: 6, ..Settings::paper() }), ("cg", iterative)]
    {
        let place = squares([3, 2]);
        let mut solver = Solver::new(&diffusing(0.0), place.clone(), &settings).unwrap();
        // From congruent subdomains to others, to other numbers on the same fronts, and back.
        for k in [0.5, 0.7, 0.0, 0.7] {
            solver = solver.update(&diffusing(k)).unwrap();
            let new = Solver::new(&diffusing(k), place.clone(), &settings).unwrap();
            assert_same(&solver.solve().unwrap(), &new.solve().unwrap(), &format!("{name}, k = {k}"));
            assert!(Arc::ptr_eq(solver.plan().decomposition(), &place));
        }
    }
}

/// Once, the local problems are solved by normal equations, and residuals evaluated; a solver has the QR factors.
#[test]
fn a_solve_and_a_solver_agree_to_rounding() {
    let settings = Settings { points: 12, ..Settings::fast() };
    let steep = Problem { equation: Equation::diffusion(function(|x, _| (9.0 * x).exp())), ..gallery::poisson() };
    let cases = [
        ("mild", diffusing(0.7)),
        ("mixed", gallery::mixed_conditions()),
        ("steep", steep),
        ("constant", diffusing(0.0)),
    ];
    for (name, problem) in cases {
        let place = squares([3, 2]);
        let once = Solver::once(Arc::new(Serial), &problem, place.clone(), &settings, &Silent).unwrap();
        let solver = Solver::new(&problem, place, &settings).unwrap().solve().unwrap();
        let [one, other] = [&once, &solver].map(|solution| solution.report.residual);
        assert!((one - other).abs() < 1e-5 * other + 1e-15, "{name}: residuals {one:e} and {other:e}");
        // Networks against networks: where a corner is not resolved their coefficients are large, and tables of the basis have the noise.
        let (x, y): (Vec<f64>, Vec<f64>) =
            (0..900).map(|i| (f64::from(i % 30) / 29.5, f64::from(i / 30) / 29.5)).unzip();
        let (one, other) = (once.gradients(&x, &y), solver.gradients(&x, &y));
        let apart = one.u.iter().zip(&other.u).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-11, "{name}: {apart:e} apart");
    }
}

#[test]
fn a_plan_serves_solvers_side_by_side() {
    let settings = Settings { points: 8, ..Settings::fast() };
    let plan = Plan::new(&diffusing(1.0), squares([2, 2]), &settings).unwrap();
    let solvers = [1.0, 2.0].map(|k| Solver::planned(&plan, &diffusing(k), &Silent).unwrap());
    for (k, solver) in [1.0, 2.0].into_iter().zip(&solvers) {
        assert!(Arc::ptr_eq(solver.plan(), &plan));
        let new = Solver::new(&diffusing(k), squares([2, 2]), &settings).unwrap();
        assert_same(&solver.solve().unwrap(), &new.solve().unwrap(), &format!("k = {k}"));
    }
}

#[test]
fn an_equation_of_another_order_gets_a_plan_of_its_own() {
    let settings = Settings { points: 8, ..Settings::fast() };
    let solver = Solver::new(&gallery::poisson(), squares([2, 2]), &settings).unwrap();
    let plan = solver.plan().clone();
    let solver = solver.update(&gallery::clamped_plate()).unwrap();
    assert!(!Arc::ptr_eq(solver.plan(), &plan));
    let new = Solver::new(&gallery::clamped_plate(), squares([2, 2]), &settings).unwrap();
    assert_same(&solver.solve().unwrap(), &new.solve().unwrap(), "plate after Poisson");
}

#[test]
fn an_update_refuses_what_a_new_solver_refuses() {
    let settings = Settings { points: 8, ..Settings::fast() };
    let solver = Solver::new(&gallery::poisson(), squares([2, 2]), &settings).unwrap();
    let short = Problem { conditions: Vec::new(), ..gallery::poisson() };
    let told = |result: ddelm::Result<Solver>| result.err().expect("it is refused").to_string();
    assert_eq!(told(solver.update(&short)), told(Solver::new(&short, squares([2, 2]), &settings)));
}

/// Asks to stop as soon as the interface is worked on.
#[derive(Default)]
struct UntilInterface(AtomicBool);

impl Progress for UntilInterface {
    fn begin(&self, stage: Stage, _: usize) {
        self.0.store(stage == Stage::Interface, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_solver_stops_while_its_interface_is_factored() {
    let settings = Settings { points: 6, ..Settings::fast() };
    let stopped = Solver::with_progress(&diffusing(0.5), squares([3, 2]), &settings, &UntilInterface::default());
    assert!(matches!(stopped.err(), Some(Error::Interrupted)));
}
