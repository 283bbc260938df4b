//! Columns of text.

/// A table with a header; columns are as wide as they need to be, and flush right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(header: &[&str]) -> Self {
        Table { rows: vec![header.iter().map(|name| (*name).to_string()).collect()] }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |k: usize| self.rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count()).max();
        for row in &self.rows {
            let cells =
                row.iter().enumerate().map(|(k, cell)| format!("{cell:>width$}", width = width(k).unwrap_or(0)));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_flush() {
        let mut table = Table::new(&["n", "error"]);
        table.push(vec!["16".into(), "1.0e-9".into()]);
        assert_eq!(table.to_string(), " n   error\n16  1.0e-9\n");
    }
}
