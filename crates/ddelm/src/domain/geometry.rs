//! A decomposition as numbers: what a file holds of it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};

use super::corner::RingVertex;
use super::decomposition::{Decomposition, Origin};
use super::exponents::Sector;
use super::forest::{Corner, LeafNumbers};
use super::map::MapDescription;
use super::mesh::Mesh;

/// A decomposition as numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Geometry {
    /// A rectangle cut into equal rectangles.
    Rectangle {
        /// Left and right end.
        x: [f64; 2],
        /// Lower and upper end.
        y: [f64; 2],
        /// Subdomains in each direction.
        subdomains: [usize; 2],
    },
    /// The union of the images of reference shapes.
    Maps {
        /// One map per subdomain.
        maps: Vec<MapDescription>,
        /// For every subdomain, the part of the boundary on each side; `None` at an interface.
        boundary: Vec<Vec<Option<usize>>>,
        /// The names of the parts of the boundary.
        parts: Vec<String>,
    },
    /// The elements of a mesh.
    Mesh {
        /// The mesh.
        mesh: Mesh,
    },
    /// Parts of roots.
    Forest {
        /// The roots.
        roots: Box<Geometry>,
        /// The leaves.
        leaves: Vec<LeafNumbers>,
        /// Corners of leaves whose other sides meet any number of smaller ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<Corner>,
    },
    /// Rings about vertices.
    Rings {
        /// The subdomains without them.
        base: Box<Geometry>,
        /// The corners of subdomains that have rings about them: the subdomain, which corner, and the exponent.
        corners: Vec<(usize, usize, f64)>,
        /// The sectors about them whose tensors prefer a direction: the subdomain, which corner, and the sector.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sectors: Vec<(usize, usize, Sector)>,
        /// The number of subdomains, rings included.
        subdomains: usize,
    },
}

impl Geometry {
    /// Number of subdomains, if it is a number at all.
    pub fn subdomains(&self) -> Option<usize> {
        match self {
            Geometry::Rectangle { subdomains: [nx, ny], .. } => nx.checked_mul(*ny),
            Geometry::Maps { maps, .. } => Some(maps.len()),
            Geometry::Mesh { mesh } => Some(mesh.elements.len()),
            Geometry::Forest { leaves, .. } => Some(leaves.len()),
            Geometry::Rings { subdomains, .. } => Some(*subdomains),
        }
    }

    /// The decomposition that is described.
    pub fn decomposition(&self) -> Result<Decomposition> {
        match self {
            Geometry::Rectangle { x, y, subdomains } => Decomposition::rectangle(*x, *y, *subdomains),
            Geometry::Maps { maps, boundary, parts } => {
                let maps = maps.iter().map(|map| map.clone().map()).collect();
                // A side without a part gets a number that is refused.
                let part = |s: usize, side: usize| boundary.get(s).and_then(|sides| *sides.get(side)?);
                Decomposition::glued(maps, parts.clone(), |s, side, _| part(s, side).unwrap_or(usize::MAX))
            }
            Geometry::Mesh { mesh } => {
                mesh.check("geometry.mesh")?;
                Decomposition::of_mesh(mesh.clone())
            }
            Geometry::Forest { roots, leaves, open } => roots.decomposition()?.with_leaves(leaves, open),
            Geometry::Rings { base, corners, sectors, subdomains } => {
                let refuse =
                    |problem: &str| Error::input("geometry.corners", corners.len(), problem, "the file is damaged");
                let base = base.decomposition()?;
                let at = |&(s, corner, exponent): &(usize, usize, f64)| {
                    let vertex = base.subdomains.get(s).and_then(|subdomain| subdomain.vertices.get(corner));
                    let vertex = *vertex.ok_or_else(|| refuse("there is no such corner"))?;
                    let here = sectors.iter().filter(|(t, k, _)| (*t, *k) == (s, corner));
                    Ok(RingVertex { vertex, exponent, sectors: here.map(|(.., sector)| *sector).collect() })
                };
                let ringed = base.with_rings_again(&corners.iter().map(at).collect::<Result<Vec<_>>>()?)?;
                if ringed.len() == *subdomains { Ok(ringed) } else { Err(refuse("there are other rings")) }
            }
        }
    }
}

impl Decomposition {
    /// The decomposition as numbers, if all of its maps have them. Periodic sides are sides like others there.
    pub fn geometry(&self) -> Option<Geometry> {
        if let Some(rings) = &self.rings {
            let (base, all) = (Box::new(rings.base.geometry()?), rings.corners());
            let corners = all.iter().map(|&(s, k, ringed)| (s, k, ringed.exponent)).collect();
            // Those of a vertex are the same at all corners about it, and are written once.
            let mut written = HashSet::new();
            let first = all.iter().filter(|(.., ringed)| written.insert(ringed.vertex));
            let of = |&(s, k, ringed): &(usize, usize, &RingVertex)| {
                ringed.sectors.iter().map(move |&sector| (s, k, sector)).collect::<Vec<_>>()
            };
            let sectors = first.flat_map(of).collect();
            return Some(Geometry::Rings { base, corners, sectors, subdomains: self.len() });
        }
        let roots = match &self.trunk.origin {
            Origin::Grid { x, y, counts } => Geometry::Rectangle { x: *x, y: *y, subdomains: *counts },
            Origin::Mesh(mesh) => Geometry::Mesh { mesh: Mesh::clone(mesh) },
            Origin::Maps => {
                let part = |side: &super::forest::RootSide| match *side {
                    super::forest::RootSide::Boundary(part) => Some(part),
                    super::forest::RootSide::Root(..) => None,
                };
                let Decomposition { trunk, parts, .. } = self;
                Geometry::Maps {
                    maps: trunk.maps.iter().map(|map| map.description()).collect::<Option<_>>()?,
                    boundary: trunk.roots.iter().map(|root| root.sides.iter().map(part).collect()).collect(),
                    parts: parts.clone(),
                }
            }
        };
        if self.len() == self.trunk.roots.len() {
            return Some(roots);
        }
        let leaves = self.forest().leaves().iter().map(|leaf| leaf.numbers()).collect();
        let open = self.forest().open_corners().iter().copied().collect();
        Some(Geometry::Forest { roots: Box::new(roots), leaves, open })
    }

    /// The same roots with other leaves.
    fn with_leaves(&self, leaves: &[LeafNumbers], open: &[Corner]) -> Result<Self> {
        Ok(self.with_forest(self.forest().with_leaves(leaves, open)?))
    }
}
