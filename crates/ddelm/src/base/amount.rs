//! Amounts of memory as people write them.

/// An amount of memory for people: `45 MB`, `1.2 GB`.
pub fn bytes(value: u64) -> String {
    let megabytes = value as f64 / 1e6;
    match megabytes {
        v if v < 9.95 => format!("{v:.1} MB"),
        v if v < 999.5 => format!("{v:.0} MB"),
        v => format!("{:.1} GB", v / 1e3),
    }
}

/// Reads an amount of memory: a number of bytes, or one with a unit such as `8 GB` or `512 MiB`.
pub fn parse(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 10] = [
        ("", 1.0),
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("tib", 1_099_511_627_776.0),
    ];
    let text = text.trim().to_lowercase();
    let end = text.find(|c: char| c.is_alphabetic() && c != 'e').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let value = number.trim().parse::<f64>().ok()? * factor;
    (value >= 1.0 && value.is_finite()).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        let amounts = [
            ("8 GB", 8e9),
            ("8e9", 8e9),
            ("1.5gb", 1.5e9),
            (" 2 MiB ", 2_097_152.0),
            ("100 B", 100.0),
            ("1e3 kb", 1e6),
        ];
        for (text, expected) in amounts {
            assert_eq!(parse(text), Some(expected as u64), "{text}");
        }
        for text in ["", "GB", "-1 GB", "8 GBit", "0", "nan", "inf", "1 e", "1e400"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
