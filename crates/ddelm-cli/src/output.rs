//! The files of `ddelm solve --out`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ddelm::base::atomic;
use ddelm::base::npz::{self, Array};
use ddelm::domain::division::Count;
use ddelm::solution::{Gradients, save, vtk};
use ddelm::{Error, Problem, Report, Solution};
use ddelm_fem::FiniteElementSolution;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::report_page::Page;
use crate::saved::SOLUTION;
use crate::series::numbered;
use crate::view::{Field, View, estimate_map, finite_element_map};
use ddelm_picture::{self as picture, HeatMap};

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
    /// report.html: equation, pictures, figures, warnings and the problem file on one page
    Page,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::Solution, Kind::Report, Kind::Picture, Kind::Vtk, Kind::Grid, Kind::Page];
}

/// What was to be done.
pub struct Task<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its file, with overrides.
    pub text: &'a str,
    /// How the program was called.
    pub command: &'a str,
    /// The number of subdomains or cells.
    pub count: Count,
    /// The names of the parts of the boundary.
    pub parts: &'a [String],
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
    /// Refuses a directory that holds something, or that cannot be written to, before anything is computed.
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
            _ => try_directory(directory),
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
                hint: "choose among report, picture, vtk, grid and page".into(),
            });
        }
        Ok(())
    }

    /// Writes what was asked for, and returns the files. All ranks call this; but for VTK the first one writes.
    pub fn write(&self, machine: &Machine, found: &Found, task: &Task) -> Result<Vec<PathBuf>, Failure> {
        let Some(directory) = &self.out else { return Ok(Vec::new()) };
        machine.alone(|| Ok(make(directory)?))?;
        let mut files = Files::new(directory);
        for kind in Kind::ALL.into_iter().filter(|kind| self.write.is_empty() || self.write.contains(kind)) {
            match found {
                Found::Networks(solution) if kind == Kind::Vtk && machine.0.size() > 1 => {
                    files.pieces(machine, solution, task.problem)?;
                }
                _ => drop(machine.alone(|| Ok(files.write(kind, found, task)?))?),
            }
        }
        Ok(files.written)
    }

    /// Whether no file is asked for.
    pub fn writes_nothing(&self) -> bool {
        self.out.is_none()
    }

    /// Writes several solutions, with numbers in their names from 1 on; one alone has none. The report is that of the last.
    pub fn write_all(&self, members: &[Member]) -> Result<Vec<PathBuf>, Failure> {
        let Some(directory) = &self.out else { return Ok(Vec::new()) };
        make(directory)?;
        let mut files = Files::new(directory);
        let wanted = |kind: Kind| self.write.is_empty() || self.write.contains(&kind);
        for (k, member) in members.iter().enumerate() {
            files.number = if members.len() > 1 { Some(k + 1) } else { None };
            for kind in Kind::ALL.into_iter().filter(|&kind| wanted(kind)) {
                files.write_member(kind, member)?;
            }
        }
        files.number = None;
        if let Some(report) = members.last().map(|member| &member.solution.report).filter(|_| wanted(Kind::Report)) {
            files.report(report)?;
        }
        let times: Vec<f64> = members.iter().filter_map(|member| member.time).collect();
        if times.len() > 1 && wanted(Kind::Vtk) {
            let named = |(k, &t): (usize, &f64)| (t, numbered("solution.vtu", k + 1));
            let series: Vec<(f64, String)> = times.iter().enumerate().map(named).collect();
            vtk::write_series(files.file("solution.pvd"), &series)?;
        }
        Ok(files.written)
    }
}

/// One of several solutions: an eigenfunction, or the solution at a time.
pub struct Member<'a> {
    /// The solution.
    pub solution: &'a Solution,
    /// The time, where there is one.
    pub time: Option<f64>,
    /// The problem at that time, where it has an exact solution.
    pub problem: Option<Problem>,
}

/// Makes the directory and a file in it, and takes both away again.
fn try_directory(directory: &Path) -> Result<()> {
    let missing: Vec<&Path> =
        directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    let tried = make(directory).and_then(|()| atomic::check(directory.join("report.json")));
    for path in missing {
        // One that somebody else has put something into stays.
        let _ = fs::remove_dir(path);
    }
    tried
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
    /// The number in the names, of one of several.
    number: Option<usize>,
    written: Vec<PathBuf>,
}

impl<'a> Files<'a> {
    fn new(directory: &'a Path) -> Self {
        Files { directory, number: None, written: Vec::new() }
    }

    fn report(&mut self, report: &Report) -> Result<()> {
        let text = serde_json::to_string_pretty(report).expect("it is made of words and numbers");
        atomic::write(self.file("report.json"), |file| writeln!(file, "{text}"))
    }

    /// Writes one of several solutions. A problem file does not say which time or eigenvalue a solution belongs to, so that
    /// residuals of it would mean nothing: solutions are saved without it.
    fn write_member(&mut self, kind: Kind, member: &Member) -> Result<()> {
        let solution = member.solution;
        match kind {
            Kind::Solution => save::write(self.file(SOLUTION), solution, None),
            // One report for all of them, and no page.
            Kind::Report | Kind::Page => Ok(()),
            Kind::Picture => {
                let view = View { solution, problem: member.problem.as_ref() };
                self.picture("u", &view.heat_map(Field::U, false)?)?;
                match member.problem {
                    Some(_) => self.picture("error", &view.heat_map(Field::Error, false)?),
                    None => Ok(()),
                }
            }
            Kind::Vtk => vtk::write(self.file("solution.vtu"), solution, None, cells(solution)),
            Kind::Grid => npz::write(self.file("grid.npz"), &grid(&Found::Networks(solution))),
        }
    }

    fn write(&mut self, kind: Kind, found: &Found, task: &Task) -> Result<()> {
        let problem = task.problem;
        match (kind, found) {
            (Kind::Solution, Found::Networks(solution)) => save::write(self.file(SOLUTION), solution, Some(task.text)),
            (Kind::Solution, Found::FiniteElements(..)) => Ok(()),
            (Kind::Report, _) => self.report(found.report()),
            (Kind::Picture, _) => self.pictures(found, problem),
            (Kind::Vtk, Found::Networks(solution)) => {
                vtk::write(self.file("solution.vtu"), solution, Some(problem), cells(solution))
            }
            (Kind::Vtk, Found::FiniteElements(solution, _)) => {
                ddelm_fem::vtk::write(self.file("solution.vtu"), solution, problem)
            }
            (Kind::Grid, _) => npz::write(self.file("grid.npz"), &grid(found)),
            (Kind::Page, _) => {
                let pictures = pictures(found, problem)?.iter().map(|(name, map)| (*name, map.scene())).collect();
                let (report, text, command) = (found.report(), task.text, task.command);
                let (count, parts) = (task.count, task.parts);
                let page = Page { problem, parts, report, count, text, command, pictures };
                let html = page.html().map_err(|problem| Error::Compute {
                    stage: "report.html",
                    problem,
                    hint: String::new(),
                })?;
                atomic::write(self.file("report.html"), |file| file.write_all(html.as_bytes()))
            }
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
        let name = self.number.map_or_else(|| name.to_string(), |number| numbered(name, number));
        let path = self.directory.join(name);
        self.written.push(path.clone());
        path
    }

    fn pictures(&mut self, found: &Found, problem: &Problem) -> Result<()> {
        pictures(found, problem)?.iter().try_for_each(|(name, map)| self.picture(name, map))
    }

    fn picture(&mut self, name: &str, map: &HeatMap) -> Result<()> {
        let scene = map.scene();
        picture::write(&self.file(&format!("{name}.png")), &scene)?;
        picture::write(&self.file(&format!("{name}.svg")), &scene)
    }
}

/// The pictures of a solution by their names: u, and the error where it is known, else its estimate.
fn pictures(found: &Found, problem: &Problem) -> Result<Vec<(&'static str, HeatMap)>> {
    let map = |field| match found {
        Found::Networks(solution) => View { solution, problem: Some(problem) }.heat_map(field, false),
        Found::FiniteElements(solution, _) => finite_element_map(solution, problem, field),
    };
    let mut pictures = vec![("u", map(Field::U)?)];
    match (found, &found.report().estimate) {
        _ if problem.exact.is_some() => pictures.push(("error", map(Field::Error)?)),
        (Found::Networks(solution), Some(estimate)) => {
            pictures.push(("estimate", estimate_map(solution, &estimate.subdomains)));
        }
        _ => {}
    }
    Ok(pictures)
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
