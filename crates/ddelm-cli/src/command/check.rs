//! `ddelm check`: what a problem file asks for, and what it will cost, without solving it.

use std::path::PathBuf;

use ddelm::Error;
use ddelm::domain::area::Domain;
use ddelm::method::cost::Cost;
use ddelm::method::settings::{InterfaceSolver, Method};
use ddelm::solve::case::Case;
use ddelm::solve::time::{Steps, Time};

use super::Outcome;
use crate::failure::Failure;
use crate::problem::ProblemArguments;
use crate::view::plan;
use crate::{stdout, summary};
use ddelm::base::amount::bytes;
use ddelm::base::number::rough_seconds;
use ddelm_picture as picture;

/// Arguments of `ddelm check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Draw the subdomains and the names of the parts of the boundary and of the regions: a .png or .svg file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Check {
    /// Carries it out.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let input = self.problem.read()?;
        self.plot.iter().try_for_each(|path| picture::check(path))?;
        input.case.probe().map_err(|error| input.failure(error))?;
        stdout::print(&description(&input.case).map_err(|error| input.failure(error))?)?;
        if let Some(path) = &self.plot {
            let decomposition = input.case.decomposition().map_err(|error| input.failure(error))?;
            picture::write(path, &plan(&decomposition).scene())?;
        }
        Ok(Outcome::Done)
    }
}

/// What `ddelm check` prints.
fn description(case: &Case) -> Result<String, Error> {
    let line = |(name, text): &(&str, String)| format!("{name:<10} {text}\n");
    Ok(entries(case)?.iter().map(line).collect())
}

/// What a case asks for and will cost: lines of text, with a name in front of the first of each kind.
pub fn entries(case: &Case) -> Result<Vec<(&'static str, String)>, Error> {
    let mut entries = Vec::new();
    let mut add = |name: &'static str, lines: Vec<String>| {
        entries.extend(lines.into_iter().enumerate().map(|(k, line)| (if k == 0 { name } else { "" }, line)));
    };
    add("equation", case.problem.typeset_equation());
    add("domain", vec![case.domain.to_string()]);
    add("parts", parts(&case.domain));
    add("regions", Some(case.domain.regions().join(", ")).into_iter().filter(|names| !names.is_empty()).collect());
    add("boundary", case.problem.typeset_boundary(case.domain.parts()));
    add("exact", case.problem.exact.iter().map(|u| format!("u = {}", u.describe())).collect());
    add("wanted", case.eigenvalues.iter().map(|e| format!("{} eigenvalues nearest to {}", e.count, e.near)).collect());
    add("time", case.time.iter().map(time).collect());
    add("method", vec![method(case)]);
    if case.finite_elements.is_none() && case.tolerance.is_none() {
        let cost = case.cost(rayon::current_num_threads())?;
        add("sizes", sizes(case, &cost)?);
        add("cost", vec![price(case, &cost)]);
    }
    Ok(entries)
}

/// From when to when, and in which steps.
fn time(time: &Time) -> String {
    let steps = match time.steps {
        Steps::Count(steps) => format!("{steps} steps"),
        Steps::Tolerance(tolerance) => format!("steps for a relative error of {tolerance:e}"),
    };
    format!("{} to {}, {steps} of order {}, from u = {}", time.start, time.end, time.order, time.initial.describe())
}

/// The parts of the boundary, where they are not the sides of a rectangle, and the periodic ones.
fn parts(domain: &Domain) -> Vec<String> {
    let usual = domain.has_plain_sides();
    let names = Some(domain.parts().join(", ")).filter(|names| !usual && !names.is_empty());
    let periodic = domain.periodic_sides().into_iter().map(|[a, b]| format!("{a} = {b} (periodic)"));
    names.into_iter().chain(periodic).collect()
}

fn method(case: &Case) -> String {
    if let Some([cx, cy]) = case.finite_elements {
        return format!("finite elements (P1) on {cx} x {cy} cells");
    }
    match (case.settings.method, case.tolerance) {
        (_, Some(tolerance)) => format!("local networks; sizes are chosen for a relative error of {tolerance:e}"),
        (Method::Schur, _) => match case.settings.interface {
            InterfaceSolver::Direct => "local networks, coupled by a direct interface solve".into(),
            InterfaceSolver::Cg => "local networks, coupled by conjugate gradients on the interface".into(),
        },
        (Method::Elm, _) => "one network for the whole domain".into(),
        (Method::Locelm, _) => "local networks in one least-squares problem".into(),
    }
}

fn sizes(case: &Case, cost: &Cost) -> Result<Vec<String>, Error> {
    let count = case.domain.count(&case.cut);
    let decomposition = match count {
        // What is too large is not built for a look at it.
        Some(_) if cost.check_memory(&case.settings, 1).is_err() => None,
        _ => Some(case.decomposition()?),
    };
    let rings = decomposition.as_ref().map_or(0, |found| found.ring_vertices().len());
    let subdomains = match (count, &decomposition) {
        (Some(count), _) if rings == 0 => count.to_string(),
        (_, Some(found)) => found.len().to_string(),
        (count, None) => count.expect("only what can be counted is not built").to_string(),
    };
    let rings = summary::rings(rings);
    let (points, neurons) = (case.settings.points, case.settings.neurons());
    let plural = if cost.factorizations == 1 { "factorization" } else { "factorizations" };
    Ok(vec![
        format!("{subdomains} subdomains{rings}, {points} points per side, {neurons} neurons, {} rows", cost.rows),
        format!("{} interface unknowns, {} local {plural}", cost.unknowns, cost.factorizations),
    ])
}

fn price(case: &Case, cost: &Cost) -> String {
    let iterations = match case.settings.interface {
        InterfaceSolver::Cg => ", and the iterations",
        InterfaceSolver::Direct => "",
    };
    let room = match cost.check_memory(&case.settings, 1) {
        Err(Error::Memory { available, .. }) => format!(" (too much: {} of memory are available)", bytes(available)),
        _ => String::new(),
    };
    format!("about {} and {}{iterations}{room}", bytes(cost.bytes as u64), rough_seconds(cost.seconds))
}
