//! Solutions for ParaView: unstructured grids in VTK's XML format (`.vtu`), from several ranks in pieces (`.pvtu`).
//!
//! Every subdomain is a patch of small quadrilaterals with points of its own, also on its sides. So curved subdomains
//! are drawn as they are, and a jump across an interface is seen as one.
//!
//! The format is little more than named arrays, in base64: it is written here, for a library that also reads VTK's
//! many other formats costs more to compile than the rest of this crate's writers together.
//!
//! # References
//! VTK File Formats, "XML file formats", serial unstructured grids with inline binary arrays.

mod pieces;

use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;

use crate::atomic;
use crate::error::Result;
use crate::finite_element::FiniteElementSolution;
use crate::map::Point;
use crate::operator::{Sample, diffusion_values};
use crate::problem::{Equation, Problem};
use crate::solution::{Gradients, Solution};

pub use pieces::write_pieces;

/// How numbers are stored.
const HEADER: &str = r#"version="1.0" byte_order="LittleEndian" header_type="UInt64""#;

/// VTK's number of a quadrilateral.
const QUADRILATERAL: u8 = 9;

/// Most cells along a side in the file of a finite element solution. ParaView is no help with more than it can show.
pub const MOST_CELLS: usize = 512;

/// Writes a solution as a `.vtu` file, `resolution x resolution` cells in every subdomain.
///
/// The fields at the points are `u`, `gradient` and `subdomain`; on an interface the first two are those of one of the
/// two subdomains, as [`Solution::gradients`] gives them. Where the problem is known there are also `flux` (see
/// [`Solution::local_fluxes`]) and `residual`, and, where it has an exact solution, `error`, which is u minus it.
pub fn write(path: impl AsRef<Path>, solution: &Solution, problem: Option<&Problem>, resolution: usize) -> Result<()> {
    let resolution = resolution.max(1);
    let all: Vec<usize> = (0..solution.decomposition.len()).collect();
    let patches = patches(solution, problem, &all, resolution)?;
    atomic::write(path, |file| write_grid(file, &patches, [resolution; 2]))
}

/// Writes a finite element solution as a `.vtu` file, with the values at its nodes, or, where there are more than
/// [`MOST_CELLS`] cells along a side, at so many points.
///
/// The fields are those of [`write()`] except for the residual, which a function that is linear in triangles does not
/// have. The gradient at a node is that in one of the triangles that meet there.
pub fn write_finite_elements(
    path: impl AsRef<Path>,
    solution: &FiniteElementSolution,
    problem: &Problem,
) -> Result<()> {
    let cells = solution.cells().map(|cells| cells.min(MOST_CELLS));
    let patch = Patch::of_finite_elements(solution, problem, cells)?;
    atomic::write(path, |file| write_grid(file, &[patch], cells))
}

/// The patches of these subdomains.
fn patches(solution: &Solution, problem: Option<&Problem>, of: &[usize], resolution: usize) -> Result<Vec<Patch>> {
    of.par_iter().map(|&s| Patch::new(solution, problem, s, resolution)).collect()
}

/// The points of one subdomain and the fields there.
struct Patch {
    subdomain: usize,
    points: Vec<[f64; 3]>,
    scalars: Vec<(&'static str, Vec<f64>)>,
    vectors: Vec<(&'static str, Vec<[f64; 3]>)>,
}

impl Patch {
    fn new(solution: &Solution, problem: Option<&Problem>, s: usize, resolution: usize) -> Result<Self> {
        let side = |k: usize| k as f64 / resolution as f64;
        let xi: Vec<Point> = (0..=resolution).flat_map(|j| (0..=resolution).map(move |i| [side(i), side(j)])).collect();

        let sample = Sample::new(solution.decomposition.subdomains[s].map.as_ref(), xi.iter().copied());
        let g = gradients(solution, s, &xi, &sample);
        let mut scalars = vec![];
        let mut vectors = vec![("gradient", vectors_of(&g.ux, &g.uy))];
        if let Some(problem) = problem {
            let [x, y] = solution.local_fluxes(problem, s, &xi)?;
            vectors.push(("flux", vectors_of(&x, &y)));
            scalars.push(("residual", solution.local_residuals(problem, s, &xi)?));
            if let Some(exact) = &problem.exact {
                let exact = sample.values(exact.as_ref(), "exact.u", s)?;
                scalars.push(("error", g.u.iter().zip(exact).map(|(u, e)| u - e).collect()));
            }
        }
        scalars.insert(0, ("u", g.u));
        Ok(Patch { subdomain: s, points: vectors_of(&sample.x, &sample.y), scalars, vectors })
    }

    fn of_finite_elements(solution: &FiniteElementSolution, problem: &Problem, [cx, cy]: [usize; 2]) -> Result<Self> {
        let [x0, x1, y0, y1] = solution.bounding_box();
        let at =
            |k: usize, count: usize, a: f64, b: f64| if k == count { b } else { a + (b - a) * k as f64 / count as f64 };
        let (x, y) = (0..=cy).flat_map(|j| (0..=cx).map(move |i| (at(i, cx, x0, x1), at(j, cy, y0, y1)))).unzip();
        let points = Sample { x, y };
        let [mut u, mut ux, mut uy] = [(); 3].map(|()| vec![0.0; points.x.len()]);
        solution.values(&points.x, &points.y, &mut u);
        solution.gradients(&points.x, &points.y, &mut ux, &mut uy);
        let mut vectors = vec![("gradient", vectors_of(&ux, &uy))];
        if let Equation::SecondOrder { diffusion, .. } = &problem.equation {
            let a = diffusion_values(diffusion, &points, 0)?;
            let row = |k: usize| (0..ux.len()).map(|i| a[k][i] * ux[i] + a[k + 1][i] * uy[i]).collect::<Vec<f64>>();
            vectors.push(("flux", vectors_of(&row(0), &row(2))));
        }
        let mut scalars = vec![("u", u)];
        if let Some(exact) = &problem.exact {
            let exact = points.values(exact.as_ref(), "exact.u", 0)?;
            let error = scalars[0].1.iter().zip(exact).map(|(u, e)| u - e).collect();
            scalars.push(("error", error));
        }
        Ok(Patch { subdomain: 0, points: vectors_of(&points.x, &points.y), scalars, vectors })
    }
}

/// Vectors in the plane, as VTK has them.
fn vectors_of(x: &[f64], y: &[f64]) -> Vec<[f64; 3]> {
    x.iter().zip(y).map(|(&x, &y)| [x, y, 0.0]).collect()
}

/// u and its gradient as everybody gets them at these points, also where patches meet.
fn gradients(solution: &Solution, s: usize, xi: &[Point], points: &Sample) -> Gradients {
    let mut found = solution.gradients(&points.x, &points.y);
    // A point on a curved boundary may be rounded out of the domain.
    let lost: Vec<usize> = (0..xi.len()).filter(|&k| found.u[k].is_nan()).collect();
    let local = solution.local_gradients(s, &lost.iter().map(|&k| xi[k]).collect::<Vec<_>>());
    for (i, k) in lost.into_iter().enumerate() {
        (found.u[k], found.ux[k], found.uy[k]) = (local.u[i], local.ux[i], local.uy[i]);
    }
    found
}

/// Patches of `cx x cy` cells each.
fn write_grid(out: &mut impl Write, patches: &[Patch], [cx, cy]: [usize; 2]) -> io::Result<()> {
    let per_patch = (cx + 1) * (cy + 1);
    let cells = patches.len() * cx * cy;
    // Counter-clockwise, the cells of one patch after those of the other.
    let corners = (0..patches.len()).flat_map(|s| {
        (0..cx * cy).flat_map(move |k| {
            let first = s * per_patch + k / cx * (cx + 1) + k % cx;
            [first, first + 1, first + cx + 2, first + cx + 1].map(|p| p as i64)
        })
    });
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="UnstructuredGrid" {HEADER}>"#)?;
    writeln!(out, "<UnstructuredGrid>")?;
    writeln!(out, r#"<Piece NumberOfPoints="{}" NumberOfCells="{cells}">"#, patches.len() * per_patch)?;
    writeln!(out, "<Points>")?;
    array(out, "Float64", "points", 3, numbers(patches.iter().flat_map(|p| p.points.as_flattened())))?;
    writeln!(out, "</Points>\n<Cells>")?;
    array(out, "Int64", "connectivity", 1, corners.flat_map(i64::to_le_bytes))?;
    array(out, "Int64", "offsets", 1, (1..=cells as i64).flat_map(|k| (4 * k).to_le_bytes()))?;
    array(out, "UInt8", "types", 1, std::iter::repeat_n(QUADRILATERAL, cells))?;
    writeln!(out, "</Cells>\n<PointData Scalars=\"u\" Vectors=\"gradient\">")?;
    let first = patches.first();
    for (k, (name, _)) in first.iter().flat_map(|p| p.scalars.iter().enumerate()) {
        array(out, "Float64", name, 1, numbers(patches.iter().flat_map(|p| &p.scalars[k].1)))?;
    }
    for (k, (name, _)) in first.iter().flat_map(|p| p.vectors.iter().enumerate()) {
        array(out, "Float64", name, 3, numbers(patches.iter().flat_map(|p| p.vectors[k].1.as_flattened())))?;
    }
    let ids = patches.iter().flat_map(|p| std::iter::repeat_n(p.subdomain as i32, per_patch));
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
    use crate::decomposition::Decomposition;
    use crate::field::{constant, function, function_with_gradient};
    use crate::map::{MapRef, Polar};
    use crate::problem::{Condition, Diffusion, Equation};
    use crate::settings::Settings;
    use crate::solver::Solver;

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
        let problem = Problem {
            equation: Equation::SecondOrder { diffusion: Diffusion::Tensor(tensor), advection: None, reaction: None },
            source: function(|x, y| -(4.0 * y + 2.0 * x)),
            conditions: vec![Condition::dirichlet(exact.clone())],
            exact: Some(exact),
        };
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
    fn finite_elements_are_written_at_their_nodes() {
        let exact = function(|x, y| x - 2.0 * y);
        let tensor = [[constant(2.0), constant(1.0)], [constant(1.0), constant(3.0)]];
        let problem = Problem {
            equation: Equation::SecondOrder { diffusion: Diffusion::Tensor(tensor), advection: None, reaction: None },
            source: constant(0.0),
            conditions: vec![Condition::dirichlet(exact.clone()); 4],
            exact: Some(exact),
        };
        let settings = crate::finite_element::Settings::new([6, 3]);
        let solution = crate::finite_element::solve(&problem, [0.0, 2.0], [1.0, 2.0], &settings).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.vtu");
        write_finite_elements(&path, &solution, &problem).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(r#"NumberOfPoints="28" NumberOfCells="18""#) && !text.contains("residual"));
        let [points, u, gradient, flux, error] =
            ["points", "u", "gradient", "flux", "error"].map(|name| read(&text, name));
        assert!(u.len() == 28 && u.iter().zip(solution.nodal()).all(|(a, b)| (a - b).abs() < 1e-14));
        for i in 0..28 {
            assert!((u[i] - points[3 * i] + 2.0 * points[3 * i + 1]).abs() < 1e-8 && error[i].abs() < 1e-8);
            assert!((gradient[3 * i] - 1.0).abs() < 1e-7 && (gradient[3 * i + 1] + 2.0).abs() < 1e-7);
            assert!(flux[3 * i].abs() < 1e-6 && (flux[3 * i + 1] + 5.0).abs() < 1e-6);
        }
    }

    #[test]
    fn without_a_problem_there_are_values_and_gradients() {
        let problem = Problem {
            equation: Equation::Plate { rigidity: constant(2.0) },
            source: constant(0.0),
            conditions: vec![Condition::simply_supported(function(|x, y| x * y), constant(0.0)); 4],
            exact: None,
        };
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
