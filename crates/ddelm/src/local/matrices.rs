//! The matrices of one subdomain.
//!
//! K has the equation at interior nodes over conditions and traces on the perimeter, and the flux balance; A has the outward
//! fluxes; E has the interface values in the trace rows (-B of the paper).

use faer::{Mat, MatMut};

use crate::algebra::factor::Scratch;
use crate::domain::collocation::{Collocation, Integration};
use crate::domain::map::Point;
use crate::local::basis::{ReferenceBasis, Zone};
use crate::local::operator::Weighting;
use crate::local::rows::{Balance, LocalRows};
use crate::method::settings::Truncation;
use crate::network::assembly::{Points, assemble, assembled};
use crate::network::features::FeatureNetwork;
use crate::network::symbol::Symbols;

/// What the unknowns of a local problem are.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    /// Coefficients in the shared reference basis.
    Basis(&'a ReferenceBasis),
    /// Coefficients of the features themselves, of which the inverse keeps what is numerically independent.
    Features {
        /// The hidden layer.
        network: &'a FeatureNetwork,
        /// How the inverse is truncated.
        truncation: Truncation,
        /// Directions smaller than this times the norm of K are dropped.
        cut: f64,
        /// Whether the rank is kept safely below the number of rows.
        guarded: bool,
        /// Whether the coefficients are the shortest there are, which conjugate gradients need.
        shortest: bool,
    },
}

/// What the matrices of a subdomain are made of.
#[derive(Clone, Copy)]
pub struct LocalProblem<'a> {
    /// What they act on.
    pub columns: Columns<'a>,
    /// The nodes.
    pub collocation: &'a Collocation,
    /// The rows.
    pub rows: &'a LocalRows,
    /// The weighting of the rows.
    pub weighting: Weighting,
    /// The perimeter rows that hold interface values.
    pub trace_rows: &'a [usize],
    /// The flux rows that are needed.
    pub flux_rows: &'a [usize],
}

impl LocalProblem<'_> {
    /// K and A. The flux balance, if there is one, is the last row of both.
    pub(crate) fn matrices(&self) -> (Scratch, Scratch) {
        let rows = self.rows;
        let flux: Symbols = rows.flux.select(self.flux_rows);
        let (inside, around) = (rows.interior.len(), rows.perimeter.len());
        let balances = usize::from(rows.balance.is_some());
        let width = match self.columns {
            Columns::Basis(basis) => basis.rank,
            Columns::Features { network, .. } => network.columns(),
        };
        let empty = |rows: usize| match self.columns {
            Columns::Basis(_) => Scratch::new(rows, width),
            Columns::Features { .. } => Mat::zeros(rows, width).into(),
        };
        let (mut k, mut a) = (empty(inside + around + balances), empty(flux.len() + balances));
        let mut balance = vec![0.0; width];
        {
            let (top, rest) = k.as_mut().split_at_row_mut(inside);
            let blocks = [top, rest.subrows_mut(0, around), a.as_mut().subrows_mut(0, flux.len())];
            match self.columns {
                Columns::Basis(basis) => self.in_basis(basis, &flux, blocks, &mut balance),
                Columns::Features { network, .. } => self.of_features(network, &flux, blocks, &mut balance),
            }
        }
        if balances > 0 {
            for (j, &sum) in balance.iter().enumerate() {
                (k[(inside + around, j)], a[(flux.len(), j)]) = (sum, sum);
            }
        }
        (k, a)
    }

    /// The perimeter node of a perimeter row.
    fn around_node(&self, row: usize) -> usize {
        self.rows.layout.nodes[row % self.rows.layout.nodes.len()]
    }

    /// The perimeter node of one of the flux rows that are needed.
    fn flux_node(&self, k: usize) -> usize {
        let layout = &self.rows.layout;
        layout.nodes[layout.fluxes[self.flux_rows[k] % layout.fluxes.len()]]
    }

    /// Interior rows, perimeter rows, fluxes and the flux balance by the tables of a basis.
    fn in_basis(&self, basis: &ReferenceBasis, flux: &Symbols, out: [MatMut<'_, f64>; 3], balance: &mut [f64]) {
        let (rows, [top, bottom, fluxes]) = (self.rows, out);
        basis.assemble(Zone::Interior, &rows.interior, |i| i, top);
        basis.assemble(Zone::Perimeter, &rows.perimeter, |i| self.around_node(i), bottom);
        basis.assemble(Zone::Perimeter, flux, |i| self.flux_node(i), fluxes);
        if let Some(Balance { around, inside, .. }) = &rows.balance {
            basis.add_sums(Zone::Around, around, balance);
            basis.add_sums(Zone::Inside, inside, balance);
        }
    }

    /// The same of the features of a network.
    fn of_features(&self, network: &FeatureNetwork, flux: &Symbols, out: [MatMut<'_, f64>; 3], balance: &mut [f64]) {
        let (rows, collocation, [top, bottom, fluxes]) = (self.rows, self.collocation, out);
        let points = |xi: &mut dyn Iterator<Item = Point>| xi.collect::<Points>();
        let perimeter = |node: usize| collocation.perimeter[node].xi;
        let around = points(&mut (0..rows.perimeter.len()).map(|i| perimeter(self.around_node(i))));
        let through = points(&mut (0..flux.len()).map(|i| perimeter(self.flux_node(i))));
        assemble(network, &points(&mut collocation.interior.iter().copied()), &rows.interior, top);
        assemble(network, &around, &rows.perimeter, bottom);
        assemble(network, &through, flux, fluxes);
        if let Some(Balance { around, inside, .. }) = &rows.balance {
            let Integration { around: side_points, inside: inner_points, .. } = &collocation.integration;
            for (xi, rows) in [(side_points, around), (inner_points, inside)] {
                let all = points(&mut xi.iter().copied().take(rows.len()));
                let terms = assembled(network, &[(&all, rows)]);
                balance.iter_mut().zip(terms.col_iter()).for_each(|(sum, c)| *sum += c.sum());
            }
        }
    }

    /// P': what every function of the basis is tested by in the rows of K, if these are not collocated.
    pub(super) fn tests(&self) -> Option<Mat<f64>> {
        let (Some(tests), Columns::Basis(basis)) = (&self.rows.tests, self.columns) else { return None };
        let inside = tests.interior.len();
        let mut out = Mat::zeros(inside + tests.perimeter.len(), basis.rank);
        let (top, bottom) = out.as_mut().split_at_row_mut(inside);
        basis.assemble(Zone::Interior, &tests.interior, |i| i, top);
        basis.assemble(Zone::Perimeter, &tests.perimeter, |i| self.around_node(i), bottom);
        Some(out)
    }

    /// The interface value that a flux takes instead of the trace, of rows that are tested: for every such flux its row, the column of the value, and the
    /// factor. The nodes are those without corners, which have a flux where they have a trace.
    pub(super) fn entering(&self) -> Vec<(usize, usize, f64)> {
        let Some(tests) = &self.rows.tests else { return Vec::new() };
        let column = |row: usize| self.trace_rows.iter().position(|&trace| trace == row);
        let found = |(k, &row): (usize, &usize)| Some((k, column(row)?, tests.entering[row]));
        self.flux_rows.iter().enumerate().filter_map(found).collect()
    }

    /// E: for every trace row its row in K, and the entry there.
    pub(super) fn traces(&self) -> Vec<(usize, f64)> {
        let (per, inside) = (self.rows.layout.nodes.len(), self.rows.interior.len());
        let entry = |&row: &usize| {
            let root = self.collocation.perimeter[self.around_node(row)].root;
            (inside + row, self.weighting.interface(row / per) * root)
        };
        self.trace_rows.iter().map(entry).collect()
    }
}
