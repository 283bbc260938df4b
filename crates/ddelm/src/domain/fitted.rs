//! A rectangle cut along lines that data change at.
//!
//! A coefficient that jumps along a line through the middle of subdomains is resolved by none of them, however small they are; one that jumps along
//! their sides costs nothing. Where formulas say along which lines they change, a rectangle becomes the convex polygons that these lines
//! cut it into, as regions:
//!
//! ```text
//! +------+---------+
//! |      |         |      if(x > 0.37, ...)   two rectangles
//! |      |         |
//! +------+---------+
//! ```
//!
//! Who asks for a field then knows the side of the point, which rounding does not tell next to a vertex.

use crate::base::error::Result;

use super::area::Domain;
use super::loops::Loop;
use super::outline::NamedLoop;
use super::plane::{Point, between, twice_area};

/// Lines, at most: beyond, they are no description of materials.
const MOST_LINES: usize = 8;

/// Cells, at least, relative to the area of the rectangle: smaller ones are slivers.
const SMALLEST: f64 = 1e-3;

/// How far rounding may take a line from where it is, relative to the rectangle.
const ROUNDING: f64 = 1e-12;

impl Domain {
    /// A rectangle as regions on both sides of some lines `a x + b y + c = 0`, with the same sides, and a point in each of them: first of what
    /// is in none. Nothing where no line asks for that, or where it cannot be cut so.
    pub fn fitted_to(&self, lines: &[[f64; 3]]) -> Option<(Self, Vec<Point>)> {
        let (x, y) = self.as_rectangle().filter(|_| self.periodic_sides().is_empty())?;
        let rectangle = vec![[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]];
        let whole = area(&rectangle);
        let mut cells = vec![rectangle];
        let lines = wanted(lines, x, y);
        if lines.len() > MOST_LINES {
            return None;
        }
        for line in lines {
            cells = cells.iter().flat_map(|cell| cut(cell, line)).collect();
        }
        if cells.len() < 2 || cells.iter().any(|cell| area(cell) < SMALLEST * whole) {
            return None;
        }
        let region = |(k, cell): (usize, &Vec<Point>)| {
            let outline = Loop::polygon("domain", cell, None)?;
            Ok(NamedLoop { name: format!("cell-{}", k + 1), outline })
        };
        // What lies in no region is a cell, too. Lines that cross in a point of which their cells have different numbers are left alone.
        let regions: Result<Vec<NamedLoop>> = cells[1..].iter().enumerate().map(region).collect();
        let domain = regions.and_then(|regions| self.with_cells(regions)).ok()?;
        Some((domain, cells.iter().map(|cell| middle(cell)).collect()))
    }
}

/// The lines that run through a rectangle, each once.
fn wanted(lines: &[[f64; 3]], x: [f64; 2], y: [f64; 2]) -> Vec<[f64; 3]> {
    let size = (x[1] - x[0]).max(y[1] - y[0]);
    let corners = [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]];
    let mut found: Vec<([f64; 3], [f64; 4])> = Vec::new();
    for &[a, b, c] in lines {
        let length = a.hypot(b);
        let line = [a, b, c].map(|v| v / length);
        let away = corners.map(|p| distance(line, p));
        let runs_through = away.iter().any(|d| *d > ROUNDING * size) && away.iter().any(|d| *d < -ROUNDING * size);
        let same = |other: &[f64; 4], sign: f64| (0..4).all(|k| (other[k] - sign * away[k]).abs() < ROUNDING * size);
        if runs_through && !found.iter().any(|(_, other)| same(other, 1.0) || same(other, -1.0)) {
            found.push((line, away));
        }
    }
    found.into_iter().map(|(line, _)| line).collect()
}

fn distance([a, b, c]: [f64; 3], p: Point) -> f64 {
    a * p[0] + b * p[1] + c
}

/// The parts of a convex polygon on both sides of a line.
fn cut(cell: &[Point], line: [f64; 3]) -> Vec<Vec<Point>> {
    let size = area(cell).sqrt();
    // Corners of the polygon that the line runs through belong to both parts.
    let away = |p: Point| Some(distance(line, p)).filter(|d| d.abs() > ROUNDING * size).unwrap_or(0.0);
    let mut parts = [Vec::new(), Vec::new()];
    for (k, &p) in cell.iter().enumerate() {
        let q = cell[(k + 1) % cell.len()];
        let (from, to) = (away(p), away(q));
        for (part, sign) in parts.iter_mut().zip([1.0, -1.0]) {
            if sign * from >= 0.0 {
                part.push(p);
            }
            if from * to < 0.0 {
                let there = between(p, q, from / (from - to));
                // Points of a side along an axis are on it to the last bit, and so is a line along one.
                let along = [0, 1].map(|a| if p[a] == q[a] { p[a] } else { there[a] });
                part.push(on_axes(line, along));
            }
        }
    }
    parts.into_iter().filter(|part| part.len() > 2 && area(part) > ROUNDING * size * size).collect()
}

/// A point of a line that is parallel to an axis has the coordinate of the line.
fn on_axes([a, b, c]: [f64; 3], p: Point) -> Point {
    match (a == 0.0, b == 0.0) {
        (false, true) => [-c / a, p[1]],
        (true, false) => [p[0], -c / b],
        _ => p,
    }
}

/// The mean of the corners of a polygon.
fn middle(polygon: &[Point]) -> Point {
    [0, 1].map(|a| polygon.iter().map(|p| p[a]).sum::<f64>() / polygon.len() as f64)
}

/// The area of a convex polygon that runs counter-clockwise.
fn area(polygon: &[Point]) -> f64 {
    polygon.windows(2).skip(1).map(|pair| 0.5 * twice_area(polygon[0], pair[0], pair[1])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::area::Cut;

    fn cells(lines: &[[f64; 3]]) -> Option<usize> {
        let domain = Domain::rectangle([-1.0, 1.0], [-1.0, 1.0]).unwrap();
        let (fitted, points) = domain.fitted_to(lines)?;
        assert_eq!(points.len(), fitted.regions().len() + 1);
        assert_eq!(fitted.parts(), domain.parts());
        let decomposition = fitted.decompose(&Cut::Default).unwrap();
        assert_eq!(decomposition.parts, domain.parts());
        // No subdomain lies on both sides of a line.
        for subdomain in &decomposition.subdomains {
            let corners: Vec<Point> =
                subdomain.map.shape().corners().iter().map(|&xi| subdomain.map.point(xi)).collect();
            for &line in lines {
                let away: Vec<f64> = corners.iter().map(|&p| distance(line, p)).collect();
                assert!(away.iter().all(|d| *d > -1e-12) || away.iter().all(|d| *d < 1e-12), "{corners:?}");
            }
            // And sides are where they were.
            for piece in &subdomain.pieces {
                let middle = subdomain.map.point(subdomain.map.shape().side_point(piece.side, 0.5));
                if let crate::domain::decomposition::Behind::Boundary(part) = piece.behind {
                    let [axis, end] = [[0.0, -1.0], [0.0, 1.0], [1.0, -1.0], [1.0, 1.0]][part];
                    assert!((middle[axis as usize] - end).abs() < 1e-14);
                }
            }
        }
        Some(fitted.regions().len() + 1)
    }

    #[test]
    fn lines_cut_a_rectangle() {
        assert_eq!(cells(&[[1.0, 0.0, -0.37]]), Some(2));
        assert_eq!(cells(&[[1.0, 0.0, -0.37], [0.0, -2.0, 0.2], [-3.0, 0.0, 1.11]]), Some(4));
        assert_eq!(cells(&[[1.0, -0.6, -0.6]]), Some(2));
        assert_eq!(cells(&[[1.0, 1.0, 0.0]]), Some(2), "through two corners");
        assert_eq!(cells(&[[1.0, -0.6, -0.3], [1.0, -0.6, 0.3]]), Some(3));
    }

    #[test]
    fn some_lines_are_no_reason_to_cut() {
        assert_eq!(cells(&[]), None);
        assert_eq!(cells(&[[1.0, 0.0, -3.0], [1.0, 0.0, -1.0], [1.0, 1.0, 2.0]]), None, "outside, and on the boundary");
        assert_eq!(cells(&[[1.0, 0.0, 1.0 - 1e-9]]), None, "a sliver");
    }
}
