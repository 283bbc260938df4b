//! From numbers to colours.

use super::axis::{Axis, is_flat};
use super::scene::Colour;

/// A run of colours that reads as a scale, also for readers who do not tell red from green.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark blue to yellow: for values.
    Viridis,
    /// Black to light yellow: for sizes of errors.
    Magma,
    /// Blue over white to red: for values that change their sign.
    BlueRed,
}

impl ColourMap {
    /// The colour of thin lines that show on all colours of the map.
    pub fn lines(self) -> Colour {
        match self {
            ColourMap::Viridis | ColourMap::Magma => [255, 255, 255, 110],
            ColourMap::BlueRed => [60, 60, 60, 90],
        }
    }

    /// The colour at a fraction of the scale.
    pub fn at(self, t: f64) -> Colour {
        let gradient = match self {
            ColourMap::Viridis => colorous::VIRIDIS,
            ColourMap::Magma => colorous::MAGMA,
            ColourMap::BlueRed => colorous::RED_BLUE,
        };
        // The gradient of both signs begins with red.
        let t = if self == ColourMap::BlueRed { 1.0 - t } else { t };
        let c = gradient.eval_continuous(t.clamp(0.0, 1.0));
        [c.r, c.g, c.b, 255]
    }
}

/// A field changes its sign where the smaller of its two signs has this part of its range.
const BOTH_SIGNS: f64 = 0.05;

/// What the colours mean.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourScale {
    /// How values become colours.
    pub map: ColourMap,
    /// Their numbers, beside the bar.
    pub axis: Axis,
}

impl ColourScale {
    /// The colours of a field, from its smallest to its largest value; as far to both sides of zero where it changes its sign.
    pub fn of_values(label: &str, values: &[f64]) -> Self {
        let finite = values.iter().copied().filter(|v| v.is_finite());
        let (min, max) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let size = min.abs().max(max.abs());
        if size.is_finite() && (-min).min(max) > BOTH_SIGNS * (max - min) {
            return ColourScale { map: ColourMap::BlueRed, axis: Axis::new(label, [-size, size]) };
        }
        // A constant would show its rounding errors.
        let range = if !is_flat(min, max) {
            [min, max]
        } else {
            let (middle, room) = if size.is_finite() { (0.5 * (min + max), 0.1 * size) } else { (0.0, 0.0) };
            let room = if room > 0.0 { room } else { 1.0 };
            [middle - room, middle + room]
        };
        ColourScale { map: ColourMap::Viridis, axis: Axis::new(label, range) }
    }

    /// The colours of the size of an error, logarithmic: whole decades, no more than six below the largest.
    pub fn of_sizes(label: &str, values: &[f64]) -> Self {
        let mut sizes: Vec<f64> = values.iter().map(|v| v.abs()).filter(|v| v.is_finite() && *v > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        let largest = sizes.last().copied().unwrap_or(1.0);
        // Sizes near a zero of the error say nothing: the scale begins where a fiftieth of them is smaller.
        let smallest = sizes.get(sizes.len() / 50).copied().unwrap_or(largest);
        let top = largest.log10().ceil();
        let bottom = smallest.log10().floor().clamp(top - 6.0, top - 1.0);
        let range = [10f64.powf(bottom), 10f64.powf(top)];
        ColourScale { map: ColourMap::Magma, axis: Axis { log: true, ..Axis::new(label, range) } }
    }

    /// The colour of a value; nothing where it is not a number.
    pub fn colour(&self, value: f64) -> Colour {
        if value.is_nan() {
            return [255, 255, 255, 0];
        }
        let shown = if self.axis.log { value.abs().max(self.axis.range[0]) } else { value };
        self.map.at(self.axis.position(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_values_are_lighter() {
        let light = |c: Colour| 2 * u32::from(c[0]) + 7 * u32::from(c[1]) + u32::from(c[2]);
        for map in [ColourMap::Viridis, ColourMap::Magma] {
            let steps: Vec<u32> = (0..=10).map(|k| light(map.at(f64::from(k) / 10.0))).collect();
            assert!(steps.windows(2).all(|w| w[0] < w[1]), "{steps:?}");
        }
    }

    #[test]
    fn scales_span_their_values() {
        let scale = ColourScale::of_values("u", &[-1.0, f64::NAN, 3.0]);
        assert_eq!((scale.map, scale.axis.range), (ColourMap::BlueRed, [-3.0, 3.0]));
        let [r, g, b, _] = scale.colour(0.0);
        assert!(r.min(g).min(b) > 230, "zero is white");
        let (low, high) = (scale.colour(-3.0), scale.colour(3.0));
        assert!(low[2] > low[0] && high[0] > high[2], "blue is below, red above");
        assert_eq!(scale.colour(f64::NAN)[3], 0);
        let scale = ColourScale::of_values("u", &[-0.1, f64::NAN, 3.0]);
        assert_eq!((scale.map, scale.axis.range), (ColourMap::Viridis, [-0.1, 3.0]));
        assert_eq!(scale.colour(3.0), ColourMap::Viridis.at(1.0));
        let flat = ColourScale::of_values("u", &[2.0, 2.0]).axis.range;
        assert!(flat[0] < 2.0 && flat[1] > 2.0);
        assert!(ColourScale::of_values("u", &[0.0]).axis.range[0] < 0.0);
        assert!(ColourScale::of_values("u", &[]).axis.range[0] < 0.0);
    }

    #[test]
    fn colours_tell_the_sign() {
        let scale = ColourScale::of_values("u", &[-1.0, 3.0]);
        assert_eq!((scale.map, scale.axis.range), (ColourMap::BlueRed, [-3.0, 3.0]));
        let [blue, white, red] = [-3.0, 0.0, 3.0].map(|u| scale.colour(u));
        assert!(blue[2] > blue[0] && red[0] > red[2] && white.iter().all(|&part| part > 230));
        assert_eq!(ColourScale::of_values("u", &[-1e-15, 3.0]).map, ColourMap::Viridis);
    }

    #[test]
    fn error_scales_are_whole_decades() {
        let scale = ColourScale::of_sizes("e", &[-3e-9, 2e-10, 0.0, 5e-11]);
        assert!(scale.axis.log);
        let [a, b] = scale.axis.range.map(f64::log10);
        assert!((a + 11.0).abs() < 1e-9 && (b + 8.0).abs() < 1e-9);
        assert_eq!(scale.colour(0.0), ColourMap::Magma.at(0.0));
        assert_eq!(scale.colour(-1e-8), ColourMap::Magma.at(1.0));
        let zero = ColourScale::of_sizes("e", &[0.0]);
        assert!(zero.axis.range[0] < zero.axis.range[1]);
    }
}
