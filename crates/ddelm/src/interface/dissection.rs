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

use std::collections::{BTreeSet, VecDeque};

/// Regions of at most this many blocks are ordered by minimum degree.
const LEAF: usize = 12;

/// Where cutting lines are tried, as fractions of the weight of a region.
const POSITIONS: [f64; 7] = [0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65];

/// The elimination order of blocks: entry k is the block to eliminate k-th.
///
/// Block b lies at `points[b]` and holds `weights[b]` unknowns; `elements` lists the blocks of every element matrix.
/// The order depends on the input alone, not on threads or chance.
pub fn nested_dissection(points: &[[f64; 2]], weights: &[usize], elements: &[Vec<usize>]) -> Vec<usize> {
    let mut dissection = Dissection {
        points,
        weights,
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
    weights: &'a [usize],
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
        if region.len() <= LEAF {
            return self.minimum_degree(&region);
        }
        match self.split(&region) {
            Some(Split { parts: [left, right], separator }) => {
                self.dissect(left);
                self.dissect(right);
                self.order.extend(separator);
            }
            None => self.minimum_degree(&region),
        }
    }

    fn weight(&self, blocks: &[usize]) -> usize {
        blocks.iter().map(|&b| self.weights[b]).sum()
    }

    /// The cheapest split of a region; `None` when every line leaves one part empty.
    fn split(&mut self, region: &[usize]) -> Option<Split> {
        let candidates: Vec<Split> = (0..2).flat_map(|axis| self.splits_across(region, axis)).collect();
        let narrowest = candidates.iter().map(|split| self.weight(&split.separator)).min()?.max(1);
        let cost = |split: &Split| self.cost(split, narrowest);
        candidates.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Estimated work, in units of the dense factor of the narrowest separator.
    ///
    /// A region of weight n costs C(n) = c n^1.5 = s^3 + 2 C(n/2) when its separator s halves it, which makes
    /// C(n) = s^3 / (1 - 2^-0.5). This weighs a narrow separator against equal parts.
    fn cost(&self, split: &Split, narrowest: usize) -> f64 {
        let weights = split.parts.each_ref().map(|part| self.weight(part) as f64);
        let separator = self.weight(&split.separator) as f64;
        let total = weights[0] + weights[1] + separator;
        let parts: f64 = weights.iter().map(|w| (w / total).powf(1.5)).sum();
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
        let total = self.weight(sorted) as f64;
        let steps = |i: &usize| self.points[sorted[i - 1]][axis] < self.points[sorted[*i]][axis];
        let mut cuts = Vec::new();
        for position in POSITIONS {
            let mut before = 0.0;
            let wanted = sorted.iter().position(|&b| {
                before += self.weights[b] as f64;
                before >= position * total
            });
            let wanted = wanted.unwrap_or(0).max(1);
            cuts.extend((wanted..sorted.len()).find(steps));
            cuts.extend((1..wanted).rev().find(steps));
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    /// The split by the line before place `cut` of the sorted region, whose separator is the vertex cover of the
    /// joints across the line. `None` if it leaves a part empty.
    fn split_at(&self, sorted: &[usize], cut: usize) -> Option<Split> {
        let across = |b: usize, left: bool| {
            self.neighbours[b].iter().copied().filter(move |&c| self.place[c].is_some_and(|p| (p < cut) != left))
        };
        let mut local = vec![usize::MAX; sorted.len() - cut];
        let mut right = Vec::new();
        let mut cover = Cover::default();
        let mut left = Vec::new();
        for &block in &sorted[..cut] {
            let joints: Vec<usize> = across(block, true)
                .map(|c| {
                    let slot = &mut local[self.place[c].unwrap_or(cut) - cut];
                    if *slot == usize::MAX {
                        *slot = right.len();
                        right.push(c);
                    }
                    *slot
                })
                .collect();
            if !joints.is_empty() {
                left.push(block);
                cover.joints.push(joints);
            }
        }
        cover.weights =
            [left.iter().map(|&b| self.weights[b]).collect(), right.iter().map(|&b| self.weights[b]).collect()];
        let [covered_left, covered_right] = cover.minimum();
        let separator: Vec<usize> =
            covered_left.into_iter().map(|i| left[i]).chain(covered_right.into_iter().map(|j| right[j])).collect();
        let taken: BTreeSet<usize> = separator.iter().copied().collect();
        let parts = [&sorted[..cut], &sorted[cut..]]
            .map(|part| part.iter().copied().filter(|b| !taken.contains(b)).collect::<Vec<_>>());
        parts.iter().all(|part| !part.is_empty()).then_some(Split { parts, separator })
    }

    /// Orders a small region by eliminating, again and again, the block with the lightest neighbourhood.
    fn minimum_degree(&mut self, region: &[usize]) {
        let mut graph: Vec<(usize, BTreeSet<usize>)> =
            region.iter().map(|&b| (b, self.neighbours[b].iter().copied().collect())).collect();
        // Neighbours that were eliminated earlier lie in this region's own past only: there are none.
        while !graph.is_empty() {
            let degree = |(_, set): &(usize, BTreeSet<usize>)| set.iter().map(|&b| self.weights[b]).sum::<usize>();
            let lightest = (0..graph.len()).min_by_key(|&i| degree(&graph[i])).unwrap_or(0);
            let (block, clique) = graph.remove(lightest);
            for (other, set) in &mut graph {
                if set.remove(&block) {
                    set.extend(clique.iter().copied().filter(|b| b != other));
                }
            }
            self.order.push(block);
        }
    }
}

/// The cheapest vertex cover of a bipartite graph, by König's theorem: a maximum flow from left to right, through
/// vertices as wide as their weights, is blocked by exactly that cover.
#[derive(Default)]
struct Cover {
    /// Weights of the left and of the right vertices.
    weights: [Vec<usize>; 2],
    /// Right neighbours of every left vertex.
    joints: Vec<Vec<usize>>,
}

impl Cover {
    /// Covering vertices on the left and on the right.
    fn minimum(&self) -> [Vec<usize>; 2] {
        let [mut supply, mut demand] = self.weights.clone();
        // flow[j] lists what vertex j on the right receives: (left vertex, amount).
        let mut flow: Vec<Vec<(usize, usize)>> = vec![Vec::new(); demand.len()];
        loop {
            let search = self.search(&supply, &demand, &flow);
            let Some(end) = search.end else {
                let left = (0..supply.len()).filter(|&i| search.left[i].is_none()).collect();
                let right = (0..demand.len()).filter(|&j| search.right[j].is_some()).collect();
                return [left, right];
            };
            self.augment(&search, end, &mut supply, &mut demand, &mut flow);
        }
    }

    /// Breadth-first search for a path of more flow.
    fn search(&self, supply: &[usize], demand: &[usize], flow: &[Vec<(usize, usize)>]) -> Search {
        let mut search = Search { left: vec![None; supply.len()], right: vec![None; demand.len()], end: None };
        let mut queue = VecDeque::new();
        for i in (0..supply.len()).filter(|&i| supply[i] > 0) {
            search.left[i] = Some(usize::MAX);
            queue.push_back(i);
        }
        while let Some(i) = queue.pop_front() {
            for &j in &self.joints[i] {
                if search.right[j].is_some() {
                    continue;
                }
                search.right[j] = Some(i);
                if demand[j] > 0 {
                    search.end = Some(j);
                    return search;
                }
                for &(from, _) in &flow[j] {
                    if search.left[from].is_none() {
                        search.left[from] = Some(j);
                        queue.push_back(from);
                    }
                }
            }
        }
        search
    }

    /// Sends as much flow as the found path takes.
    fn augment(
        &self,
        search: &Search,
        end: usize,
        supply: &mut [usize],
        demand: &mut [usize],
        flow: &mut [Vec<(usize, usize)>],
    ) {
        // The path backwards: right vertex, the left vertex that reaches it, the right vertex that gives it flow back.
        let mut path = Vec::new();
        let mut right = end;
        let start = loop {
            let Some(left) = search.right[right] else { return };
            path.push((left, right));
            match search.left[left] {
                Some(back) if back != usize::MAX => right = back,
                _ => break left,
            }
        };
        let given_back = |flow: &[Vec<(usize, usize)>], left: usize, right: usize| {
            flow[right].iter().find(|&&(from, _)| from == left).map_or(0, |&(_, amount)| amount)
        };
        let returned = path.windows(2).map(|pair| (pair[0].0, pair[1].1));
        let amount = returned
            .clone()
            .map(|(left, right)| given_back(flow, left, right))
            .chain([supply[start], demand[end]])
            .min()
            .unwrap_or(0);
        for (left, right) in returned {
            for entry in flow[right].iter_mut().filter(|entry| entry.0 == left) {
                entry.1 -= amount;
            }
            flow[right].retain(|entry| entry.1 > 0);
        }
        for (left, right) in path {
            match flow[right].iter_mut().find(|entry| entry.0 == left) {
                Some(entry) => entry.1 += amount,
                None => flow[right].push((left, amount)),
            }
        }
        supply[start] -= amount;
        demand[end] -= amount;
    }
}

/// What a search reached, and from where: left vertices from the right (`usize::MAX`: from the source), right ones
/// from the left.
struct Search {
    left: Vec<Option<usize>>,
    right: Vec<Option<usize>>,
    end: Option<usize>,
}
