//! Fields next to a vertex, as one element sees them.

use std::result::Result;
use std::sync::Arc;

use crate::domain::decomposition::Subdomain;
use crate::domain::map::{MapRef, Point};
use crate::problem::field::{Dependence, Failure, Field, FieldRef, Patch, Samples};

/// A field as one element sees it.
struct Within {
    field: FieldRef,
    number: usize,
    map: MapRef,
    region: Option<usize>,
}

pub(super) fn within(field: &FieldRef, number: usize, place: &Subdomain) -> FieldRef {
    if field.constant().is_some() {
        return field.clone();
    }
    Arc::new(Within { field: field.clone(), number, map: place.map.clone(), region: place.region })
}

impl Within {
    /// Points next to a vertex in the element's own coordinates; a sector may reach a little beyond a curved side.
    fn reference(&self, at: &Samples<'_>) -> Vec<Point> {
        let shape = self.map.shape();
        let one = |(&x, &y): (&f64, &f64)| self.map.inverse([x, y]).unwrap_or_else(|| shape.center());
        at.x.iter().zip(at.y).map(one).collect()
    }
}

impl Field for Within {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        let xi = self.reference(at);
        let patch = Some(Patch { subdomain: self.number, region: self.region, xi: &xi });
        self.field.values(&Samples { patch, ..*at }, out)
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        let xi = self.reference(at);
        let patch = Some(Patch { subdomain: self.number, region: self.region, xi: &xi });
        self.field.gradients(&Samples { patch, ..*at }, dx, dy)
    }

    fn describe(&self) -> String {
        self.field.describe()
    }

    fn depends_on(&self) -> Dependence {
        self.field.depends_on()
    }
}
