//! The letters of PNG pictures: DejaVu Sans.

use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, OutlineBuilder};

fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(dejavu::sans::regular(), 0).ok()).as_ref()
}

/// The width of a text.
pub fn width(text: &str, size: f64) -> f64 {
    let Some(face) = face() else { return 0.0 };
    let units: u32 = glyphs(face, text).map(|(_, advance)| u32::from(advance)).sum();
    f64::from(units) * size / f64::from(face.units_per_em())
}

/// The outlines of a text that starts at the origin and runs to the right; y points down.
pub fn outline(text: &str, size: f64) -> Option<Path> {
    let face = face()?;
    let scale = size as f32 / f32::from(face.units_per_em());
    let mut pen = Outline { path: PathBuilder::new(), scale, x: 0.0 };
    for (glyph, advance) in glyphs(face, text) {
        face.outline_glyph(glyph, &mut pen);
        pen.x += scale * f32::from(advance);
    }
    pen.path.finish()
}

fn glyphs<'a>(face: &'a Face<'a>, text: &'a str) -> impl Iterator<Item = (ttf_parser::GlyphId, u16)> + 'a {
    text.chars().map(move |c| {
        let glyph = face.glyph_index(c).unwrap_or_default();
        (glyph, face.glyph_hor_advance(glyph).unwrap_or(0))
    })
}

/// Moves outlines from the font's units, with y upwards, to those of the scene.
struct Outline {
    path: PathBuilder,
    scale: f32,
    x: f32,
}

impl Outline {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, -self.scale * y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_that_labels_use_has_an_outline() {
        for c in "0123456789.\u{2212}\u{d7}\u{2070}\u{b9}\u{b2}\u{b3}\u{2074}\u{2075}\u{2076}\u{2077}\u{2078}\u{2079}\u{207b}xyu|\u{2202}\u{2207}".chars() {
            assert!(face().unwrap().glyph_index(c).is_some(), "{c}");
            assert!(outline(&c.to_string(), 12.0).is_some(), "{c}");
        }
        assert!(width("mm", 10.0) > 1.9 * width("m", 10.0) && width("i", 10.0) < width("m", 10.0));
    }
}
