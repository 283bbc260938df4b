//! The files of `ddelm solve --out`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ddelm::finite_element::FiniteElementSolution;
use ddelm::npz::{self, Array};
use ddelm::problem::Problem;
use ddelm::report::Report;
use ddelm::solution::{Gradients, Solution};
use ddelm::{Error, atomic, save, vtk};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::picture::{self, HeatMap};
use crate::saved::SOLUTION;
use crate::view::{Field, View, estimate_map, finite_element_map};

/// What the files report.
type Result<T, E = Error> = std::result::Result<T, E>;

/// Points along the longer side of the grid in `grid.npz`.
const GRID: usize = 201;

/// What to write, and where.
#[derive(Debug, Clone, clap::Args)]
pub struct OutputArguments {
    /// Write the solution, the report, pictures and data into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to write [default: everything]
    #[arg(long, value_name = "KIND", value_delimiter = ',', requires = "out")]
    pub write: Vec<Kind>,
    /// Write into a directory that is not empty, over files of the same names
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// A kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// solution.safetensors: the networks, for `ddelm eval`, `plot` and `info`, NumPy and PyTorch
    Solution,
    /// report.json: what `--json` prints
    Report,
    /// u.png, u.svg, and pictures of the error or of its estimate
    Picture,
    /// solution.vtu, from several ranks solution.pvtu: for ParaView
    Vtk,
    /// grid.npz: x, y, u, ux and uy on a uniform grid, for NumPy
    Grid,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Solution, Kind::Report, Kind::Picture, Kind::Vtk, Kind::Grid];
}

/// What a solve found.
pub enum Found<'a> {
    /// Networks.
    Networks(&'a Solution),
    /// Values at the nodes of a grid.
    FiniteElements(&'a FiniteElementSolution, &'a Report),
}

impl Found<'_> {
    fn report(&self) -> &Report {
        match self {
            Found::Networks(solution) => &solution.report,
            Found::FiniteElements(_, report) => report,
        }
    }

    fn bounding_box(&self) -> [f64; 4] {
        match self {
            Found::Networks(solution) => solution.decomposition.bounding_box(),
            Found::FiniteElements(solution, _) => solution.bounding_box(),
        }
    }

    fn gradients(&self, x: &[f64], y: &[f64]) -> Gradients {
        match self {
            Found::Networks(solution) => solution.gradients(x, y),
            Found::FiniteElements(solution, _) => {
                let [mut u, mut ux, mut uy] = [(); 3].map(|()| vec![0.0; x.len()]);
                solution.values(x, y, &mut u);
                solution.gradients(x, y, &mut ux, &mut uy);
                Gradients { u, ux, uy }
            }
        }
    }
}

impl OutputArguments {
    /// Refuses a directory that holds something, before anything is computed.
    pub fn check(&self) -> Result<()> {
        let Some(directory) = &self.out else { return Ok(()) };
        let refuse = |problem: &str, hint: &str| {
            let value = directory.display().to_string();
            Err(Error::Input { key: "--out".into(), value, problem: problem.into(), hint: hint.into() })
        };
        match fs::read_dir(directory).map(|mut entries| entries.next().is_none()) {
            Ok(false) if !self.force => {
                refuse("the directory is not empty", "choose another, or write over its files with --force")
            }
            Err(_) if directory.exists() => refuse("this is not a directory", "give the name of a directory"),
            _ => Ok(()),
        }
    }

    /// Whether no kind was chosen.
    pub fn writes_everything(&self) -> bool {
        self.out.is_some() && self.write.is_empty()
    }

    /// Refuses to save the networks of a method that has none, where somebody asks for them.
    pub fn check_without_networks(&self) -> Result<()> {
        if self.write.contains(&Kind::Solution) {
            return Err(Error::Input {
                key: "--write".into(),
                value: "solution".into(),
                problem: "finite elements have no networks to save".into(),
                hint: "choose among report, picture, vtk and grid".into(),
            });
        }
        Ok(())
    }

    /// Writes what was asked for, and returns the files. All ranks call this; but for VTK the first one writes.
    pub fn write(
        &self,
        machine: &Machine,
        found: &Found,
        problem: &Problem,
        text: &str,
    ) -> Result<Vec<PathBuf>, Failure> {
        let Some(directory) = &self.out else { return Ok(Vec::new()) };
        machine.alone(|| Ok(make(directory)?))?;
        let mut files = Files { directory, written: Vec::new() };
        for kind in Kind::ALL.into_iter().filter(|kind| self.write.is_empty() || self.write.contains(kind)) {
            match found {
                Found::Networks(solution) if kind == Kind::Vtk && machine.0.size() > 1 => {
                    files.pieces(machine, solution, problem)?;
                }
                _ => drop(machine.alone(|| Ok(files.write(kind, found, problem, text)?))?),
            }
        }
        Ok(files.written)
    }
}

fn make(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(|error| Error::Write {
        path: directory.into(),
        problem: format!("cannot make the directory: {error}"),
        hint: "check the path and its permissions".into(),
    })
}

/// Cells per side of a subdomain in VTK files.
fn cells(solution: &Solution) -> usize {
    solution.report.points.clamp(4, 32)
}

/// A directory, and what was written to it.
struct Files<'a> {
    directory: &'a Path,
    written: Vec<PathBuf>,
}

impl Files<'_> {
    fn write(&mut self, kind: Kind, found: &Found, problem: &Problem, text: &str) -> Result<()> {
        match (kind, found) {
            (Kind::Solution, Found::Networks(solution)) => save::write(self.file(SOLUTION), solution, Some(text)),
            (Kind::Solution, Found::FiniteElements(..)) => Ok(()),
            (Kind::Report, _) => {
                let report = serde_json::to_string_pretty(found.report()).unwrap_or_default();
                atomic::write(self.file("report.json"), |file| writeln!(file, "{report}"))
            }
            (Kind::Picture, _) => self.pictures(found, problem),
            (Kind::Vtk, Found::Networks(solution)) => {
                vtk::write(self.file("solution.vtu"), solution, Some(problem), cells(solution))
            }
            (Kind::Vtk, Found::FiniteElements(solution, _)) => {
                vtk::write_finite_elements(self.file("solution.vtu"), solution, problem)
            }
            (Kind::Grid, _) => npz::write(self.file("grid.npz"), &grid(found)),
        }
    }

    /// The VTK files of a solution that several ranks hold.
    fn pieces(&mut self, machine: &Machine, solution: &Solution, problem: &Problem) -> Result<()> {
        let path = self.directory.join("solution.pvtu");
        let files = vtk::write_pieces(machine.0.as_ref(), path, solution, Some(problem), cells(solution))?;
        self.written.extend(files);
        Ok(())
    }

    /// The path of a file that will be written.
    fn file(&mut self, name: &str) -> PathBuf {
        let path = self.directory.join(name);
        self.written.push(path.clone());
        path
    }

    fn pictures(&mut self, found: &Found, problem: &Problem) -> Result<()> {
        let map = |field| match found {
            Found::Networks(solution) => View { solution, problem: Some(problem) }.heat_map(field, false),
            Found::FiniteElements(solution, _) => finite_element_map(solution, problem, field),
        };
        self.picture("u", &map(Field::U)?)?;
        match (found, &found.report().estimate) {
            _ if problem.exact.is_some() => self.picture("error", &map(Field::Error)?),
            (Found::Networks(solution), Some(estimate)) => {
                self.picture("estimate", &estimate_map(solution, &estimate.subdomains))
            }
            _ => Ok(()),
        }
    }

    fn picture(&mut self, name: &str, map: &HeatMap) -> Result<()> {
        let scene = map.scene();
        picture::write(&self.file(&format!("{name}.png")), &scene)?;
        picture::write(&self.file(&format!("{name}.svg")), &scene)
    }
}

/// u and its gradient on a uniform grid: `u[j, i]` at `(x[i], y[j])`.
fn grid(found: &Found) -> Vec<(&'static str, Array)> {
    let [x0, x1, y0, y1] = found.bounding_box();
    let longest = (x1 - x0).max(y1 - y0);
    let line = |a: f64, b: f64| -> Vec<f64> {
        let steps = (((GRID - 1) as f64 * (b - a) / longest).round() as usize).max(1);
        // The last point is the end to the last bit.
        (0..=steps).map(|k| if k == steps { b } else { a + (b - a) * k as f64 / steps as f64 }).collect()
    };
    let (x, y) = (line(x0, x1), line(y0, y1));
    let (all_x, all_y): (Vec<f64>, Vec<f64>) = y.iter().flat_map(|&y| x.iter().map(move |&x| (x, y))).unzip();
    let values = found.gradients(&all_x, &all_y);
    let shape = vec![y.len(), x.len()];
    let table = |data| Array { shape: shape.clone(), data };
    vec![
        ("u", table(values.u)),
        ("ux", table(values.ux)),
        ("uy", table(values.uy)),
        ("x", Array::vector(x)),
        ("y", Array::vector(y)),
    ]
}
