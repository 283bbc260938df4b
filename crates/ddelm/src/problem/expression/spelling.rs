//! Which known name a misspelt one may have meant.

/// The candidate nearest to `name`, if one is near enough to be meant.
///
/// Near means few insertions, deletions, replacements and swaps of neighbours: none in a name of one letter, one in
/// a name of two to four, and one more for each further three. Case does not count. Of candidates at the same
/// distance one that begins like the name, or is its beginning, comes first.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let name = letters(name);
    let limit = (name.len() + 1) / 3;
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = letters(candidate);
            if name.len().abs_diff(other.len()) > limit {
                return None;
            }
            let is_prefix = name.starts_with(&other) || other.starts_with(&name);
            Some((distance(&name, &other), !is_prefix, candidate))
        })
        .filter(|&(distance, _, _)| distance <= limit)
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// The number of edits between two words (Damerau and Levenshtein's distance, where no part is edited twice).
fn distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut previous) = (Vec::new(), (0..=b.len()).collect::<Vec<_>>());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = previous[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(previous[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> usize {
        distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn edits_are_counted() {
        let cases = [
            ("", "", 0),
            ("", "abc", 3),
            ("sin", "sin", 0),
            ("kitten", "sitting", 3),
            ("sqtr", "sqrt", 1),
            ("ab", "ba", 1),
        ];
        for (a, b, expected) in cases {
            assert_eq!((edits(a, b), edits(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn names_that_were_meant() {
        let names = ["x", "y", "pi", "sin", "sinh", "sqrt", "interface", "discretization"];
        let cases = [
            ("sine", Some("sin")),
            ("sqtr", Some("sqrt")),
            ("X", Some("x")),
            ("PI", Some("pi")),
            ("discretisation", Some("discretization")),
            ("interfaces", Some("interface")),
            ("z", None),
            ("potato", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
    }
}
