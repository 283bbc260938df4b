//! A domain as it is cut: subdomains, tinted by region, the parts of the boundary in colours of their own, and a legend with
//! the names.

use super::axis::{Axis, NORMAL, SMALL};
use super::font;
use super::scene::{Anchor, Area, Colour, INK, Item, Pen, Place, Scene};

/// The largest extent of the domain in the picture.
const LARGEST: [f64; 2] = [460.0, 420.0];
/// Height of a line of the legend, length of its sample, and the room beside the domain.
const ROW: f64 = 18.0;
const SAMPLE: f64 = 20.0;
const BESIDE: f64 = 18.0;
/// Names in the legend; there may be a thousand.
const MOST_NAMES: usize = 24;
/// Letters of a name.
const LONGEST_NAME: usize = 28;

/// Something with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Where it is.
    pub lines: Vec<Vec<[f64; 2]>>,
}

/// A picture of a decomposition, in the coordinates of the domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What it shows.
    pub title: String,
    /// The box around the domain: `[x0, x1, y0, y1]`.
    pub bounds: [f64; 4],
    /// Subdomains outside of all regions, as polygons.
    pub plain: Vec<Vec<[f64; 2]>>,
    /// Those of the regions.
    pub regions: Vec<Named>,
    /// Borders between subdomains.
    pub inside: Vec<Vec<[f64; 2]>>,
    /// The boundary by its parts.
    pub parts: Vec<Named>,
}

impl Plan {
    /// The picture. Both axes have the same unit of length.
    pub fn scene(&self) -> Scene {
        let [x0, x1, y0, y1] = self.bounds;
        let unit = (LARGEST[0] / (x1 - x0)).min(LARGEST[1] / (y1 - y0));
        let (width, height) = (unit * (x1 - x0), unit * (y1 - y0));
        let (x, y) = (Axis::new("x", [x0, x1]), Axis::new("y", [y0, y1]));
        let area = Area { left: y.room_beside(height, 55.0) + 8.0, top: NORMAL + 24.0, width, height };
        let names: Vec<String> = self.parts.iter().chain(&self.regions).map(|named| short(&named.name)).collect();
        let shown = names.len().min(MOST_NAMES);
        let widest = names.iter().take(shown).map(|name| font::width(name, SMALL)).fold(60.0, f64::max);
        let legend = [area.right() + BESIDE, area.top + SMALL];
        let rows = shown + usize::from(names.len() > shown);
        let title = font::width(&self.title, NORMAL);
        let mut scene = Scene {
            width: (legend[0] + SAMPLE + 8.0 + widest + 12.0).max(area.left + title + 8.0),
            height: (area.bottom() + x.room_below()).max(legend[1] + ROW * rows as f64) + 10.0,
            items: Vec::new(),
        };
        let place = |points: &Vec<[f64; 2]>| -> Vec<Place> {
            points.iter().map(|p| area.at(x.position(p[0]), y.position(p[1]))).collect()
        };
        let fill = |points, colour| Item::Fill { points: place(points), colour };
        scene.items.extend(self.plain.iter().map(|tile| fill(tile, [244, 244, 241, 255])));
        for (k, region) in self.regions.iter().enumerate() {
            scene.items.extend(region.lines.iter().map(|tile| fill(tile, tint(k))));
        }
        for line in &self.inside {
            scene.line(place(line), Pen::new([120, 120, 120, 255], 0.6));
        }
        for (k, part) in self.parts.iter().enumerate() {
            part.lines.iter().for_each(|line| scene.line(place(line), pen(k)));
        }
        x.draw_below(&mut scene, area);
        y.draw_left(&mut scene, area);
        scene.text(&self.title, [area.left, area.top - 14.0], NORMAL, Anchor::Start);
        for (k, name) in names.iter().take(shown).enumerate() {
            let [left, base] = [legend[0], legend[1] + ROW * k as f64];
            let middle = base - 0.36 * SMALL;
            match k.checked_sub(self.parts.len()) {
                None => scene.line(vec![[left, middle], [left + SAMPLE, middle]], pen(k)),
                Some(region) => {
                    let sample = Area { left, top: middle - 5.0, width: SAMPLE, height: 10.0 };
                    scene.items.push(Item::Fill { points: sample.corners(), colour: tint(region) });
                    scene.frame(sample, Pen::new(INK, 0.5));
                }
            }
            scene.text(name, [left + SAMPLE + 8.0, base], SMALL, Anchor::Start);
        }
        if names.len() > shown {
            let place = [legend[0], legend[1] + ROW * shown as f64];
            scene.text(format!("and {} more", names.len() - shown), place, SMALL, Anchor::Start);
        }
        scene
    }
}

/// How a part of the boundary is drawn: ten colours, then dashed.
fn pen(part: usize) -> Pen {
    let c = colorous::TABLEAU10[part % 10];
    Pen { dashed: (part / 10) % 2 == 1, ..Pen::new([c.r, c.g, c.b, 255], 2.4) }
}

/// The colour of a region.
fn tint(region: usize) -> Colour {
    let c = colorous::SET3[region % 12];
    [c.r, c.g, c.b, 255]
}

fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        None => name.into(),
        Some((end, _)) => format!("{}\u{2026}", &name[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(parts: usize) -> Plan {
        let square = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let named = |name: String| Named { name, lines: vec![square.clone()] };
        Plan {
            title: "1 subdomain".into(),
            bounds: [0.0, 1.0, 0.0, 1.0],
            plain: vec![square.clone()],
            regions: vec![named("steel".into())],
            inside: Vec::new(),
            parts: (0..parts).map(|k| named(format!("part {k} of a boundary with a very long name"))).collect(),
        }
    }

    fn texts(scene: &Scene) -> Vec<&str> {
        fn text(item: &Item) -> Option<&str> {
            if let Item::Text { text, .. } = item { Some(text) } else { None }
        }
        scene.items.iter().filter_map(text).collect()
    }

    #[test]
    fn the_legend_names_everything_within_the_picture() {
        for parts in [1, 4, 100] {
            let scene = plan(parts).scene();
            let texts = texts(&scene);
            assert!(texts.contains(&"part 0 of a boundary with a \u{2026}"), "{texts:?}");
            assert_eq!(texts.contains(&"steel"), parts < MOST_NAMES);
            assert_eq!(texts.iter().any(|text| text.starts_with("and ")), parts > MOST_NAMES);
            for item in &scene.items {
                if let Item::Text { text, place, size, anchor: Anchor::Start, .. } = item {
                    let right = place[0] + font::width(text, *size);
                    assert!(right <= scene.width && place[1] <= scene.height, "{text}");
                }
            }
        }
    }
}
