//! The cheapest vertex cover of a bipartite graph, by König's theorem: a maximum flow from left to right, through vertices
//! as wide as their sizes, is blocked by exactly that cover.
//!
//! A dissection asks for thousands of small ones, so that the arrays of one serve the next.
//!
//! # References
//! A. Pothen, C.-J. Fan, Computing the block triangular form of a sparse matrix, ACM TOMS 16 (1990): covers from matchings.

/// No joint.
const NONE: usize = usize::MAX;

/// A vertex that has joints.
#[derive(Debug, Clone, Copy)]
struct Vertex {
    /// The caller's number.
    number: usize,
    size: usize,
    /// How much more can flow through it.
    spare: usize,
    /// Whether the last search has come to it, and the joint that it came by.
    reached: bool,
    by: usize,
}

/// An edge of the graph: its ends, and what flows through it.
#[derive(Debug, Clone, Copy)]
struct Joint {
    ends: [usize; 2],
    flow: usize,
    /// The next joint of the same right vertex.
    next: usize,
}

/// A bipartite graph, and the cheapest of its covers.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// On the left in the order of their joints, and on the right.
    vertices: [Vec<Vertex>; 2],
    joints: Vec<Joint>,
    /// Where the joints of every left vertex begin, and the first joint of every right one.
    first: [Vec<usize>; 2],
    /// The right vertex with a number of the caller's.
    known: Vec<usize>,
    queue: Vec<usize>,
}

impl Cover {
    /// Forgets the graph.
    pub fn clear(&mut self) {
        self.vertices[1].iter().for_each(|vertex| self.known[vertex.number] = NONE);
        self.vertices.iter_mut().for_each(Vec::clear);
        self.first.iter_mut().for_each(Vec::clear);
        self.joints.clear();
    }

    /// Joins two vertices of these sizes. All joints of one on the left come one after the other, in the order of their numbers.
    pub fn join(&mut self, [left, right]: [usize; 2], sizes: [usize; 2]) {
        let vertex = |number: usize, size: usize| Vertex { number, size, spare: size, reached: false, by: NONE };
        if self.vertices[0].last().is_none_or(|last| last.number != left) {
            self.vertices[0].push(vertex(left, sizes[0]));
            self.first[0].push(self.joints.len());
        }
        if self.known.len() <= right {
            self.known.resize(right + 1, NONE);
        }
        if self.known[right] == NONE {
            self.known[right] = self.vertices[1].len();
            self.vertices[1].push(vertex(right, sizes[1]));
            self.first[1].push(NONE);
        }
        let ends = [self.vertices[0].len() - 1, self.known[right]];
        let next = std::mem::replace(&mut self.first[1][ends[1]], self.joints.len());
        self.joints.push(Joint { ends, flow: 0, next });
    }

    /// Finds the cover.
    pub fn find(&mut self) {
        // Most flow needs no detour.
        for joint in &mut self.joints {
            let [left, right] = joint.ends;
            let amount = self.vertices[0][left].spare.min(self.vertices[1][right].spare);
            joint.flow = amount;
            self.vertices[0][left].spare -= amount;
            self.vertices[1][right].spare -= amount;
        }
        while let Some(end) = self.search() {
            self.augment(end);
        }
    }

    /// A breadth-first search for a right vertex that can take more.
    fn search(&mut self) -> Option<usize> {
        let [left, right] = &mut self.vertices;
        right.iter_mut().for_each(|vertex| vertex.reached = false);
        self.queue.clear();
        for (i, vertex) in left.iter_mut().enumerate() {
            vertex.reached = vertex.spare > 0;
            vertex.by = NONE;
            self.queue.extend(vertex.reached.then_some(i));
        }
        let mut done = 0;
        while let Some(&i) = self.queue.get(done) {
            done += 1;
            let end = self.first[0].get(i + 1).copied().unwrap_or(self.joints.len());
            for k in self.first[0][i]..end {
                let j = self.joints[k].ends[1];
                if right[j].reached {
                    continue;
                }
                (right[j].reached, right[j].by) = (true, k);
                if right[j].spare > 0 {
                    return Some(j);
                }
                let mut back = self.first[1][j];
                while back != NONE {
                    let Joint { ends: [giver, _], flow, next } = self.joints[back];
                    if flow > 0 && !left[giver].reached {
                        (left[giver].reached, left[giver].by) = (true, back);
                        self.queue.push(giver);
                    }
                    back = next;
                }
            }
        }
        None
    }

    /// Sends as much to the right vertex `end` as the path that was found takes: its joints carry more, and take over what their left
    /// vertices gave elsewhere.
    fn augment(&mut self, end: usize) {
        let [left, right] = &self.vertices;
        let mut amount = right[end].spare;
        let mut start = self.joints[right[end].by].ends[0];
        while left[start].by != NONE {
            amount = amount.min(self.joints[left[start].by].flow);
            let through = self.joints[left[start].by].ends[1];
            start = self.joints[right[through].by].ends[0];
        }
        amount = amount.min(left[start].spare);
        let mut at = end;
        loop {
            let by = right[at].by;
            self.joints[by].flow += amount;
            let back = left[self.joints[by].ends[0]].by;
            if back == NONE {
                break;
            }
            self.joints[back].flow -= amount;
            at = self.joints[back].ends[1];
        }
        self.vertices[0][start].spare -= amount;
        self.vertices[1][end].spare -= amount;
    }

    /// The vertices of the cover on one side. What the source still reaches on the left needs none: its joints are covered on the right.
    fn covered(&self, side: usize) -> impl Iterator<Item = &Vertex> {
        self.vertices[side].iter().filter(move |vertex| vertex.reached == (side == 1))
    }

    /// How many vertices it has on each side.
    pub fn counts(&self) -> [usize; 2] {
        [0, 1].map(|side| self.covered(side).count())
    }

    /// What it costs on each side.
    pub fn sizes(&self) -> [usize; 2] {
        [0, 1].map(|side| self.covered(side).map(|vertex| vertex.size).sum())
    }

    /// Its vertices on one side, by the caller's numbers.
    pub fn numbers(&self, side: usize) -> impl Iterator<Item = usize> {
        self.covered(side).map(|vertex| vertex.number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

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
            graphs in prop::collection::vec((
                prop::collection::vec(1usize..9, 1..7),
                prop::collection::vec(1usize..9, 1..7),
                prop::collection::vec(any::<u8>(), 7),
            ), 1..4),
        ) {
            let mut cover = Cover::default();
            for (left, right, bits) in graphs {
                let joints: Vec<Vec<usize>> =
                    (0..left.len()).map(|i| (0..right.len()).filter(|j| bits[i] >> j & 1 == 1).collect()).collect();
                let sizes = [left, right];
                let cheapest = cheapest_cover(&sizes, &joints);
                cover.clear();
                for (i, list) in joints.iter().enumerate() {
                    list.iter().for_each(|&j| cover.join([i, j], [sizes[0][i], sizes[1][j]]));
                }
                cover.find();
                let covered = [0, 1].map(|side| cover.numbers(side).collect::<BTreeSet<usize>>());
                for (i, list) in joints.iter().enumerate() {
                    prop_assert!(covered[0].contains(&i) || list.iter().all(|j| covered[1].contains(j)));
                }
                let size = |side: usize| covered[side].iter().map(|&i| sizes[side][i]).sum::<usize>();
                prop_assert_eq!([size(0), size(1)], cover.sizes());
                prop_assert_eq!(size(0) + size(1), cheapest);
                prop_assert_eq!(covered.each_ref().map(BTreeSet::len), cover.counts());
            }
        }
    }
}
