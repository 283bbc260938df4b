//! Fronts: the dense matrices in which the interface system is factored, and the tree they form.
//!
//! Eliminating a block of S couples all blocks it is joined with. The multifrontal method gathers what an elimination
//! touches in one small dense matrix, the *front*: first the blocks it eliminates (pivots), then those it couples
//! (boundary). What is left of the boundary after the elimination is added into the front of the parent, which
//! eliminates the first boundary block. So S is never assembled as a whole, subtrees do not depend on each other, and
//! all arithmetic is dense.
//!
//! This file is the symbolic phase: it needs the sizes, the points and the elements of the blocks, but no numbers.
//!
//! # References
//! - J. W. H. Liu, The multifrontal method for sparse matrix solution, SIAM Review 34 (1992).

use std::ops::Range;

use super::dissection::nested_dissection;

/// Time to assemble one entry of a front, in units of one operation of a dense kernel. It decides how many explicit
/// zeros are worth a larger front. Measured; 32 to 64 differ by a tenth.
const ASSEMBLY: f64 = 64.0;

/// The elimination tree of an interface system: everything about its factorization but the numbers.
#[derive(Debug, Clone)]
pub struct Symbolic {
    /// Blocks of every element, as they were given.
    pub(super) elements: Vec<Vec<usize>>,
    /// First unknown of every block, and the number of unknowns as the last entry.
    pub(super) offsets: Vec<usize>,
    /// Unknowns in the order of their elimination.
    pub(super) order: Vec<usize>,
    /// Children come before parents, and every subtree is contiguous.
    pub(super) fronts: Vec<Front>,
    /// Fronts without a parent.
    pub(super) roots: Vec<usize>,
}

/// One dense matrix of the factorization.
#[derive(Debug, Clone)]
pub(super) struct Front {
    /// Its blocks: the pivots first, then the boundary, both in the order of elimination.
    pub blocks: Vec<usize>,
    /// First row of every block.
    pub rows: Vec<usize>,
    /// Number of unknowns that it eliminates.
    pub pivots: usize,
    /// Number of unknowns that it couples.
    pub boundary: usize,
    /// Elements that belong to it: those whose first block to be eliminated is a pivot here.
    pub elements: Vec<usize>,
    /// Fronts whose boundary begins with a pivot of this one.
    pub children: Vec<usize>,
    /// Fronts of its subtree; itself is the last one.
    pub subtree: Range<usize>,
    /// Unknowns of its subtree in the order of elimination; its pivots are the last ones.
    pub unknowns: Range<usize>,
    /// Where its boundary lies in the parent's front.
    pub runs: Vec<Run>,
    /// Operations of its subtree.
    pub work: f64,
    /// Entries of its panel in the storage of all panels of the factor.
    pub panel: Range<usize>,
}

/// Consecutive boundary rows that are consecutive in the parent's front as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// First row in the boundary.
    pub from: usize,
    /// First row in the parent's front.
    pub to: usize,
    /// Number of rows.
    pub len: usize,
}

impl Symbolic {
    /// Plans the factorization of S = sum_k P_k' M_k P_k.
    ///
    /// Block b holds `sizes[b]` unknowns, numbered after those of block b - 1, and lies at `points[b]`; element k
    /// couples the blocks `elements[k]`, each named once.
    pub fn new(sizes: &[usize], points: &[[f64; 2]], elements: &[Vec<usize>]) -> Self {
        Self::with_order(sizes, elements, &nested_dissection(points, sizes, elements))
    }

    /// The same with a given order of elimination of the blocks.
    pub fn with_order(sizes: &[usize], elements: &[Vec<usize>], order: &[usize]) -> Self {
        let offsets = starts(sizes.iter().copied().chain([0]));
        let mut groups = Groups::new(sizes, elements, order);
        groups.amalgamate();
        let (fronts, order) = groups.fronts(elements);
        let roots = roots(&fronts);
        let order = order.into_iter().flat_map(|block| offsets[block]..offsets[block + 1]).collect();
        Self { elements: elements.to_vec(), offsets, order, fronts, roots }
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.order.len()
    }

    /// Number of entries of the factor, its explicit zeros included.
    pub fn nonzeros(&self) -> usize {
        self.fronts.iter().map(|front| front.pivots * (front.pivots + 1) / 2 + front.pivots * front.boundary).sum()
    }

    /// Number of entries of all panels.
    pub(super) fn panel_entries(&self) -> usize {
        self.fronts.last().map_or(0, |front| front.panel.end)
    }

    /// Number of unknowns of a block.
    pub(super) fn block_size(&self, block: usize) -> usize {
        self.offsets[block + 1] - self.offsets[block]
    }

    /// Number of unknowns of an element.
    pub(super) fn element_size(&self, k: usize) -> usize {
        self.elements[k].iter().map(|&block| self.block_size(block)).sum()
    }

    /// Number of entries of the panels in the subtree of a front.
    pub(super) fn subtree_entries(&self, f: usize) -> usize {
        let Front { subtree, panel, .. } = &self.fronts[f];
        panel.end - self.fronts[subtree.start].panel.start
    }

    /// Floating-point operations of the factorization.
    pub fn operations(&self) -> f64 {
        self.roots.iter().map(|&root| self.fronts[root].work).sum()
    }

    /// Bytes that the factor occupies.
    pub fn factor_bytes(&self) -> usize {
        8 * self.panel_entries()
    }
}

/// Operations to eliminate `pivots` unknowns that are coupled with `boundary` others.
fn operations(pivots: usize, boundary: usize) -> f64 {
    let (p, b) = (pivots as f64, boundary as f64);
    p * p * p / 3.0 + p * p * b + p * b * b
}

/// Estimated time of a front, in operations.
fn cost(pivots: usize, boundary: usize) -> f64 {
    let rows = (pivots + boundary) as f64;
    operations(pivots, boundary) + ASSEMBLY * rows * rows
}

/// Fronts in the making: groups of blocks that are eliminated together. Inside, a block is named by its rank in the
/// given order.
struct Groups<'a> {
    sizes: &'a [usize],
    order: &'a [usize],
    rank: Vec<usize>,
    groups: Vec<Group>,
}

#[derive(Debug, Default, Clone)]
struct Group {
    /// Empty once the group has been merged into its parent.
    pivots: Vec<usize>,
    boundary: Vec<usize>,
    children: Vec<usize>,
}

impl<'a> Groups<'a> {
    /// One group for each block; its boundary is what its elements and its children couple it with.
    fn new(sizes: &'a [usize], elements: &[Vec<usize>], order: &'a [usize]) -> Self {
        let rank = inverse(order);
        let mut groups = vec![Group::default(); order.len()];
        for element in elements {
            let ranks = element.iter().map(|&block| rank[block]);
            if let Some(first) = ranks.clone().min() {
                groups[first].boundary.extend(ranks);
            }
        }
        for k in 0..groups.len() {
            let mut boundary = std::mem::take(&mut groups[k].boundary);
            boundary.extend(groups[k].children.iter().flat_map(|&child| &groups[child].boundary));
            boundary.sort_unstable();
            boundary.dedup();
            boundary.retain(|&j| j != k);
            if let Some(&parent) = boundary.first() {
                groups[parent].children.push(k);
            }
            groups[k].boundary = boundary;
            groups[k].pivots.push(k);
        }
        Self { sizes, order, rank, groups }
    }

    fn size(&self, rank: usize) -> usize {
        self.sizes[self.order[rank]]
    }

    fn unknowns(&self, ranks: &[usize]) -> usize {
        ranks.iter().map(|&rank| self.size(rank)).sum()
    }

    /// Merges groups into their parents where one large front costs less than two small ones.
    fn amalgamate(&mut self) {
        for k in 0..self.groups.len() {
            let boundary = self.unknowns(&self.groups[k].boundary);
            let mut pivots = self.size(k);
            for child in std::mem::take(&mut self.groups[k].children) {
                let more = self.unknowns(&self.groups[child].pivots);
                let apart = cost(pivots, boundary) + cost(more, self.unknowns(&self.groups[child].boundary));
                if cost(pivots + more, boundary) <= apart {
                    pivots += more;
                    self.merge(child, k);
                } else {
                    self.groups[k].children.push(child);
                }
            }
        }
    }

    fn merge(&mut self, child: usize, parent: usize) {
        let Group { mut pivots, children, .. } = std::mem::take(&mut self.groups[child]);
        pivots.append(&mut self.groups[parent].pivots);
        self.groups[parent].pivots = pivots;
        self.groups[parent].children.extend(children);
    }

    /// The groups left, children before parents and subtrees contiguous.
    fn postorder(&self) -> Vec<usize> {
        let is_root = |k: &usize| !self.groups[*k].pivots.is_empty() && self.groups[*k].boundary.is_empty();
        let mut stack: Vec<usize> = (0..self.groups.len()).filter(is_root).collect();
        let mut order = Vec::new();
        while let Some(k) = stack.pop() {
            order.push(k);
            stack.extend(&self.groups[k].children);
        }
        order.reverse();
        order
    }

    /// The fronts in postorder, and the blocks in the order in which these eliminate them.
    fn fronts(&self, elements: &[Vec<usize>]) -> (Vec<Front>, Vec<usize>) {
        let postorder = self.postorder();
        let order: Vec<usize> = postorder.iter().flat_map(|&k| self.groups[k].pivots.iter().copied()).collect();
        let position = inverse(&order);
        // The front of every group, and the one that eliminates each block.
        let mut number = vec![0; self.groups.len()];
        let mut owner = vec![0; self.groups.len()];
        let mut fronts = Vec::with_capacity(postorder.len());
        for &k in &postorder {
            number[k] = fronts.len();
            for &pivot in &self.groups[k].pivots {
                owner[pivot] = fronts.len();
            }
            fronts.push(self.front(k, &position, &number, &fronts));
        }
        for (e, element) in elements.iter().enumerate() {
            let ranks = element.iter().map(|&block| self.rank[block]);
            if let Some(first) = ranks.min_by_key(|&rank| position[rank]) {
                fronts[owner[first]].elements.push(e);
            }
        }
        for parent in 0..fronts.len() {
            for child in fronts[parent].children.clone() {
                fronts[child].runs = runs(&fronts[child], &fronts[parent], self.sizes);
            }
        }
        (fronts, order.into_iter().map(|rank| self.order[rank]).collect())
    }

    /// The front of group k, given those before it; its elements and runs are still missing.
    fn front(&self, k: usize, position: &[usize], number: &[usize], before: &[Front]) -> Front {
        let Group { pivots, boundary, children } = &self.groups[k];
        let mut boundary = boundary.clone();
        boundary.sort_unstable_by_key(|&rank| position[rank]);
        let ranks = [&pivots[..], &boundary[..]].concat();
        let (pivots, boundary) = (self.unknowns(pivots), self.unknowns(&boundary));
        let children: Vec<usize> = children.iter().map(|&child| number[child]).collect();
        let eliminated = before.last().map_or(0, |front| front.unknowns.end);
        let first = children.first().map(|&child| &before[child]);
        let stored = before.last().map_or(0, |front| front.panel.end);
        Front {
            rows: starts(ranks.iter().map(|&rank| self.size(rank))),
            blocks: ranks.into_iter().map(|rank| self.order[rank]).collect(),
            pivots,
            boundary,
            elements: Vec::new(),
            subtree: first.map_or(before.len(), |child| child.subtree.start)..before.len() + 1,
            unknowns: first.map_or(eliminated, |child| child.unknowns.start)..eliminated + pivots,
            runs: Vec::new(),
            work: operations(pivots, boundary) + children.iter().map(|&child| before[child].work).sum::<f64>(),
            children,
            panel: stored..stored + pivots * (pivots + boundary),
        }
    }
}

/// The inverse of a permutation.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (k, &item) in order.iter().enumerate() {
        inverse[item] = k;
    }
    inverse
}

/// Fronts without a parent: the last ones of the subtrees that make up the whole list.
fn roots(fronts: &[Front]) -> Vec<usize> {
    let mut roots = Vec::new();
    let mut rest = fronts;
    while let Some(root) = rest.last() {
        roots.push(rest.len() - 1);
        rest = &rest[..root.subtree.start];
    }
    roots.reverse();
    roots
}

/// Sums of all earlier sizes.
fn starts(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    sizes
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum - size)
        })
        .collect()
}

/// Where the boundary of a child lies in its parent's front.
fn runs(child: &Front, parent: &Front, sizes: &[usize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut places = parent.blocks.iter().zip(&parent.rows);
    let boundary =
        child.blocks.iter().zip(&child.rows).filter(|&(&block, &row)| row >= child.pivots && sizes[block] > 0);
    for (&block, &row) in boundary {
        // Both lists are in the order of elimination: one pass over the parent's blocks finds all of the child's.
        let Some((_, &to)) = places.by_ref().find(|&(&b, _)| b == block) else { break };
        let from = row - child.pivots;
        match runs.last_mut() {
            Some(run) if run.to + run.len == to => run.len += sizes[block],
            _ => runs.push(Run { from, to, len: sizes[block] }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::dissection::tests::grid;

    fn plan(side: usize, size: usize) -> Symbolic {
        let (points, elements) = grid(side, side);
        Symbolic::new(&vec![size; points.len()], &points, &elements)
    }

    fn size(symbolic: &Symbolic, block: usize) -> usize {
        symbolic.offsets[block + 1] - symbolic.offsets[block]
    }

    #[test]
    fn every_element_fits_into_its_front() {
        let symbolic = plan(7, 3);
        let mut seen = vec![0; symbolic.elements.len()];
        for front in &symbolic.fronts {
            for &e in &front.elements {
                seen[e] += 1;
                let blocks = &symbolic.elements[e];
                assert!(blocks.iter().all(|block| front.blocks.contains(block)), "element {e}");
            }
        }
        assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
    }

    #[test]
    fn boundaries_meet_the_same_unknowns_in_the_parent() {
        let symbolic = plan(9, 2);
        let unknowns = |front: &Front| -> Vec<usize> {
            let blocks = front.blocks.iter();
            blocks.flat_map(|&block| symbolic.offsets[block]..symbolic.offsets[block + 1]).collect()
        };
        let mut checked = 0;
        for parent in &symbolic.fronts {
            let there = unknowns(parent);
            for &child in &parent.children {
                let child = &symbolic.fronts[child];
                let here = &unknowns(child)[child.pivots..];
                assert_eq!(child.runs.iter().map(|run| run.len).sum::<usize>(), child.boundary);
                for run in &child.runs {
                    assert_eq!(here[run.from..run.from + run.len], there[run.to..run.to + run.len]);
                    checked += run.len;
                }
            }
        }
        assert!(checked > 100);
    }

    #[test]
    fn fronts_are_in_postorder() {
        let symbolic = plan(9, 2);
        for (f, front) in symbolic.fronts.iter().enumerate() {
            assert_eq!(front.subtree.end, f + 1);
            let below: usize = front.children.iter().map(|&child| symbolic.fronts[child].subtree.len()).sum();
            assert_eq!(front.subtree.len(), below + 1);
            let pivots: usize = symbolic.fronts[front.subtree.clone()].iter().map(|front| front.pivots).sum();
            assert_eq!(front.unknowns.len(), pivots);
            // Pivot rows are the unknowns that the front eliminates.
            let first = front.unknowns.end - front.pivots;
            let pivot_blocks = front.blocks.iter().zip(&front.rows).filter(|&(_, &row)| row < front.pivots);
            for (&block, row) in pivot_blocks {
                assert_eq!(symbolic.order[first + row], symbolic.offsets[block]);
            }
        }
        let mut order = symbolic.order.clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..symbolic.unknowns()));
    }

    #[test]
    fn counts_are_those_of_a_dense_matrix_when_all_blocks_are_coupled() {
        let symbolic = Symbolic::new(&[2, 3, 4], &[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], &[vec![0, 1, 2]]);
        assert_eq!(symbolic.fronts.len(), 1);
        assert_eq!(symbolic.nonzeros(), 45);
        assert_eq!(symbolic.operations(), 243.0);
        assert_eq!(symbolic.factor_bytes(), 8 * 81);
        assert_eq!(size(&symbolic, 1), 3);
    }

    /// George's count for an n x n grid is 829/84 n^3 multiplications. Here a separator takes three blocks per
    /// subdomain, for the jump couples neighbours of neighbours; lower-order terms are negative, so that the exponent
    /// falls to 1.5 from above.
    #[test]
    fn operations_grow_as_nested_dissection_promises() {
        let plans: Vec<Symbolic> = [8, 16, 32].into_iter().map(|side| plan(side, 15)).collect();
        for (plan, side) in plans.iter().zip([8.0, 16.0, 32.0]) {
            let width: f64 = 3.0 * 15.0 * side;
            assert!(plan.operations() < 2.0 * 829.0 / 84.0 * width.powi(3), "side {side}: {:e}", plan.operations());
        }
        let exponent = |small: &Symbolic, large: &Symbolic| {
            (large.operations() / small.operations()).ln() / (large.unknowns() as f64 / small.unknowns() as f64).ln()
        };
        let exponents = [exponent(&plans[0], &plans[1]), exponent(&plans[1], &plans[2])];
        assert!(exponents[1] < exponents[0] && exponents[1] < 1.75, "{exponents:?}");
    }
}
