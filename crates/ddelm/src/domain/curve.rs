//! Parametrised pieces of an outline: `x = c(s)`, s in `[0, 1]`, with derivatives.
//!
//! A line, an arc of an ellipse (a circle is one with equal axes), a cubic spline through points, or two formulas in t.
//! A part of a curve is a curve again, and so is a curve run backwards: both only change the interval of the parameter of
//! what lies beneath.

use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::domain::plane::Point;
use crate::problem::expression::{Formula, FormulaError};
use crate::problem::field::{Field, Samples};

use super::plane::{distance, norm, subtract};
use super::spline::{Spline, SplineEnds};

/// A smooth curve, or one that is smooth between its [breaks](Curve::breaks).
#[derive(Debug, Clone)]
pub struct Curve {
    form: Arc<Form>,
    /// The parameter of the form at s = 0 and at s = 1.
    interval: [f64; 2],
}

/// What a curve is made of; each has a parameter t of its own.
#[derive(Debug)]
enum Form {
    /// `from + t (to - from)`.
    Line { from: Point, to: Point },
    /// `center + R (a cos t, b sin t)` with the rotation `R = [[c, -s], [s, c]]`.
    Ellipse { center: Point, axes: [f64; 2], rotation: [f64; 2] },
    /// t is the length of chords.
    Spline(Spline),
    /// Two formulas in t.
    Formula([Formula; 2]),
}

impl Curve {
    /// The line between two points.
    pub fn line(from: Point, to: Point) -> Self {
        Curve { form: Arc::new(Form::Line { from, to }), interval: [0.0, 1.0] }
    }

    /// The arc of a circle between two angles in degrees, counter-clockwise if `to > from`.
    pub fn arc(center: Point, radius: f64, from: f64, to: f64) -> Self {
        Self::elliptic_arc(center, [radius; 2], 0.0, from, to)
    }

    /// The arc of an ellipse with half axes `axes`, the first of them turned by `angle`, between two values of its
    /// parameter; angle and parameter in degrees.
    pub fn elliptic_arc(center: Point, axes: [f64; 2], angle: f64, from: f64, to: f64) -> Self {
        let rotation = [angle.to_radians().cos(), angle.to_radians().sin()];
        let form = Form::Ellipse { center, axes, rotation };
        Curve { form: Arc::new(form), interval: [from.to_radians(), to.to_radians()] }
    }

    /// The spline through two or more points, of which no two neighbours are equal.
    pub fn spline(points: &[Point], ends: SplineEnds) -> Self {
        let spline = Spline::through(points, ends);
        let interval = [spline.knots()[0], spline.knots()[points.len() - 1]];
        Curve { form: Arc::new(Form::Spline(spline)), interval }
    }

    /// The curve `x = formula in t`, `y = formula in t`, for t from `interval[0]` to `interval[1]`. The `key` is the
    /// setting that errors name.
    pub fn formula(key: &str, formulas: [&str; 2], interval: [f64; 2]) -> Result<Self> {
        let read = |k: usize| {
            formula_in_t(formulas[k]).map_err(|error| Error::Formula { key: format!("{key}.curve[{k}]"), error })
        };
        let curve = Curve { form: Arc::new(Form::Formula([read(0)?, read(1)?])), interval };
        for k in 0..=64 {
            let s = f64::from(k) / 64.0;
            let t = curve.parameter(s);
            let value = format!("[\"{}\", \"{}\"]", formulas[0], formulas[1]);
            let finite = |v: Point| v[0].is_finite() && v[1].is_finite();
            if !finite(curve.point(s)) {
                let problem = format!("the curve is not finite at t = {t}");
                return Err(Error::input(format!("{key}.curve"), value, problem, "choose another interval for t"));
            }
            if !finite(curve.derivative(s)) || norm(curve.derivative(s)) == 0.0 {
                let problem =
                    format!("the curve has no direction at t = {t}: its derivative is {:?}", curve.derivative(s));
                let hint =
                    "use a parameter that moves along the curve at a finite speed, such as an angle or the length";
                return Err(Error::input(format!("{key}.curve"), value, problem, hint));
            }
        }
        Ok(curve)
    }

    /// The part from s = `from` to s = `to`; backwards if `from > to`.
    pub fn between(&self, from: f64, to: f64) -> Self {
        Curve { form: self.form.clone(), interval: [self.parameter(from), self.parameter(to)] }
    }

    /// The same points from the other end.
    pub fn reversed(&self) -> Self {
        Curve { form: self.form.clone(), interval: [self.interval[1], self.interval[0]] }
    }

    /// Whether the curve is a line.
    pub fn is_straight(&self) -> bool {
        match &*self.form {
            Form::Line { .. } => true,
            Form::Spline(spline) => spline.points().len() == 2,
            _ => false,
        }
    }

    /// Where in `(0, 1)`, in rising order, the curve has two continuous derivatives only: the inner points of a spline.
    pub fn breaks(&self) -> Vec<f64> {
        let Form::Spline(spline) = &*self.form else { return Vec::new() };
        let [a, b] = self.interval;
        let slack = 1e-12;
        let inside = |s: &f64| (slack..1.0 - slack).contains(s);
        let mut breaks: Vec<f64> = spline.knots().iter().map(|t| (t - a) / (b - a)).filter(inside).collect();
        breaks.sort_by(f64::total_cmp);
        breaks
    }

    /// `c(s)`.
    pub fn point(&self, s: f64) -> Point {
        let t = self.parameter(s);
        match &*self.form {
            Form::Line { from, to } => [0, 1].map(|a| (1.0 - t) * from[a] + t * to[a]),
            Form::Ellipse { center, axes, rotation } => {
                let (sin, cos) = t.sin_cos();
                let v = rotate(*rotation, [axes[0] * cos, axes[1] * sin]);
                [center[0] + v[0], center[1] + v[1]]
            }
            Form::Spline(spline) => spline.at(t)[0],
            Form::Formula(formulas) => [0, 1].map(|a| value(&formulas[a], t)),
        }
    }

    /// `c'(s)`.
    pub fn derivative(&self, s: f64) -> Point {
        let t = self.parameter(s);
        let speed = self.interval[1] - self.interval[0];
        let v = match &*self.form {
            Form::Line { from, to } => subtract(*to, *from),
            Form::Ellipse { axes, rotation, .. } => {
                let (sin, cos) = t.sin_cos();
                rotate(*rotation, [-axes[0] * sin, axes[1] * cos])
            }
            Form::Spline(spline) => spline.at(t)[1],
            Form::Formula(formulas) => [0, 1].map(|a| slope(&formulas[a], t)),
        };
        [speed * v[0], speed * v[1]]
    }

    /// `c''(s)`. For formulas it is the difference of the exact first derivatives, good to about nine digits: enough for
    /// curvature, which only sets sizes.
    pub fn second_derivative(&self, s: f64) -> Point {
        let t = self.parameter(s);
        let speed = self.interval[1] - self.interval[0];
        let v = match &*self.form {
            Form::Line { .. } => [0.0; 2],
            Form::Ellipse { axes, rotation, .. } => {
                let (sin, cos) = t.sin_cos();
                rotate(*rotation, [-axes[0] * cos, -axes[1] * sin])
            }
            Form::Spline(spline) => spline.at(t)[2],
            Form::Formula(formulas) => {
                let h = 1e-3 * speed.abs();
                // Fourth order, moved inwards at the ends.
                let low = self.interval[0].min(self.interval[1]);
                let middle = t.clamp(low + 2.0 * h, low + speed.abs() - 2.0 * h);
                let at = |k: f64| [0, 1].map(|a| slope(&formulas[a], middle + k * h));
                let [p, q, m, n] = [at(1.0), at(2.0), at(-1.0), at(-2.0)];
                [0, 1].map(|a| (8.0 * (p[a] - m[a]) - (q[a] - n[a])) / (12.0 * h))
            }
        };
        [speed * speed * v[0], speed * speed * v[1]]
    }

    /// Signed curvature: positive where the curve turns to the left.
    pub fn curvature(&self, s: f64) -> f64 {
        let (d, dd) = (self.derivative(s), self.second_derivative(s));
        let speed = norm(d);
        (d[0] * dd[1] - d[1] * dd[0]) / (speed * speed * speed)
    }

    /// Both ends.
    pub fn ends(&self) -> [Point; 2] {
        [self.point(0.0), self.point(1.0)]
    }

    /// Parameters `0 = s_0 < ... < s_n = 1` such that between neighbours the direction turns by at most `angle` radians,
    /// as seen at samples, and that there are at least `least` intervals.
    pub fn samples(&self, angle: f64, least: usize) -> Vec<f64> {
        let mut out = vec![0.0];
        for k in 0..least.max(1) {
            let at = |k: usize| k as f64 / least.max(1) as f64;
            self.sample(at(k), at(k + 1), angle, 12, &mut out);
        }
        out
    }

    fn sample(&self, a: f64, b: f64, angle: f64, depth: usize, out: &mut Vec<f64>) {
        let middle = 0.5 * (a + b);
        let turn = |s: f64, t: f64| turning(self.derivative(s), self.derivative(t)).abs();
        if !self.is_straight() && depth > 0 && turn(a, middle) + turn(middle, b) > angle {
            self.sample(a, middle, angle, depth - 1, out);
            self.sample(middle, b, angle, depth - 1, out);
        } else {
            out.push(b);
        }
    }

    /// The parameter in `[0, 1]` of the point of the curve that is nearest to `p`, starting from the guess `s`, by Newton's
    /// method for `(c - p) . c' = 0` with steps that do not increase the distance.
    pub fn project(&self, p: Point, s: f64) -> f64 {
        let mut s = s;
        for _ in 0..40 {
            let r = subtract(self.point(s), p);
            let (d, dd) = (self.derivative(s), self.second_derivative(s));
            let gradient = r[0] * d[0] + r[1] * d[1];
            let gauss = d[0] * d[0] + d[1] * d[1];
            let newton = gauss + r[0] * dd[0] + r[1] * dd[1];
            let mut step = -gradient / if newton > 0.1 * gauss { newton } else { gauss };
            let here = norm(r);
            while distance(self.point((s + step).clamp(0.0, 1.0)), p) > here && step.abs() > 1e-16 {
                step *= 0.5;
            }
            let next = (s + step).clamp(0.0, 1.0);
            if (next - s).abs() < 1e-16 {
                break;
            }
            s = next;
        }
        s
    }

    fn parameter(&self, s: f64) -> f64 {
        // Both ends are hit exactly, so that parts of a curve join.
        (1.0 - s) * self.interval[0] + s * self.interval[1]
    }
}

/// The angle from the direction a to the direction b, in (-pi, pi].
pub fn turning(a: Point, b: Point) -> f64 {
    (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
}

fn rotate([c, s]: [f64; 2], v: Point) -> Point {
    [c * v[0] - s * v[1], s * v[0] + c * v[1]]
}

/// Reads a formula in t. The language knows x and y; t takes the place of x, which is as long as t, so that the places
/// that errors name stay right.
fn formula_in_t(text: &str) -> std::result::Result<Formula, FormulaError> {
    let in_name = |c: char| c == '_' || c.is_alphanumeric();
    let mut translated = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '_' || first.is_alphabetic() {
            rest.find(|c| !in_name(c)).unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            // A number with the letter of its exponent, which is not a name.
            let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            digits + usize::from(rest[digits..].starts_with(['e', 'E']) && !rest[digits + 1..].starts_with(in_letter))
        } else {
            first.len_utf8()
        };
        let word = &rest[..length];
        if word == "x" || word == "y" {
            let start = text.len() - rest.len();
            return Err(FormulaError {
                formula: text.into(),
                span: start..start + 1,
                message: format!("unknown name `{word}`"),
                hint: Some("the variable of a curve is `t`".into()),
            });
        }
        translated.push_str(if word == "t" { "x" } else { word });
        rest = &rest[length..];
    }
    Formula::parse(&translated).map_err(|error| FormulaError { formula: text.into(), ..error })
}

fn in_letter(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn value(formula: &Formula, t: f64) -> f64 {
    let mut out = [f64::NAN];
    formula.values(&Samples::at(&[t], &[0.0]), &mut out).expect("a formula without fields of a user cannot fail");
    out[0]
}

fn slope(formula: &Formula, t: f64) -> f64 {
    let (mut dx, mut dy) = ([f64::NAN], [f64::NAN]);
    formula
        .gradients(&Samples::at(&[t], &[0.0]), &mut dx, &mut dy)
        .expect("a formula without fields of a user cannot fail");
    dx[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_curves() -> Vec<Curve> {
        vec![
            Curve::line([0.3, -1.0], [2.0, 0.5]),
            Curve::arc([1.0, 2.0], 0.7, -90.0, 45.0),
            Curve::elliptic_arc([0.0, 1.0], [2.0, 0.5], 30.0, 10.0, 200.0),
            Curve::spline(&[[0.0, 0.0], [1.0, 0.4], [2.0, 0.1], [2.5, -0.5]], SplineEnds::NotAKnot),
            Curve::formula("k", ["t", "2 - 0.1*sin(pi*t) + 1e-1*exp(t)"], [0.0, 1.0]).unwrap(),
        ]
    }

    #[test]
    fn arcs_begin_and_end_at_their_angles() {
        let [a, b] = Curve::arc([2.0, 1.0], 1.0, -90.0, 90.0).ends();
        assert!(distance(a, [2.0, 0.0]) < 1e-15 && distance(b, [2.0, 2.0]) < 1e-15);
        assert!((Curve::arc([2.0, 1.0], 0.5, 0.0, 90.0).curvature(0.3) - 2.0).abs() < 1e-14);
    }

    #[test]
    fn formulas_have_the_variable_t_and_name_the_place_of_a_mistake() {
        let error = Curve::formula("domain.outline[2]", ["t", "exp(t) + x"], [0.0, 1.0]).unwrap_err();
        assert_eq!(error.to_string(), "domain.outline[2].curve[1]: unknown name `x` (column 10)");
        let error = Curve::formula("k", ["t", "tan(t) + 2e*t"], [0.0, 1.0]).unwrap_err().to_string();
        assert!(error.contains("column"), "{error}");
        assert!(Curve::formula("k", ["t", "tanh(2*t)"], [0.0, 1.0]).is_ok());
        let error = Curve::formula("k", ["t", "1/t"], [0.0, 1.0]).unwrap_err();
        assert!(error.to_string().contains("not finite at t = 0"), "{error}");
        let error = Curve::formula("k", ["t^2", "t^3"], [0.0, 1.0]).unwrap_err();
        assert!(error.to_string().contains("no direction at t = 0"), "{error}");
    }

    #[test]
    fn the_breaks_of_a_spline_are_its_points() {
        let points = [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 3.0]];
        let curve = Curve::spline(&points, SplineEnds::Natural);
        for (s, p) in curve.breaks().into_iter().zip(&points[1..]) {
            assert!(distance(curve.point(s), *p) < 1e-14);
        }
        assert_eq!(curve.reversed().breaks().len(), 2);
    }

    #[test]
    fn samples_turn_no_more_than_asked() {
        for curve in some_curves() {
            let samples = curve.samples(0.1, 3);
            assert!(samples[0] == 0.0 && samples[samples.len() - 1] == 1.0 && samples.len() > 3);
            for w in samples.windows(2) {
                assert!(turning(curve.derivative(w[0]), curve.derivative(w[1])).abs() < 0.11);
            }
        }
    }

    proptest! {
        #[test]
        fn derivatives_match_differences(kind in 0usize..5, s in 0.05..0.95f64) {
            let curve = &some_curves()[kind];
            let h = 1e-5;
            for a in 0..2 {
                let d = (curve.point(s + h)[a] - curve.point(s - h)[a]) / (2.0 * h);
                prop_assert!((d - curve.derivative(s)[a]).abs() < 1e-7);
                let dd = (curve.derivative(s + h)[a] - curve.derivative(s - h)[a]) / (2.0 * h);
                prop_assert!((dd - curve.second_derivative(s)[a]).abs() < 1e-4);
            }
        }

        #[test]
        fn a_part_is_the_curve_on_an_interval(kind in 0usize..5, a in 0.0..1.0f64, b in 0.0..1.0f64, s in 0.0..1.0f64) {
            let curve = &some_curves()[kind];
            let part = curve.between(a, b);
            prop_assert!(distance(part.point(s), curve.point((1.0 - s) * a + s * b)) < 1e-13);
            prop_assert!(distance(part.reversed().point(s), part.point(1.0 - s)) < 1e-13);
        }

        #[test]
        fn points_of_a_curve_project_onto_themselves(kind in 0usize..5, s in 0.0..1.0f64) {
            let curve = &some_curves()[kind];
            let found = curve.project(curve.point(s), (s + 0.08).min(1.0));
            prop_assert!((found - s).abs() < 1e-10, "{found} {s}");
        }
    }
}
