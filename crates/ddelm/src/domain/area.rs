//! The domain as a user gives it, before it is cut into subdomains: a rectangle, an outline with holes and regions, or a
//! mesh.
//!
//! A domain knows the names of the parts of its boundary and of its regions, which sides are the same up to a shift
//! (periodic), and how to become a [`Decomposition`]:
//!
//! ```
//! use ddelm::domain::area::{Cut, Domain};
//!
//! let square = Domain::rectangle([0.0, 1.0], [0.0, 1.0])?;
//! assert_eq!(square.parts(), ["left", "right", "bottom", "top"]);
//! assert_eq!(square.decompose(&Cut::Counts([4, 2]))?.len(), 8);
//! assert_eq!(square.decompose(&Cut::Size(0.5))?.len(), 4);
//! # Ok::<(), ddelm::Error>(())
//! ```
//!
//! A side that is periodic is no part: it has no condition, and what leaves the domain through it comes in through the other
//! one. So a problem has as many conditions as its domain has parts, and none where it is periodic in both directions.

use std::fmt;
use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::base::number::brief;
use crate::domain::decomposition::{Decomposition, MOST_SUBDOMAINS};
use crate::domain::map::{Affine, MapRef, Point};
use crate::problem::model::SIDES;

use super::divided::DividedRectangle;
use super::mesh::{Mesh, MeshSettings};
use super::outline::{NamedLoop, Outline};
use super::plane::{Rectangle, distance, segment_distance, subtract};

/// Intervals in which a smooth piece of the boundary is sampled.
const STEPS: usize = 64;

/// How far two periodic sides may be from each other after the shift, as a part of their size: curves are compared as
/// polygons here, and exactly where they are glued.
const SAME_SIDE: f64 = 1e-4;

/// Subdomains across the shorter side of a rectangle, where nothing else is asked for.
const USUAL_COUNT: f64 = 4.0;

/// Into how many subdomains a domain is cut.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Cut {
    /// As the domain suggests: a quarter of its shorter side, smaller where its outline asks for it; a mesh as it is.
    #[default]
    Default,
    /// So many in x and in y; rectangles only.
    Counts([usize; 2]),
    /// Subdomains about this large.
    Size(f64),
}

impl Cut {
    /// One subdomain; rectangles only.
    pub const WHOLE: Cut = Cut::Counts([1, 1]);
}

/// A domain.
#[derive(Debug, Clone)]
pub struct Domain {
    extent: Extent,
    /// The names of all pieces of the boundary.
    sides: Vec<String>,
    /// Those that are not periodic.
    parts: Vec<String>,
    regions: Vec<String>,
    /// Pairs of sides.
    periodic: Vec<(usize, usize)>,
}

/// What the domain was given as.
#[derive(Debug, Clone)]
enum Extent {
    Rectangle(DividedRectangle),
    Outline(Arc<Outline>),
    Mesh(Arc<Mesh>),
}

impl Domain {
    /// The rectangle `x[0] < x < x[1]`, `y[0] < y < y[1]`. The parts of its boundary are left, right, bottom, top.
    pub fn rectangle(x: [f64; 2], y: [f64; 2]) -> Result<Self> {
        // The ends are checked there.
        Decomposition::rectangle(x, y, [1, 1])?;
        Ok(Self::new(Extent::Rectangle(DividedRectangle::new(x, y)), SIDES.map(String::from).to_vec(), Vec::new()))
    }

    /// The domain inside an outline.
    pub fn outline(outline: Outline) -> Self {
        let (sides, regions) = (outline.names().to_vec(), outline.regions().to_vec());
        Self::new(Extent::Outline(Arc::new(outline)), sides, regions)
    }

    /// The union of the elements of a mesh, which are the subdomains.
    pub fn mesh(mesh: Mesh) -> Self {
        let (sides, regions) = (mesh.names.clone(), mesh.regions.clone());
        Self::new(Extent::Mesh(Arc::new(mesh)), sides, regions)
    }

    fn new(extent: Extent, sides: Vec<String>, regions: Vec<String>) -> Self {
        Domain { extent, parts: sides.clone(), sides, regions, periodic: Vec::new() }
    }

    /// A rectangle with a part of a side, from and to a coordinate along it, that has a name and a condition of its own. The
    /// `key` is the setting that errors name. Sides are divided before they are periodic.
    pub fn with_side_part(mut self, key: &str, side: usize, name: &str, interval: [f64; 2]) -> Result<Self> {
        let Extent::Rectangle(rectangle) = &mut self.extent else {
            let hint = "end a piece of the outline there, and give the next one another name";
            return Err(Error::input(key, name, "only the sides of a rectangle have parts", hint));
        };
        rectangle.divide(key, side, name, interval)?;
        self.sides = rectangle.names();
        self.parts = self.sides.clone();
        Ok(self)
    }

    /// A rectangle with holes and regions, which is an outline.
    pub fn with_holes_and_regions(self, holes: Vec<NamedLoop>, regions: Vec<NamedLoop>) -> Result<Self> {
        let Extent::Rectangle(rectangle) = &self.extent else {
            let hint = "give them to the outline";
            return Err(Error::input("domain", &self, "holes and regions are added to rectangles", hint));
        };
        Ok(Self::outline(Outline::new(rectangle.polygon("domain")?, holes, regions)?))
    }

    /// The same rectangle cut into regions, with the numbers that the sides have.
    pub(super) fn with_cells(&self, cells: Vec<NamedLoop>) -> Result<Self> {
        let Domain { sides, parts, .. } = self.clone();
        Ok(Domain { sides, parts, ..self.clone().with_holes_and_regions(Vec::new(), cells)? })
    }

    /// The domain with pairs of sides, as numbers of [`Domain::sides`], that are the same up to a shift: the solution goes on
    /// through one of them as it comes in through the other.
    pub fn periodic(mut self, pairs: &[(usize, usize)]) -> Result<Self> {
        let mut used = Vec::new();
        for &(a, b) in pairs {
            let Some(name) = (a < self.sides.len() && b < self.sides.len()).then(|| self.pair_name(a, b)) else {
                let problem = format!("there are {} sides", self.sides.len());
                return Err(Error::input("boundary.periodic", format!("{a}, {b}"), problem, "count from 0"));
            };
            let refuse = |problem: String, hint: &str| Err(Error::input("boundary.periodic", &name, problem, hint));
            if a == b || used.contains(&a) || used.contains(&b) {
                return refuse("a side is periodic with one other".into(), "name every side once");
            }
            used.extend([a, b]);
            if let Extent::Rectangle(rectangle) = &self.extent
                && !rectangle.is_whole()
            {
                return refuse("a side that is divided is not periodic".into(), "leave its parts out");
            }
            if let Some((p, away)) = self.mismatch(a, b) {
                let problem = format!(
                    "the sides are not the same up to a shift: at ({}, {}) the first is {} away from the second",
                    p[0],
                    p[1],
                    brief(away, 4)
                );
                return refuse(problem, "periodic sides have the same shape, size and direction");
            }
        }
        self.periodic = pairs.to_vec();
        let free = |(k, _): &(usize, &String)| !used.contains(k);
        self.parts = self.sides.iter().enumerate().filter(free).map(|(_, name)| name.clone()).collect();
        Ok(self)
    }

    /// The names of the parts of the boundary: a problem has one condition for each of them, in this order.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The names of all sides, periodic or not.
    pub fn sides(&self) -> &[String] {
        &self.sides
    }

    /// The names of the regions. What lies in none of them has no name.
    pub fn regions(&self) -> &[String] {
        &self.regions
    }

    /// The pairs of periodic sides, by name.
    pub fn periodic_sides(&self) -> Vec<[&str; 2]> {
        self.periodic.iter().map(|&(a, b)| [self.sides[a].as_str(), self.sides[b].as_str()]).collect()
    }

    /// The smallest box that holds the domain: `[x0, x1, y0, y1]`; of a curved one, to about a thousandth.
    pub fn bounding_box(&self) -> [f64; 4] {
        let Rectangle { low, high } = match &self.extent {
            Extent::Rectangle(r) => return [r.x[0], r.x[1], r.y[0], r.y[1]],
            Extent::Outline(outline) => outline.bounding_box(),
            Extent::Mesh(_) => Rectangle::around((0..self.sides.len()).flat_map(|side| self.boundary(side)).flatten()),
        };
        [low[0], high[0], low[1], high[1]]
    }

    /// The ends in x and y, if the domain is a rectangle, whatever its conditions.
    pub(super) fn as_rectangle(&self) -> Option<([f64; 2], [f64; 2])> {
        match &self.extent {
            Extent::Rectangle(rectangle) => Some((rectangle.x, rectangle.y)),
            _ => None,
        }
    }

    /// The ends in x and y for whoever knows nothing but rectangles with one condition on every side; `who` cannot do with
    /// anything else.
    pub fn plain_rectangle(&self, who: &str) -> Result<([f64; 2], [f64; 2])> {
        let refuse = |problem: String| {
            Err(Error::input("domain", self, problem, "use method = \"schur\", which knows every domain"))
        };
        match &self.extent {
            Extent::Rectangle(_) if !self.periodic.is_empty() => refuse(format!("{who} have no periodic sides")),
            Extent::Rectangle(r) if !r.is_whole() => refuse(format!("{who} have one condition on every side")),
            Extent::Rectangle(r) => Ok((r.x, r.y)),
            _ => refuse(format!("{who} need a rectangle")),
        }
    }

    /// The subdomains in x and y that a rectangle is cut into; more where its sides are divided. `None` if it is none.
    pub(super) fn counts(&self, cut: &Cut) -> Option<[usize; 2]> {
        let (x, y) = self.as_rectangle()?;
        let [w, h] = [x[1] - x[0], y[1] - y[0]];
        let by_size = |size: f64| [w, h].map(|side| (side / size - 1e-9).ceil().max(1.0) as usize);
        Some(match *cut {
            Cut::Counts(counts) => counts,
            Cut::Size(size) => by_size(size),
            Cut::Default => by_size(w.min(h) / USUAL_COUNT),
        })
    }

    /// Refuses a cut that does not belong to the domain.
    pub fn check_cut(&self, cut: &Cut) -> Result<()> {
        if let Cut::Size(size) = *cut
            && !(size > 0.0 && size.is_finite())
        {
            let problem = "the size of a subdomain is a positive number";
            return Err(Error::input("discretization.size", size, problem, "leave it out for a size from the domain"));
        }
        if let Some(counts) = self.counts(cut) {
            let key = if matches!(cut, Cut::Size(_)) { "discretization.size" } else { "discretization.subdomains" };
            check_counts(key, counts)?;
        }
        match (&self.extent, *cut) {
            (Extent::Outline(_) | Extent::Mesh(_), Cut::Counts([nx, ny])) => Err(Error::input(
                "discretization.subdomains",
                format!("[{nx}, {ny}]"),
                "only a rectangle is cut into rows and columns",
                "give size, the largest side of a subdomain, or leave it out",
            )),
            (Extent::Mesh(_), Cut::Size(size)) => Err(Error::input(
                "discretization.size",
                size,
                "the elements of a mesh are the subdomains, as large as they are",
                "leave it out, or make another mesh",
            )),
            _ => Ok(()),
        }
    }

    /// Cuts the domain into subdomains. The parts of the boundary have the numbers of [`Domain::parts`].
    pub fn decompose(&self, cut: &Cut) -> Result<Decomposition> {
        self.decompose_for(cut, false)
    }

    /// [`Domain::decompose`], where `triangles` leaves the triangles of an outline as they are: with straight sides they are affine, as an
    /// equation of fourth order needs them, while quadrilaterals need not be.
    pub fn decompose_for(&self, cut: &Cut, triangles: bool) -> Result<Decomposition> {
        self.check_cut(cut)?;
        match &self.extent {
            Extent::Rectangle(rectangle) => {
                let counts = self.counts(cut).expect("a rectangle has counts");
                if self.periodic.is_empty() && rectangle.is_whole() {
                    return Decomposition::rectangle(rectangle.x, rectangle.y, counts);
                }
                if self.periodic.is_empty() {
                    self.cut_divided(rectangle, counts)
                } else {
                    Decomposition::rectangle(rectangle.x, rectangle.y, counts)?.periodic(&self.periodic)
                }
            }
            Extent::Outline(outline) => {
                let size = if let Cut::Size(size) = *cut { Some(size) } else { None };
                let settings = MeshSettings {
                    size,
                    most: MOST_SUBDOMAINS,
                    quadrilaterals: !triangles,
                    periodic: self.periodic.clone(),
                    ..MeshSettings::default()
                };
                self.assembled(Arc::new(Mesh::of_outline(outline, &settings)?.with_names(&self.sides)))
            }
            Extent::Mesh(mesh) => self.assembled(mesh.clone()),
        }
    }

    /// A rectangle with divided sides, cut along lines through their ends.
    fn cut_divided(&self, rectangle: &DividedRectangle, counts: [usize; 2]) -> Result<Decomposition> {
        let [x, y] = rectangle.lines(counts);
        let mut maps: Vec<MapRef> = Vec::with_capacity((x.len() - 1) * (y.len() - 1));
        for i in x.windows(2) {
            for j in y.windows(2) {
                maps.push(Arc::new(Affine::rectangle([i[0], j[0]], i[1] - i[0], j[1] - j[0])));
            }
        }
        Decomposition::glued(maps, self.parts.clone(), |_, _, p| rectangle.part_at(p))
    }

    /// The decomposition whose subdomains are the elements of a mesh, glued together at periodic sides.
    fn assembled(&self, mesh: Arc<Mesh>) -> Result<Decomposition> {
        Decomposition::of_mesh(mesh)?.periodic(&self.periodic)
    }

    /// Points along a side, as a number of [`Domain::sides`]: one row of them, ends included, for every smooth piece.
    pub fn boundary(&self, side: usize) -> Vec<Vec<Point>> {
        let steps = || (0..=STEPS).map(|k| k as f64 / STEPS as f64);
        match &self.extent {
            Extent::Rectangle(rectangle) => {
                let along = |[a, b]: [f64; 2], t: f64| (1.0 - t) * a + t * b;
                let stretches = rectangle.stretches().into_iter().filter(|s| s.part == side);
                stretches.map(|s| steps().map(|t| rectangle.point(s.side, along(s.interval, t))).collect()).collect()
            }
            Extent::Outline(outline) => {
                let strands = &outline.arrangement.strands;
                let on_side = strands.iter().filter(|s| s.boundary().contains(&Some(side)));
                on_side.map(|s| steps().map(|t| s.curve.point(t)).collect()).collect()
            }
            Extent::Mesh(mesh) => {
                let mut rows = Vec::new();
                for (e, element) in mesh.elements.iter().enumerate() {
                    for k in (0..element.sides.len()).filter(|&k| element.sides[k].boundary == Some(side)) {
                        let map = mesh.map(e);
                        rows.push(steps().map(|t| map.point(element.shape.side_point(k, t))).collect());
                    }
                }
                rows
            }
        }
    }

    /// The number of a side by its name.
    pub fn side(&self, name: &str) -> Option<usize> {
        self.sides.iter().position(|side| side == name)
    }

    /// A point of the first side that is not on the second, shifted, and how far it is away.
    fn mismatch(&self, a: usize, b: usize) -> Option<(Point, f64)> {
        let [first, second] = [self.boundary(a), self.boundary(b)];
        let boxes = [&first, &second].map(|rows| Rectangle::around(rows.iter().flatten().copied()));
        let shift = subtract(boxes[1].center(), boxes[0].center());
        let size = distance(boxes[0].low, boxes[0].high).max(distance(boxes[1].low, boxes[1].high));
        let one_way = |from: &[Vec<Point>], to: &[Vec<Point>], sign: f64| {
            let segments = || to.iter().flat_map(|row| row.windows(2));
            from.iter().flatten().find_map(|&p| {
                let moved = [p[0] + sign * shift[0], p[1] + sign * shift[1]];
                let away = segments().map(|s| segment_distance(moved, s[0], s[1])).fold(f64::INFINITY, f64::min);
                (away > SAME_SIDE * size || away.is_nan()).then_some((p, away))
            })
        };
        // A side within the other is not the same.
        one_way(&first, &second, 1.0).or_else(|| one_way(&second, &first, -1.0))
    }

    fn pair_name(&self, a: usize, b: usize) -> String {
        format!("[\"{}\", \"{}\"]", self.sides[a], self.sides[b])
    }
}

/// A number with four digits of a size, and no zeros that say nothing.
fn four_digits(value: f64, size: f64) -> String {
    let decimals = (3.0 - size.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// The domain in a few words.
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x0, x1, y0, y1] = self.bounding_box();
        let about = || {
            let [x0, x1, y0, y1] = self.bounding_box().map(|end| four_digits(end, (x1 - x0).max(y1 - y0)));
            format!("{x0} < x < {x1}, {y0} < y < {y1}")
        };
        match &self.extent {
            Extent::Rectangle(_) => write!(f, "{x0} < x < {x1}, {y0} < y < {y1}"),
            Extent::Outline(_) => write!(f, "an outline within {}", about()),
            Extent::Mesh(mesh) => write!(f, "a mesh of {} elements within {}", mesh.elements.len(), about()),
        }
    }
}

/// Refuses counts that cut into nothing, or into too much.
fn check_counts(key: &str, [nx, ny]: [usize; 2]) -> Result<()> {
    let refuse = |problem: String, hint: &str| Err(Error::input(key, format!("[{nx}, {ny}]"), problem, hint));
    match nx.saturating_mul(ny) {
        0 => refuse("there must be at least one subdomain in each direction".into(), "for example [4, 4]"),
        count if count > MOST_SUBDOMAINS => {
            refuse(format!("there can be at most {MOST_SUBDOMAINS} subdomains"), "use more points")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "area_tests.rs"]
mod tests;
