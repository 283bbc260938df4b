//! What is to be split, and how: read off the tails of a solution, or of data.
//!
//! A subdomain is cut in the directions in which it has a tail, toward the end that the tail belongs to, as often as its decay
//! asks for. Rings are for vertices: in a ring the solution is smooth in the angle, whatever it does at the vertex. Where it is not, a layer
//! or a singular line runs along the ring, on which rings can be of no use, and they give way to strips.

use crate::base::error::Result;
use crate::domain::decomposition::Decomposition;
use crate::domain::forest::{Toward, Wish};
use crate::domain::sample::Sample;
use crate::domain::shape::Shape;
use crate::problem::field::Field;
use crate::solution::tails::{Lines, Tail, Tails};
use crate::solve::resolution::Unresolved;

/// Cuts toward an end of a subdomain in one round, at most.
const MOST_LEVELS: u32 = 6;

/// A corner of the domain gains so many bits with every level.
const BITS_AT_CORNERS: f64 = 1.5;

/// A direction whose tail is this much smaller than that of the other waits for the next round.
const RIVAL: f64 = 0.1;

/// A subdomain that is longer than this times its width is a strip.
const STRIP: f64 = 8.0;

/// Lengths below this, relative to the coordinates, are not cut: they would be lost in rounding.
const SHORTEST: f64 = 2e-8;

/// Coefficients that fall by less than this from one degree to the next are not those of a smooth function; by the angle in stacks of
/// 62 degrees they fall by four and more.
const SMOOTH: f64 = 2.5;

/// The last coefficients of a source that is singular by the angle, relative to its size, at least.
const VISIBLE: f64 = 1e-3;

/// The angle in the reference coordinates of a ring.
const ANGLE: usize = 1;

/// Points are wanted, as a word for other ranks.
const POINTS: &str = "points";

/// What is to become of a decomposition.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Marks {
    /// Subdomains to split, and how.
    pub splits: Vec<(usize, Wish)>,
    /// Vertices whose rings are of no use: they go before anything is split.
    pub rings: Vec<usize>,
    /// Whether points are wanted, for rings that smaller elements do not resolve.
    pub points: bool,
}

impl Marks {
    /// For a solution with these tails: what is above a `limit` is split until it is below what is `wanted`.
    pub fn of_tails(decomposition: &Decomposition, tails: &[Tails], wanted: f64, limit: f64) -> Self {
        let mut marks = Marks::default();
        for (s, Tails { directions, .. }) in tails.iter().enumerate() {
            marks.add(decomposition, s, directions, wanted, limit);
        }
        marks
    }

    /// For data that are not resolved.
    pub fn of_data(decomposition: &Decomposition, unresolved: &[Unresolved]) -> Self {
        let mut marks = Marks::default();
        for Unresolved { subdomain: s, tails, size, .. } in unresolved {
            let largest = tails.iter().map(|tail| tail.last).fold(0.0, f64::max);
            // Where nodes tell nothing, something lies between them.
            if largest > 1e-12 * size {
                marks.add(decomposition, *s, tails, 1e-3 * largest, 1e-2 * largest);
            } else {
                marks.splits.push((*s, Wish::FOUR));
            }
        }
        // Several fields in one subdomain: as much as the one or the other asks for, toward an end only if both do.
        marks.splits.sort_by_key(|(s, _)| *s);
        marks.splits.dedup_by(|(next, other), (kept, wish)| {
            let same = next == kept;
            if same && wish != other {
                let toward = if wish.toward == other.toward { wish.toward } else { Toward::Nowhere };
                let most = if toward == Toward::Nowhere { 1 } else { MOST_LEVELS };
                *wish = Wish { levels: [0, 1].map(|a| wish.levels[a].max(other.levels[a]).min(most)), toward };
            }
            same
        });
        marks
    }

    fn add(&mut self, decomposition: &Decomposition, s: usize, tails: &[Tail; 2], wanted: f64, limit: f64) {
        let Some(wish) = wish(decomposition, s, tails, wanted, limit) else { return };
        self.splits.push((s, wish));
        // The outermost ring is as coarse as its element, and may be wanted smaller for that alone.
        let inner = decomposition.ring(s).filter(|_| is_inner(decomposition, s));
        if let Some((vertex, _)) = inner.filter(|_| wish.levels[ANGLE] > 0 && tails[ANGLE].decay < SMOOTH) {
            self.rings.push(vertex);
        }
    }

    /// The same with more points instead of smaller elements for inner rings.
    pub fn with_points(mut self, decomposition: &Decomposition) -> Self {
        let all = self.splits.len();
        self.splits.retain(|(s, _)| !is_inner(decomposition, *s));
        self.points = self.splits.len() < all;
        self
    }

    /// Whether everything is as it should be, but for the points.
    pub fn is_empty(&self) -> bool {
        self.splits.is_empty() && self.rings.is_empty()
    }

    /// Subdomains that there will be more, about.
    pub fn added(&self) -> usize {
        let of = |wish: &Wish| match wish.levels {
            [i, j] if i > 0 && j > 0 => 3 * i.max(j),
            [i, j] => i.max(j),
        };
        if self.rings.is_empty() { self.splits.iter().map(|(_, wish)| of(wish) as usize).sum() } else { 0 }
    }

    /// The triangles among the elements that are split.
    pub fn triangles(&self, decomposition: &Decomposition) -> usize {
        let is_triangle = |s: usize| decomposition.subdomains[s].map.shape() == Shape::Triangle;
        self.splits.iter().filter(|(s, _)| is_triangle(*s)).count()
    }

    /// The decomposition as it is to be. Numbers of subdomains change where rings go, so what else is marked has to wait.
    pub fn applied(&self, decomposition: &Decomposition) -> Result<Decomposition> {
        match self.rings.is_empty() {
            true => decomposition.split_as(&self.splits),
            false => decomposition.without_rings_about(&self.rings),
        }
    }

    /// The marks as words, for the other ranks: of a split subdomain its number, levels, and one number for each end, or 3 and
    /// the corner; of rings their vertex; and whether points are wanted.
    pub fn written(&self) -> String {
        let end = |end: Option<bool>| end.map_or(2, u8::from);
        let split = |(s, Wish { levels: [i, j], toward }): &(usize, Wish)| {
            let [a, b] = match toward {
                Toward::Nowhere => [2, 2],
                Toward::Ends([a, b]) => [end(*a), end(*b)],
                Toward::Corner(corner) => [3, *corner as u8],
            };
            format!("{s} {i} {j} {a} {b}")
        };
        let rings = self.rings.iter().map(usize::to_string);
        let points = self.points.then(|| POINTS.to_string());
        self.splits.iter().map(split).chain(rings).chain(points).collect::<Vec<_>>().join(",")
    }

    /// The opposite of [`Marks::written`].
    pub fn read(text: &str) -> Self {
        let mut marks = Marks::default();
        for text in text.split(',').filter(|text| !text.is_empty()) {
            if text == POINTS {
                marks.points = true;
                continue;
            }
            let words: Vec<usize> = text.split(' ').map(|word| word.parse().expect("numbers were sent")).collect();
            let end = |word: usize| (word < 2).then_some(word == 1);
            match words[..] {
                [s, i, j, 3, corner] => {
                    marks.splits.push((s, Wish { levels: [i as u32, j as u32], toward: Toward::Corner(corner) }));
                }
                [s, i, j, a, b] => {
                    let toward = Toward::Ends([end(a), end(b)]);
                    marks.splits.push((s, Wish { levels: [i as u32, j as u32], toward }));
                }
                _ => marks.rings.push(words[0]),
            }
        }
        marks
    }
}

/// The vertices whose rings a source does without: by the angle about them it is singular, for it has a pole or a root along a side that ends
/// there. So is u, then, and it has no exponents there. For n points per side.
pub(crate) fn rings_on_lines(source: &dyn Field, decomposition: &Decomposition, points: usize) -> Result<Vec<usize>> {
    if source.constant().is_some() || source.depends_on().state {
        return Ok(Vec::new());
    }
    let lines = Lines::new(points + 1);
    let t = lines.nodes();
    // A pole is in all rings alike, a peak or a front beside the vertex is not. The innermost rings have no digits.
    let mut singular = [Vec::new(), Vec::new()];
    for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
        let Some((vertex, around @ 1..=2)) = decomposition.ring(s) else { continue };
        let nodes = t.iter().flat_map(|&s| t.iter().map(move |&t| [s, t])).collect();
        let values = Sample::inside(subdomain, nodes).values(source, "equation.source", s)?;
        let Tails { directions, size } = lines.tails(&values);
        let tail = directions[ANGLE];
        if tail.is_singular() && tail.last > VISIBLE * size {
            singular[around - 1].push(vertex);
        }
    }
    let [outer, inner] = singular;
    Ok(decomposition
        .ring_vertices()
        .iter()
        .map(|v| v.vertex)
        .filter(|v| outer.contains(v) && inner.contains(v))
        .collect())
}

/// Whether a subdomain is a ring with others around it.
pub(crate) fn is_inner(decomposition: &Decomposition, s: usize) -> bool {
    decomposition.ring(s).is_some_and(|(_, around)| around > 0)
}

/// How a subdomain is to be split whose tails are above a limit, to be below another one; `None` if they are not, or if it
/// cannot be smaller.
fn wish(decomposition: &Decomposition, s: usize, tails: &[Tail; 2], wanted: f64, limit: f64) -> Option<Wish> {
    let subdomain = &decomposition.subdomains[s];
    let map = subdomain.map.as_ref();
    let largest = tails.iter().map(|tail| tail.last).fold(0.0, f64::max);
    let common = tails.iter().map(|tail| tail.common).fold(0.0, f64::max);
    let (jacobian, centre) = (map.jacobian(map.shape().center()), map.point(map.shape().center()));
    // A strip along x = 0 can be as thin as numbers are small.
    let is_short = |a: usize| (0..2).all(|c| jacobian[c][a].abs() <= SHORTEST * centre[c].abs());
    if largest <= limit || (is_short(0) && is_short(1)) {
        return None;
    }
    if subdomain.map.shape() == Shape::Triangle {
        let corner = subdomain.vertices.iter().position(|&v| decomposition.vertices[v].parts.len() > 1);
        let bits = (largest / wanted).log2() / BITS_AT_CORNERS;
        let levels = if corner.is_some() { bits.clamp(1.0, f64::from(MOST_LEVELS)) as u32 } else { 1 };
        return Some(Wish { levels: [levels; 2], toward: corner.map_or(Toward::Nowhere, Toward::Corner) });
    }
    // What is singular at an end, or thinner than a strip, leaves noise along it.
    let length = |a: usize| jacobian[0][a].hypot(jacobian[1][a]);
    let is_across = |a: usize| tails[a].last > limit && !is_short(a);
    let is_noise = |a: usize| length(a) > STRIP * length(1 - a) && (is_across(1 - a) || tails[1 - a].is_singular());
    let rival = |a: usize| match (tails[1 - a], tails[a].end) {
        (Tail { end: Some(_), decay, .. }, end) if decay < SMOOTH => {
            if end.is_some() {
                0.5
            } else {
                1.0
            }
        }
        _ => RIVAL,
    };
    let counts = |a: usize| is_across(a) && tails[a].common >= rival(a) * common && !is_noise(a);
    let levels = [0, 1].map(|a| match tails[a].end {
        _ if !counts(a) => 0,
        Some(_) => tails[a].cuts(wanted).clamp(1, MOST_LEVELS),
        None => 1,
    });
    let ends = [0, 1].map(|a| tails[a].end.filter(|_| counts(a)));
    (levels != [0, 0]).then_some(Wish { levels, toward: Toward::Ends(ends) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_the_same_on_all_ranks() {
        let toward = [Toward::Corner(2), Toward::Ends([None, Some(true)]), Toward::Ends([Some(false), None])];
        let split = |(s, toward): (usize, Toward)| (s, Wish { levels: [3, s as u32], toward });
        let marks =
            Marks { splits: toward.into_iter().enumerate().map(split).collect(), rings: vec![4, 11], points: true };
        assert_eq!(Marks::read(&marks.written()), marks);
        assert!(Marks::read("").is_empty());
    }
}
