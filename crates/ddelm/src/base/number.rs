//! Numbers as people read them.

/// An error, in scientific notation with two digits: `6.8e-13`.
pub fn error(value: f64) -> String {
    format!("{value:.1e}")
}

/// A number with so many digits at most, as people write it: `1`, `-38.62`, `0.002`, `6.12e-13`.
pub fn brief(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits - 1);
    // What is no number has no exponent.
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent.parse::<i32>() {
        Ok(at @ -3..=5) => short(&format!("{value:.*}", (digits as i32 - 1 - at).max(0) as usize)),
        _ => format!("{}e{exponent}", short(mantissa)),
    }
}

/// A number with fourteen digits: `19.739208802179`.
pub fn digits(value: f64) -> String {
    let before = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    match before {
        -3..=12 => format!("{value:.*}", (13 - before).clamp(0, 14) as usize),
        _ => format!("{value:.13e}"),
    }
}

/// A time: `0.036 s`, `12.3 s`, `4 min 10 s`.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 9.9995 => format!("{v:.3} s"),
        v if v < 99.95 => format!("{v:.1} s"),
        v => format!("{} min {} s", v as u64 / 60, v as u64 % 60),
    }
}

/// A time that is only known roughly: one digit.
pub fn rough_seconds(value: f64) -> String {
    if value < 0.01 {
        return "less than 0.01 s".into();
    }
    let digit = 10.0_f64.powf(value.log10().floor());
    let rounded = (value / digit).round() * digit;
    match rounded {
        v if v < 1.0 => format!("{v:.2} s"),
        v if v < 100.0 => format!("{v:.0} s"),
        v if v < 6000.0 => format!("{:.0} min", v / 60.0),
        v => format!("{:.0} h", v / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::amount::bytes;

    #[test]
    fn numbers_are_short() {
        assert_eq!(error(6.84e-13), "6.8e-13");
        assert_eq!(
            [1.0, -38.6214, 0.1, 0.0, 99999.6, 1e6, 6.12e-13, -2e-3, f64::NAN, f64::NEG_INFINITY]
                .map(|v| brief(v, 4))
                .join(" "),
            "1 -38.62 0.1 0 100000 1e6 6.12e-13 -0.002 NaN -inf"
        );
        assert_eq!(
            [19.73920880217866, 1e-20, 0.0].map(digits),
            ["19.739208802179", "1.0000000000000e-20", "0.0000000000000"]
        );
        assert_eq!([0.0364, 12.34, 250.7].map(seconds), ["0.036 s", "12.3 s", "4 min 10 s"]);
        assert_eq!(
            [0.001, 0.0234, 0.46, 3.4, 340.0, 9000.0].map(rough_seconds).join(", "),
            "less than 0.01 s, 0.02 s, 0.50 s, 3 s, 5 min, 2 h"
        );
        assert_eq!([4_500_000, 45_000_000, 1_230_000_000].map(bytes), ["4.5 MB", "45 MB", "1.2 GB"]);
    }
}
