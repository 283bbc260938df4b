//! Collocation nodes of one subdomain, in reference coordinates, and the numbering of the interface values.
//!
//! Two rules. *Uniform* (the paper): an `(n+1) x (n+1)` grid with corners; a corner inside the domain is a cross
//! point, one unknown with one flux row per edge it lies on (paper, Remark 3.1). *Chebyshev*: Chebyshev-Lobatto points
//! `t_k = (1 - cos(pi k / n)) / 2` without their ends, so that no corner is a node and edges need no special rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::decomposition::{Decomposition, SIDE_CORNERS, Side, Subdomain};
use crate::map::{Point, side_point};
use crate::operator::EdgeScale;

/// Where the nodes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nodes {
    /// A uniform grid with corners.
    Uniform,
    /// Chebyshev points without corners.
    Chebyshev,
}

/// A node on the perimeter of the reference square.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerimeterNode {
    /// Where it is.
    pub xi: Point,
    /// The side it lies on; for a corner the vertical one.
    pub side: usize,
    /// For a corner: which one, as an index into `Subdomain::vertices`.
    pub corner: Option<usize>,
    /// Position among the inner nodes of its side; 0 for a corner.
    pub position: usize,
}

/// The nodes of the reference square, the same for every subdomain.
#[derive(Debug, Clone)]
pub struct Collocation {
    /// Intervals per side, n.
    pub points: usize,
    /// The rule.
    pub nodes: Nodes,
    /// The inner nodes of a side, `n - 1` parameters in `(0, 1)`.
    pub side: Vec<f64>,
    /// The interior nodes, `(n - 1)^2`.
    pub interior: Vec<Point>,
    /// The nodes on the perimeter: those of the left, right, bottom and top side, then the corners if they are nodes.
    pub perimeter: Vec<PerimeterNode>,
}

impl Collocation {
    /// The nodes for n intervals per side, n at least 2.
    pub fn new(nodes: Nodes, points: usize) -> Self {
        let n = points as f64;
        let side: Vec<f64> = (1..points)
            .map(|k| match nodes {
                Nodes::Uniform => k as f64 / n,
                // sin^2 instead of (1 - cos) / 2: the nodes are symmetric to the last bit near 0.
                Nodes::Chebyshev => (std::f64::consts::FRAC_PI_2 * k as f64 / n).sin().powi(2),
            })
            .collect();
        let interior = side.iter().flat_map(|&x| side.iter().map(move |&y| [x, y])).collect();
        let mut perimeter: Vec<PerimeterNode> = (0..4)
            .flat_map(|s| {
                side.iter().enumerate().map(move |(position, &t)| PerimeterNode {
                    xi: side_point(s, t),
                    side: s,
                    corner: None,
                    position,
                })
            })
            .collect();
        if nodes == Nodes::Uniform {
            perimeter.extend((0..4).map(|c| {
                let xi = [(c % 2) as f64, (c / 2) as f64];
                PerimeterNode { xi, side: c % 2, corner: Some(c), position: 0 }
            }));
        }
        Collocation { points, nodes, side, interior, perimeter }
    }

    /// Rows of K for an equation with the given number of transmission pairs.
    pub fn rows(&self, pairs: usize) -> usize {
        self.interior.len() + pairs * self.perimeter.len()
    }

    /// Nodes at which fluxes are taken: for every side its inner nodes, then its two ends if they are nodes. Returns
    /// indices into `perimeter`.
    pub fn flux_nodes(&self, side: usize) -> Vec<usize> {
        let m = self.side.len();
        let mut nodes: Vec<usize> = (side * m..(side + 1) * m).collect();
        if self.nodes == Nodes::Uniform {
            nodes.extend(SIDE_CORNERS[side].map(|c| 4 * m + c));
        }
        nodes
    }
}

/// Numbers of the interface values and of the flux jumps.
///
/// Unknowns come in blocks: first one block per edge (per pair, its inner nodes along the edge), then one per cross
/// point. Jumps come per edge: per pair, its inner nodes, then its ends that are cross points.
#[derive(Debug, Clone)]
pub struct Numbering {
    /// Transmission pairs.
    pub pairs: usize,
    /// Start of every block in the vector of unknowns; one more entry than blocks.
    pub blocks: Vec<usize>,
    /// A point in every block, for ordering them.
    pub block_points: Vec<Point>,
    /// Start of every edge's jumps; one more entry than edges.
    pub jumps: Vec<usize>,
    /// Block of every vertex that is a cross point.
    cross: Vec<Option<usize>>,
    inner: usize,
}

/// The place of one subdomain in the interface: which of its perimeter nodes are interface nodes, and their numbers.
#[derive(Debug, Clone, Default)]
pub struct Gather {
    /// The blocks it touches, in the order of its unknowns.
    pub blocks: Vec<usize>,
    /// For every local unknown: row in the perimeter rows (pair * perimeter nodes + node), and global unknown.
    pub unknowns: Vec<(usize, usize)>,
    /// For every local flux: its row in A, which has the flux rows of all four sides, and its global jump.
    pub fluxes: Vec<(usize, usize)>,
}

impl Numbering {
    /// Numbers the interface of a decomposition.
    pub fn new(decomposition: &Decomposition, collocation: &Collocation, pairs: usize) -> Self {
        let inner = collocation.side.len();
        let corners = collocation.nodes == Nodes::Uniform;
        let mut numbering = Numbering {
            pairs,
            blocks: vec![0],
            block_points: Vec::new(),
            jumps: vec![0],
            cross: vec![None; decomposition.vertices.len()],
            inner,
        };
        for edge in &decomposition.edges {
            numbering.add_block(edge.midpoint, pairs * inner);
        }
        if corners {
            for (v, vertex) in decomposition.vertices.iter().enumerate().filter(|(_, v)| !v.boundary) {
                numbering.cross[v] = Some(numbering.add_block(vertex.point, pairs));
            }
        }
        for edge in &decomposition.edges {
            let (s, side) = edge.sides[0];
            let vertices = SIDE_CORNERS[side].map(|c| decomposition.subdomains[s].vertices[c]);
            let ends = vertices.iter().filter(|&&v| numbering.cross[v].is_some()).count();
            numbering.jumps.push(numbering.jumps[numbering.jumps.len() - 1] + pairs * (inner + ends));
        }
        numbering
    }

    /// The numbering of the part of the interface that some subdomains touch: the same blocks and edges, of which
    /// those that none of them touches are empty. Vectors over the interface on one rank have these numbers.
    pub fn restricted_to(&self, decomposition: &Decomposition, subdomains: &[usize]) -> Self {
        let mut touched = vec![false; self.block_points.len()];
        for &s in subdomains {
            self.blocks_of(&decomposition.subdomains[s]).into_iter().for_each(|block| touched[block] = true);
        }
        // The first blocks are the edges, in their order: they say which jumps there are as well.
        let starts = |whole: &[usize]| {
            let mut starts = vec![0; whole.len()];
            for k in 1..whole.len() {
                starts[k] = starts[k - 1] + if touched[k - 1] { whole[k] - whole[k - 1] } else { 0 };
            }
            starts
        };
        Numbering { blocks: starts(&self.blocks), jumps: starts(&self.jumps), ..self.clone() }
    }

    /// The blocks that a subdomain touches, in the order of its unknowns: edges, then cross points.
    pub fn blocks_of(&self, subdomain: &Subdomain) -> Vec<usize> {
        let edge = |side: &Side| match *side {
            Side::Interface { edge, .. } => Some(edge),
            Side::Boundary(_) => None,
        };
        let cross = subdomain.vertices.iter().filter_map(|&vertex| self.cross[vertex]);
        subdomain.sides.iter().filter_map(edge).chain(cross).collect()
    }

    fn add_block(&mut self, point: Point, size: usize) -> usize {
        self.blocks.push(self.blocks[self.blocks.len() - 1] + size);
        self.block_points.push(point);
        self.block_points.len() - 1
    }

    /// Number of unknowns in a block.
    pub fn block_size(&self, block: usize) -> usize {
        self.blocks[block + 1] - self.blocks[block]
    }

    /// Number of interface values.
    pub fn unknowns(&self) -> usize {
        self.blocks[self.blocks.len() - 1]
    }

    /// Number of flux jumps.
    pub fn jump_count(&self) -> usize {
        self.jumps[self.jumps.len() - 1]
    }

    /// The place of subdomain s.
    pub fn gather(&self, decomposition: &Decomposition, collocation: &Collocation, s: usize) -> Gather {
        let (m, per) = (self.inner, collocation.perimeter.len());
        let subdomain = &decomposition.subdomains[s];
        let corners = collocation.nodes == Nodes::Uniform;
        let mut gather = Gather { blocks: self.blocks_of(subdomain), ..Gather::default() };
        for (side, link) in subdomain.sides.iter().enumerate() {
            let Side::Interface { edge, reversed } = *link else { continue };
            for pair in 0..self.pairs {
                for k in 0..m {
                    let node = side * m + if reversed { m - 1 - k } else { k };
                    gather.unknowns.push((pair * per + node, self.blocks[edge] + pair * m + k));
                }
            }
            // The ends of the edge, in the direction of the edge, that are cross points.
            let mut ends: Vec<usize> = Vec::new();
            if corners {
                let along = SIDE_CORNERS[side];
                let ordered = if reversed { [1, 0] } else { [0, 1] };
                ends.extend(ordered.into_iter().filter(|&end| self.cross[subdomain.vertices[along[end]]].is_some()));
            }
            let stride = m + ends.len();
            for pair in 0..self.pairs {
                for k in 0..stride {
                    let local = match k.checked_sub(m) {
                        None => {
                            if reversed {
                                m - 1 - k
                            } else {
                                k
                            }
                        }
                        Some(e) => m + ends[e],
                    };
                    let row = Self::flux_row(collocation, pair, side, local);
                    gather.fluxes.push((row, self.jumps[edge] + pair * stride + k));
                }
            }
        }
        if corners {
            for (c, &vertex) in subdomain.vertices.iter().enumerate() {
                if let Some(block) = self.cross[vertex] {
                    for pair in 0..self.pairs {
                        gather.unknowns.push((pair * per + 4 * m + c, self.blocks[block] + pair));
                    }
                }
            }
        }
        gather
    }

    /// The unit of a jump.
    pub fn flux_unit(&self, scales: &[EdgeScale], jump: usize) -> f64 {
        let edge = self.jumps.partition_point(|&start| start <= jump) - 1;
        let per_pair = (self.jumps[edge + 1] - self.jumps[edge]) / self.pairs;
        scales[edge].flux[(jump - self.jumps[edge]) / per_pair]
    }

    /// The unknowns that are values of u, in order, and where they are.
    pub fn nodes(&self, decomposition: &Decomposition, collocation: &Collocation) -> Vec<(usize, Point)> {
        let per = collocation.perimeter.len();
        let mut nodes: BTreeMap<usize, Point> = BTreeMap::new();
        for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
            let gather = self.gather(decomposition, collocation, s);
            for (row, unknown) in gather.unknowns.into_iter().filter(|(row, _)| *row < per) {
                nodes.entry(unknown).or_insert_with(|| subdomain.map.point(collocation.perimeter[row].xi));
            }
        }
        nodes.into_iter().collect()
    }

    /// Row of A (over all four sides) of flux `pair` at local flux node `k` of a side, see
    /// [`Collocation::flux_nodes`].
    fn flux_row(collocation: &Collocation, pair: usize, side: usize, k: usize) -> usize {
        let per_side = collocation.flux_nodes_per_side();
        pair * 4 * per_side + side * per_side + k
    }
}

impl Collocation {
    /// Flux nodes per side.
    pub fn flux_nodes_per_side(&self) -> usize {
        self.side.len() + if self.nodes == Nodes::Uniform { 2 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(nodes: Nodes, pairs: usize) {
        let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 2]).unwrap();
        let c = Collocation::new(nodes, 5);
        let numbering = Numbering::new(&d, &c, pairs);
        let mut at: Vec<Option<Point>> = vec![None; numbering.unknowns()];
        let mut touched = vec![0; numbering.unknowns()];
        let mut jumps = vec![0; numbering.jump_count()];
        for s in 0..d.len() {
            let gather = numbering.gather(&d, &c, s);
            for &(row, unknown) in &gather.unknowns {
                let p = d.subdomains[s].map.point(c.perimeter[row % c.perimeter.len()].xi);
                let q = *at[unknown].get_or_insert(p);
                assert!((p[0] - q[0]).hypot(p[1] - q[1]) < 1e-14);
                touched[unknown] += 1;
            }
            gather.fluxes.iter().for_each(|&(_, jump)| jumps[jump] += 1);
            let sizes: usize = gather.blocks.iter().map(|&b| numbering.blocks[b + 1] - numbering.blocks[b]).sum();
            assert_eq!(sizes, gather.unknowns.len());
        }
        assert!(jumps.iter().all(|&t| t == 2));
        // Two subdomains at an edge, four at each of the two cross points.
        let cross = if nodes == Nodes::Uniform { 2 * pairs } else { 0 };
        assert_eq!(touched.iter().filter(|&&t| t == 4).count(), cross);
        assert_eq!(touched.iter().filter(|&&t| t == 2).count(), numbering.unknowns() - cross);
    }

    #[test]
    fn both_sides_of_every_edge_name_the_same_points() {
        for pairs in [1, 2] {
            check(Nodes::Chebyshev, pairs);
            check(Nodes::Uniform, pairs);
        }
    }

    #[test]
    fn counts_are_those_of_the_paper() {
        let uniform = Collocation::new(Nodes::Uniform, 16);
        assert_eq!(uniform.rows(1), 17 * 17);
        let chebyshev = Collocation::new(Nodes::Chebyshev, 16);
        assert_eq!(chebyshev.rows(1), 16 * 16 + 2 * 16 - 3);
        assert!((chebyshev.side[3] + chebyshev.side[11] - 1.0).abs() < 1e-15);
    }
}
