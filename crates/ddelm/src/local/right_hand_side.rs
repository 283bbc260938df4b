//! The right-hand side F of a local problem: source and boundary values at the nodes, times the multipliers of the rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Mat;

use crate::base::error::{Error, Result};
use crate::domain::collocation::Collocations;
use crate::domain::decomposition::{Decomposition, part_name};
use crate::domain::map::{Point, magnifications};
use crate::domain::sample::Sample;
use crate::local::perimeter::PerimeterRow;
use crate::local::places::Places;
use crate::local::rows::LocalRows;
use crate::problem::field::{Field, FieldRef};
use crate::problem::model::{Data, Equation};

/// What turns data into a right-hand side: the multipliers of the rows, and what they say.
pub(crate) struct DataRows {
    pub(super) interior_multiplier: Arc<[f64]>,
    pub(super) perimeter_multiplier: Arc<[f64]>,
    pub(super) perimeter_kind: Vec<PerimeterRow>,
    /// The perimeter nodes, as indices into [`Collocation::perimeter`].
    pub(super) nodes: Vec<usize>,
    /// |det J| at the points of integration, where the rows have it.
    areas: Option<Arc<[f64]>>,
    /// The multiplier of the flux balance, if there is one.
    pub(super) balance_multiplier: Option<f64>,
    /// What the fluxes of the first pair are multiplied with.
    pub(super) flux_multiplier: f64,
}

impl DataRows {
    /// The multipliers of the rows of a subdomain, of which those on the perimeter say this.
    pub fn new(rows: &LocalRows, perimeter_kind: Vec<PerimeterRow>) -> Self {
        DataRows {
            interior_multiplier: rows.interior_multiplier.clone(),
            perimeter_multiplier: rows.perimeter_multiplier.clone(),
            perimeter_kind,
            nodes: rows.layout.nodes.clone(),
            areas: rows.areas.clone(),
            balance_multiplier: rows.balance.as_ref().map(|balance| balance.multiplier),
            flux_multiplier: rows.flux_multiplier[0],
        }
    }

    /// The entries of F that can be other than zero: source and flux balance and, if asked for, boundary values.
    pub fn entries(&self, conditions: bool) -> impl Iterator<Item = usize> {
        let (inside, around) = (self.interior_multiplier.len(), self.perimeter_multiplier.len());
        let given =
            move |&(_, kind): &(usize, &PerimeterRow)| conditions && matches!(kind, PerimeterRow::Condition { .. });
        let given = self.perimeter_kind.iter().enumerate().filter(given).map(move |(row, _)| inside + row);
        (0..inside).chain(given).chain(self.balance_multiplier.map(|_| inside + around))
    }

    /// The rows that are linear in every problem: those of interface values, and where rings end.
    pub fn linear_rows(&self) -> Vec<usize> {
        let linear = |(_, kind): &(usize, &PerimeterRow)| !matches!(kind, PerimeterRow::Condition { .. });
        self.perimeter_kind.iter().enumerate().filter(linear).map(|(row, _)| self.interior() + row).collect()
    }

    /// Interior nodes.
    pub fn interior(&self) -> usize {
        self.interior_multiplier.len()
    }
}

/// Where the data are evaluated.
pub(crate) struct RightHandSide<'a> {
    pub equation: &'a Equation,
    pub decomposition: &'a Decomposition,
    pub collocations: &'a Collocations,
}

impl RightHandSide<'_> {
    /// F of subdomain s, one column for each set of data: the source, the boundary values, and the integral of the source.
    pub fn of(&self, s: usize, rows: &DataRows, data: &[Data]) -> Result<Mat<f64>> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        let collocation = self.collocations.of(map.shape());
        let (inside, around) = (collocation.interior.len(), rows.perimeter_multiplier.len());
        let interior = self.loads(&collocation.interior, s)?;
        let whole = match rows.balance_multiplier {
            Some(multiplier) => {
                let rule = &collocation.integration;
                let mut shares: Vec<f64> = rule.inside_weights.iter().map(|w| multiplier * w).collect();
                match &rows.areas {
                    Some(areas) => shares.iter_mut().zip(&**areas).for_each(|(w, area)| *w *= area),
                    None => shares.iter_mut().zip(magnifications(map, &rule.inside)).for_each(|(w, area)| *w *= area),
                }
                Some((self.loads(&rule.inside, s)?, shares))
            }
            None => None,
        };
        let mut f = Mat::zeros(inside + around + usize::from(whole.is_some()), data.len());
        for (column, data) in data.iter().enumerate() {
            let out = f.col_as_slice_mut(column);
            let source = interior.of(&data.source)?;
            out.iter_mut()
                .zip(source)
                .zip(&*rows.interior_multiplier)
                .for_each(|((o, f), multiplier)| *o = multiplier * f);
            self.boundary_values(rows, data, s, &mut out[inside..inside + around])?;
            if let Some((loads, shares)) = &whole {
                out[inside + around] = loads.of(&data.source)?.iter().zip(shares).map(|(f, w)| f * w).sum();
            }
        }
        Ok(f)
    }

    /// A source as the rows of subdomain s see it: its values at the interior nodes and, last, its integral.
    pub fn load(&self, s: usize, source: &dyn Field, key: &str) -> Result<Vec<f64>> {
        let place = &self.decomposition.subdomains[s];
        let collocation = self.collocations.of(place.map.shape());
        let at = |xi: &[Point]| Sample::new(place, xi.iter().copied()).values(source, key, s);
        let mut load = at(&collocation.interior)?;
        let rule = &collocation.integration;
        let areas = magnifications(place.map.as_ref(), &rule.inside);
        load.push(at(&rule.inside)?.iter().zip(&rule.inside_weights).zip(areas).map(|((f, w), a)| f * w * a).sum());
        Ok(load)
    }

    /// F of subdomain s for sources by numbers, one column for each: loads as [`RightHandSide::load`] has them, and no
    /// boundary values.
    pub fn of_loads(&self, s: usize, rows: &DataRows, loads: &Mat<f64>) -> Result<Mat<f64>> {
        let (inside, around) = (rows.interior_multiplier.len(), rows.perimeter_multiplier.len());
        let mut f = Mat::zeros(inside + around + usize::from(rows.balance_multiplier.is_some()), loads.ncols());
        let multipliers = self.load_multipliers(s, rows)?;
        for k in 0..loads.ncols() {
            let (load, f) = (loads.col_as_slice(k), f.col_as_slice_mut(k));
            f[..inside]
                .iter_mut()
                .zip(load)
                .zip(&multipliers)
                .for_each(|((f, load), multiplier)| *f = multiplier * load);
            if rows.balance_multiplier.is_some() {
                f[inside + around] = multipliers[inside] * load[inside];
            }
        }
        Ok(f)
    }

    /// What the entries of a load are multiplied with in F of subdomain s; the last is zero where there is no flux balance.
    pub fn load_multipliers(&self, s: usize, rows: &DataRows) -> Result<Vec<f64>> {
        let shape = self.decomposition.subdomains[s].map.shape();
        let first = &self.collocations.of(shape).interior[..1];
        // A unit that varies is refused beforehand: see `Problem::validate`.
        let unit = self.equation.load_unit(&Places::new(self.decomposition, s, first))?.map_or(1.0, |unit| unit[0]);
        let balance = rows.balance_multiplier.unwrap_or_default();
        Ok(rows.interior_multiplier.iter().chain([&balance]).map(|multiplier| multiplier / unit).collect())
    }

    /// Writes boundary values into a column of F of subdomain s.
    pub fn set_boundary_values(&self, s: usize, rows: &DataRows, data: &Data, column: &mut [f64]) -> Result<()> {
        let (inside, around) = (rows.interior_multiplier.len(), rows.perimeter_multiplier.len());
        self.boundary_values(rows, data, s, &mut column[inside..inside + around])
    }

    fn loads<'a>(&'a self, xi: &'a [Point], subdomain: usize) -> Result<Loads<'a>> {
        let places = Places::new(self.decomposition, subdomain, xi);
        Ok(Loads { unit: self.equation.load_unit(&places)?, places })
    }

    /// The boundary values in the perimeter rows of subdomain s.
    fn boundary_values(&self, rows: &DataRows, data: &Data, s: usize, out: &mut [f64]) -> Result<()> {
        let place = &self.decomposition.subdomains[s];
        let perimeter = &self.collocations.of(place.map.shape()).perimeter;
        let mut wanted: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (row, kind) in rows.perimeter_kind.iter().enumerate() {
            if let PerimeterRow::Condition { part, index } = *kind {
                wanted.entry((part, index)).or_default().push(row);
            }
        }
        for ((part, index), at) in wanted {
            let xi: Vec<Point> = at.iter().map(|&row| perimeter[rows.nodes[row % rows.nodes.len()]].xi).collect();
            let key = part_name(self.decomposition, part);
            let Some(values) = data.boundary.get(part).and_then(|values| values.get(index)) else {
                let problem = format!("there is no value {index} on part {part} of the boundary");
                let hint = "give the values of the condition on every part, as Problem::data does";
                return Err(Error::input(key, format!("{} parts", data.boundary.len()), problem, hint));
            };
            let values = Places::new(self.decomposition, s, &xi).plain_values(values, &key)?;
            for (&row, value) in at.iter().zip(values) {
                out[row] = rows.perimeter_multiplier[row] * value;
            }
        }
        Ok(())
    }
}

/// Points where sources are taken.
struct Loads<'a> {
    places: Places<'a>,
    /// What loads are divided by.
    unit: Option<Vec<f64>>,
}

impl Loads<'_> {
    fn of(&self, source: &FieldRef) -> Result<Vec<f64>> {
        let mut source = self.places.plain_values(source, "equation.source")?;
        if let Some(unit) = &self.unit {
            source.iter_mut().zip(unit).for_each(|(q, d)| *q /= d);
        }
        Ok(source)
    }
}
