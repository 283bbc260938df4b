//! The files of `ddelm solve --out`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ddelm::npz::{self, Array};
use ddelm::problem::Problem;
use ddelm::solution::Solution;
use ddelm::{Error, atomic, save, vtk};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::picture::{self, HeatMap};
use crate::view::{Field, View, estimate_map};

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
    /// What to write
    #[arg(long, value_name = "KIND", value_delimiter = ',', requires = "out",
          default_values_t = [Kind::Solution, Kind::Report, Kind::Picture, Kind::Vtk, Kind::Grid])]
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

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Solution => "solution",
            Kind::Report => "report",
            Kind::Picture => "picture",
            Kind::Vtk => "vtk",
            Kind::Grid => "grid",
        })
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

    /// Refuses any output, for a reason.
    pub fn refuse(&self, reason: &str) -> Result<()> {
        match &self.out {
            None => Ok(()),
            Some(directory) => Err(Error::Input {
                key: "--out".into(),
                value: directory.display().to_string(),
                problem: reason.into(),
                hint: "leave --out away; --json prints the report".into(),
            }),
        }
    }

    /// Writes what was asked for, and returns the files. All ranks call this; but for VTK the first one writes.
    pub fn write(
        &self,
        machine: &Machine,
        solution: &Solution,
        problem: &Problem,
        text: &str,
    ) -> Result<Vec<PathBuf>, Failure> {
        let Some(directory) = &self.out else { return Ok(Vec::new()) };
        machine.alone(|| Ok(make(directory)?))?;
        let mut files = Files { directory, written: Vec::new() };
        for kind in [Kind::Solution, Kind::Report, Kind::Picture, Kind::Vtk, Kind::Grid] {
            match self.write.contains(&kind) {
                true if kind == Kind::Vtk && machine.0.size() > 1 => files.pieces(machine, solution, problem)?,
                true => drop(machine.alone(|| Ok(files.write(kind, solution, problem, text)?))?),
                false => {}
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
    fn write(&mut self, kind: Kind, solution: &Solution, problem: &Problem, text: &str) -> Result<()> {
        match kind {
            Kind::Solution => save::write(self.file("solution.safetensors"), solution, Some(text)),
            Kind::Report => {
                let report = serde_json::to_string_pretty(&solution.report).unwrap_or_default();
                atomic::write(self.file("report.json"), |file| writeln!(file, "{report}"))
            }
            Kind::Picture => self.pictures(solution, problem),
            Kind::Vtk => vtk::write(self.file("solution.vtu"), solution, Some(problem), cells(solution)),
            Kind::Grid => npz::write(self.file("grid.npz"), &grid(solution)),
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

    fn pictures(&mut self, solution: &Solution, problem: &Problem) -> Result<()> {
        let view = View { solution, problem: Some(problem) };
        self.picture("u", &view.heat_map(Field::U, false)?)?;
        if problem.exact.is_some() {
            self.picture("error", &view.heat_map(Field::Error, false)?)?;
        } else if let Some(estimate) = &solution.report.estimate {
            self.picture("estimate", &estimate_map(solution, &estimate.subdomains))?;
        }
        Ok(())
    }

    fn picture(&mut self, name: &str, map: &HeatMap) -> Result<()> {
        let scene = map.scene();
        picture::write(&self.file(&format!("{name}.png")), &scene)?;
        picture::write(&self.file(&format!("{name}.svg")), &scene)
    }
}

/// u and its gradient on a uniform grid: `u[j, i]` at `(x[i], y[j])`.
fn grid(solution: &Solution) -> Vec<(&'static str, Array)> {
    let [x0, x1, y0, y1] = solution.decomposition.bounding_box();
    let longest = (x1 - x0).max(y1 - y0);
    let line = |a: f64, b: f64| -> Vec<f64> {
        let steps = (((GRID - 1) as f64 * (b - a) / longest).round() as usize).max(1);
        // The last point is the end to the last bit.
        (0..=steps).map(|k| if k == steps { b } else { a + (b - a) * k as f64 / steps as f64 }).collect()
    };
    let (x, y) = (line(x0, x1), line(y0, y1));
    let (all_x, all_y): (Vec<f64>, Vec<f64>) = y.iter().flat_map(|&y| x.iter().map(move |&x| (x, y))).unzip();
    let found = solution.gradients(&all_x, &all_y);
    let shape = vec![y.len(), x.len()];
    let table = |data| Array { shape: shape.clone(), data };
    vec![
        ("u", table(found.u)),
        ("ux", table(found.ux)),
        ("uy", table(found.uy)),
        ("x", Array::vector(x)),
        ("y", Array::vector(y)),
    ]
}
