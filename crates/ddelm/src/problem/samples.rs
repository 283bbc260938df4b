//! Points at which fields are asked for values, with what is known about them.

use std::ops::Range;

/// Points at which fields are asked for values.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    /// Where they are.
    pub x: &'a [f64],
    /// Where they are.
    pub y: &'a [f64],
    /// The time.
    pub t: f64,
    /// Where they are in the decomposition, if that is known: then nobody needs to locate them.
    pub patch: Option<Patch<'a>>,
    /// The current iterate there, for nonlinear problems.
    pub state: Option<State<'a>>,
}

/// A subdomain, and points of it in its reference coordinates.
#[derive(Debug, Clone, Copy)]
pub struct Patch<'a> {
    /// The subdomain that the points lie in, or on the perimeter of.
    pub subdomain: usize,
    /// The region that the subdomain belongs to; `None` outside all of them.
    pub region: Option<usize>,
    /// The points in reference coordinates, one for each sample.
    pub xi: &'a [[f64; 2]],
}

/// An iterate at points: u and its gradient.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    /// u
    pub u: &'a [f64],
    /// Its derivative in x.
    pub ux: &'a [f64],
    /// Its derivative in y.
    pub uy: &'a [f64],
}

impl<'a> Samples<'a> {
    /// The points (x\[i\], y\[i\]) at time zero, of which nothing more is known.
    pub fn at(x: &'a [f64], y: &'a [f64]) -> Self {
        Samples { x, y, t: 0.0, patch: None, state: None }
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Some of the points. All arrays must be as long as `x`.
    #[must_use]
    pub fn block(&self, range: Range<usize>) -> Self {
        let part = |values: &'a [f64]| &values[range.clone()];
        Samples {
            x: part(self.x),
            y: part(self.y),
            t: self.t,
            patch: self.patch.map(|patch| Patch { xi: &patch.xi[range.clone()], ..patch }),
            state: self.state.map(|s| State { u: part(s.u), ux: part(s.ux), uy: part(s.uy) }),
        }
    }

    /// The blocks of at most `size` points, in order.
    pub fn blocks(self, size: usize) -> impl Iterator<Item = Self> {
        let count = self.len();
        (0..count).step_by(size).map(move |start| self.block(start..count.min(start + size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_part_of_everything() {
        let x: Vec<f64> = (0..7).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 10.0 + x).collect();
        let xi: Vec<[f64; 2]> = x.iter().map(|x| [20.0 + x, 30.0 + x]).collect();
        let state = State { u: &x, ux: &y, uy: &x };
        let patch = Patch { subdomain: 3, region: Some(1), xi: &xi };
        let all = Samples { x: &x, y: &y, t: 0.5, patch: Some(patch), state: Some(state) };
        let blocks: Vec<Samples<'_>> = all.blocks(3).collect();
        assert_eq!(blocks.iter().map(Samples::len).collect::<Vec<_>>(), [3, 3, 1]);
        let last = blocks[2];
        assert_eq!((last.x, last.y, last.t), (&[6.0][..], &[16.0][..], 0.5));
        let (patch, state) = (last.patch.unwrap(), last.state.unwrap());
        assert_eq!((patch.subdomain, patch.region, patch.xi), (3, Some(1), &[[26.0, 36.0]][..]));
        assert_eq!((state.u, state.ux, state.uy), (&[6.0][..], &[16.0][..], &[6.0][..]));
        assert_eq!(Samples::at(&[], &[]).blocks(3).count(), 0);
    }
}
