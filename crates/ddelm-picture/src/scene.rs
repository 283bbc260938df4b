//! What a picture shows, before it is drawn in a format.

/// A colour: red, green, blue, opacity.
pub type Colour = [u8; 4];

/// Frames, ticks and letters.
pub const INK: Colour = [30, 30, 30, 255];

/// A point of the scene: x to the right, y down, from the upper left corner.
pub type Place = [f64; 2];

/// A rectangle of the scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The point at the fractions `x` from the left and `y` from the bottom.
    pub fn at(&self, x: f64, y: f64) -> Place {
        [self.left + x * self.width, self.bottom() - y * self.height]
    }

    pub fn corners(&self) -> Vec<Place> {
        vec![self.at(0.0, 0.0), self.at(1.0, 0.0), self.at(1.0, 1.0), self.at(0.0, 1.0)]
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pen {
    pub colour: Colour,
    pub width: f64,
    pub dashed: bool,
}

impl Pen {
    pub const fn new(colour: Colour, width: f64) -> Self {
        Pen { colour, width, dashed: false }
    }
}

/// Which point of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// One thing in a scene.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Coloured cells, by rows from the top.
    Image { area: Area, columns: usize, rows: usize, pixels: Vec<Colour> },
    /// A line through points, back to the first if it is closed.
    Line { points: Vec<Place>, closed: bool, pen: Pen },
    /// Many short lines, drawn with the same pen.
    Strokes { strokes: Vec<[Place; 2]>, pen: Pen },
    /// A filled polygon.
    Fill { points: Vec<Place>, colour: Colour },
    /// What lies inside of an odd number of polygons, filled.
    Between { loops: Vec<Vec<Place>>, colour: Colour },
    /// A filled circle.
    Disc { centre: Place, radius: f64, colour: Colour },
    /// A line of text; `upwards` turns it by a quarter. The place is on the base line.
    Text { text: String, place: Place, size: f64, anchor: Anchor, upwards: bool },
}

impl Item {
    /// The same, further to the right.
    fn shifted(mut self, by: f64) -> Self {
        match &mut self {
            Item::Image { area, .. } => area.left += by,
            Item::Line { points, .. } | Item::Fill { points, .. } => points.iter_mut().for_each(|p| p[0] += by),
            Item::Between { loops, .. } => loops.iter_mut().flatten().for_each(|p| p[0] += by),
            Item::Strokes { strokes, .. } => strokes.iter_mut().flatten().for_each(|p| p[0] += by),
            Item::Disc { centre: place, .. } | Item::Text { place, .. } => place[0] += by,
        }
        self
    }
}

/// A picture: its size and the things in it, the later ones over the earlier ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// What is on it, from behind.
    pub items: Vec<Item>,
}

impl Scene {
    /// Two scenes side by side.
    pub fn beside(mut self, right: Scene) -> Scene {
        let shift = self.width;
        self.items.extend(right.items.into_iter().map(|item| item.shifted(shift)));
        Scene { width: shift + right.width, height: self.height.max(right.height), items: self.items }
    }

    /// Adds a line.
    pub fn line(&mut self, points: Vec<Place>, pen: Pen) {
        self.items.push(Item::Line { points, closed: false, pen });
    }

    /// Adds a frame.
    pub fn frame(&mut self, area: Area, pen: Pen) {
        self.items.push(Item::Line { points: area.corners(), closed: true, pen });
    }

    /// Adds a text.
    pub fn text(&mut self, text: impl Into<String>, place: Place, size: f64, anchor: Anchor) {
        self.items.push(Item::Text { text: text.into(), place, size, anchor, upwards: false });
    }

    /// Adds a text that is read from below.
    pub fn text_upwards(&mut self, text: impl Into<String>, place: Place, size: f64) {
        self.items.push(Item::Text { text: text.into(), place, size, anchor: Anchor::Middle, upwards: true });
    }
}
