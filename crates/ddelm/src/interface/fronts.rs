//! Fronts: the dense matrices in which the interface system is factored, and the tree they form.
//!
//! Eliminating a block couples all blocks it is joined with. The multifrontal method gathers what an elimination
//! touches in one small dense matrix, the *front*: first the blocks it eliminates (pivots), then those it couples
//! (boundary). What is left of the boundary after the elimination is added into the front of the parent, which
//! eliminates the first boundary block. So the system is never assembled as a whole, fronts at the same depth of the
//! tree do not depend on each other, and all arithmetic is dense.
//!
//! A block has *multipliers*, whose part of the matrix is negative definite, and *values*, whose Schur complement after
//! that is positive definite. A front eliminates its multipliers first: then no pivot is small.
//!
//! This file is the symbolic phase: it needs the sizes, the points and the elements of the blocks, but no numbers.
//!
//! # References
//! - J. W. H. Liu, The multifrontal method for sparse matrix solution, SIAM Review 34 (1992).
//! - R. J. Vanderbei, Symmetric quasidefinite matrices, SIAM J. Optim. 5 (1995): any order of elimination exists.

use std::ops::Range;

use super::congruence::{Class, classes};
use super::dissection::nested_dissection;

/// Time to assemble one entry of a front, in units of one operation of a dense kernel. It decides how many explicit
/// zeros are worth a larger front. From 16 to 64 the times do not differ measurably.
const ASSEMBLY: f64 = 64.0;

/// A block of unknowns that are eliminated together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Where it lies.
    pub point: [f64; 2],
    /// Number of multipliers; they come first.
    pub multipliers: usize,
    /// Number of values.
    pub values: usize,
}

impl Block {
    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.multipliers + self.values
    }

    /// Sizes of its two parts.
    fn parts(&self) -> [usize; 2] {
        [self.multipliers, self.values]
    }
}

/// A dense matrix that couples some blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its blocks, each named once, in the order of its rows.
    pub blocks: Vec<usize>,
    /// Elements of the same kind have the same entries.
    pub kind: usize,
}

/// The elimination tree of an interface system: everything about its factorization but the numbers.
#[derive(Debug, Clone)]
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
}

/// One dense matrix of the factorization.
#[derive(Debug, Clone)]
pub(super) struct Front {
    /// Its parts: multipliers of the pivots, values of the pivots, then those of the boundary. Block b has the parts 2 b
    /// (multipliers) and 2 b + 1 (values).
    pub parts: Vec<usize>,
    /// First row of every part.
    pub rows: Vec<usize>,
    /// Number of multipliers that it eliminates.
    pub multipliers: usize,
    /// Number of unknowns that it eliminates.
    pub pivots: usize,
    /// Number of unknowns that it couples.
    pub boundary: usize,
    /// Elements that belong to it: those whose first block to be eliminated is a pivot here.
    pub elements: Vec<usize>,
    /// Fronts whose boundary begins with a pivot of this one.
    pub children: Vec<usize>,
    /// The front of which this is a child.
    pub parent: Option<usize>,
    /// Its pivots in the order of elimination.
    pub unknowns: Range<usize>,
    /// Where its boundary lies in the parent's front.
    pub runs: Vec<Run>,
    /// Its class, and its number there.
    pub member: (usize, usize),
}

impl Front {
    /// The first row of a part.
    pub fn row(&self, part: usize) -> usize {
        self.parts.iter().position(|&p| p == part).map_or(0, |place| self.rows[place])
    }
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
    /// Plans the factorization of a sum of elements. The unknowns of block b are numbered after those of block b - 1.
    pub fn new(blocks: &[Block], elements: &[Element]) -> Self {
        Self::with_order(blocks, elements, &elimination_order(blocks, elements))
    }

    /// The same with a given order of elimination of the blocks.
    pub fn with_order(blocks: &[Block], elements: &[Element], order: &[usize]) -> Self {
        let mut groups = Groups::new(blocks, elements, order);
        groups.amalgamate();
        let levels = groups.levels();
        let (mut fronts, parts) = groups.fronts(&levels, elements);
        let (classes, levels) = classes(&mut fronts, elements, levels.iter().map(Vec::len));
        let offsets = starts(blocks.iter().flat_map(Block::parts));
        let order = parts.into_iter().flat_map(|part| offsets[part]..offsets[part] + size(blocks, part)).collect();
        Self { blocks: blocks.to_vec(), elements: elements.to_vec(), order, fronts, classes, levels }
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.order.len()
    }

    /// Number of entries of the factor that are stored, explicit zeros included.
    pub fn nonzeros(&self) -> usize {
        let entries = |front: &Front| front.pivots * (front.pivots + 1) / 2 + front.pivots * front.boundary;
        self.stored().map(entries).sum()
    }

    /// One front of every class.
    fn stored(&self) -> impl Iterator<Item = &Front> {
        self.classes.iter().map(|class| &self.fronts[class.members[0]])
    }

    /// Number of entries of all panels.
    pub(super) fn panel_entries(&self) -> usize {
        self.classes.last().map_or(0, |class| class.panel.end)
    }

    /// Number of unknowns of an element.
    pub(super) fn element_size(&self, k: usize) -> usize {
        self.elements[k].blocks.iter().map(|&block| self.blocks[block].size()).sum()
    }

    /// Size of a part of a block.
    pub(super) fn part_size(&self, part: usize) -> usize {
        size(&self.blocks, part)
    }

    /// Floating-point operations of the factorization.
    pub fn operations(&self) -> f64 {
        self.stored().map(|front| operations(front.pivots, front.boundary)).sum()
    }

    /// Bytes that the factor occupies.
    pub fn factor_bytes(&self) -> usize {
        8 * self.panel_entries()
    }
}

/// The nested dissection of blocks that are coupled by elements.
pub fn elimination_order(blocks: &[Block], elements: &[Element]) -> Vec<usize> {
    let points: Vec<[f64; 2]> = blocks.iter().map(|block| block.point).collect();
    let sizes: Vec<usize> = blocks.iter().map(Block::size).collect();
    let coupled: Vec<Vec<usize>> = elements.iter().map(|element| element.blocks.clone()).collect();
    nested_dissection(&points, &sizes, &coupled)
}

/// Size of a part of a block.
fn size(blocks: &[Block], part: usize) -> usize {
    blocks[part / 2].parts()[part % 2]
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
        ranks.iter().map(|&rank| self.blocks[self.order[rank]].size()).sum()
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

    /// The fronts level by level, and the parts of blocks in the order in which these eliminate them.
    fn fronts(&self, levels: &[Vec<usize>], elements: &[Element]) -> (Vec<Front>, Vec<usize>) {
        let listed = levels.concat();
        let order: Vec<usize> = listed.iter().flat_map(|&k| self.parts(&self.groups[k].pivots)).collect();
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

    /// The multipliers of some blocks, then their values; each in the order of the caller, so that fronts which differ in
    /// the order of elimination outside do not differ in their rows.
    fn parts(&self, ranks: &[usize]) -> Vec<usize> {
        let mut blocks: Vec<usize> = ranks.iter().map(|&rank| self.order[rank]).collect();
        blocks.sort_unstable();
        (0..2).flat_map(|kind| blocks.iter().map(move |block| 2 * block + kind)).collect()
    }

    /// The front of group k, whose first pivot is the unknown `first` to be eliminated; its elements and what others
    /// say of it are still missing.
    fn front(&self, k: usize, number: &[usize], first: usize) -> Front {
        let Group { pivots, boundary, children } = &self.groups[k];
        let parts = [self.parts(pivots), self.parts(boundary)].concat();
        let (multipliers, pivots, boundary) = (
            pivots.iter().map(|&rank| self.blocks[self.order[rank]].multipliers).sum(),
            self.unknowns(pivots),
            self.unknowns(boundary),
        );
        Front {
            rows: starts(parts.iter().map(|&part| size(self.blocks, part))),
            parts,
            multipliers,
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
    let boundary = child.parts.iter().zip(&child.rows);
    for (&part, &row) in boundary.filter(|&(&part, &row)| row >= child.pivots && size(blocks, part) > 0) {
        let (from, to) = (row - child.pivots, parent.row(part));
        match runs.last_mut() {
            Some(run) if run.to + run.len == to => run.len += size(blocks, part),
            _ => runs.push(Run { from, to, len: size(blocks, part) }),
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

    /// The inner edges of side x side subdomains, each with as many multipliers as values.
    fn plan(side: usize, size: usize) -> Symbolic {
        let (points, elements) = grid(side, side);
        let blocks: Vec<Block> =
            points.into_iter().map(|point| Block { point, multipliers: size, values: size }).collect();
        Symbolic::new(&blocks, &distinct(elements))
    }

    /// The unknowns of a part, in the numbering of the caller.
    fn unknowns(symbolic: &Symbolic, part: usize) -> Range<usize> {
        let start = starts(symbolic.blocks.iter().flat_map(Block::parts))[part];
        start..start + symbolic.part_size(part)
    }

    #[test]
    fn every_element_fits_into_its_front() {
        let symbolic = plan(7, 3);
        let mut seen = vec![0; symbolic.elements.len()];
        for front in &symbolic.fronts {
            for &e in &front.elements {
                seen[e] += 1;
                let blocks = &symbolic.elements[e].blocks;
                assert!(blocks.iter().all(|block| front.parts.contains(&(2 * block))), "element {e}");
            }
        }
        assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
    }

    #[test]
    fn boundaries_meet_the_same_unknowns_in_the_parent() {
        let symbolic = plan(9, 2);
        let rows =
            |front: &Front| -> Vec<usize> { front.parts.iter().flat_map(|&part| unknowns(&symbolic, part)).collect() };
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
    fn every_unknown_is_eliminated_once_and_multipliers_come_first() {
        let symbolic = plan(6, 2);
        for front in &symbolic.fronts {
            let parts = front.parts.iter().zip(&front.rows).filter(|&(_, &row)| row < front.pivots);
            for (&part, &row) in parts {
                let first = front.unknowns.start + row;
                let eliminated = &symbolic.order[first..first + symbolic.part_size(part)];
                assert!(eliminated.iter().copied().eq(unknowns(&symbolic, part)));
                assert_eq!(row < front.multipliers, part % 2 == 0);
            }
        }
        let mut order = symbolic.order.clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..symbolic.unknowns()));
    }

    #[test]
    fn counts_are_those_of_a_dense_matrix_when_all_blocks_are_coupled() {
        let block = |x: f64, values: usize| Block { point: [x, 0.0], multipliers: 0, values };
        let blocks = [block(0.0, 2), block(1.0, 3), block(2.0, 4)];
        let symbolic = Symbolic::new(&blocks, &distinct(vec![vec![0, 1, 2]]));
        assert_eq!(symbolic.fronts.len(), 1);
        assert_eq!(symbolic.nonzeros(), 45);
        assert_eq!(symbolic.operations(), 243.0);
        assert_eq!(symbolic.factor_bytes(), 8 * 81);
    }

    /// George's count for an n x n grid is 829/84 n^3 multiplications. Here a separator takes one block per subdomain
    /// along the cut; lower-order terms are negative, so that the exponent falls to 1.5 from above.
    #[test]
    fn operations_grow_as_nested_dissection_promises() {
        let plans: Vec<Symbolic> = [8, 16, 32].into_iter().map(|side| plan(side, 15)).collect();
        for (plan, side) in plans.iter().zip([8.0, 16.0, 32.0]) {
            let width: f64 = 30.0 * side;
            assert!(plan.operations() < 2.0 * 829.0 / 84.0 * width.powi(3), "side {side}: {:e}", plan.operations());
        }
        let exponent = |small: &Symbolic, large: &Symbolic| {
            (large.operations() / small.operations()).ln() / (large.unknowns() as f64 / small.unknowns() as f64).ln()
        };
        let exponents = [exponent(&plans[0], &plans[1]), exponent(&plans[1], &plans[2])];
        assert!(exponents[1] < exponents[0] && exponents[1] < 1.65, "{exponents:?}");
    }
}
