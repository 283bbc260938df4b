//! Loops over blocks of points, compiled for each operation of a formula, so that nothing is looked up per point, and for the
//! vectors of the machine.

use pulp::Arch;

/// Something to do with the value and slope of an operation.
pub(super) trait UnaryKernel {
    fn run(self, value: impl Fn(f64) -> f64, slope: impl Fn(f64, f64) -> f64);

    /// The same for an operation that is written without branches for `|a| <= range`, and otherwise beyond.
    fn run_within(
        self,
        range: f64,
        value: impl Fn(f64) -> f64,
        slope: impl Fn(f64, f64) -> f64,
        beyond: (impl Fn(f64) -> f64, impl Fn(f64, f64) -> f64),
    );
}

/// Values of an operation with one operand.
pub(super) struct UnaryValues<'a> {
    pub a: &'a [f64],
    pub out: &'a mut [f64],
}

impl UnaryKernel for UnaryValues<'_> {
    fn run(self, value: impl Fn(f64) -> f64, _: impl Fn(f64, f64) -> f64) {
        Arch::new().dispatch(|| self.out.iter_mut().zip(self.a).for_each(|(out, &a)| *out = value(a)));
    }

    fn run_within(
        self,
        range: f64,
        value: impl Fn(f64) -> f64,
        _: impl Fn(f64, f64) -> f64,
        beyond: (impl Fn(f64) -> f64, impl Fn(f64, f64) -> f64),
    ) {
        let UnaryValues { a, out } = self;
        UnaryValues { a, out: &mut *out }.run(value, |_, _| 0.0);
        for (out, &a) in out.iter_mut().zip(a).filter(|(_, a)| a.abs() > range) {
            *out = beyond.0(a);
        }
    }
}

/// Its slopes.
pub(super) struct UnarySlopes<'a> {
    pub a: &'a [f64],
    pub v: &'a [f64],
    pub out: &'a mut [f64],
}

impl UnaryKernel for UnarySlopes<'_> {
    fn run(self, _: impl Fn(f64) -> f64, slope: impl Fn(f64, f64) -> f64) {
        let UnarySlopes { a, v, out } = self;
        Arch::new().dispatch(|| out.iter_mut().zip(a).zip(v).for_each(|((out, &a), &v)| *out = slope(a, v)));
    }

    fn run_within(
        self,
        range: f64,
        _: impl Fn(f64) -> f64,
        slope: impl Fn(f64, f64) -> f64,
        beyond: (impl Fn(f64) -> f64, impl Fn(f64, f64) -> f64),
    ) {
        let UnarySlopes { a, v, out } = self;
        UnarySlopes { a, v, out: &mut *out }.run(|_| 0.0, slope);
        for ((out, &a), &v) in out.iter_mut().zip(a).zip(v).filter(|((_, a), _)| a.abs() > range) {
            *out = beyond.1(a, v);
        }
    }
}

/// Something to do with the value and slopes of an operation.
pub(super) trait BinaryKernel {
    fn run(
        self,
        value: impl Fn(f64, f64) -> f64,
        left: impl Fn(f64, f64, f64) -> f64,
        right: impl Fn(f64, f64, f64) -> f64,
    );
}

/// Values of an operation with two operands.
pub(super) struct BinaryValues<'a> {
    pub a: &'a [f64],
    pub b: &'a [f64],
    pub out: &'a mut [f64],
}

impl BinaryKernel for BinaryValues<'_> {
    fn run(self, value: impl Fn(f64, f64) -> f64, _: impl Fn(f64, f64, f64) -> f64, _: impl Fn(f64, f64, f64) -> f64) {
        let BinaryValues { a, b, out } = self;
        Arch::new().dispatch(|| out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = value(a, b)));
    }
}

/// Its slopes in the first of them.
pub(super) struct LeftSlopes<'a> {
    pub a: &'a [f64],
    pub b: &'a [f64],
    pub v: &'a [f64],
    pub out: &'a mut [f64],
}

impl BinaryKernel for LeftSlopes<'_> {
    fn run(self, _: impl Fn(f64, f64) -> f64, left: impl Fn(f64, f64, f64) -> f64, _: impl Fn(f64, f64, f64) -> f64) {
        for (((out, &a), &b), &v) in self.out.iter_mut().zip(self.a).zip(self.b).zip(self.v) {
            *out = left(a, b, v);
        }
    }
}

/// Its slopes in the second.
pub(super) struct RightSlopes<'a> {
    pub a: &'a [f64],
    pub b: &'a [f64],
    pub v: &'a [f64],
    pub out: &'a mut [f64],
}

impl BinaryKernel for RightSlopes<'_> {
    fn run(self, _: impl Fn(f64, f64) -> f64, _: impl Fn(f64, f64, f64) -> f64, right: impl Fn(f64, f64, f64) -> f64) {
        for (((out, &a), &b), &v) in self.out.iter_mut().zip(self.a).zip(self.b).zip(self.v) {
            *out = right(a, b, v);
        }
    }
}
