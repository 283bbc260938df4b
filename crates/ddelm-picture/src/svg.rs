//! Scenes as SVG: lines and letters stay lines and letters, a field is an image.

use std::fmt::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::raster;
use super::scene::{Anchor, Colour, INK, Item, Place, Scene};

/// The scene as an SVG file.
pub fn svg(scene: &Scene) -> Result<String, String> {
    let mut out = String::new();
    let (w, h) = (number(scene.width), number(scene.height));
    let head = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="'DejaVu Sans', Verdana, Arial, sans-serif">"#
    );
    out += &head;
    out += "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for item in &scene.items {
        draw(&mut out, item)?;
    }
    out += "</svg>\n";
    Ok(out)
}

fn draw(out: &mut String, item: &Item) -> Result<(), String> {
    let written = match item {
        Item::Image { area, columns, rows, pixels } => {
            let png = STANDARD.encode(raster::image(*columns, *rows, pixels)?);
            let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(number);
            writeln!(
                out,
                r#"<image x="{x}" y="{y}" width="{w}" height="{h}" preserveAspectRatio="none" href="data:image/png;base64,{png}"/>"#
            )
        }
        Item::Line { points, closed, pen } => {
            let dash = if pen.dashed {
                format!(r#" stroke-dasharray="{} {}""#, number(4.0 * pen.width), number(2.5 * pen.width))
            } else {
                String::new()
            };
            let (kind, width) = (if *closed { "polygon" } else { "polyline" }, number(pen.width));
            writeln!(
                out,
                r#"<{kind} points="{}" fill="none" {} stroke-width="{width}" stroke-linejoin="round"{dash}/>"#,
                places(points),
                paint("stroke", pen.colour)
            )
        }
        Item::Strokes { strokes, pen } => {
            let move_and_draw = |[a, b]: &[Place; 2]| format!("M{}L{}", places(&[*a]), places(&[*b]));
            let (path, width) = (strokes.iter().map(move_and_draw).collect::<String>(), number(pen.width));
            writeln!(
                out,
                r#"<path d="{path}" fill="none" {} stroke-width="{width}" stroke-linecap="round"/>"#,
                paint("stroke", pen.colour)
            )
        }
        Item::Fill { points, colour } => {
            writeln!(out, r#"<polygon points="{}" {}/>"#, places(points), paint("fill", *colour))
        }
        Item::Between { loops, colour } => {
            let path: String = loops.iter().map(|points| format!("M{}Z", places(points))).collect();
            writeln!(out, r#"<path d="{path}" {} fill-rule="evenodd"/>"#, paint("fill", *colour))
        }
        Item::Disc { centre, radius, colour } => {
            let [x, y, r] = [centre[0], centre[1], *radius].map(number);
            writeln!(out, r#"<circle cx="{x}" cy="{y}" r="{r}" {}/>"#, paint("fill", *colour))
        }
        Item::Text { text, place, size, anchor, upwards } => write_text(out, text, *place, *size, *anchor, *upwards),
    };
    written.map_err(|e| e.to_string())
}

fn write_text(out: &mut String, text: &str, place: Place, size: f64, anchor: Anchor, upwards: bool) -> fmt::Result {
    let [x, y, size] = [place[0], place[1], size].map(number);
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turn = if upwards { format!(r#" transform="rotate(-90 {x} {y})""#) } else { String::new() };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let colour = paint("fill", INK);
    writeln!(out, r#"<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" {colour}{turn}>{text}</text>"#)
}

fn places(points: &[Place]) -> String {
    points.iter().map(|p| format!("{},{}", number(p[0]), number(p[1]))).collect::<Vec<_>>().join(" ")
}

fn paint(what: &str, colour: Colour) -> String {
    let [r, g, b, a] = colour;
    let opacity = if a == 255 { String::new() } else { format!(r#" {what}-opacity="{:.2}""#, f64::from(a) / 255.0) };
    format!(r##"{what}="#{r:02x}{g:02x}{b:02x}"{opacity}"##)
}

/// A coordinate, to a hundredth.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}
