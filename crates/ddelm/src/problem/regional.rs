//! A field with a function of its own in some regions: materials.
//!
//! `f = f_r` in region r where there is such a function, and the default elsewhere. On the perimeter of a subdomain the value is that of
//! the subdomain which asks, so that a coefficient may jump there without anybody looking for the limit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::problem::field::{Dependence, Failure, Field, FieldRef, FirstDerivatives, Jets, Samples};

/// A field made of a default and overrides by the number of a region.
#[derive(Clone)]
pub struct Regional {
    default: FieldRef,
    regions: BTreeMap<usize, FieldRef>,
    names: Vec<String>,
}

impl Regional {
    /// The field that is `regions[r]` in region r, and `default` outside of them.
    ///
    /// Points of which nobody says where they are in the decomposition get the default.
    pub fn new(default: FieldRef, regions: BTreeMap<usize, FieldRef>) -> Self {
        Regional { default, regions, names: Vec::new() }
    }

    /// The field that tells people the names of its regions, the first of them that of region 0.
    #[must_use]
    pub fn with_names(self, names: &[String]) -> Self {
        Regional { names: names.to_vec(), ..self }
    }

    /// The field that holds at the points: all of them lie in one subdomain.
    fn field(&self, at: &Samples<'_>) -> &FieldRef {
        let region = at.patch.and_then(|patch| patch.region);
        region.and_then(|region| self.regions.get(&region)).unwrap_or(&self.default)
    }

    fn all(&self) -> impl Iterator<Item = &FieldRef> {
        std::iter::once(&self.default).chain(self.regions.values())
    }
}

impl Field for Regional {
    fn values(&self, at: &Samples<'_>, out: &mut [f64]) -> Result<(), Failure> {
        self.field(at).values(at, out)
    }

    fn gradients(&self, at: &Samples<'_>, dx: &mut [f64], dy: &mut [f64]) -> Result<bool, Failure> {
        self.field(at).gradients(at, dx, dy)
    }

    fn constant(&self) -> Option<f64> {
        let value = self.default.constant()?;
        self.all().all(|field| field.constant() == Some(value)).then_some(value)
    }

    fn work(&self) -> usize {
        self.all().map(|field| field.work()).max().unwrap_or(1)
    }

    fn describe(&self) -> String {
        let name = |region: &usize| self.names.get(*region).cloned().unwrap_or_else(|| format!("region {region}"));
        let regions = self.regions.iter().map(|(region, field)| format!(", {} in {}", field.describe(), name(region)));
        self.default.describe() + &regions.collect::<String>()
    }

    fn depends_on(&self) -> Dependence {
        self.all().fold(Dependence::default(), |all, field| all.or(field.depends_on()))
    }

    fn jets(&self, at: &Samples<'_>, out: &mut Jets) -> Result<bool, Failure> {
        self.field(at).jets(at, out)
    }

    fn parameter_names(&self) -> BTreeSet<String> {
        self.all().flat_map(|field| field.parameter_names()).collect()
    }

    fn parameter_value(&self, parameter: &str) -> Option<f64> {
        self.all().find_map(|field| field.parameter_value(parameter))
    }

    fn with_parameter(&self, parameter: &str, value: f64) -> Option<FieldRef> {
        self.parameter_value(parameter)?;
        let with = |field: &FieldRef| field.with_parameter(parameter, value).unwrap_or_else(|| field.clone());
        let regions = self.regions.iter().map(|(region, field)| (*region, with(field))).collect();
        Some(Arc::new(Regional { default: with(&self.default), regions, names: self.names.clone() }))
    }

    fn parameter_derivatives(&self, parameter: &str, at: &Samples<'_>, out: &mut [f64]) -> Result<bool, Failure> {
        self.field(at).parameter_derivatives(parameter, at, out)
    }

    fn parameter_slopes(&self, parameter: &str, at: &Samples<'_>, out: &mut FirstDerivatives) -> Result<bool, Failure> {
        self.field(at).parameter_slopes(parameter, at, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::{Patch, constant, function};

    #[test]
    fn a_region_has_its_own_function() {
        let field = Regional::new(function(|x, _| x), BTreeMap::from([(2, constant(7.0))]));
        let (x, y, xi) = ([0.25, 0.5], [0.0; 2], [[0.0; 2]; 2]);
        let value = |region: Option<Option<usize>>| {
            let patch = region.map(|region| Patch { subdomain: 0, region, xi: &xi });
            let mut out = [0.0; 2];
            field.values(&Samples { patch, ..Samples::at(&x, &y) }, &mut out).unwrap();
            out
        };
        assert_eq!(value(Some(Some(2))), [7.0; 2]);
        for elsewhere in [None, Some(None), Some(Some(1))] {
            assert_eq!(value(elsewhere), x);
        }
        assert_eq!(field.constant(), None);
        assert_eq!(field.describe(), "a function, 7 in region 2");
        let names = ["air", "wood", "steel"].map(String::from);
        assert_eq!(field.with_names(&names).describe(), "a function, 7 in steel");
    }

    #[test]
    fn equal_constants_are_one() {
        let of = |value| Regional::new(constant(1.0), BTreeMap::from([(0, constant(value))])).constant();
        assert_eq!((of(1.0), of(2.0)), (Some(1.0), None));
    }
}
