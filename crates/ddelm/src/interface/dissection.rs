//! Nested dissection: the order in which the blocks of the interface system are eliminated.
//!
//! The graph of the Schur complement has the interface blocks (edges, cross points) as vertices; two of them are
//! joined when an element matrix holds both. A *separator* is a set of blocks whose removal leaves two parts that no
//! element joins. Both parts are ordered first, each by the same rule, and the separator last: then eliminating one
//! part never touches the other, the factor of n planar unknowns holds O(n log n) numbers, and computing it takes
//! O(n^1.5) operations.
//!
//! A separator is found in two steps. A straight line across the region splits its blocks by their points; the
//! elements that reach over the line then fix a bipartite graph, whose cheapest vertex cover is the separator. Lines
//! in both directions and at several positions compete. Only points, sizes and elements are used: the decomposition
//! may be curved or unstructured.
//!
//! # References
//! A. George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10 (1973).

use crate::interface::cover::Cover;

/// Where cutting lines are tried, as fractions of the size of a region.
const POSITIONS: [f64; 7] = [0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65];

/// The elimination order of blocks: entry k is the block to eliminate k-th.
///
/// Block b lies at `points[b]` and holds `sizes[b]` unknowns; `elements` lists the blocks of every element matrix.
/// The order depends on the input alone, not on threads or chance.
pub fn nested_dissection(points: &[[f64; 2]], sizes: &[usize], elements: &[Vec<usize>]) -> Vec<usize> {
    let mut dissection = Dissection {
        points,
        sizes,
        neighbours: neighbours(points.len(), elements),
        place: vec![None; points.len()],
        cover: Cover::default(),
        order: Vec::with_capacity(points.len()),
    };
    dissection.dissect((0..points.len()).collect());
    dissection.order
}

/// The blocks that share an element with each block, in ascending order.
fn neighbours(blocks: usize, elements: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); blocks];
    for element in elements {
        for &a in element {
            lists[a].extend(element.iter().copied().filter(|&b| b != a));
        }
    }
    for list in &mut lists {
        list.sort_unstable();
        list.dedup();
    }
    lists
}

struct Dissection<'a> {
    points: &'a [[f64; 2]],
    sizes: &'a [usize],
    neighbours: Vec<Vec<usize>>,
    /// Position of a block in the sorted region that is being cut; `None` outside.
    place: Vec<Option<usize>>,
    cover: Cover,
    order: Vec<usize>,
}

/// A line that cuts a region, sorted across it.
#[derive(Clone, Copy)]
struct Line {
    axis: usize,
    /// The place before which it lies.
    cut: usize,
    /// What the separator takes, and what is left on both sides.
    separator: usize,
    parts: [usize; 2],
}

/// A region split in two parts that no element joins, and the separator between them.
struct Split {
    parts: [Vec<usize>; 2],
    separator: Vec<usize>,
}

impl Dissection<'_> {
    fn dissect(&mut self, region: Vec<usize>) {
        match self.split(&region) {
            Some(Split { parts: [left, right], separator }) => {
                self.dissect(left);
                self.dissect(right);
                self.order.extend(separator);
            }
            None => self.order.extend(region),
        }
    }

    fn size(&self, blocks: &[usize]) -> usize {
        blocks.iter().map(|&b| self.sizes[b]).sum()
    }

    /// The cheapest split of a region; `None` when every line leaves one part empty.
    fn split(&mut self, region: &[usize]) -> Option<Split> {
        let sorted = [0, 1].map(|axis| self.sorted(region, axis));
        let mut lines = Vec::new();
        for (axis, sorted) in sorted.iter().enumerate() {
            self.enter(sorted);
            for cut in self.cuts(sorted, axis) {
                lines.extend(self.line(sorted, axis, cut));
            }
        }
        let narrowest = lines.iter().map(|line| line.separator).min().map(|size| size.max(1));
        let cheapest =
            narrowest.and_then(|narrowest| lines.iter().min_by(|a, b| a.cost(narrowest).total_cmp(&b.cost(narrowest))));
        let split = cheapest.map(|line| {
            self.enter(&sorted[line.axis]);
            self.split_at(&sorted[line.axis], line.cut)
        });
        region.iter().for_each(|&block| self.place[block] = None);
        split
    }

    /// A region sorted along a coordinate axis.
    fn sorted(&self, region: &[usize], axis: usize) -> Vec<usize> {
        let coordinate = |b: usize| self.points[b][axis];
        let mut sorted = region.to_vec();
        sorted.sort_by(|&a, &b| coordinate(a).total_cmp(&coordinate(b)).then(a.cmp(&b)));
        sorted
    }

    /// Notes the places of a sorted region.
    fn enter(&mut self, sorted: &[usize]) {
        for (place, &block) in sorted.iter().enumerate() {
            self.place[block] = Some(place);
        }
    }

    /// Places in the sorted region where to cut: next to the wanted positions, and not between blocks that lie on the
    /// same line across the axis.
    fn cuts(&self, sorted: &[usize], axis: usize) -> Vec<usize> {
        let total = self.size(sorted) as f64;
        let steps = |i: &usize| self.points[sorted[i - 1]][axis] < self.points[sorted[*i]][axis];
        let mut cuts = Vec::new();
        for position in POSITIONS {
            let mut before = 0.0;
            let wanted = sorted.iter().position(|&b| {
                before += self.sizes[b] as f64;
                before >= position * total
            });
            let wanted = wanted.unwrap_or(0).max(1);
            cuts.extend((wanted..sorted.len()).find(steps));
            cuts.extend((1..wanted).rev().find(steps));
        }
        if cuts.is_empty() {
            // All blocks on one line: any cut is as good as another.
            cuts.push(sorted.len() / 2);
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    /// Covers the joints across the line before place `cut` of the sorted region.
    fn cover(&mut self, sorted: &[usize], cut: usize) {
        let Dissection { sizes, neighbours, place, cover, .. } = self;
        cover.clear();
        for (left, &block) in sorted[..cut].iter().enumerate() {
            for &other in &neighbours[block] {
                if let Some(right) = place[other].filter(|&right| right >= cut) {
                    cover.join([left, right], [sizes[block], sizes[other]]);
                }
            }
        }
        cover.find();
    }

    /// The line before place `cut` of the sorted region. `None` if it leaves a part empty.
    fn line(&mut self, sorted: &[usize], axis: usize, cut: usize) -> Option<Line> {
        self.cover(sorted, cut);
        let (taken, blocks) = (self.cover.sizes(), self.cover.counts());
        let parts = [&sorted[..cut], &sorted[cut..]];
        let empty = (0..2).any(|side| parts[side].len() == blocks[side]);
        let parts = [0, 1].map(|side| self.size(parts[side]) - taken[side]);
        (!empty).then_some(Line { axis, cut, separator: taken[0] + taken[1], parts })
    }

    /// The split by the line before place `cut` of the sorted region.
    fn split_at(&mut self, sorted: &[usize], cut: usize) -> Split {
        self.cover(sorted, cut);
        let mut covered = vec![false; sorted.len()];
        (0..2).flat_map(|side| self.cover.numbers(side)).for_each(|place| covered[place] = true);
        let mut split = Split { parts: [Vec::new(), Vec::new()], separator: Vec::new() };
        for (place, &block) in sorted.iter().enumerate() {
            let part = &mut split.parts[usize::from(place >= cut)];
            if covered[place] { &mut split.separator } else { part }.push(block);
        }
        split
    }
}

impl Line {
    /// Estimated work, in units of the dense factor of the narrowest separator.
    ///
    /// A region of size n costs C(n) = c n^1.5 = s^3 + 2 C(n/2) when its separator s halves it, which makes
    /// C(n) = s^3 / (1 - 2^-0.5). This weighs a narrow separator against equal parts.
    fn cost(&self, narrowest: usize) -> f64 {
        let total = (self.parts[0] + self.parts[1] + self.separator) as f64;
        let parts: f64 = self.parts.iter().map(|&w| (w as f64 / total).powf(1.5)).sum();
        (self.separator as f64 / narrowest as f64).powi(3) + parts / (1.0 - 0.5f64.sqrt())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Points and elements of the inner edges of columns x rows subdomains: one element for each subdomain.
    pub fn grid(columns: usize, rows: usize) -> (Vec<[f64; 2]>, Vec<Vec<usize>>) {
        let mut points = Vec::new();
        let mut edges = vec![Vec::new(); columns * rows];
        for s in 0..columns * rows {
            let (i, j) = (s % columns, s / columns);
            let right = (i + 1 < columns).then_some((s + 1, [i as f64 + 1.0, j as f64 + 0.5]));
            let above = (j + 1 < rows).then_some((s + columns, [i as f64 + 0.5, j as f64 + 1.0]));
            for (other, point) in right.into_iter().chain(above) {
                edges[s].push(points.len());
                edges[other].push(points.len());
                points.push(point);
            }
        }
        (points, edges)
    }

    fn is_permutation(order: &[usize], blocks: usize) -> bool {
        let distinct: BTreeSet<usize> = order.iter().copied().collect();
        order.len() == blocks && distinct.into_iter().eq(0..blocks)
    }

    proptest! {
        #[test]
        fn any_graph_gives_a_permutation(
            points in prop::collection::vec(prop::array::uniform2(-1.0f64..1.0), 0..60),
            picks in prop::collection::vec(prop::collection::btree_set(0usize..60, 1..6), 0..80),
            size in 0usize..4,
        ) {
            let blocks = points.len();
            let elements: Vec<Vec<usize>> =
                picks.into_iter().map(|set| set.into_iter().filter(|&b| b < blocks).collect()).collect();
            let order = nested_dissection(&points, &vec![size; blocks], &elements);
            prop_assert!(is_permutation(&order, blocks));
        }
    }

    #[test]
    fn coinciding_points_are_no_obstacle() {
        let (points, elements) = grid(6, 6);
        let order = nested_dissection(&vec![[0.5, 0.5]; points.len()], &vec![1; points.len()], &elements);
        assert!(is_permutation(&order, points.len()));
    }

    #[test]
    fn a_separator_is_one_line_of_edges() {
        let (points, elements) = grid(8, 4);
        let order = nested_dissection(&points, &vec![5; points.len()], &elements);
        let last: Vec<f64> = order[order.len() - 4..].iter().map(|&b| points[b][0]).collect();
        assert_eq!(last, [4.0; 4]);
    }
}
