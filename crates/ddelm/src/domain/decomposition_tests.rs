use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::domain::map::{Polar, Quadrilateral};
use crate::domain::mesh::MeshSettings;
use crate::domain::outline::{Loop, NamedLoop, Outline};
use crate::domain::plane::distance;

fn sector(k: usize) -> MapRef {
    let angle = [k as f64 * 0.7, (k + 1) as f64 * 0.7];
    Arc::new(Polar { centre: [0.1; 2], radius: [1.0, 2.0], angle })
}

#[test]
fn a_rectangle_has_edges_and_vertices_of_a_grid() {
    let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [5, 3]).unwrap();
    assert_eq!(d.edges.len(), 4 * 3 + 5 * 2);
    assert_eq!(d.vertices.len(), 6 * 4);
    assert_eq!(d.vertices.iter().filter(|v| v.parts.is_empty()).count(), 4 * 2);
    // Bottom, right, top, left of the square; left, right, bottom, top of the domain.
    assert_eq!([3, 1, 0, 2].map(|side| d.subdomains[0].boundary(side)), [Some(0), None, Some(2), None]);
    assert_eq!([3, 1, 0, 2].map(|side| d.subdomains[14].boundary(side)), [None, Some(1), None, Some(3)]);
}

#[test]
fn turned_maps_are_glued_as_they_lie() {
    let turned = Affine { origin: [2.0, 1.0], jacobian: [[-1.0, 0.0], [0.0, -1.0]] };
    let maps: Vec<MapRef> = vec![Arc::new(Affine::rectangle([0.0, 0.0], 1.0, 1.0)), Arc::new(turned)];
    let d = Decomposition::from_maps(maps, 1, |_| 0).unwrap();
    assert_eq!(d.edges.len(), 1);
    assert_eq!(d.edges[0].sides.map(|side| (side.subdomain, side.side)), [(0, 1), (1, 1)]);
}

#[test]
fn a_whole_annulus_closes_on_itself() {
    let maps: Vec<MapRef> = (0..6)
        .map(|k| {
            let step = std::f64::consts::TAU / 6.0;
            let angle = [k as f64 * step, (k + 1) as f64 * step];
            Arc::new(Polar { centre: [0.0; 2], radius: [1.0, 2.0], angle }) as MapRef
        })
        .collect();
    let d = Decomposition::from_maps(maps, 2, |p| usize::from(p[0].hypot(p[1]) > 1.5)).unwrap();
    assert_eq!((d.edges.len(), d.vertices.len()), (6, 12));
    let (s, xi) = d.locate([-1.3, -0.2]).unwrap();
    let back = d.subdomains[s].map.point(xi);
    assert!((back[0] + 1.3).abs() < 1e-12 && (back[1] + 0.2).abs() < 1e-12);
    assert!(d.locate([0.0, 0.5]).is_none());
}

fn disk() -> Decomposition {
    let outline = Outline::simple(Loop::circle("c", [0.0, 0.0], 1.0).unwrap()).unwrap();
    Decomposition::of_mesh(Mesh::of_outline(&outline, &MeshSettings::default()).unwrap()).unwrap()
}

#[test]
fn geometry_rebuilds_the_decomposition() {
    let rectangle = Decomposition::rectangle([-1.0, 2.0], [0.1, 1.0], [5, 3]).unwrap();
    let ring = Decomposition::from_maps(vec![sector(0), sector(1)], 3, |p| {
        if p[0].hypot(p[1]) > 1.8 { 2 } else { usize::from(p[1] > 1.0) }
    });
    let graded = Decomposition::graded_rectangle([0.0, 1.0], [0.0, 2.0], [2, 3], 2).unwrap();
    let split = disk().split(&[0, 3]).unwrap();
    for d in [rectangle.clone(), ring.unwrap(), graded, disk(), split, rectangle.split(&[4]).unwrap()] {
        let back = d.geometry().unwrap().decomposition().unwrap();
        assert_eq!(back.parts, d.parts);
        for (a, b) in back.subdomains.iter().zip(&d.subdomains) {
            assert_eq!((&a.pieces, &a.vertices), (&b.pieces, &b.vertices));
            assert_eq!(a.map.point([0.3, 0.6]), b.map.point([0.3, 0.6]));
        }
    }
}

#[test]
fn sides_that_only_partly_match_are_refused_by_name() {
    let maps: Vec<MapRef> =
        vec![Arc::new(Affine::rectangle([0.0, 0.0], 1.0, 1.0)), Arc::new(Affine::rectangle([1.0, 0.25], 1.0, 0.5))];
    let message = Decomposition::from_maps(maps, 1, |_| 0).err().unwrap().to_string();
    assert!(message.contains("subdomains 0 and 1"), "{message}");
}

#[test]
fn a_map_that_folds_away_from_its_centre_is_refused_with_subdomain_and_point() {
    // The Jacobian is positive at the centre and negative near the corner (1, 1).
    let arrow = Quadrilateral { corners: [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.3, 0.3]] };
    assert!(crate::domain::map::determinant(arrow.jacobian([0.5, 0.5])) > 0.0);
    let maps: Vec<MapRef> = vec![Arc::new(Affine::rectangle([0.0, 0.0], 1.0, 1.0)), Arc::new(arrow)];
    let message = Decomposition::from_maps(maps, 1, |_| 0).err().unwrap().to_string();
    assert!(message.contains("Jacobian of subdomain 1") && message.contains("x = "), "{message}");
}

#[test]
fn quarters_have_the_lines_and_the_boundary_of_the_whole() {
    let ring = Decomposition::from_maps(vec![sector(0), sector(1)], 2, |p| usize::from(p[0].hypot(p[1]) > 1.8));
    let ring = ring.unwrap();
    let fine = ring.refined().unwrap();
    assert_eq!((fine.len(), fine.edges.len(), fine.parts.len()), (8, 10, 2));
    let on_part =
        |d: &Decomposition, part| d.subdomains.iter().flat_map(|s| s.boundaries()).filter(|(_, p)| *p == part).count();
    assert_eq!([0, 1].map(|part| on_part(&fine, part)), [0, 1].map(|part| 2 * on_part(&ring, part)));
    let rectangle = Decomposition::rectangle([0.0, 0.3], [0.0, 1.0], [3, 2]).unwrap();
    assert_eq!(rectangle.refined().unwrap().grid().unwrap().2, [6, 4]);
}

#[test]
fn a_hanging_side_is_two_edges() {
    let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [2, 1]).unwrap().split(&[1]).unwrap();
    assert_eq!((d.len(), d.edges.len(), d.has_hanging_sides()), (5, 6, true));
    let spans: Vec<Span> = d.subdomains[0].pieces.iter().map(|piece| piece.span).collect();
    assert_eq!(spans, [Span::Whole, Span::First, Span::Second, Span::Whole, Span::Whole]);
    // Four corners, two ends of the middle line, the hanging point, and four points of the split square.
    assert_eq!(d.vertices.len(), 11);
    assert_eq!(d.locate([0.9, 0.9]).unwrap().0, 3);
}

#[test]
fn opposite_sides_can_be_identified() {
    let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [3, 2]).unwrap();
    let torus = d.clone().periodic(&[(0, 1), (2, 3)]).unwrap();
    assert_eq!((torus.edges.len(), torus.vertices.len()), (12, 6));
    assert!(torus.is_periodic() && torus.parts.is_empty() && !d.is_periodic());
    assert_eq!(d.periodic(&[(0, 1)]).unwrap().parts, ["bottom", "top"]);
    assert_eq!(torus.refined().unwrap().edges.len(), 48);
    let narrow = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [1, 2]).unwrap();
    assert!(narrow.periodic(&[(0, 1)]).err().unwrap().to_string().contains("its own neighbour"));
}

proptest! {
    #[test]
    fn subdomains_tile_the_rectangle(nx in 1usize..7, ny in 1usize..7, px in 0.0..=1.0f64, py in 0.0..=1.0f64) {
        let d = Decomposition::rectangle([-2.0, 1.0], [3.0, 3.5], [nx, ny]).unwrap();
        let p = [-2.0 + 3.0 * px, 3.0 + 0.5 * py];
        for d in [d.split(&[0]).unwrap(), d] {
            let (s, xi) = d.locate(p).unwrap();
            let q = d.subdomains[s].map.point(xi);
            prop_assert!((p[0] - q[0]).abs() < 1e-14 && (p[1] - q[1]).abs() < 1e-14);
        }
    }

    #[test]
    fn every_edge_links_back(nx in 1usize..6, ny in 1usize..6, which in 0usize..25) {
        let d = Decomposition::rectangle([0.0, 1.0], [0.0, 1.0], [nx, ny]).unwrap();
        let d = d.split(&[which % (nx * ny)]).unwrap();
        for (e, edge) in d.edges.iter().enumerate() {
            for (k, side) in edge.sides.iter().enumerate() {
                let behind = Behind::Edge { edge: e, reversed: k == 1 };
                let piece = Piece { side: side.side, span: side.span, behind };
                prop_assert!(d.subdomains[side.subdomain].pieces.contains(&piece));
            }
        }
    }
}

/// An ellipse with a round hole.
fn plate() -> Mesh {
    let outer = Loop::ellipse("e", [0.2, 0.1], [2.0, 1.0], 20.0).unwrap();
    let hole = NamedLoop { name: "hole".into(), outline: Loop::circle("h", [0.5, 0.3], 0.3).unwrap() };
    let outline = Outline::new(outer, vec![hole], Vec::new()).unwrap();
    Mesh::of_outline(&outline, &MeshSettings::default()).unwrap()
}

#[test]
fn vertices_of_a_mesh_belong_to_the_first_of_their_elements() {
    let mesh = plate();
    let d = Decomposition::of_mesh(mesh.clone()).unwrap();
    for (v, &p) in mesh.vertices.iter().enumerate() {
        let (k, xi) = d.locate(p).unwrap();
        let first = mesh.elements.iter().position(|e| e.vertices.contains(&v)).unwrap();
        assert_eq!(k, first);
        assert!(distance(d.subdomains[k].map.point(xi), p) < 1e-12);
    }
    assert_eq!(d.locate([0.5, 0.3]), None);
    assert_eq!(d.locate([5.0, 0.3]), None);
    assert_eq!(d.locate([f64::NAN, 0.3]), None);
}

proptest! {
    #[test]
    fn points_are_found_if_and_only_if_they_lie_in_the_domain(x in -2.0..2.4f64, y in -1.5..1.5f64) {
        thread_local! { static PLATE: Decomposition = Decomposition::of_mesh(plate()).unwrap(); }
        let (s, c) = 20f64.to_radians().sin_cos();
        let (u, v) = (x - 0.2, y - 0.1);
        let radius = ((c * u + s * v) / 2.0).hypot(c * v - s * u);
        let hole = (x - 0.5).hypot(y - 0.3) / 0.3;
        prop_assume!((radius - 1.0).abs() > 1e-9 && (hole - 1.0).abs() > 1e-9);
        let found = PLATE.with(|d| d.locate([x, y]).map(|(k, xi)| d.subdomains[k].map.point(xi)));
        prop_assert_eq!(found.is_some(), radius < 1.0 && hole > 1.0);
        if let Some(q) = found {
            prop_assert!(distance(q, [x, y]) < 1e-12);
        }
    }
}
