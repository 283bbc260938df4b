//! Which rank holds which subdomains.
//!
//! Recursive coordinate bisection: the subdomains are cut in two by a line across their longer extent, in proportion
//! to the ranks on either side, and each part is cut again. Parts come out compact, so most edges of a rank lie
//! between its own subdomains, and differ by at most a few subdomains in size.
//!
//! # References
//! - M. J. Berger, S. H. Bokhari, A partitioning strategy for nonuniform problems on multiprocessors, IEEE Trans.
//!   Comput. 36 (1987).

use crate::base::error::{Error, Result};
use crate::domain::decomposition::Decomposition;
use crate::domain::map::Point;

/// The rank of every subdomain. All ranks find the same without a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    rank_of: Vec<usize>,
}

impl Partition {
    /// Deals the subdomains out to so many ranks; each gets at least one.
    pub fn new(decomposition: &Decomposition, ranks: usize) -> Result<Self> {
        if ranks > decomposition.len() {
            return Err(Error::input(
                "discretization.subdomains",
                format!("{} subdomains", decomposition.len()),
                format!("they cannot be shared by {ranks} ranks"),
                format!("start at most {} ranks, or use more subdomains", decomposition.len()),
            ));
        }
        let centres: Vec<Point> =
            decomposition.subdomains.iter().map(|s| s.map.point(s.map.shape().center())).collect();
        let mut partition = Partition { rank_of: vec![0; centres.len()] };
        partition.bisect(&centres, (0..centres.len()).collect(), 0, ranks);
        Ok(partition)
    }

    fn bisect(&mut self, centres: &[Point], mut part: Vec<usize>, first: usize, ranks: usize) {
        if ranks <= 1 {
            part.into_iter().for_each(|s| self.rank_of[s] = first);
            return;
        }
        let extent = |axis: usize| {
            let along = || part.iter().map(|&s| centres[s][axis]);
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        let axis = usize::from(extent(1) > extent(0));
        // Where centres are level the number decides, so that every rank finds the same order.
        part.sort_by(|&a, &b| centres[a][axis].total_cmp(&centres[b][axis]).then(a.cmp(&b)));
        let half = ranks / 2;
        let rest = part.split_off(part.len() * half / ranks);
        self.bisect(centres, part, first, half);
        self.bisect(centres, rest, first + half, ranks - half);
    }

    /// The rank that holds a subdomain.
    pub fn rank_of(&self, subdomain: usize) -> usize {
        self.rank_of[subdomain]
    }

    /// The subdomains of a rank, in ascending order.
    pub fn subdomains(&self, rank: usize) -> Vec<usize> {
        (0..self.rank_of.len()).filter(|&s| self.rank_of[s] == rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_get_equal_shares() {
        let d = Decomposition::rectangle([0.0, 3.0], [0.0, 1.0], [7, 5]).unwrap();
        for ranks in 1..=d.len() {
            let partition = Partition::new(&d, ranks).unwrap();
            let sizes: Vec<usize> = (0..ranks).map(|r| partition.subdomains(r).len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), d.len());
            let fair = d.len() / ranks;
            assert!(sizes.iter().all(|&n| n > 0 && n >= fair / 2 && n <= 2 * fair + 1), "{sizes:?}");
        }
        assert!(Partition::new(&d, 36).is_err());
    }

    /// Every round of splitting deals out its own subdomains: those that were split go to other ranks.
    #[test]
    fn what_was_split_is_balanced_again() {
        let first = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [4, 4]).unwrap();
        let split = (0..6).fold(first, |d, _| d.split(&[0]).unwrap());
        for ranks in [2, 3, 4] {
            let partition = Partition::new(&split, ranks).unwrap();
            let sizes: Vec<usize> = (0..ranks).map(|r| partition.subdomains(r).len()).collect();
            assert!(sizes.iter().all(|&n| n.abs_diff(split.len() / ranks) <= 1), "{sizes:?}");
        }
    }

    #[test]
    fn neighbours_stay_together() {
        let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [16, 16]).unwrap();
        let partition = Partition::new(&d, 4).unwrap();
        let cut = d
            .edges
            .iter()
            .filter(|e| partition.rank_of(e.sides[0].subdomain) != partition.rank_of(e.sides[1].subdomain))
            .count();
        // Four squares of 8 x 8 meet along two lines of 16 edges.
        assert_eq!(cut, 32);
    }
}
