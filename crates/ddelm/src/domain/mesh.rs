//! A decomposition into triangles and quadrilaterals with curved sides, as plain data.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::domain::map::Point;

use super::bulge::Bulge;
use super::forest::{Root, RootSide};
use super::shape::Shape;
use super::shape_map::ShapeMap;

/// How an outline is decomposed.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshSettings {
    /// The largest side of an element, about; by default a quarter of the smaller side of the domain's box.
    pub size: Option<f64>,
    /// How much a convex side may turn, in degrees.
    pub convex_turn: f64,
    /// How much a concave side may turn, in degrees: the solution outside of a concave boundary is rougher.
    pub concave_turn: f64,
    /// Whether triangles are joined to quadrilaterals.
    pub quadrilaterals: bool,
    /// More elements than this are refused.
    pub most: usize,
    /// Pairs of sides, as numbers of [`Mesh::names`], that are cut alike.
    pub periodic: Vec<(usize, usize)>,
}

impl Default for MeshSettings {
    fn default() -> Self {
        MeshSettings {
            size: None,
            convex_turn: 45.0,
            concave_turn: 30.0,
            quadrilaterals: true,
            most: 4_000_000,
            periodic: Vec::new(),
        }
    }
}

/// A side of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// The bulge of a curved side, and whether the side runs against it.
    pub bulge: Option<(usize, bool)>,
    /// The part of the boundary it lies on, as a number of [`Mesh::names`]; `None` between elements.
    pub boundary: Option<usize>,
}

/// A triangle or a quadrilateral.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// Which of the two.
    pub shape: Shape,
    /// Vertices at its corners, counter-clockwise.
    pub vertices: Vec<usize>,
    /// Side k runs from corner k to corner k + 1.
    pub sides: Vec<Side>,
    /// The region it lies in, as a number of [`Mesh::regions`]; `None` outside of all.
    pub region: Option<usize>,
}

/// Triangles and quadrilaterals that meet in whole sides.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Mesh {
    /// Corners of elements.
    pub vertices: Vec<Point>,
    /// The elements.
    pub elements: Vec<Element>,
    /// The curved sides, each once.
    pub bulges: Vec<Bulge>,
    /// The names of the parts of the boundary.
    pub names: Vec<String>,
    /// The names of the regions.
    pub regions: Vec<String>,
}

impl Mesh {
    /// The map of an element.
    pub fn map(&self, element: usize) -> ShapeMap {
        self.map_of(&self.elements[element])
    }

    /// The same mesh with the parts of its boundary in another order.
    ///
    /// # Panics
    /// If the names are others.
    pub(super) fn with_names(mut self, names: &[String]) -> Self {
        if self.names != names {
            let number = |name: &String| names.iter().position(|other| other == name).expect("the same names");
            let numbers: Vec<usize> = self.names.iter().map(number).collect();
            let sides = self.elements.iter_mut().flat_map(|element| &mut element.sides);
            sides.for_each(|side| side.boundary = side.boundary.map(|part| numbers[part]));
            self.names = names.to_vec();
        }
        self
    }

    fn map_of(&self, element: &Element) -> ShapeMap {
        let corners = element.vertices.iter().map(|&v| self.vertices[v]).collect();
        let bulge = |side: &Side| match side.bulge {
            None => Bulge::default(),
            Some((b, false)) => self.bulges[b].clone(),
            Some((b, true)) => self.bulges[b].reversed(),
        };
        ShapeMap::new(corners, element.sides.iter().map(bulge).collect())
    }

    /// The maps of all elements.
    pub fn maps(&self) -> Vec<ShapeMap> {
        (0..self.elements.len()).map(|k| self.map(k)).collect()
    }

    /// For every element and side the element and side on its other side, if it is not on the boundary.
    pub fn neighbours(&self) -> Vec<Vec<Option<(usize, usize)>>> {
        let mut open: HashMap<[usize; 2], (usize, usize)> = HashMap::new();
        let mut out: Vec<Vec<_>> = self.elements.iter().map(|e| vec![None; e.vertices.len()]).collect();
        for (s, element) in self.elements.iter().enumerate() {
            for k in (0..element.vertices.len()).filter(|&k| element.sides[k].boundary.is_none()) {
                let (a, b) = (element.vertices[k], element.vertices[(k + 1) % element.vertices.len()]);
                // The neighbour runs through the side the other way.
                match open.remove(&[b, a]) {
                    Some((t, l)) => {
                        out[s][k] = Some((t, l));
                        out[t][l] = Some((s, k));
                    }
                    None => {
                        open.insert([a, b], (s, k));
                    }
                }
            }
        }
        out
    }

    /// The same mesh in which elements that meet in a vertex, and are not neighbours around it, have vertices of their own there: the
    /// two sides of a slit come apart.
    pub(super) fn opened(mut self) -> Self {
        let neighbours = self.neighbours();
        let mut found: Vec<Vec<Option<usize>>> = self.elements.iter().map(|e| vec![None; e.vertices.len()]).collect();
        let mut taken = vec![false; self.vertices.len()];
        for (s, element) in self.elements.iter().enumerate() {
            for (k, &vertex) in element.vertices.iter().enumerate() {
                if found[s][k].is_some() {
                    continue;
                }
                let number = if taken[vertex] { self.vertices.len() } else { vertex };
                if std::mem::replace(&mut taken[vertex], true) {
                    self.vertices.push(self.vertices[vertex]);
                }
                let mut next = vec![(s, k)];
                while let Some((t, corner)) = next.pop() {
                    if found[t][corner].replace(number).is_some() {
                        continue;
                    }
                    let count = found[t].len();
                    // A side runs from its corner to the next one, and that of the neighbour the other way.
                    let across = neighbours[t][corner].map(|(u, l)| (u, (l + 1) % found[u].len()));
                    next.extend(across.into_iter().chain(neighbours[t][(corner + count - 1) % count]));
                }
            }
        }
        for (element, found) in self.elements.iter_mut().zip(found) {
            element.vertices = found.into_iter().map(|v| v.expect("every corner has a vertex")).collect();
        }
        self
    }

    /// Every triangle cut into three quadrilaterals about its centre, and every quadrilateral into four: what can be cut into
    /// strips. Nothing where there are no triangles, or curved sides.
    pub fn in_quadrilaterals(&self) -> Option<Mesh> {
        if !self.bulges.is_empty() || self.elements.iter().all(|element| element.shape == Shape::Quadrilateral) {
            return None;
        }
        let mut mesh = Mesh { elements: Vec::new(), ..self.clone() };
        let mut middles: HashMap<[usize; 2], usize> = HashMap::new();
        let inside = Side { bulge: None, boundary: None };
        for element in &self.elements {
            let count = element.vertices.len();
            let corner = |k: usize| element.vertices[k % count];
            let centre = mesh.vertices.len();
            let sum = (0..count).map(|k| self.vertices[corner(k)]).fold([0.0; 2], |[x, y], p| [x + p[0], y + p[1]]);
            mesh.vertices.push(sum.map(|v| v / count as f64));
            let mut middle = |k: usize| {
                let (a, b) = (corner(k), corner(k + 1));
                *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    let (p, q) = (self.vertices[a], self.vertices[b]);
                    mesh.vertices.push([0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]);
                    mesh.vertices.len() - 1
                })
            };
            for k in 0..count {
                let (next, last) = (middle(k), middle(k + count - 1));
                mesh.elements.push(Element {
                    shape: Shape::Quadrilateral,
                    vertices: vec![corner(k), next, centre, last],
                    sides: vec![element.sides[k], inside, inside, element.sides[(k + count - 1) % count]],
                    region: element.region,
                });
            }
        }
        Some(mesh)
    }

    /// The elements as the roots of a forest.
    pub fn roots(&self) -> Vec<Root> {
        let behind = |side: &Side, neighbour: &Option<(usize, usize)>| match (neighbour, side.boundary) {
            (Some((t, l)), _) => RootSide::Root(*t, *l),
            (None, part) => RootSide::Boundary(part.expect("a side without a neighbour is on the boundary")),
        };
        let root = |(element, neighbours): (&Element, Vec<Option<(usize, usize)>>)| Root {
            shape: element.shape,
            sides: element.sides.iter().zip(&neighbours).map(|(side, n)| behind(side, n)).collect(),
        };
        self.elements.iter().zip(self.neighbours()).map(root).collect()
    }

    /// Cuts quadrilaterals that are folded, or nearly so, into two triangles, where that makes them better: a corner at which
    /// two sides of a smooth boundary meet has an angle of 180 degrees, and a diagonal from it has none.
    pub fn split_folded(&mut self) {
        for k in 0..self.elements.len() {
            let whole = self.map(k).least_determinant(DETERMINANT_POINTS);
            if self.elements[k].shape != Shape::Quadrilateral || whole >= LEAST_DETERMINANT {
                continue;
            }
            let halves = [0, 1].map(|first| {
                let element = &self.elements[k];
                [first, first + 2].map(|c| {
                    let next = |i: usize| (c + i) % 4;
                    let diagonal = Side { bulge: None, boundary: None };
                    Element {
                        shape: Shape::Triangle,
                        vertices: [0, 1, 2].map(|i| element.vertices[next(i)]).to_vec(),
                        sides: vec![element.sides[next(0)], element.sides[next(1)], diagonal],
                        region: element.region,
                    }
                })
            });
            let least = |e: &Element| self.map_of(e).least_determinant(DETERMINANT_POINTS);
            let worst = halves.each_ref().map(|pair| least(&pair[0]).min(least(&pair[1])));
            let better = usize::from(worst[1] > worst[0]);
            if worst[better] > whole {
                let [first, second] = halves.into_iter().nth(better).expect("there are two diagonals");
                self.elements[k] = first;
                self.elements.push(second);
            }
        }
    }

    /// Checks what every mesh must have: numbers in range, sides shared by two elements or on a named part of the
    /// boundary, and `det J > 0` on a fine lattice of every element. The `key` is the setting that errors name.
    pub fn check(&self, key: &str) -> Result<()> {
        let wrong = |problem: String| {
            Err(Error::input(
                key,
                format!("{} elements", self.elements.len()),
                problem,
                "elements meet in whole sides, and none is folded",
            ))
        };
        if self.elements.is_empty() {
            return wrong("there is no element".into());
        }
        for (s, element) in self.elements.iter().enumerate() {
            let count = element.shape.sides();
            if element.vertices.len() != count || element.sides.len() != count {
                return wrong(format!(
                    "element {s} has {} corners and {} sides",
                    element.vertices.len(),
                    element.sides.len()
                ));
            }
            let in_range = element.vertices.iter().all(|&v| v < self.vertices.len())
                && element.region.is_none_or(|r| r < self.regions.len())
                && element.sides.iter().all(|side| {
                    side.boundary.is_none_or(|b| b < self.names.len())
                        && side.bulge.is_none_or(|(b, _)| b < self.bulges.len())
                });
            if !in_range {
                return wrong(format!("element {s} has a vertex, side or region that is not there"));
            }
        }
        for (s, neighbours) in self.neighbours().iter().enumerate() {
            for (k, neighbour) in neighbours.iter().enumerate() {
                if neighbour.is_none() && self.elements[s].sides[k].boundary.is_none() {
                    let (a, b) = (self.elements[s].vertices[k], self.elements[s].vertices[(k + 1) % neighbours.len()]);
                    let [a, b] = [a, b].map(|v| self.vertices[v]);
                    let what = "has no neighbour and lies on no part of the boundary";
                    return wrong(format!("the side from {a:?} to {b:?} {what}"));
                }
            }
        }
        for s in 0..self.elements.len() {
            let least = self.map(s).least_determinant(DETERMINANT_POINTS);
            if least <= 0.0 || least.is_nan() {
                let at = self.vertices[self.elements[s].vertices[0]];
                return wrong(format!("element {s} at {at:?} is folded: det J is {least:.3} of its mean"));
            }
        }
        Ok(())
    }
}

/// Intervals per side of the lattice on which `det J` is checked.
pub(super) const DETERMINANT_POINTS: usize = 12;

/// A decomposition is made with `det J` no smaller than this, as a part of its mean over the element.
pub(super) const LEAST_DETERMINANT: f64 = 0.08;
