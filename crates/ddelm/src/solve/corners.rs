//! Which vertices of a decomposition get rings.
//!
//! Candidates are corners of the domain, ends of parts of the boundary, and points where materials meet at an angle. About each
//! of them lie sectors, one for each element, with the tensor that the element sees there; their
//! [exponents](crate::domain::exponents) say how deep rings go, and [`regularity`](crate::domain::regularity) says whether there must be any: at a right angle
//! with data that fit, the solution is smooth. A vertex in doubt gets rings, which cost a few subdomains; a missed one costs
//! digits everywhere.

mod fan;
mod plate;
mod within;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::f64::consts::PI;
use std::sync::Arc;

use self::fan::{Fan, around, boundary_curve, directions, fan};
use self::within::within;
use crate::base::error::{Error, Result};
use crate::domain::collocation::Nodes;
use crate::domain::corner::RingVertex;
use crate::domain::decomposition::{Decomposition, Subdomain};
use crate::domain::exponents::{Ends, LARGEST, Ray, Sector, exponents};
use crate::domain::map::Point;
use crate::domain::plane::{distance, norm};
use crate::domain::regularity::{Detector, Regularity};
use crate::domain::sample::Sample;
use crate::domain::vertex::{BoundarySide, Material, Vertex};
use crate::method::settings::{Corners, Method, Settings};
use crate::problem::field::{FieldRef, constant};
use crate::problem::model::{Condition, Equation, Problem};

/// Angles closer than this to a half turn are no corners: sides that follow a curve meet to that at least.
const STRAIGHT: f64 = 1e-4;

/// Coefficients that differ by more than this, relative to them, from one element to the next are those of two materials.
const SAME: f64 = 1e-9;

/// A point is a vertex if it is this close, relative to the element.
const CLOSE: f64 = 1e-6;

/// Diffusion in the strong direction over that in the weak one from which on rings are cut for it. Below it the usual stacks do, and do not
/// change with a coefficient that changes a little.
const STRETCHED: f64 = 4.0;

/// Whether a tensor prefers a direction so much that rings are cut for it.
fn is_stretched([[a, b], [c, d]]: [[f64; 2]; 2]) -> bool {
    let (mean, spread) = (0.5 * (a + d), (0.5 * (a - d)).hypot(0.5 * (b + c)));
    mean + spread > STRETCHED * (mean - spread)
}

/// Whether a decomposition may get rings, or smaller elements at the corners of a plate, which cost much and are for whoever asks.
pub fn may_have_rings(problem: &Problem, settings: &Settings) -> bool {
    match settings.corners {
        Corners::None => false,
        Corners::Auto => is_able(problem, settings) && problem.equation.order() == 2,
        Corners::All | Corners::Points(_) => true,
    }
}

/// Rings belong to the default method with its own nodes and weights, and to problems whose exponents are known before they are solved.
fn is_able(problem: &Problem, settings: &Settings) -> bool {
    is_able_once_solved(problem, settings) && !diffusion_is(problem, |field| field.depends_on().state)
}

/// The same where a solution is known. Gradients are infinite where rings end, so that nothing may depend on them.
fn is_able_once_solved(problem: &Problem, settings: &Settings) -> bool {
    settings.method == Method::Schur
        && settings.nodes() != Nodes::Uniform
        && settings.weights.is_none()
        && !problem.depends_on().slopes
}

/// Whether the diffusion, and with it every exponent, is of some kind anywhere.
fn diffusion_is(problem: &Problem, kind: impl Fn(&FieldRef) -> bool) -> bool {
    problem.equation.leading().is_some_and(|a| a.by_rows().into_iter().flatten().flatten().any(kind))
}

/// What is known of a nonlinear problem before it is solved: its equation without what depends on the solution, for exponents are those of
/// the diffusion. Its data at right angles are not known, so that only other angles have rings.
fn known_before(problem: &Problem) -> Cow<'_, Problem> {
    let known = |field: &FieldRef| if field.depends_on().state { constant(0.0) } else { field.clone() };
    if problem.is_nonlinear() { Cow::Owned(problem.homogeneous().map_fields(known)) } else { Cow::Borrowed(problem) }
}

/// The decomposition with rings where the settings ask for them.
pub fn with_corners(problem: &Problem, decomposition: Decomposition, settings: &Settings) -> Result<Decomposition> {
    with_corners_beyond(problem, decomposition, settings, &mut Vec::new())
}

/// [`with_corners`] where the solution is known to be smooth at some points: those that are found to be join them. With smaller
/// elements there is less to be seen about them.
pub fn with_corners_beyond(
    problem: &Problem,
    decomposition: Decomposition,
    settings: &Settings,
    smooth: &mut Vec<Point>,
) -> Result<Decomposition> {
    if !may_have_rings(problem, settings) {
        return Ok(decomposition);
    }
    if !is_able(problem, settings) {
        let problem = "rings belong to the default method with its own nodes and weights, and to problems in which neither the diffusion \
                       depends on u nor anything on its gradient";
        return Err(Error::input("discretization.corners", &settings.corners, problem, "use corners = \"auto\""));
    }
    if problem.equation.order() > 2 {
        return plate::split_toward_corners(problem, decomposition, &settings.corners);
    }
    match singular_vertices(&known_before(problem), &decomposition, settings, smooth)?.as_slice() {
        [] => Ok(decomposition),
        found => decomposition.with_rings_about(found),
    }
}

/// The decomposition on which a nonlinear problem was solved with fewer points, with rings where its `data` at that solution ask for them: at
/// right angles, and where exponents depend on the solution. `None` if it has them all.
pub fn with_corners_at(
    problem: &Problem,
    data: &Problem,
    solved: &Decomposition,
    settings: &Settings,
) -> Result<Option<Decomposition>> {
    if settings.corners != Corners::Auto || !is_able_once_solved(problem, settings) {
        return Ok(None);
    }
    let base = solved.without_rings().unwrap_or(solved);
    let found = singular_vertices(data, base, settings, &mut Vec::new())?;
    let known = found.len() <= solved.ring_vertices().len();
    Ok(if known { None } else { Some(base.with_rings_about(&found)?) })
}

/// The vertices of a decomposition that get rings; none of those that are known to be smooth.
pub fn singular_vertices(
    problem: &Problem,
    decomposition: &Decomposition,
    settings: &Settings,
    smooth: &mut Vec<Point>,
) -> Result<Vec<RingVertex>> {
    let corners = &settings.corners;
    if *corners == Corners::None {
        return Ok(Vec::new());
    }
    let around = around(decomposition);
    let search = Search::new(problem, decomposition)?;
    let mut found = Vec::new();
    if let Corners::Points(points) = corners {
        for &p in points {
            let v = vertex_at(decomposition, p)?;
            let Some(fan) = fan(decomposition, &around[v]) else { return Err(no_vertex(p)) };
            found.push(search.ringed(v, &fan, search.exponent(&fan)?));
        }
        return Ok(found);
    }
    let (mut scale, mut detector) = (None, Detector::new(settings.points));
    let one_material = problem.equation.is_constant() && decomposition.subdomains.iter().all(|s| s.region.is_none());
    for (v, corners_here) in around.iter().enumerate() {
        // Inside of one material nothing ends or bends.
        if one_material && decomposition.vertices[v].parts.is_empty() {
            continue;
        }
        let Some(fan) = fan(decomposition, corners_here).filter(|fan| search.is_candidate(fan)) else { continue };
        if *corners == Corners::All {
            found.push(search.ringed(v, &fan, search.exponent(&fan)?));
            continue;
        }
        let size = search.radius(&fan);
        if smooth.iter().any(|&known| distance(known, fan.point) <= CLOSE * size) {
            continue;
        }
        let scale = match scale {
            Some(scale) => scale,
            None => *scale.insert(search.scale()?),
        };
        match search.regularity(&fan, scale, &mut detector)? {
            Regularity::Rings { exponent } => found.push(search.ringed(v, &fan, exponent)),
            Regularity::Smooth => smooth.push(fan.point),
        }
    }
    Ok(found)
}

/// The vertex at a point.
fn vertex_at(decomposition: &Decomposition, p: Point) -> Result<usize> {
    let near = |s: &Subdomain| -> Option<usize> {
        let corners: Vec<Point> = s.map.shape().corners().iter().map(|&xi| s.map.point(xi)).collect();
        let size = distance(corners[0], corners[1]);
        corners.iter().position(|&c| distance(c, p) <= CLOSE * size).map(|k| s.vertices[k])
    };
    decomposition.subdomains.iter().find_map(near).ok_or_else(|| no_vertex(p))
}

fn no_vertex([x, y]: Point) -> Error {
    Error::input(
        "discretization.corners",
        format!("[{x}, {y}]"),
        "there is no corner of subdomains at this point",
        "choose corners of the domain, ends of its parts, or points where regions meet",
    )
}

/// a11, a12, a21, a22 as every element sees them at its corners.
type Tensors = Vec<Vec<[f64; 4]>>;

fn tensors(problem: &Problem, decomposition: &Decomposition) -> Result<Tensors> {
    // Without a diffusion all tensors are zero, and alike.
    let entries: Vec<Option<&FieldRef>> =
        problem.equation.leading().map_or(Vec::new(), |a| a.by_rows().into_iter().flatten().collect());
    let of = |(s, place): (usize, &Subdomain)| {
        let corners = place.map.shape().corners();
        let sample = OnceCell::new();
        let mut out = vec![[0.0; 4]; corners.len()];
        for (k, field) in entries.iter().enumerate().filter_map(|(k, field)| Some((k, (*field)?))) {
            if let Some(value) = field.constant() {
                out.iter_mut().for_each(|out| out[k] = value);
                continue;
            }
            // One number in all directions is asked for once.
            if k == 3 && entries[0].is_some_and(|first| Arc::ptr_eq(first, field)) {
                out.iter_mut().for_each(|out| out[3] = out[0]);
                continue;
            }
            let sample = sample.get_or_init(|| Sample::new(place, corners.iter().copied()));
            let values = sample.one_sided(field.as_ref(), "equation.diffusion", s)?;
            out.iter_mut().zip(values).for_each(|(out, value)| out[k] = value);
        }
        Ok(out)
    };
    decomposition.subdomains.iter().enumerate().map(of).collect()
}

/// The search for vertices.
struct Search<'a> {
    problem: &'a Problem,
    decomposition: &'a Decomposition,
    tensors: Tensors,
    /// Coefficients that differ by more than this, relative to them, from one element to the next are those of two materials. What depends on a
    /// known solution differs by what was not resolved of it, so that only regions are other materials.
    same: f64,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, decomposition: &'a Decomposition) -> Result<Self> {
        let solved = |field: &FieldRef| field.depends_on().solved;
        let same = if diffusion_is(problem, solved) { f64::INFINITY } else { SAME };
        Ok(Search { problem, decomposition, tensors: tensors(problem, decomposition)?, same })
    }

    fn place(&self, (s, _): (usize, usize)) -> &Subdomain {
        &self.decomposition.subdomains[s]
    }

    fn tensor(&self, (s, k): (usize, usize)) -> [f64; 4] {
        self.tensors[s][k]
    }

    /// The numbers of the materials of the elements of a fan.
    fn materials(&self, fan: &Fan) -> Vec<usize> {
        let same = |a: (usize, usize), b: (usize, usize)| {
            let (p, q) = (self.tensor(a), self.tensor(b));
            let size = p.iter().chain(&q).fold(0.0f64, |size, v| size.max(v.abs()));
            let close = p.iter().zip(&q).all(|(p, q)| (p - q).abs() <= self.same * size);
            close && self.place(a).region == self.place(b).region
        };
        let mut numbers = vec![0];
        for pair in fan.elements.windows(2) {
            let last = numbers[numbers.len() - 1];
            numbers.push(last + usize::from(!same(pair[0], pair[1])));
        }
        let last = numbers[numbers.len() - 1];
        if fan.parts.is_none() && last > 0 && same(fan.elements[fan.elements.len() - 1], fan.elements[0]) {
            numbers.iter_mut().filter(|number| **number == last).for_each(|number| *number = 0);
        }
        numbers
    }

    /// Whether something ends or bends at a vertex.
    fn is_candidate(&self, fan: &Fan) -> bool {
        let materials = self.materials(fan);
        let turn = fan.angles[fan.angles.len() - 1] - fan.angles[0];
        let bends = |angle: f64| (angle - PI).abs() > STRAIGHT;
        let several = materials.iter().any(|&m| m != materials[0]);
        match fan.parts {
            Some([first, last]) => first != last || bends(turn) || several,
            None => {
                let angle_of_first: f64 = (fan.angles.windows(2).zip(&materials))
                    .filter(|(_, material)| **material == 0)
                    .map(|(pair, _)| pair[1] - pair[0])
                    .sum();
                several && (materials.iter().any(|&m| m > 1) || bends(angle_of_first))
            }
        }
    }

    /// The elements of a fan as sectors.
    fn sectors(&self, fan: &Fan) -> impl Iterator<Item = Sector> {
        fan.angles.windows(2).zip(&fan.elements).map(|(pair, &at)| {
            let [a, b, c, d] = self.tensor(at);
            Sector { angles: [pair[0], pair[1]], tensor: [[a, b], [c, d]] }
        })
    }

    /// A vertex with rings.
    fn ringed(&self, vertex: usize, fan: &Fan, exponent: f64) -> RingVertex {
        let sectors = self.sectors(fan).filter(|sector| is_stretched(sector.tensor)).collect();
        RingVertex { vertex, exponent, sectors }
    }

    /// The smallest exponent of a vertex.
    fn exponent(&self, fan: &Fan) -> Result<f64> {
        let sectors: Vec<Sector> = self.sectors(fan).collect();
        let ray = |part: usize| Ray::of(&self.problem.conditions[part]);
        let ends = fan.parts.map_or(Ends::Closed, |parts| Ends::Rays(parts.map(ray)));
        Ok(exponents(&sectors, ends)?.first().map_or(LARGEST, |exponent| exponent.re))
    }

    /// The shortest of the sides that end in a vertex.
    fn radius(&self, fan: &Fan) -> f64 {
        let rays = |&at: &(usize, usize)| directions(&self.place(at).map, at.1).map(norm);
        fan.elements.iter().flat_map(rays).fold(f64::INFINITY, f64::min)
    }

    /// Whether the solution is smooth at a vertex.
    fn regularity(&self, fan: &Fan, scale: f64, detector: &mut Detector) -> Result<Regularity> {
        let numbers = self.materials(fan);
        let own: Vec<(Equation, FieldRef)> = (fan.elements.iter())
            .map(|&at| {
                let wrap = |field: &FieldRef| within(field, at.0, self.place(at));
                (self.problem.equation.map_fields(wrap), wrap(&self.problem.source))
            })
            .collect();
        let material = |k: usize| Material {
            angles: [fan.angles[k], fan.angles[k + 1]],
            region: numbers[k],
            equation: &own[k].0,
            source: own[k].1.as_ref(),
        };
        let materials: Vec<Material> = (0..own.len()).map(material).collect();
        let radius = self.radius(fan);
        let (first, last) = (fan.elements[0], fan.elements[fan.elements.len() - 1]);
        let count = self.place(last).vertices.len();
        let curves = [
            boundary_curve(self.place(first).map.clone(), first.1, false),
            boundary_curve(self.place(last).map.clone(), (last.1 + count - 1) % count, true),
        ];
        let conditions = fan.parts.map(|parts| parts.map(|part| &self.problem.conditions[part]));
        let side = |k: usize, condition| BoundarySide { condition, curve: &curves[k] };
        let sides = conditions.map(|[a, b]: [&Condition; 2]| [side(0, a), side(1, b)]);
        let [from, _] = directions(&self.place(first).map, first.1);
        let direction = from.map(|v| v / norm(from));
        detector.regularity(&Vertex { point: fan.point, direction, radius, materials: &materials, sides, scale })
    }

    /// The size of the data, in units of the source.
    fn scale(&self) -> Result<f64> {
        let [x0, x1, y0, y1] = self.decomposition.bounding_box();
        let diameter = (x1 - x0).hypot(y1 - y0);
        let mut scale = 0.0f64;
        let mut add = |found: Result<Vec<f64>>, unit: f64| match found {
            Ok(values) => {
                scale = values.iter().fold(scale, |scale, v| scale.max(unit * v.abs()));
                Ok(())
            }
            // What is not finite somewhere is no measure; whoever needs it there will say so.
            Err(Error::NotFinite { .. }) => Ok(()),
            Err(error) => Err(error),
        };
        for (s, place) in self.decomposition.subdomains.iter().enumerate() {
            let shape = place.map.shape();
            let inside = Sample::new(place, shape.middles(3));
            add(inside.values(self.problem.source.as_ref(), "equation.source", s), 1.0)?;
            let coefficient = self.tensors[s].iter().flatten().fold(0.0f64, |a, v| a.max(v.abs()));
            for (side, part) in place.boundaries() {
                let along = Sample::new(place, [0.1, 0.4, 0.6, 0.9].map(|t| shape.side_point(side, t)));
                let condition = &self.problem.conditions[part];
                let unit = if condition.is_essential() { coefficient / (diameter * diameter) } else { 1.0 / diameter };
                for field in &condition.values {
                    add(along.values(field.as_ref(), "boundary", s), unit)?;
                }
            }
        }
        Ok(scale)
    }
}

#[cfg(test)]
#[path = "corners_tests.rs"]
mod tests;
