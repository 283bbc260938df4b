//! Congruent fronts: where subdomains are alike, so are the boxes that nested dissection makes of them.
//!
//! With constant coefficients the subdomains of a rectangle differ only in which of their sides lie on the outer
//! boundary. A box of them at some depth of the tree is one of nine: in the middle, at a side or in a corner. So a level
//! has at most nine different fronts, however many it has, and each is eliminated once.

use std::collections::HashMap;
use std::ops::Range;

use super::front::{Element, Front};

/// Fronts of one level with the same matrix.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// The fronts.
    pub members: Vec<usize>,
    /// Entries of its L and U in the storage of the factor.
    pub factor: Range<usize>,
    /// Entries of its update U in the storage of the updates of its level.
    pub update: Range<usize>,
}

/// The classes of all fronts, and those of every level. Fronts learn their class.
pub(super) fn classes(
    fronts: &mut [Front],
    elements: &[Element],
    levels: impl Iterator<Item = usize>,
) -> (Vec<Class>, Vec<Range<usize>>) {
    let mut classes: Vec<Class> = Vec::new();
    let (mut ranges, mut first) = (Vec::new(), 0);
    for count in levels {
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let (start, mut stored) = (classes.len(), 0);
        for f in first..first + count {
            let next = classes.len();
            let class = *known.entry(description(&fronts[f], fronts, elements)).or_insert(next);
            if class == next {
                let Front { pivots, boundary, .. } = fronts[f];
                let entries = classes.last().map_or(0, |class| class.factor.end);
                classes.push(Class {
                    members: Vec::new(),
                    factor: entries..entries + pivots * (pivots + 2 * boundary),
                    update: stored..stored + boundary * boundary,
                });
                stored += boundary * boundary;
            }
            fronts[f].member = (class, classes[class].members.len());
            classes[class].members.push(f);
        }
        ranges.push(start..classes.len());
        first += count;
    }
    (classes, ranges)
}

/// All that the matrix of a front depends on: its shape, the kinds of its elements and the classes of its children, and
/// where they go.
fn description(front: &Front, fronts: &[Front], elements: &[Element]) -> Vec<usize> {
    let mut words = vec![front.pivots, front.boundary, front.elements.len(), front.children.len()];
    for &e in &front.elements {
        words.extend([elements[e].kind, elements[e].blocks.len()]);
        words.extend(elements[e].blocks.iter().map(|&block| front.row(block)));
    }
    for &child in &front.children {
        let child = &fronts[child];
        words.extend([child.member.0, child.runs.len()]);
        words.extend(child.runs.iter().flat_map(|run| [run.from, run.to, run.len]));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::dissection::tests::grid;
    use super::super::front::Block;
    use super::super::fronts::Symbolic;
    use super::*;

    /// The interface of side x side subdomains that are alike but for their sides on the outer boundary.
    fn alike(side: usize) -> Symbolic {
        let (points, elements) = grid(side, side);
        let blocks: Vec<Block> = points.into_iter().map(|point| Block { point, size: 15 }).collect();
        let place = |i: usize| usize::from(i > 0) + usize::from(i + 1 == side);
        let kind = |s: usize| 3 * place(s % side) + place(s / side);
        let element = |(s, blocks)| Element { blocks, kind: kind(s) };
        Symbolic::new(&blocks, &elements.into_iter().enumerate().map(element).collect::<Vec<_>>())
    }

    #[test]
    fn a_level_of_congruent_boxes_has_nine_classes_at_most() {
        for side in [8, 16, 32] {
            let symbolic = alike(side);
            let counts: Vec<usize> = symbolic.levels.iter().map(|level| level.len()).collect();
            assert!(counts.iter().all(|&count| count <= 9), "side {side}: {counts:?}");
            let members: usize = symbolic.classes.iter().map(|class| class.members.len()).sum();
            assert_eq!(members, symbolic.fronts.len());
        }
    }

    #[test]
    fn other_elements_make_other_fronts() {
        let mut symbolic = alike(8);
        let before = symbolic.classes.len();
        symbolic.elements[27].kind = 100;
        let symbolic = Symbolic::new(&symbolic.blocks, &symbolic.elements);
        // Those on the way from the changed subdomain to the root, unless they had no equal before.
        let classes = symbolic.classes.len();
        assert!(classes > before && classes <= before + symbolic.levels.len(), "{before} and {classes}");
    }
}
