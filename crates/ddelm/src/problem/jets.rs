//! Values of a field with all its first and second derivatives: f, f_i and f_ij for i and j in (x, y, u, ux, uy).
//!
//! Newton's method for `F(x, y, u, ux, uy) = 0` has the coefficients `F_u`, `F_ux`, `F_uy`; where F is a flux its divergence
//! has the second derivatives as well.

/// How many variables a field has.
pub const VARIABLES: usize = 5;

/// Pairs of variables, either way round.
pub const PAIRS: usize = VARIABLES * (VARIABLES + 1) / 2;

/// x, as a variable.
pub const X: usize = 0;
/// y, as a variable.
pub const Y: usize = 1;
/// u, as a variable.
pub const U: usize = 2;
/// The derivative of u in x, as a variable.
pub const UX: usize = 3;
/// The derivative of u in y, as a variable.
pub const UY: usize = 4;

/// Values, first and second derivatives of a field at points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Jets {
    /// The values.
    pub value: Vec<f64>,
    /// The first derivatives, one array for each variable: [`X`], [`Y`], [`U`], [`UX`], [`UY`].
    pub first: [Vec<f64>; VARIABLES],
    /// The second derivatives, one array for each pair of variables; see [`pair`].
    pub second: [Vec<f64>; PAIRS],
}

/// Where the second derivative in two variables is in [`Jets::second`]: the upper triangle, row by row.
pub const fn pair(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    i * (2 * VARIABLES - i + 1) / 2 + j - i
}

impl Jets {
    /// Zeros at so many points.
    pub fn new(count: usize) -> Self {
        let mut jets = Jets::default();
        jets.reset(count);
        jets
    }

    /// Zeros at so many points, in the same memory.
    pub fn reset(&mut self, count: usize) {
        let arrays = std::iter::once(&mut self.value).chain(&mut self.first).chain(&mut self.second);
        for array in arrays {
            array.clear();
            array.resize(count, 0.0);
        }
    }

    /// The second derivatives in two variables.
    pub fn second(&self, i: usize, j: usize) -> &[f64] {
        &self.second[pair(i, j)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_place() {
        let mut next = 0;
        for i in 0..VARIABLES {
            for j in i..VARIABLES {
                assert_eq!((pair(i, j), pair(j, i)), (next, next), "{i}, {j}");
                next += 1;
            }
        }
        assert_eq!(next, PAIRS);
    }
}
