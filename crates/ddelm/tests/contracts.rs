//! Lengths and sizes that are no lengths and sizes: an error through the Rust interface, never a panic or all the memory.

use std::sync::Arc;

use ddelm::base::npz::{self, Array};
use ddelm::domain::area::Cut;
use ddelm::domain::division::Tally;
use ddelm::domain::geometry::Geometry;
use ddelm::exchange::Serial;
use ddelm::method::cost::Cost;
use ddelm::method::settings::GivenWeights;
use ddelm::network::features::Networks;
use ddelm::network::features::{Distribution, FeatureNetwork, Initialization};
use ddelm::problem::Data;
use ddelm::problem::field::function_with_gradient;
use ddelm::problem::field::{Field, Samples};
use ddelm::problem::gallery;
use ddelm::problem::random_field::RandomField;
use ddelm::solution::save;
use ddelm::solve::tuning::tune;
use ddelm::{
    Condition, Decomposition, Error, Problem, ProblemFile, Settings, Silent, Solution, Solver, constant, function,
};

const HUGE: usize = usize::MAX;

fn square(counts: [usize; 2]) -> Arc<Decomposition> {
    Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts).unwrap())
}

fn settings(points: usize) -> Settings {
    Settings { points, ..Settings::fast() }
}

fn solution() -> Solution {
    Solver::new(&gallery::poisson(), square([2, 1]), &settings(6)).unwrap().solve().unwrap()
}

#[track_caller]
fn is_input<T>(found: Result<T, Error>) {
    let error = found.err().expect("it was accepted");
    assert!(error.is_input(), "{error}");
}

#[test]
fn decompositions() {
    for counts in [[0, 1], [1, 0], [HUGE, 1], [HUGE, HUGE], [1 << 40, 1 << 40], [1 << 20, 1]] {
        is_input(Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], counts));
        is_input(Decomposition::graded_rectangle([0.0, 1.0], [0.0, 1.0], counts, 2));
        is_input(Geometry::Rectangle { x: [0.0, 1.0], y: [0.0, 1.0], subdomains: counts }.decomposition());
    }
    is_input(Decomposition::graded_rectangle([0.0, 1.0], [0.0, 1.0], [2, 2], HUGE));
    for side in [[0.0, 1e308], [-1e308, 1e308], [0.0, 1e-300], [1.0, 1.0 + 1e-15], [f64::NAN, 1.0]] {
        is_input(Decomposition::rectangle(side, [0.0, 1.0], [2, 2]));
    }
    is_input(Decomposition::from_maps(Vec::new(), 1, |_| 0));
}

#[test]
fn sizes_of_a_solve() {
    let problem = gallery::poisson();
    for points in [0, 1, 257, 1 << 40, HUGE] {
        is_input(Solver::new(&problem, square([2, 2]), &settings(points)));
        Cost::of(&problem.equation, &Tally::of_rectangle([2, 2]), &settings(points), 1);
    }
    for neurons in [0, 1000, HUGE] {
        is_input(Solver::new(&problem, square([2, 2]), &Settings { neurons: Some(neurons), ..settings(6) }));
    }
    for (neurons, w, b) in [(9, 0, 9), (HUGE, 18, 9), (HUGE / 2 + 1, 0, 0), (0, 0, 0)] {
        let given = GivenWeights { neurons, w: vec![1.0; w], b: vec![1.0; b] };
        is_input(Solver::new(&problem, square([1, 1]), &Settings { weights: Some(Arc::new(given)), ..settings(6) }));
    }
    let distribution = Distribution {
        activation: settings(6).activation,
        initialization: Initialization::Suggested,
        scale: 1.0,
        radius: 1.0,
    };
    is_input(FeatureNetwork::sample(&distribution, HUGE, 0, 0, None));
    for counts in [[0, 0], [HUGE, HUGE]] {
        Cost::of(&problem.equation, &Tally::of_rectangle(counts), &settings(16), 0);
    }
}

#[test]
fn conditions_and_data() {
    let problem = gallery::poisson();
    let short = Problem { conditions: problem.conditions[..2].to_vec(), ..problem.clone() };
    is_input(Solver::new(&short, square([1, 1]), &settings(6)));
    let bare = Condition { values: Vec::new(), ..problem.conditions[0].clone() };
    is_input(Solver::new(&Problem { conditions: vec![bare; 4], ..problem.clone() }, square([1, 1]), &settings(6)));
    let solver = Solver::new(&problem, square([1, 1]), &settings(6)).unwrap();
    assert!(solver.solve_many(&[], &Silent).unwrap().is_empty());
    for boundary in [Vec::new(), vec![vec![constant(0.0)]; 3], vec![Vec::new(); 4]] {
        is_input(solver.solve_many(&[Data { source: constant(1.0), boundary }], &Silent));
    }
}

#[test]
fn points_and_resolutions() {
    let u = solution();
    let problem = gallery::poisson();
    is_input(u.locate(&[0.1, 0.2], &[0.3]));
    is_input(u.residuals(&problem, &[0.1], &[]));
    is_input(u.fluxes(&problem, &[], &[0.1]));
    assert!(u.values(&[f64::NAN, f64::INFINITY], &[0.0, 0.0]).iter().all(|v| v.is_nan()));
    for resolution in [0, 5000, HUGE] {
        is_input(u.errors(problem.exact.as_deref().unwrap(), resolution));
        is_input(u.distance(&u, resolution));
    }
    is_input(ddelm::solution::vtk::write("never.vtu", &u, None, HUGE));
}

#[test]
#[should_panic(expected = "every point has an x and a y")]
fn values_at_points_without_y_are_a_broken_contract() {
    solution().values(&[0.1, 0.2], &[0.3]);
}

#[test]
fn fields_of_every_kind() {
    let fields: [Arc<dyn Field>; 5] = [
        function(|x, y| x + y),
        function_with_gradient(|x, _| x, |_, _| [1.0, 0.0]),
        Arc::new(RandomField::new(1.0, 3, 0).unwrap()),
        Arc::new("x*y".parse::<ddelm::problem::expression::Formula>().unwrap()),
        Arc::new(solution()),
    ];
    for field in fields {
        let (three, two) = ([0.1; 3], [0.1; 2]);
        assert!(field.values(&Samples::at(&three, &two), &mut [0.0; 3]).is_err(), "{}", field.describe());
        assert!(field.values(&Samples::at(&three, &three), &mut [0.0; 2]).is_err(), "{}", field.describe());
        let gradients = field.gradients(&Samples::at(&three, &three), &mut [0.0; 3], &mut [0.0; 2]);
        assert!(matches!(gradients, Err(_) | Ok(false)), "{}", field.describe());
        assert!(field.values(&Samples::at(&three, &three), &mut [0.0; 3]).is_ok(), "{}", field.describe());
    }
    for modes in [0, HUGE, 1_000_000_000_000] {
        is_input(RandomField::new(1.0, modes, 0));
    }
    is_input(RandomField::from_arrays(vec![1.0; 2], vec![[1.0; 2]; 1], vec![1.0; 2]));
}

#[test]
fn cases_that_were_changed_by_hand() {
    let text = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n\
                [discretization]\nsubdomains = [2, 2]\npoints = 6\nestimate = false\n";
    let good = ProblemFile::new(text).case().unwrap();
    for subdomains in [[0, 1], [HUGE, HUGE], [HUGE, 0]] {
        let case = ddelm::solve::case::Case { cut: Cut::Counts(subdomains), ..good.clone() };
        case.occupies(2);
        is_input(case.validate());
        is_input(case.solve(&Silent));
        is_input(tune(&case, 1, &Silent));
    }
    let last_seed = Settings { seed: u64::MAX, ..good.settings.clone() };
    assert!(tune(&ddelm::solve::case::Case { settings: last_seed, ..good.clone() }, 2, &Silent).is_ok());
    let limited = Settings { max_memory: Some(1000), ..good.settings.clone() };
    let refused = ddelm::solve::case::Case { settings: limited, ..good }.solve(&Silent).err().unwrap();
    assert!(matches!(refused, Error::Memory { available: 1000, given: true, .. }), "{refused}");
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("u.safetensors");
    let good = solution();
    let changed: [fn(&mut Solution); 5] = [
        |u| u.coefficients.clear(),
        |u| drop(u.coefficients.pop()),
        |u| u.remainders.clear(),
        |u| u.networks = Networks::Each(Vec::new()),
        |u| u.coefficients[1].push(1.0),
    ];
    for change in changed {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(bad.save(&path).is_err());
    }
    let array = Array { shape: vec![HUGE, HUGE], data: vec![1.0] };
    assert!(npz::write_npy(folder.path().join("a.npy"), &array).is_err());
    for text in ["", "\u{93}NUMPY", "PK\u{5}\u{6}"] {
        assert!(npz::decode(text.as_bytes()).is_err() && npz::decode_npy(text.as_bytes()).is_err());
        assert!(save::decode(text.as_bytes()).is_err());
    }
}

/// Shapes without numbers in them take no bytes, and may say anything.
#[test]
fn a_file_without_neurons_names_no_subdomains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("u.safetensors");
    solution().save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let about =
        header["__metadata__"]["ddelm"].as_str().unwrap().replace("\"subdomains\":[2,1]", "\"subdomains\":[200000,1]");
    header["__metadata__"]["ddelm"] = about.into();
    let shapes = [
        ("weights", vec![1, 2, 0]),
        ("biases", vec![1, 0]),
        ("coefficients", vec![200_000, 0]),
        ("remainders", vec![200_000, 0]),
        ("polynomials", vec![200_000, 0]),
        ("polynomial_remainders", vec![200_000, 0]),
        ("interface_points", vec![0, 2]),
        ("interface_values", vec![0]),
    ];
    for (name, shape) in shapes {
        header[name]["shape"] = shape.into();
        header[name]["data_offsets"] = vec![0, 0].into();
    }
    let header = serde_json::to_vec(&header).unwrap();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header].concat();
    assert!(file.len() < 3000);
    let problem = save::decode(&file).err().unwrap();
    assert!(problem.contains("there are no neurons"), "{problem}");
}

#[test]
fn the_first_subdomain_with_an_infinite_source_is_named_on_any_number_of_threads() {
    // Subdomains in the corners, along the sides and inside share factors: what is first in its class need not be first of all.
    for first in [1, 3, 4, 9] {
        let source = move |x: f64, y: f64| {
            let s = (4.0 * x).floor() * 4.0 + (4.0 * y).floor();
            if s >= f64::from(first) { f64::INFINITY } else { 1.0 }
        };
        let mut problem = gallery::poisson();
        problem.source = function(source);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..5 {
                let (settings, decomposition) = (settings(6), square([4, 4]));
                let again = || Solver::new(&problem, decomposition.clone(), &settings)?.solve();
                let once = || Solver::once(Arc::new(Serial), &problem, decomposition.clone(), &settings, &Silent);
                for found in [pool.install(again), pool.install(once)] {
                    let error = found.err().expect("an infinite source was accepted");
                    let named = matches!(error, Error::NotFinite { subdomain: Some(s), .. } if s == first as usize);
                    assert!(named, "{first} with {threads} threads: {error}");
                }
            }
        }
    }
}
