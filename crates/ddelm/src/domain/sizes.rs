//! How large elements may be at the curves: from the size asked for, curvature, narrow gaps and short strands.
//!
//! A gap is found by the largest disk that touches a curve in a point p from inside: with the normal n into the domain
//! it meets another point q when its radius is `r = |q - p|^2 / (2 n.(q - p))`; the smallest such r over q is half the
//! width of the domain there, if q lies opposite of p.

use crate::domain::map::Point;

use super::arrangement::{Arrangement, Strand};
use super::boxes::BoxTree;
use super::meeting::ray_crosses;
use super::mesh::MeshSettings;
use super::plane::{Rectangle, between, distance, dot, norm, segment_distance, subtract};
use super::quadtree::{Frame, Quadtree};

/// Elements are at most this much larger than a gap is wide.
const GAP: f64 = 1.0;

/// A disk touches opposite curves if the angle between the two points of touch has at most this cosine: not the two sides
/// of a right angle.
const OPPOSITE: f64 = -0.3;

/// A point of a strand with the size of elements there.
struct Sample {
    strand: usize,
    parameter: f64,
    point: Point,
    size: f64,
}

/// The largest turn of a piece of the strand where it has the given curvature, in radians.
pub fn allowed_turn(strand: &Strand, curvature: f64, settings: &MeshSettings) -> f64 {
    // With a domain on both sides, one of them sees a concave curve.
    let convex = strand.domain() == [curvature > 0.0, curvature <= 0.0];
    if convex { settings.convex_turn.to_radians() } else { settings.concave_turn.to_radians() }
}

/// The sizes in space for the strands, and the length of each strand.
pub fn size_field(arrangement: &Arrangement, size: f64, settings: &MeshSettings) -> Quadtree {
    let strands = &arrangement.strands;
    let samples_of: Vec<Vec<f64>> = strands.iter().map(|s| sample(s, size)).collect();
    let mut samples = Vec::new();
    // Chords between samples: strand and ends.
    let mut chords: Vec<(usize, [Point; 2])> = Vec::new();
    let mut lengths = Vec::with_capacity(strands.len());
    for (k, strand) in strands.iter().enumerate() {
        let points: Vec<Point> = samples_of[k].iter().map(|&s| strand.curve.point(s)).collect();
        chords.extend(points.windows(2).map(|w| (k, [w[0], w[1]])));
        let length: f64 = points.windows(2).map(|w| distance(w[0], w[1])).sum();
        lengths.push(length);
        for (&parameter, &point) in samples_of[k].iter().zip(&points) {
            let curvature = strand.curve.curvature(parameter);
            let turn = allowed_turn(strand, curvature, settings) / curvature.abs();
            samples.push(Sample { strand: k, parameter, point, size: size.min(turn).min(length) });
        }
    }
    let tree = BoxTree::new(&chords.iter().map(|(_, ends)| Rectangle::around(*ends)).collect::<Vec<_>>());
    let mut gaps = Gaps { arrangement, lengths: &lengths, chords: &chords, tree: &tree, found: Vec::new() };
    for sample in &samples {
        for normal in inward_normals(&strands[sample.strand], sample.parameter) {
            gaps.add_at(sample, normal);
        }
    }
    gaps.add_corners(size);
    let found = gaps.found;
    let frame = Frame::along(chords.iter().map(|(_, [a, b])| subtract(*b, *a)));
    let mut field = Quadtree::new(frame, samples.iter().map(|s| s.point), size);
    for (p, h) in samples.iter().map(|s| (s.point, s.size)).chain(found) {
        field.refine(p, h);
    }
    field.balance();
    field
}

/// Parameters of samples, close enough to see curvature and what is as large as the size.
fn sample(strand: &Strand, size: f64) -> Vec<f64> {
    let length = distance(strand.curve.point(0.0), strand.curve.point(0.5))
        + distance(strand.curve.point(0.5), strand.curve.point(1.0));
    let least = ((4.0 * length / size).ceil() as usize).clamp(4, 4096);
    strand.curve.samples(0.15, least)
}

/// Unit normals into the domain: one at the boundary, two between regions and at a slit.
fn inward_normals(strand: &Strand, s: f64) -> impl Iterator<Item = Point> {
    let d = strand.curve.derivative(s);
    let speed = norm(d);
    let left = [-d[1] / speed, d[0] / speed];
    let normals = strand.domain().into_iter().zip([left, left.map(|v| -v)]);
    normals.filter_map(|(inside, n)| inside.then_some(n))
}

/// Looks for gaps between strands.
struct Gaps<'a> {
    arrangement: &'a Arrangement,
    /// The length of every strand.
    lengths: &'a [f64],
    /// Chords of strands: the strand and the ends.
    chords: &'a [(usize, [Point; 2])],
    /// Boxes around the chords.
    tree: &'a BoxTree,
    /// Points with the size of elements there.
    found: Vec<(Point, f64)>,
}

impl Gaps<'_> {
    /// The smallest disk at a sample that meets a curve on its other side.
    fn add_at(&mut self, sample: &Sample, normal: Point) {
        let Gaps { arrangement, lengths, chords, tree, .. } = *self;
        let p = sample.point;
        let reach = sample.size / GAP;
        let mut best = (0.5 * reach, None);
        tree.search(&Rectangle { low: p, high: p }.grown(reach), |c| {
            let (strand, [a, b]) = chords[c];
            let d = subtract(b, a);
            let foot = (dot(subtract(p, a), d) / dot(d, d)).clamp(0.0, 1.0);
            for t in [foot, 0.0, 0.5, 1.0] {
                let q = between(a, b, t);
                let v = subtract(q, p);
                let ahead = dot(normal, v);
                if ahead <= 1e-9 * reach {
                    continue;
                }
                let r = dot(v, v) / (2.0 * ahead);
                // cos of the angle at the centre between p and q.
                let cosine = 1.0 - ahead / r;
                if r >= best.0 || cosine > OPPOSITE {
                    continue;
                }
                let ends = arrangement.strands[strand].ends;
                let common = arrangement.strands[sample.strand].ends.iter().find(|v| ends.contains(v));
                if let Some(&v) = common.filter(|_| strand != sample.strand) {
                    // Two sides of a corner: a gap only if the corner is sharp, and not down to its tip.
                    let v = arrangement.vertices[v];
                    let near = distance(p, v).min(distance(q, v));
                    if 2.0 * r > 0.5 * near || near < 0.25 * lengths[strand].min(lengths[sample.strand]) {
                        continue;
                    }
                }
                best = (r, Some(q));
            }
            None::<()>
        });
        if let (r, Some(q)) = best {
            self.found.extend([(p, 2.0 * GAP * r), (q, 2.0 * GAP * r)]);
        }
    }

    /// The distance of vertices from strands that do not end in them, through the domain.
    fn add_corners(&mut self, size: f64) {
        let Gaps { arrangement, chords, tree, .. } = *self;
        let around = arrangement.strands_at_vertices();
        let boundary = BoundaryTree::new(arrangement, chords);
        for (v, &p) in arrangement.vertices.iter().enumerate() {
            let mut best = (size / GAP, None);
            tree.search(&Rectangle { low: p, high: p }.grown(best.0), |c| {
                let (strand, [a, b]) = chords[c];
                let ends = arrangement.strands[strand].ends;
                if around[v].iter().any(|&s| arrangement.strands[s].ends.iter().any(|e| ends.contains(e))) {
                    return None::<()>;
                }
                let gap = segment_distance(p, a, b);
                if gap < best.0 {
                    let d = subtract(b, a);
                    let foot = (dot(subtract(p, a), d) / dot(d, d)).clamp(0.0, 1.0);
                    best = (gap, Some(between(a, b, foot)));
                }
                None
            });
            let (gap, Some(q)) = best else { continue };
            if boundary.holds(between(p, q, 0.5)) {
                self.found.extend([(p, GAP * gap), (q, GAP * gap)]);
            }
        }
    }
}

/// The chords of the boundary, to tell inside from outside.
struct BoundaryTree {
    chords: Vec<[Point; 2]>,
    tree: BoxTree,
}

impl BoundaryTree {
    fn new(arrangement: &Arrangement, chords: &[(usize, [Point; 2])]) -> Self {
        // Who crosses a slit is still inside.
        let on_boundary = chords.iter().filter(|(k, _)| arrangement.strands[*k].domain() != [true; 2]);
        let chords: Vec<[Point; 2]> = on_boundary.map(|(_, ends)| *ends).collect();
        let tree = BoxTree::new(&chords.iter().map(|ends| Rectangle::around(*ends)).collect::<Vec<_>>());
        BoundaryTree { chords, tree }
    }

    /// Whether a ray from the point to the right leaves the domain once more than it enters it.
    fn holds(&self, p: Point) -> bool {
        let mut crossed = 0;
        let ray = Rectangle { low: p, high: [f64::INFINITY, p[1]] };
        self.tree.search(&ray, |c| {
            let [a, b] = self.chords[c];
            crossed += usize::from(ray_crosses(p, a, b));
            None::<()>
        });
        crossed % 2 == 1
    }
}
