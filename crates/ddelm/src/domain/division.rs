//! Columns and rows: how a rectangle is divided evenly, and how many there are of what a decomposition consists of.
//!
//! No other storey knows that the subdomains of a rectangle form a grid. Who looks for a finer decomposition, foresees a
//! cost or prints a number of subdomains asks here.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::error::Result;
use crate::problem::model::SIDES;

use super::area::{Cut, Domain};
use super::decomposition::Decomposition;
use super::map::Affine;
use super::shape::Shape;

/// Digits to which the maps of scaled copies agree.
const SAME_SHAPE: f64 = 1e8;

/// Subdomains along the longer side of a rectangle that a search begins with, at most.
const MOST_ALONG: usize = 32;

/// Columns and rows of equal subdomains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division([usize; 2]);

impl Division {
    /// The division that a search for a tolerance begins with: two subdomains across the shorter side, and nearly square
    /// ones; twice as many until every rank has one. `None` where a domain has no columns and rows.
    pub fn first(domain: &Domain, ranks: usize) -> Option<Self> {
        let (x, y) = domain.as_rectangle()?;
        let ratio = (x[1] - x[0]) / (y[1] - y[0]);
        let along = |r: f64| ((2.0 * r).round() as usize).clamp(2, MOST_ALONG);
        let mut counts = if ratio >= 1.0 { [along(ratio), 2] } else { [2, along(1.0 / ratio)] };
        while counts[0] * counts[1] < ranks {
            counts = counts.map(|c| 2 * c);
        }
        Some(Division(counts))
    }

    /// A slightly finer one: a quarter more in each direction, at least one.
    pub fn finer(self) -> Self {
        Division(self.0.map(|c| c + (c / 4).max(1)))
    }

    /// The one beside it, on which a second solution is sought: a quarter more in each direction, rounded up.
    fn beside(self) -> Self {
        Division(self.0.map(|count| count.saturating_add(count.div_ceil(4))))
    }

    /// One more in one direction.
    pub fn one_more(self) -> Self {
        Division([self.0[0] + 1, self.0[1]])
    }

    /// The next one in which all lines of another are lines.
    pub fn keeping(self, lines: Self) -> Self {
        Division([0, 1].map(|k| self.0[k].div_ceil(lines.0[k]) * lines.0[k]))
    }

    /// So many times as many in each direction, at least as many as another has.
    pub fn grown(self, step: f64, least: Self) -> Self {
        Division([0, 1].map(|k| ((self.0[k] as f64 * step).ceil() as usize).max(least.0[k])))
    }

    /// How many times as many there are in a direction of a finer one.
    pub fn growth(self, finer: Self) -> f64 {
        (finer.subdomains() as f64 / self.subdomains() as f64).sqrt()
    }

    /// The subdomains.
    pub fn subdomains(self) -> usize {
        self.0[0].saturating_mul(self.0[1])
    }

    /// The cut that makes it.
    pub fn cut(self) -> Cut {
        Cut::Counts(self.0)
    }

    /// The number of its subdomains, as it is shown.
    pub fn count(self) -> Count {
        Count::Grid(self.0)
    }
}

/// A number of subdomains, as it is shown and saved: by columns and rows where they have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// In x and y.
    Grid([usize; 2]),
    /// In all.
    Total(usize),
}

impl Count {
    /// All of them.
    pub fn total(self) -> usize {
        match self {
            Count::Grid([nx, ny]) => nx.saturating_mul(ny),
            Count::Total(count) => count,
        }
    }

    /// Columns and rows, where there are any.
    pub fn columns_and_rows(self) -> Option<[usize; 2]> {
        match self {
            Count::Grid(counts) => Some(counts),
            Count::Total(_) => None,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Grid([nx, ny]) => write!(f, "{nx} x {ny}"),
            Count::Total(count) => write!(f, "{count}"),
        }
    }
}

/// How many there are of what a decomposition consists of: what a cost is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Subdomains.
    pub subdomains: usize,
    /// Subdomains that are not scaled copies of each other.
    pub shapes: usize,
    /// Interfaces.
    pub edges: usize,
    /// Points inside where subdomains meet.
    pub crosses: usize,
}

impl Tally {
    /// Of a rectangle cut into `counts[0] x counts[1]` equal ones, which need not exist.
    pub fn of_rectangle(counts: [usize; 2]) -> Self {
        let ([nx, ny], [lx, ly]) = (counts, counts.map(|count| count.saturating_sub(1)));
        Tally {
            subdomains: nx.saturating_mul(ny),
            shapes: 1,
            edges: lx.saturating_mul(ny).saturating_add(nx.saturating_mul(ly)),
            crosses: lx.saturating_mul(ly),
        }
    }
}

impl Domain {
    /// Whether the domain suggests how large its subdomains are. A rectangle has sides and nothing else.
    pub fn suggests_sizes(&self) -> bool {
        self.as_rectangle().is_none()
    }

    /// Whether the boundary has the sides of a rectangle, and no others.
    pub fn has_plain_sides(&self) -> bool {
        self.as_rectangle().is_some() && self.sides() == SIDES
    }

    /// Whether the domain can be a single subdomain.
    pub fn can_be_whole(&self) -> bool {
        self.as_rectangle().is_some()
    }

    /// The number of subdomains that a cut makes, where that is known without making them; a few more where sides are divided.
    pub fn count(&self, cut: &Cut) -> Option<Count> {
        self.counts(cut).map(Count::Grid)
    }

    /// What a cut makes, where that is known without making it: periodic sides are interfaces, and divided ones cut more
    /// than they are asked to.
    pub fn foreseen(&self, cut: &Cut) -> Option<Tally> {
        self.plain_rectangle("plain costs").ok()?;
        self.counts(cut).map(Tally::of_rectangle)
    }

    /// The cut on which a second solution is sought, if the domain has columns and rows; the same cut otherwise.
    pub fn cut_beside(&self, cut: &Cut) -> Cut {
        self.counts(cut).map_or(*cut, |counts| Division(counts).beside().cut())
    }

    /// The middle one of the subdomains that a cut makes as a domain of its own, if they are rectangles.
    pub fn middle_subdomain(&self, cut: &Cut) -> Option<Result<Domain>> {
        let ([nx, ny], (x, y)) = (self.counts(cut)?, self.as_rectangle()?);
        let middle = |side: [f64; 2], count: usize| {
            let (width, k) = ((side[1] - side[0]) / count as f64, count / 2);
            [side[0] + k as f64 * width, side[0] + (k + 1) as f64 * width]
        };
        Some(Domain::rectangle(middle(x, nx), middle(y, ny)))
    }
}

impl Decomposition {
    /// The number of subdomains.
    pub fn count(&self) -> Count {
        self.grid().map_or(Count::Total(self.len()), |(_, _, counts)| Count::Grid(counts))
    }

    /// Whether subdomains are equal rectangles, in columns and rows: then the boundary is that of the bounding box.
    pub fn fills_a_frame(&self) -> bool {
        self.grid().is_some()
    }

    /// Another decomposition of a rectangle, with a quarter more subdomains in each direction and without rings. `None` where
    /// there are no columns and rows, or one subdomain only; and where sides are periodic, which are interfaces.
    pub fn beside(&self) -> Option<Result<Self>> {
        let plain = self.without_rings().unwrap_or(self);
        let (x, y, counts) = plain.grid().filter(|(_, _, counts)| !self.is_periodic() && *counts != [1, 1])?;
        Some(Self::rectangle(x, y, Division(counts).beside().0))
    }

    /// How many there are of what it consists of.
    pub fn tally(&self) -> Tally {
        Tally {
            subdomains: self.len(),
            shapes: shapes(self),
            edges: self.edges.len(),
            crosses: self.vertices.iter().filter(|vertex| vertex.parts.is_empty()).count(),
        }
    }
}

/// How many subdomains are not scaled copies of others; a curved one is none.
fn shapes(decomposition: &Decomposition) -> usize {
    let mut known: HashSet<(Shape, [i64; 3])> = HashSet::new();
    let curved = decomposition.subdomains.iter().filter(|subdomain| match subdomain.map.affine() {
        None => true,
        Some(Affine { jacobian: [[a, b], [c, d]], .. }) => {
            // Lengths of the sides and their angle: turned copies are alike, too.
            let area = (a * d - b * c).abs();
            let metric = [a * a + c * c, a * b + c * d, b * b + d * d];
            let digits = metric.map(|entry| (entry / area * SAME_SHAPE).round() as i64);
            known.insert((subdomain.map.shape(), digits));
            false
        }
    });
    // Curved ones are counted first, for that fills the set.
    let curved = curved.count();
    curved + known.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_foreseen() {
        let domain = Domain::rectangle([0.0, 1.0], [0.0, 2.0]).unwrap();
        for counts in [[1, 1], [3, 2], [1, 7]] {
            let cut = Cut::Counts(counts);
            let found = domain.decompose(&cut).unwrap();
            assert_eq!(domain.foreseen(&cut), Some(found.tally()));
            assert_eq!(domain.count(&cut), Some(found.count()));
            let beside = found.beside().map(|other| other.unwrap().count());
            assert_eq!(beside, (counts != [1, 1]).then(|| domain.count(&domain.cut_beside(&cut)).unwrap()));
        }
    }

    #[test]
    fn divisions_grow_and_keep_lines() {
        let domain = Domain::rectangle([0.0, 3.0], [0.0, 1.0]).unwrap();
        let first = Division::first(&domain, 1).unwrap();
        assert_eq!(first.count(), Count::Grid([6, 2]));
        assert_eq!(first.finer().count(), Count::Grid([7, 3]));
        assert_eq!(first.finer().keeping(first).count(), Count::Grid([12, 4]));
        assert_eq!(first.grown(1.1, first.finer()).count(), Count::Grid([7, 3]));
        assert_eq!(first.growth(first.keeping(first.one_more())), 7.0_f64.sqrt() / 6.0_f64.sqrt());
        assert!(Division::first(&domain, 100).unwrap().subdomains() >= 100);
    }

    #[test]
    fn counts_are_read_as_they_are_written() {
        for (count, text, shown) in [(Count::Grid([3, 2]), "[3,2]", "3 x 2"), (Count::Total(12), "12", "12")] {
            assert_eq!(count.to_string(), shown);
            assert_eq!(toml::Value::try_from(count).unwrap().to_string().replace(' ', ""), text);
            assert_eq!(toml::Value::try_from(count).unwrap().try_into::<Count>().unwrap(), count);
        }
    }
}
