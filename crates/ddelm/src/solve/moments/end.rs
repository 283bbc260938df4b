//! How a source ends on a side: by a power of the distance, or as polynomials do.

/// Where it is found out by which power a source grows or ends at a side: distances, as powers of the least one.
pub(super) const DISTANCES: [[f64; 3]; 2] = [[0.8 / 3.0, 1.6 / 3.0, 0.8], [1.0 / 3.0, 2.0 / 3.0, 1.0]];

/// Sources that end by a larger power of the distance are left alone.
const SMOOTH: f64 = 0.9;

/// The integral of a smaller power is not there, or lies where no number is.
const INTEGRABLE: f64 = -0.98;

/// Powers that differ by more are none.
const ALIKE: f64 = 0.05;

/// Powers smaller than this are taken for this: a logarithm, which has none, is a very small one.
const LEAST: f64 = 1e-4;

/// Differences smaller than this, relative to the source, are rounding.
const ROUNDING: f64 = 1e-9;

/// How a source ends on a side, along a line across it: `constant + factor d^power` at the distance d.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct End {
    pub(super) constant: f64,
    pub(super) factor: f64,
    pub(super) power: f64,
}

impl End {
    /// From the values at the [`DISTANCES`] for the least one, a power of two, if they are those of a power that polynomials do not follow.
    pub(super) fn of(values: &[f64], least: f64) -> Option<End> {
        let size = values.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        let power = |(values, distances): (&[f64], [f64; 3])| {
            let (first, second) = (values[0] - values[1], values[1] - values[2]);
            let found = (first / second).log2() / (least * (distances[0] - distances[1]));
            (second.abs() > ROUNDING * size && found.is_finite()).then_some(found)
        };
        let mut powers = values.chunks_exact(3).zip(DISTANCES).map(power);
        let (first, power) = (powers.next()??, powers.next()??);
        if (first - power).abs() > ALIKE || !(INTEGRABLE..SMOOTH).contains(&power) {
            return None;
        }
        let power = if power.abs() < LEAST { LEAST } else { power };
        let [_, far, near] = DISTANCES[1].map(|d| (power * least * d).exp2());
        let factor = (values[5] - values[4]) / (near - far);
        Some(End { constant: values[5] - factor * near, factor, power })
    }

    /// The function with the second derivative `factor d^power`.
    pub(super) fn twice_integrated(&self, distance: f64) -> f64 {
        self.factor * distance.powf(self.power + 2.0) / ((self.power + 1.0) * (self.power + 2.0))
    }

    /// The integral up to a distance.
    pub(super) fn integral(&self, distance: f64) -> f64 {
        distance * self.constant + self.factor * distance.powf(self.power + 1.0) / (self.power + 1.0)
    }
}
