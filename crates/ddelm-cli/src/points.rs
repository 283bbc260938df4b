//! Tables of points: read from CSV and `.npy`, and written with values beside them.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ddelm::base::npz::{self, Array};
use ddelm::base::{atomic, csv};
use ddelm::solution::Gradients;
use ddelm::{Error, Result};
use rayon::prelude::*;

use crate::stdout;

/// Rows of a CSV file that one thread writes at a time, and pieces that are in memory at once.
const ROWS: usize = 4096;
const PIECES: usize = 32;

/// Points, and where they came from.
pub struct Points {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    source: Source,
}

/// Where points came from: what an error names.
struct Source {
    path: PathBuf,
    /// The text, where the points have lines.
    text: Option<Vec<u8>>,
}

impl Points {
    /// Reads points from a CSV file with the columns x and y, from an `.npy` file with an array of shape (n, 2), or, if
    /// the path is `-`, CSV from standard input.
    pub fn read(path: &Path) -> Result<Self> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
            return Self::from_array(path, &npz::read_npy(path)?);
        }
        let refuse = |error: io::Error| Error::File {
            path: name(path),
            problem: format!("cannot read: {error}"),
            hint: "give a CSV file, an .npy file, or - for standard input".into(),
        };
        let text = if path == Path::new("-") {
            let mut text = Vec::new();
            io::stdin().lock().read_to_end(&mut text).map_err(refuse)?;
            text
        } else {
            fs::read(path).map_err(refuse)?
        };
        Self::from_csv(path, text)
    }

    fn from_array(path: &Path, array: &Array) -> Result<Self> {
        let &[_, 2] = &array.shape[..] else {
            return Err(Error::File {
                path: path.into(),
                problem: format!("the array has the shape {:?}, not (n, 2)", array.shape),
                hint: "give one row (x, y) for every point".into(),
            });
        };
        let (x, y) = array.data.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
        Ok(Points { x, y, source: Source { path: path.into(), text: None } })
    }

    fn from_csv(path: &Path, text: Vec<u8>) -> Result<Self> {
        let bad = |problem: String| Error::File {
            path: name(path),
            problem,
            hint: "the first line is x,y and every other line a point, for example 0.25,0.5".into(),
        };
        let (x, y) = csv::decode(&text).map_err(bad)?;
        Ok(Points { x, y, source: Source { path: name(path), text: Some(text) } })
    }

    /// The error for a point that lies outside the domain.
    pub fn outside(&self, index: usize) -> Error {
        let place = match &self.source.text {
            Some(text) => format!("line {}", csv::line_of(text, index)),
            None => format!("point {}", index + 1),
        };
        Error::File {
            path: self.source.path.clone(),
            problem: format!("{place}: the point ({}, {}) lies outside the domain", self.x[index], self.y[index]),
            hint: "leave it out, or use --outside nan".into(),
        }
    }
}

fn name(path: &Path) -> PathBuf {
    if path == Path::new("-") { "standard input".into() } else { path.into() }
}

/// Points with u and its gradient, to a file or to standard output: CSV with 17 digits, or an array of shape (n, 5) if
/// the name ends with `.npy`.
pub fn write(path: Option<&Path>, points: &Points, found: &Gradients) -> Result<()> {
    let table = [&points.x, &points.y, &found.u, &found.ux, &found.uy].map(Vec::as_slice);
    match path {
        Some(path) if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) => {
            let data = (0..points.x.len()).flat_map(|i| table.map(|column| column[i])).collect();
            npz::write_npy(path, &Array { shape: vec![points.x.len(), 5], data })
        }
        Some(path) => atomic::write(path, |file| write_csv(file, table)),
        None => stdout::write(|out| write_csv(out, table)),
    }
}

fn write_csv(out: &mut impl Write, table: [&[f64]; 5]) -> io::Result<()> {
    out.write_all(b"x,y,u,ux,uy\n")?;
    let rows = table[0].len();
    let starts: Vec<usize> = (0..rows).step_by(ROWS).collect();
    for batch in starts.chunks(PIECES) {
        let pieces: Vec<io::Result<Vec<u8>>> =
            batch.par_iter().map(|&start| format_rows(table, start..(start + ROWS).min(rows))).collect();
        for piece in pieces {
            out.write_all(&piece?)?;
        }
    }
    Ok(())
}

fn format_rows(table: [&[f64]; 5], rows: std::ops::Range<usize>) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(120 * rows.len());
    for i in rows {
        for (k, column) in table.iter().enumerate() {
            if k > 0 {
                text.push(b',');
            }
            // 17 digits: every number is read back with the same bits.
            write!(text, "{:.16e}", column[i])?;
        }
        text.push(b'\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> std::result::Result<Points, String> {
        Points::from_csv(Path::new("points.csv"), text.as_bytes().to_vec()).map_err(|e| e.to_string())
    }

    #[test]
    fn columns_are_found_by_name() {
        let points = csv("\u{feff}id, y ,x\r\n1,2.5,-1e-3\r\n\r\n2,0.5,7\n").unwrap();
        assert_eq!((points.x, points.y), (vec![-1e-3, 7.0], vec![2.5, 0.5]));
        assert!(csv("x,y\n").unwrap().x.is_empty());
        assert_eq!(csv("x,y\n1,2").unwrap().y, [2.0]);
    }

    #[test]
    fn bad_lines_are_named() {
        let problem = |text: &str| csv(text).err().unwrap();
        assert_eq!(problem("x,y\n1,2\n\n3,four\n"), "points.csv: line 4: `four` is not a number");
        assert_eq!(problem("x,y\n1\n"), "points.csv: line 2: `1` has too few columns");
        assert!(problem("0.5,0.5\n").contains("line 1: the header is `0.5,0.5`"));
        assert!(problem("").contains("no points"));
        let many: String = (0..60_000).map(|k| format!("{k},0.5\n")).collect();
        assert!(problem(&format!("x,y\n{many}oops,1\n{many}")).contains("line 60002: `oops`"));
    }

    #[test]
    fn a_point_outside_is_named_by_its_line() {
        let points = csv("x,y\n0,0\n\n5,6\n").unwrap();
        assert_eq!(points.outside(1).to_string(), "points.csv: line 4: the point (5, 6) lies outside the domain");
        let array = Array { shape: vec![2, 2], data: vec![0.0, 0.0, 5.0, 6.0] };
        let points = Points::from_array(Path::new("p.npy"), &array).unwrap();
        assert!(points.outside(1).to_string().contains("point 2: the point (5, 6)"));
        let wrong = Array { shape: vec![4], data: vec![0.0; 4] };
        assert!(Points::from_array(Path::new("p.npy"), &wrong).is_err());
    }

    #[test]
    fn numbers_come_back_with_the_same_bits() {
        let values: Vec<f64> = (0..10_000).map(|k| (f64::from(k) * 0.7).sin() * 10f64.powi(k % 40 - 20)).collect();
        let table = [&values[..]; 5];
        let mut text = Vec::new();
        write_csv(&mut text, table).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("x,y,u,ux,uy\n0.0000000000000000e0,"));
        let back = csv(&text).unwrap();
        assert!(
            back.x.iter().chain(&back.y).zip(values.iter().chain(&values)).all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
}
