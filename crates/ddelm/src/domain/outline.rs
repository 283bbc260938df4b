//! Outlines: a domain is an outer loop, holes in it, and regions of other material.

use crate::base::error::{Error, Result};

use super::arrangement::Arrangement;
use super::plane::Rectangle;

pub use super::loops::{Loop, Piece, SAME_POINT};

/// A named loop of a hole or a region.
#[derive(Debug, Clone)]
pub struct NamedLoop {
    /// Its name.
    pub name: String,
    /// Its outline.
    pub outline: Loop,
}

/// A domain by its outlines, checked: an outer loop, holes in it, regions.
#[derive(Debug, Clone)]
pub struct Outline {
    pub(super) arrangement: Arrangement,
    names: Vec<String>,
    regions: Vec<String>,
}

impl Outline {
    /// Checks that loops do not cross themselves or each other, that holes lie inside, and that regions do not leave the
    /// domain. Regions may touch the boundary and each other, may lie in each other (the inner one counts), and a hole
    /// may lie across them.
    pub fn new(outer: Loop, holes: Vec<NamedLoop>, regions: Vec<NamedLoop>) -> Result<Self> {
        let region_names: Vec<String> = regions.iter().map(|r| r.name.clone()).collect();
        for (k, name) in region_names.iter().enumerate() {
            if region_names[..k].contains(name) {
                let key = format!("{}.name", regions[k].outline.key);
                return Err(Error::input(
                    key,
                    name,
                    "another region has this name",
                    "give every region a name of its own",
                ));
            }
        }
        std::iter::once(&outer)
            .chain(regions.iter().map(|region| &region.outline))
            .try_for_each(Loop::encloses_area)?;
        let holes: Vec<Loop> = holes.into_iter().map(|hole| hole.outline.with_name(&hole.name)).collect();
        let mut names: Vec<String> = Vec::new();
        for piece in std::iter::once(&outer).chain(&holes).flat_map(|l| &l.pieces) {
            let name = piece.name.as_ref().expect("pieces of a closed loop have names");
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let regions: Vec<Loop> = regions.into_iter().map(|region| region.outline).collect();
        let arrangement = Arrangement::new(&outer, &holes, &regions, &names)?;
        Ok(Outline { arrangement, names, regions: region_names })
    }

    /// The domain inside one loop.
    pub fn simple(outer: Loop) -> Result<Self> {
        Self::new(outer, Vec::new(), Vec::new())
    }

    /// The names of the parts of the boundary.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the regions.
    pub fn regions(&self) -> &[String] {
        &self.regions
    }

    /// The smallest box around the domain.
    pub fn bounding_box(&self) -> Rectangle {
        self.arrangement.bounding_box()
    }
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
