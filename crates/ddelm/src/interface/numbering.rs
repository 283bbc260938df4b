//! The numbers of the interface values and of the jumps of the fluxes.

use std::collections::BTreeMap;

use crate::domain::collocation::{Collocation, Layout, Nodes};
use crate::domain::decomposition::{Behind, Decomposition, EdgeSide, Piece, Subdomain};
use crate::domain::map::Point;

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
    /// For every local flux: its row in A, which has the flux rows of all pieces, and its global jump.
    pub fluxes: Vec<(usize, usize)>,
}

impl Numbering {
    /// Numbers the interface of a decomposition whose subdomains have these nodes on their sides.
    pub fn new(decomposition: &Decomposition, collocation: &Collocation) -> Self {
        let (inner, pairs) = (collocation.side.len(), collocation.pairs);
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
            for (v, vertex) in decomposition.vertices.iter().enumerate().filter(|(_, v)| v.parts.is_empty()) {
                numbering.cross[v] = Some(numbering.add_block(vertex.point, pairs));
            }
        }
        for edge in &decomposition.edges {
            let EdgeSide { subdomain, side, .. } = edge.sides[0];
            let ends = numbering.ends(&decomposition.subdomains[subdomain], side, false).len();
            numbering.jumps.push(numbering.jumps[numbering.jumps.len() - 1] + pairs * (inner + ends));
        }
        numbering
    }

    /// The ends of an edge that are cross points, in its direction: as corners of one of its sides.
    fn ends(&self, subdomain: &Subdomain, side: usize, reversed: bool) -> Vec<usize> {
        let mut ends = vec![0, 1];
        if reversed {
            ends.reverse();
        }
        let vertex = |end: &usize| subdomain.vertices[(side + end) % subdomain.vertices.len()];
        ends.retain(|end| self.cross[vertex(end)].is_some());
        ends
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
        let edge = |piece: &Piece| match piece.behind {
            Behind::Edge { edge, .. } => Some(edge),
            Behind::Boundary(_) | Behind::Core => None,
        };
        let cross = subdomain.vertices.iter().filter_map(|&vertex| self.cross[vertex]);
        subdomain.pieces.iter().filter_map(edge).chain(cross).collect()
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

    /// The place of a subdomain whose perimeter nodes are laid out like this.
    pub fn gather(&self, subdomain: &Subdomain, layout: &Layout) -> Gather {
        let (m, per, fluxes) = (self.inner, layout.nodes.len(), layout.fluxes.len());
        let mut gather = Gather { blocks: self.blocks_of(subdomain), ..Gather::default() };
        for (k, piece) in subdomain.pieces.iter().enumerate() {
            let Behind::Edge { edge, reversed } = piece.behind else { continue };
            let along = |k: usize| if reversed { m - 1 - k } else { k };
            for pair in 0..self.pairs {
                for i in 0..m {
                    let row = pair * per + layout.pieces[k] + along(i);
                    gather.unknowns.push((row, self.blocks[edge] + pair * m + i));
                }
            }
            let ends = self.ends(subdomain, piece.side, reversed);
            let stride = m + ends.len();
            for pair in 0..self.pairs {
                for i in 0..stride {
                    let local = i.checked_sub(m).map_or_else(|| along(i), |end| m + ends[end]);
                    let row = pair * fluxes + layout.flux_starts[k] + local;
                    gather.fluxes.push((row, self.jumps[edge] + pair * stride + i));
                }
            }
        }
        let corners = per - subdomain.pieces.len() * m;
        for (c, &vertex) in subdomain.vertices.iter().enumerate().take(corners) {
            if let Some(block) = self.cross[vertex] {
                for pair in 0..self.pairs {
                    gather.unknowns.push((pair * per + per - corners + c, self.blocks[block] + pair));
                }
            }
        }
        gather
    }

    /// The edge of a jump, its transmission pair, and its place along the edge.
    pub fn jump_place(&self, jump: usize) -> (usize, usize, usize) {
        let edge = self.jumps.partition_point(|&start| start <= jump) - 1;
        let (k, per_pair) = (jump - self.jumps[edge], (self.jumps[edge + 1] - self.jumps[edge]) / self.pairs);
        (edge, k / per_pair, k % per_pair)
    }

    /// The unknowns that are values of u, in order, and where they are.
    pub fn nodes(&self, decomposition: &Decomposition, side: &[f64]) -> Vec<(usize, Point)> {
        let mut nodes: BTreeMap<usize, Point> = BTreeMap::new();
        for (e, edge) in decomposition.edges.iter().enumerate() {
            let EdgeSide { subdomain, side: of, span } = edge.sides[0];
            let map = decomposition.subdomains[subdomain].map.as_ref();
            let point = |t: f64| map.point(map.shape().side_point(of, span.along(t)));
            nodes.extend(side.iter().enumerate().map(|(k, &t)| (self.blocks[e] + k, point(t))));
        }
        for (vertex, block) in decomposition.vertices.iter().zip(&self.cross) {
            nodes.extend(block.map(|block| (self.blocks[block], vertex.point)));
        }
        nodes.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::shape::Shape;

    fn check(d: &Decomposition, nodes: Nodes, pairs: usize) {
        let c = Collocation::new(Shape::Quadrilateral, nodes, 5, pairs, d.has_hanging_sides());
        let numbering = Numbering::new(d, &c);
        let mut at: Vec<Option<Point>> = vec![None; numbering.unknowns()];
        let mut touched = vec![0; numbering.unknowns()];
        let mut jumps = vec![0; numbering.jump_count()];
        for s in 0..d.len() {
            let layout = c.layout(&d.subdomains[s]);
            let gather = numbering.gather(&d.subdomains[s], &layout);
            for &(row, unknown) in &gather.unknowns {
                let p = d.subdomains[s].map.point(c.perimeter[layout.nodes[row % layout.nodes.len()]].xi);
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
        let nodes = numbering.nodes(d, &c.side);
        assert!(pairs == 2 || nodes.len() == numbering.unknowns());
        assert!(nodes.iter().all(|&(k, p)| at[k].is_some_and(|q| (p[0] - q[0]).hypot(p[1] - q[1]) < 1e-14)));
    }

    #[test]
    fn both_sides_of_every_edge_name_the_same_points() {
        let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 2]).unwrap();
        for pairs in [1, 2] {
            check(&d, Nodes::Chebyshev, pairs);
            check(&d, Nodes::Uniform, pairs);
            check(&d.split(&[1]).unwrap(), Nodes::Chebyshev, pairs);
        }
    }
}
