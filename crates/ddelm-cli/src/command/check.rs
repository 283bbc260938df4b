//! `ddelm check`: what a problem file asks for, and what it will cost, without solving it.

use ddelm::cost::Cost;
use ddelm::file::Case;
use ddelm::settings::{InterfaceSolver, Method};

use super::Outcome;
use crate::failure::Failure;
use crate::number::{bytes, rough_seconds};
use crate::problem::ProblemArguments;
use crate::stdout;

/// Arguments of `ddelm check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    problem: ProblemArguments,
}

impl Check {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let input = self.problem.read()?;
        input.case.probe().map_err(|error| input.failure(error))?;
        stdout::print(&description(&input.case))?;
        Ok(Outcome::Done)
    }
}

fn description(case: &Case) -> String {
    let mut text = String::new();
    let mut add = |name: &str, lines: Vec<String>| {
        for (k, line) in lines.iter().enumerate() {
            text += &format!("{:<10} {line}\n", if k == 0 { name } else { "" });
        }
    };
    add("equation", case.problem.typeset_equation());
    add("domain", vec![format!("{} < x < {}, {} < y < {}", case.x[0], case.x[1], case.y[0], case.y[1])]);
    add("boundary", case.problem.typeset_boundary());
    add("exact", case.problem.exact.iter().map(|u| format!("u = {}", u.describe())).collect());
    add("method", vec![method(case)]);
    if case.settings.method != Method::Fem && case.tolerance.is_none() {
        let cost = Cost::new(&case.problem.equation, case.subdomains, &case.settings, rayon::current_num_threads());
        add("sizes", sizes(case, &cost));
        add("cost", vec![price(case, &cost)]);
    }
    text
}

fn method(case: &Case) -> String {
    match (case.settings.method, case.tolerance) {
        (Method::Fem, _) => format!("finite elements (P1) on {} x {} cells", case.cells[0], case.cells[1]),
        (_, Some(tolerance)) => format!("local networks; sizes are chosen for a relative error of {tolerance:e}"),
        (Method::Schur, _) => match case.settings.interface {
            InterfaceSolver::Direct => "local networks, coupled by a direct interface solve".into(),
            InterfaceSolver::Cg => "local networks, coupled by conjugate gradients on the interface".into(),
        },
        (Method::Elm, _) => "one network for the whole domain".into(),
        (Method::Locelm, _) => "local networks in one least-squares problem".into(),
    }
}

fn sizes(case: &Case, cost: &Cost) -> Vec<String> {
    let [nx, ny] = case.subdomains;
    let (points, neurons) = (case.settings.points, case.settings.neurons());
    let plural = if cost.factorizations == 1 { "factorization" } else { "factorizations" };
    vec![
        format!("{nx} x {ny} subdomains, {points} points per side, {neurons} neurons, {} rows", cost.rows),
        format!("{} interface unknowns, {} local {plural}", cost.unknowns, cost.factorizations),
    ]
}

fn price(case: &Case, cost: &Cost) -> String {
    let iterations = match case.settings.interface {
        InterfaceSolver::Cg => ", and the iterations",
        InterfaceSolver::Direct => "",
    };
    format!("about {} and {}{iterations}", bytes(cost.bytes as u64), rough_seconds(cost.seconds))
}
