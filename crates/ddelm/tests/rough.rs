//! Tolerances where data are singular along a side, or next to nothing but rounding.

use ddelm::method::report::Status;
use ddelm::{ProblemFile, Silent, Solution};

const SQUARE: &str = "[domain]\nx = [0, 1]\ny = [0, 1]\n";

fn solve(text: &str) -> Solution {
    ProblemFile::new(text).case().unwrap().solve(&Silent).unwrap()
}

/// Solves a problem with the values of its solution on the whole boundary, and checks its error and the subdomains it takes.
fn is_kept(source: &str, exact: &str, tolerance: f64, most: usize) {
    let text = format!(
        "{SQUARE}[equation]\nsource = \"{source}\"\n[boundary]\ndirichlet = \"{exact}\"\n[exact]\nu = \"{exact}\"\n\
         [discretization]\ntolerance = {tolerance}\n"
    );
    let report = solve(&text).report;
    assert_eq!(report.status, Status::Solved, "{exact}: {:?}", report.estimate.map(|e| e.l2));
    let error = report.errors.unwrap().l2;
    assert!(error <= tolerance && report.subdomains <= most, "{exact}: {error:.1e} on {}", report.subdomains);
    assert!(report.warnings.is_empty(), "{exact}: {:?}", report.warnings);
}

/// The rings about the ends of a side that the source has a pole along were kept for some numbers of points, and 6,000 subdomains cut
/// around them. Next to x = 1 their points are rounded onto the side.
#[test]
fn a_side_with_a_pole_has_no_rings_at_its_ends() {
    for distance in ["x", "(1 - x)"] {
        for tolerance in [1e-4, 1e-6] {
            is_kept(&format!("0.1875*{distance}^(-1.25)"), &format!("{distance}^0.75"), tolerance, 100);
        }
    }
}

/// Errors of 1e-9 that more subdomains everywhere hardly lessen need not be rounding.
#[test]
fn what_falls_slowly_is_split_at_any_error() {
    is_kept("-15.75*(1 - x)^2.5", "(1 - x)^4.5", 1e-10, 100);
}

/// The source is the rounding of zero, and has tails that look like those of poles: it took 26,000 subdomains.
#[test]
fn rounding_is_not_followed() {
    let r2 = "((x + 0.01)^2 + (y - 0.5)^2)";
    let source = format!("2*(x + 0.01)^2/{r2}^2 + 2*(y - 0.5)^2/{r2}^2 - 2/{r2}");
    is_kept(&source, &format!("0.5*log{r2}"), 1e-8, 200);
}

/// About a vertex that is not the origin, points of rings differ in their last digits only: differences say nothing about a formula.
#[test]
fn a_formula_is_not_doubted_where_its_points_are_rounded() {
    let u = "hypot(x - 0.3765, y)^0.5*cos(0.5*atan2(y, x - 0.3765))";
    let text = format!(
        "{SQUARE}[equation]\nsource = 0\n[boundary]\ndirichlet = \"{u}\"\n[boundary.bottom]\nneumann = 0\n\
         [[boundary.bottom.part]]\nfrom = 0\nto = 0.3765\ndirichlet = \"{u}\"\n[exact]\nu = \"{u}\"\n\
         [discretization]\ntolerance = 1e-6\n"
    );
    let report = solve(&text).report;
    assert!(report.status == Status::Solved && report.warnings.is_empty(), "{:?}", report.warnings);
}

/// The load of a plate is x^-0.5. Strips along the side leave no pivots, and were the end of it.
#[test]
fn what_has_no_pivot_is_no_reason_to_lose_the_best_solution() {
    let text = format!(
        "{SQUARE}[equation.plate]\nload = \"6.5625*x^(-0.5)\"\n[boundary]\ndirichlet = \"x^3.5\"\nlaplacian = \"8.75*x^1.5\"\n\
         [discretization]\ntolerance = 1e-7\n"
    );
    let report = solve(&text).report;
    assert_eq!(report.status, Status::ToleranceNotReached);
    assert!(report.estimate.unwrap().l2 < 1e-3);
}
