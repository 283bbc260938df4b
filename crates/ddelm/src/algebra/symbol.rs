//! Linear differential operators at a point.
//!
//! An operator of order at most four is `sum_alpha c_alpha d^alpha`, 15 numbers in two dimensions. Homogeneous parts multiply like
//! polynomials: that is how the biharmonic operator and the flux of the Laplacian are made. Equations are given by such
//! operators in x and y; a [frame](crate::network::symbol::Frame) turns them into operators in reference coordinates.

/// Number of derivatives of order at most four in two dimensions.
pub const DERIVATIVES: usize = 15;

/// The derivatives in their order: `ORDERS[a]` is how often `d^alpha` differentiates in each direction.
pub const ORDERS: [[u8; 2]; DERIVATIVES] = [
    [0, 0],
    [1, 0],
    [0, 1],
    [2, 0],
    [1, 1],
    [0, 2],
    [3, 0],
    [2, 1],
    [1, 2],
    [0, 3],
    [4, 0],
    [3, 1],
    [2, 2],
    [1, 3],
    [0, 4],
];

/// The index of a derivative in [`ORDERS`].
pub const fn derivative(orders: [u8; 2]) -> usize {
    let k = (orders[0] + orders[1]) as usize;
    k * (k + 1) / 2 + orders[1] as usize
}

/// A linear differential operator at a point, `sum_alpha c_alpha d^alpha`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Symbol(pub [f64; DERIVATIVES]);

impl Symbol {
    /// The zero operator.
    pub const ZERO: Symbol = Symbol([0.0; DERIVATIVES]);

    /// `u -> u`.
    pub const TRACE: Symbol = {
        let mut c = [0.0; DERIVATIVES];
        c[0] = 1.0;
        Symbol(c)
    };

    /// `v . grad`.
    pub fn gradient(v: [f64; 2]) -> Symbol {
        let mut c = [0.0; DERIVATIVES];
        (c[1], c[2]) = (v[0], v[1]);
        Symbol(c)
    }

    /// `sum_ab g_ab d_a d_b`.
    pub fn hessian(g: [[f64; 2]; 2]) -> Symbol {
        let mut c = [0.0; DERIVATIVES];
        (c[3], c[4], c[5]) = (g[0][0], g[0][1] + g[1][0], g[1][1]);
        Symbol(c)
    }

    /// `factor` times the operator.
    pub fn scaled(mut self, factor: f64) -> Symbol {
        self.0.iter_mut().for_each(|c| *c *= factor);
        self
    }

    /// The sum of two operators.
    pub fn plus(mut self, other: Symbol) -> Symbol {
        self.0.iter_mut().zip(other.0).for_each(|(c, d)| *c += d);
        self
    }

    /// The composition of two operators with constant coefficients. Parts of order above four are dropped.
    pub fn times(self, other: Symbol) -> Symbol {
        let mut c = [0.0; DERIVATIVES];
        for (a, &p) in ORDERS.iter().zip(&self.0) {
            for (b, &q) in ORDERS.iter().zip(&other.0) {
                let orders = [a[0] + b[0], a[1] + b[1]];
                if p != 0.0 && q != 0.0 && orders[0] + orders[1] <= 4 {
                    c[derivative(orders)] += p * q;
                }
            }
        }
        Symbol(c)
    }

    /// The Laplacian.
    pub const LAPLACIAN: Symbol = {
        let mut c = [0.0; DERIVATIVES];
        c[3] = 1.0;
        c[5] = 1.0;
        Symbol(c)
    };

    /// The largest order of a derivative in the operator.
    pub fn order(&self) -> u8 {
        let order = |(a, c): (&[u8; 2], &f64)| if *c == 0.0 { 0 } else { a[0] + a[1] };
        ORDERS.iter().zip(&self.0).map(order).max().unwrap_or(0)
    }
}
