//! Fields of a solution as pictures.

use std::str::FromStr;

use ddelm::domain::borders::{Borders, perimeter};
use ddelm::domain::map::Point;
use ddelm::problem::field::Samples;
use ddelm::{Decomposition, Error, Problem, Result, Solution};
use ddelm_fem::FiniteElementSolution;

use ddelm_picture::{Axis, Grid, HeatMap, LinePlot, Named, Plan, Series, Style, heat_map, scale, shape};

/// Points along the longer side of a heat map: about as many as a picture has pixels.
const RESOLUTION: usize = 400;
/// Points along a slice.
const SLICE: usize = 801;

/// What to show of a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Field {
    /// The solution
    U,
    /// Its derivative in x
    Ux,
    /// Its derivative in y
    Uy,
    /// The size of the flux a grad u (of grad Laplacian u for a plate)
    Flux,
    /// The size of the residual L u - f
    Residual,
    /// The distance to the exact solution
    Error,
}

impl Field {
    /// The field's name, as on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Field::U => "u",
            Field::Ux => "ux",
            Field::Uy => "uy",
            Field::Flux => "flux",
            Field::Residual => "residual",
            Field::Error => "error",
        }
    }

    /// The field's name beside an axis.
    fn label(self) -> &'static str {
        match self {
            Field::U => "u",
            Field::Ux => "\u{2202}u/\u{2202}x",
            Field::Uy => "\u{2202}u/\u{2202}y",
            Field::Flux => "|flux|",
            Field::Residual => "|residual|",
            Field::Error => "|u \u{2212} exact|",
        }
    }

    /// Whether it takes more than the solution itself.
    pub fn needs_problem(self) -> bool {
        matches!(self, Field::Flux | Field::Residual | Field::Error)
    }

    /// Whether only the order of magnitude matters.
    fn is_size(self) -> bool {
        matches!(self, Field::Residual | Field::Error)
    }
}

/// A line across the domain, parallel to an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// The coordinate that is fixed: 0 for x, 1 for y.
    pub fixed: usize,
    /// Where it is fixed.
    pub at: f64,
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || "a slice is x=NUMBER or y=NUMBER, for example x=0.5".to_owned();
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let fixed = match name.trim() {
            "x" => 0,
            "y" => 1,
            _ => return Err(wrong()),
        };
        let at = value.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(wrong)?;
        Ok(Slice { fixed, at })
    }
}

/// A solution, with its problem if that is known.
pub struct View<'a> {
    pub solution: &'a Solution,
    pub problem: Option<&'a Problem>,
}

impl View<'_> {
    /// The values of a field at points; not a number outside the domain.
    pub fn values(&self, field: Field, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        match field {
            Field::U => Ok(self.solution.values(x, y)),
            Field::Ux => Ok(self.solution.gradients(x, y).ux),
            Field::Uy => Ok(self.solution.gradients(x, y).uy),
            Field::Flux => {
                let [fx, fy] = self.solution.fluxes(self.known(field)?, x, y)?;
                Ok(fx.iter().zip(fy).map(|(x, y)| x.hypot(y)).collect())
            }
            Field::Residual => self.solution.residuals(self.known(field)?, x, y),
            Field::Error => {
                let u = self.solution.values(x, y);
                let exact = self.exact(x, y)?;
                // Outside the domain the difference is not a number, for u is not.
                Ok(u.iter().zip(exact).map(|(u, e)| u - e).collect())
            }
        }
    }

    /// The problem, or why a field cannot be shown without it.
    fn known(&self, field: Field) -> Result<&Problem> {
        self.problem.ok_or_else(|| {
            Error::input(
                "--field",
                field.name(),
                "the solution was saved without its problem",
                "u, ux and uy can be shown; for the others solve a problem file with --out",
            )
        })
    }

    fn exact(&self, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        exact_values(self.known(Field::Error)?, x, y)
    }

    /// A field over the domain.
    pub fn heat_map(&self, field: Field, contours: bool) -> Result<HeatMap> {
        let mut grid = Grid::over(self.solution.decomposition.bounding_box(), RESOLUTION);
        let (x, y) = grid.centres();
        grid.values = self.values(field, &x, &y)?;
        Ok(heat_map(&self.solution.decomposition, field.label(), field.is_size(), grid, contours))
    }

    /// A field along a line.
    pub fn slice(&self, field: Field, slice: Slice) -> Result<LinePlot> {
        let bounds = self.solution.decomposition.bounding_box();
        let (free, names) = (1 - slice.fixed, ["x", "y"]);
        let ends = [bounds[2 * free], bounds[2 * free + 1]];
        let along: Vec<f64> =
            (0..SLICE).map(|k| ends[0] + (ends[1] - ends[0]) * k as f64 / (SLICE - 1) as f64).collect();
        let fixed = vec![slice.at; SLICE];
        let (x, y) = if slice.fixed == 0 { (&fixed, &along) } else { (&along, &fixed) };
        let places: Vec<Option<usize>> =
            x.iter().zip(y).map(|(&x, &y)| self.solution.decomposition.locate([x, y]).map(|p| p.0)).collect();
        if places.iter().all(Option::is_none) {
            let line = format!("{}={}", names[slice.fixed], slice.at);
            let hint = format!("the domain is [{}, {}] x [{}, {}]", bounds[0], bounds[1], bounds[2], bounds[3]);
            return Err(Error::input("--slice", line, "the line does not meet the domain", hint));
        }
        let shown = |values: Vec<f64>| -> Vec<Point> {
            let size = |v: f64| if field.is_size() { v.abs() } else { v };
            along.iter().zip(values).map(|(&t, v)| [t, size(v)]).collect()
        };
        let mut series =
            vec![Series { name: String::new(), points: shown(self.values(field, x, y)?), style: Style::Solid }];
        if field == Field::U && self.problem.is_some_and(|p| p.exact.is_some()) {
            series[0].name = "u".into();
            series.push(Series { name: "exact".into(), points: shown(self.exact(x, y)?), style: Style::Dashed });
        }
        let between = |k: usize| (places[k] != places[k + 1]).then(|| 0.5 * (along[k] + along[k + 1]));
        Ok(LinePlot {
            title: format!("{} at {} = {}", field.label(), names[slice.fixed], slice.at),
            x: Axis::new(names[free], ends),
            y: Axis::over(field.label(), field.is_size(), series[0].points.iter().map(|p| p[1])),
            marks: (0..SLICE - 1).filter_map(between).collect(),
            series,
        })
    }
}

/// The values of the exact solution.
fn exact_values(problem: &Problem, x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
    let exact = problem.exact.as_ref().ok_or_else(|| Error::Input {
        key: "--field".into(),
        value: "error".into(),
        problem: "the problem has no exact solution".into(),
        hint: "give one in the problem file: [exact] u = \"...\", or show the residual".into(),
    })?;
    let mut values = vec![0.0; x.len()];
    exact.values(&Samples::at(x, y), &mut values).map_err(Error::callback("exact.u"))?;
    Ok(values)
}

/// A finite element solution, or its error.
pub fn finite_element_map(solution: &FiniteElementSolution, problem: &Problem, field: Field) -> Result<HeatMap> {
    let mut grid = Grid::over(solution.bounding_box(), RESOLUTION);
    let (x, y) = grid.centres();
    grid.values = vec![0.0; x.len()];
    solution.values(&x, &y, &mut grid.values);
    if field == Field::Error {
        let exact = exact_values(problem, &x, &y)?;
        grid.values.iter_mut().zip(exact).for_each(|(u, exact)| *u -= exact);
    }
    let ([cx, cy], label) = (solution.cells(), field.label());
    Ok(HeatMap {
        title: format!("{label} by finite elements on {cx} \u{d7} {cy} cells"),
        scale: scale(label, field.is_size(), &grid),
        grid,
        lines: Vec::new(),
        outline: Vec::new(),
        contours: false,
    })
}

/// A decomposition, with the names of its parts and regions.
pub fn plan(decomposition: &Decomposition) -> Plan {
    let Borders { inside, boundary, .. } = Borders::new(decomposition);
    let on = |part: Option<usize>| -> Vec<Vec<Point>> {
        boundary.iter().filter(|(here, _)| *here == part).map(|(_, line)| line.clone()).collect()
    };
    let of = |region: Option<usize>| -> Vec<Vec<Point>> {
        let here = (0..decomposition.len()).filter(|&s| decomposition.subdomains[s].region == region);
        here.map(|s| perimeter(decomposition, s)).collect()
    };
    let named = |(lines, name): (Vec<Vec<Point>>, &str)| Named { name: name.into(), lines };
    let parts = decomposition.parts.iter().enumerate().map(|(k, name)| (on(Some(k)), name.as_str()));
    let periodic = std::iter::once((on(None), "periodic"));
    let regions = decomposition.regions.iter().enumerate().map(|(k, name)| (of(Some(k)), name.as_str()));
    let plural = if decomposition.len() == 1 { "subdomain" } else { "subdomains" };
    Plan {
        title: format!("{} {plural}", shape(decomposition)),
        bounds: decomposition.bounding_box(),
        plain: of(None),
        regions: regions.map(named).collect(),
        inside,
        parts: parts.chain(periodic).filter(|(lines, _)| !lines.is_empty()).map(named).collect(),
    }
}

/// The estimated error of every subdomain.
pub fn estimate_map(solution: &Solution, estimate: &[f64]) -> HeatMap {
    let decomposition = &solution.decomposition;
    let mut grid = Grid::over(decomposition.bounding_box(), RESOLUTION);
    let (x, y) = grid.centres();
    let of = |p: Point| decomposition.locate(p).and_then(|(s, _)| estimate.get(s)).copied().unwrap_or(f64::NAN);
    grid.values = x.iter().zip(y).map(|(&x, y)| of([x, y])).collect();
    heat_map(decomposition, "estimated error", true, grid, false)
}

/// The difference of two solutions on the domain of the first.
pub fn difference_map(a: &Solution, b: &Solution) -> HeatMap {
    let mut grid = Grid::over(a.decomposition.bounding_box(), RESOLUTION);
    let (x, y) = grid.centres();
    grid.values = a.values(&x, &y).iter().zip(b.values(&x, &y)).map(|(a, b)| a - b).collect();
    heat_map(&a.decomposition, "|A \u{2212} B|", true, grid, false)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;
    use std::sync::Arc;

    use ddelm::domain::map::{MapRef, Polar};
    use ddelm::{Condition, Equation, Settings, Solver, constant, function};

    use super::*;

    /// Half a ring, in six pieces.
    fn ring() -> (Solution, Problem) {
        let sector = |k: usize| {
            let radius = [1.0 + 0.5 * (k % 2) as f64, 1.5 + 0.5 * (k % 2) as f64];
            let angle = [PI * (k / 2) as f64 / 3.0, PI * (k / 2 + 1) as f64 / 3.0];
            Arc::new(Polar { centre: [0.0; 2], radius, angle }) as MapRef
        };
        let decomposition = Decomposition::from_maps((0..6).map(sector).collect(), 1, |_| 0).unwrap();
        let problem =
            Problem::new(Equation::poisson(), constant(0.0), vec![Condition::dirichlet(function(|x, y| x * y))]);
        let settings = Settings { points: 10, ..Settings::fast() };
        let solution = Solver::new(&problem, Arc::new(decomposition), &settings).unwrap().solve().unwrap();
        (solution, problem)
    }

    #[test]
    fn a_curved_domain_has_an_outline_and_a_hole() {
        let (solution, problem) = ring();
        let view = View { solution: &solution, problem: Some(&problem) };
        let map = view.heat_map(Field::U, true).unwrap();
        assert_eq!((map.lines.len(), map.outline.len()), (7, 1));
        assert!(map.outline.iter().flatten().all(|p| p[0].hypot(p[1]) < 2.0 + 1e-9));
        let (x, y) = map.grid.centres();
        for ((x, y), u) in x.iter().zip(&y).zip(&map.grid.values) {
            let r = x.hypot(*y);
            assert_eq!(u.is_nan(), !(1.0..=2.0).contains(&r) || *y < 0.0, "({x}, {y})");
            assert!(u.is_nan() || (u - x * y).abs() < 1e-5);
        }
        assert_eq!(map.title, "u on 6 subdomains");
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str| {
            let path = folder.path().join(name);
            ddelm_picture::write(&path, &map.scene()).map(|()| std::fs::read(&path).unwrap())
        };
        assert!(written("u.png").unwrap().starts_with(b"\x89PNG") && written("u.svg").unwrap().starts_with(b"<svg"));
        assert!(written("u.jpeg").unwrap_err().is_input());
    }

    #[test]
    fn a_slice_has_a_gap_in_the_hole_and_marks_at_the_borders() {
        let (solution, problem) = ring();
        let view = View { solution: &solution, problem: Some(&problem) };
        let plot = view.slice(Field::Flux, Slice { fixed: 1, at: 0.2 }).unwrap();
        assert!(plot.series[0].points.iter().any(|p| p[1].is_nan()));
        let expected = (1.5f64 * 1.5 - 0.04).sqrt();
        assert!(plot.marks.iter().any(|m| (m - expected).abs() < 0.01), "{:?}", plot.marks);
        for p in plot.series[0].points.iter().filter(|p| !p[1].is_nan()) {
            assert!((p[1] - p[0].hypot(0.2)).abs() < 1e-3, "the flux of x y is (y, x)");
        }
        assert!(view.slice(Field::U, Slice { fixed: 0, at: 9.0 }).is_err());
    }

    #[test]
    fn fields_that_need_a_problem_say_so() {
        let (solution, problem) = ring();
        let without = View { solution: &solution, problem: None };
        for field in [Field::Flux, Field::Residual, Field::Error] {
            assert!(without.heat_map(field, false).unwrap_err().to_string().contains("without its problem"));
        }
        let with = View { solution: &solution, problem: Some(&problem) };
        assert!(with.heat_map(Field::Error, false).unwrap_err().to_string().contains("no exact solution"));
        let estimate = estimate_map(&solution, &[1e-3, 1e-4, 1e-5, 1e-6, 1e-5, 1e-4]);
        assert!((estimate.scale.axis.range[1] - 1e-3).abs() < 1e-12);
    }

    #[test]
    fn slices_are_read() {
        assert_eq!("x=0.5".parse(), Ok(Slice { fixed: 0, at: 0.5 }));
        assert_eq!(" y = -1e-3".parse(), Ok(Slice { fixed: 1, at: -1e-3 }));
        for wrong in ["x", "z=1", "x=one", "y=nan", ""] {
            assert!(wrong.parse::<Slice>().is_err(), "{wrong}");
        }
    }
}
