//! Linear differential operators in reference coordinates, and what they do to a ridge function.
//!
//! On a feature `phi(xi) = sigma(w . xi + b)` every derivative is `d^alpha phi = w^alpha sigma^(|alpha|)`, so an operator
//! acts through five numbers only,
//!
//! ```text
//! L phi = sum_k s_k sigma^(k)(w . xi + b),    s_k = sum_{|alpha| = k} c_alpha w^alpha.
//! ```

pub use crate::algebra::symbol::{DERIVATIVES, ORDERS, Symbol, derivative};
use crate::domain::map::{Map, Point, inverse2};

/// A map at one point: what turns derivatives in x into derivatives in the reference coordinates.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// `J^-1[k][a] = dxi_k / dx_a`.
    pub inverse: [[f64; 2]; 2],
    /// `d^2 xi_k / dx_a dx_b`, by k.
    pub second: [[[f64; 2]; 2]; 2],
}

impl Frame {
    /// The frame of a map at a reference point.
    pub fn new(map: &dyn Map, xi: Point) -> Frame {
        let (jacobian, h) = map.slopes(xi);
        let inverse = inverse2(jacobian);
        // Differentiating J^-1 J = 1: d2 xi_k / dx_a dx_b = -sum (J^-1)_kc H_cde (J^-1)_da (J^-1)_eb.
        // Sums over x and y have two terms each: maps that are turned by a right angle have the same bits, and share factors.
        let bend = |k: usize, d: usize, e: usize| inverse[k][0] * h[0][d][e] + inverse[k][1] * h[1][d][e];
        let mut second = [[[0.0; 2]; 2]; 2];
        for (k, block) in second.iter_mut().enumerate() {
            let bend = [0, 1].map(|d| [0, 1].map(|e| bend(k, d, e)));
            for (a, row) in block.iter_mut().enumerate() {
                for (b, value) in row.iter_mut().enumerate() {
                    for (d, bend) in bend.iter().enumerate() {
                        for (e, bend) in bend.iter().enumerate() {
                            *value -= bend * inverse[d][a] * inverse[e][b];
                        }
                    }
                }
            }
        }
        Frame { inverse, second }
    }

    /// The frames of a map at reference points. An affine map has one for all of them.
    pub fn at(map: &dyn Map, xi: &[Point]) -> impl Iterator<Item = Frame> {
        let common = map.affine().and(xi.first()).map(|&first| Frame::new(map, first));
        xi.iter().map(move |&xi| common.unwrap_or_else(|| Frame::new(map, xi)))
    }

    /// `v . grad_x` in reference coordinates.
    pub fn gradient(&self, v: Point) -> Symbol {
        let i = &self.inverse;
        Symbol::gradient([i[0][0] * v[0] + i[0][1] * v[1], i[1][0] * v[0] + i[1][1] * v[1]])
    }

    /// An operator in x and y in reference coordinates. Derivatives above the second are those of an affine map.
    pub fn pull_back(&self, symbol: &Symbol) -> Symbol {
        let c = &symbol.0;
        let mut out = Symbol::TRACE.scaled(c[0]);
        if c[1] != 0.0 || c[2] != 0.0 {
            out = out.plus(self.gradient([c[1], c[2]]));
        }
        if c[3] != 0.0 || c[4] != 0.0 || c[5] != 0.0 {
            out = out.plus(self.hessian([[c[3], 0.5 * c[4]], [0.5 * c[4], c[5]]]));
        }
        if symbol.order() > 2 {
            let directions = [self.gradient([1.0, 0.0]), self.gradient([0.0, 1.0])];
            for (orders, &c) in ORDERS.iter().zip(c).skip(6).filter(|(_, c)| **c != 0.0) {
                let all = directions.iter().zip(orders).flat_map(|(d, &n)| std::iter::repeat_n(*d, n as usize));
                out = out.plus(all.fold(Symbol::TRACE, Symbol::times).scaled(c));
            }
        }
        out
    }

    /// The transpose of [`Frame::pull_back`] on operators of at most second order: from cotangents of the coefficients in reference
    /// coordinates to cotangents of those in x and y.
    pub fn pull_back_transposed(&self, cotangents: &Symbol) -> Symbol {
        let (w, i) = (&cotangents.0, &self.inverse);
        let mut out = Symbol::TRACE.scaled(w[0]);
        let leading = [[w[3], w[4]], [w[4], w[5]]];
        let mut g = [[0.0; 2]; 2];
        for a in 0..2 {
            out.0[1 + a] = i[0][a] * w[1] + i[1][a] * w[2];
            for b in 0..2 {
                for k in 0..2 {
                    g[a][b] += self.second[k][a][b] * w[1 + k];
                    for l in 0..2 {
                        g[a][b] += leading[k][l] * i[k][a] * i[l][b];
                    }
                }
            }
        }
        (out.0[3], out.0[4], out.0[5]) = (g[0][0], 0.5 * (g[0][1] + g[1][0]), g[1][1]);
        out
    }

    /// `sum_ab g_ab d^2 / dx_a dx_b` in reference coordinates.
    pub fn hessian(&self, g: [[f64; 2]; 2]) -> Symbol {
        let i = &self.inverse;
        // J^-1 g J^-T
        let half = [0, 1].map(|k| [0, 1].map(|b| i[k][0] * g[0][b] + i[k][1] * g[1][b]));
        let second = [0, 1].map(|k| [0, 1].map(|l| half[k][0] * i[l][0] + half[k][1] * i[l][1]));
        let bend = |s: &[[f64; 2]; 2]| g[0][0] * s[0][0] + g[0][1] * s[0][1] + g[1][0] * s[1][0] + g[1][1] * s[1][1];
        let first = self.second.each_ref().map(bend);
        Symbol::hessian(second).plus(Symbol::gradient(first))
    }

    /// The Laplacian in reference coordinates.
    pub fn laplacian(&self) -> Symbol {
        self.hessian([[1.0, 0.0], [0.0, 1.0]])
    }
}

/// The operators of many rows, one array per derivative; `None` where no row has that derivative.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Symbols {
    coefficients: [Option<Vec<f64>>; DERIVATIVES],
    len: usize,
}

impl Symbols {
    /// No rows yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The chosen rows, in the order of the choice.
    pub fn select(&self, rows: &[usize]) -> Self {
        let pick = |values: &Vec<f64>| rows.iter().map(|&i| values[i]).collect();
        Symbols { coefficients: self.coefficients.each_ref().map(|c| c.as_ref().map(pick)), len: rows.len() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The coefficients of every derivative, one per row.
    pub fn coefficients(&self) -> [Option<&[f64]>; DERIVATIVES] {
        self.coefficients.each_ref().map(|c| c.as_deref())
    }

    /// The derivatives that some row has.
    pub fn active(&self) -> impl Iterator<Item = usize> + '_ {
        (0..DERIVATIVES).filter(|&a| self.coefficients[a].is_some())
    }

    /// A hash of every bit, and of the hash before it. Quick rather than good: whoever uses it compares as well.
    pub fn hash(&self, before: u64) -> u64 {
        let mix = |hash: u64, bits: u64| (hash ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.active().fold(before, |hash, a| {
            let values = self.coefficients[a].iter().flatten();
            values.fold(mix(hash, a as u64), |hash, value| mix(hash, value.to_bits()))
        })
    }
}

impl From<&[Symbol]> for Symbols {
    fn from(rows: &[Symbol]) -> Self {
        let mut has = [false; DERIVATIVES];
        for row in rows {
            has.iter_mut().zip(&row.0).for_each(|(has, c)| *has |= *c != 0.0);
        }
        let column = |a: usize| has[a].then(|| rows.iter().map(|row| row.0[a]).collect());
        Symbols { coefficients: std::array::from_fn(column), len: rows.len() }
    }
}

impl FromIterator<Symbol> for Symbols {
    fn from_iter<I: IntoIterator<Item = Symbol>>(rows: I) -> Self {
        Symbols::from(rows.into_iter().collect::<Vec<Symbol>>().as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::map::{Affine, Polar};
    use proptest::prelude::*;

    /// `sum_alpha c_alpha d^alpha` of `exp(p . xi)` at xi, over `exp(p . xi)`: the polynomial of the symbol.
    fn polynomial(symbol: &Symbol, p: Point) -> f64 {
        ORDERS.iter().zip(&symbol.0).map(|(o, c)| c * p[0].powi(o[0].into()) * p[1].powi(o[1].into())).sum()
    }

    #[test]
    fn derivatives_are_numbered_by_order() {
        for (a, orders) in ORDERS.iter().enumerate() {
            assert_eq!(derivative(*orders), a);
        }
    }

    proptest! {
        #[test]
        fn composition_multiplies_polynomials(g in proptest::array::uniform3(-2.0..2.0f64), v in proptest::array::uniform2(-2.0..2.0f64),
                                              p in proptest::array::uniform2(-2.0..2.0f64)) {
            let quadratic = Symbol::hessian([[g[0], g[1]], [g[1], g[2]]]);
            let linear = Symbol::gradient(v);
            let (q, l) = (polynomial(&quadratic, p), polynomial(&linear, p));
            prop_assert!((polynomial(&quadratic.times(linear), p) - q * l).abs() < 1e-12 * (1.0 + (q * l).abs()));
            prop_assert!((polynomial(&quadratic.times(quadratic), p) - q * q).abs() < 1e-12 * (1.0 + q * q));
        }

        /// `<w, pull_back(s)> = <pull_back_transposed(w), s>`.
        #[test]
        fn transposes_are_transposes(xi in proptest::array::uniform2(0.2..0.8f64), s in proptest::array::uniform6(-1.0..1.0f64),
                                     w in proptest::array::uniform6(-1.0..1.0f64)) {
            let symbol = |c: [f64; 6]| {
                let mut all = Symbol::ZERO;
                all.0[..6].copy_from_slice(&c);
                all
            };
            let dot = |a: &Symbol, b: &Symbol| a.0.iter().zip(&b.0).map(|(a, b)| a * b).sum::<f64>();
            let frame = Frame::new(&Polar { centre: [0.0; 2], radius: [1.0, 2.0], angle: [0.2, 1.3] }, xi);
            let (there, back) = (frame.pull_back(&symbol(s)), frame.pull_back_transposed(&symbol(w)));
            prop_assert!((dot(&there, &symbol(w)) - dot(&back, &symbol(s))).abs() < 1e-12);
        }

        /// Derivatives in x of a function given in reference coordinates, against differences of the composed function.
        #[test]
        fn frames_follow_the_chain_rule(xi in proptest::array::uniform2(0.2..0.8f64), p in proptest::array::uniform2(-1.0..1.0f64)) {
            let polar = Polar { centre: [0.0; 2], radius: [1.0, 2.0], angle: [0.2, 1.3] };
            let affine = Affine { origin: [0.1, 0.2], jacobian: [[0.5, 0.3], [-0.2, 0.8]] };
            for map in [&polar as &dyn Map, &affine] {
                let u = |x: Point| { let q = map.inverse(x).unwrap(); (p[0] * q[0] + p[1] * q[1]).exp() };
                let (x, h) = (map.point(xi), 1e-3);
                let at = |i: f64, j: f64| u([x[0] + i * h, x[1] + j * h]);
                let frame = Frame::new(map, xi);
                let scale = at(0.0, 0.0);
                let laplacian = (at(1.0, 0.0) + at(-1.0, 0.0) + at(0.0, 1.0) + at(0.0, -1.0) - 4.0 * scale) / (h * h);
                prop_assert!((polynomial(&frame.laplacian(), p) * scale - laplacian).abs() < 1e-4);
                let mixed = (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * h * h);
                prop_assert!((polynomial(&frame.hessian([[0.0, 1.0], [0.0, 0.0]]), p) * scale - mixed).abs() < 1e-4);
                let slope = (at(1.0, 0.0) - at(-1.0, 0.0)) / (2.0 * h);
                prop_assert!((polynomial(&frame.gradient([1.0, 0.0]), p) * scale - slope).abs() < 1e-5);
            }
        }
    }
}
