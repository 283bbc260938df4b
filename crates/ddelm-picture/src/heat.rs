//! A field as colours over the domain, with axes and a colour bar.

use super::axis::{Axis, NORMAL, is_flat};
use super::colour::ColourScale;
use super::contour::contour;
use super::scene::{Anchor, Area, INK, Item, Pen, Place, Scene};

/// The largest extent of the domain in the picture.
const LARGEST: [f64; 2] = [460.0, 380.0];
/// Cells by which values are continued beyond the domain, where it is clipped: as wide as the outline is drawn.
const BEYOND: usize = 2;
/// Width of the colour bar, and its distance from the domain.
const BAR: [f64; 2] = [14.0, 16.0];

/// Values at the centres of equal cells, by rows from the bottom; not a number outside the domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The box that the cells fill: `[x0, x1, y0, y1]`.
    pub bounds: [f64; 4],
    /// Points in x.
    pub columns: usize,
    /// Points in y.
    pub rows: usize,
    /// The values, row by row from below.
    pub values: Vec<f64>,
}

impl Grid {
    /// A grid of about square cells over a box, with so many along its longer side, and no values yet.
    pub fn over(bounds: [f64; 4], resolution: usize) -> Self {
        let (w, h) = (bounds[1] - bounds[0], bounds[3] - bounds[2]);
        let cells = |side: f64| ((resolution as f64 * side / w.max(h)).round() as usize).max(2);
        Grid { bounds, columns: cells(w), rows: cells(h), values: Vec::new() }
    }

    /// The coordinates of the centres, in the order of the values.
    pub fn centres(&self) -> (Vec<f64>, Vec<f64>) {
        let [x0, x1, y0, y1] = self.bounds;
        let at = |k: usize, count: usize, a: f64, b: f64| a + (b - a) * (k as f64 + 0.5) / count as f64;
        (0..self.columns * self.rows)
            .map(|k| (at(k % self.columns, self.columns, x0, x1), at(k / self.columns, self.rows, y0, y1)))
            .unzip()
    }

    /// Values continued by so many cells beyond the domain: means of the neighbours.
    fn continued(&self, cells: usize) -> Grid {
        let mut grid = self.clone();
        for _ in 0..cells {
            let known = grid.values.clone();
            for k in (0..known.len()).filter(|&k| known[k].is_nan()) {
                let (i, j) = (k % self.columns, k / self.columns);
                let rows = j.saturating_sub(1)..(j + 2).min(self.rows);
                let columns = i.saturating_sub(1)..(i + 2).min(self.columns);
                let around = rows.flat_map(|j| columns.clone().map(move |i| j * self.columns + i));
                let (sum, count) = around
                    .map(|k| known[k])
                    .filter(|v| !v.is_nan())
                    .fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
                if count > 0.0 {
                    grid.values[k] = sum / count;
                }
            }
        }
        grid
    }
}

/// A heat map.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// The values.
    pub grid: Grid,
    /// Their colours.
    pub scale: ColourScale,
    /// Thin lines over the field, in its coordinates: borders of subdomains.
    pub lines: Vec<Vec<[f64; 2]>>,
    /// The boundary of the domain as closed loops, in dark: everything outside of them is white. None if the domain fills its box.
    pub outline: Vec<Vec<[f64; 2]>>,
    /// Whether to draw lines of equal value, at the ticks of the colour bar and between them.
    pub contours: bool,
}

impl HeatMap {
    /// The picture. Both axes have the same unit of length.
    pub fn scene(&self) -> Scene {
        let [x0, x1, y0, y1] = self.grid.bounds;
        let unit = (LARGEST[0] / (x1 - x0)).min(LARGEST[1] / (y1 - y0));
        let (width, height) = (unit * (x1 - x0), unit * (y1 - y0));
        let (x, y) = (Axis::new("x", [x0, x1]), Axis::new("y", [y0, y1]));
        let area = Area { left: y.room_beside(height, 55.0) + 8.0, top: NORMAL + 24.0, width, height };
        // A flat domain gets a bar that is higher than itself, so that it has room for labels.
        let tall = height.max(120.0);
        let bar =
            Area { left: area.right() + BAR[1], top: area.top + 0.5 * (height - tall), width: BAR[0], height: tall };
        let shift = (NORMAL + 24.0 - bar.top).max(0.0);
        let (area, bar) = (Area { top: area.top + shift, ..area }, Area { top: bar.top + shift, ..bar });
        let mut scene = Scene {
            width: bar.right() + self.scale.axis.room_beside(tall, 45.0) + 8.0,
            height: (area.bottom() + x.room_below()).max(bar.bottom()) + 10.0,
            items: Vec::new(),
        };
        let grid = self.grid.continued(if self.outline.is_empty() { 0 } else { BEYOND });
        scene.items.push(self.image(&grid, area));
        let place = |line: &Vec<[f64; 2]>| -> Vec<Place> {
            line.iter().map(|p| area.at(x.position(p[0]), y.position(p[1]))).collect()
        };
        for line in &self.lines {
            scene.line(place(line), Pen::new(self.scale.map.lines(), 0.7));
        }
        if self.contours {
            self.draw_contours(&mut scene, &grid, area);
        }
        if !self.outline.is_empty() {
            let mut loops: Vec<Vec<Place>> = self.outline.iter().map(place).collect();
            loops.push(area.corners());
            scene.items.push(Item::Between { loops, colour: [255; 4] });
        }
        for line in &self.outline {
            scene.items.push(Item::Line { points: place(line), closed: true, pen: Pen::new(INK, 1.0) });
        }
        scene.frame(area, Pen::new(INK, 0.8));
        x.draw_below(&mut scene, area);
        y.draw_left(&mut scene, area);
        self.draw_bar(&mut scene, bar);
        scene.text(&self.title, [area.left + 0.5 * width, area.top - 14.0], NORMAL, Anchor::Middle);
        scene
    }

    fn image(&self, grid: &Grid, area: Area) -> Item {
        let Grid { columns, rows, values, .. } = grid;
        let from_top = (0..*rows).rev().flat_map(|j| &values[j * columns..(j + 1) * columns]);
        let pixels = from_top.map(|&v| self.scale.colour(v)).collect();
        Item::Image { area, columns: *columns, rows: *rows, pixels }
    }

    fn draw_contours(&self, scene: &mut Scene, grid: &Grid, area: Area) {
        let axis = &self.scale.axis;
        let (min, max) = grid.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        if is_flat(min, max) {
            return;
        }
        let ticks = axis.ticks(12);
        // Contours of a logarithmic scale are those of the logarithm.
        let sizes = Grid { values: grid.values.iter().map(|v| v.abs()).collect(), ..grid.clone() };
        let grid = if axis.log { &sizes } else { grid };
        let place = |p: [f64; 2]| area.at((p[0] + 0.5) / grid.columns as f64, (p[1] + 0.5) / grid.rows as f64);
        let levels = ticks.major.into_iter().flat_map(|(level, _)| contour(grid, level));
        let strokes = levels.map(|piece| piece.map(place)).collect();
        scene.items.push(Item::Strokes { strokes, pen: Pen::new([0, 0, 0, 255], 0.8) });
    }

    fn draw_bar(&self, scene: &mut Scene, bar: Area) {
        const STEPS: usize = 256;
        let pixels = (0..STEPS).rev().map(|k| self.scale.map.at((k as f64 + 0.5) / STEPS as f64)).collect();
        scene.items.push(Item::Image { area: bar, columns: 1, rows: STEPS, pixels });
        scene.frame(bar, Pen::new(INK, 0.8));
        self.scale.axis.draw_right(scene, bar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(bounds: [f64; 4]) -> HeatMap {
        let mut grid = Grid::over(bounds, 40);
        let (x, y) = grid.centres();
        grid.values = x.iter().zip(&y).map(|(x, y)| x + 10.0 * y).collect();
        let scale = ColourScale::of_values("u", &grid.values);
        HeatMap { title: "u".into(), grid, scale, lines: Vec::new(), outline: Vec::new(), contours: true }
    }

    fn field(scene: &Scene) -> (Area, usize, usize, &[[u8; 4]]) {
        scene
            .items
            .iter()
            .find_map(|item| match item {
                Item::Image { area, columns, rows, pixels } => Some((*area, *columns, *rows, &pixels[..])),
                _ => None,
            })
            .unwrap()
    }

    #[test]
    fn x_runs_to_the_right_y_up_and_units_are_equal() {
        let scene = map([0.0, 2.0, 0.0, 1.0]).scene();
        let (area, columns, rows, pixels) = field(&scene);
        assert!((area.width / area.height - 2.0).abs() < 1e-12);
        let light = |c: [u8; 4]| 2 * u32::from(c[0]) + 7 * u32::from(c[1]) + u32::from(c[2]);
        let (top_left, top_right) = (light(pixels[0]), light(pixels[columns - 1]));
        let bottom_left = light(pixels[(rows - 1) * columns]);
        assert!(top_right > top_left && top_left > bottom_left, "u grows to the right and upwards");
    }

    #[test]
    fn a_constant_has_no_contours_of_its_rounding() {
        let strokes = |scene: Scene| -> usize {
            let of = |item: &Item| match item {
                Item::Strokes { strokes, .. } => strokes.len(),
                _ => 0,
            };
            scene.items.iter().map(of).sum()
        };
        let mut map = map([0.0, 1.0, 0.0, 1.0]);
        assert!(strokes(map.scene()) > 0);
        map.grid
            .values
            .iter_mut()
            .enumerate()
            .for_each(|(k, v)| *v = 1.0 + if k % 3 == 0 { 1e-16 * k as f64 } else { -1e-15 });
        map.scale = ColourScale::of_values("u", &map.grid.values);
        assert_eq!(strokes(map.scene()), 0);
    }

    #[test]
    fn values_go_on_under_the_outline_and_all_else_is_white() {
        let mut map = map([0.0, 1.0, 0.0, 1.0]);
        let (x, y) = map.grid.centres();
        let inside = |k: usize| x[k] < 0.5 && y[k] < 0.5;
        (0..x.len()).filter(|&k| !inside(k)).for_each(|k| map.grid.values[k] = f64::NAN);
        map.outline = vec![vec![[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]]];
        let scene = map.scene();
        let (_, columns, rows, pixels) = field(&scene);
        let opaque = pixels.iter().filter(|pixel| pixel[3] > 0).count();
        assert_eq!((columns, rows, opaque), (40, 40, (20 + BEYOND) * (20 + BEYOND)));
        let between = scene.items.iter().find_map(|item| match item {
            Item::Between { loops, colour } => Some((loops.len(), *colour)),
            _ => None,
        });
        assert_eq!(between, Some((2, [255; 4])), "the box and the outline");
    }

    #[test]
    fn everything_lies_within_the_picture() {
        for bounds in [[0.0, 1.0, 0.0, 1.0], [-3.0, 40.0, 0.0, 1.0], [0.0, 1e-6, 5.0, 6.0], [1e6, 2e6, -1e6, 1e6]] {
            let scene = map(bounds).scene();
            for item in &scene.items {
                let points = match item {
                    Item::Image { area, .. } => area.corners(),
                    Item::Line { points, .. } | Item::Fill { points, .. } => points.clone(),
                    Item::Strokes { strokes, .. } => strokes.concat(),
                    Item::Between { loops, .. } => loops.concat(),
                    Item::Disc { centre, .. } => vec![*centre],
                    Item::Text { place, .. } => vec![*place],
                };
                for p in points {
                    assert!(p[0] >= 0.0 && p[0] <= scene.width && p[1] >= 0.0 && p[1] <= scene.height, "{item:?}");
                }
            }
        }
    }
}
