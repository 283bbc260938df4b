//! The decomposition of an outline.
//!
//! An outline whose sides are all parallel to the axes is cut into [rectangles](super::rectangles). All others:
//!
//! 1. Sizes from the outline: curvature, gaps, short pieces, the size asked for ([`sizes`](super::sizes)).
//! 2. Curves cut into sides of elements ([`chords`](super::chords)).
//! 3. Inner vertices from a tree of squares, and the constrained Delaunay triangulation of everything.
//! 4. Pairs of triangles joined to quadrilaterals, inner vertices moved to better places.
//! 5. Curved sides put on the curves, and `det J` checked: where an element is folded, its curved sides are halved, and
//!    the mesh is made again.

use std::collections::HashMap;

use crate::base::error::{Error, Result};
use crate::domain::map::Point;

use super::arrangement::Strand;
use super::bulge::Bulge;
use super::chords::{Chords, ordered};
use super::inner_points::InnerPoints;
use super::loops::show;
use super::mesh::{DETERMINANT_POINTS, Element, LEAST_DETERMINANT, Mesh, MeshSettings, Side};
use super::outline::Outline;
use super::pairing::{flip_flat_corners, pair};
use super::quadtree::Quadtree;
use super::quality::{Cell, Tangents};
use super::rectangles::rectangles;
use super::shape::Shape;
use super::shape_map::ShapeMap;
use super::sizes::size_field;
use super::smoothing::smooth;
use super::triangulate::{inside, triangulate};

/// How often sides may be halved.
const ROUNDS: usize = 14;

/// How often vertices may be added to large triangles.
const FILLINGS: usize = 4;

/// What a polynomial side may leave out of its curve, as a part of its length.
const SMOOTH: f64 = 1e-14;

impl Mesh {
    /// Decomposes an outline.
    pub fn of_outline(outline: &Outline, settings: &MeshSettings) -> Result<Self> {
        let mesh = decompose(outline, settings)?;
        Ok(if outline.arrangement.strands.iter().any(Strand::is_slit) { mesh.opened() } else { mesh })
    }
}

fn decompose(outline: &Outline, settings: &MeshSettings) -> Result<Mesh> {
    let arrangement = &outline.arrangement;
    let [w, h] = outline.bounding_box().extent();
    let size = settings.size.unwrap_or(0.25 * w.min(h));
    if !(size.is_finite() && size > 0.0) {
        let problem = "the size of a subdomain is a positive number";
        return Err(Error::input("discretization.size", size, problem, "leave it out for a size from the domain"));
    }
    let estimate = 1.5 * (w / size) * (h / size);
    let too_many = |count: f64| {
        let problem = format!("about {count:.0} subdomains, of at most {}", settings.most);
        Error::input("discretization.size", size, problem, "choose a larger size")
    };
    if estimate > 4.0 * settings.most as f64 {
        return Err(too_many(estimate));
    }
    if let Some(mesh) = rectangles(outline, size, settings) {
        return Ok(mesh);
    }
    let field = size_field(arrangement, size, settings);
    if field.len() > 4 * settings.most {
        return Err(too_many(field.len() as f64));
    }
    let mut chords = Chords::new(arrangement, &field, settings);
    let mut rest: HashMap<[u64; 3], (Bulge, f64)> = HashMap::new();
    let mut folded = Vec::new();
    for _ in 0..ROUNDS {
        let bulges: Vec<(Bulge, f64)> = (0..chords.chords.len())
            .map(|k| {
                let c = &chords.chords[k];
                let key = [c.strand as u64, c.interval[0].to_bits(), c.interval[1].to_bits()];
                rest.entry(key).or_insert_with(|| Bulge::of(&chords.curve(arrangement, k))).clone()
            })
            .collect();
        let rough: Vec<usize> = (0..bulges.len()).filter(|&k| bulges[k].1 > SMOOTH).collect();
        folded = if rough.is_empty() {
            match attempt(outline, &chords, &bulges, &field, settings) {
                Ok(mesh) => return Ok(mesh),
                Err(folded) => folded,
            }
        } else {
            rough
        };
        chords.halve(arrangement, &folded);
    }
    // The chords were halved once more; the first half has the old number.
    let k = folded.first().copied().unwrap_or(0);
    let key = arrangement.strands[chords.chords[k].strand].key();
    let curve = chords.curve(arrangement, k);
    let place = show(curve.point(1.0));
    if Bulge::of(&curve).1 > SMOOTH {
        let problem = format!("the curve is not smooth near {place}");
        let hint = "end a piece there and begin another, or use a smoother parameter";
        return Err(Error::input(key, "the curve", problem, hint));
    }
    let problem = format!("no element that is not folded was found near {place}");
    Err(Error::input(key, "the curve", problem, "choose a smaller size, or an outline with fewer sharp turns"))
}

/// The sides on curves of an attempt.
struct CurvedSides<'a> {
    chords: &'a Chords,
    by_ends: HashMap<[usize; 2], usize>,
    bulges: &'a [(Bulge, f64)],
}

impl CurvedSides<'_> {
    /// The chord from vertex a to vertex b, and whether it runs the other way.
    fn chord(&self, a: usize, b: usize) -> Option<(usize, bool)> {
        let fixed = self.chords.vertices.len();
        let k = (a < fixed && b < fixed).then(|| self.by_ends.get(&ordered([a, b]))).flatten()?;
        Some((*k, self.chords.chords[*k].ends[0] != a))
    }

    /// The curved chords of a cell.
    fn curved(&self, corners: &[usize]) -> impl Iterator<Item = usize> {
        let sides = (0..corners.len()).filter_map(|k| self.chord(corners[k], corners[(k + 1) % corners.len()]));
        sides.map(|(k, _)| k).filter(|&k| !self.bulges[k].0.is_straight())
    }

    fn map(&self, points: &[Point], corners: &[usize]) -> ShapeMap {
        let bulge = |k: usize| match self.chord(corners[k], corners[(k + 1) % corners.len()]) {
            None => Bulge::default(),
            Some((c, false)) => self.bulges[c].0.clone(),
            Some((c, true)) => self.bulges[c].0.reversed(),
        };
        ShapeMap::new(corners.iter().map(|&v| points[v]).collect(), (0..corners.len()).map(bulge).collect())
    }

    fn is_folded(&self, points: &[Point], corners: &[usize]) -> bool {
        self.map(points, corners).least_determinant(DETERMINANT_POINTS) < LEAST_DETERMINANT
    }
}

/// A mesh with the given sides, or the sides that must be halved.
fn attempt(
    outline: &Outline,
    chords: &Chords,
    bulges: &[(Bulge, f64)],
    field: &Quadtree,
    settings: &MeshSettings,
) -> std::result::Result<Mesh, Vec<usize>> {
    let arrangement = &outline.arrangement;
    let ends: Vec<[usize; 2]> = chords.chords.iter().map(|c| c.ends).collect();
    let mut inner = InnerPoints::new(arrangement, chords, field);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for _ in 0..FILLINGS {
        points = [&chords.vertices[..], inner.points()].concat();
        triangles = inside(&points, &triangulate(&points, &ends)?, chords, arrangement);
        if !inner.fill(&points, &triangles) {
            break;
        }
    }
    let sides = CurvedSides { chords, by_ends: chords.by_ends(), bulges };
    let tangents = Tangents::new(chords, arrangement);
    flip_flat_corners(&points, &mut triangles, &sides.by_ends, &tangents);
    let cells = if settings.quadrilaterals {
        pair(&points, &triangles, &sides.by_ends, &tangents)
    } else {
        triangles.iter().map(|t| Cell::triangle(t.corners, t.region)).collect()
    };
    smooth(&mut points, &cells, chords.vertices.len(), &tangents, 12);
    let cells = split_folded(&points, cells, &sides);
    let folded: Vec<usize> = cells
        .iter()
        .filter(|cell| sides.is_folded(&points, cell.corners()))
        .flat_map(|cell| sides.curved(cell.corners()))
        .collect();
    if folded.is_empty() { Ok(assemble(outline, &sides, &points, &cells)) } else { Err(folded) }
}

/// Quadrilaterals that are folded become two triangles, along the diagonal that makes the better ones.
fn split_folded(points: &[Point], cells: Vec<Cell>, sides: &CurvedSides) -> Vec<Cell> {
    let mut out = Vec::with_capacity(cells.len());
    for cell in cells {
        let &[a, b, c, d] = cell.corners() else {
            out.push(cell);
            continue;
        };
        if !sides.is_folded(points, cell.corners()) {
            out.push(cell);
            continue;
        }
        let least = |t: &[usize; 3]| sides.map(points, t).least_determinant(DETERMINANT_POINTS);
        let worst = |pair: &[[usize; 3]; 2]| least(&pair[0]).min(least(&pair[1]));
        let [first, second] = [[[a, b, c], [a, c, d]], [[a, b, d], [b, c, d]]];
        let pair = if worst(&first) >= worst(&second) { first } else { second };
        out.extend(pair.map(|t| Cell::triangle(t, cell.region)));
    }
    out
}

/// The mesh of cells, with the vertices that they use.
fn assemble(outline: &Outline, sides: &CurvedSides, points: &[Point], cells: &[Cell]) -> Mesh {
    let mut mesh = Mesh { names: outline.names().to_vec(), regions: outline.regions().to_vec(), ..Mesh::default() };
    let mut vertices: Vec<Option<usize>> = vec![None; points.len()];
    let mut bulges: Vec<Option<usize>> = vec![None; sides.bulges.len()];
    for cell in cells {
        let corners = cell.corners();
        let numbers = corners.iter().map(|&v| {
            *vertices[v].get_or_insert_with(|| {
                mesh.vertices.push(points[v]);
                mesh.vertices.len() - 1
            })
        });
        let numbers = numbers.collect();
        let side = |k: usize| {
            let Some((c, reversed)) = sides.chord(corners[k], corners[(k + 1) % corners.len()]) else {
                return Side { bulge: None, boundary: None };
            };
            let bulge = (!sides.bulges[c].0.is_straight()).then(|| {
                let number = *bulges[c].get_or_insert_with(|| {
                    mesh.bulges.push(sides.bulges[c].0.clone());
                    mesh.bulges.len() - 1
                });
                (number, reversed)
            });
            // The domain is on the left of whoever runs along its sides.
            let strand = &outline.arrangement.strands[sides.chords.chords[c].strand];
            Side { bulge, boundary: strand.boundary()[usize::from(reversed)] }
        };
        let sides = (0..corners.len()).map(side).collect();
        let shape = if corners.len() == 3 { Shape::Triangle } else { Shape::Quadrilateral };
        mesh.elements.push(Element { shape, vertices: numbers, sides, region: cell.region });
    }
    mesh
}
