//! The right-hand side F of a local problem: source and boundary values at the nodes, times the scales of the rows.

use std::collections::BTreeMap;

use faer::Mat;

use crate::collocation::Collocation;
use crate::decomposition::Decomposition;
use crate::error::Result;
use crate::operator::{LocalRows, PerimeterRow, Sample, part_name};
use crate::problem::{Data, Equation};

/// What turns data into a right-hand side: the scales of the rows, and what they say.
pub(crate) struct DataRows {
    interior_scale: Vec<f64>,
    perimeter_scale: Vec<f64>,
    perimeter_kind: Vec<PerimeterRow>,
}

impl From<LocalRows> for DataRows {
    fn from(rows: LocalRows) -> Self {
        DataRows {
            interior_scale: rows.interior_scale,
            perimeter_scale: rows.perimeter_scale,
            perimeter_kind: rows.perimeter_kind,
        }
    }
}

/// Where the data are evaluated.
pub(crate) struct RightHandSide<'a> {
    pub equation: &'a Equation,
    pub decomposition: &'a Decomposition,
    pub collocation: &'a Collocation,
}

impl RightHandSide<'_> {
    /// F of subdomain s, one column for each set of data.
    pub fn of(&self, s: usize, rows: &DataRows, data: &[Data]) -> Result<Mat<f64>> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        let inside = self.collocation.interior.len();
        let interior = Sample::new(map, self.collocation.interior.iter().copied());
        let rigidity = match self.equation {
            Equation::Plate { rigidity } => Some(interior.values(rigidity.as_ref(), "equation.plate.rigidity", s)?),
            Equation::SecondOrder { .. } => None,
        };
        let mut f = Mat::zeros(inside + rows.perimeter_scale.len(), data.len());
        for (column, data) in data.iter().enumerate() {
            let out = f.col_as_slice_mut(column);
            let mut source = interior.values(data.source.as_ref(), "equation.source", s)?;
            if let Some(rigidity) = &rigidity {
                source.iter_mut().zip(rigidity).for_each(|(q, d)| *q /= d);
            }
            out.iter_mut().zip(source).zip(&rows.interior_scale).for_each(|((o, f), scale)| *o = scale * f);
            self.boundary_values(rows, data, s, &mut out[inside..])?;
        }
        Ok(f)
    }

    /// The boundary values in the perimeter rows of subdomain s.
    fn boundary_values(&self, rows: &DataRows, data: &Data, s: usize, out: &mut [f64]) -> Result<()> {
        let map = self.decomposition.subdomains[s].map.as_ref();
        let perimeter = &self.collocation.perimeter;
        let mut wanted: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (row, kind) in rows.perimeter_kind.iter().enumerate() {
            if let PerimeterRow::Condition { part, index } = *kind {
                wanted.entry((part, index)).or_default().push(row);
            }
        }
        for ((part, index), at) in wanted {
            let sample = Sample::new(map, at.iter().map(|&row| perimeter[row % perimeter.len()].xi));
            let key = part_name(self.decomposition, part);
            let values = sample.values(data.boundary[part][index].as_ref(), &key, s)?;
            for (&row, value) in at.iter().zip(values) {
                out[row] = rows.perimeter_scale[row] * value;
            }
        }
        Ok(())
    }
}
