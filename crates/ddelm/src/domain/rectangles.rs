//! The decomposition of an outline whose sides are all parallel to the axes: rectangles between lines through all of its vertices.
//!
//! Layers along its sides and along those of its regions are followed by strips then, and where coefficients are constant most
//! rectangles share their factors.

use std::collections::HashMap;

use crate::domain::map::Point;

use super::arrangement::{Arrangement, LoopId, Owner, Strand};
use super::meeting::ray_crosses;
use super::mesh::{Element, Mesh, MeshSettings, Side};
use super::outline::Outline;
use super::plane::{dot, subtract};
use super::shape::Shape;
use super::triangulate::{region_areas, smallest_region};

/// Lines run through the whole domain. If they make more rectangles than this times those of the wanted size that its box has, there are
/// better ways.
const MOST_CELLS: f64 = 4.0;

/// ... or if a rectangle is longer than this times its width.
const LONGEST: f64 = 16.0;

/// The rectangles of an outline, about as large as `size`; nothing where it has other sides, or where they would be too many.
pub(super) fn rectangles(outline: &Outline, size: f64, settings: &MeshSettings) -> Option<Mesh> {
    let arrangement = &outline.arrangement;
    // Triangles may be asked for, and periodic sides need not lie across from each other.
    if !settings.quadrilaterals || !settings.periodic.is_empty() {
        return None;
    }
    let all = || arrangement.strands.iter().chain(&arrangement.hidden);
    let is_along_axis = |strand: &Strand| {
        let [a, b] = ends(arrangement, strand);
        strand.curve.is_straight() && (0..2).any(|axis| (a[axis] - b[axis]).abs() <= arrangement.closeness)
    };
    if !all().all(is_along_axis) {
        return None;
    }
    let [w, h] = outline.bounding_box().extent();
    let points: Vec<Point> = all().flat_map(|strand| ends(arrangement, strand)).collect();
    let lines = [0, 1].map(|axis| lines(points.iter().map(|p| p[axis]).collect(), size, arrangement.closeness));
    let [nx, ny] = lines.each_ref().map(|lines| lines.len() - 1);
    if (nx * ny) as f64 > MOST_CELLS * (w / size).ceil() * (h / size).ceil() || longest(&lines) > LONGEST {
        return None;
    }
    let areas = region_areas(arrangement.strands.iter().map(|s| (ends(arrangement, s), s.owners.as_slice())));
    let center = |i: usize, j: usize| [0.5 * (lines[0][i] + lines[0][i + 1]), 0.5 * (lines[1][j] + lines[1][j + 1])];
    let places: Vec<Option<Option<usize>>> =
        (0..nx * ny).map(|k| smallest_region(&crossed(arrangement, center(k / ny, k % ny)), &areas)).collect();
    let mut mesh = Mesh { names: outline.names().to_vec(), regions: outline.regions().to_vec(), ..Mesh::default() };
    let mut numbers: HashMap<[usize; 2], usize> = HashMap::new();
    for (k, region) in places.iter().enumerate().filter_map(|(k, place)| Some((k, (*place)?))) {
        let corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| [k / ny + a, k % ny + b]);
        let vertices = corners.map(|at| {
            *numbers.entry(at).or_insert_with(|| {
                mesh.vertices.push([lines[0][at[0]], lines[1][at[1]]]);
                mesh.vertices.len() - 1
            })
        });
        let side = |k: usize| {
            let ends = [k, (k + 1) % 4].map(|k| mesh.vertices[vertices[k]]);
            Side { bulge: None, boundary: part_along(arrangement, ends) }
        };
        let sides = (0..4).map(side).collect();
        mesh.elements.push(Element { shape: Shape::Quadrilateral, vertices: vertices.to_vec(), sides, region });
    }
    Some(mesh)
}

/// The ends of a strand as they were given.
fn ends(arrangement: &Arrangement, strand: &Strand) -> [Point; 2] {
    strand.ends.map(|v| arrangement.vertices[v])
}

/// Some coordinates, and more between them so that none are farther from each other than `size`.
fn lines(mut ends: Vec<f64>, size: f64, close: f64) -> Vec<f64> {
    ends.sort_by(f64::total_cmp);
    ends.dedup_by(|next, kept| *next - *kept <= close);
    let mut lines = vec![ends[0]];
    for pair in ends.windows(2) {
        let count = ((pair[1] - pair[0]) / size - 1e-9).ceil().max(1.0) as usize;
        lines.extend((1..count).map(|k| pair[0] + (pair[1] - pair[0]) * k as f64 / count as f64));
        lines.push(pair[1]);
    }
    lines
}

/// The largest ratio of the sides of a rectangle.
fn longest(lines: &[Vec<f64>; 2]) -> f64 {
    let widths = |axis: usize| lines[axis].windows(2).map(|pair| pair[1] - pair[0]);
    let [x, y] = [0, 1].map(|a| [widths(a).fold(f64::INFINITY, f64::min), widths(a).fold(0.0, f64::max)]);
    (x[1] / y[0]).max(y[1] / x[0])
}

/// How often a ray from a point crosses each loop.
fn crossed(arrangement: &Arrangement, p: Point) -> HashMap<LoopId, usize> {
    let mut crossed = HashMap::new();
    for strand in arrangement.strands.iter().chain(&arrangement.hidden) {
        let [a, b] = ends(arrangement, strand);
        if ray_crosses(p, a, b) {
            strand.owners.iter().for_each(|Owner { id, .. }| *crossed.entry(*id).or_default() += 1);
        }
    }
    crossed
}

/// The part of the boundary along which the side of an element runs, with the domain on its left.
fn part_along(arrangement: &Arrangement, [from, to]: [Point; 2]) -> Option<usize> {
    let (close, middle) = (arrangement.closeness, [0, 1].map(|c| 0.5 * (from[c] + to[c])));
    arrangement.strands.iter().find_map(|strand| {
        let [a, b] = ends(arrangement, strand);
        let on = (0..2).all(|c| a[c].min(b[c]) - close <= middle[c] && middle[c] <= a[c].max(b[c]) + close);
        let against = dot(subtract(b, a), subtract(to, from)) < 0.0;
        strand.boundary()[usize::from(against)].filter(|_| on)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outline::{Loop, NamedLoop};

    fn rectangle(key: &str, [x0, x1, y0, y1]: [f64; 4]) -> Loop {
        Loop::polygon(key, &[[x0, y0], [x1, y0], [x1, y1], [x0, y1]], None).unwrap()
    }

    fn area(mesh: &Mesh, region: Option<usize>) -> f64 {
        let one = |k: usize| {
            let [a, _, c, _] = mesh.elements[k].vertices[..] else { panic!("a rectangle") };
            (mesh.vertices[c][0] - mesh.vertices[a][0]) * (mesh.vertices[c][1] - mesh.vertices[a][1])
        };
        (0..mesh.elements.len()).filter(|&k| mesh.elements[k].region == region).map(one).sum()
    }

    #[test]
    fn regions_and_holes_of_rectangles_are_cut_along_their_sides() {
        let region = |name: &str, at: [f64; 4]| NamedLoop { name: name.into(), outline: rectangle("r", at) };
        let regions = vec![region("outer", [0.3, 2.0, 0.1, 1.0]), region("inner", [0.5, 1.0, 0.1, 0.7])];
        let outer = rectangle("domain", [0.0, 3.0, 0.0, 1.0]);
        let outline = Outline::new(outer, vec![region("hole", [2.2, 2.6, 0.3, 0.7])], regions).unwrap();
        let mesh = rectangles(&outline, 0.5, &MeshSettings::default()).unwrap();
        mesh.check("mesh").unwrap();
        let found = [None, Some(0), Some(1)].map(|r| area(&mesh, r));
        let expected = [3.0 - 1.7 * 0.9 - 0.16, 1.7 * 0.9 - 0.3, 0.3];
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        let on_hole = mesh.elements.iter().flat_map(|e| &e.sides).filter(|side| side.boundary == Some(4)).count();
        assert_eq!((mesh.names[4].as_str(), on_hole), ("hole", 4));
    }

    #[test]
    fn other_outlines_are_not() {
        let slanted = Loop::polygon("domain", &[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.1, 1.0]], None).unwrap();
        assert!(rectangles(&Outline::simple(slanted).unwrap(), 0.5, &MeshSettings::default()).is_none());
        // A thin slot would be cut through everything.
        let slot = [[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.501, 0.5], [0.501, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let slot = Outline::simple(Loop::polygon("domain", &slot, None).unwrap()).unwrap();
        assert!(rectangles(&slot, 0.25, &MeshSettings::default()).is_none());
    }
}
