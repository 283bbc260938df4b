//! Which element holds a point, and where in it.

use crate::domain::map::Point;

use super::boxes::BoxTree;
use super::mesh::Mesh;
use super::plane::Rectangle;
use super::shape_map::ShapeMap;

/// Elements with a tree of their boxes.
#[derive(Debug, Clone)]
pub struct Locator {
    maps: Vec<ShapeMap>,
    tree: BoxTree,
}

impl Locator {
    /// Prepares the elements of a mesh.
    pub fn new(mesh: &Mesh) -> Self {
        Self::of_maps(mesh.maps())
    }

    /// Prepares elements given by their maps.
    pub fn of_maps(maps: Vec<ShapeMap>) -> Self {
        let tree = BoxTree::new(&maps.iter().map(ShapeMap::bounding_box).collect::<Vec<Rectangle>>());
        Locator { maps, tree }
    }

    /// The element that holds a point, and the point in its reference coordinates; between elements, the one with the
    /// smallest number. `None` outside of all.
    pub fn locate(&self, p: Point) -> Option<(usize, Point)> {
        let mut best: Option<(usize, Point)> = None;
        self.tree.at(p, |k| {
            if best.is_some_and(|(smallest, _)| smallest < k) {
                return None;
            }
            let xi = self.maps[k].inverse(p)?;
            best = Some((k, xi));
            // Well inside an element there is no other one.
            (self.maps[k].shape().outside(xi) < -1e-9).then_some(())
        });
        best
    }

    /// The maps of the elements.
    pub fn maps(&self) -> &[ShapeMap] {
        &self.maps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mesh::MeshSettings;
    use crate::domain::outline::{Loop, NamedLoop, Outline};
    use crate::domain::plane::distance;
    use proptest::prelude::*;

    fn plate() -> Mesh {
        let outer = Loop::ellipse("e", [0.2, 0.1], [2.0, 1.0], 20.0).unwrap();
        let hole = NamedLoop { name: "hole".into(), outline: Loop::circle("h", [0.5, 0.3], 0.3).unwrap() };
        let outline = Outline::new(outer, vec![hole], Vec::new()).unwrap();
        Mesh::of_outline(&outline, &MeshSettings::default()).unwrap()
    }

    #[test]
    fn vertices_belong_to_the_first_of_their_elements() {
        let mesh = plate();
        let locator = Locator::new(&mesh);
        for (v, &p) in mesh.vertices.iter().enumerate() {
            let (k, xi) = locator.locate(p).unwrap();
            let first = mesh.elements.iter().position(|e| e.vertices.contains(&v)).unwrap();
            assert_eq!(k, first);
            assert!(distance(locator.maps()[k].point(xi), p) < 1e-12);
        }
        assert_eq!(locator.locate([0.5, 0.3]), None);
        assert_eq!(locator.locate([5.0, 0.3]), None);
        assert_eq!(locator.locate([f64::NAN, 0.3]), None);
    }

    proptest! {
        #[test]
        fn points_are_found_if_and_only_if_they_lie_in_the_domain(x in -2.0..2.4f64, y in -1.5..1.5f64) {
            thread_local! { static LOCATOR: Locator = Locator::new(&plate()); }
            let (s, c) = 20f64.to_radians().sin_cos();
            let (u, v) = (x - 0.2, y - 0.1);
            let radius = ((c * u + s * v) / 2.0).hypot(c * v - s * u);
            let hole = (x - 0.5).hypot(y - 0.3) / 0.3;
            prop_assume!((radius - 1.0).abs() > 1e-9 && (hole - 1.0).abs() > 1e-9);
            let found = LOCATOR.with(|l| l.locate([x, y]).map(|(k, xi)| l.maps()[k].point(xi)));
            prop_assert_eq!(found.is_some(), radius < 1.0 && hole > 1.0);
            if let Some(q) = found {
                prop_assert!(distance(q, [x, y]) < 1e-12);
            }
        }
    }
}
