//! Fronts: the dense matrices in which the interface system is factored, and the tree they form.
//!
//! Eliminating a block couples all blocks it is joined with. The multifrontal method gathers what an elimination
//! touches in one small dense matrix, the *front*: first the blocks it eliminates (pivots), then those it couples
//! (boundary). What is left of the boundary after the elimination is added into the front of the parent, which
//! eliminates the first boundary block. So the system is never assembled as a whole, fronts at the same depth of the
//! tree do not depend on each other, and all arithmetic is dense.
//!
//! This file is the symbolic phase: it needs the sizes, the points and the elements of the blocks, but no numbers.
//!
//! # References
//! - J. W. H. Liu, The multifrontal method for sparse matrix solution, SIAM Review 34 (1992).

use std::ops::Range;

use super::congruence::{Class, classes};
use super::dissection::nested_dissection;
use super::front::{Block, Element, Front, Run};
use super::memory::Spare;

/// Time to assemble one entry of a front, in units of one operation of a dense kernel. It decides how many explicit
/// zeros are worth a larger front. From 16 to 64 the times do not differ measurably.
const ASSEMBLY: f64 = 64.0;

/// The elimination tree of an interface system: everything about its factorization but the numbers.
#[derive(Debug)]
pub struct Symbolic {
    pub(super) blocks: Vec<Block>,
    pub(super) elements: Vec<Element>,
    /// Unknowns in the order of their elimination.
    pub(super) order: Vec<usize>,
    /// Children come before parents, and every level of the tree is contiguous.
    pub(super) fronts: Vec<Front>,
    /// Fronts with the same matrix, which is factored once; every level is contiguous.
    pub(super) classes: Vec<Class>,
    /// The classes of the fronts at each depth of the tree, the deepest first.
    pub(super) levels: Vec<Range<usize>>,
    /// The memory of a factor that is no longer needed, for the next.
    pub(super) spare: Spare,
}

impl Symbolic {
    /// Plans the factorization of a sum of elements. The unknowns of block b are numbered after those of block b - 1.
    pub fn new(blocks: &[Block], elements: &[Element]) -> Self {
        Self::with_order(blocks, elements, &elimination_order(blocks, elements))
    }

    /// The same with a given order of elimination of the blocks.
    pub fn with_order(blocks: &[Block], elements: &[Element], order: &[usize]) -> Self {
        let mut groups = Groups::new(blocks, elements, order);
        groups.amalgamate();
        let levels = groups.levels();
        let (mut fronts, eliminated) = groups.fronts(&levels, elements);
        let (classes, levels) = classes(&mut fronts, elements, levels.iter().map(Vec::len));
        let offsets = starts(blocks.iter().map(|block| block.size));
        let order = eliminated.into_iter().flat_map(|b| offsets[b]..offsets[b] + blocks[b].size).collect();
        Self {
            blocks: blocks.to_vec(),
            elements: elements.to_vec(),
            order,
            fronts,
            classes,
            levels,
            spare: Spare::default(),
        }
    }

    /// Whether it is the plan for these.
    pub(super) fn eliminates(&self, blocks: &[Block], elements: &[Element]) -> bool {
        self.blocks == blocks && self.elements == elements
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.order.len()
    }

    /// Number of entries of the factor that are stored, explicit zeros included.
    pub fn nonzeros(&self) -> usize {
        let entries = |front: &Front| front.pivots * (front.pivots + 2 * front.boundary);
        self.stored().map(entries).sum()
    }

    /// One front of every class.
    fn stored(&self) -> impl Iterator<Item = &Front> {
        self.classes.iter().map(|class| &self.fronts[class.members[0]])
    }

    /// Number of entries of the factors of all classes.
    pub(super) fn entries(&self) -> usize {
        self.classes.last().map_or(0, |class| class.factor.end)
    }

    /// Number of unknowns of an element.
    pub(super) fn element_size(&self, k: usize) -> usize {
        self.elements[k].blocks.iter().map(|&block| self.blocks[block].size).sum()
    }

    /// Floating-point operations of the factorization.
    pub fn operations(&self) -> f64 {
        self.stored().map(|front| operations(front.pivots, front.boundary)).sum()
    }

    /// Bytes that the factor occupies.
    pub fn factor_bytes(&self) -> usize {
        8 * self.entries()
    }
}

/// The nested dissection of blocks that are coupled by elements.
pub fn elimination_order(blocks: &[Block], elements: &[Element]) -> Vec<usize> {
    let points: Vec<[f64; 2]> = blocks.iter().map(|block| block.point).collect();
    let sizes: Vec<usize> = blocks.iter().map(|block| block.size).collect();
    let coupled: Vec<Vec<usize>> = elements.iter().map(|element| element.blocks.clone()).collect();
    nested_dissection(&points, &sizes, &coupled)
}

/// Operations to eliminate `pivots` unknowns that are coupled with `boundary` others.
fn operations(pivots: usize, boundary: usize) -> f64 {
    let (p, b) = (pivots as f64, boundary as f64);
    2.0 * (p * p * p / 3.0 + p * p * b + p * b * b)
}

/// Estimated time of a front, in operations.
fn cost(pivots: usize, boundary: usize) -> f64 {
    let rows = (pivots + boundary) as f64;
    operations(pivots, boundary) + ASSEMBLY * rows * rows
}

/// Fronts in the making: groups of blocks that are eliminated together. Inside, a block is named by its rank in the
/// given order.
struct Groups<'a> {
    blocks: &'a [Block],
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
    fn new(blocks: &'a [Block], elements: &[Element], order: &'a [usize]) -> Self {
        let rank = inverse(order);
        let mut groups = vec![Group::default(); order.len()];
        for element in elements {
            let ranks = element.blocks.iter().map(|&block| rank[block]);
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
        Self { blocks, order, rank, groups }
    }

    fn unknowns(&self, ranks: &[usize]) -> usize {
        ranks.iter().map(|&rank| self.blocks[self.order[rank]].size).sum()
    }

    /// Merges the children of a group into it where one large front costs less than the small ones. All of them or none:
    /// a front that swallows one of two congruent boxes has no equal.
    fn amalgamate(&mut self) {
        for k in 0..self.groups.len() {
            let shape = |group: &Group| (self.unknowns(&group.pivots), self.unknowns(&group.boundary));
            let (alone, boundary) = shape(&self.groups[k]);
            let children: Vec<(usize, usize)> =
                self.groups[k].children.iter().map(|&c| shape(&self.groups[c])).collect();
            let pivots = alone + children.iter().map(|child| child.0).sum::<usize>();
            let apart = cost(alone, boundary) + children.iter().map(|&(p, b)| cost(p, b)).sum::<f64>();
            if cost(pivots, boundary) <= apart {
                for child in std::mem::take(&mut self.groups[k].children) {
                    self.merge(child, k);
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

    /// The groups left at each depth of their tree, the deepest first.
    fn levels(&self) -> Vec<Vec<usize>> {
        let is_root = |k: &usize| !self.groups[*k].pivots.is_empty() && self.groups[*k].boundary.is_empty();
        let mut levels = Vec::new();
        let mut level: Vec<usize> = (0..self.groups.len()).filter(is_root).collect();
        while !level.is_empty() {
            let next = level.iter().flat_map(|&k| self.groups[k].children.iter().copied()).collect();
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.reverse();
        levels
    }

    /// The fronts level by level, and the blocks in the order in which these eliminate them.
    fn fronts(&self, levels: &[Vec<usize>], elements: &[Element]) -> (Vec<Front>, Vec<usize>) {
        let listed = levels.concat();
        let order: Vec<usize> = listed.iter().flat_map(|&k| self.sorted(&self.groups[k].pivots)).collect();
        // The front of every group, and the one that eliminates each block.
        let mut number = vec![0; self.groups.len()];
        let mut owner = vec![0; self.groups.len()];
        for (f, &k) in listed.iter().enumerate() {
            number[k] = f;
            self.groups[k].pivots.iter().for_each(|&pivot| owner[pivot] = f);
        }
        let mut fronts: Vec<Front> = Vec::with_capacity(listed.len());
        for &k in &listed {
            let first = fronts.last().map_or(0, |front| front.unknowns.end);
            fronts.push(self.front(k, &number, first));
        }
        for (e, element) in elements.iter().enumerate() {
            if let Some(first) = element.blocks.iter().map(|&block| owner[self.rank[block]]).min() {
                fronts[first].elements.push(e);
            }
        }
        for parent in 0..fronts.len() {
            for child in fronts[parent].children.clone() {
                fronts[child].runs = runs(&fronts[child], &fronts[parent], self.blocks);
                fronts[child].parent = Some(parent);
            }
        }
        (fronts, order)
    }

    /// Some blocks in the order of the caller, so that fronts which differ in the order of elimination outside do not differ in
    /// their rows.
    fn sorted(&self, ranks: &[usize]) -> Vec<usize> {
        let mut blocks: Vec<usize> = ranks.iter().map(|&rank| self.order[rank]).collect();
        blocks.sort_unstable();
        blocks
    }

    /// The front of group k, whose first pivot is the unknown `first` to be eliminated; its elements and what others
    /// say of it are still missing.
    fn front(&self, k: usize, number: &[usize], first: usize) -> Front {
        let Group { pivots, boundary, children } = &self.groups[k];
        let blocks = [self.sorted(pivots), self.sorted(boundary)].concat();
        let (pivots, boundary) = (self.unknowns(pivots), self.unknowns(boundary));
        Front {
            rows: starts(blocks.iter().map(|&b| self.blocks[b].size)),
            blocks,
            pivots,
            boundary,
            elements: Vec::new(),
            children: children.iter().map(|&child| number[child]).collect(),
            parent: None,
            unknowns: first..first + pivots,
            runs: Vec::new(),
            member: (0, 0),
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

/// Sums of all earlier sizes.
fn starts(sizes: impl IntoIterator<Item = usize>) -> Vec<usize> {
    sizes
        .into_iter()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum - size)
        })
        .collect()
}

/// Where the boundary of a child lies in its parent's front.
fn runs(child: &Front, parent: &Front, blocks: &[Block]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let boundary = child.blocks.iter().zip(&child.rows);
    for (&block, &row) in boundary.filter(|&(&block, &row)| row >= child.pivots && blocks[block].size > 0) {
        let (from, to, len) = (row - child.pivots, parent.row(block), blocks[block].size);
        match runs.last_mut() {
            // A run lies in the pivots of the parent or in its boundary.
            Some(run) if run.to + run.len == to && to != parent.pivots => run.len += len,
            _ => runs.push(Run { from, to, len }),
        }
    }
    runs
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::interface::dissection::tests::grid;

    /// Elements of kinds of their own.
    pub fn distinct(elements: Vec<Vec<usize>>) -> Vec<Element> {
        elements.into_iter().enumerate().map(|(kind, blocks)| Element { blocks, kind }).collect()
    }

    /// The inner edges of side x side subdomains.
    fn plan(side: usize, size: usize) -> Symbolic {
        let (points, elements) = grid(side, side);
        let blocks: Vec<Block> = points.into_iter().map(|point| Block { point, size }).collect();
        Symbolic::new(&blocks, &distinct(elements))
    }

    /// The unknowns of a block, in the numbering of the caller.
    fn unknowns(symbolic: &Symbolic, block: usize) -> Range<usize> {
        let start = starts(symbolic.blocks.iter().map(|block| block.size))[block];
        start..start + symbolic.blocks[block].size
    }

    #[test]
    fn every_element_fits_into_its_front() {
        let symbolic = plan(7, 3);
        let mut seen = vec![0; symbolic.elements.len()];
        for front in &symbolic.fronts {
            for &e in &front.elements {
                seen[e] += 1;
                let blocks = &symbolic.elements[e].blocks;
                assert!(blocks.iter().all(|block| front.blocks.contains(block)), "element {e}");
            }
        }
        assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
    }

    #[test]
    fn boundaries_meet_the_same_unknowns_in_the_parent() {
        let symbolic = plan(9, 2);
        let rows =
            |front: &Front| -> Vec<usize> { front.blocks.iter().flat_map(|&b| unknowns(&symbolic, b)).collect() };
        let mut checked = 0;
        for (p, parent) in symbolic.fronts.iter().enumerate() {
            let there = rows(parent);
            for &child in &parent.children {
                let child = &symbolic.fronts[child];
                assert_eq!(child.parent, Some(p));
                let here = &rows(child)[child.pivots..];
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
    fn children_are_one_level_deeper_than_their_parents() {
        let symbolic = plan(9, 2);
        let level = |front: &Front| symbolic.levels.iter().position(|level| level.contains(&front.member.0));
        for front in &symbolic.fronts {
            for &child in &front.children {
                assert_eq!(level(&symbolic.fronts[child]).map(|l| l + 1), level(front));
            }
        }
        assert_eq!(symbolic.levels.last().map(|level| level.len()), Some(1));
    }

    #[test]
    fn every_unknown_is_eliminated_once() {
        let symbolic = plan(6, 2);
        for front in &symbolic.fronts {
            for (&block, &row) in front.blocks.iter().zip(&front.rows).filter(|&(_, &row)| row < front.pivots) {
                let first = front.unknowns.start + row;
                let eliminated = &symbolic.order[first..first + symbolic.blocks[block].size];
                assert!(eliminated.iter().copied().eq(unknowns(&symbolic, block)));
            }
        }
        let mut order = symbolic.order.clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..symbolic.unknowns()));
    }

    #[test]
    fn counts_are_those_of_a_dense_matrix_when_all_blocks_are_coupled() {
        let block = |x: f64, size: usize| Block { point: [x, 0.0], size };
        let blocks = [block(0.0, 2), block(1.0, 3), block(2.0, 4)];
        let symbolic = Symbolic::new(&blocks, &distinct(vec![vec![0, 1, 2]]));
        assert_eq!(symbolic.fronts.len(), 1);
        assert_eq!(symbolic.nonzeros(), 81);
        assert_eq!(symbolic.operations(), 486.0);
        assert_eq!(symbolic.factor_bytes(), 8 * 81);
    }

    /// George's count for an n x n grid is 829/84 n^3 multiplications for a symmetric matrix, twice that for ours. Here a separator takes one block per subdomain
    /// along the cut; lower-order terms are negative, so that the exponent falls to 1.5 from above.
    #[test]
    fn operations_grow_as_nested_dissection_promises() {
        let plans: Vec<Symbolic> = [8, 16, 32].into_iter().map(|side| plan(side, 15)).collect();
        for (plan, side) in plans.iter().zip([8.0, 16.0, 32.0]) {
            let width: f64 = 15.0 * side;
            assert!(plan.operations() < 4.0 * 829.0 / 84.0 * width.powi(3), "side {side}: {:e}", plan.operations());
        }
        let exponent = |small: &Symbolic, large: &Symbolic| {
            (large.operations() / small.operations()).ln() / (large.unknowns() as f64 / small.unknowns() as f64).ln()
        };
        let exponents = [exponent(&plans[0], &plans[1]), exponent(&plans[1], &plans[2])];
        assert!(exponents[1] < exponents[0] && exponents[1] < 1.65, "{exponents:?}");
    }
}
