//! Rectangles whose corners are refined: for solutions that are not smooth there.
//!
//! At a corner of a domain the solution of an elliptic problem has singular terms, such as `r^2 log r` at a right angle
//! when source and boundary values do not fit, however smooth the data are. Equal subdomains then converge only
//! algebraically. Here the subdomain at a corner, a rectangle of sides w and h, is cut into rings about the corner that
//! shrink by a factor of two from one level to the next. Each ring is two trapezoids, which meet on the diagonal; the
//! innermost one is a rectangle again. In a ring the solution is analytic with a singularity at a distance comparable
//! to its size, so that all rings converge alike, and what is left at the corner falls with its size.
//!
//! ```text
//! +-------+
//! |\      |      one level at the lower left corner: a rectangle and two trapezoids,
//! | \     |      with no new points on the sides that face the neighbours
//! |  +----|
//! |  |   /|
//! +--+----+
//! ```

use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::domain::decomposition::Decomposition;
use crate::domain::map::{Affine, MapRef, Point, Quadrilateral};

/// Beyond this the innermost subdomains are too small to be told apart.
const MAX_LEVELS: usize = 16;

impl Decomposition {
    /// [`Decomposition::rectangle`] with the subdomain at each corner of the domain cut into so many rings.
    pub fn graded_rectangle(x: [f64; 2], y: [f64; 2], counts: [usize; 2], levels: usize) -> Result<Self> {
        if levels == 0 {
            return Self::rectangle(x, y, counts);
        }
        if levels > MAX_LEVELS || counts[0] < 2 || counts[1] < 2 {
            return Err(Error::input(
                "discretization.subdomains",
                format!("[{}, {}] with {levels} levels", counts[0], counts[1]),
                format!("grading needs two subdomains in each direction, and at most {MAX_LEVELS} levels"),
                "8 levels leave a 256th of a subdomain at the corner",
            ));
        }
        let uniform = Self::rectangle(x, y, counts)?;
        let [last_i, last_j] = counts.map(|count| count - 1);
        let mut maps = Vec::new();
        for (s, subdomain) in uniform.subdomains.iter().enumerate() {
            let (i, j) = (s / counts[1], s % counts[1]);
            if (i == 0 || i == last_i) && (j == 0 || j == last_j) {
                let at = |end: usize, side: [f64; 2]| if end == 0 { side[0] } else { side[1] };
                let corner = [at(i, x), at(j, y)];
                let centre = subdomain.map.point([0.5, 0.5]);
                let extent = [2.0 * (centre[0] - corner[0]), 2.0 * (centre[1] - corner[1])];
                rings(corner, extent, levels, &mut maps);
            } else {
                maps.push(subdomain.map.clone());
            }
        }
        Self::from_maps(maps, 4, |p| {
            let distances = [p[0] - x[0], x[1] - p[0], p[1] - y[0], y[1] - p[1]];
            (0..4)
                .min_by(|&a, &b| f64::total_cmp(&distances[a].abs(), &distances[b].abs()))
                .expect("there are four sides")
        })
    }
}

/// The rings about a corner of the domain; `extent` points from it to the opposite corner of the subdomain.
fn rings(corner: Point, extent: Point, levels: usize, maps: &mut Vec<MapRef>) {
    let at = |s: f64, t: f64| [corner[0] + s * extent[0], corner[1] + t * extent[1]];
    let mut outer = 1.0;
    for _ in 0..levels {
        let inner = 0.5 * outer;
        let (diagonal, far) = (at(inner, inner), at(outer, outer));
        maps.push(oriented([at(inner, 0.0), at(outer, 0.0), diagonal, far]));
        maps.push(oriented([at(0.0, inner), diagonal, at(0.0, outer), far]));
        outer = inner;
    }
    let (p, q) = (at(0.0, 0.0), at(outer, outer));
    let low = [p[0].min(q[0]), p[1].min(q[1])];
    maps.push(Arc::new(Affine::rectangle(low, (q[0] - p[0]).abs(), (q[1] - p[1]).abs())));
}

/// The quadrilateral with the corners of a reference square, or their mirror image, so that its map has a positive
/// Jacobian.
fn oriented(corners: [Point; 4]) -> MapRef {
    let [p, q, r, s] = corners;
    let area = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    Arc::new(Quadrilateral { corners: if area > 0.0 { corners } else { [q, p, s, r] } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::settings::Settings;
    use crate::problem::field::constant;
    use crate::problem::gallery;
    use crate::solve::solver::Solver;

    #[test]
    fn rings_tile_the_corners_and_keep_the_sides() {
        let d = Decomposition::graded_rectangle([0.0, 2.0], [-1.0, 0.0], [3, 2], 4).unwrap();
        assert_eq!(d.len(), 6 + 4 * 2 * 4);
        // Also points on the diagonals, where the smallest trapezoids meet.
        let corner = |t: f64| [2.0 - t / 3.0, -t / 4.0];
        for p in [[1e-3, -1e-3], [1.999, -0.999], [0.01, -0.7], corner(0.07), corner(0.1), corner(0.3), [1.0, -0.5]] {
            let (s, xi) = d.locate(p).unwrap();
            let q = d.subdomains[s].map.point(xi);
            assert!((p[0] - q[0]).hypot(p[1] - q[1]) < 1e-13);
        }
        for (part, mid) in [[0.0, -0.5], [2.0, -0.5], [1.0, -1.0], [1.0, 0.0]].into_iter().enumerate() {
            let on_part = d.subdomains.iter().flat_map(|s| s.boundaries()).filter(|side| side.1 == part).count();
            // Two corners with a ring and a rectangle on the side, and what lies between them.
            assert_eq!(on_part, 2 * 5 + if part < 2 { 0 } else { 1 }, "{mid:?}");
        }
        assert!(Decomposition::graded_rectangle([0.0, 1.0], [0.0, 1.0], [1, 4], 2).is_err());
    }

    /// `-Laplacian u = 1`, u = 0 on the boundary: the double sine series gives u at the centre.
    #[test]
    fn a_corner_singularity_costs_no_accuracy() {
        let centre = 0.073_671_353_281_513_8;
        let error = |levels: usize| {
            let d = Decomposition::graded_rectangle([0.0, 1.0], [0.0, 1.0], [3, 3], levels).unwrap();
            let problem = gallery::random_source(constant(1.0));
            let solution = Solver::new(&problem, Arc::new(d), &Settings::fast()).unwrap().solve().unwrap();
            (solution.values(&[0.5], &[0.5])[0] - centre).abs()
        };
        let (uniform, graded) = (error(0), error(8));
        assert!(graded < 2e-12 && graded < 0.1 * uniform, "{uniform:e} {graded:e}");
    }
}
