//! Solutions for ParaView: unstructured grids in VTK's XML format (`.vtu`), from several ranks in pieces (`.pvtu`),
//! at several times in a series (`.pvd`).
//!
//! Every subdomain is a patch of small quadrilaterals or triangles with points of its own, also on its sides. So curved subdomains
//! are drawn as they are, and a jump across an interface is seen as one.
//!
//! The format is little more than named arrays, in base64: it is written here, for a library that also reads VTK's
//! many other formats costs more to compile than the rest of this crate's writers together.
//!
//! # References
//! VTK File Formats, "XML file formats", serial unstructured grids with inline binary arrays.

mod pieces;
mod series;

use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;

use crate::base::atomic;
use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;
use crate::domain::sample::Sample;
use crate::domain::shape::Shape;
use crate::problem::model::Problem;
use crate::solution::evaluate::{Gradients, Solution};

pub use pieces::write_pieces;
pub use series::write_series;

/// How numbers are stored.
const HEADER: &str = r#"version="1.0" byte_order="LittleEndian" header_type="UInt64""#;

/// VTK's numbers of a triangle and of a quadrilateral.
const TRIANGLE: u8 = 5;
const QUADRILATERAL: u8 = 9;

/// Most cells along a side of a subdomain, or in the file of a finite element solution. ParaView is no help with more than it can show.
pub const MOST_CELLS: usize = 512;

/// Nobody sees what is nearer to a vertex with rings than this part of a subdomain. Derivatives that are infinite at the vertex, and residuals, which
/// are rounding over the square of the distance, would take all colours.
const UNSEEN: f64 = 1e-4;

/// Writes a solution as a `.vtu` file, `resolution x resolution` cells in every subdomain.
///
/// The fields at the points are `u`, `gradient` and `subdomain`; on an interface the first two are those of one of the
/// two subdomains, as [`Solution::gradients`] gives them. Where the problem is known there are also `flux` (see
/// [`Solution::local_fluxes`]) and `residual`, and, where it has an exact solution, `error`, which is u minus it. Next to a vertex with rings the
/// residual is NaN, and so are gradient and flux if they are infinite at the vertex.
pub fn write(path: impl AsRef<Path>, solution: &Solution, problem: Option<&Problem>, resolution: usize) -> Result<()> {
    let resolution = cells_per_side(resolution)?;
    let all: Vec<usize> = (0..solution.decomposition.len()).collect();
    let patches = patches(solution, problem, &all, resolution)?;
    write_patches(path, &patches)
}

/// Writes patches as a `.vtu` file.
pub fn write_patches(path: impl AsRef<Path>, patches: &[Patch]) -> Result<()> {
    atomic::write(path, |file| write_grid(file, patches))
}

/// Cells per side of a subdomain, at least one.
fn cells_per_side(resolution: usize) -> Result<usize> {
    if resolution > MOST_CELLS {
        let problem = format!("a subdomain has at most {MOST_CELLS} cells per side");
        return Err(Error::input("resolution", resolution, problem, "16 is usual"));
    }
    Ok(resolution.max(1))
}

/// The patches of these subdomains.
fn patches(solution: &Solution, problem: Option<&Problem>, of: &[usize], resolution: usize) -> Result<Vec<Patch>> {
    in_order(of.par_iter().map(|&s| Patch::new(solution, problem, s, resolution)))
}

/// How the points of a patch are joined to cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// So many quadrilaterals in each direction.
    Grid([usize; 2]),
    /// A triangle with so many triangles along every side.
    Triangle(usize),
}

impl Cells {
    /// The points of every cell, counter-clockwise.
    fn corners(self) -> Vec<Vec<usize>> {
        match self {
            Cells::Grid([cx, cy]) => (0..cx * cy)
                .map(|k| {
                    let first = k / cx * (cx + 1) + k % cx;
                    vec![first, first + 1, first + cx + 2, first + cx + 1]
                })
                .collect(),
            Cells::Triangle(n) => {
                // Row j has n + 1 - j points.
                let at = |i: usize, j: usize| j * (n + 1) - j * j.saturating_sub(1) / 2 + i;
                let row = |j: usize| {
                    let upward = (0..n - j).map(move |i| vec![at(i, j), at(i + 1, j), at(i, j + 1)]);
                    upward.chain((1..n - j).map(move |i| vec![at(i, j), at(i, j + 1), at(i - 1, j + 1)]))
                };
                (0..n).flat_map(row).collect()
            }
        }
    }

    fn kind(self) -> u8 {
        match self {
            Cells::Grid(_) => QUADRILATERAL,
            Cells::Triangle(_) => TRIANGLE,
        }
    }
}

/// The points of one subdomain, by rows from the bottom, and the fields there.
pub struct Patch {
    /// The number of the subdomain.
    pub subdomain: usize,
    /// The points.
    pub points: Vec<[f64; 3]>,
    /// The cells between them.
    pub cells: Cells,
    /// Scalar fields with their names.
    pub scalars: Vec<(&'static str, Vec<f64>)>,
    /// Vector fields with their names.
    pub vectors: Vec<(&'static str, Vec<[f64; 3]>)>,
}

impl Patch {
    fn new(solution: &Solution, problem: Option<&Problem>, s: usize, resolution: usize) -> Result<Self> {
        let place = &solution.decomposition.subdomains[s];
        let (xi, cells) = match place.map.shape() {
            Shape::Quadrilateral => (Shape::Quadrilateral.lattice(resolution), Cells::Grid([resolution; 2])),
            Shape::Triangle => (Shape::Triangle.lattice(resolution), Cells::Triangle(resolution)),
        };
        let xi: Vec<Point> = xi.collect();
        let sample = Sample::new(place, xi.iter().copied());
        let mut g = gradients(solution, s, &xi, &sample);
        let unseen: Vec<usize> = (0..xi.len()).filter(|&k| place.map.unit(xi[k]) < UNSEEN).collect();
        let hide = |values: &mut Vec<f64>| unseen.iter().for_each(|&k| values[k] = f64::NAN);
        let unbounded = has_infinite_slopes(&solution.decomposition, s);
        if unbounded {
            [&mut g.ux, &mut g.uy].into_iter().for_each(hide);
        }
        let mut scalars = vec![];
        let mut vectors = vec![("gradient", vectors_of(&g.ux, &g.uy))];
        if let Some(problem) = problem {
            let mut flux = solution.fluxes_in(problem, s, &xi)?;
            if unbounded {
                flux.iter_mut().for_each(hide);
            }
            vectors.push(("flux", vectors_of(&flux[0], &flux[1])));
            let mut residual = solution.local_residuals(problem, s, &xi)?;
            hide(&mut residual);
            scalars.push(("residual", residual));
            if let Some(exact) = &problem.exact {
                let exact = sample.values(exact.as_ref(), "exact.u", s)?;
                scalars.push(("error", g.u.iter().zip(exact).map(|(u, e)| u - e).collect()));
            }
        }
        scalars.insert(0, ("u", g.u));
        Ok(Patch { subdomain: s, points: vectors_of(&sample.x, &sample.y), cells, scalars, vectors })
    }
}

/// Whether the gradient is infinite at the vertex that a ring is about.
fn has_infinite_slopes(decomposition: &Decomposition, s: usize) -> bool {
    let at = |v| decomposition.ring_vertices().iter().find(|ringed| ringed.vertex == v);
    decomposition.ring(s).and_then(|(v, _)| at(v)).is_some_and(|ringed| ringed.exponent < 1.0)
}

/// Vectors in the plane, as VTK has them.
pub fn vectors_of(x: &[f64], y: &[f64]) -> Vec<[f64; 3]> {
    x.iter().zip(y).map(|(&x, &y)| [x, y, 0.0]).collect()
}

/// u and its gradient as everybody gets them at these points, also where patches meet.
fn gradients(solution: &Solution, s: usize, xi: &[Point], sample: &Sample) -> Gradients {
    let mut found = solution.gradients(&sample.x, &sample.y);
    // A point on a curved boundary may be rounded out of the domain.
    let lost: Vec<usize> = (0..xi.len()).filter(|&k| found.u[k].is_nan()).collect();
    let local = solution.local_gradients(s, &lost.iter().map(|&k| xi[k]).collect::<Vec<_>>());
    for (i, k) in lost.into_iter().enumerate() {
        (found.u[k], found.ux[k], found.uy[k]) = (local.u[i], local.ux[i], local.uy[i]);
    }
    found
}

/// Patches with their cells, the cells of one patch after those of the other.
fn write_grid(out: &mut impl Write, patches: &[Patch]) -> io::Result<()> {
    let (mut corners, mut offsets, mut types): (Vec<i64>, Vec<i64>, Vec<u8>) = (Vec::new(), Vec::new(), Vec::new());
    let mut points = 0;
    for patch in patches {
        for cell in patch.cells.corners() {
            corners.extend(cell.iter().map(|&p| (points + p) as i64));
            offsets.push(corners.len() as i64);
            types.push(patch.cells.kind());
        }
        points += patch.points.len();
    }
    let cells = types.len();
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="UnstructuredGrid" {HEADER}>"#)?;
    writeln!(out, "<UnstructuredGrid>")?;
    writeln!(out, r#"<Piece NumberOfPoints="{points}" NumberOfCells="{cells}">"#)?;
    writeln!(out, "<Points>")?;
    array(out, "Float64", "points", 3, numbers(patches.iter().flat_map(|p| p.points.as_flattened())))?;
    writeln!(out, "</Points>\n<Cells>")?;
    array(out, "Int64", "connectivity", 1, corners.into_iter().flat_map(i64::to_le_bytes))?;
    array(out, "Int64", "offsets", 1, offsets.into_iter().flat_map(i64::to_le_bytes))?;
    array(out, "UInt8", "types", 1, types.into_iter())?;
    writeln!(out, "</Cells>\n<PointData Scalars=\"u\" Vectors=\"gradient\">")?;
    let first = patches.first();
    for (k, (name, _)) in first.iter().flat_map(|p| p.scalars.iter().enumerate()) {
        array(out, "Float64", name, 1, numbers(patches.iter().flat_map(|p| &p.scalars[k].1)))?;
    }
    for (k, (name, _)) in first.iter().flat_map(|p| p.vectors.iter().enumerate()) {
        array(out, "Float64", name, 3, numbers(patches.iter().flat_map(|p| p.vectors[k].1.as_flattened())))?;
    }
    let ids = patches.iter().flat_map(|p| std::iter::repeat_n(p.subdomain as i32, p.points.len()));
    array(out, "Int32", "subdomain", 1, ids.flat_map(i32::to_le_bytes))?;
    writeln!(out, "</PointData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>")
}

fn numbers<'a>(values: impl Iterator<Item = &'a f64>) -> impl Iterator<Item = u8> {
    values.flat_map(|v| v.to_le_bytes())
}

/// One array: its size in bytes and its numbers, together in base64.
fn array(
    out: &mut impl Write,
    kind: &str,
    name: &str,
    components: usize,
    bytes: impl Iterator<Item = u8>,
) -> io::Result<()> {
    let mut block = vec![0; 8];
    block.extend(bytes);
    let size = (block.len() - 8) as u64;
    block[..8].copy_from_slice(&size.to_le_bytes());
    writeln!(out, r#"<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="binary">"#)?;
    writeln!(out, "{}", STANDARD.encode(block))?;
    writeln!(out, "</DataArray>")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::map::{MapRef, Polar};
    use crate::method::settings::Settings;
    use crate::problem::field::{constant, function, function_with_gradient};
    use crate::problem::model::{Condition, Diffusion, Equation};
    use crate::solve::solver::Solver;

    /// The numbers of an array of a file.
    fn read(text: &str, name: &str) -> Vec<f64> {
        let start = text.find(&format!("Name=\"{name}\"")).unwrap();
        let encoded = text[start..].lines().nth(1).unwrap();
        let bytes = STANDARD.decode(encoded).unwrap();
        assert_eq!(u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize, bytes.len() - 8);
        bytes[8..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn written(solution: &Solution, problem: Option<&Problem>, resolution: usize) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.vtu");
        write(&path, solution, problem, resolution).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn curved_patches_hold_the_fields_at_their_points() {
        let maps: Vec<MapRef> = (0..2)
            .map(|k| {
                let angle = [0.4 * k as f64, 0.4 * (k + 1) as f64];
                Arc::new(Polar { centre: [0.0; 2], radius: [1.0, 1.5], angle }) as MapRef
            })
            .collect();
        let decomposition = Decomposition::from_maps(maps, 1, |_| 0).unwrap();
        let exact = function_with_gradient(|x, y| x * x * y, |x, y| [2.0 * x * y, x * x]);
        // a = [[2, 1], [0, 3]]: a grad u = (2 u_x + u_y, 3 u_y), -div of it = -(4 y + 2 x).
        let tensor = [[constant(2.0), constant(1.0)], [constant(0.0), constant(3.0)]];
        let problem = Problem::new(
            Equation::SecondOrder { diffusion: Diffusion::Tensor(tensor), advection: None, reaction: None },
            function(|x, y| -(4.0 * y + 2.0 * x)),
            vec![Condition::dirichlet(exact.clone())],
        )
        .with_exact(exact);
        let settings = Settings { points: 14, ..Settings::fast() };
        let solution = Solver::new(&problem, Arc::new(decomposition), &settings).unwrap().solve().unwrap();
        let text = written(&solution, Some(&problem), 5);
        assert!(text.contains(r#"NumberOfPoints="72" NumberOfCells="50""#));
        let [points, u, flux, gradient, residual, error] =
            ["points", "u", "flux", "gradient", "residual", "error"].map(|name| read(&text, name));
        assert_eq!((points.len(), u.len(), flux.len()), (216, 72, 216));
        for i in 0..72 {
            let (x, y) = (points[3 * i], points[3 * i + 1]);
            let radius = x.hypot(y);
            assert!(points[3 * i + 2] == 0.0 && (1.0 - 1e-12..1.5 + 1e-12).contains(&radius));
            assert!((u[i] - x * x * y).abs() < 1e-8, "u = {} at ({x}, {y})", u[i]);
            assert!((gradient[3 * i] - 2.0 * x * y).abs() < 1e-6 && (gradient[3 * i + 1] - x * x).abs() < 1e-6);
            assert!((flux[3 * i] - 4.0 * x * y - x * x).abs() < 1e-6 && (flux[3 * i + 1] - 3.0 * x * x).abs() < 1e-6);
            assert!(residual[i].abs() < 1e-4 && (error[i] - (u[i] - x * x * y)).abs() < 1e-15);
        }
    }

    #[test]
    fn without_a_problem_there_are_values_and_gradients() {
        let problem = Problem::new(
            Equation::Plate { rigidity: constant(2.0) },
            constant(0.0),
            vec![Condition::simply_supported(function(|x, y| x * y), constant(0.0)); 4],
        );
        let decomposition = Arc::new(Decomposition::rectangle([0.0, 1.0], [0.0, 2.0], [1, 2]).unwrap());
        let settings = Settings { points: 12, ..Settings::fast() };
        let solution = Solver::new(&problem, decomposition, &settings).unwrap().solve().unwrap();
        let text = written(&solution, None, 2);
        assert!(text.contains("\"gradient\"") && !text.contains("\"flux\"") && !text.contains("\"residual\""));
        let text = written(&solution, Some(&problem), 2);
        assert!(!text.contains("\"error\""));
        assert!(read(&text, "flux").iter().all(|f| f.abs() < 1e-3));
    }
}
