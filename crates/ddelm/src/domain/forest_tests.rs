use super::*;
use crate::domain::mesh::Mesh;
use crate::domain::mesh::MeshSettings;
use crate::domain::outline::{Loop, Outline};
use crate::domain::plane::distance;
use proptest::prelude::*;

/// A disk: triangles and quadrilaterals, with curved sides.
fn disk() -> Mesh {
    Mesh::of_outline(&Outline::simple(Loop::circle("c", [0.0, 0.0], 1.0).unwrap()).unwrap(), &MeshSettings::default())
        .unwrap()
}

#[test]
fn four_parts_fill_their_parent() {
    for shape in [Shape::Triangle, Shape::Quadrilateral] {
        let root = Leaf { root: 0, shape, level: 0, place: [0, 0], turned: false };
        for parent in std::iter::once(root).chain(root.children()) {
            let area: f64 = parent.children().iter().map(|c| c.part().1.powi(2)).sum();
            assert_eq!(area, parent.part().1.powi(2));
            for (k, child) in parent.children().iter().enumerate().take(shape.sides()) {
                let corner = shape.corners()[k];
                assert_eq!(child.in_root(corner), parent.in_root(corner), "{parent:?} {k}");
            }
        }
    }
}

fn check(mesh: &Mesh, forest: &Forest) -> std::result::Result<usize, TestCaseError> {
    let maps = mesh.maps();
    let pieces = forest.pieces();
    let leaves = forest.leaves();
    let at = |n: usize, side: usize, t: f64| {
        let leaf = &leaves[n];
        maps[leaf.root].point(leaf.in_root(leaf.shape.side_point(side, t)))
    };
    let mut hanging = 0;
    for (n, sides) in pieces.iter().enumerate() {
        for (k, side) in sides.iter().enumerate() {
            let covered: f64 = side.iter().map(|p| p.span.length()).sum();
            prop_assert_eq!(covered, 1.0);
            hanging += usize::from(side.len() == 2);
            for piece in side {
                let LeafBehind::Leaf(m, l, there) = piece.behind else { continue };
                for x in [0.0, 0.3, 1.0] {
                    let (p, q) = (at(n, k, piece.span.along(x)), at(m, l, there.along(1.0 - x)));
                    prop_assert!(distance(p, q) < 1e-13, "{:?} {:?}", p, q);
                }
                let back = pieces[m][l]
                    .iter()
                    .any(|other| other.behind == LeafBehind::Leaf(n, k, piece.span) && other.span == there);
                prop_assert!(back);
                prop_assert!(leaves[n].level.abs_diff(leaves[m].level) <= 1);
            }
        }
    }
    let area: f64 = leaves.iter().map(|leaf| leaf.part().1.powi(2)).sum();
    prop_assert!((area - mesh.elements.len() as f64).abs() < 1e-12);
    Ok(hanging)
}

#[test]
fn a_corner_can_be_split_toward_many_times() {
    let mesh = disk();
    let mut forest = Forest::new(&mesh.roots());
    for _ in 0..12 {
        let first = forest.leaves().iter().position(|leaf| leaf.root == 0).unwrap();
        forest.split(&[first]);
    }
    assert!(check(&mesh, &forest).unwrap() > 12);
    assert!(forest.leaves().iter().any(|leaf| leaf.level == 12));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn both_sides_of_every_piece_name_the_same_points(rounds in prop::collection::vec(prop::collection::vec(0usize..1000, 1..6), 0..6)) {
        let mesh = disk();
        let mut forest = Forest::new(&mesh.roots());
        for round in rounds {
            let which: Vec<usize> = round.into_iter().map(|k| k % forest.leaves().len()).collect();
            forest.split(&which);
        }
        check(&mesh, &forest)?;
    }
}
