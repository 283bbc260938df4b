//! Sources that are singular along a side are replaced, beside it, by polynomials with the same moments.
//!
//! The source of `u = x^1.1` is `x^-0.9`. Values at nodes do not tell its integral, and strips along the side would have to
//! be 1e-50 wide until what they miss of it no longer matters. But what a source does to the solution elsewhere is its integral
//! against Green's function, which is smooth there: with P f the polynomial in a subdomain that has all moments of f up to a degree,
//!
//! ```text
//! u(x) - u_P(x) = int (f - P f) G(x, .) = int (f - P f) (G(x, .) - p)   for every polynomial p of that degree,
//! ```
//!
//! which is next to nothing away from the subdomain, and in it as small as the best polynomial for u. So strips become as
//! thin as u asks for, and no thinner.
//!
//! Moments are sums over Gauss points on panels that shrink toward the side. Very close to it points have too few digits for
//! their distance; there f is a power of the distance, which the last values tell. Subdomains beside the side are cut into strips
//! beforehand, as the power that u has there asks for: see [`Moments::add_tails`].

mod end;
mod polynomial;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use faer::Mat;
use rayon::prelude::*;

use crate::algebra::quadrature::gauss;
use crate::base::error::Result;
use crate::domain::decomposition::{Decomposition, Subdomain, width_across};
use crate::domain::sample::Sample;
use crate::problem::field::{Dependence, Failure, Field, FieldRef, Samples};
use crate::problem::model::{Diffusion, Problem};
use crate::solution::tails::Tails;

use end::{DISTANCES, End};
use polynomial::{Basis, Lines, Polynomial, values_of};

/// The least distance from a side at which a source is taken, as a power of two: relative to the subdomain, and to its coordinates, of
/// which a number has 52 digits.
const CLOSEST: [f64; 2] = [-30.0, -38.0];

/// Subdomains that are so thin, beside their coordinates, that points would be no closer than this are left alone.
const TOO_FAR: f64 = -12.0;

/// How much smaller than the one before it a panel is, and its Gauss points.
const SHRINK: f64 = 0.25;
const PANEL: usize = 14;

/// The subdomains beside which a source is singular, and the polynomials that have its moments there.
pub(crate) struct Moments {
    polynomials: BTreeMap<usize, Polynomial>,
}

impl Moments {
    /// Looks for a source that is singular along sides, for n points per side.
    pub fn new(problem: &Problem, decomposition: &Decomposition, points: usize) -> Result<Self> {
        let source = &problem.source;
        let given = source.constant().is_none() && source.depends_on() == Dependence::default();
        let Some(diffusion) = problem.equation.leading().filter(|_| given) else {
            return Ok(Moments { polynomials: BTreeMap::new() });
        };
        let rule = Rule::new(points);
        let in_one = |(s, subdomain): (usize, &Subdomain)| -> Result<Option<(usize, Polynomial)>> {
            // Rings have no use for a line that runs through them: they go, where the source is followed by its values.
            if decomposition.ring(s).is_some() {
                return Ok(None);
            }
            let found = Beside { problem, diffusion, subdomain, s }.polynomial(&rule)?;
            Ok(found.map(|polynomial| (s, polynomial)))
        };
        let found: Vec<Result<Option<(usize, Polynomial)>>> =
            decomposition.subdomains.par_iter().enumerate().map(in_one).collect();
        // The error of the first subdomain that has one, whichever thread was first.
        Ok(Moments { polynomials: found.into_iter().filter_map(Result::transpose).collect::<Result<_>>()? })
    }

    /// The problem with the polynomials instead of the source, where there are some.
    pub fn of(self, problem: &Problem) -> Cow<'_, Problem> {
        if self.polynomials.is_empty() {
            return Cow::Borrowed(problem);
        }
        let source: FieldRef = Arc::new(WithMoments { source: problem.source.clone(), polynomials: self.polynomials });
        Cow::Owned(Problem { source, ..problem.clone() })
    }

    /// About the size of u on a domain of this length, by the source there alone.
    pub fn size(&self, length: f64) -> f64 {
        self.polynomials.values().map(|p| p.mean / p.diffusion).fold(0.0, f64::max) * length * length
    }

    /// Makes tails as large as those of `d^(power + 2)`, which u has at a side where the source has `d^power`. The polynomial that is
    /// solved for does not have them.
    pub fn add_tails(&self, tails: &mut [Tails], points: usize) {
        for (&s, polynomial) in &self.polynomials {
            for (tail, singular) in tails[s].directions.iter_mut().zip(polynomial.tails(points)) {
                if singular.last > tail.last {
                    *tail = singular;
                }
            }
        }
    }
}

/// A problem whose source nodes tell: [`Moments::of`] those on a decomposition.
pub(crate) fn with_moments<'a>(
    problem: &'a Problem,
    decomposition: &Decomposition,
    points: usize,
) -> Result<Cow<'a, Problem>> {
    Ok(Moments::new(problem, decomposition, points)?.of(problem))
}

/// Where sources are taken for their moments.
struct Rule {
    /// The Gauss points of a panel, and their weights.
    panel: (Vec<f64>, Vec<f64>),
    /// The same along a side.
    along: (Vec<f64>, Vec<f64>),
    points: usize,
    /// For lines in the two directions of a square, and for those of a triangle; made where a source is singular.
    bases: [OnceLock<Arc<Basis>>; 3],
}

impl Rule {
    fn new(points: usize) -> Self {
        Rule { panel: gauss(PANEL), along: gauss(points + 1), points, bases: Default::default() }
    }

    fn basis(&self, lines: Lines) -> &Arc<Basis> {
        let kind = if let Lines::Along(across) = lines { across } else { 2 };
        self.bases[kind].get_or_init(|| Arc::new(Basis::new(self.points, lines)))
    }

    /// Distances from a side and their weights, on panels over half of the interval that end at this distance or before.
    fn panels(&self, least: f64) -> Panels {
        let mut panels = Panels { distances: Vec::new(), weights: Vec::new(), closest: 0.5 };
        while SHRINK * panels.closest >= least {
            let (start, end) = (SHRINK * panels.closest, panels.closest);
            panels.distances.extend(self.panel.0.iter().map(|t| start + (end - start) * t));
            panels.weights.extend(self.panel.1.iter().map(|w| (end - start) * w));
            panels.closest = start;
        }
        panels
    }
}

/// Points that become dense toward a side.
struct Panels {
    distances: Vec<f64>,
    weights: Vec<f64>,
    /// Where they end, and a power takes the place of values.
    closest: f64,
}

/// The source in one subdomain.
struct Beside<'a> {
    problem: &'a Problem,
    diffusion: &'a Diffusion,
    subdomain: &'a Subdomain,
    s: usize,
}

impl Beside<'_> {
    /// The width in the direction of lines.
    fn width(&self, lines: Lines) -> f64 {
        width_across(self.subdomain.map.as_ref(), lines.side())
    }

    /// The least distance in a direction, as a power of two, relative to the subdomain.
    fn least(&self, lines: Lines) -> f64 {
        let [x, y] = self.subdomain.map.point(self.subdomain.map.shape().center());
        let largest = x.abs().max(y.abs()) / self.width(lines);
        CLOSEST[0].max(CLOSEST[1] + largest.max(f64::MIN_POSITIVE).log2())
    }

    /// The polynomial with the moments of the source, if that is singular along sides: along one, or along two that face each other.
    fn polynomial(&self, rule: &Rule) -> Result<Option<Polynomial>> {
        let mut found = None;
        for &lines in Lines::all(self.subdomain.map.shape()) {
            let Some(ends) = self.ends(lines, &[0.11, 0.52, 0.87])? else { return Ok(None) };
            let is_singular = |end: usize| !self.is_held(lines, end) && ends.iter().all(|ends| ends[end].is_some());
            if (is_singular(0) || is_singular(1)) && found.replace(lines).is_some() {
                return Ok(None);
            }
        }
        found.map_or(Ok(None), |lines| self.moments(lines, rule))
    }

    /// Whether u is given where lines begin, or end. There the source moves u the less, the closer it is, and strips are as thin as
    /// its values ask for.
    fn is_held(&self, lines: Lines, end: usize) -> bool {
        let side = (lines.side() + 2 * end) % self.subdomain.map.shape().sides();
        self.subdomain.boundary(side).is_some_and(|part| self.problem.conditions[part].is_essential())
    }

    /// The values at these distances along lines; nothing where one is not finite, which is for others to say.
    fn values(&self, lines: Lines, distances: &[f64], along: &[f64]) -> Result<Option<Vec<f64>>> {
        let on_line = |&b: &f64| distances.iter().map(move |&t| lines.point(t, b).0);
        let sample = Sample::inside(self.subdomain, along.iter().flat_map(on_line).collect());
        let values = sample.raw_values(self.problem.source.as_ref(), "equation.source", self.s)?;
        Ok(values.iter().all(|v| v.is_finite()).then_some(values))
    }

    /// How the source ends where lines begin and where they end, along each of them. Nothing ends in a corner.
    fn ends(&self, lines: Lines, along: &[f64]) -> Result<Option<Vec<[Option<End>; 2]>>> {
        let least = self.least(lines);
        if least > TOO_FAR {
            return Ok(Some(vec![[None; 2]; along.len()]));
        }
        let near = || DISTANCES.iter().flatten().map(|d| (least * d).exp2());
        let distances: Vec<f64> = near().chain(near().map(|d| 1.0 - d)).collect();
        let last = |values: &[f64]| matches!(lines, Lines::Along(_)).then(|| End::of(values, least)).flatten();
        let of_line = |values: &[f64]| [End::of(&values[..6], least), last(&values[6..])];
        let values = self.values(lines, &distances, along)?;
        Ok(values.map(|values| values.chunks_exact(distances.len()).map(of_line).collect()))
    }

    fn moments(&self, lines: Lines, rule: &Rule) -> Result<Option<Polynomial>> {
        let Panels { distances, weights, closest } = rule.panels(self.least(lines).exp2());
        let both: Vec<f64> = distances.iter().copied().chain(distances.iter().map(|d| 1.0 - d)).collect();
        let (along, along_weights) = &rule.along;
        let (values, ends) = (self.values(lines, &both, along)?, self.ends(lines, along)?);
        let (Some(values), Some(ends)) = (values, ends) else { return Ok(None) };
        let basis = rule.basis(lines);
        let mut moments = Mat::<f64>::zeros(basis.degrees.len(), 1);
        let mut mean = 0.0;
        for (((values, ends), &b), w) in values.chunks_exact(both.len()).zip(&ends).zip(along).zip(along_weights) {
            let mut add = |t: f64, integral: f64| {
                let (xi, area) = lines.point(t, b);
                let share = w * area * integral;
                mean += share.abs();
                let values = values_of(&basis.degrees, xi);
                moments.col_as_slice_mut(0).iter_mut().zip(values).for_each(|(m, p)| *m += share * p);
            };
            both.iter().zip(weights.iter().chain(&weights)).zip(values).for_each(|((&t, w), value)| add(t, w * value));
            for (end, (at, last)) in ends.iter().zip([(0.0, distances.len()), (1.0, both.len())]) {
                // What does not end by a power ends by a value.
                add(at, end.map_or(closest * values[last - PANEL], |end| end.integral(closest)));
            }
        }
        let steepest = |end: usize| {
            let found = ends.iter().filter_map(|ends| ends[end]);
            found.max_by(|a, b| a.factor.abs().total_cmp(&b.factor.abs()))
        };
        let coefficients = (&basis.inverse * &moments).col_as_slice(0).to_vec();
        let (width, ends, diffusion) = (self.width(lines), [steepest(0), steepest(1)], self.least_diffusion()?);
        Ok(Some(Polynomial { lines, width, diffusion, ends, mean, basis: basis.clone(), coefficients }))
    }

    /// The least diffusion along an axis, in the middle.
    fn least_diffusion(&self) -> Result<f64> {
        let middle = Sample::inside(self.subdomain, vec![self.subdomain.map.shape().center()]);
        let mut least = f64::INFINITY;
        for (i, row) in self.diffusion.by_rows().into_iter().enumerate() {
            if let Some(a) = row[i] {
                least = least.min(middle.values(a.as_ref(), "equation.diffusion", self.s)?[0]);
            }
        }
        Ok(least)
    }
}

/// A source, and polynomials instead of it in some subdomains.
struct WithMoments {
    source: FieldRef,
    polynomials: BTreeMap<usize, Polynomial>,
}

impl Field for WithMoments {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        match at.patch.and_then(|patch| Some((patch, self.polynomials.get(&patch.subdomain)?))) {
            Some((patch, polynomial)) => {
                out.iter_mut().zip(patch.xi).for_each(|(out, &xi)| *out = polynomial.value(xi));
                Ok(())
            }
            None => self.source.values(at, out),
        }
    }

    fn gradients(&self, _: &Samples<'_>, _: &mut [f64], _: &mut [f64]) -> std::result::Result<bool, Failure> {
        Ok(false)
    }

    fn work(&self) -> usize {
        self.source.work()
    }

    fn describe(&self) -> String {
        self.source.describe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::map::Point;
    use crate::problem::field::{constant, function};
    use crate::problem::model::{Condition, Equation};

    fn problem(source: FieldRef) -> Problem {
        let conditions = vec![Condition::neumann(constant(0.0)); 4];
        Problem { equation: Equation::poisson(), source, conditions, mean: None, exact: None }
    }

    /// The integral over a subdomain of the source times x, as the problem has it, and whether it has changed.
    fn moment(source: FieldRef, x: [f64; 2]) -> (f64, bool) {
        let one = Decomposition::rectangle(x, [0.0, 1.0], [1, 1]).unwrap();
        let problem = problem(source);
        let found = with_moments(&problem, &one, 12).unwrap();
        let (nodes, weights) = gauss(20);
        let xi: Vec<Point> = nodes.iter().flat_map(|&a| nodes.iter().map(move |&b| [a, b])).collect();
        let values = Sample::inside(&one.subdomains[0], xi.clone()).values(found.source.as_ref(), "source", 0).unwrap();
        let w = |i: usize| weights[i / 20] * weights[i % 20];
        let sum: f64 = (0..xi.len()).map(|i| w(i) * values[i] * (x[0] + (x[1] - x[0]) * xi[i][0])).sum();
        ((x[1] - x[0]) * sum, matches!(found, Cow::Owned(_)))
    }

    #[test]
    fn polynomials_have_the_moments_of_singular_sources() {
        for power in [-0.95f64, -0.9, -0.5, 0.5] {
            let width = 0.3f64;
            let exact = width.powf(power + 2.0) / (power + 2.0);
            let (found, changed) = moment(function(move |x, _| x.powf(power)), [0.0, width]);
            assert!(changed && (found / exact - 1.0).abs() < 1e-9, "{power}: {found} {exact}");
            // The side is where the other end is, at a distance that has only so many digits, and the source has more terms.
            let (found, changed) = moment(function(move |x, y| (1.0 - x).powf(power) * (1.0 + y) + 2.0), [0.0, 1.0]);
            let exact = 1.5 * (1.0 / (power + 1.0) - 1.0 / (power + 2.0)) + 1.0;
            assert!(changed && (found / exact - 1.0).abs() < 1e-6, "{power}: {found} {exact}");
        }
    }

    #[test]
    fn a_logarithm_is_a_very_small_power() {
        let (found, changed) = moment(function(|x, _| x.ln()), [0.0, 0.5]);
        let exact = 0.125 * 0.5f64.ln() - 0.0625;
        assert!(changed && (found / exact - 1.0).abs() < 1e-9, "{found} {exact}");
    }

    #[test]
    fn other_sources_are_left_alone() {
        let smooth: [FieldRef; 5] = [
            function(|x, y| (3.0 * x).sin() * y.exp()),
            function(|x, _| x * x),
            function(|x, y| x.sqrt() * y.powf(-0.5)),
            function(|x, _| (1e3 * x).tanh()),
            function(|x, _| x.powf(-1.4)),
        ];
        for source in smooth {
            assert!(!moment(source, [0.0, 1.0]).1);
        }
    }
}
