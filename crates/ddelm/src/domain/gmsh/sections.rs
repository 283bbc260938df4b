//! The sections of MSH 2.2 and 4.1: nodes, elements, and the names of physical groups.
//!
//! # References
//! C. Geuzaine, J.-F. Remacle, *Gmsh reference manual*, chapter "Gmsh file formats".

use std::collections::HashMap;

use crate::base::error::Result;

use super::scanner::Scanner;
use crate::domain::shape::Shape;

/// An element of a file: its corners and the nodes on its sides.
pub struct RawElement {
    /// `None` for a line.
    pub shape: Option<Shape>,
    pub order: usize,
    /// Corners, then the inner nodes of the sides, side by side; inner nodes of the element are left out.
    pub nodes: Vec<u64>,
    /// The number of its physical group, 0 for none.
    pub group: i64,
}

/// What a file says.
#[derive(Default)]
pub struct RawMesh {
    pub nodes: HashMap<u64, [f64; 3]>,
    pub elements: Vec<RawElement>,
    /// Names by dimension and number of the physical group.
    pub names: HashMap<(i64, i64), String>,
}

/// Shape, order and number of nodes of gmsh's types of elements; `None` for a shape is a line.
fn element_type(kind: i64) -> Option<(Option<Shape>, usize, usize)> {
    let (line, triangle, square) = (None, Some(Shape::Triangle), Some(Shape::Quadrilateral));
    let (shape, order) = match kind {
        1 => (line, 1),
        8 => (line, 2),
        26..=28 => (line, kind - 23),
        62..=66 => (line, kind - 56),
        2 => (triangle, 1),
        9 => (triangle, 2),
        21 => (triangle, 3),
        23 => (triangle, 4),
        25 => (triangle, 5),
        42..=46 => (triangle, kind - 36),
        3 => (square, 1),
        10 => (square, 2),
        36..=38 => (square, kind - 33),
        47..=51 => (square, kind - 41),
        _ => return None,
    };
    let p = order as usize;
    let count = match shape {
        None => p + 1,
        Some(Shape::Triangle) => (p + 1) * (p + 2) / 2,
        Some(Shape::Quadrilateral) => (p + 1) * (p + 1),
    };
    Some((shape, p, count))
}

/// The type of a point.
const POINT: i64 = 15;

/// Reads all sections.
pub fn read(scanner: &mut Scanner) -> Result<RawMesh> {
    let mut mesh = RawMesh::default();
    let mut groups: HashMap<(i64, i64), i64> = HashMap::new();
    if scanner.section().as_deref() != Some("MeshFormat") {
        return scanner.error("this is not a file of gmsh: it does not begin with $MeshFormat");
    }
    let version: f64 = scanner.word("the version")?;
    let binary: i64 = scanner.word("the kind of file")?;
    let size: i64 = scanner.word("the size of numbers")?;
    let new = version == 4.1;
    if !(new || version == 2.2) {
        return scanner.error(format_args!("the version is {version}; 2.2 and 4.1 can be read"));
    }
    if size != 8 || !(0..=1).contains(&binary) {
        return scanner.error("numbers are not of eight bytes");
    }
    scanner.line();
    scanner.binary = binary == 1;
    if scanner.binary {
        match scanner.int("the number one")? {
            1 => {}
            0x0100_0000 => scanner.big_endian = true,
            other => return scanner.error(format_args!("found {other} where the number one should be")),
        }
    }
    scanner.end("MeshFormat")?;
    let mut seen = [false; 2];
    while let Some(section) = scanner.section() {
        match section.as_str() {
            "PhysicalNames" => physical_names(scanner, &mut mesh)?,
            "Entities" => entities(scanner, &mut groups)?,
            "Nodes" => {
                seen[0] = true;
                if new {
                    nodes_4(scanner, &mut mesh)?
                } else {
                    nodes_2(scanner, &mut mesh)?
                }
                scanner.expect_end("Nodes")?;
            }
            "Elements" => {
                seen[1] = true;
                if new {
                    elements_4(scanner, &groups, &mut mesh)?
                } else {
                    elements_2(scanner, &mut mesh)?
                }
                scanner.expect_end("Elements")?;
            }
            other => scanner.end(other)?,
        }
    }
    match seen {
        [true, true] => Ok(mesh),
        [false, _] => scanner.error("there is no section $Nodes"),
        _ => scanner.error("there is no section $Elements"),
    }
}

fn physical_names(scanner: &mut Scanner, mesh: &mut RawMesh) -> Result<()> {
    let count: u64 = scanner.word("the number of names")?;
    for _ in 0..scanner.count(count, 4, "names")? {
        let (dimension, number) = (scanner.word("a dimension")?, scanner.word("a number")?);
        let line = String::from_utf8_lossy(scanner.line()).into_owned();
        let Some(name) = line.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
            return scanner.error(format_args!("found `{line}` where a name in quotes should be"));
        };
        mesh.names.insert((dimension, number), name.into());
    }
    scanner.end("PhysicalNames")
}

/// The physical group of each entity, by dimension and number.
fn entities(scanner: &mut Scanner, groups: &mut HashMap<(i64, i64), i64>) -> Result<()> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = scanner.size("a number of entities")?;
    }
    for (dimension, &count) in counts.iter().enumerate() {
        for _ in 0..scanner.count(count, 8, "entities")? {
            let tag = scanner.int("the number of an entity")?;
            for _ in 0..if dimension == 0 { 3 } else { 6 } {
                scanner.real("a coordinate of an entity")?;
            }
            let physical = scanner.size("a number of groups")?;
            for k in 0..scanner.count(physical, 1, "groups")? {
                let group = scanner.int("a group")?;
                if k == 0 {
                    groups.insert((dimension as i64, tag), group.saturating_abs());
                }
            }
            if dimension > 0 {
                let bounding = scanner.size("a number of bounding entities")?;
                for _ in 0..scanner.count(bounding, 1, "bounding entities")? {
                    scanner.int("a bounding entity")?;
                }
            }
        }
    }
    scanner.expect_end("Entities")
}

fn point(scanner: &mut Scanner) -> Result<[f64; 3]> {
    Ok([scanner.real("x of a node")?, scanner.real("y of a node")?, scanner.real("z of a node")?])
}

fn nodes_2(scanner: &mut Scanner, mesh: &mut RawMesh) -> Result<()> {
    let count: u64 = scanner.word("the number of nodes")?;
    let count = scanner.count(count, if scanner.binary { 28 } else { 8 }, "nodes")?;
    if scanner.binary {
        scanner.line();
    }
    mesh.nodes.reserve(count);
    for _ in 0..count {
        let tag = scanner.int("the number of a node")? as u64;
        let p = point(scanner)?;
        mesh.nodes.insert(tag, p);
    }
    Ok(())
}

fn elements_2(scanner: &mut Scanner, mesh: &mut RawMesh) -> Result<()> {
    let count: u64 = scanner.word("the number of elements")?;
    let count = scanner.count(count, if scanner.binary { 12 } else { 8 }, "elements")?;
    if scanner.binary {
        scanner.line();
    }
    mesh.elements.reserve(count);
    let mut left = count;
    while left > 0 {
        // In text an element is a block of its own, with its number first.
        let (kind, block, tags);
        if scanner.binary {
            kind = scanner.int("a type of elements")?;
            block = scanner.int("a number of elements")?;
            tags = scanner.int("a number of tags")?;
        } else {
            scanner.int("the number of an element")?;
            kind = scanner.int("the type of an element")?;
            block = 1;
            tags = scanner.int("a number of tags")?;
        }
        let Some(block) = usize::try_from(block).ok().filter(|block| (1..=left).contains(block)) else {
            return scanner.error(format_args!("a block of {block} elements, where {left} are left"));
        };
        let tags = scanner.count(tags as u64, 1, "tags")?;
        for _ in 0..block {
            if scanner.binary {
                scanner.int("the number of an element")?;
            }
            let mut group = 0;
            for k in 0..tags {
                let tag = scanner.int("a tag of an element")?;
                if k == 0 {
                    group = tag.saturating_abs();
                }
            }
            element(scanner, mesh, kind, group, |s| Ok(s.int("a node of an element")? as u64))?;
        }
        left -= block;
    }
    Ok(())
}

fn nodes_4(scanner: &mut Scanner, mesh: &mut RawMesh) -> Result<()> {
    let blocks = scanner.size("the number of blocks of nodes")?;
    let total = scanner.size("the number of nodes")?;
    mesh.nodes.reserve(scanner.count(total, 7, "nodes")?);
    scanner.size("the least number of a node")?;
    scanner.size("the largest number of a node")?;
    for _ in 0..scanner.count(blocks, 8, "blocks of nodes")? {
        let dimension = scanner.int("the dimension of an entity")?;
        scanner.int("the number of an entity")?;
        let parametric = scanner.int("whether nodes have parameters")?;
        let count = scanner.size("the number of nodes of a block")?;
        let count = scanner.count(count, 7, "nodes")?;
        let mut tags = Vec::with_capacity(count);
        for _ in 0..count {
            tags.push(scanner.size("the number of a node")?);
        }
        for tag in tags {
            let p = point(scanner)?;
            mesh.nodes.insert(tag, p);
            for _ in 0..if parametric == 0 { 0 } else { dimension.clamp(0, 3) } {
                scanner.real("a parameter of a node")?;
            }
        }
    }
    Ok(())
}

fn elements_4(scanner: &mut Scanner, groups: &HashMap<(i64, i64), i64>, mesh: &mut RawMesh) -> Result<()> {
    let blocks = scanner.size("the number of blocks of elements")?;
    let total = scanner.size("the number of elements")?;
    mesh.elements.reserve(scanner.count(total, 4, "elements")?);
    scanner.size("the least number of an element")?;
    scanner.size("the largest number of an element")?;
    for _ in 0..scanner.count(blocks, 8, "blocks of elements")? {
        let dimension = scanner.int("the dimension of an entity")?;
        let tag = scanner.int("the number of an entity")?;
        let kind = scanner.int("the type of elements")?;
        let count = scanner.size("the number of elements of a block")?;
        let group = groups.get(&(dimension, tag)).copied().unwrap_or(0);
        for _ in 0..scanner.count(count, 4, "elements")? {
            scanner.size("the number of an element")?;
            element(scanner, mesh, kind, group, |s| s.size("a node of an element"))?;
        }
    }
    Ok(())
}

/// Reads the nodes of an element; points are skipped.
fn element(
    scanner: &mut Scanner,
    mesh: &mut RawMesh,
    kind: i64,
    group: i64,
    mut node: impl FnMut(&mut Scanner) -> Result<u64>,
) -> Result<()> {
    if kind == POINT {
        return node(scanner).map(|_| ());
    }
    let Some((shape, order, count)) = element_type(kind) else {
        return scanner.error(format_args!(
            "elements of gmsh's type {kind}; lines, triangles and quadrilaterals of order 1 to 10 can be read"
        ));
    };
    let kept = match shape {
        None => 2,
        Some(shape) => shape.sides() * order,
    };
    let mut nodes = Vec::with_capacity(kept);
    for k in 0..count {
        let tag = node(scanner)?;
        if k < kept {
            nodes.push(tag);
        }
    }
    mesh.elements.push(RawElement { shape, order, nodes, group });
    Ok(())
}
