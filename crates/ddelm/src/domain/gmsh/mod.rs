//! Meshes of gmsh: MSH 2.2 and 4.1, text and binary, triangles and quadrilaterals of order 1 to 10.
//!
//! A side of an element of order p has p - 1 inner nodes at `s = k/p`. They make a polynomial side, whose bulge is
//! interpolated in them; inner nodes of an element are not needed, as the element's map follows from its sides. Physical
//! groups of lines name the parts of the boundary, those of surfaces name the regions. Sides of the boundary in no group
//! are called `boundary`, and groups without a name `group-1` by their number. Quadrilaterals of which two sides lie on a
//! smooth boundary, which gmsh makes on coarse meshes, become two triangles.

use std::collections::HashMap;
use std::path::Path;

use crate::base::error::{Error, Result};
use crate::domain::map::Point;

use super::bulge::Bulge;
use super::mesh::{Element, Mesh, Side};
use super::plane::{Rectangle, between, cross, norm, subtract};
use super::shape::Shape;
use scanner::Scanner;
use sections::{RawElement, RawMesh};

mod scanner;
mod sections;

/// A side that leaves its chord by less than this part of its length is straight.
const STRAIGHT: f64 = 1e-13;

/// Reads a mesh file.
pub fn read(path: &Path) -> Result<Mesh> {
    let bytes = std::fs::read(path).map_err(|error| Error::File {
        path: path.into(),
        problem: error.to_string(),
        hint: "give the path of a mesh file of gmsh, relative to the problem file".into(),
    })?;
    parse(path, &bytes)
}

/// Reads a mesh from the bytes of a file; the path is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Mesh> {
    let raw = sections::read(&mut Scanner::new(path, bytes))?;
    let wrong = |problem: String| Error::File {
        path: path.into(),
        problem,
        hint:
            "a plane mesh of triangles and quadrilaterals that meet in whole sides, in physical groups if there are any"
                .into(),
    };
    let mut mesh = Builder::default().build(raw).map_err(wrong)?;
    mesh.split_folded();
    mesh.check(&path.display().to_string()).map_err(|error| wrong(error.to_string()))?;
    Ok(mesh)
}

/// A side that was seen once: element, side, and its inner nodes in the element's direction.
struct OpenSide {
    element: usize,
    side: usize,
    inner: Vec<u64>,
}

#[derive(Default)]
struct Builder {
    mesh: Mesh,
    /// Numbers of nodes of the file as vertices.
    vertices: HashMap<u64, usize>,
    /// Numbers of physical groups as names and as regions.
    names: HashMap<i64, usize>,
    regions: HashMap<i64, usize>,
}

impl Builder {
    fn build(mut self, raw: RawMesh) -> std::result::Result<Mesh, String> {
        check_plane(&raw)?;
        let mut lines: HashMap<[u64; 2], i64> = HashMap::new();
        for line in raw.elements.iter().filter(|e| e.shape.is_none() && e.group != 0) {
            let [a, b] = [line.nodes[0], line.nodes[1]];
            lines.entry([a.min(b), a.max(b)]).or_insert(line.group);
        }
        let mut open: HashMap<[u64; 2], OpenSide> = HashMap::new();
        let mut seen: HashMap<Vec<u64>, ()> = HashMap::new();
        for element in &raw.elements {
            let Some(shape) = element.shape else { continue };
            // An element in two physical groups is written twice to MSH 2.2.
            let mut key = element.nodes[..shape.sides()].to_vec();
            key.sort_unstable();
            if seen.insert(key, ()).is_none() {
                self.add(element, shape, &raw, &mut open)?;
            }
        }
        if self.mesh.elements.is_empty() {
            return Err("there are no triangles or quadrilaterals in the file".into());
        }
        // What is still open is the boundary; in the order of elements, so that names are in a fixed order.
        let mut boundary: Vec<([u64; 2], OpenSide)> = open.into_iter().collect();
        boundary.sort_by_key(|(_, side)| (side.element, side.side));
        for (ends, side) in boundary {
            let group = lines.get(&ends).copied().unwrap_or(0);
            let mesh = &mut self.mesh;
            let name = *self.names.entry(group).or_insert_with(|| {
                let default = if group == 0 { "boundary".into() } else { format!("group-{group}") };
                let name = raw.names.get(&(1, group)).cloned().unwrap_or(default);
                mesh.names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    mesh.names.push(name);
                    mesh.names.len() - 1
                })
            });
            mesh.elements[side.element].sides[side.side].boundary = Some(name);
        }
        Ok(self.mesh)
    }

    fn add(
        &mut self,
        element: &RawElement,
        shape: Shape,
        raw: &RawMesh,
        open: &mut HashMap<[u64; 2], OpenSide>,
    ) -> std::result::Result<(), String> {
        let Loop { corners, inside } = Loop::counterclockwise(element, shape, raw)?;
        let mut sides = Vec::with_capacity(corners.len());
        for (k, inner) in inside.into_iter().enumerate() {
            let ends = [corners[k], corners[(k + 1) % corners.len()]];
            let bulge = self.side(k, ends, inner, raw, open)?;
            sides.push(Side { bulge, boundary: None });
        }
        let mut vertices = Vec::with_capacity(corners.len());
        for tag in corners {
            let point = place(raw, tag)?;
            vertices.push(*self.vertices.entry(tag).or_insert_with(|| {
                self.mesh.vertices.push(point);
                self.mesh.vertices.len() - 1
            }));
        }
        let region = (element.group != 0).then(|| {
            let mesh = &mut self.mesh;
            *self.regions.entry(element.group).or_insert_with(|| {
                let default = || format!("group-{}", element.group);
                mesh.regions.push(raw.names.get(&(2, element.group)).cloned().unwrap_or_else(default));
                mesh.regions.len() - 1
            })
        });
        self.mesh.elements.push(Element { shape, vertices, sides, region });
        Ok(())
    }

    /// The bulge of side `k` of the next element: its own if it is the first to have the side, and else that of the neighbour, the
    /// other way round.
    fn side(
        &mut self,
        k: usize,
        [a, b]: [u64; 2],
        inner: Vec<u64>,
        raw: &RawMesh,
        open: &mut HashMap<[u64; 2], OpenSide>,
    ) -> std::result::Result<Option<(usize, bool)>, String> {
        let key = [a.min(b), a.max(b)];
        let Some(other) = open.remove(&key) else {
            let bulge = self.bulge([place(raw, a)?, place(raw, b)?], &inner, raw)?;
            open.insert(key, OpenSide { element: self.mesh.elements.len(), side: k, inner });
            return Ok(bulge.map(|b| (b, false)));
        };
        if !other.inner.iter().rev().eq(&inner) {
            return Err(format!("elements do not meet in the same nodes between nodes {a} and {b}"));
        }
        let Some(neighbour) = self.mesh.elements.get(other.element) else {
            return Err(format!("an element has nodes {a} and {b} on two of its sides"));
        };
        Ok(neighbour.sides[other.side].bulge.map(|(b, reversed)| (b, !reversed)))
    }

    /// The number of the bulge of a side, `None` if it is straight.
    fn bulge(
        &mut self,
        [a, b]: [Point; 2],
        inner: &[u64],
        raw: &RawMesh,
    ) -> std::result::Result<Option<usize>, String> {
        let p = inner.len() + 1;
        let mut offsets = Vec::with_capacity(inner.len());
        for (k, &tag) in inner.iter().enumerate() {
            offsets.push(subtract(place(raw, tag)?, between(a, b, (k + 1) as f64 / p as f64)));
        }
        let length = norm(subtract(b, a));
        if offsets.iter().all(|&d| norm(d) <= STRAIGHT * length) {
            return Ok(None);
        }
        self.mesh.bulges.push(Bulge::through(&offsets));
        Ok(Some(self.mesh.bulges.len() - 1))
    }
}

/// Where a node lies.
fn place(raw: &RawMesh, tag: u64) -> std::result::Result<Point, String> {
    match raw.nodes.get(&tag) {
        Some(&[x, y, _]) => Ok([x, y]),
        None => Err(format!("an element has node {tag}, which is not in the file")),
    }
}

/// The nodes around an element: its corners, and those inside side k, from corner k to corner k + 1.
struct Loop {
    corners: Vec<u64>,
    inside: Vec<Vec<u64>>,
}

impl Loop {
    /// Whichever way round the file has it.
    fn counterclockwise(element: &RawElement, shape: Shape, raw: &RawMesh) -> std::result::Result<Self, String> {
        let count = shape.sides();
        let inner = |k: usize| {
            let first = count + k * (element.order - 1);
            element.nodes[first..first + element.order - 1].to_vec()
        };
        let mut corners: Vec<u64> = element.nodes[..count].to_vec();
        let mut inside: Vec<Vec<u64>> = (0..count).map(inner).collect();
        let points = corners.iter().map(|&tag| place(raw, tag)).collect::<std::result::Result<Vec<Point>, _>>()?;
        let [a, b, c, d] = if count == 3 { [1, 0, 2, 0] } else { [2, 0, 3, 1] };
        if cross(subtract(points[a], points[b]), subtract(points[c], points[d])) < 0.0 {
            // From the first corner the other way round.
            corners[1..].reverse();
            inside.reverse();
            inside.iter_mut().for_each(|nodes| nodes.reverse());
        }
        Ok(Loop { corners, inside })
    }
}

/// All nodes have the same z.
fn check_plane(raw: &RawMesh) -> std::result::Result<(), String> {
    let [w, h] = Rectangle::around(raw.nodes.values().map(|p| [p[0], p[1]])).extent();
    let heights = raw.nodes.values().map(|p| p[2]);
    let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| (low.min(z), high.max(z)));
    if high - low > 1e-9 * (w + h) {
        return Err(format!("the mesh is not plane: z goes from {low} to {high}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
