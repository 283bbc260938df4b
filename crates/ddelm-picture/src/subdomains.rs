//! Fields over a decomposition, with the borders of its subdomains.

use ddelm::Decomposition;
use ddelm::domain::borders::Borders;

use super::{ColourScale, Grid, HeatMap};

/// Values on a grid over a decomposition, with the borders of its subdomains.
pub fn heat_map(decomposition: &Decomposition, label: &str, is_size: bool, grid: Grid, contours: bool) -> HeatMap {
    let borders = Borders::new(decomposition);
    // The frame of the picture is the boundary of a rectangle.
    let outline = if decomposition.fills_a_frame() { Vec::new() } else { borders.loops() };
    HeatMap {
        title: format!("{label} on {} subdomains", shape(decomposition)),
        scale: scale(label, is_size, &grid),
        grid,
        lines: borders.inside,
        outline,
        contours,
    }
}

/// The colours of values, or of their sizes.
pub fn scale(label: &str, is_size: bool, grid: &Grid) -> ColourScale {
    if is_size { ColourScale::of_sizes(label, &grid.values) } else { ColourScale::of_values(label, &grid.values) }
}

/// The number of subdomains, by rows and columns where they have them.
pub fn shape(decomposition: &Decomposition) -> String {
    decomposition.count().to_string().replace(" x ", " \u{d7} ")
}
