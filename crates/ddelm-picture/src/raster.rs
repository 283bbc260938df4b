//! Scenes as PNG.

use tiny_skia::{
    Color, FillRule, FilterQuality, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Stroke,
    StrokeDash, Transform,
};

use super::font;
use super::scene::{Anchor, Colour, INK, Item, Pen, Place, Scene};

/// Pixels per unit of the scene: enough for print and for screens with fine pixels.
const SCALE: f32 = 2.0;

/// The scene as a PNG file.
pub fn png(scene: &Scene) -> Result<Vec<u8>, String> {
    let size = |length: f64| (length as f32 * SCALE).ceil() as u32;
    let mut canvas = Pixmap::new(size(scene.width), size(scene.height)).ok_or("the picture has no area")?;
    canvas.fill(Color::WHITE);
    scene.items.iter().for_each(|item| draw(&mut canvas, item));
    canvas.encode_png().map_err(|e| e.to_string())
}

/// Coloured cells as a PNG file, one pixel each.
pub fn image(columns: usize, rows: usize, pixels: &[Colour]) -> Result<Vec<u8>, String> {
    pixmap(columns, rows, pixels).ok_or("the picture has no area")?.encode_png().map_err(|e| e.to_string())
}

fn pixmap(columns: usize, rows: usize, pixels: &[Colour]) -> Option<Pixmap> {
    let mut map = Pixmap::new(columns as u32, rows as u32)?;
    for (pixel, &[r, g, b, a]) in map.pixels_mut().iter_mut().zip(pixels) {
        *pixel = tiny_skia::ColorU8::from_rgba(r, g, b, a).premultiply();
    }
    Some(map)
}

fn draw(canvas: &mut Pixmap, item: &Item) {
    let scale = Transform::from_scale(SCALE, SCALE);
    match item {
        Item::Image { area, columns, rows, pixels } => {
            let Some(map) = pixmap(*columns, *rows, pixels) else { return };
            let fit = Transform::from_row(
                (area.width / *columns as f64) as f32,
                0.0,
                0.0,
                (area.height / *rows as f64) as f32,
                area.left as f32,
                area.top as f32,
            );
            let paint = PixmapPaint { quality: FilterQuality::Bilinear, ..PixmapPaint::default() };
            canvas.draw_pixmap(0, 0, map.as_ref(), &paint, fit.post_concat(scale), None);
        }
        Item::Line { points, closed, pen } => {
            if let Some(path) = polygon(points, *closed) {
                canvas.stroke_path(&path, &ink(pen.colour), &stroke(pen), scale, None);
            }
        }
        Item::Strokes { strokes, pen } => {
            let mut path = PathBuilder::new();
            for [a, b] in strokes {
                path.move_to(a[0] as f32, a[1] as f32);
                path.line_to(b[0] as f32, b[1] as f32);
            }
            if let Some(path) = path.finish() {
                // Round ends join strokes that follow each other.
                let stroke = Stroke { line_cap: LineCap::Round, ..stroke(pen) };
                canvas.stroke_path(&path, &ink(pen.colour), &stroke, scale, None);
            }
        }
        Item::Fill { points, colour } => {
            if let Some(path) = polygon(points, true) {
                canvas.fill_path(&path, &ink(*colour), FillRule::Winding, scale, None);
            }
        }
        Item::Between { loops, colour } => {
            let mut path = PathBuilder::new();
            loops.iter().for_each(|points| trace(&mut path, points, true));
            if let Some(path) = path.finish() {
                canvas.fill_path(&path, &ink(*colour), FillRule::EvenOdd, scale, None);
            }
        }
        Item::Disc { centre, radius, colour } => {
            let circle = PathBuilder::from_circle(centre[0] as f32, centre[1] as f32, *radius as f32);
            if let Some(path) = circle {
                canvas.fill_path(&path, &ink(*colour), FillRule::Winding, scale, None);
            }
        }
        Item::Text { text, place, size, anchor, upwards } => {
            let Some(path) = font::outline(text, *size) else { return };
            let shift = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -0.5,
                Anchor::End => -1.0,
            };
            let along = (shift * font::width(text, *size)) as f32;
            let turn = Transform::from_rotate(if *upwards { -90.0 } else { 0.0 });
            let to = Transform::from_translate(along, 0.0)
                .post_concat(turn)
                .post_translate(place[0] as f32, place[1] as f32)
                .post_concat(scale);
            canvas.fill_path(&path, &ink(INK), FillRule::Winding, to, None);
        }
    }
}

fn polygon(points: &[Place], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    trace(&mut path, points, closed);
    path.finish()
}

fn trace(path: &mut PathBuilder, points: &[Place], closed: bool) {
    for (k, p) in points.iter().enumerate() {
        let (x, y) = (p[0] as f32, p[1] as f32);
        if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
}

fn ink(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(colour[0], colour[1], colour[2], colour[3]);
    paint
}

fn stroke(pen: &Pen) -> Stroke {
    let width = pen.width as f32;
    let dash = pen.dashed.then(|| StrokeDash::new(vec![4.0 * width, 2.5 * width], 0.0)).flatten();
    Stroke { width, line_cap: LineCap::Butt, line_join: LineJoin::Round, dash, ..Stroke::default() }
}
