//! The operations of a formula: their names, values, slopes and curvatures.
//!
//! Each operation is written once, as its value and its partial derivatives, and run on whole blocks: the [`kernels`](super::kernels)
//! are compiled for each operation, so that nothing is looked up per point. Second derivatives, which only nonlinear problems
//! need, are plain functions of a point.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use crate::algebra::elementary::{self, EXP_RANGE, SINE_RANGE};

use super::kernels::{BinaryKernel, BinaryValues, LeftSlopes, RightSlopes, UnaryKernel, UnarySlopes, UnaryValues};

/// An operation with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unary {
    Negate,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Cbrt,
    Abs,
    Sign,
    Step,
    Floor,
    Ceil,
    Round,
    Erf,
    Erfc,
    Not,
}

/// An operation with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Atan2,
    Hypot,
    Min,
    Max,
    Mod,
    Less,
    AtMost,
    Equal,
    Unequal,
    And,
    Or,
}

/// A function that can be called by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Unary(Unary),
    Binary(Binary),
    /// `clamp(v, low, high)`
    Clamp,
    /// `if(condition, a, b)`
    If,
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|&(_, function)| function)
    }
}

/// The functions by name. The inverse functions have both of NumPy's names.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("sin", Function::Unary(Unary::Sin)),
    ("cos", Function::Unary(Unary::Cos)),
    ("tan", Function::Unary(Unary::Tan)),
    ("asin", Function::Unary(Unary::Asin)),
    ("acos", Function::Unary(Unary::Acos)),
    ("atan", Function::Unary(Unary::Atan)),
    ("arcsin", Function::Unary(Unary::Asin)),
    ("arccos", Function::Unary(Unary::Acos)),
    ("arctan", Function::Unary(Unary::Atan)),
    ("sinh", Function::Unary(Unary::Sinh)),
    ("cosh", Function::Unary(Unary::Cosh)),
    ("tanh", Function::Unary(Unary::Tanh)),
    ("asinh", Function::Unary(Unary::Asinh)),
    ("acosh", Function::Unary(Unary::Acosh)),
    ("atanh", Function::Unary(Unary::Atanh)),
    ("arcsinh", Function::Unary(Unary::Asinh)),
    ("arccosh", Function::Unary(Unary::Acosh)),
    ("arctanh", Function::Unary(Unary::Atanh)),
    ("exp", Function::Unary(Unary::Exp)),
    ("exp2", Function::Unary(Unary::Exp2)),
    ("expm1", Function::Unary(Unary::Expm1)),
    ("log", Function::Unary(Unary::Log)),
    ("ln", Function::Unary(Unary::Log)),
    ("log2", Function::Unary(Unary::Log2)),
    ("log10", Function::Unary(Unary::Log10)),
    ("log1p", Function::Unary(Unary::Log1p)),
    ("sqrt", Function::Unary(Unary::Sqrt)),
    ("cbrt", Function::Unary(Unary::Cbrt)),
    ("abs", Function::Unary(Unary::Abs)),
    ("sign", Function::Unary(Unary::Sign)),
    ("step", Function::Unary(Unary::Step)),
    ("floor", Function::Unary(Unary::Floor)),
    ("ceil", Function::Unary(Unary::Ceil)),
    ("round", Function::Unary(Unary::Round)),
    ("erf", Function::Unary(Unary::Erf)),
    ("erfc", Function::Unary(Unary::Erfc)),
    ("pow", Function::Binary(Binary::Power)),
    ("atan2", Function::Binary(Binary::Atan2)),
    ("arctan2", Function::Binary(Binary::Atan2)),
    ("hypot", Function::Binary(Binary::Hypot)),
    ("min", Function::Binary(Binary::Min)),
    ("max", Function::Binary(Binary::Max)),
    ("mod", Function::Binary(Binary::Mod)),
    ("clamp", Function::Clamp),
    ("if", Function::If),
];

impl Unary {
    /// The values f(a).
    pub(super) fn values(self, a: &[f64], out: &mut [f64]) {
        self.run(UnaryValues { a, out });
    }

    /// The slopes f'(a), given the values v = f(a).
    pub(super) fn slopes(self, a: &[f64], v: &[f64], out: &mut [f64]) {
        self.run(UnarySlopes { a, v, out });
    }

    /// Whether the slope is zero everywhere but at jumps.
    pub(super) fn is_piecewise_constant(self) -> bool {
        matches!(self, Unary::Sign | Unary::Step | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Not)
    }

    /// The curvature f''(a), written in a and v = f(a); `None` where it is zero everywhere but at kinks.
    pub(super) fn curvature(self) -> Option<fn(f64, f64) -> f64> {
        Some(match self {
            Unary::Sin | Unary::Cos => |_, v| -v,
            Unary::Tan => |_, v| 2.0 * v * (1.0 + v * v),
            Unary::Asin => |a, _| a / three_halves((1.0 - a) * (1.0 + a)),
            Unary::Acos => |a, _| -a / three_halves((1.0 - a) * (1.0 + a)),
            Unary::Atan => |a, _| -2.0 * a / (1.0 + a * a).powi(2),
            Unary::Sinh | Unary::Cosh | Unary::Exp => |_, v| v,
            Unary::Tanh => |_, v| -2.0 * v * (1.0 - v) * (1.0 + v),
            Unary::Asinh => |a, _| -a / three_halves(1.0 + a * a),
            Unary::Acosh => |a, _| -a / three_halves((a - 1.0) * (a + 1.0)),
            Unary::Atanh => |a, _| 2.0 * a / ((1.0 - a) * (1.0 + a)).powi(2),
            Unary::Exp2 => |_, v| LN_2 * LN_2 * v,
            Unary::Expm1 => |_, v| v + 1.0,
            Unary::Log => |a, _| -1.0 / (a * a),
            Unary::Log2 => |a, _| -1.0 / (LN_2 * a * a),
            Unary::Log10 => |a, _| -1.0 / (LN_10 * a * a),
            Unary::Log1p => |a, _| -1.0 / ((1.0 + a) * (1.0 + a)),
            Unary::Sqrt => |a, v| -0.25 / (a * v),
            Unary::Cbrt => |a, v| -2.0 / (9.0 * a * v * v),
            Unary::Erf => |a, _| -2.0 * a * FRAC_2_SQRT_PI * (-a * a).exp(),
            Unary::Erfc => |a, _| 2.0 * a * FRAC_2_SQRT_PI * (-a * a).exp(),
            Unary::Negate
            | Unary::Abs
            | Unary::Sign
            | Unary::Step
            | Unary::Floor
            | Unary::Ceil
            | Unary::Round
            | Unary::Not => return None,
        })
    }

    /// Hands the value f(a) and the slope f'(a), written in a and v = f(a), to a kernel.
    ///
    /// At a kink the slope is the mean of those to the left and right of it; jumps are passed over.
    fn run(self, kernel: impl UnaryKernel) {
        match self {
            Unary::Negate => kernel.run(|a| -a, |_, _| -1.0),
            Unary::Sin => {
                let beyond = (f64::sin, |a: f64, _| a.cos());
                kernel.run_within(SINE_RANGE, elementary::sin, |a, _| elementary::cos(a), beyond);
            }
            Unary::Cos => {
                let beyond = (f64::cos, |a: f64, _| -a.sin());
                kernel.run_within(SINE_RANGE, elementary::cos, |a, _| -elementary::sin(a), beyond);
            }
            Unary::Tan => kernel.run(f64::tan, |_, v| 1.0 + v * v),
            Unary::Asin => kernel.run(f64::asin, |a, _| 1.0 / ((1.0 - a) * (1.0 + a)).sqrt()),
            Unary::Acos => kernel.run(f64::acos, |a, _| -1.0 / ((1.0 - a) * (1.0 + a)).sqrt()),
            Unary::Atan => kernel.run(f64::atan, |a, _| 1.0 / (1.0 + a * a)),
            Unary::Sinh => kernel.run(f64::sinh, |a, _| a.cosh()),
            Unary::Cosh => kernel.run(f64::cosh, |a, _| a.sinh()),
            Unary::Tanh => kernel.run(elementary::tanh, |_, v| (1.0 - v) * (1.0 + v)),
            Unary::Asinh => kernel.run(f64::asinh, |a, _| 1.0 / a.hypot(1.0)),
            Unary::Acosh => kernel.run(f64::acosh, |a, _| 1.0 / ((a - 1.0) * (a + 1.0)).sqrt()),
            Unary::Atanh => kernel.run(f64::atanh, |a, _| 1.0 / ((1.0 - a) * (1.0 + a))),
            Unary::Exp => kernel.run_within(EXP_RANGE, elementary::exp, |_, v| v, (f64::exp, |_, v| v)),
            Unary::Exp2 => kernel.run(f64::exp2, |_, v| LN_2 * v),
            Unary::Expm1 => kernel.run(f64::exp_m1, |_, v| v + 1.0),
            Unary::Log => kernel.run(f64::ln, |a, _| 1.0 / a),
            Unary::Log2 => kernel.run(f64::log2, |a, _| 1.0 / (LN_2 * a)),
            Unary::Log10 => kernel.run(f64::log10, |a, _| 1.0 / (LN_10 * a)),
            Unary::Log1p => kernel.run(f64::ln_1p, |a, _| 1.0 / (1.0 + a)),
            Unary::Sqrt => kernel.run(f64::sqrt, |_, v| 0.5 / v),
            Unary::Cbrt => kernel.run(f64::cbrt, |_, v| 1.0 / (3.0 * v * v)),
            Unary::Abs => kernel.run(f64::abs, |a, _| sign(a)),
            Unary::Sign => kernel.run(sign, |_, _| 0.0),
            Unary::Step => kernel.run(step, |_, _| 0.0),
            Unary::Floor => kernel.run(f64::floor, |_, _| 0.0),
            Unary::Ceil => kernel.run(f64::ceil, |_, _| 0.0),
            Unary::Round => kernel.run(f64::round_ties_even, |_, _| 0.0),
            Unary::Erf => kernel.run(libm::erf, |a, _| FRAC_2_SQRT_PI * (-a * a).exp()),
            Unary::Erfc => kernel.run(libm::erfc, |a, _| -FRAC_2_SQRT_PI * (-a * a).exp()),
            Unary::Not => kernel.run(|a| truth(a == 0.0, a, a), |_, _| 0.0),
        }
    }
}

/// f_aa, f_ab and f_bb of an operation, written in a, b and v = f(a, b).
type Curvatures = fn(f64, f64, f64) -> [f64; 3];

impl Binary {
    /// The values f(a, b).
    pub(super) fn values(self, a: &[f64], b: &[f64], out: &mut [f64]) {
        self.run(BinaryValues { a, b, out });
    }

    /// The slopes in the left operand, given the values v = f(a, b).
    pub(super) fn left_slopes(self, a: &[f64], b: &[f64], v: &[f64], out: &mut [f64]) {
        self.run(LeftSlopes { a, b, v, out });
    }

    /// The slopes in the right operand, given the values v = f(a, b).
    pub(super) fn right_slopes(self, a: &[f64], b: &[f64], v: &[f64], out: &mut [f64]) {
        self.run(RightSlopes { a, b, v, out });
    }

    /// Whether the slopes are zero everywhere but at jumps.
    pub(super) fn is_piecewise_constant(self) -> bool {
        use Binary::{And, AtMost, Equal, Less, Or, Unequal};
        matches!(self, Less | AtMost | Equal | Unequal | And | Or)
    }

    /// The second derivatives f_aa, f_ab and f_bb, written in a, b and v = f(a, b); `None` where they are zero everywhere
    /// but at kinks.
    pub(super) fn curvatures(self) -> Option<Curvatures> {
        Some(match self {
            Binary::Multiply => |_, _, _| [0.0, 1.0, 0.0],
            Binary::Divide => |_, b, v| [0.0, -1.0 / (b * b), 2.0 * v / (b * b)],
            Binary::Power => power_curvatures,
            Binary::Atan2 => |a, b, _| {
                let square = (a * a + b * b).powi(2);
                [-2.0 * a * b / square, (a - b) * (a + b) / square, 2.0 * a * b / square]
            },
            Binary::Hypot => {
                |a, b, v| if v == 0.0 { [0.0; 3] } else { [b * b, -a * b, a * a].map(|s| s / (v * v * v)) }
            }
            Binary::Add
            | Binary::Subtract
            | Binary::Min
            | Binary::Max
            | Binary::Mod
            | Binary::Less
            | Binary::AtMost
            | Binary::Equal
            | Binary::Unequal
            | Binary::And
            | Binary::Or => return None,
        })
    }

    /// Hands the value f(a, b) and the slopes in a and in b, written in a, b and v = f(a, b), to a kernel.
    fn run(self, kernel: impl BinaryKernel) {
        match self {
            Binary::Add => kernel.run(|a, b| a + b, |_, _, _| 1.0, |_, _, _| 1.0),
            Binary::Subtract => kernel.run(|a, b| a - b, |_, _, _| 1.0, |_, _, _| -1.0),
            Binary::Multiply => kernel.run(|a, b| a * b, |_, b, _| b, |a, _, _| a),
            Binary::Divide => kernel.run(|a, b| a / b, |_, b, _| 1.0 / b, |_, b, v| -v / b),
            Binary::Power => kernel.run(f64::powf, power_slope_in_base, power_slope_in_exponent),
            Binary::Atan2 => kernel.run(f64::atan2, |a, b, _| b / (a * a + b * b), |a, b, _| -a / (a * a + b * b)),
            Binary::Hypot => kernel.run(f64::hypot, |a, _, v| direction(a, v), |_, b, v| direction(b, v)),
            Binary::Min => kernel.run(minimum, |a, b, _| step_slope(b - a), |a, b, _| step_slope(a - b)),
            Binary::Max => kernel.run(maximum, |a, b, _| step_slope(a - b), |a, b, _| step_slope(b - a)),
            Binary::Mod => kernel.run(modulo, |_, _, _| 1.0, |a, b, _| -(a / b).floor()),
            Binary::Less => kernel.run(|a, b| truth(a < b, a, b), |_, _, _| 0.0, |_, _, _| 0.0),
            Binary::AtMost => kernel.run(|a, b| truth(a <= b, a, b), |_, _, _| 0.0, |_, _, _| 0.0),
            Binary::Equal => kernel.run(|a, b| truth(a == b, a, b), |_, _, _| 0.0, |_, _, _| 0.0),
            Binary::Unequal => kernel.run(|a, b| truth(a != b, a, b), |_, _, _| 0.0, |_, _, _| 0.0),
            Binary::And => kernel.run(|a, b| truth(a != 0.0 && b != 0.0, a, b), |_, _, _| 0.0, |_, _, _| 0.0),
            Binary::Or => kernel.run(|a, b| truth(a != 0.0 || b != 0.0, a, b), |_, _, _| 0.0, |_, _, _| 0.0),
        }
    }
}

/// -1, 0 or 1, as `np.sign` has it; the standard `signum` is never 0.
fn sign(a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a.signum() }
}

/// 1 where a statement about a and b is true, 0 where it is not, and NaN where one of them is not a number, so that it is not hidden.
fn truth(is_true: bool, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { f64::from(u8::from(is_true)) }
}

/// a where the condition holds, and b where it is 0; NaN where the condition is not a number.
pub(super) fn select(condition: &[f64], a: &[f64], b: &[f64], out: &mut [f64]) {
    for (((out, &c), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
        *out = if c.is_nan() {
            c
        } else if c != 0.0 {
            a
        } else {
            b
        };
    }
}

/// s^(3/2).
fn three_halves(s: f64) -> f64 {
    s * s.sqrt()
}

/// 0 below 0, and 1 otherwise.
fn step(a: f64) -> f64 {
    if a.is_nan() { a } else { f64::from(u8::from(a >= 0.0)) }
}

/// The part that the larger of two operands has in their maximum; half of it where they are equal, so that
/// max(a, -a) has the slope of abs(a).
fn step_slope(difference: f64) -> f64 {
    0.5 + 0.5 * sign(difference)
}

/// The smaller one, or NaN if one is, as `np.minimum` has it.
fn minimum(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// The larger one, or NaN if one is, as `np.maximum` has it.
fn maximum(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// The remainder with the sign of the divisor, as `np.mod` has it.
fn modulo(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

/// A component of the unit vector along (a, b), v = hypot(a, b); 0 at the tip of the cone.
fn direction(a: f64, v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { a / v }
}

/// b a^(b-1); a^0 = 1 even at a = 0.
fn power_slope_in_base(a: f64, b: f64, _: f64) -> f64 {
    if b == 0.0 { 0.0 } else { b * a.powf(b - 1.0) }
}

/// a^b ln(a), which goes to 0 with a^b.
fn power_slope_in_exponent(a: f64, _: f64, v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { v * a.ln() }
}

/// b (b-1) a^(b-2), a^(b-1) (1 + b ln a) and a^b ln(a)^2; those with a logarithm go to 0 with a^b.
fn power_curvatures(a: f64, b: f64, v: f64) -> [f64; 3] {
    let base = if b == 0.0 || b == 1.0 { 0.0 } else { b * (b - 1.0) * a.powf(b - 2.0) };
    if v == 0.0 { [base, 0.0, 0.0] } else { [base, a.powf(b - 1.0) * (1.0 + b * a.ln()), v * a.ln() * a.ln()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unary(f: Unary, a: f64) -> [f64; 2] {
        let (mut v, mut slope) = ([0.0], [0.0]);
        f.values(&[a], &mut v);
        f.slopes(&[a], &v, &mut slope);
        [v[0], slope[0]]
    }

    fn binary(f: Binary, a: f64, b: f64) -> [f64; 3] {
        let (mut v, mut left, mut right) = ([0.0], [0.0], [0.0]);
        f.values(&[a], &[b], &mut v);
        f.left_slopes(&[a], &[b], &v, &mut left);
        f.right_slopes(&[a], &[b], &v, &mut right);
        [v[0], left[0], right[0]]
    }

    #[test]
    fn slopes_are_those_of_the_values() {
        const H: f64 = 1e-5;
        for &(name, function) in FUNCTIONS {
            let mut points = 0;
            // Away from jumps and kinks; where a function is not real, nothing is compared.
            for a in [-1.7, -0.6, 0.3, 0.8, 1.7, 2.6] {
                match function {
                    Function::Unary(f) => {
                        let [v, slope] = unary(f, a);
                        let expected = (unary(f, a + H)[0] - unary(f, a - H)[0]) / (2.0 * H);
                        if v.is_finite() {
                            assert!((slope - expected).abs() < 1e-7 * (1.0 + slope.abs()), "{name} at {a}");
                            points += 1;
                        }
                    }
                    Function::Binary(f) => {
                        for b in [-1.1, 0.45, 2.3] {
                            let [v, left, right] = binary(f, a, b);
                            let expected_left = (binary(f, a + H, b)[0] - binary(f, a - H, b)[0]) / (2.0 * H);
                            let expected_right = (binary(f, a, b + H)[0] - binary(f, a, b - H)[0]) / (2.0 * H);
                            if v.is_finite() {
                                assert!((left - expected_left).abs() < 1e-7 * (1.0 + left.abs()), "{name} at {a}, {b}");
                                assert!(
                                    (right - expected_right).abs() < 1e-7 * (1.0 + right.abs()),
                                    "{name} at {a}, {b}"
                                );
                                points += 1;
                            }
                        }
                    }
                    // They are made of others; see the tests of formulas.
                    Function::Clamp | Function::If => points += 1,
                }
            }
            assert!(points >= 2, "{name}");
        }
    }

    #[test]
    fn curvatures_are_those_of_the_slopes() {
        const H: f64 = 1e-5;
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-6 * (1.0 + found.abs());
        let mut compared = 0;
        for &(name, function) in FUNCTIONS {
            for a in [-1.7, -0.6, 0.3, 0.8, 1.7, 2.6] {
                match function {
                    Function::Unary(f) => {
                        let found = f.curvature().map_or(0.0, |f2| f2(a, unary(f, a)[0]));
                        let expected = (unary(f, a + H)[1] - unary(f, a - H)[1]) / (2.0 * H);
                        if unary(f, a)[0].is_finite() {
                            assert!(close(found, expected), "{name} at {a}: {found}, not {expected}");
                            compared += 1;
                        }
                    }
                    Function::Binary(f) => {
                        for b in [-1.1, 0.45, 2.3] {
                            let found = f.curvatures().map_or([0.0; 3], |f2| f2(a, b, binary(f, a, b)[0]));
                            let [left, right] = [[H, 0.0], [0.0, H]].map(|[h, k]| {
                                let (above, below) = (binary(f, a + h, b + k), binary(f, a - h, b - k));
                                [1, 2].map(|i| (above[i] - below[i]) / (2.0 * H))
                            });
                            if binary(f, a, b)[0].is_finite() {
                                let expected = [left[0], left[1], right[1]];
                                for (found, expected) in found.into_iter().zip(expected) {
                                    assert!(close(found, expected), "{name} at {a}, {b}: {found}, not {expected}");
                                }
                                assert!(close(left[1], right[0]), "{name} at {a}, {b}");
                                compared += 1;
                            }
                        }
                    }
                    Function::Clamp | Function::If => (),
                }
            }
        }
        assert!(compared > 250, "{compared}");
    }

    #[test]
    fn statements_are_one_or_zero() {
        let of = |f: Binary| [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]].map(|[a, b]| binary(f, a, b)[0]);
        assert_eq!(of(Binary::Less), [1.0, 0.0, 0.0]);
        assert_eq!(of(Binary::AtMost), [1.0, 1.0, 0.0]);
        assert_eq!(of(Binary::Equal), [0.0, 1.0, 0.0]);
        assert_eq!(of(Binary::Unequal), [1.0, 0.0, 1.0]);
        let table = |f: Binary| [[0.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0]].map(|[a, b]| binary(f, a, b)[0]);
        assert_eq!(table(Binary::And), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(table(Binary::Or), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!([0.0, 1.0, -2.0].map(|a| unary(Unary::Not, a)[0]), [1.0, 0.0, 0.0]);
        let mut out = [0.0; 3];
        select(&[1.0, 0.0, f64::NAN], &[1.0, f64::NAN, 1.0], &[f64::NAN, 2.0, 2.0], &mut out);
        assert_eq!((out[0], out[1], out[2].is_nan()), (1.0, 2.0, true));
    }

    #[test]
    fn kinks_and_jumps() {
        assert_eq!(unary(Unary::Abs, 0.0), [0.0, 0.0]);
        assert_eq!([-2.0, -0.0, 3.0].map(|a| unary(Unary::Sign, a)[0]), [-1.0, 0.0, 1.0]);
        assert_eq!([-1e-300, -0.0, 3.0].map(|a| unary(Unary::Step, a)[0]), [0.0, 1.0, 1.0]);
        assert_eq!([0.5, 1.5, -2.5].map(|a| unary(Unary::Round, a)[0]), [0.0, 2.0, -2.0]);
        assert_eq!(binary(Binary::Max, 1.0, 1.0), [1.0, 0.5, 0.5]);
        assert_eq!(binary(Binary::Min, 2.0, 1.0), [1.0, 0.0, 1.0]);
        assert_eq!(binary(Binary::Hypot, 0.0, 0.0), [0.0, 0.0, 0.0]);
        assert_eq!(binary(Binary::Power, 0.0, 0.0), [1.0, 0.0, f64::NEG_INFINITY]);
        assert_eq!(binary(Binary::Power, 0.0, 1.5), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn nan_is_not_hidden() {
        for f in [Binary::Min, Binary::Max, Binary::Less, Binary::Equal, Binary::Unequal, Binary::And, Binary::Or] {
            assert!(binary(f, f64::NAN, 1.0)[0].is_nan() && binary(f, 1.0, f64::NAN)[0].is_nan());
        }
        assert!(unary(Unary::Sign, f64::NAN)[0].is_nan() && unary(Unary::Step, f64::NAN)[0].is_nan());
    }

    #[test]
    fn remainders_have_the_sign_of_the_divisor() {
        let cases = [(5.5, 2.0, 1.5), (-5.5, 2.0, 0.5), (5.5, -2.0, -0.5), (-5.5, -2.0, -1.5), (4.0, 2.0, 0.0)];
        for (a, b, expected) in cases {
            assert_eq!(binary(Binary::Mod, a, b)[0], expected, "mod({a}, {b})");
        }
    }
}
