//! The lines of a decomposition, as polygons fine enough to be drawn: where subdomains meet, and the boundary with the names
//! of its parts.
//!
//! Every line of the boundary has the domain on its left, so that lines which follow each other make loops: the outline
//! counter-clockwise, holes clockwise. By the even-odd rule the domain is what lies inside of an odd number of them.

use std::collections::HashMap;

use super::decomposition::{Decomposition, EdgeSide};
use super::forest::Span;
use super::map::Point;

/// Straight pieces that a curved side is drawn with.
const STEPS: usize = 32;

/// Ends of lines closer than this part of the domain's size are the same point.
const SAME_POINT: f64 = 1e-7;

/// The lines of a decomposition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Borders {
    /// Between subdomains.
    pub inside: Vec<Vec<Point>>,
    /// On the boundary, with the number of the part in [`Decomposition::parts`]; `None` where it is periodic.
    pub boundary: Vec<(Option<usize>, Vec<Point>)>,
    size: f64,
}

impl Borders {
    /// The lines of a decomposition.
    pub fn new(decomposition: &Decomposition) -> Self {
        let [x0, x1, y0, y1] = decomposition.bounding_box();
        let mut found = Borders { size: (x1 - x0).max(y1 - y0), ..Borders::default() };
        let side = |s: &EdgeSide| line(decomposition, s.subdomain, s.side, s.span);
        for edge in &decomposition.edges {
            let [first, second] = edge.sides.each_ref().map(side);
            // The two run against each other where they are the same line.
            let same = first.first().zip(second.last()).is_some_and(|(&p, &q)| near(p, q, found.size));
            if same {
                found.inside.push(first);
            } else {
                found.boundary.extend([(None, first), (None, second)]);
            }
        }
        for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
            let lines = subdomain.boundaries().map(|(k, part)| (Some(part), line(decomposition, s, k, Span::Whole)));
            found.boundary.extend(lines);
        }
        found
    }

    /// The boundary as closed loops.
    pub fn loops(&self) -> Vec<Vec<Point>> {
        let lines: Vec<&[Point]> = self.boundary.iter().map(|(_, line)| line.as_slice()).collect();
        let cell = |p: Point| p.map(|c| (c / (4.0 * SAME_POINT * self.size)).round() as i64);
        let mut starts: HashMap<[i64; 2], Vec<usize>> = HashMap::new();
        for (k, line) in lines.iter().enumerate() {
            starts.entry(cell(line[0])).or_default().push(k);
        }
        let mut used = vec![false; lines.len()];
        let next = |end: Point, used: &[bool]| {
            let [i, j] = cell(end);
            let around = (-1..=1).flat_map(|a| (-1..=1).map(move |b| [i + a, j + b]));
            around
                .filter_map(|cell| starts.get(&cell))
                .flatten()
                .copied()
                .find(|&k| !used[k] && near(lines[k][0], end, self.size))
        };
        let mut loops = Vec::new();
        for first in 0..lines.len() {
            let mut here = Some(first).filter(|&k| !used[k]);
            let mut points: Vec<Point> = Vec::new();
            while let Some(k) = here {
                used[k] = true;
                // The end is the start of the next line.
                points.extend(&lines[k][..lines[k].len() - 1]);
                here = lines[k].last().and_then(|&end| next(end, &used));
            }
            if !points.is_empty() {
                loops.push(points);
            }
        }
        loops
    }
}

/// Points around a subdomain, counter-clockwise.
pub fn perimeter(decomposition: &Decomposition, subdomain: usize) -> Vec<Point> {
    let sides = 0..decomposition.subdomains[subdomain].map.shape().sides();
    let open = |side| {
        let mut points = line(decomposition, subdomain, side, Span::Whole);
        points.pop();
        points
    };
    sides.flat_map(open).collect()
}

/// Points along a piece of a side, both ends included.
fn line(decomposition: &Decomposition, subdomain: usize, side: usize, span: Span) -> Vec<Point> {
    let map = &decomposition.subdomains[subdomain].map;
    let steps = if map.affine().is_some() { 1 } else { STEPS };
    let at = |k: usize| map.shape().side_point(side, span.along(k as f64 / steps as f64));
    let along = (0..=steps).map(|k| map.point(at(k)));
    // Counter-clockwise.
    if map.is_mirrored() { along.rev().collect() } else { along.collect() }
}

fn near(p: Point, q: Point, size: f64) -> bool {
    (p[0] - q[0]).hypot(p[1] - q[1]) <= SAME_POINT * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::area::{Cut, Domain};
    use crate::domain::outline::{Loop, NamedLoop, Outline};

    fn area(points: &[Point]) -> f64 {
        let next = points.iter().cycle().skip(1);
        points.iter().zip(next).map(|(p, q)| 0.5 * (p[0] * q[1] - p[1] * q[0])).sum()
    }

    #[test]
    fn an_annulus_is_two_loops() {
        let circle = |radius| Loop::circle("circle", [0.0, 0.0], radius).unwrap();
        let hole = NamedLoop { name: "hole".into(), outline: circle(0.5) };
        let outline = Outline::new(circle(1.0), vec![hole], Vec::new()).unwrap();
        let decomposition = Domain::outline(outline).decompose(&Cut::Default).unwrap();
        let borders = Borders::new(&decomposition);
        let areas: Vec<f64> = borders.loops().iter().map(|points| area(points)).collect();
        assert_eq!(areas.len(), 2, "{areas:?}");
        // Polygons lie inside of the circle.
        let circles = [std::f64::consts::PI, -0.25 * std::f64::consts::PI];
        for circle in circles {
            assert!(areas.iter().any(|a| (a / circle - 1.0).abs() < 1e-3), "{areas:?}");
        }
        assert_eq!(borders.inside.len(), decomposition.edges.len());
        let tiles: f64 = (0..decomposition.len()).map(|s| area(&perimeter(&decomposition, s))).sum();
        assert!((tiles - areas.iter().sum::<f64>()).abs() < 1e-12, "subdomains tile what the loops enclose");
    }

    #[test]
    fn periodic_sides_belong_to_the_boundary() {
        let square = Domain::rectangle([0.0, 1.0], [0.0, 1.0]).unwrap().periodic(&[(0, 1)]).unwrap();
        let borders = Borders::new(&square.decompose(&Cut::Counts([3, 2])).unwrap());
        let parts: Vec<Option<usize>> = borders.boundary.iter().map(|(part, _)| *part).collect();
        assert_eq!((parts.len(), parts.iter().filter(|part| part.is_none()).count()), (10, 4));
        let loops = borders.loops();
        assert!(loops.len() == 1 && (area(&loops[0]) - 1.0).abs() < 1e-14);
    }
}
