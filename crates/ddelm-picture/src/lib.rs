//! Pictures: heat maps of fields and line plots, as PNG and SVG, and several of them as one that moves.
//!
//! A plot is laid out once, as a [`Scene`] of lines, images and texts, and a scene is drawn in either format. The PNG
//! has its letters from a font in the program, so that it looks the same on every machine.

mod animation;
mod axis;
mod colour;
mod contour;
mod font;
mod heat;
mod line;
mod plan;
mod raster;
mod scene;
mod subdomains;
mod svg;

pub use animation::apng;
pub use axis::Axis;
pub use colour::ColourScale;
pub use heat::{Grid, HeatMap};
pub use line::{LinePlot, Series, Style};
pub use plan::{Named, Plan};
pub use raster::png;
pub use scene::Scene;
pub use subdomains::{heat_map, scale, shape};
pub use svg::svg;

use std::io::{self, Write};
use std::path::Path;

use ddelm::base::atomic;
use ddelm::{Error, Result};

/// The formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Lines and letters.
    Svg,
}

impl Format {
    /// The format that the ending of a file's name says.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("png") => Ok(Format::Png),
            Some("svg") => Ok(Format::Svg),
            _ => Err(Error::Input {
                key: "picture".into(),
                value: path.display().to_string(),
                problem: "pictures are written as .png or .svg".into(),
                hint: "give a name such as u.png".into(),
            }),
        }
    }
}

/// Refuses a picture that could not be written, before there is something to show.
pub fn check(path: &Path) -> Result<()> {
    Format::of(path)?;
    atomic::check(path)
}

/// Writes a scene as a PNG or an SVG file, as the ending of its name says.
pub fn write(path: &Path, scene: &Scene) -> Result<()> {
    let content = match Format::of(path)? {
        Format::Png => raster::png(scene),
        Format::Svg => svg::svg(scene).map(String::into_bytes),
    };
    atomic::write(path, |file| file.write_all(&content.map_err(io::Error::other)?))
}
