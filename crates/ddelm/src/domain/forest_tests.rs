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

fn area(leaf: &Leaf) -> f64 {
    let (_, size) = leaf.place();
    size[0] * size[1]
}

#[test]
fn parts_fill_their_parent() {
    for shape in [Shape::Triangle, Shape::Quadrilateral] {
        let root = Leaf { root: 0, shape, levels: [0, 0], place: [0, 0], turned: false };
        for parent in std::iter::once(root).chain(root.children([true, true])) {
            for cuts in [[true, true], [true, false], [false, true]] {
                let children = parent.children(if shape == Shape::Triangle { [true; 2] } else { cuts });
                assert_eq!(children.iter().map(area).sum::<f64>(), area(&parent));
            }
            for (k, child) in parent.children([true, true]).iter().enumerate().take(shape.sides()) {
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
            }
        }
    }
    let area: f64 = leaves.iter().map(area).sum();
    prop_assert!((area - mesh.elements.len() as f64).abs() < 1e-12);
    Ok(hanging)
}

#[test]
fn a_corner_can_be_split_toward_many_times() {
    let mesh = disk();
    let mut forest = Forest::new(&mesh.roots());
    for _ in 0..12 {
        let first = forest.leaves().iter().position(|leaf| leaf.root == 0).unwrap();
        forest.split(&[(first, Wish::FOUR)]);
    }
    assert!(check(&mesh, &forest).unwrap() > 12);
    assert!(forest.leaves().iter().any(|leaf| leaf.levels == [12, 12]));
}

#[test]
fn wishes_are_cut_toward_ends_and_corners() {
    let root = |shape| Leaf { root: 0, shape, levels: [0, 0], place: [0, 0], turned: false };
    let grown = |shape, levels: [u32; 2], toward| {
        let mut leaves = Vec::new();
        root(shape).grown(&Wish { levels, toward }, &mut leaves);
        assert_eq!(leaves.iter().map(area).sum::<f64>(), area(&root(shape)));
        leaves
    };
    // Toward one side: strips that halve. Toward a corner: three quadrants of every size.
    let strips = grown(Shape::Quadrilateral, [0, 5], Toward::Ends([None, Some(true)]));
    assert_eq!(strips.len(), 6);
    assert!(strips.iter().all(|leaf| leaf.levels[0] == 0) && strips.iter().any(|leaf| leaf.corner(2)[1] == ONE));
    assert_eq!(strips.iter().filter(|leaf| leaf.levels[1] == 5).map(|leaf| leaf.place[1]).max(), Some(31));
    assert_eq!(grown(Shape::Quadrilateral, [3, 3], Toward::Ends([Some(false), Some(true)])).len(), 10);
    assert_eq!(grown(Shape::Triangle, [3, 0], Toward::Corner(1)).len(), 10);
    assert_eq!(grown(Shape::Quadrilateral, [2, 1], Toward::Nowhere).len(), 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn both_sides_of_every_piece_name_the_same_points(rounds in prop::collection::vec(prop::collection::vec((0usize..1000, 0u32..3, 0u32..3), 1..6), 0..6)) {
        let mesh = disk();
        let mut forest = Forest::new(&mesh.roots());
        for round in rounds {
            let wish = |(k, i, j)| (k % forest.leaves().len(), Wish { levels: [i, j], toward: Toward::Nowhere });
            let which: Vec<(usize, Wish)> = round.into_iter().map(wish).collect();
            forest.split(&which);
        }
        check(&mesh, &forest)?;
    }
}
