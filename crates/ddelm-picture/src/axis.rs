//! Axes: ranges, and ticks at round numbers.

use super::font;
use super::scene::{Anchor, Area, INK, Pen, Scene};

/// Size of tick labels.
pub const SMALL: f64 = 11.0;
/// Size of axis labels and titles.
pub const NORMAL: f64 = 13.0;
/// Length of a tick.
const TICK: f64 = 4.0;
/// Digits after the point of a label: more than a number has.
const MOST_DECIMALS: f64 = 20.0;
/// Relative differences below this are rounding: an axis does not magnify them.
const ROUNDING: f64 = 1e-8;

/// An axis of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Its ends.
    pub range: [f64; 2],
    /// Whether it is logarithmic.
    pub log: bool,
    /// The values to label; round numbers if there are none.
    pub values: Vec<f64>,
}

/// Ticks of an axis: values with labels, values without, and a power of ten that all labels are to be multiplied with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ticks {
    pub major: Vec<(f64, String)>,
    pub minor: Vec<f64>,
    pub factor: Option<String>,
}

/// Whether values between these are one number and its rounding.
pub fn is_flat(min: f64, max: f64) -> bool {
    max - min <= ROUNDING * max.abs().max(min.abs())
}

impl Axis {
    /// An axis with a given range.
    pub fn new(label: impl Into<String>, range: [f64; 2]) -> Self {
        Axis { label: label.into(), range, log: false, values: Vec::new() }
    }

    /// An axis over some values, with a little room at both ends. Those that it cannot show are left out.
    pub fn over(label: impl Into<String>, log: bool, values: impl IntoIterator<Item = f64>) -> Self {
        let shown = values.into_iter().filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (min, max) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let [min, max] = if min <= max { [min, max] } else { [1.0, 1.0] };
        let range = if log {
            let (a, b) = (min.log10(), max.log10());
            let room = (0.06 * (b - a)).max(0.15);
            [10f64.powf(a - room), 10f64.powf(b + room)]
        } else if !is_flat(min, max) {
            let room = 0.05 * (max - min);
            [min - room, max + room]
        } else {
            let room = if min == 0.0 { 1.0 } else { 0.1 * min.abs() };
            [min - room, max + room]
        };
        Axis { label: label.into(), range, log, values: Vec::new() }
    }

    /// Where a value lies on the axis: 0 at its start, 1 at its end.
    pub fn position(&self, value: f64) -> f64 {
        let [a, b] = self.range;
        if self.log { (value / a).ln() / (b / a).ln() } else { (value - a) / (b - a) }
    }

    /// About `count` ticks.
    pub fn ticks(&self, count: usize) -> Ticks {
        if !self.values.is_empty() {
            let major = self.values.iter().map(|&v| (v, minus(v.to_string()))).collect();
            return Ticks { major, ..Ticks::default() };
        }
        if self.log {
            return self.decades(count);
        }
        // An unlucky range has a round number or two in it: then take a finer step.
        let mut finer = (count..count + 6).map(|count| self.round_numbers(count));
        let enough = finer.clone().find(|ticks| ticks.major.len() >= 3);
        enough.or_else(|| finer.next_back()).unwrap_or_default()
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn round_numbers(&self, count: usize) -> Ticks {
        let [a, b] = self.range;
        let step = round_step((b - a) / count.max(1) as f64);
        if !(step.is_finite() && step > 0.0) {
            return Ticks::default();
        }
        let slack = 1e-9 * (b - a);
        let (first, last) = (((a - slack) / step).ceil(), ((b + slack) / step).floor());
        if last - first > 100.0 {
            // The ends agree to rounding: there are no round numbers between them.
            return Ticks::default();
        }
        let size = a.abs().max(b.abs());
        // Far from one, labels share a power of ten.
        let power = if (1e-3..1e5).contains(&size) { 0 } else { size.log10().floor() as i32 };
        let unit = step / 10f64.powi(power);
        let decimals = (-(unit.log10() + 1e-9).floor()).clamp(0.0, MOST_DECIMALS) as usize;
        let major = (0..=(last - first) as usize)
            .map(|k| {
                let multiple = first + k as f64;
                (multiple * step, minus(format!("{:.decimals$}", multiple * unit + 0.0)))
            })
            .collect();
        Ticks { major, minor: Vec::new(), factor: (power != 0).then(|| format!("\u{d7}{}", power_of_ten(power))) }
    }

    /// Powers of ten, as many as there is room for.
    fn decades(&self, count: usize) -> Ticks {
        // Beyond these there are no numbers.
        let [a, b] = self.range.map(|end| end.log10().clamp(-324.0, 309.0));
        let (first, last) = ((a - 1e-9).ceil() as i32, (b + 1e-9).floor() as i32);
        let every = ((last - first + 1).max(1) as f64 / count.max(1) as f64).ceil().max(1.0) as i32;
        let labelled = (first..=last).filter(|k| k % every == 0);
        let mut major: Vec<(f64, String)> = labelled.map(|k| (10f64.powi(k), power_of_ten(k))).collect();
        let inside = |v: f64| (a - 1e-9..=b + 1e-9).contains(&v.log10());
        let minor = if every == 1 {
            (first - 1..=last)
                .flat_map(|k| (2..10).map(move |m| f64::from(m) * 10f64.powi(k)))
                .filter(|&v| inside(v))
                .collect()
        } else {
            (first..=last).map(|k| 10f64.powi(k)).collect()
        };
        if major.len() < 2 {
            // Less than two decades: label some of the steps between them.
            let between = (first - 1..=last).flat_map(|k| [1, 2, 5].map(|m| (m, k)));
            major =
                between.map(|(m, k)| (f64::from(m) * 10f64.powi(k), short(m, k))).filter(|(v, _)| inside(*v)).collect();
        }
        Ticks { major, minor, factor: None }
    }

    /// Draws ticks and labels below an area.
    pub fn draw_below(&self, scene: &mut Scene, area: Area) {
        let pen = Pen::new(INK, 0.8);
        let ticks = self.ticks((area.width / 75.0).max(2.0) as usize);
        let mut free = f64::NEG_INFINITY;
        for (value, label) in &ticks.major {
            let [x, y] = area.at(self.position(*value), 0.0);
            scene.line(vec![[x, y], [x, y + TICK]], pen);
            // A label that would run into the one before it is left out.
            let half = 0.5 * font::width(label, SMALL);
            if x - half > free {
                scene.text(label, [x, y + TICK + SMALL + 1.0], SMALL, Anchor::Middle);
                free = x + half + 3.0;
            }
        }
        for value in &ticks.minor {
            let [x, y] = area.at(self.position(*value), 0.0);
            scene.line(vec![[x, y], [x, y + 0.5 * TICK]], pen);
        }
        let label = with_factor(&self.label, &ticks);
        scene.text(
            label,
            [area.left + 0.5 * area.width, area.bottom() + TICK + 2.0 * SMALL + 10.0],
            NORMAL,
            Anchor::Middle,
        );
    }

    /// Draws ticks and labels to the left of an area.
    pub fn draw_left(&self, scene: &mut Scene, area: Area) {
        let pen = Pen::new(INK, 0.8);
        let ticks = self.ticks((area.height / 55.0).max(2.0) as usize);
        let mut free = f64::INFINITY;
        for (value, label) in &ticks.major {
            let [x, y] = area.at(0.0, self.position(*value));
            scene.line(vec![[x - TICK, y], [x, y]], pen);
            // A label that would run into the one below it is left out.
            if y < free {
                scene.text(label, [x - TICK - 3.0, y + 0.36 * SMALL], SMALL, Anchor::End);
                free = y - SMALL - 1.0;
            }
        }
        for value in &ticks.minor {
            let [x, y] = area.at(0.0, self.position(*value));
            scene.line(vec![[x - 0.5 * TICK, y], [x, y]], pen);
        }
        let x = area.left - TICK - 10.0 - widest(&ticks);
        draw_beside(scene, &with_factor(&self.label, &ticks), [x, area.top + 0.5 * area.height], Anchor::End);
    }

    /// Draws ticks and labels to the right of an area.
    pub fn draw_right(&self, scene: &mut Scene, area: Area) {
        let pen = Pen::new(INK, 0.8);
        let ticks = self.ticks((area.height / 45.0).max(2.0) as usize);
        let mut free = f64::INFINITY;
        for (value, label) in &ticks.major {
            let [x, y] = area.at(1.0, self.position(*value));
            scene.line(vec![[x, y], [x + TICK, y]], pen);
            // A label that would run into the one below it is left out.
            if y < free {
                scene.text(label, [x + TICK + 3.0, y + 0.36 * SMALL], SMALL, Anchor::Start);
                free = y - SMALL - 1.0;
            }
        }
        if let Some(factor) = &ticks.factor {
            scene.text(factor, [area.left, area.top - 6.0], SMALL, Anchor::Start);
        }
        let x = area.right() + TICK + 10.0 + NORMAL + widest(&ticks);
        draw_beside(scene, &self.label, [x, area.top + 0.5 * area.height], Anchor::End);
    }

    /// Room that the axis takes beside an area of a given height, and below one.
    pub fn room_beside(&self, height: f64, per_tick: f64) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { NORMAL + 10.0 };
        TICK + 3.0 + widest(&self.ticks((height / per_tick).max(2.0) as usize)) + label + 4.0
    }

    /// Room that the axis takes below an area.
    pub fn room_below(&self) -> f64 {
        TICK + 2.0 * SMALL + NORMAL + 4.0
    }
}

/// A label beside an axis: upright if it is one letter, else along the axis.
fn draw_beside(scene: &mut Scene, label: &str, place: [f64; 2], anchor: Anchor) {
    if label.chars().count() == 1 {
        scene.text(label, [place[0], place[1] + 0.36 * NORMAL], NORMAL, anchor);
    } else {
        scene.text_upwards(label, place, NORMAL);
    }
}

fn widest(ticks: &Ticks) -> f64 {
    ticks.major.iter().map(|(_, label)| font::width(label, SMALL)).fold(0.0, f64::max)
}

fn with_factor(label: &str, ticks: &Ticks) -> String {
    match &ticks.factor {
        Some(factor) => format!("{label}  ({factor})"),
        None => label.to_owned(),
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least a number.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let multiple = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= least * (1.0 - 1e-9)).unwrap_or(10.0);
    multiple * power
}

/// Ten to a power, with the exponent in raised digits.
fn power_of_ten(power: i32) -> String {
    const RAISED: [char; 10] = [
        '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}', '\u{2078}',
        '\u{2079}',
    ];
    let digits: String =
        power.to_string().chars().map(|c| c.to_digit(10).map_or('\u{207b}', |d| RAISED[d as usize])).collect();
    format!("10{digits}")
}

/// `digit` times ten to a power, written out where that is short.
fn short(digit: i32, power: i32) -> String {
    match power {
        -3..0 => format!("{:.*}", power.unsigned_abs() as usize, f64::from(digit) * 10f64.powi(power)),
        0..5 => format!("{}", f64::from(digit) * 10f64.powi(power)),
        _ if digit == 1 => power_of_ten(power),
        _ => format!("{digit}\u{d7}{}", power_of_ten(power)),
    }
}

/// A number with a minus sign instead of a hyphen.
fn minus(number: String) -> String {
    number.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, count: usize) -> Vec<String> {
        axis.ticks(count).major.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&Axis::new("x", [0.0, 1.0]), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::new("x", [-1.0, 2.0]), 3), ["\u{2212}1", "0", "1", "2"]);
        assert_eq!(labels(&Axis::new("x", [0.03, 0.97]), 4), ["0.2", "0.4", "0.6", "0.8"]);
        let small = Axis::new("x", [0.0, 3e-7]);
        assert_eq!(labels(&small, 3), ["0", "1", "2", "3"]);
        assert_eq!(small.ticks(3).factor.as_deref(), Some("\u{d7}10\u{207b}\u{2077}"));
        assert!(Axis::new("x", [1.0, 1.0]).ticks(3).major.is_empty());
    }

    #[test]
    fn an_unlucky_range_has_ticks_all_the_same() {
        assert_eq!(labels(&Axis::new("x", [0.1, 1450.0]), 2), ["500", "1000"]);
        let chosen = Axis { values: vec![8.0, 12.0], log: true, ..Axis::new("x", [6.0, 15.0]) };
        assert_eq!(labels(&chosen, 5), ["8", "12"]);
    }

    #[test]
    fn labels_do_not_run_into_each_other() {
        let mut scene = Scene { width: 100.0, height: 100.0, items: Vec::new() };
        Axis::new("x", [0.0, 0.1]).draw_below(&mut scene, Area { left: 20.0, top: 0.0, width: 38.0, height: 50.0 });
        let texts = scene.items.iter().filter(|item| matches!(item, super::super::scene::Item::Text { .. }));
        assert_eq!(texts.count(), 3, "0.00, 0.10, and x");
        // Twelve units high there is room for one label, and for the name of the axis.
        for draw in [Axis::draw_left, Axis::draw_right] {
            let mut scene = Scene { width: 100.0, height: 100.0, items: Vec::new() };
            draw(&Axis::new("y", [0.0, 0.1]), &mut scene, Area { left: 50.0, top: 0.0, width: 38.0, height: 12.0 });
            let texts = scene.items.iter().filter(|item| matches!(item, super::super::scene::Item::Text { .. }));
            assert_eq!(texts.count(), 2);
        }
    }

    #[test]
    fn decades_are_labelled_as_room_allows() {
        let axis = Axis { log: true, ..Axis::new("x", [1e-12, 1e-2]) };
        let found = labels(&axis, 4);
        assert!(found.len() >= 3 && found.len() <= 5 && found.iter().all(|l| l.starts_with("10")), "{found:?}");
        let short = Axis { log: true, ..Axis::new("x", [3.0, 40.0]) };
        assert_eq!(labels(&short, 4), ["5", "10", "20"]);
        assert!((axis.position(1e-7) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn ranges_at_the_ends_of_the_numbers_have_few_ticks() {
        let ends = [0.0, 5e-324, 1e-300, 1.0, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
        for log in [false, true] {
            for range in ends.iter().flat_map(|&a| ends.map(|b| [a, b])) {
                let ticks = Axis { log, ..Axis::new("x", range) }.ticks(5);
                assert!(ticks.major.len() + ticks.minor.len() < 10_000, "{range:?}");
                Axis::over("x", log, range).ticks(5);
            }
        }
    }

    #[test]
    fn ranges_hold_their_values_and_skip_what_cannot_be_shown() {
        let axis = Axis::over("x", true, [1e-3, 0.0, f64::NAN, 10.0, -1.0]);
        assert!(axis.range[0] < 1e-3 && axis.range[1] > 10.0 && axis.range[0] > 1e-4);
        let flat = Axis::over("x", false, [2.0, 2.0]);
        assert!(flat.range[0] < 2.0 && flat.range[1] > 2.0);
        let rounding = Axis::over("x", false, [2.0, 2.0 + 1e-12]);
        assert!(rounding.range[1] - rounding.range[0] > 0.1);
        let none = Axis::over("x", true, []);
        assert!(none.range[0] < none.range[1]);
    }
}
