//! Points in CSV files: a header that names the columns x and y, and a line for every point.
//!
//! Large files are read in pieces, by all threads.

use rayon::prelude::*;

/// Bytes of a file that one thread reads at a time.
const PIECE: usize = 1 << 18;

/// Letters of a file that a message repeats, at most.
const SHOWN: usize = 60;

/// The x and y of the points in a file, or what is wrong with it, with the line.
pub fn decode(text: &[u8]) -> Result<(Vec<f64>, Vec<f64>), String> {
    let (header, start) = first_line(text).ok_or("there are no points in it")?;
    let columns = Columns::parse(header).map_err(|problem| format!("line 1: {problem}"))?;
    let pieces: Vec<Piece> = pieces(&text[start..]).into_par_iter().map(|piece| columns.read(piece)).collect();
    let (mut x, mut y, mut line) = (Vec::new(), Vec::new(), 2);
    for piece in pieces {
        if let Some((offset, problem)) = piece.bad {
            return Err(format!("line {}: {problem}", line + offset));
        }
        x.extend(piece.x);
        y.extend(piece.y);
        line += piece.lines;
    }
    Ok((x, y))
}

/// The first line, without its end, and where the next one starts.
fn first_line(text: &[u8]) -> Option<(&[u8], usize)> {
    // A mark that some programs put before the first letter.
    let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let end = text.iter().position(|&b| b == b'\n').unwrap_or(text.len());
    let line = text.get(mark..end)?.trim_ascii();
    (!line.is_empty()).then_some((line, (end + 1).min(text.len())))
}

/// Pieces of a text that end with a line.
fn pieces(mut text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let least = PIECE.min(text.len());
        let end = text[least..].iter().position(|&b| b == b'\n').map_or(text.len(), |k| least + k + 1);
        let (piece, rest) = text.split_at(end);
        pieces.push(piece);
        text = rest;
    }
    pieces
}

/// The number, counted from 1, of the line that holds a point.
pub fn line_of(text: &[u8], index: usize) -> usize {
    let filled = text.split(|&b| b == b'\n').enumerate().skip(1).filter(|(_, line)| !line.trim_ascii().is_empty());
    filled.map(|(k, _)| k + 1).nth(index).unwrap_or(0)
}

/// Which columns of a CSV file hold x and y.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Columns {
    x: usize,
    y: usize,
}

/// What one thread read.
#[derive(Default)]
struct Piece {
    x: Vec<f64>,
    y: Vec<f64>,
    lines: usize,
    /// The first line that cannot be read, and why.
    bad: Option<(usize, String)>,
}

impl Columns {
    fn parse(header: &[u8]) -> Result<Self, String> {
        let names: Vec<&[u8]> = header.split(|&b| b == b',').map(<[u8]>::trim_ascii).collect();
        let find = |name: &str| names.iter().position(|n| n.trim_ascii() == name.as_bytes());
        match (find("x"), find("y")) {
            (Some(x), Some(y)) => Ok(Columns { x, y }),
            _ => Err(format!("the header is `{}`, without the columns x and y", shown(header))),
        }
    }

    fn read(self, piece: &[u8]) -> Piece {
        let mut found = Piece::default();
        for line in piece.split_inclusive(|&b| b == b'\n') {
            let line = line.trim_ascii();
            if !line.is_empty() {
                match self.point(line) {
                    Ok([x, y]) => {
                        found.x.push(x);
                        found.y.push(y);
                    }
                    Err(problem) => {
                        found.bad.get_or_insert((found.lines, problem));
                    }
                }
            }
            found.lines += 1;
        }
        found
    }

    fn point(self, line: &[u8]) -> Result<[f64; 2], String> {
        let mut point = [None; 2];
        for (k, cell) in line.split(|&b| b == b',').enumerate() {
            for (coordinate, column) in point.iter_mut().zip([self.x, self.y]) {
                if k == column {
                    let number = str::from_utf8(cell.trim_ascii()).ok().and_then(|text| text.parse::<f64>().ok());
                    *coordinate = Some(number.ok_or_else(|| format!("`{}` is not a number", shown(cell)))?);
                }
            }
        }
        match point {
            [Some(x), Some(y)] => Ok([x, y]),
            _ => Err(format!("`{}` has too few columns", shown(line))),
        }
    }
}

/// A part of the file for a message: its first letters.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.trim_ascii());
    match text.char_indices().nth(SHOWN) {
        None => text.into_owned(),
        Some((end, _)) => format!("{} ...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_repeat_no_more_than_a_line_of_the_file() {
        let problem = decode("y".repeat(1_000_000).as_bytes()).unwrap_err();
        assert!(problem.len() < 200 && problem.contains("yyy ..."), "{problem}");
        assert!(decode(b"x,y\n1,\xff\n").unwrap_err().contains("line 2"));
        assert_eq!(decode(b"\xef\xbb\xbfy,x\n1,2").unwrap(), (vec![2.0], vec![1.0]));
    }
}
