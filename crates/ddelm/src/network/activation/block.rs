//! A ridge function on a block of points: z = w . xi + b and sigma(z), ..., sigma^(4)(z) in arrays that stay in cache.
//!
//! Each operation is a plain loop, compiled once per instruction set and chosen at run time.

use pulp::{Arch, Simd, WithSimd};

use crate::algebra::fused::fused;

use super::Activation;
use super::kernel::{Gaussian, Kernel, Sin, Tanh};

/// Points in a block.
pub(super) const BLOCK: usize = 256;

/// A multiple of every vector width: a kernel runs on whole vectors, over stale numbers behind the last point.
const LANES: usize = 8;

/// sigma^(k)(z) at up to [`BLOCK`] points.
pub(super) struct RidgeBlock {
    arch: Arch,
    activation: Activation,
    order: usize,
    z: [f64; BLOCK],
    sigma: [[f64; BLOCK]; 5],
}

impl RidgeBlock {
    /// An empty block for derivatives of sigma up to `order`.
    pub(super) fn new(activation: Activation, order: usize) -> Self {
        RidgeBlock { arch: Arch::new(), activation, order, z: [0.0; BLOCK], sigma: [[0.0; BLOCK]; 5] }
    }

    /// Evaluates sigma and its derivatives at z = w . (x, y) + b.
    pub(super) fn set_ridge(&mut self, w: [f64; 2], b: f64, x: &[f64], y: &[f64]) {
        self.arch.dispatch(Affine { w, b, x, y, z: &mut self.z[..x.len()] });
        self.apply_activation(x.len());
    }

    /// Evaluates sigma and its derivatives at z.
    pub(super) fn set(&mut self, z: &[f64]) {
        self.z[..z.len()].copy_from_slice(z);
        self.apply_activation(z.len());
    }

    /// sigma^(k) at the points, the first of them first. Behind the last point the numbers have no meaning.
    pub(super) fn sigma(&self, k: usize) -> &[f64] {
        &self.sigma[k]
    }

    /// sums += factor c sigma^(k), where c varies from point to point.
    pub(super) fn add_product(&self, k: usize, factor: f64, c: &[f64], sums: &mut [f64]) {
        self.arch.dispatch(AddProduct { factor, c, sigma: &self.sigma[k][..sums.len()], sums });
    }

    fn apply_activation(&mut self, count: usize) {
        match self.activation {
            Activation::Tanh => self.apply_kernel(Tanh, count),
            Activation::Sin => self.apply_kernel(Sin, count),
            Activation::Gaussian => self.apply_kernel(Gaussian, count),
        }
    }

    fn apply_kernel<K: Kernel>(&mut self, kernel: K, count: usize) {
        let (z, sigma) = (&self.z[..count.next_multiple_of(LANES)], &mut self.sigma);
        let beyond_range = match self.order {
            0 => self.arch.dispatch(Jets::<K, 0> { kernel, z, sigma }),
            1 => self.arch.dispatch(Jets::<K, 1> { kernel, z, sigma }),
            2 => self.arch.dispatch(Jets::<K, 2> { kernel, z, sigma }),
            3 => self.arch.dispatch(Jets::<K, 3> { kernel, z, sigma }),
            _ => self.arch.dispatch(Jets::<K, 4> { kernel, z, sigma }),
        };
        if beyond_range {
            self.correct_beyond(K::RANGE, count);
        }
    }

    /// Replaces what the kernel gave at |z| > range.
    #[cold]
    fn correct_beyond(&mut self, range: f64, count: usize) {
        for (i, &z) in self.z[..count].iter().enumerate().filter(|(_, z)| z.abs() > range) {
            for (sigma, derivative) in self.sigma.iter_mut().zip(self.activation.derivatives(z)) {
                sigma[i] = derivative;
            }
        }
    }
}

/// z = w . (x, y) + b
struct Affine<'a> {
    w: [f64; 2],
    b: f64,
    x: &'a [f64],
    y: &'a [f64],
    z: &'a mut [f64],
}

impl WithSimd for Affine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((z, &x), &y) in self.z.iter_mut().zip(self.x).zip(self.y) {
            *z = fused(self.w[0], x, fused(self.w[1], y, self.b));
        }
    }
}

/// sigma\[k\] = sigma^(k)(z) for k <= ORDER. Returns whether a z lies beyond the range of the kernel.
struct Jets<'a, K, const ORDER: usize> {
    kernel: K,
    z: &'a [f64],
    sigma: &'a mut [[f64; BLOCK]; 5],
}

impl<K: Kernel, const ORDER: usize> WithSimd for Jets<'_, K, ORDER> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        // Five arrays of known length under five names: the compiler vectorises the loop because it sees that they are
        // disjoint and that no index is out of bounds.
        let [sigma_0, sigma_1, sigma_2, sigma_3, sigma_4] = self.sigma;
        let z = &self.z[..self.z.len().min(BLOCK)];
        for i in 0..z.len() {
            let jet = self.kernel.jet(z[i]);
            sigma_0[i] = jet[0];
            if ORDER >= 1 {
                sigma_1[i] = jet[1];
            }
            if ORDER >= 2 {
                sigma_2[i] = jet[2];
            }
            if ORDER >= 3 {
                sigma_3[i] = jet[3];
            }
            if ORDER >= 4 {
                sigma_4[i] = jet[4];
            }
        }
        z.iter().fold(false, |beyond, z| beyond | (z.abs() > K::RANGE))
    }
}

/// sums += factor c sigma
struct AddProduct<'a> {
    factor: f64,
    c: &'a [f64],
    sigma: &'a [f64],
    sums: &'a mut [f64],
}

impl WithSimd for AddProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((sum, &c), &sigma) in self.sums.iter_mut().zip(self.c).zip(self.sigma) {
            *sum = fused(self.factor * c, sigma, *sum);
        }
    }
}
