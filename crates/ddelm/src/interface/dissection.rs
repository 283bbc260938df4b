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
//! - A. George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10 (1973).
//! - A. Pothen, C.-J. Fan, Computing the block triangular form of a sparse matrix, ACM TOMS 16 (1990): covers from
//!   matchings.

use std::collections::VecDeque;

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
    order: Vec<usize>,
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
        let candidates: Vec<Split> = (0..2).flat_map(|axis| self.splits_across(region, axis)).collect();
        let narrowest = candidates.iter().map(|split| self.size(&split.separator)).min()?.max(1);
        let cost = |split: &Split| self.cost(split, narrowest);
        candidates.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Estimated work, in units of the dense factor of the narrowest separator.
    ///
    /// A region of size n costs C(n) = c n^1.5 = s^3 + 2 C(n/2) when its separator s halves it, which makes
    /// C(n) = s^3 / (1 - 2^-0.5). This weighs a narrow separator against equal parts.
    fn cost(&self, split: &Split, narrowest: usize) -> f64 {
        let sizes = split.parts.each_ref().map(|part| self.size(part) as f64);
        let separator = self.size(&split.separator) as f64;
        let total = sizes[0] + sizes[1] + separator;
        let parts: f64 = sizes.iter().map(|w| (w / total).powf(1.5)).sum();
        (separator / narrowest as f64).powi(3) + parts / (1.0 - 0.5f64.sqrt())
    }

    /// Splits by lines across one coordinate axis, one for each of [`POSITIONS`].
    fn splits_across(&mut self, region: &[usize], axis: usize) -> Vec<Split> {
        let coordinate = |b: usize| self.points[b][axis];
        let mut sorted = region.to_vec();
        sorted.sort_by(|&a, &b| coordinate(a).total_cmp(&coordinate(b)).then(a.cmp(&b)));
        let cuts = self.cuts(&sorted, axis);
        for (place, &block) in sorted.iter().enumerate() {
            self.place[block] = Some(place);
        }
        let splits = cuts.into_iter().filter_map(|cut| self.split_at(&sorted, cut)).collect();
        for &block in &sorted {
            self.place[block] = None;
        }
        splits
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

    /// The split by the line before place `cut` of the sorted region, whose separator covers the joints across the
    /// line. `None` if it leaves a part empty.
    fn split_at(&self, sorted: &[usize], cut: usize) -> Option<Split> {
        let right_place = |&c: &usize| self.place[c].filter(|&place| place >= cut);
        let joints: Vec<Vec<usize>> = sorted[..cut]
            .iter()
            .map(|&b| self.neighbours[b].iter().filter_map(right_place).map(|place| place - cut).collect())
            .collect();
        let sizes = [&sorted[..cut], &sorted[cut..]].map(|part| part.iter().map(|&b| self.sizes[b]).collect());
        let covered = Cover { sizes, joints: &joints }.minimum();
        let mut split = Split { parts: [Vec::new(), Vec::new()], separator: Vec::new() };
        for (place, &block) in sorted.iter().enumerate() {
            let (side, local) = if place < cut { (0, place) } else { (1, place - cut) };
            let target = if covered[side][local] { &mut split.separator } else { &mut split.parts[side] };
            target.push(block);
        }
        split.parts.iter().all(|part| !part.is_empty()).then_some(split)
    }
}

/// The cheapest vertex cover of a bipartite graph, by König's theorem: a maximum flow from left to right, through
/// vertices as wide as their sizes, is blocked by exactly that cover.
struct Cover<'a> {
    /// Weights of the left and of the right vertices.
    sizes: [Vec<usize>; 2],
    /// Right neighbours of every left vertex.
    joints: &'a [Vec<usize>],
}

/// Flow that every right vertex receives, as (left vertex, amount).
type Flow = Vec<Vec<(usize, usize)>>;

/// How a search came to a vertex.
#[derive(Clone, Copy, PartialEq)]
enum Reached {
    No,
    FromSource,
    From(usize),
}

impl Cover<'_> {
    /// Which vertices on the left and on the right are in the cover.
    fn minimum(self) -> [Vec<bool>; 2] {
        let [mut supply, mut demand] = self.sizes;
        let mut flow: Flow = vec![Vec::new(); demand.len()];
        // Most flow needs no detour.
        for (i, joints) in self.joints.iter().enumerate() {
            for &j in joints {
                let amount = supply[i].min(demand[j]);
                if amount > 0 {
                    flow[j].push((i, amount));
                    supply[i] -= amount;
                    demand[j] -= amount;
                }
            }
        }
        loop {
            let search = Search::new(self.joints, &supply, &demand, &flow);
            let Some(end) = search.end else {
                // What the source still reaches on the left needs no cover: its joints are covered on the right.
                let left = search.left.iter().map(|&reached| reached == Reached::No);
                let right = search.right.iter().map(|&reached| reached != Reached::No);
                return [left.collect(), right.collect()];
            };
            search.augment(end, &mut supply, &mut demand, &mut flow);
        }
    }
}

/// A breadth-first search for a path on which more can flow.
struct Search {
    left: Vec<Reached>,
    right: Vec<Reached>,
    /// The right vertex that can take more.
    end: Option<usize>,
}

impl Search {
    fn new(joints: &[Vec<usize>], supply: &[usize], demand: &[usize], flow: &Flow) -> Self {
        let source = |(i, joints): (usize, &Vec<usize>)| match supply[i] > 0 || joints.is_empty() {
            true => Reached::FromSource,
            false => Reached::No,
        };
        let left: Vec<Reached> = joints.iter().enumerate().map(source).collect();
        let mut queue: VecDeque<usize> = (0..left.len()).filter(|&i| left[i] == Reached::FromSource).collect();
        let mut search = Self { left, right: vec![Reached::No; demand.len()], end: None };
        while let Some(i) = queue.pop_front() {
            for &j in &joints[i] {
                if search.right[j] != Reached::No {
                    continue;
                }
                search.right[j] = Reached::From(i);
                if demand[j] > 0 {
                    search.end = Some(j);
                    return search;
                }
                for &(giver, _) in &flow[j] {
                    if search.left[giver] == Reached::No {
                        search.left[giver] = Reached::From(j);
                        queue.push_back(giver);
                    }
                }
            }
        }
        search
    }

    /// The joints of the path to `end`, last one first: each carries more, and takes over what its left vertex gave to
    /// the right vertex of the next.
    fn path(&self, end: usize) -> Vec<(usize, usize)> {
        let mut path = Vec::new();
        let mut right = end;
        while let Reached::From(left) = self.right[right] {
            path.push((left, right));
            match self.left[left] {
                Reached::From(giver) => right = giver,
                _ => break,
            }
        }
        path
    }

    /// Sends as much along the path to `end` as it takes.
    fn augment(&self, end: usize, supply: &mut [usize], demand: &mut [usize], flow: &mut Flow) {
        let path = self.path(end);
        let Some(&(start, _)) = path.last() else { return };
        let taken_back: Vec<(usize, usize)> = path.windows(2).map(|pair| (pair[0].0, pair[1].1)).collect();
        let given =
            |&(left, right): &(usize, usize)| flow[right].iter().find(|give| give.0 == left).map_or(0, |give| give.1);
        let amount = taken_back.iter().map(given).fold(supply[start].min(demand[end]), usize::min);
        for (left, right) in taken_back {
            flow[right].iter_mut().filter(|give| give.0 == left).for_each(|give| give.1 -= amount);
            flow[right].retain(|give| give.1 > 0);
        }
        for (left, right) in path {
            match flow[right].iter_mut().find(|give| give.0 == left) {
                Some(give) => give.1 += amount,
                None => flow[right].push((left, amount)),
            }
        }
        supply[start] -= amount;
        demand[end] -= amount;
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

    fn cheapest_cover(sizes: &[Vec<usize>; 2], joints: &[Vec<usize>]) -> usize {
        let [left, right] = sizes;
        let subset = |set: usize| {
            // With the left vertices chosen, the right ones are those the others need.
            let needed: BTreeSet<usize> =
                (0..left.len()).filter(|i| set >> i & 1 == 0).flat_map(|i| joints[i].iter().copied()).collect();
            let chosen: usize = (0..left.len()).filter(|i| set >> i & 1 == 1).map(|i| left[i]).sum();
            chosen + needed.into_iter().map(|j| right[j]).sum::<usize>()
        };
        (0..1 << left.len()).map(subset).min().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn covers_are_covers_and_cheapest(
            left in prop::collection::vec(1usize..9, 1..7),
            right in prop::collection::vec(1usize..9, 1..7),
            bits in prop::collection::vec(any::<u8>(), 7),
        ) {
            let joints: Vec<Vec<usize>> =
                (0..left.len()).map(|i| (0..right.len()).filter(|j| bits[i] >> j & 1 == 1).collect()).collect();
            let sizes = [left, right];
            let cheapest = cheapest_cover(&sizes, &joints);
            let cover = Cover { sizes: sizes.clone(), joints: &joints }.minimum();
            for (i, list) in joints.iter().enumerate() {
                prop_assert!(cover[0][i] || list.iter().all(|&j| cover[1][j]));
            }
            let size = |side: usize| -> usize {
                sizes[side].iter().zip(&cover[side]).filter(|(_, covered)| **covered).map(|(w, _)| w).sum()
            };
            prop_assert_eq!(size(0) + size(1), cheapest);
        }

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
