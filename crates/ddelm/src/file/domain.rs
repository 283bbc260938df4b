//! `[domain]`: a rectangle, a polygon, a circle, an ellipse, an outline of pieces or a mesh, with holes and regions.
//!
//! Every piece is made with the key it stands under, `domain.outline[2]`, so that whatever is wrong with it, here or when
//! the loops are put together, points at it.

use std::path::Path;

use super::boundary::{SidePart, part_name};
use super::document::{Kind, Value};
use super::section::{Section, list, number, pair, shown, text, unexpected};
use crate::base::error::{Error, Result};
use crate::domain::area::Domain;
use crate::domain::gmsh;
use crate::domain::map::Point;
use crate::domain::outline::{Loop, NamedLoop, Outline, Piece};

pub(super) const DOMAIN: &[&str] =
    &["x", "y", "polygon", "names", "circle", "ellipse", "outline", "mesh", "hole", "region"];
pub(super) const INNER: &[&str] = &["name", "x", "y", "polygon", "names", "circle", "ellipse", "outline"];
pub(super) const CIRCLE: &[&str] = &["center", "radius"];
pub(super) const ELLIPSE: &[&str] = &["center", "axes", "angle"];
pub(super) const PIECE: &[&str] = &["line", "arc", "spline", "curve", "t", "name"];
pub(super) const ARC: &[&str] = &["center", "radius", "from", "to"];

/// What can describe a loop; a rectangle by one of its two keys.
const SHAPES: &[&str] = &["x", "polygon", "circle", "ellipse", "outline"];

const SOME_POINT: &str = "[0.0, 1.0]";
const SOME_POINTS: &str = "[[0, 0], [1, 0], [1, 1]]";

/// Reads the domain. Files are relative to `directory`; parts of sides belong to a rectangle.
pub(super) fn domain(root: &Section, directory: &Path, side_parts: &[SidePart]) -> Result<Domain> {
    let section = root.section("domain", DOMAIN)?;
    let (holes, regions) = (holes(&section)?, regions(&section)?);
    let (shape, hint) = (
        shape(&section, &["x", "polygon", "circle", "ellipse", "outline", "mesh"])?,
        "give x and y for a rectangle, or polygon, circle, ellipse, outline or mesh",
    );
    match shape {
        // Without any of them the first key of a rectangle is missing.
        None if !section.is_given() => Err(root.missing("domain", hint)),
        None | Some("x") => {
            let (x, y) = rectangle(&section)?;
            let mut domain = Domain::rectangle(x, y)?;
            for part in side_parts {
                domain = domain.with_side_part(part.section.path(), part.side, &part.name, part.interval)?;
            }
            if holes.is_empty() && regions.is_empty() {
                return Ok(domain);
            }
            domain.with_holes_and_regions(holes, regions)
        }
        Some("mesh") => {
            if let Some(name) = ["hole", "region"].into_iter().find(|name| section.has(name)) {
                let problem = "a mesh has its holes, and its physical groups are the regions";
                return Err(Error::input(section.key(name), "...", problem, "leave it out"));
            }
            let file = section.text("mesh")?.expect("it was found");
            Ok(Domain::mesh(gmsh::read(&directory.join(file))?))
        }
        Some(shape) => Ok(Domain::outline(Outline::new(loop_of(&section, shape)?, holes, regions)?)),
    }
}

/// The one of several shapes that is given.
fn shape<'k>(section: &Section, shapes: &[&'k str]) -> Result<Option<&'k str>> {
    let given = |name: &&&str| section.has(name) || (**name == "x" && section.has("y"));
    let found: Vec<&str> = shapes.iter().filter(given).copied().collect();
    if let [first, second, ..] = found[..] {
        let first = if first == "x" { "x and y" } else { first };
        let shape = section.get(second).map_or(String::new(), |value| shown(&value.kind));
        let problem = format!("there is {first} already");
        return Err(Error::input(section.key(second), shape, problem, format!("give one of {}", shapes.join(", "))));
    }
    if section.has("names") && found.first() != Some(&"polygon") {
        let hint = "name a piece of an outline where it stands, a hole or region by its name";
        return Err(Error::input(section.key("names"), "...", "only a polygon has names", hint));
    }
    Ok(found.first().copied())
}

fn rectangle(section: &Section) -> Result<([f64; 2], [f64; 2])> {
    let side = |name: &str| -> Result<[f64; 2]> {
        let hint = || format!("{name} = {SOME_POINT}; or give polygon, circle, ellipse, outline or mesh");
        section.pair(name, SOME_POINT, number)?.ok_or_else(|| section.missing(name, &hint()))
    };
    Ok((side("x")?, side("y")?))
}

/// The holes, with names.
fn holes(section: &Section) -> Result<Vec<NamedLoop>> {
    let tables = section.sections("hole", INNER)?;
    let count = tables.len();
    let read = |(k, hole): (usize, &Section)| {
        let default = || if count == 1 { "hole".into() } else { format!("hole-{}", k + 1) };
        let name = hole.text("name")?.map_or_else(|| Ok(default()), |name| part_name(&hole.key("name"), name))?;
        Ok(NamedLoop { name, outline: inner(hole)? })
    };
    tables.iter().enumerate().map(read).collect()
}

/// The regions.
fn regions(section: &Section) -> Result<Vec<NamedLoop>> {
    let mut regions: Vec<NamedLoop> = Vec::new();
    for region in section.sections("region", INNER)? {
        let name = region.text("name")?;
        let name =
            name.ok_or_else(|| region.missing("name", "a region is a material, and has a name: name = \"steel\""))?;
        if regions.iter().any(|other| other.name == name) {
            let hint = "give every region a name of its own";
            return Err(Error::input(region.key("name"), format!("\"{name}\""), "another region has this name", hint));
        }
        regions.push(NamedLoop { name: name.into(), outline: inner(&region)? });
    }
    Ok(regions)
}

/// The loop of a hole or a region.
fn inner(section: &Section) -> Result<Loop> {
    match shape(section, SHAPES)? {
        Some(shape) => loop_of(section, shape),
        None => Err(section.missing("polygon", "give polygon, circle, ellipse or outline, or x and y")),
    }
}

/// The loop that a key of a table describes.
fn loop_of(section: &Section, shape: &str) -> Result<Loop> {
    let key = section.key(shape);
    match shape {
        "x" => {
            let (x, y) = rectangle(section)?;
            for (name, side) in [("x", x), ("y", y)] {
                if !(side[0] < side[1] && side[0].is_finite() && side[1].is_finite()) {
                    let problem = "an interval needs two finite ends, the smaller one first";
                    let value = format!("[{}, {}]", side[0], side[1]);
                    return Err(Error::input(section.key(name), value, problem, "for example [0.0, 1.0]"));
                }
            }
            Loop::polygon(&key, &[[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]], None)
        }
        "polygon" => {
            let corners = points(&key, section.get("polygon").expect("it was found"))?;
            let names = section.get("names").map(|value| names(section, value, corners.len())).transpose()?;
            Loop::polygon(&key, &corners, names.as_deref())
        }
        "circle" => {
            let circle = section.section("circle", CIRCLE)?;
            Loop::circle(&key, center(&circle)?, required(&circle, "radius", "1.0")?)
        }
        "ellipse" => {
            let ellipse = section.section("ellipse", ELLIPSE)?;
            let axes = ellipse.pair("axes", "[2.0, 1.0]", number)?;
            let axes = axes.ok_or_else(|| ellipse.missing("axes", "the half axes, for example axes = [2.0, 1.0]"))?;
            Loop::ellipse(&key, center(&ellipse)?, axes, ellipse.number("angle")?.unwrap_or(0.0))
        }
        _ => {
            let pieces = section.sections("outline", PIECE)?;
            Loop::outline(&key, pieces.iter().map(piece).collect::<Result<_>>()?)
        }
    }
}

/// The names of the sides of a polygon.
fn names(section: &Section, value: &Value, sides: usize) -> Result<Vec<String>> {
    let key = section.key("names");
    let names = list(&key, value, "[\"floor\", \"wall\", \"roof\"]", |key, value| part_name(key, text(key, value)?))?;
    if names.len() != sides {
        let problem = format!("{} names for {sides} sides", names.len());
        return Err(Error::input(key, shown(&value.kind), problem, "one name for each side, or none at all"));
    }
    Ok(names)
}

/// A piece of an outline.
fn piece(section: &Section) -> Result<Piece> {
    let kinds = &PIECE[..4];
    let given: Vec<&str> = kinds.iter().copied().filter(|name| section.has(name)).collect();
    let key = section.path();
    let piece = match given[..] {
        ["line"] => {
            let line = section.pair("line", "[[0, 0], [1, 0]]", point)?;
            let [from, to] = line.expect("it was found");
            Piece::line(key, from, to)?
        }
        ["arc"] => {
            let arc = section.section("arc", ARC)?;
            let angle = |name: &str| required(&arc, name, "90");
            Piece::arc(key, center(&arc)?, required(&arc, "radius", "1.0")?, angle("from")?, angle("to")?)?
        }
        ["spline"] => {
            Piece::spline(key, &points(&section.key("spline"), section.get("spline").expect("it was found"))?)?
        }
        ["curve"] => {
            let formula = |key: &str, value: &Value| match &value.kind {
                Kind::String(text) => Ok(text.clone()),
                Kind::Integer(_) | Kind::Float(_) => Ok(shown(&value.kind)),
                other => Err(unexpected(key, other, "a formula in t", "for example \"cos(t)\"")),
            };
            let [x, y] = section.pair("curve", "[\"cos(t)\", \"sin(t)\"]", formula)?.expect("it was found");
            let interval = section.pair("t", SOME_POINT, number)?;
            let interval = interval.ok_or_else(|| section.missing("t", "the ends of the parameter: t = [0.0, 1.0]"))?;
            Piece::formula(key, [&x, &y], interval)?
        }
        [] => return Err(section.missing("line", "a piece is a line, an arc, a spline or a curve")),
        [.., last] => {
            let problem = format!("there is {} already", given[0]);
            return Err(Error::input(section.key(last), "...", problem, "every piece has its own { }"));
        }
    };
    if section.has("t") && given != ["curve"] {
        return Err(Error::input(section.key("t"), "...", "only a curve has a parameter", "leave it out"));
    }
    Ok(match section.text("name")? {
        Some(name) => piece.named(&part_name(&section.key("name"), name)?),
        None => piece,
    })
}

fn center(section: &Section) -> Result<Point> {
    let center = section.pair("center", "[0.0, 0.0]", number)?;
    center.ok_or_else(|| section.missing("center", "for example center = [0.0, 0.0]"))
}

fn required(section: &Section, name: &str, example: &str) -> Result<f64> {
    section.number(name)?.ok_or_else(|| section.missing(name, &format!("for example {name} = {example}")))
}

fn point(key: &str, value: &Value) -> Result<Point> {
    pair(key, value, SOME_POINT, number)
}

fn points(key: &str, value: &Value) -> Result<Vec<Point>> {
    list(key, value, SOME_POINTS, point)
}

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;
