//! Tables and numbers in Markdown.

use std::fmt;

/// A table that is aligned also in the source.
pub struct MarkdownTable {
    rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    /// A table with these headings and no rows yet.
    pub fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        MarkdownTable { rows: vec![headings.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.rows[0].len(), String::new());
        self.rows.push(cells);
    }
}

impl fmt::Display for MarkdownTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3);
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
            writeln!(f, "| {} |", cells.join(" | "))?;
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
                writeln!(f, "| {} |", rules.join(" | "))?;
            }
        }
        Ok(())
    }
}

/// A whole number, in groups of three digits.
pub fn number(value: usize) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time in seconds.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 100.0 => format!("{s:.1} s"),
        s => format!("{} s", number(s.round() as usize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 65_536, 1_234_567].map(number), ["0", "999", "65,536", "1,234,567"]);
        assert_eq!([0.123, 12.34, 8617.13].map(time), ["0.12 s", "12.3 s", "8,617 s"]);
    }

    #[test]
    fn columns_are_aligned_and_rows_filled_up() {
        let mut grid = MarkdownTable::new(vec!["N", "error"]);
        grid.row(vec!["16 x 16".into()]);
        assert_eq!(grid.to_string(), "| N       | error |\n| ------- | ----- |\n| 16 x 16 |       |\n");
    }
}
