//! What a problem file asks for, ready to be solved.

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::progress::{Progress, Stage};
use crate::domain::area::{Cut, Domain};
use crate::domain::collocation::rows_of_square;
use crate::domain::decomposition::Decomposition;
use crate::domain::division::Count;
use crate::exchange::Serial;
use crate::interface::{Exchange, agreed};
use crate::method::cost::Cost;
use crate::method::report::{Status, peak_memory_bytes};
use crate::method::settings::{Method, Settings};
use crate::problem::frozen::frozen;
use crate::problem::functional::Functional;
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;
use crate::solve::adaptive::solve_to_tolerance;
use crate::solve::corners::{may_have_rings, with_corners};
use crate::solve::eigenvalues::{Eigenpair, Eigenvalues};
use crate::solve::estimate::{assess, at_solution};
use crate::solve::newton::{Nonlinear, solve_once};
use crate::solve::plan::check_sizes;
use crate::solve::resolution::Resolution;
use crate::solve::search::Search;
use crate::solve::time::{Moment, Time};
use crate::solve::{consistency, locelm, newton};

/// A problem on a domain and how to solve it.
#[derive(Clone)]
pub struct Case {
    /// The boundary value problem.
    pub problem: Problem,
    /// Where.
    pub domain: Domain,
    /// Into which subdomains it is cut, where there is no tolerance.
    pub cut: Cut,
    /// All other choices.
    pub settings: Settings,
    /// The relative L2 error to reach. Points, neurons and subdomains are then chosen by the solver.
    pub tolerance: Option<f64>,
    /// Whether to estimate the error.
    pub estimate: bool,
    /// Cells in x and y, where finite elements are to be used, and not networks: the crate `ddelm-fem` has them.
    pub finite_elements: Option<[usize; 2]>,
    /// Numbers that are asked of the solution, by name.
    pub functionals: Vec<(String, Functional)>,
    /// The eigenvalues to find, where they are asked for, and not a solution.
    pub eigenvalues: Option<Eigenvalues>,
    /// Steps in time, where there are any.
    pub time: Option<Time>,
    /// How the problem is solved where it is not linear.
    pub nonlinear: Nonlinear,
}

impl Case {
    /// The domain, cut into its subdomains.
    pub fn decomposition(&self) -> Result<Arc<Decomposition>> {
        let plain = self.domain.decompose_for(&self.cut, self.problem.equation.needs_affine_maps())?;
        // Eigenfunctions know no data. What a solution in time does at right angles depends on how fast it changes there, so
        // only other angles have rings.
        let ringed = match (&self.eigenvalues, &self.time) {
            (None, None) => with_corners(&self.problem, plain, &self.settings)?,
            (_, None) => with_corners(&self.problem.homogeneous(), plain, &self.settings)?,
            (_, Some(time)) => with_corners(&self.problem.at_time(time.start).homogeneous(), plain, &self.settings)?,
        };
        Ok(Arc::new(ringed))
    }

    /// Refuses what cannot be solved, as far as that can be told without computing.
    pub fn validate(&self) -> Result<()> {
        self.settings.validate()?;
        self.domain.check_cut(&self.cut)?;
        if self.time.is_none() {
            self.problem.check_steady()?;
        }
        match (&self.eigenvalues, &self.time) {
            (None, None) => self.validate_nonlinear()?,
            (Some(wanted), None) => self.validate_eigenvalues(wanted)?,
            (None, Some(time)) => self.validate_time(time)?,
            (Some(wanted), Some(_)) => {
                let problem = "eigenvalues do not depend on the time";
                return Err(Error::input("eigenvalues.count", wanted.count, problem, "leave [time] out"));
            }
        }
        if self.finite_elements.is_some() {
            self.domain.plain_rectangle("finite elements")?;
            return Ok(());
        }
        let (nodes, pairs) = (self.settings.nodes(), self.problem.equation.pairs());
        if self.settings.method == Method::Elm && !self.domain.can_be_whole() {
            let problem = "one network is one subdomain, and that is a rectangle";
            return Err(Error::input("method", "\"elm\"", problem, "use method = \"schur\""));
        }
        check_sizes(
            &self.settings,
            rows_of_square(nodes, self.settings.points, pairs),
            self.domain.count(&self.cut).map_or(1, Count::total),
        )
    }

    fn validate_nonlinear(&self) -> Result<()> {
        self.problem.validate(self.domain.parts().len())?;
        self.nonlinear.validate()?;
        if self.problem.is_nonlinear() {
            if self.finite_elements.is_some() || self.settings.method == Method::Locelm {
                let problem = "this method solves linear problems only, and a formula depends on u";
                return Err(Error::input("method", "...", problem, "leave it out, or use method = \"schur\""));
            }
            newton::check(&Serial, &self.settings)?;
        }
        Ok(())
    }

    fn validate_eigenvalues(&self, wanted: &Eigenvalues) -> Result<()> {
        if self.problem.is_nonlinear() {
            let problem = "only linear problems have eigenvalues, and a formula depends on u";
            return Err(Error::input(
                "eigenvalues.count",
                wanted.count,
                problem,
                "linearise it, or leave [eigenvalues] out",
            ));
        }
        let [x0, x1, y0, y1] = self.domain.bounding_box();
        wanted.posed(&self.problem, (x1 - x0) * (y1 - y0))?.0.validate(self.domain.parts().len())?;
        self.check_loop("eigenvalues")
    }

    fn validate_time(&self, time: &Time) -> Result<()> {
        time.check(&self.problem)?;
        time.posed(&self.problem, time.end - time.start, time.start).validate(self.domain.parts().len())?;
        if time.is_implicit(&self.problem) {
            newton::check(&Serial, &self.settings)?;
        }
        self.check_loop("time")
    }

    /// Refuses settings with which one factorization is not good for many solves.
    fn check_loop(&self, key: &str) -> Result<()> {
        if self.settings.method != Method::Schur || !self.settings.shares_features() {
            let problem = "it needs features that the subdomains share";
            return Err(Error::input(key, "...", problem, "use preset = \"fast\" and method = \"schur\""));
        }
        if let Some(tolerance) = self.tolerance {
            let problem = format!("subdomains are not chosen for [{key}]");
            return Err(Error::input("discretization.tolerance", tolerance, problem, "give subdomains and points"));
        }
        Ok(())
    }

    /// Goes through the time, and returns the solutions at the times that are asked for and, last, at the end, where errors
    /// are measured if the exact solution is known.
    pub fn evolve(&self, progress: &dyn Progress) -> Result<Vec<Moment>> {
        let Some(time) = &self.time else {
            let hint = "write [time] with end, initial and steps";
            return Err(Error::MissingKey { key: "time".into(), hint: hint.into() });
        };
        self.validate()?;
        self.check_memory(1)?;
        let mut moments = time.solve(&self.problem, &self.decomposition()?, &self.settings, self.estimate, progress)?;
        for Moment { t, solution } in &mut moments {
            self.answer(&self.problem.at_time(*t), solution)?;
            let consistent = self.problem.exact.is_some();
            if let Some(exact) = &self.problem.exact {
                let resolution = 2 * solution.report.points;
                let errors = solution.errors_with_progress(frozen(exact, *t).as_ref(), resolution, progress)?;
                solution.report.errors = Some(errors);
            }
            if solution.report.judge(None, consistent) && solution.report.status == Status::Solved {
                solution.report.status = Status::Unresolved;
            }
        }
        Ok(moments)
    }

    /// Finds the eigenvalues that are asked for, in ascending order, with their eigenfunctions.
    pub fn eigenpairs(&self, progress: &dyn Progress) -> Result<Vec<Eigenpair>> {
        let wanted = self.wanted_eigenvalues()?;
        let mut pairs = wanted.find(&self.problem, self.decomposition()?, &self.settings, self.estimate, progress)?;
        for pair in &mut pairs {
            self.answer(&self.problem, &mut pair.function)?;
        }
        Ok(pairs)
    }

    /// The first eigenfunction; its report has all eigenvalues.
    fn first_eigenfunction(&self, progress: &dyn Progress) -> Result<Solution> {
        let (wanted, place) = (self.wanted_eigenvalues()?, self.decomposition()?);
        let mut found = wanted.find_first(&self.problem, place, &self.settings, self.estimate, progress)?.function;
        self.answer(&self.problem, &mut found)?;
        Ok(found)
    }

    /// The eigenvalues that are asked for, if they can be found.
    fn wanted_eigenvalues(&self) -> Result<&Eigenvalues> {
        let Some(wanted) = &self.eigenvalues else {
            let hint = "write [eigenvalues] with count = 10";
            return Err(Error::MissingKey { key: "eigenvalues".into(), hint: hint.into() });
        };
        self.validate()?;
        self.check_memory(1)?;
        Ok(wanted)
    }

    /// What a solve takes with so many threads, without its estimate.
    pub fn cost(&self, threads: usize) -> Result<Cost> {
        let (equation, settings) = (&self.problem.equation, &self.settings);
        // Rings add little: what does not fit without them need not be built.
        let is_enough =
            |plain: &Cost| !may_have_rings(&self.problem, settings) || plain.check_memory(settings, 1).is_err();
        let foreseen = self.domain.foreseen(&self.cut);
        match foreseen.map(|tally| Cost::of(equation, &tally, settings, threads)).filter(is_enough) {
            Some(cost) => Ok(cost),
            None => Ok(Cost::on(equation, &*self.decomposition()?, settings, threads)),
        }
    }

    /// Solves by networks. Measures the errors where the exact solution is known, and estimates them where asked. Where
    /// eigenvalues are asked for, the solution is the first eigenfunction, and the report has all eigenvalues; with steps in time it
    /// is the solution at the end.
    pub fn solve(&self, progress: &dyn Progress) -> Result<Solution> {
        self.solve_on(&(Arc::new(Serial) as Arc<dyn Exchange>), progress)
    }

    /// [`Case::solve`] on a parallel machine: rank 0 has the whole solution. All ranks find the same outcome.
    pub fn solve_on(&self, exchange: &Arc<dyn Exchange>, progress: &dyn Progress) -> Result<Solution> {
        self.check_networks()?;
        if self.eigenvalues.is_some() {
            alone(exchange.as_ref(), "eigenvalues")?;
            return self.first_eigenfunction(progress);
        }
        if self.time.is_some() {
            alone(exchange.as_ref(), "time")?;
            return Ok(self.evolve(progress)?.pop().expect("there is a solution at the end").solution);
        }
        agreed(exchange.as_ref(), self.solve_and_measure(exchange, progress))
    }

    /// Refuses a solve on a plain rectangle, or the second one that its estimate takes, that does not fit into memory: before the first
    /// of them, and before there are rings, which add little. Whatever is solved is checked again on its decomposition.
    fn check_memory(&self, ranks: usize) -> Result<()> {
        let estimated = self.estimate && self.tolerance.is_none();
        let cut = if estimated { self.domain.cut_beside(&self.cut) } else { self.cut };
        match self.domain.foreseen(&cut) {
            Some(tally) => {
                Cost::of(&self.problem.equation, &tally, &self.settings, 1).check_memory(&self.settings, ranks)
            }
            None => Ok(()),
        }
    }

    /// Whether so many ranks can share the work: each of them needs a subdomain.
    pub fn occupies(&self, ranks: usize) -> bool {
        let coupled = self.settings.method == Method::Schur;
        let foreseen = || self.domain.foreseen(&self.cut).is_some_and(|tally| tally.subdomains >= ranks);
        let enough = || foreseen() || self.decomposition().is_ok_and(|whole| whole.len() >= ranks);
        coupled && (self.tolerance.is_some() || enough())
    }

    /// [`Case::solve_on`] before the ranks agree: errors are measured on rank 0 alone.
    fn solve_and_measure(&self, exchange: &Arc<dyn Exchange>, progress: &dyn Progress) -> Result<Solution> {
        let mut solution = match self.tolerance {
            Some(tolerance) => {
                let clock = Instant::now();
                let search = Search::new(exchange, &self.problem, &self.settings, tolerance, progress);
                let mut solution = solve_to_tolerance(search.with_nonlinear(&self.nonlinear), &self.domain)?;
                // All that was tried on the way, beside the solve that was kept.
                solution.report.seconds.estimate = clock.elapsed().as_secs_f64() - solution.report.seconds.total;
                solution
            }
            None => self.solve_as_given(exchange, progress)?,
        };
        // Rank 0 knows the errors; all ranks end alike.
        let judged = if exchange.rank() == 0 { self.measure(&mut solution, progress) } else { Ok(false) };
        let judged = f64::from(u8::from(agreed(exchange.as_ref(), judged)?));
        // An estimate takes more memory than the solution that it is of.
        let mut largest = [judged, peak_memory_bytes().map_or(0.0, |bytes| bytes as f64)];
        exchange.max(&mut largest);
        let [unresolved, memory] = largest;
        if unresolved > 0.0 && solution.report.status == Status::Solved {
            solution.report.status = Status::Unresolved;
        }
        solution.report.peak_memory_bytes = solution.report.peak_memory_bytes.map(|_| memory as u64);
        Ok(solution)
    }

    /// Measures the errors where the exact solution is known, and says whether they are large.
    fn measure(&self, solution: &mut Solution, progress: &dyn Progress) -> Result<bool> {
        let mut faults = Vec::new();
        if let Some(exact) = &self.problem.exact {
            // A finer grid than the nodes, as in the paper.
            let resolution = 2 * solution.report.points;
            solution.report.errors = Some(solution.errors_with_progress(exact.as_ref(), resolution, progress)?);
            faults = consistency::check(&self.problem.at_state(exact), &solution.decomposition);
        }
        self.answer(&self.problem, solution)?;
        let consistent = faults.is_empty();
        solution.report.warnings.extend(faults);
        Ok(solution.report.judge(self.tolerance, consistent))
    }

    /// Writes the numbers that are asked of a solution of the problem into its report.
    fn answer(&self, problem: &Problem, solution: &mut Solution) -> Result<()> {
        for (name, functional) in &self.functionals {
            let value = solution.functional(problem, functional)?;
            solution.report.integrals.insert(name.clone(), value);
            if let Functional::Integral { field, region } = functional
                && let Some(doubt) = solution.doubt_of_integral(field.as_ref(), *region)?
            {
                solution.report.warnings.push(format!("output.integrals.{name}: {doubt}"));
            }
        }
        Ok(())
    }

    /// Refuses to solve by networks where something else is asked for.
    fn check_networks(&self) -> Result<()> {
        match self.finite_elements {
            None => Ok(()),
            Some(_) => {
                let problem = "finite elements have no networks to solve for";
                Err(Error::input("method", "fem", problem, "choose schur, elm or locelm"))
            }
        }
    }

    fn solve_as_given(&self, exchange: &Arc<dyn Exchange>, progress: &dyn Progress) -> Result<Solution> {
        self.validate()?;
        // Ranks on different machines have different memory.
        agreed(exchange.as_ref(), self.check_memory(exchange.size()))?;
        let (problem, settings, decomposition) = (&self.problem, &self.settings, self.decomposition()?);
        let mut solution = if settings.method == Method::Locelm {
            locelm::solve(problem, decomposition, settings, progress)?
        } else {
            solve_once(exchange, problem, decomposition, settings, &self.nonlinear, progress)?
        };
        if solution.report.status == Status::NotConverged {
            return Ok(solution);
        }
        if self.estimate {
            let clock = Instant::now();
            progress.begin(Stage::Estimate, 1);
            let found = assess(exchange, problem, settings, &solution, progress)?;
            solution.report.estimate = found.estimate;
            solution.report.warnings.extend(found.warnings);
            solution.report.seconds.estimate = clock.elapsed().as_secs_f64();
        } else if problem.exact.is_none() {
            // Nobody will know the error: at least say what the nodes do not see of the data.
            let decomposition = solution.decomposition.clone();
            let seen = Resolution::quick(&at_solution(problem, &solution), &decomposition, settings.points);
            solution.report.warnings.extend(agreed(exchange.as_ref(), seen)?.warnings(&decomposition));
        }
        Ok(solution)
    }
}

impl Case {
    /// A problem on a domain with the default of every choice: give others with `Case { tolerance: Some(1e-6), ..Case::new(problem, domain) }`.
    pub fn new(problem: Problem, domain: Domain) -> Self {
        Case {
            // Without an exact solution the estimate is all there is to tell whether to trust the result.
            estimate: problem.exact.is_none(),
            problem,
            domain,
            cut: Cut::Default,
            settings: Settings::default(),
            tolerance: None,
            finite_elements: None,
            functionals: Vec::new(),
            eigenvalues: None,
            time: None,
            nonlinear: Nonlinear::default(),
        }
    }
}

/// Refuses several ranks for what one process does alone.
fn alone(exchange: &dyn Exchange, key: &str) -> Result<()> {
    match exchange.size() {
        1 => Ok(()),
        ranks => Err(Error::input(key, format!("{ranks} ranks"), "it runs in one process", "run it without mpirun")),
    }
}
