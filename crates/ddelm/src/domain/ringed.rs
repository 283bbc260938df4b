//! A decomposition with rings about some of its vertices.
//!
//! Every element that has such a vertex as a corner gives way to [stacks of rings](crate::domain::corner) about it, and everything
//! else stays as it is. Who meets whom follows from who met whom before, never from coordinates, which are `1e-12` apart:
//!
//! ```text
//!  d-----------b      a quadrilateral with its corner c at the vertex: a stack on either side of the diagonal.
//!  |\       \ /|      Rings of a stack meet each other, rings of neighbouring stacks meet one by one along a ray,
//!  | \ ...   /\|      inside of the element and beyond it; the outermost ones have the sides a b and b d of the element;
//!  |  \    /...|      behind the innermost ones is nothing but the core.
//!  c-----------a
//! ```
//!
//! For that an element has one such corner at most, and meets its neighbours about the vertex in whole sides: the forest
//! is split until it is so. An element that opens wide, as its material sees it, has several stacks side by side; then its neighbours
//! outside are cut until the pieces that meet are the same, or the one is half of the other.

mod builder;
mod stacks;

use crate::base::error::{Error, Result};

use super::corner::RingVertex;
use super::decomposition::{Decomposition, Rings, Subdomain};
use super::exponents::Sector;
use super::forest::{Corner, Leaf, Toward, Wish};
use super::shape::Shape;
use builder::Builder;

/// How often an element with rings is split at once, at most.
const MOST_LEVELS: u32 = 3;

/// How often elements are split until they can have rings.
const MOST_ROUNDS: usize = 128;

/// Rounds in which what lies beyond wide stacks is cut, at most. One or two are enough, but where elements about a vertex follow, they have wide
/// stacks again, and so on without end.
const MOST_BEYOND: usize = 2;

impl Rings {
    /// [`Decomposition::split_as`].
    pub fn split(&self, which: &[(usize, Wish)]) -> Result<Decomposition> {
        let of = |&(s, wish): &(usize, Wish)| (self.elements[s], self.toward_rings(self.elements[s], wish));
        let mut elements: Vec<(usize, Wish)> = which.iter().map(of).collect();
        // Of several wishes for one element the one with most levels.
        elements.sort_by_key(|(s, wish)| (*s, std::cmp::Reverse(wish.levels)));
        elements.dedup_by_key(|(s, _)| *s);
        let places = places(&self.base, &self.vertices);
        let ringed = |base: Decomposition| base.with_rings_about(&vertices_at(&base, &places));
        // Strips may come so close to a vertex that its elements cannot follow; squares can.
        let squares = || self.base.split(&elements.iter().map(|(s, _)| *s).collect::<Vec<_>>());
        ringed(self.base.split_as(&elements)?).or_else(|_| ringed(squares()?))
    }

    /// An element with rings is cut in both directions, and toward its vertex: stacks of rings want corners that are no splinters.
    fn toward_rings(&self, element: usize, wish: Wish) -> Wish {
        let subdomain = &self.base.subdomains[element];
        let ringed = |v: &usize| self.vertices.iter().any(|ringed| ringed.vertex == *v);
        let Some(corner) = subdomain.vertices.iter().position(ringed) else { return wish };
        let levels = wish.levels[0].max(wish.levels[1]).min(MOST_LEVELS);
        let toward = match subdomain.map.shape() {
            Shape::Triangle => Toward::Corner(corner),
            Shape::Quadrilateral => Toward::Ends(Shape::Quadrilateral.corners()[corner].map(|v| Some(v > 0.5))),
        };
        Wish { levels: [levels; 2], toward }
    }

    /// [`Decomposition::periodic`].
    pub fn periodic(&self, pairs: &[(usize, usize)]) -> Result<Decomposition> {
        let base = self.base.clone().periodic(pairs)?;
        base.with_rings_about(&vertices_at(&base, &places(&self.base, &self.vertices)))
    }

    /// The corners of subdomains of `base` with rings about them: the subdomain, which corner, and what is there.
    pub fn corners(&self) -> Vec<(usize, usize, &RingVertex)> {
        let at = |v: usize| self.vertices.iter().find(|ringed| ringed.vertex == v);
        let of = |(s, subdomain): (usize, &Subdomain)| {
            let corner = move |(k, &v): (usize, &usize)| Some((s, k, at(v)?));
            subdomain.vertices.iter().enumerate().filter_map(corner).collect::<Vec<_>>()
        };
        self.base.subdomains.iter().enumerate().flat_map(of).collect()
    }
}

impl Decomposition {
    /// The decomposition with rings about some of its vertices, given with the smallest exponent of the solution there
    /// (see [`exponents`](crate::domain::exponents)), where no direction is preferred.
    pub fn with_rings(&self, vertices: &[(usize, f64)]) -> Result<Self> {
        self.with_rings_about(&vertices.iter().map(|&vertex| vertex.into()).collect::<Vec<_>>())
    }

    /// The decomposition with rings about some of its vertices. Where elements have two such corners, neighbours about a vertex are of
    /// different size, or what lies beyond the rings sees the vertex under a wide angle, they are split before.
    pub fn with_rings_about(&self, vertices: &[RingVertex]) -> Result<Self> {
        self.check_rings(vertices)?;
        if vertices.is_empty() {
            return Ok(self.open_at(&[]));
        }
        let places = places(self, vertices);
        let (mut base, mut beyond) = (self.clone(), 0);
        for _ in 0..MOST_ROUNDS {
            base = base.open_at(&vertices_at(&base, &places));
            let builder = Builder::new(&base, vertices_at(&base, &places));
            let mut which = builder.elements_to_split();
            if which.is_empty() && beyond < MOST_BEYOND {
                beyond += 1;
                which = builder.beyond_wide_stacks();
            }
            if which.is_empty() {
                return Ok(builder.build());
            }
            base = base.split_as(&which)?;
        }
        refuse(format!("{} vertices", vertices.len()), "they are too close to each other")
    }

    /// The decomposition with rings about some of its vertices, if no element has to be split for that: as a file has it.
    pub(super) fn with_rings_again(&self, vertices: &[RingVertex]) -> Result<Self> {
        self.check_rings(vertices)?;
        // A vertex may be named by every element about it.
        let vertices = vertices_at(self, &places(self, vertices));
        let base = self.open_at(&vertices);
        let builder = Builder::new(&base, vertices.clone());
        match builder.elements_to_split().as_slice() {
            [] => Ok(builder.build()),
            _ => refuse(format!("{} vertices", vertices.len()), "elements about them do not meet in whole sides"),
        }
    }

    /// Whether there can be such rings.
    fn check_rings(&self, vertices: &[RingVertex]) -> Result<()> {
        let is_wrong = |v: &&RingVertex| v.vertex >= self.vertices.len() || v.exponent.is_nan() || v.exponent <= 0.0;
        if let Some(RingVertex { vertex, exponent, .. }) = vertices.iter().find(is_wrong) {
            let value = format!("vertex {vertex}, exponent {exponent}");
            return refuse(value, "there is no such vertex, or no such exponent");
        }
        if self.rings.is_some() {
            return refuse(format!("{} vertices", vertices.len()), "the decomposition has rings already");
        }
        Ok(())
    }

    /// The decomposition whose elements about some vertices may meet any number of smaller ones: where a direction is preferred, their
    /// stacks get narrow.
    fn open_at(&self, vertices: &[RingVertex]) -> Self {
        let mut narrow = vec![false; self.vertices.len()];
        vertices.iter().for_each(|ringed| narrow[ringed.vertex] = !ringed.sectors.is_empty());
        let corners = |(leaf, subdomain): (&Leaf, &Subdomain)| {
            let here = (0..subdomain.vertices.len()).filter(|&k| narrow[subdomain.vertices[k]]);
            here.map(|k| (leaf.root, leaf.corner(k))).collect::<Vec<Corner>>()
        };
        let open = self.forest().leaves().iter().zip(&self.subdomains).flat_map(corners).collect();
        match *self.forest().open_corners() == open {
            true => self.clone(),
            false => self.with_forest(self.forest().opened(open)),
        }
    }

    /// The decomposition without its rings, if it has any.
    pub fn without_rings(&self) -> Option<&Decomposition> {
        self.rings.as_ref().map(|rings| &rings.base)
    }

    /// If a subdomain is a ring: the vertex of [the decomposition without rings](Decomposition::without_rings) that it is about, and
    /// how many rings are around it.
    pub fn ring(&self, s: usize) -> Option<(usize, usize)> {
        self.rings.as_ref()?.places[s]
    }

    /// The decomposition without the rings about some [vertices](Decomposition::ring_vertices).
    pub fn without_rings_about(&self, vertices: &[usize]) -> Result<Self> {
        let Some(rings) = &self.rings else { return Ok(self.clone()) };
        let is_kept = |ringed: &&RingVertex| !vertices.contains(&ringed.vertex);
        rings.base.with_rings_about(&rings.vertices.iter().filter(is_kept).cloned().collect::<Vec<_>>())
    }

    /// The vertices of [the decomposition without rings](Decomposition::without_rings) that have rings.
    pub fn ring_vertices(&self) -> &[RingVertex] {
        self.rings.as_ref().map_or(&[], |rings| &rings.vertices)
    }
}

fn refuse<T>(value: String, problem: &str) -> Result<T> {
    Err(Error::input("discretization.corners", value, problem, "choose vertices of the decomposition"))
}

/// A corner for each of some vertices: what stays the same when leaves are split.
fn places(decomposition: &Decomposition, vertices: &[RingVertex]) -> Vec<(Corner, RingVertex)> {
    let mut found: Vec<Option<Corner>> = vec![None; decomposition.vertices.len()];
    for (leaf, subdomain) in decomposition.forest().leaves().iter().zip(&decomposition.subdomains) {
        for (k, &v) in subdomain.vertices.iter().enumerate() {
            found[v].get_or_insert((leaf.root, leaf.corner(k)));
        }
    }
    vertices.iter().map(|ringed| (found[ringed.vertex].expect("a vertex is a corner"), ringed.clone())).collect()
}

/// The vertices at corners, in ascending order, each once with the smallest of its exponents and all of its sectors.
fn vertices_at(decomposition: &Decomposition, places: &[(Corner, RingVertex)]) -> Vec<RingVertex> {
    let mut found: Vec<RingVertex> = Vec::new();
    for (leaf, subdomain) in decomposition.forest().leaves().iter().zip(&decomposition.subdomains) {
        for (k, &vertex) in subdomain.vertices.iter().enumerate() {
            let here = places.iter().filter(|(place, _)| *place == (leaf.root, leaf.corner(k)));
            found.extend(here.map(|(_, ringed)| RingVertex { vertex, ..ringed.clone() }));
        }
    }
    found.sort_by(|a, b| a.vertex.cmp(&b.vertex).then(a.exponent.total_cmp(&b.exponent)));
    found.dedup_by(|next, kept| {
        let same = next.vertex == kept.vertex;
        if same {
            let new = |sector: &&Sector| !kept.sectors.contains(sector);
            let more: Vec<Sector> = next.sectors.iter().filter(new).copied().collect();
            kept.sectors.extend(more);
        }
        same
    });
    found
}

#[cfg(test)]
#[path = "ringed_tests.rs"]
mod tests;
