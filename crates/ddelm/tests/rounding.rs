//! What a rounding error in the data does to the solution: nothing but a rounding error, also where the data are rough.

use ddelm::{ProblemFile, Silent, Solution};

/// `-div(a grad u) = 1`, u = 0 on the boundary: corners with a singular solution.
fn solve(diffusion: &str, extra: &str) -> Solution {
    let text = format!(
        "[domain]\nx = [0.0, 1.0]\ny = [0.0, 1.0]\n[equation]\ndiffusion = \"{diffusion}\"\nsource = \"1\"\n\
         [boundary]\ndirichlet = \"0\"\n[discretization]\nsubdomains = [4, 4]\npoints = 16\nestimate = false\n{extra}"
    );
    ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap()
}

fn relative_difference(a: &Solution, b: &Solution) -> f64 {
    let n = 97;
    let at = |k: usize| (k as f64 + 0.5) / n as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n * n).map(|k| (at(k / n), at(k % n))).unzip();
    let (a, b) = (a.values(&x, &y), b.values(&x, &y));
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(&b).map(|(a, b)| a - b)) / norm(&mut a.iter().copied())
}

#[test]
fn two_ways_to_write_a_coefficient_have_the_same_solution() {
    for extra in ["", "[network]\ntruncation = \"svd\"\n"] {
        let one = solve("1.1 + tanh(sin(5*x))", extra);
        let other = solve("1.1 + tanh(sin(2*x + 3*x))", extra);
        let difference = relative_difference(&one, &other);
        assert!(difference > 0.0, "the coefficients should differ in their last digit");
        assert!(difference < 1e-12, "{difference:e} with {extra:?}");
    }
}
