//! A tree of boxes: which of many boxes hold a point, or meet a box.
//!
//! Boxes are sorted along one axis and the other in turn, and packed: eight boxes to a node, eight nodes to a node above
//! (sort-tile-recursive packing of an R-tree; S. T. Leutenegger and others, 1997). The tree is two arrays.

use crate::domain::plane::Point;

use super::plane::Rectangle;

/// Children of a node.
const FAN: usize = 8;

/// Boxes, packed for search.
#[derive(Debug, Clone)]
pub struct BoxTree {
    /// The boxes in packed order, then the boxes around groups of them, level by level.
    boxes: Vec<Rectangle>,
    /// The number of each packed box as it was given.
    ids: Vec<usize>,
    /// Where each level begins in `boxes`; the last entry is the end.
    levels: Vec<usize>,
}

impl BoxTree {
    /// Packs boxes; a box is known by its place in the list.
    pub fn new(given: &[Rectangle]) -> Self {
        let mut ids: Vec<usize> = (0..given.len()).collect();
        let center = |id: usize, axis: usize| given[id].low[axis] + given[id].high[axis];
        let by = |axis: usize| move |a: &usize, b: &usize| center(*a, axis).total_cmp(&center(*b, axis)).then(a.cmp(b));
        ids.sort_by(by(0));
        let leaves = given.len().div_ceil(FAN).max(1);
        let slices = (leaves as f64).sqrt().ceil() as usize;
        for slice in ids.chunks_mut(FAN * leaves.div_ceil(slices)) {
            slice.sort_by(by(1));
        }
        let mut boxes: Vec<Rectangle> = ids.iter().map(|&id| given[id]).collect();
        let mut levels = vec![0, boxes.len()];
        while levels[levels.len() - 1] - levels[levels.len() - 2] > 1 {
            let [.., start, end] = levels[..] else { unreachable!("there are two entries from the start") };
            for first in (start..end).step_by(FAN) {
                let group = &boxes[first..(first + FAN).min(end)];
                boxes.push(group.iter().fold(Rectangle::EMPTY, |a, b| a.union(*b)));
            }
            levels.push(boxes.len());
        }
        BoxTree { boxes, ids, levels }
    }

    /// Calls `found` with each box that meets the query, in an order that depends on the boxes alone, until it returns
    /// something.
    pub fn search<T>(&self, query: &Rectangle, mut found: impl FnMut(usize) -> Option<T>) -> Option<T> {
        if self.ids.is_empty() {
            return None;
        }
        // Places in `boxes` with their levels; FAN - 1 wait per level, and there are at most 21 levels.
        let mut waiting = [(0usize, 0usize); 21 * FAN];
        waiting[0] = (self.boxes.len() - 1, self.levels.len() - 2);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (place, level) = waiting[count];
            if !self.boxes[place].meets(query) {
                continue;
            }
            if level == 0 {
                if let Some(result) = found(self.ids[place]) {
                    return Some(result);
                }
                continue;
            }
            let first = self.levels[level - 1] + FAN * (place - self.levels[level]);
            let last = (first + FAN).min(self.levels[level]);
            for child in (first..last).rev() {
                waiting[count] = (child, level - 1);
                count += 1;
            }
        }
        None
    }

    /// The boxes that meet the query, in rising order.
    pub fn meeting(&self, query: &Rectangle) -> Vec<usize> {
        let mut out = Vec::new();
        self.search(query, |id| {
            out.push(id);
            None::<()>
        });
        out.sort_unstable();
        out
    }

    /// [`BoxTree::search`] for the boxes that hold a point.
    pub fn at<T>(&self, p: Point, found: impl FnMut(usize) -> Option<T>) -> Option<T> {
        self.search(&Rectangle { low: p, high: p }, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_tree_finds_nothing() {
        assert!(BoxTree::new(&[]).meeting(&Rectangle { low: [0.0; 2], high: [1.0; 2] }).is_empty());
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_a_scan_finds(
            boxes in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64, 0.0..0.3f64, 0.0..0.3f64), 0..600),
            (x, y, w, h) in (0.0..1.0f64, 0.0..1.0f64, 0.0..0.2f64, 0.0..0.2f64),
        ) {
            let boxes: Vec<Rectangle> =
                boxes.iter().map(|&(x, y, w, h)| Rectangle { low: [x, y], high: [x + w, y + h] }).collect();
            let query = Rectangle { low: [x, y], high: [x + w, y + h] };
            let scan: Vec<usize> = (0..boxes.len()).filter(|&k| boxes[k].meets(&query)).collect();
            prop_assert_eq!(BoxTree::new(&boxes).meeting(&query), scan);
        }
    }
}
