//! Lines of equal value on a grid.

use super::heat::Grid;

/// Pieces of the line on which a field has a value, as pairs of points in units of grid cells: marching squares.
///
/// Cells with a corner that is not a number have none.
pub fn contour(grid: &Grid, level: f64) -> Vec<[[f64; 2]; 2]> {
    let mut pieces = Vec::new();
    for j in 0..grid.rows.saturating_sub(1) {
        for i in 0..grid.columns.saturating_sub(1) {
            cell(grid, level, i, j, &mut pieces);
        }
    }
    pieces
}

fn cell(grid: &Grid, level: f64, i: usize, j: usize, pieces: &mut Vec<[[f64; 2]; 2]>) {
    const CORNERS: [[usize; 2]; 4] = [[0, 0], [1, 0], [1, 1], [0, 1]];
    let value = CORNERS.map(|[a, b]| grid.values[(j + b) * grid.columns + i + a] - level);
    if value.iter().any(|v| v.is_nan()) {
        return;
    }
    // Where the line crosses the sides, in their order around the cell.
    let crossings: Vec<[f64; 2]> = (0..4)
        .filter_map(|k| {
            let (a, b) = (value[k], value[(k + 1) % 4]);
            if (a < 0.0) == (b < 0.0) {
                return None;
            }
            let (t, p, q) = (a / (a - b), CORNERS[k], CORNERS[(k + 1) % 4]);
            let along = |c: usize, start: usize| start as f64 + p[c] as f64 + t * (q[c] as f64 - p[c] as f64);
            Some([along(0, i), along(1, j)])
        })
        .collect();
    match crossings[..] {
        [a, b] => pieces.push([a, b]),
        // A saddle: the value in the middle says which corners belong together.
        [a, b, c, d] => {
            let middle = value.iter().sum::<f64>() < 0.0;
            if middle == (value[0] < 0.0) {
                pieces.extend([[a, b], [c, d]]);
            } else {
                pieces.extend([[d, a], [b, c]]);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(f: impl Fn(f64, f64) -> f64) -> Grid {
        let n = 21;
        let values = (0..n * n).map(|k| f((k % n) as f64, (k / n) as f64)).collect();
        Grid { bounds: [0.0, 20.0, 0.0, 20.0], columns: n, rows: n, values }
    }

    #[test]
    fn a_circle_is_closed_and_round() {
        let pieces = contour(&grid(|x, y| (x - 10.0).powi(2) + (y - 10.0).powi(2)), 49.3);
        assert!(pieces.len() > 30);
        for p in pieces.iter().flatten() {
            assert!(((p[0] - 10.0).hypot(p[1] - 10.0) - 49.3f64.sqrt()).abs() < 0.05);
        }
        let ends: Vec<_> = pieces.iter().flatten().collect();
        let meet = |p: &[f64; 2], q: &[f64; 2]| (p[0] - q[0]).hypot(p[1] - q[1]) < 1e-9;
        assert!(ends.iter().all(|p| ends.iter().filter(|q| meet(p, q)).count() == 2), "every end meets another");
    }

    #[test]
    fn saddles_do_not_cross_and_holes_have_no_lines() {
        let saddle = contour(&grid(|x, y| (x - 9.5) * (y - 9.5)), 0.1);
        assert!(saddle.iter().flatten().all(|p| (p[0] - 9.5) * (p[1] - 9.5) > 0.0));
        assert!(contour(&grid(|x, _| if x < 10.0 { f64::NAN } else { x }), 5.0).is_empty());
        assert_eq!(contour(&grid(|x, _| x), 5.5).len(), 20);
    }
}
