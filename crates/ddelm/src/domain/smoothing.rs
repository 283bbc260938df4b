//! Inner vertices moved to better places.
//!
//! A vertex goes where the sum of `1 / quality^2` over the corners of its elements is least, found by a search along the
//! axes and toward the mean of its neighbours. Vertices whose elements are good are left alone: a grid stays a grid, to
//! the last bit, and its elements keep sharing their shape.

use crate::domain::map::Point;

use super::plane::distance;
use super::quality::{Cell, Tangents};

/// A vertex is moved if an element at it is worse than this.
const GOOD: f64 = 0.93;

/// A step counts if it lessens the sum by more than this part.
const GAIN: f64 = 1e-3;

/// Moves vertices from number `first` on.
pub fn smooth(points: &mut [Point], cells: &[Cell], first: usize, tangents: &Tangents, sweeps: usize) {
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); points.len()];
    for (k, cell) in cells.iter().enumerate() {
        for &v in cell.corners() {
            around[v].push(k);
        }
    }
    let mut awake = vec![true; points.len()];
    for _ in 0..sweeps {
        let mut moved = Vec::new();
        for v in first..points.len() {
            let good = |&k: &usize| tangents.quality(points, cells[k].corners()) > GOOD;
            if !awake[v] || around[v].is_empty() || around[v].iter().all(good) {
                continue;
            }
            if improve(points, cells, &around[v], v, tangents) {
                moved.push(v);
            }
        }
        if moved.is_empty() {
            break;
        }
        // Only vertices near one that moved can find a better place in the next sweep.
        awake.fill(false);
        for v in moved {
            for &k in &around[v] {
                for &w in cells[k].corners() {
                    awake[w] = true;
                }
            }
        }
    }
}

/// Searches a better place for a vertex, and returns whether it found one.
fn improve(points: &mut [Point], cells: &[Cell], around: &[usize], v: usize, tangents: &Tangents) -> bool {
    let start = points[v];
    let (mut mean, mut count, mut reach) = ([0.0; 2], 0.0, f64::INFINITY);
    for &k in around {
        let corners = cells[k].corners();
        let at = corners.iter().position(|&c| c == v).expect("an element has its corners");
        let next = points[corners[(at + 1) % corners.len()]];
        mean = [mean[0] + next[0], mean[1] + next[1]];
        count += 1.0;
        reach = reach.min(distance(start, next));
    }
    mean = mean.map(|m| m / count);
    let cost = |points: &mut [Point], p: Point| {
        points[v] = p;
        around.iter().map(|&k| badness(points, cells[k].corners(), tangents)).sum::<f64>()
    };
    let before = cost(points, start);
    let mut best = (before, start);
    for t in [1.0, 0.5] {
        let p = [0, 1].map(|a| start[a] + t * (mean[a] - start[a]));
        let c = cost(points, p);
        if c < best.0 {
            best = (c, p);
        }
    }
    let mut step = 0.2 * reach;
    for _ in 0..5 {
        let center = best.1;
        for d in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]] {
            let p = [0, 1].map(|a| center[a] + step * d[a]);
            let c = cost(points, p);
            if c < best.0 {
                best = (c, p);
            }
        }
        if best.1 == center {
            step *= 0.4;
        }
    }
    let found = best.0 < (1.0 - GAIN) * before;
    points[v] = if found { best.1 } else { start };
    found
}

/// Large for bad elements, with a slope also where an element is folded.
fn badness(points: &[Point], corners: &[usize], tangents: &Tangents) -> f64 {
    const LEAST: f64 = 0.05;
    let one = |k: usize| {
        let q = tangents.corner_quality(points, corners, k);
        if q > LEAST { 1.0 / (q * q) } else { 1.0 / (LEAST * LEAST) * (1.0 + 4.0 * (LEAST - q) / LEAST) }
    };
    (0..corners.len()).map(one).sum::<f64>() / corners.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chords::Chords;

    #[test]
    fn a_vertex_out_of_place_goes_to_the_middle_and_a_grid_stays() {
        let chords = Chords::default();
        let arrangement =
            crate::domain::outline::Outline::simple(crate::domain::outline::Loop::circle("c", [0.0; 2], 1.0).unwrap())
                .unwrap()
                .arrangement;
        let tangents = Tangents::new(&chords, &arrangement);
        let mut points: Vec<Point> = (0..9).map(|k| [f64::from(k % 3), f64::from(k / 3)]).collect();
        points.swap(4, 8);
        // Corner (2,2) is vertex 4 now, the middle is the last.
        let at = |i: usize, j: usize| match j * 3 + i {
            4 => 8,
            8 => 4,
            k => k,
        };
        let cells: Vec<Cell> = (0..4)
            .map(|k| (k % 2, k / 2))
            .map(|(i, j)| Cell::quadrilateral([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], None))
            .collect();
        let grid = points.clone();
        smooth(&mut points, &cells, 8, &tangents, 10);
        assert_eq!(points, grid);
        points[8] = [1.6, 0.7];
        smooth(&mut points, &cells, 8, &tangents, 10);
        assert!(distance(points[8], [1.0, 1.0]) < 0.05, "{:?}", points[8]);
    }
}
