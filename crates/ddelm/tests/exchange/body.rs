//! What must hold on every machine. The same functions run on `Serial` and, under `mpirun`, on `Mpi`.

use std::f64::consts::PI;
use std::sync::Arc;

use ddelm::domain::area::{Cut, Domain};
use ddelm::domain::collocation::{Collocation, Nodes};
use ddelm::domain::outline::{Loop, NamedLoop, Outline, Piece};
use ddelm::domain::shape::Shape;
use ddelm::exchange::{Exchange, Message};
use ddelm::interface::{Numbering, Partition, Portion};
use ddelm::method::settings::{InterfaceSolver, Sharing};
use ddelm::problem::field::FieldRef;
use ddelm::problem::field::function_with_gradient;
use ddelm::{
    Condition, Decomposition, Equation, Error, Problem, Result, Settings, Silent, Solution, Solver, constant, function,
};

/// A machine.
pub type Machine = Arc<dyn Exchange>;

/// A check: its name and its body.
pub type Check = (&'static str, fn(&Machine));

/// All checks, by name. They are collective: every rank runs all of them, in this order.
pub const CHECKS: [Check; 13] = [
    ("sums and maxima are over all ranks", sums_and_maxima),
    ("messages come back from the same rank", messages_come_back),
    ("parts are gathered in the order of the ranks", gathering),
    ("a text goes to all ranks", text_to_all),
    ("every unknown is counted once", every_unknown_is_counted_once),
    ("the direct solution does not depend on the ranks", direct_solution),
    ("the plate does not depend on the ranks", plate),
    ("curved and split subdomains do not depend on the ranks", any_domain),
    ("conjugate gradients do not depend on the ranks", conjugate_gradients),
    ("several right-hand sides are solved at once", several_right_hand_sides),
    ("bytes are counted", bytes_are_counted),
    ("an error on one rank is an error on all", error_on_one_rank),
    ("more ranks than subdomains are refused", too_many_ranks),
];

fn rectangle(counts: [usize; 2]) -> Arc<Decomposition> {
    Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap())
}

/// `-div(rho grad u) = f` with `u = g` on the boundary.
fn diffusion(rho: FieldRef, source: FieldRef, value: FieldRef) -> Problem {
    diffusion_on(4, rho, source, value)
}

/// The same where the boundary has so many parts.
fn diffusion_on(parts: usize, rho: FieldRef, source: FieldRef, value: FieldRef) -> Problem {
    let conditions = (0..parts).map(|_| Condition::dirichlet(value.clone())).collect();
    Problem::new(Equation::diffusion(rho), source, conditions)
}

fn rho() -> FieldRef {
    function_with_gradient(|x, y| 2.0 + (3.0 * x + y).sin(), |x, y| [3.0 * (3.0 * x + y).cos(), (3.0 * x + y).cos()])
}

/// A problem with the solution `sin(2 x + y)`.
fn smooth() -> Problem {
    let source = function(|x, y| {
        let (slope, u) = ((3.0 * x + y).cos(), (2.0 * x + y).sin());
        5.0 * (2.0 + (3.0 * x + y).sin()) * u - 7.0 * slope * (2.0 * x + y).cos()
    });
    diffusion(rho(), source, function(|x, y| (2.0 * x + y).sin()))
}

fn solve_on(machine: &Machine, problem: &Problem, counts: [usize; 2], settings: &Settings) -> Result<Solution> {
    Solver::on(machine.clone(), problem, rectangle(counts), settings, &Silent)?.solve()
}

/// Largest difference on a grid, relative to the largest value.
fn difference(a: &Solution, b: &Solution) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..900).map(|k| ((k / 30) as f64 / 30.0 + 0.013, (k % 30) as f64 / 30.0 + 0.017)).unzip();
    let (mut a, mut b) = (a.values(&x, &y), b.values(&x, &y));
    // Points in no subdomain have no value in either.
    for (a, b) in a.iter_mut().zip(&mut b).filter(|(a, b)| a.is_nan() && b.is_nan()) {
        (*a, *b) = (0.0, 0.0);
    }
    let largest =
        |v: &mut dyn Iterator<Item = f64>| v.fold(0.0, |m: f64, x| if x.is_nan() { x } else { m.max(x.abs()) });
    largest(&mut a.iter().zip(&b).map(|(a, b)| a - b)) / largest(&mut b.iter().copied())
}

/// The solution on one process, which every rank computes for itself.
fn check_against_one_process(
    machine: &Machine,
    problem: &Problem,
    counts: [usize; 2],
    settings: &Settings,
    bound: f64,
) {
    check_on(machine, problem, rectangle(counts), settings, bound);
}

/// The same on any subdomains.
fn check_on(machine: &Machine, problem: &Problem, on: Arc<Decomposition>, settings: &Settings, bound: f64) {
    let here = Solver::on(machine.clone(), problem, on.clone(), settings, &Silent).unwrap().solve().unwrap();
    if machine.rank() > 0 {
        assert!(machine.size() == 1 || here.coefficients.iter().any(Vec::is_empty));
        return;
    }
    let alone = Solver::new(problem, on, settings).unwrap().solve().unwrap();
    let error = difference(&here, &alone);
    assert!(error <= bound, "{error:e}");
    assert_eq!(here.interface.len(), alone.interface.len());
    for ((p, u), (q, v)) in here.interface.iter().zip(&alone.interface) {
        assert_eq!(p, q);
        assert!((u - v).abs() <= 100.0 * bound, "{u} {v}");
    }
    assert_eq!(here.report.interface.unknowns, alone.report.interface.unknowns);
    assert_eq!(here.report.features.rank, alone.report.features.rank);
    assert!(
        here.report.interface.iterations.abs_diff(alone.report.interface.iterations)
            <= alone.report.interface.iterations / 20
    );
}

fn sums_and_maxima(machine: &Machine) {
    let (rank, size) = (machine.rank() as f64, machine.size() as f64);
    let mut values = [1.0, rank, -rank];
    machine.sum(&mut values);
    assert_eq!(values, [size, size * (size - 1.0) / 2.0, -size * (size - 1.0) / 2.0]);
    let mut values = [rank, -rank];
    machine.max(&mut values);
    assert_eq!(values, [size - 1.0, 0.0]);
    assert!(machine.any(rank == size - 1.0));
    assert!(!machine.any(false));
    assert!(machine.threads() >= 1);
}

fn messages_come_back(machine: &Machine) {
    let (rank, size) = (machine.rank(), machine.size());
    // To every other rank as many numbers as its number says, and one.
    let message = |other: usize| Message { rank: other, values: vec![rank as f64; other + 1], answer: rank + 1 };
    let messages: Vec<Message> = (0..size).filter(|&other| other != rank).map(message).collect();
    let mut worked = 0;
    let answers = machine.swap(&messages, &mut || worked += 1);
    assert_eq!(worked, 1);
    for (message, answer) in messages.iter().zip(&answers) {
        assert_eq!(*answer, vec![message.rank as f64; rank + 1]);
    }
    assert_eq!(answers.len(), size - 1);
}

fn gathering(machine: &Machine) {
    let rank = machine.rank();
    let parts = machine.gather(&vec![rank as f64; 2 * rank]);
    let expected: Vec<Vec<f64>> = (0..machine.size()).map(|r| vec![r as f64; 2 * r]).collect();
    assert_eq!(parts, if rank == 0 { expected } else { Vec::new() });
}

fn text_to_all(machine: &Machine) {
    let last = machine.size() - 1;
    let mine = format!("u, \u{3c1} and f from rank {}", machine.rank());
    assert_eq!(machine.broadcast(last, &mine), format!("u, \u{3c1} and f from rank {last}"));
    assert_eq!(machine.broadcast(0, ""), "");
}

fn every_unknown_is_counted_once(machine: &Machine) {
    for nodes in [Nodes::Chebyshev, Nodes::Uniform] {
        let d = rectangle([5, 4]);
        let partition = Partition::new(&d, machine.size()).unwrap();
        let whole = Numbering::new(&d, &Collocation::new(Shape::Quadrilateral, nodes, 6, 2, false));
        let portion = Portion::new(&d, &partition, machine.rank(), whole);
        let mut counts = vec![0.0; portion.whole.unknowns()];
        portion.owned_in_whole().for_each(|unknown| counts[unknown] += 1.0);
        machine.sum(&mut counts);
        assert!(counts.iter().all(|&count| count == 1.0));
        assert_eq!(portion.owned().iter().map(|r| r.len()).sum::<usize>(), portion.owned_in_whole().count());
    }
}

fn direct_solution(machine: &Machine) {
    let problem = smooth();
    let settings = Settings { points: 10, ..Settings::fast() };
    check_against_one_process(machine, &problem, [5, 4], &settings, 1e-12);
    let independent = Settings { sharing: Sharing::Independent, ..settings.clone() };
    check_against_one_process(machine, &problem, [2, 3], &independent, 1e-12);
    let tested = Settings { nodes: Some(Nodes::Gauss), ..settings.clone() };
    check_against_one_process(machine, &problem, [4, 3], &tested, 1e-11);
    let corners = Settings { nodes: Some(Nodes::Uniform), ..settings };
    check_against_one_process(machine, &problem, [4, 4], &corners, 1e-12);
    // A source that does not vanish at the corners makes them singular.
    let rough = diffusion(rho(), constant(1.0), constant(0.0));
    check_against_one_process(machine, &rough, [4, 4], &Settings { points: 16, ..Settings::fast() }, 1e-12);
}

fn plate(machine: &Machine) {
    let load = function(|x, y| 4.0 * PI.powi(4) * (PI * x).sin() * (PI * y).sin());
    let zero = constant(0.0);
    let conditions = (0..4).map(|_| Condition::simply_supported(zero.clone(), zero.clone())).collect();
    let problem = Problem::new(Equation::Plate { rigidity: constant(1.0) }, load, conditions);
    check_against_one_process(machine, &problem, [3, 3], &Settings { points: 10, ..Settings::fast() }, 1e-12);
}

/// A disk with a hole, some of its subdomains split; and a wavy strip whose ends are one.
fn any_domain(machine: &Machine) {
    let settings = Settings { points: 10, ..Settings::fast() };
    let outer = Loop::circle("circle", [0.5, 0.5], 0.5).unwrap();
    let hole = NamedLoop { name: "hole".into(), outline: Loop::circle("hole", [0.6, 0.5], 0.15).unwrap() };
    let ring = Domain::outline(Outline::new(outer, vec![hole], Vec::new()).unwrap());
    let ring = ring.decompose(&Cut::Size(0.4)).unwrap().split(&[0, 3, 4]).unwrap();
    assert!(ring.has_hanging_sides());
    let value = function(|x, y| (2.0 * x + y).sin());
    let problem = diffusion_on(2, rho(), smooth().source, value.clone());
    check_on(machine, &problem, Arc::new(ring), &settings, 1e-12);
    let wave = |y: &str, t: [f64; 2]| Piece::formula("wave", ["t", y], t).unwrap();
    let line = |from: [f64; 2], to: [f64; 2]| Piece::line("line", from, to).unwrap();
    let pieces = vec![
        wave("0.1*sin(2*pi*t)", [0.0, 1.0]),
        line([1.0, 0.0], [1.0, 0.8]),
        wave("0.8 + 0.1*sin(2*pi*t)", [1.0, 0.0]),
        line([0.0, 0.8], [0.0, 0.0]),
    ];
    let strip = Domain::outline(Outline::simple(Loop::outline("outline", pieces).unwrap()).unwrap());
    let strip = strip.periodic(&[(1, 3)]).unwrap().decompose(&Cut::Size(0.3)).unwrap();
    let around = function(|x, y| (2.0 * PI * x).sin() + y);
    let problem = diffusion_on(2, constant(1.0), around.clone(), around);
    check_on(machine, &problem, Arc::new(strip), &settings, 1e-12);
}

fn conjugate_gradients(machine: &Machine) {
    let problem = smooth();
    // The paper's nodes, with cross points that up to four ranks share.
    let paper = Settings { points: 6, interface_tolerance: 1e-12, ..Settings::paper() };
    check_against_one_process(machine, &problem, [4, 3], &paper, 1e-7);
    let fast = Settings { interface: InterfaceSolver::Cg, points: 8, interface_tolerance: 1e-13, ..Settings::fast() };
    check_against_one_process(machine, &problem, [3, 4], &fast, 1e-9);
}

fn several_right_hand_sides(machine: &Machine) {
    let (one, zero) = (smooth(), diffusion(rho(), constant(0.0), constant(0.0)));
    let settings = Settings { points: 12, ..Settings::fast() };
    let solver = Solver::on(machine.clone(), &one, rectangle([3, 2]), &settings, &Silent).unwrap();
    let both = solver.solve_many(&[zero.data(), one.data()], &Silent).unwrap();
    if machine.rank() == 0 {
        let u = [0, 1].map(|k: usize| both[k].values(&[0.3], &[0.7])[0]);
        assert_eq!(u[0], 0.0);
        assert!((u[1] - 1.3_f64.sin()).abs() < 1e-9, "{u:?}");
    }
    assert!(solver.solve_many(&[], &Silent).unwrap().is_empty());
}

/// In an iteration of conjugate gradients both ranks of a cut edge send its values and its jumps, and every rank two
/// numbers for the inner products.
fn bytes_are_counted(machine: &Machine) {
    let (ranks, points) = (machine.size(), 8);
    let decomposition = rectangle([4, 4]);
    let partition = Partition::new(&decomposition, ranks).unwrap();
    let cut = decomposition
        .edges
        .iter()
        .filter(|e| partition.rank_of(e.sides[0].subdomain) != partition.rank_of(e.sides[1].subdomain))
        .count();
    let run = |max_iterations| {
        let settings = Settings { interface: InterfaceSolver::Cg, points, max_iterations, ..Settings::fast() };
        solve_on(machine, &smooth(), [4, 4], &settings).unwrap().report.interface
    };
    let (few, more) = (run(32), run(48));
    assert_eq!((few.iterations, more.iterations), (32, 48));
    // Once in sixteen iterations the ranks ask each other whether to stop.
    let reductions = if ranks > 1 { 8 * ranks * (16 * 2 + 1) } else { 0 };
    let per_edge = Collocation::new(Shape::Quadrilateral, Nodes::Chebyshev, points, 1, false).side.len();
    let swaps = 16 * 8 * 2 * 2 * cut * per_edge;
    assert_eq!(more.bytes_sent - few.bytes_sent, (swaps + reductions) as u64);
}

/// The coefficient is not a number in the last subdomain alone: only its rank can know.
fn error_on_one_rank(machine: &Machine) {
    let bad =
        function_with_gradient(|x: f64, y: f64| if x > 0.9 && y > 0.9 { f64::NAN } else { 1.0 }, |_, _| [0.0, 0.0]);
    let settings = Settings { points: 8, ..Settings::fast() };
    for (rho, source) in [(bad.clone(), constant(1.0)), (constant(1.0), bad)] {
        let problem = diffusion(rho, source, constant(0.0));
        let error = solve_on(machine, &problem, [4, 4], &settings).err().unwrap();
        assert!(error.is_input());
        let told = matches!(error, Error::NotFinite { subdomain: Some(15), .. });
        let mut messages = [f64::from(u8::from(told))];
        machine.sum(&mut messages);
        assert_eq!(messages, [1.0], "one rank has the error, and the others know: {error}");
        assert!(told || matches!(&error, Error::Elsewhere { rank, .. } if *rank != machine.rank()));
        assert!(error.to_string().contains("subdomain 15"), "all know what happened: {error}");
    }
    // The machine is as good as before.
    direct_solution(machine);
}

fn too_many_ranks(machine: &Machine) {
    let problem = diffusion(constant(1.0), constant(1.0), constant(0.0));
    let outcome = solve_on(machine, &problem, [1, 1], &Settings { points: 8, ..Settings::fast() });
    assert_eq!(outcome.is_err(), machine.size() > 1);
}
