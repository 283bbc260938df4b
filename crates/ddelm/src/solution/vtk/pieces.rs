//! Solutions of several ranks: a `.vtu` file from each of them, and a `.pvtu` file that names these.
//!
//! A rank writes the subdomains it holds, so that no rank needs the memory for all of them, and all write at once.
//!
//! # References
//! VTK File Formats, "XML file formats", parallel unstructured grids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{HEADER, Patch, patches, write_grid};
use crate::base::atomic;
use crate::base::error::Result;
use crate::interface::{Exchange, Message, Partition, agreed};
use crate::problem::model::Problem;
use crate::solution::evaluate::Solution;

/// Writes a solution that a solve on several ranks has left on each of them, with the fields of [`write`](super::write).
///
/// `path` is that of the `.pvtu` file; the piece of rank 3 of `u.pvtu` is `u-3.vtu` beside it. All ranks call this, with a
/// path in a folder that all of them see, and find the same outcome. The `.pvtu` file is there when all pieces are, and
/// only then. Returns all files.
pub fn write_pieces(
    exchange: &dyn Exchange,
    path: impl AsRef<Path>,
    solution: &Solution,
    problem: Option<&Problem>,
    resolution: usize,
) -> Result<Vec<PathBuf>> {
    let (path, resolution) = (path.as_ref(), super::cells_per_side(resolution)?);
    let partition = agreed(exchange, Partition::new(&solution.decomposition, exchange.size()))?;
    let mine = partition.subdomains(exchange.rank());
    let solution = with_neighbours(exchange, &partition, solution);
    let patches = agreed(exchange, patches(&solution, problem, &mine, resolution))?;
    // A file of an earlier run must not name pieces of this one before all are there.
    let leads = exchange.rank() == 0;
    agreed(exchange, if leads { remove(path) } else { Ok(()) })?;
    let pieces: Vec<PathBuf> = (0..exchange.size()).map(|rank| piece(path, rank)).collect();
    let here = &pieces[exchange.rank()];
    let written = atomic::write(here, |file| write_grid(file, &patches));
    let whole = agreed(exchange, written).and_then(|()| {
        let list = || atomic::write(path, |file| write_list(file, &patches[0], &pieces));
        agreed(exchange, if leads { list() } else { Ok(()) })
    });
    // Pieces that nothing names are of no use.
    whole.inspect_err(|_| drop(remove(here)))?;
    Ok(pieces.into_iter().chain([path.to_owned()]).collect())
}

/// The path of a rank's piece.
fn piece(path: &Path, rank: usize) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{rank}.vtu"));
    path.with_file_name(name)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(atomic::failure(path, &error)),
        _ => Ok(()),
    }
}

/// The solution with the coefficients of those subdomains of other ranks that touch one of this rank: a point on an
/// interface may belong to either side.
fn with_neighbours(exchange: &dyn Exchange, partition: &Partition, solution: &Solution) -> Solution {
    let subdomains = &solution.decomposition.subdomains;
    let mut ranks_at: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); solution.decomposition.vertices.len()];
    for (s, subdomain) in subdomains.iter().enumerate() {
        for &v in &subdomain.vertices {
            ranks_at[v].insert(partition.rank_of(s));
        }
    }
    // What goes to every rank that is met at a vertex, and what comes from it.
    let mut swaps: BTreeMap<usize, [BTreeSet<usize>; 2]> = BTreeMap::new();
    let here = exchange.rank();
    for (s, subdomain) in subdomains.iter().enumerate() {
        let owner = partition.rank_of(s);
        let met: BTreeSet<usize> = subdomain.vertices.iter().flat_map(|&v| ranks_at[v].iter().copied()).collect();
        if owner == here {
            for rank in met.into_iter().filter(|&rank| rank != here) {
                swaps.entry(rank).or_default()[0].insert(s);
            }
        } else if met.contains(&here) {
            swaps.entry(owner).or_default()[1].insert(s);
        }
    }
    let message = |(&rank, [to, from]): (&usize, &[BTreeSet<usize>; 2])| Message {
        rank,
        values: to
            .iter()
            .flat_map(|&s| [&solution.coefficients[s], &solution.remainders[s]])
            .flatten()
            .copied()
            .collect(),
        answer: from.iter().map(|&s| 2 * solution.network(s).columns()).sum(),
    };
    let messages: Vec<Message> = swaps.iter().map(message).collect();
    let answers = exchange.swap(&messages, &mut || ());
    let mut out = solution.clone();
    for ([_, from], answer) in swaps.values().zip(&answers) {
        let mut rest = &answer[..];
        for &s in from {
            for part in [&mut out.coefficients[s], &mut out.remainders[s]] {
                let (values, after) = rest.split_at(solution.network(s).columns());
                *part = values.to_vec();
                rest = after;
            }
        }
    }
    out
}

/// The `.pvtu` file: the arrays that a piece has, and the names of the pieces.
fn write_list(out: &mut impl Write, patch: &Patch, pieces: &[PathBuf]) -> io::Result<()> {
    let array = |kind: &str, name: &str, components: usize| {
        format!(r#"<PDataArray type="{kind}" Name="{name}" NumberOfComponents="{components}"/>"#)
    };
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="PUnstructuredGrid" {HEADER}>"#)?;
    writeln!(out, r#"<PUnstructuredGrid GhostLevel="0">"#)?;
    writeln!(out, "<PPoints>\n{}\n</PPoints>", array("Float64", "points", 3))?;
    writeln!(out, r#"<PPointData Scalars="u" Vectors="gradient">"#)?;
    for (name, _) in &patch.scalars {
        writeln!(out, "{}", array("Float64", name, 1))?;
    }
    for (name, _) in &patch.vectors {
        writeln!(out, "{}", array("Float64", name, 3))?;
    }
    writeln!(out, "{}\n</PPointData>", array("Int32", "subdomain", 1))?;
    for piece in pieces {
        let name = piece.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        writeln!(out, r#"<Piece Source="{name}"/>"#)?;
    }
    writeln!(out, "</PUnstructuredGrid>\n</VTKFile>")
}
