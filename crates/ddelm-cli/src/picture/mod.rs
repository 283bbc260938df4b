//! Pictures: heat maps of fields and line plots, as PNG and SVG.
//!
//! A plot is laid out once, as a [`Scene`] of lines, images and texts, and a scene is drawn in either format. The PNG
//! has its letters from a font in the program, so that it looks the same on every machine.

mod axis;
mod colour;
mod contour;
mod font;
mod heat;
mod line;
mod raster;
mod scene;
mod svg;

pub use axis::Axis;
pub use colour::ColourScale;
pub use heat::{Grid, HeatMap};
pub use line::{LinePlot, Series, Style};
pub use scene::Scene;

use std::io::{self, Write};
use std::path::Path;

use ddelm::{Error, Result, atomic};

/// Writes a scene as a PNG or an SVG file, as the ending of its name says.
pub fn write(path: &Path, scene: &Scene) -> Result<()> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => {
            let bytes = raster::png(scene);
            atomic::write(path, |file| file.write_all(&bytes.map_err(io::Error::other)?))
        }
        Some("svg") => {
            let text = svg::svg(scene);
            atomic::write(path, |file| file.write_all(text.map_err(io::Error::other)?.as_bytes()))
        }
        _ => Err(Error::Input {
            key: "picture".into(),
            value: path.display().to_string(),
            problem: "pictures are written as .png or .svg".into(),
            hint: "give a name such as u.png".into(),
        }),
    }
}
