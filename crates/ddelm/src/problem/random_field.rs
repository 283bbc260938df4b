//! The paper's approximate Gaussian random field: a sum of plane waves with random amplitudes, directions and phases.
//!
//! f(x) = sum_i a_i sin(w_i . x + b_i), with a_i ~ N(0, alpha^4 / modes), w_i ~ N(0, alpha^2 I), b_i ~ U(0, 2 pi).
//!
//! The paper takes 256 modes. By the central limit theorem f is close to a Gaussian field with covariance
//! (alpha^4 / 2) exp(-alpha^2 |x - y|^2 / 2): alpha sets both how fast it varies and how large it is. It serves as
//! a source, and inside tanh(f) + 1.1 as a rough coefficient.
//!
//! # Same bits everywhere
//!
//! Uniform numbers are taken from ChaCha8 by hand, and normal ones from them by the Box-Muller transform with the
//! logarithm and cosine of the `libm` crate. These are plain Rust, where those of the standard library are the
//! platform's and differ in the last bit. The sine below uses neither a platform function nor fused multiply-adds. So a
//! seed stands for one field, whatever the machine.
//!
//! # References
//!
//! The paper's equation (grf), in the section on the Poisson equation.

use std::f64::consts::{PI, TAU};
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::base::error::{Error, Result};
use crate::base::npz;
use crate::problem::field::{Failure, Field, Jets, Samples, same_lengths};
use crate::problem::jets::{X, Y, pair};

/// More modes than anybody waits for: one point then takes some ten milliseconds.
const MOST_MODES: usize = 1 << 20;

/// A sum of plane waves, f(x) = sum_i a_i sin(w_i . x + b_i).
#[derive(Debug, Clone, PartialEq)]
pub struct RandomField {
    a: Vec<f64>,
    w: Vec<[f64; 2]>,
    b: Vec<f64>,
}

impl RandomField {
    /// Draws a field with the given number of modes; `alpha` is the standard deviation of the wave numbers.
    ///
    /// The waves are drawn one after the other, so that more modes change the first ones only in scale.
    pub fn new(alpha: f64, modes: usize, seed: u64) -> Result<Self> {
        if !(alpha > 0.0 && (alpha * alpha).is_finite()) {
            return Err(Error::input("alpha", alpha, "must be a positive number", "the paper takes 16 and 32"));
        }
        if modes > MOST_MODES {
            let problem = format!("there can be at most {MOST_MODES} modes");
            return Err(Error::input("modes", modes, problem, "the paper takes 256"));
        }
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let amplitude = alpha * alpha / (modes as f64).sqrt();
        let mut field = Self { a: Vec::new(), w: Vec::new(), b: Vec::new() };
        for _ in 0..modes {
            field.a.push(amplitude * normal(rng));
            field.w.push([alpha * normal(rng), alpha * normal(rng)]);
            field.b.push(TAU * uniform(rng));
        }
        Self::from_arrays(field.a, field.w, field.b)
    }

    /// The field with given amplitudes `a`, wave vectors `w` and phases `b`.
    pub fn from_arrays(a: Vec<f64>, w: Vec<[f64; 2]>, b: Vec<f64>) -> Result<Self> {
        let modes = a.len();
        if modes == 0 {
            return Err(Error::input("modes", 0, "a field needs at least one mode", "the paper takes 256"));
        }
        for (key, length) in [("w", w.len()), ("b", b.len())] {
            if length != modes {
                let problem = format!("holds {length} modes, but `a` holds {modes}");
                return Err(Error::input(key, "an array", problem, "give one amplitude, wave vector and phase a mode"));
            }
        }
        for (key, values) in [("a", &a[..]), ("w", w.as_flattened()), ("b", &b[..])] {
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(Error::input(key, value, "must be finite", ""));
            }
        }
        Ok(Self { a, w, b })
    }

    /// Reads a field from the arrays `a` and `b` of shape (modes,) and `w` of shape (2, modes) or (modes, 2) in an
    /// `.npz` file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let refuse = |problem: String| Error::File {
            path: path.into(),
            problem,
            hint: "a field has a and b of shape (modes,), and w of shape (2, modes) or (modes, 2)".into(),
        };
        let mut arrays = npz::read(path)?;
        let mut take = |name: &str| arrays.remove(name).ok_or_else(|| refuse(format!("there is no array `{name}`")));
        let (a, w, b) = (take("a")?, take("w")?, take("b")?);
        let modes = a.data.len();
        let waves = match w.shape[..] {
            [2, n] if n == modes => (0..modes).map(|i| [w.data[i], w.data[modes + i]]).collect(),
            [n, 2] if n == modes => w.data.chunks_exact(2).map(|w| [w[0], w[1]]).collect(),
            _ => return Err(refuse(format!("`w` has the shape {:?}, but `a` holds {modes} modes", w.shape))),
        };
        Self::from_arrays(a.data, waves, b.data).map_err(|error| refuse(error.to_string()))
    }

    /// The field times a factor.
    ///
    /// A field is as large as alpha^2. Inside tanh that would make a coefficient which jumps; `scaled(1 / alpha^2)` has
    /// size one, as the paper's coefficients do.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        self.a.iter_mut().for_each(|a| *a *= factor);
        self
    }

    /// The amplitudes a_i.
    pub fn amplitudes(&self) -> &[f64] {
        &self.a
    }

    /// The wave vectors w_i.
    pub fn wave_vectors(&self) -> &[[f64; 2]] {
        &self.w
    }

    /// The phases b_i.
    pub fn phases(&self) -> &[f64] {
        &self.b
    }

    fn waves(&self) -> impl Iterator<Item = Wave> {
        self.a.iter().zip(&self.w).zip(&self.b).map(|((&a, &w), &b)| Wave {
            amplitude: a,
            slope: w.map(|w| a * w),
            frequency: w.map(|w| w / PI),
            phase: b / PI,
        })
    }
}

impl Field for RandomField {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> std::result::Result<(), Failure> {
        let (x, y) = (at.x, at.y);
        same_lengths(&[x, y, out])?;
        let arch = pulp::Arch::new();
        for ((x, y), out) in x.chunks(BLOCK).zip(y.chunks(BLOCK)).zip(out.chunks_mut(BLOCK)) {
            arch.dispatch(Values { field: self, x, y, out });
        }
        Ok(())
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> std::result::Result<bool, Failure> {
        let (x, y) = (at.x, at.y);
        same_lengths(&[x, y, dx, dy])?;
        let arch = pulp::Arch::new();
        let targets = dx.chunks_mut(BLOCK).zip(dy.chunks_mut(BLOCK));
        for ((x, y), (dx, dy)) in x.chunks(BLOCK).zip(y.chunks(BLOCK)).zip(targets) {
            arch.dispatch(Gradients { field: self, x, y, dx, dy });
        }
        Ok(true)
    }

    fn work(&self) -> usize {
        self.a.len()
    }

    fn describe(&self) -> String {
        format!("a random field of {} modes", self.a.len())
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> std::result::Result<bool, Failure> {
        out.reset(at.len());
        self.values(at, &mut out.value)?;
        let [dx, dy, ..] = &mut out.first;
        self.gradients(at, dx, dy)?;
        // -a w w^T sin(w . x + b).
        for (wave, w) in self.waves().zip(&self.w) {
            for (p, (&x, &y)) in at.x.iter().zip(at.y).enumerate() {
                let sin = sin_pi(wave.half_turns(x, y));
                for (i, j) in [(X, X), (X, Y), (Y, Y)] {
                    out.second[pair(i, j)][p] -= wave.slope[i] * w[j] * sin;
                }
            }
        }
        Ok(true)
    }
}

/// Points worked on together: they stay in the first cache while all modes pass over them.
const BLOCK: usize = 256;

/// The values at one block of points.
///
/// The inner loop runs over points, not modes: a sum over modes would have to be reordered to use vector
/// instructions. It is plain code that the compiler vectorises once it is inlined, and so everything here is
/// `inline(always)`, into a function compiled for the instruction set found at run time. A closure in place of this
/// struct would not be inlined.
struct Values<'a> {
    field: &'a RandomField,
    x: &'a [f64],
    y: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::WithSimd for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.out.fill(0.0);
        for wave in self.field.waves() {
            for ((u, &x), &y) in self.out.iter_mut().zip(self.x).zip(self.y) {
                *u += wave.amplitude * sin_pi(wave.half_turns(x, y));
            }
        }
    }
}

/// The gradients at one block of points.
struct Gradients<'a> {
    field: &'a RandomField,
    x: &'a [f64],
    y: &'a [f64],
    dx: &'a mut [f64],
    dy: &'a mut [f64],
}

impl pulp::WithSimd for Gradients<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.dx.fill(0.0);
        self.dy.fill(0.0);
        for wave in self.field.waves() {
            for (((dx, dy), &x), &y) in self.dx.iter_mut().zip(&mut *self.dy).zip(self.x).zip(self.y) {
                let cos = cos_pi(wave.half_turns(x, y));
                *dx += wave.slope[0] * cos;
                *dy += wave.slope[1] * cos;
            }
        }
    }
}

/// One mode, with its argument in units of pi: reducing it to \[-1/2, 1/2\] then takes off an integer, without error.
///
/// The division by pi moves the argument by no more than its own rounding does.
struct Wave {
    amplitude: f64,
    /// a w, the factors of the cosine in the gradient.
    slope: [f64; 2],
    /// w / pi.
    frequency: [f64; 2],
    /// b / pi.
    phase: f64,
}

impl Wave {
    /// (w . x + b) / pi.
    #[inline(always)]
    fn half_turns(&self, x: f64, y: f64) -> f64 {
        self.frequency[0] * x + self.frequency[1] * y + self.phase
    }
}

/// Adding 1.5 * 2^52 rounds to an integer, whose parity is then the lowest bit.
const ROUNDING: f64 = 6755399441055744.0;

/// sin(pi t) = (-1)^m sin(pi (t - m)), m = round(t).
#[inline(always)]
fn sin_pi(t: f64) -> f64 {
    let m = t + ROUNDING;
    signed(sin_pi_reduced(t - (m - ROUNDING)), m)
}

/// cos(pi t) = (-1)^m sin(pi (m + 1/2 - t)), m = round(t - 1/2).
#[inline(always)]
fn cos_pi(t: f64) -> f64 {
    let m = (t - 0.5) + ROUNDING;
    signed(sin_pi_reduced((m - ROUNDING) + 0.5 - t), m)
}

/// sin(pi r) for |r| <= 1/2, with a relative error below 4.5e-16.
///
/// The polynomial interpolates sin(pi r) / r in r^2 at Chebyshev nodes. Its terms are summed in pairs (Estrin's
/// scheme), which wait less for each other than in Horner's.
///
/// From |t| = 2^51 on the rounding to m fails, and r can be anything. Neighbouring numbers t are then half a turn
/// apart, and no value would mean much: the clamp only keeps it in \[-1, 1\].
#[inline(always)]
fn sin_pi_reduced(r: f64) -> f64 {
    const C: [f64; 9] = [
        PI,
        -5.167712780049969,
        2.5501640398773002,
        -0.5992645293189403,
        0.08214588657302717,
        -0.007370430505217146,
        0.0004662998126284068,
        -2.1903487684769023e-05,
        7.697726639610672e-07,
    ];
    let r = r.clamp(-0.5, 0.5);
    let s = r * r;
    let s2 = s * s;
    let [c12, c34, c56, c78] = [1, 3, 5, 7].map(|i| C[i] + C[i + 1] * s);
    let tail = (c12 + c34 * s2) + (c56 + c78 * s2) * (s2 * s2);
    r * (C[0] + s * tail)
}

/// `value` with the sign (-1)^m, given m + [`ROUNDING`].
#[inline(always)]
fn signed(value: f64, shifted_m: f64) -> f64 {
    f64::from_bits(value.to_bits() ^ (shifted_m.to_bits() << 63))
}

/// A uniform number in \[0, 1) with 53 bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 53) as f64;
    (rng.next_u64() >> 11) as f64 * STEP
}

/// A normal number by the Box-Muller transform. The second one it could give is left, for the sake of simplicity.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - uniform(rng))).sqrt();
    radius * libm::cos(TAU * uniform(rng))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(field: &RandomField, x: &[f64], y: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; x.len()];
        field.values(&Samples::at(x, y), &mut out).unwrap();
        out
    }

    fn gradients(field: &RandomField, x: &[f64], y: &[f64]) -> [Vec<f64>; 2] {
        let [mut dx, mut dy] = [vec![f64::NAN; x.len()], vec![f64::NAN; x.len()]];
        assert!(field.gradients(&Samples::at(x, y), &mut dx, &mut dy).unwrap());
        [dx, dy]
    }

    /// The field with the functions of the standard library, point by point.
    fn direct(field: &RandomField, x: f64, y: f64) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for ((a, w), b) in field.a.iter().zip(&field.w).zip(&field.b) {
            let (sin, cos) = (w[0] * x + w[1] * y + b).sin_cos();
            sum[0] += a * sin;
            sum[1] += a * w[0] * cos;
            sum[2] += a * w[1] * cos;
        }
        sum
    }

    #[test]
    fn first_numbers_are_written_down() {
        let field = RandomField::new(16.0, 256, 1).unwrap();
        let first = (field.a[0], field.w[0], field.b[0]);
        assert_eq!(first, STABLE.0, "{first:?}");
        let last = (field.a[255], field.w[255], field.b[255]);
        assert_eq!(last, STABLE.1, "{last:?}");
        let value = values(&field, &[0.3], &[0.7])[0];
        assert_eq!(value, STABLE.2, "{value:?}");
    }

    type Mode = (f64, [f64; 2], f64);
    const STABLE: (Mode, Mode, f64) = (
        (14.210447550253281, [4.129438298406511, -3.201818401850239], 2.897102435207969),
        (-1.5221224411201806, [14.349547009928717, 29.777737894775814], 0.23014158445351932),
        -103.73130724901733,
    );

    #[test]
    fn coefficients_have_the_distribution_of_the_paper() {
        let (alpha, modes) = (4.0, 40_000);
        let field = RandomField::new(alpha, modes, 7).unwrap();
        // Mean and second moment of each, in units of the expected scale; standard errors are below 0.015.
        let check = |values: Vec<f64>, mean: f64, second: f64, name: &str| {
            let n = values.len() as f64;
            assert!((values.iter().sum::<f64>() / n - mean).abs() < 0.03, "mean of {name}");
            assert!((values.iter().map(|v| v * v).sum::<f64>() / n - second).abs() < 0.05, "second moment of {name}");
        };
        let scale = alpha * alpha / (modes as f64).sqrt();
        check(field.a.iter().map(|a| a / scale).collect(), 0.0, 1.0, "a");
        for axis in 0..2 {
            check(field.w.iter().map(|w| w[axis] / alpha).collect(), 0.0, 1.0, "w");
        }
        check(field.b.iter().map(|b| b / TAU).collect(), 0.5, 1.0 / 3.0, "b");
        assert!(field.b.iter().all(|b| (0.0..TAU).contains(b)));
    }

    #[test]
    fn a_scaled_field_is_the_field_times_a_factor() {
        let field = RandomField::new(16.0, 8, 3).unwrap();
        let (whole, half) = (values(&field, &[0.3], &[0.6])[0], values(&field.scaled(0.5), &[0.3], &[0.6])[0]);
        assert_eq!(half, 0.5 * whole);
    }

    #[test]
    fn seeds_give_different_fields() {
        let field = |seed| RandomField::new(16.0, 8, seed).unwrap();
        assert_eq!(field(3), field(3));
        assert_ne!(field(3), field(4));
    }

    #[test]
    fn fields_are_read_with_wave_vectors_by_rows_or_columns() {
        let folder = std::env::temp_dir().join(format!("ddelm-random-field-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("field.npz");
        let field = RandomField::new(16.0, 5, 1).unwrap();
        let vector = |v: &[f64]| npz::Array::vector(v.to_vec());
        let rows = field.w.iter().flatten().copied().collect();
        let columns = (0..2).flat_map(|axis| field.w.iter().map(move |w| w[axis])).collect();
        let save = |shape: [usize; 2], data: Vec<f64>| {
            let w = npz::Array { shape: shape.to_vec(), data };
            npz::write(&path, &[("a", vector(&field.a)), ("w", w), ("b", vector(&field.b))]).unwrap();
        };
        save([5, 2], rows);
        assert_eq!(RandomField::load(&path).unwrap(), field);
        save([2, 5], columns);
        assert_eq!(RandomField::load(&path).unwrap(), field);
        save([1, 10], vec![0.0; 10]);
        assert!(RandomField::load(&path).unwrap_err().to_string().contains("[1, 10]"));
        npz::write(&path, &[("a", vector(&field.a))]).unwrap();
        assert!(RandomField::load(&path).unwrap_err().to_string().contains("no array `w`"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn waves_too_fast_to_resolve_stay_bounded() {
        for w in [1e15, 3.3e16, 1e17, 1e100] {
            let field = RandomField::from_arrays(vec![1.0], vec![[w, 0.0]], vec![0.5]).unwrap();
            let x: Vec<f64> = (0..100).map(|i| i as f64 / 7.0).collect();
            assert!(values(&field, &x, &x).iter().all(|u| u.abs() <= 1.0 + 1e-15), "w = {w}");
        }
    }

    #[test]
    fn points_that_are_not_finite_give_nan_there_only() {
        let field = RandomField::new(4.0, 16, 0).unwrap();
        let out = values(&field, &[0.5, f64::NAN, f64::INFINITY], &[0.5, 0.5, 0.5]);
        assert!(out[0].is_finite() && out[1].is_nan() && out[2].is_nan(), "{out:?}");
    }

    #[test]
    fn misuse_is_an_error() {
        for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
            assert!(RandomField::new(alpha, 4, 0).unwrap_err().key() == Some("alpha"));
        }
        assert_eq!(RandomField::new(1.0, 0, 0).unwrap_err().key(), Some("modes"));
        let key = |a: &[f64], w: &[[f64; 2]], b: &[f64]| {
            RandomField::from_arrays(a.into(), w.into(), b.into()).unwrap_err().key().map(String::from)
        };
        assert_eq!(key(&[1.0], &[], &[1.0]).as_deref(), Some("w"));
        assert_eq!(key(&[1.0], &[[1.0, 1.0]], &[1.0, 2.0]).as_deref(), Some("b"));
        assert_eq!(key(&[1.0], &[[1.0, f64::NAN]], &[1.0]).as_deref(), Some("w"));
    }

    proptest! {
        #[test]
        fn sine_and_cosine_of_half_turns_are_accurate(
            t in prop_oneof![-0.5..0.5f64, -1e-3..1e-3f64],
            m in -100_000..100_000i32,
        ) {
            // t - m is rounded; t is what is left of it.
            let (m, shifted) = (f64::from(m), t - f64::from(m));
            let t = shifted + m;
            let sign = if m % 2.0 == 0.0 { 1.0 } else { -1.0 };
            let (sin, cos) = (PI * t).sin_cos();
            prop_assert!((sign * sin_pi(shifted) - sin).abs() <= 4.5e-16 * sin.abs(), "sin {t:?}");
            prop_assert!((sign * cos_pi(shifted) - cos).abs() <= 4.5e-16, "cos {t:?}");
        }

        #[test]
        fn values_and_gradients_are_those_of_the_sum(
            seed in 0u64..100,
            points in prop::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 1..600),
        ) {
            let field = RandomField::new(32.0, 20, seed).unwrap();
            let (x, y): (Vec<_>, Vec<_>) = points.into_iter().unzip();
            let [dx, dy] = gradients(&field, &x, &y);
            // Arguments reach some 200, and their rounding errors 1e-13 / 4.
            let bound = 1e-13 * field.a.iter().map(|a| a.abs()).sum::<f64>();
            let slope_bound = 1e-13 * field.waves().map(|wave| wave.slope[0].hypot(wave.slope[1])).sum::<f64>();
            for (i, value) in values(&field, &x, &y).into_iter().enumerate() {
                let expected = direct(&field, x[i], y[i]);
                prop_assert!((value - expected[0]).abs() <= bound);
                prop_assert!((dx[i] - expected[1]).abs() <= slope_bound);
                prop_assert!((dy[i] - expected[2]).abs() <= slope_bound);
            }
        }
    }
}
