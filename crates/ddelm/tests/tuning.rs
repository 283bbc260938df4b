//! The search for the scale of the weights.

use ddelm::solve::tuning::tune;
use ddelm::{ProblemFile, Silent};

const TEXT: &str = "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = '2*sin(x)*cos(y)'\n[boundary]\n\
                    dirichlet = 'sin(x)*cos(y)'\n[exact]\nu = 'sin(x)*cos(y)'\n[discretization]\n\
                    subdomains = [2, 2]\npoints = 8\n";

#[test]
fn the_best_scale_is_no_worse_than_the_default() {
    let plate =
        TEXT.replace("source = '2*", "plate.load = '4*").replace("[exact]", "laplacian = '-2*sin(x)*cos(y)'\n[exact]");
    for text in [TEXT, &plate] {
        let tuning = tune(&ProblemFile::new(text).case().unwrap(), 2, &Silent).unwrap();
        assert!(tuning.best.error <= tuning.default.error);
        assert!(tuning.best.error < 1e-5, "{:?}", tuning.best);
        assert!(tuning.trials.windows(2).all(|pair| pair[0].scale <= pair[1].scale));
    }
}

#[test]
fn without_an_exact_solution_the_estimate_decides() {
    let text = TEXT.replace("[exact]\nu = 'sin(x)*cos(y)'\n", "");
    let tuning = tune(&ProblemFile::new(text).case().unwrap(), 1, &Silent).unwrap();
    assert!(tuning.best.error < 1e-5, "{:?}", tuning.best);
}

#[test]
fn initializations_without_a_scale_are_refused() {
    let case = ProblemFile::new(TEXT).set("network.initialization=he").case().unwrap();
    assert_eq!(tune(&case, 1, &Silent).unwrap_err().key(), Some("network.initialization"));
}
