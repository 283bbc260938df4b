//! Where a problem is solved: outlines, their decomposition into elements, and the maps of the elements.
//!
//! From what a user gives to what the method needs:
//!
//! ```text
//! Curve, Piece, Loop -> Outline        closed loops, holes and regions, checked        curve.rs, spline.rs, loops.rs, outline.rs, arrangement.rs
//! a rectangle, Outline or Mesh -> Domain  what a user gives, with its names               area.rs, divided.rs, fitted.rs
//! Outline, MeshSettings -> Mesh        triangles and quadrilaterals, curved sides      mesh.rs, rectangles.rs, decompose.rs
//! a file of gmsh -> Mesh               the same from a file                            gmsh/
//! Mesh -> ShapeMap per element         x = F(xi) with J and H, and its inverse         shape_map.rs, bulge.rs
//! Mesh -> Forest                       leaves, hanging sides in pieces                 forest.rs
//! Forest -> Decomposition              subdomains, and which of them holds a point     decomposition.rs, boxes.rs
//! sectors of a vertex -> exponents     r^lambda, and whether a solution is smooth      exponents.rs, vertex.rs, series.rs, regularity.rs
//! an element at such a vertex -> rings on which powers of r are smooth                 corner.rs, map/ring.rs, ringed.rs
//! ```
//!
//! A [`Mesh`](mesh::Mesh) is plain data, and it is all that the rest of the library sees: a curved side is a short
//! polynomial, whatever the curve was made of.
//!
//! ```
//! use ddelm::Decomposition;
//! use ddelm::domain::mesh::{Mesh, MeshSettings};
//! use ddelm::domain::outline::{Loop, NamedLoop, Outline};
//!
//! let plate = Loop::polygon("domain.polygon", &[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]], None)?;
//! let hole = NamedLoop { name: "hole".into(), outline: Loop::circle("domain.hole[0].circle", [1.0, 0.5], 0.2)? };
//! let outline = Outline::new(plate, vec![hole], vec![])?;
//! let mesh = Mesh::of_outline(&outline, &MeshSettings { size: Some(0.25), ..MeshSettings::default() })?;
//! assert_eq!(mesh.names, ["side-1", "side-2", "side-3", "side-4", "hole"]);
//!
//! let elements = Decomposition::of_mesh(mesh)?;
//! let (element, xi) = elements.locate([0.1, 0.9]).unwrap();
//! let x = elements.subdomains[element].map.point(xi);
//! assert!((x[0] - 0.1).abs() < 1e-15 && (x[1] - 0.9).abs() < 1e-15);
//! assert_eq!(elements.locate([1.0, 0.5]), None); // in the hole
//! # Ok::<(), ddelm::Error>(())
//! ```

pub mod area;
pub mod arrangement;
pub mod borders;
pub mod boxes;
pub mod bulge;
mod chords;
pub mod collocation;
pub mod corner;
pub mod curve;
mod decompose;
pub mod decomposition;
pub mod divided;
pub mod division;
pub mod exponents;
mod fitted;
pub mod forest;
pub mod geometry;
pub mod gluing;
pub mod gmsh;
pub mod graded;
mod inner_points;
pub mod loops;
pub mod map;
mod meeting;
pub mod mesh;
pub mod outline;
mod pairing;
mod partners;
mod places;
pub mod plane;
mod quadtree;
mod quality;
mod rectangles;
pub mod regularity;
pub mod ringed;
pub mod sample;
pub mod series;
pub mod shape;
pub mod shape_map;
mod sizes;
mod smoothing;
pub mod spline;
mod subdomain;
mod triangulate;
pub mod vertex;
