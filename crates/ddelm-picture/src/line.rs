//! Curves in a frame with axes and a legend.

use super::axis::{Axis, NORMAL, SMALL};
use super::font;
use super::scene::{Anchor, Area, Colour, INK, Item, Pen, Scene};

/// Extent of the frame.
const FRAME: [f64; 2] = [420.0, 300.0];

/// Colours of the curves: told apart by everybody.
const COLOURS: [Colour; 6] = [
    [0, 90, 160, 255],
    [213, 94, 0, 255],
    [0, 140, 100, 255],
    [170, 70, 140, 255],
    [90, 90, 90, 255],
    [180, 140, 0, 255],
];

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A line.
    Solid,
    /// A broken line.
    Dashed,
    /// A line through marked points.
    Marked,
}

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend; none if empty.
    pub name: String,
    /// The points.
    pub points: Vec<[f64; 2]>,
    /// How they are drawn.
    pub style: Style,
}

/// Curves over a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    /// What it shows.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis at the left.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Places on the x axis with a thin vertical line: borders of subdomains.
    pub marks: Vec<f64>,
}

impl LinePlot {
    /// The picture.
    pub fn scene(&self) -> Scene {
        let left = self.y.room_beside(FRAME[1], 55.0) + 8.0;
        let area = Area { left, top: NORMAL + 22.0, width: FRAME[0], height: FRAME[1] };
        let mut scene =
            Scene { width: area.right() + 20.0, height: area.bottom() + self.x.room_below() + 10.0, items: Vec::new() };
        self.draw_grid(&mut scene, area);
        for (k, series) in self.series.iter().enumerate() {
            self.draw_series(&mut scene, area, series, COLOURS[k % COLOURS.len()]);
        }
        scene.frame(area, Pen::new(INK, 0.8));
        self.x.draw_below(&mut scene, area);
        self.y.draw_left(&mut scene, area);
        scene.text(&self.title, [area.left + 0.5 * area.width, NORMAL + 8.0], NORMAL, Anchor::Middle);
        self.draw_legend(&mut scene, area);
        scene
    }

    fn draw_grid(&self, scene: &mut Scene, area: Area) {
        let pale = Pen::new([225, 225, 225, 255], 0.7);
        for (v, _) in self.x.ticks((area.width / 75.0) as usize).major {
            let t = self.x.position(v);
            scene.line(vec![area.at(t, 0.0), area.at(t, 1.0)], pale);
        }
        for (v, _) in self.y.ticks((area.height / 55.0) as usize).major {
            let t = self.y.position(v);
            scene.line(vec![area.at(0.0, t), area.at(1.0, t)], pale);
        }
        for t in self.marks.iter().map(|&v| self.x.position(v)).filter(|t| *t > 0.0 && *t < 1.0) {
            scene.line(
                vec![area.at(t, 0.0), area.at(t, 1.0)],
                Pen { dashed: true, ..Pen::new([150, 150, 150, 255], 0.7) },
            );
        }
    }

    /// Fractions of the frame of the points that the axes can show, in runs without a gap.
    fn runs(&self, series: &Series) -> Vec<Vec<[f64; 2]>> {
        let mut runs = vec![Vec::new()];
        for p in &series.points {
            let at = [self.x.position(p[0]), self.y.position(p[1])];
            if at.iter().all(|t| (-1e-9..=1.0 + 1e-9).contains(t)) {
                runs[0].push(at);
            } else if !runs[0].is_empty() {
                runs.insert(0, Vec::new());
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    fn draw_series(&self, scene: &mut Scene, area: Area, series: &Series, colour: Colour) {
        let pen = Pen { dashed: series.style == Style::Dashed, ..Pen::new(colour, 1.6) };
        for run in self.runs(series) {
            let points: Vec<_> = run.iter().map(|p| area.at(p[0], p[1])).collect();
            if series.style == Style::Marked {
                scene.items.extend(points.iter().map(|&centre| Item::Disc { centre, radius: 3.2, colour }));
            }
            scene.line(points, pen);
        }
    }

    /// The names of the curves, in the corner with the fewest points.
    fn draw_legend(&self, scene: &mut Scene, area: Area) {
        let named: Vec<(usize, &Series)> = self.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty()).collect();
        if named.is_empty() {
            return;
        }
        let widest = named.iter().map(|(_, s)| font::width(&s.name, SMALL)).fold(0.0, f64::max);
        let (width, height) = (widest + 44.0, 17.0 * named.len() as f64 + 8.0);
        let free = (area.width - width - 8.0, area.height - height - 8.0);
        let corners = [(free.0, 8.0), (8.0, 8.0), (free.0, free.1), (8.0, free.1)].map(|(x, y)| Area {
            left: area.left + x,
            top: area.top + y,
            width,
            height,
        });
        let Some(box_) = corners.into_iter().min_by_key(|corner| self.points_in(area, corner)) else { return };
        scene.items.push(Item::Fill { points: box_.corners(), colour: [255, 255, 255, 225] });
        scene.frame(box_, Pen::new([190, 190, 190, 255], 0.7));
        for (row, (k, series)) in named.into_iter().enumerate() {
            let (colour, y) = (COLOURS[k % COLOURS.len()], box_.top + 17.0 * row as f64 + 12.5);
            let pen = Pen { dashed: series.style == Style::Dashed, ..Pen::new(colour, 1.6) };
            scene.line(vec![[box_.left + 8.0, y], [box_.left + 30.0, y]], pen);
            if series.style == Style::Marked {
                scene.items.push(Item::Disc { centre: [box_.left + 19.0, y], radius: 3.2, colour });
            }
            scene.text(&series.name, [box_.left + 36.0, y + 0.36 * SMALL], SMALL, Anchor::Start);
        }
    }

    fn points_in(&self, area: Area, corner: &Area) -> usize {
        let inside = |p: &[f64; 2]| {
            let [x, y] = area.at(p[0], p[1]);
            (corner.left..corner.right()).contains(&x) && (corner.top..corner.bottom()).contains(&y)
        };
        self.series.iter().flat_map(|s| self.runs(s)).flatten().filter(inside).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<[f64; 2]>) -> LinePlot {
        let y = Axis::over("error", true, points.iter().map(|p| p[1]));
        let x = Axis::over("points", false, points.iter().map(|p| p[0]));
        let series = vec![Series { name: "L2".into(), points, style: Style::Marked }];
        LinePlot { title: String::new(), x, y, series, marks: Vec::new() }
    }

    #[test]
    fn what_an_axis_cannot_show_is_a_gap() {
        let plot = plot(vec![[1.0, 1e-3], [2.0, 0.0], [3.0, f64::NAN], [4.0, 1e-5], [5.0, 1e-6]]);
        let runs = plot.runs(&plot.series[0]);
        assert_eq!(runs.iter().map(Vec::len).sum::<usize>(), 3);
        assert_eq!(runs.len(), 2);
        assert_eq!(plot.scene().items.iter().filter(|i| matches!(i, Item::Disc { .. })).count(), 3 + 1);
    }

    #[test]
    fn the_legend_keeps_away_from_the_curve() {
        // Falling: the upper right and the lower left corner are free.
        let plot = plot((1..20).map(|k| [f64::from(k), 10f64.powi(-k)]).collect());
        let scene = plot.scene();
        let name = scene.items.iter().find_map(|item| match item {
            Item::Text { text, place, .. } if text == "L2" => Some(*place),
            _ => None,
        });
        assert!(name.unwrap()[0] > 0.5 * scene.width && name.unwrap()[1] < 0.5 * scene.height);
    }
}
