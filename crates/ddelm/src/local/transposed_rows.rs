//! From the adjoint of one subdomain to cotangents of the coefficients and data that its rows are made of.
//!
//! With `y = K^+ v`, `v = F + E u` and the residual `r = v - K y`, a change of K, F and A changes a number with the gradient h in
//! y and the multipliers m of the fluxes by
//!
//! ```text
//! dJ = p' (dF - dK y) + r' dK w - m' dA y,     p = K^+' h,   w = (K' K)^-1 h.
//! ```
//!
//! The term with r makes it exact where the solution is not resolved. A row whose multiplier changes, in K and F alike, gives
//! `2 p_i r_i dlog(multiplier)`.

use faer::Mat;

use crate::base::error::Result;
use crate::domain::collocation::Collocation;
use crate::domain::decomposition::Behind;
use crate::domain::map::{Map, Point, magnification, side_speed};
use crate::local::basis::{ReferenceBasis, Zone};
use crate::local::carried::carries;
use crate::local::floor::Floor;
use crate::local::local_factor::product;
use crate::local::operator::{Weighting, flux_symbols, interior_symbols};
use crate::local::places::Scene;
use crate::local::right_hand_side::DataRows;
use crate::local::rows::unit_areas;
use crate::local::sensitivity::Sensitivities;
use crate::network::symbol::{Frame, Symbol};
use crate::problem::model::Diffusion;
use crate::problem::operators::BoundaryRow;

/// Derivatives of the basis at the points of each part, which rows are made of.
pub(crate) struct PartTables {
    interior: Mat<f64>,
    perimeter: Mat<f64>,
    around: Mat<f64>,
    inside: Mat<f64>,
}

impl PartTables {
    /// Of a basis on its nodes.
    pub fn new(basis: &ReferenceBasis, collocation: &Collocation) -> Self {
        let perimeter: Vec<Point> = collocation.perimeter.iter().map(|node| node.xi).collect();
        let first = [0, 1, 2];
        PartTables {
            interior: basis.derivatives_in(Zone::Interior, &collocation.interior, &[0, 1, 2, 3, 4, 5]),
            perimeter: basis.derivatives_in(Zone::Perimeter, &perimeter, &first),
            around: basis.derivatives_in(Zone::Around, &collocation.integration.around, &first),
            inside: basis.derivatives_in(Zone::Inside, &collocation.integration.inside, &first),
        }
    }
}

impl PartTables {
    /// The tables: at interior nodes, at perimeter nodes, on the sides and inside.
    pub fn zones(&self) -> [&Mat<f64>; 4] {
        [&self.interior, &self.perimeter, &self.around, &self.inside]
    }
}

/// The adjoint of one subdomain.
pub(crate) struct LocalAdjoint<'a> {
    pub scene: Scene<'a>,
    pub collocation: &'a Collocation,
    pub weighting: Weighting,
    /// The subdomain.
    pub s: usize,
    pub rows: &'a DataRows,
    pub tables: &'a PartTables,
    /// y and w, side by side.
    pub coefficients: Mat<f64>,
    /// p
    pub p: &'a [f64],
    /// r
    pub r: &'a [f64],
    /// F
    pub f: &'a [f64],
    /// m, for every flux of the subdomain; zero where it meets no other.
    pub m: Vec<f64>,
}

/// Derivatives of y and w at the points of a zone.
struct Both {
    /// The table of one derivative below that of the other.
    values: Mat<f64>,
    count: usize,
}

impl Both {
    /// The k-th derivative of y at point i.
    fn y(&self, k: usize, i: usize) -> f64 {
        self.values[(k * self.count + i, 0)]
    }

    /// The cotangent of the k-th derivative at point i in a row with p and r.
    fn cotangent(&self, k: usize, i: usize, p: f64, r: f64) -> f64 {
        r * self.values[(k * self.count + i, 1)] - p * self.y(k, i)
    }
}

/// A condition on a piece of the boundary.
struct OnPiece {
    part: usize,
    side: usize,
    /// Its first perimeter row, of the first pair.
    start: usize,
    /// Its nodes on the perimeter.
    nodes: Vec<usize>,
    xi: Vec<Point>,
}

impl LocalAdjoint<'_> {
    /// The cotangents of all that the rows are made of.
    pub fn sensitivities(&self) -> Result<Sensitivities> {
        let mut out = Sensitivities::none(self.scene.problem);
        let unit = self.load_unit()?;
        self.add_source(unit.unwrap_or(1.0), &mut out);
        self.add_boundary(&mut out);
        if let (Some(unit), Some(rigidity)) = (unit, out.rigidity.first_mut()) {
            // The load is divided by a number: any point will do.
            let sum: f64 = self.load_rows().map(|i| self.p[i] * self.f[i]).sum();
            rigidity.push((self.s, &self.collocation.interior[..1]), vec![-sum / unit], None);
        }
        if let Some(diffusion) = self.scene.problem.equation.leading() {
            self.add_interior(diffusion, &mut out)?;
            self.add_conditions(diffusion, &mut out)?;
            self.add_fluxes(diffusion, &mut out)?;
            self.add_balance(diffusion, &mut out)?;
        }
        Ok(out)
    }

    /// y and w at the points of a zone, with so many derivatives in its table.
    fn both(&self, table: &Mat<f64>, derivatives: usize) -> Both {
        let count = table.nrows() / derivatives;
        Both { values: product(table.as_ref(), self.coefficients.as_ref()), count }
    }

    fn map(&self) -> &dyn Map {
        self.scene.decomposition.subdomains[self.s].map.as_ref()
    }

    /// The row of the flux balance, with its multiplier.
    fn balance(&self) -> Option<(usize, f64)> {
        self.rows.balance_multiplier.map(|multiplier| (self.p.len() - 1, multiplier))
    }

    /// The rows with the source.
    fn load_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.interior()).chain(self.balance().map(|(row, _)| row))
    }

    /// p times r of the flux balance.
    fn balance_term(&self) -> f64 {
        self.balance().map_or(0.0, |(row, _)| self.p[row] * self.r[row])
    }

    /// What the points of integration inside stand for.
    fn areas(&self) -> Vec<f64> {
        let (map, rule) = (self.map(), &self.collocation.integration);
        rule.inside.iter().zip(&rule.inside_weights).map(|(&xi, w)| w * magnification(map.jacobian(xi))).collect()
    }

    /// What the load is divided by, if by anything. One that varies is refused beforehand: see `Problem::validate`.
    fn load_unit(&self) -> Result<Option<f64>> {
        let places = self.scene.places(self.s, &self.collocation.interior[..1]);
        Ok(self.scene.problem.equation.load_unit(&places)?.map(|unit| unit[0]))
    }

    fn add_source(&self, unit: f64, out: &mut Sensitivities) {
        let interior =
            self.rows.interior_multiplier.iter().zip(self.p).map(|(multiplier, p)| multiplier * p / unit).collect();
        out.source.push((self.s, &self.collocation.interior), interior, None);
        if let Some((row, multiplier)) = self.balance() {
            let inside = self.areas().iter().map(|area| self.p[row] * multiplier * area / unit).collect();
            out.source.push((self.s, &self.collocation.integration.inside), inside, None);
        }
    }

    /// The conditions on the pieces of the boundary.
    fn conditions(&self) -> Vec<OnPiece> {
        let subdomain = &self.scene.decomposition.subdomains[self.s];
        let (layout, per_piece) = (self.collocation.layout(subdomain), self.collocation.side.len());
        let pieces = subdomain.pieces.iter().zip(&layout.pieces);
        let found = pieces.filter_map(|(piece, &start)| {
            let Behind::Boundary(part) = piece.behind else { return None };
            let nodes = layout.nodes[start..start + per_piece].to_vec();
            let xi = nodes.iter().map(|&node| self.collocation.perimeter[node].xi).collect();
            Some(OnPiece { part, side: piece.side, start, nodes, xi })
        });
        found.collect()
    }

    fn add_boundary(&self, out: &mut Sensitivities) {
        let inside = self.rows.interior();
        for OnPiece { part, start, xi, .. } in self.conditions() {
            for (pair, sensitivity) in out.boundary[part].iter_mut().enumerate() {
                let first = pair * self.rows.nodes.len() + start;
                let cotangent = |row: usize| self.p[inside + row] * self.rows.perimeter_multiplier[row];
                sensitivity.push((self.s, &xi), (first..first + xi.len()).map(cotangent).collect(), None);
            }
        }
    }

    /// The equation at the interior nodes. Its rows, and the flux balance, are divided by its size.
    fn add_interior(&self, diffusion: &Diffusion, out: &mut Sensitivities) -> Result<()> {
        let (xi, map) = (&self.collocation.interior, self.map());
        let symbols = interior_symbols(&self.scene, self.s, xi)?;
        let equation = &self.scene.problem.equation;
        let sizes: Vec<f64> = symbols.iter().map(|symbol| equation.size(symbol)).collect();
        let areas: Vec<f64> = xi.iter().map(|&xi| magnification(map.jacobian(xi))).collect();
        let units = unit_areas(map, self.collocation);
        let floor = self.scene.about.map(|_| Floor::under(&sizes, &units));
        let counted = floor.as_ref().map_or_else(|| sizes.clone(), |floor| floor.sizes(&units));
        let total: f64 = counted.iter().zip(&areas).map(|(size, area)| size * area).sum();
        let balance = self.balance_term();
        let by_counted = |i: usize| -2.0 * (self.p[i] * self.r[i] + balance * counted[i] * areas[i] / total);
        let by_counted: Vec<f64> = (0..sizes.len()).map(by_counted).collect();
        let by_size = floor.as_ref().map_or_else(|| by_counted.clone(), |floor| floor.transposed(&by_counted));
        let both = self.both(&self.tables.interior, 6);
        let cotangent = |(i, frame): (usize, Frame)| {
            let (p, r, multiplier) = (self.p[i], self.r[i], self.rows.interior_multiplier[i]);
            let mut cotangents = Symbol::ZERO;
            for k in 0..6 {
                cotangents.0[k] = multiplier * both.cotangent(k, i, p, r);
            }
            if self.weighting != Weighting::Unit && sizes[i] > 0.0 {
                cotangents = cotangents.plus(equation.size_slopes(&symbols[i]).scaled(by_size[i] / sizes[i]));
            }
            first_six(&frame.pull_back_transposed(&cotangents))
        };
        let cotangents: Vec<[f64; 6]> = Frame::at(map, xi).enumerate().map(cotangent).collect();
        out.add_operator(diffusion, (self.s, xi), &cotangents);
        Ok(())
    }

    /// Conditions on the flux, `n . a grad u + k u`, whose rows are divided by `|a n| + |k|` in reference coordinates, with their
    /// derivative in u for k where they depend on it.
    fn add_conditions(&self, diffusion: &Diffusion, out: &mut Sensitivities) -> Result<()> {
        let Scene { problem, .. } = self.scene;
        let both = self.both(&self.tables.perimeter, 3);
        for OnPiece { part, side, start, nodes, xi } in self.conditions() {
            let BoundaryRow::Flux(coefficient) = problem.conditions[part].row(0) else { continue };
            let places = self.scene.places(self.s, &xi);
            let fluxes = flux_symbols(problem, &places, &places.normals(side), 0)?;
            let terms = problem.condition_terms(&problem.conditions[part], "boundary", &places)?;
            let k: Vec<f64> = terms.iter().map(|term| term.0[0]).collect();
            let cotangent = |(i, frame): (usize, Frame)| {
                let row = self.rows.interior() + start + i;
                let (p, r, multiplier) = (self.p[row], self.r[row], self.rows.perimeter_multiplier[start + i]);
                let mut cotangents = Symbol::ZERO;
                for a in 0..3 {
                    cotangents.0[a] = multiplier * both.cotangent(a, nodes[i], p, r);
                }
                if self.weighting != Weighting::Unit {
                    let [_, f0, f1, ..] = fluxes[i].0;
                    let length = f0.hypot(f1);
                    let by_multiplier = -2.0 * p * r / (length + k[i].abs());
                    let sign = if k[i] == 0.0 { 0.0 } else { k[i].signum() };
                    cotangents.0[0] += by_multiplier * sign;
                    cotangents.0[1] += by_multiplier * f0 / length;
                    cotangents.0[2] += by_multiplier * f1 / length;
                }
                first_six(&frame.pull_back_transposed(&cotangents))
            };
            let cotangents: Vec<[f64; 6]> = Frame::at(self.map(), &xi).enumerate().map(cotangent).collect();
            let along: Vec<[f64; 2]> = cotangents.iter().map(|w| [w[1], w[2]]).collect();
            out.add_flux(diffusion, (self.s, &xi), &places.normals(side), &along);
            if coefficient.is_some() {
                out.robin[part].push((self.s, &xi), cotangents.iter().map(|w| w[0]).collect(), None);
            }
        }
        Ok(())
    }

    /// The fluxes that balance those of the neighbours.
    fn add_fluxes(&self, diffusion: &Diffusion, out: &mut Sensitivities) -> Result<()> {
        let subdomain = &self.scene.decomposition.subdomains[self.s];
        let layout = self.collocation.layout(subdomain);
        let both = self.both(&self.tables.perimeter, 3);
        let ends = layout.flux_starts.iter().copied().skip(1).chain([layout.fluxes.len()]);
        for ((piece, &start), end) in subdomain.pieces.iter().zip(&layout.flux_starts).zip(ends) {
            let m = &self.m[start..end];
            if m.iter().all(|m| *m == 0.0) {
                continue;
            }
            let nodes: Vec<usize> = layout.fluxes[start..end].iter().map(|&place| layout.nodes[place]).collect();
            let xi: Vec<Point> = nodes.iter().map(|&node| self.collocation.perimeter[node].xi).collect();
            let cotangent = |(i, frame): (usize, Frame)| {
                let factor = -m[i] * self.rows.flux_multiplier;
                in_x_and_y(&frame, [1, 2].map(|k| factor * both.y(k, nodes[i])))
            };
            let cotangents: Vec<[f64; 2]> = Frame::at(self.map(), &xi).enumerate().map(cotangent).collect();
            let normals = self.scene.places(self.s, &xi).normals(piece.side);
            out.add_flux(diffusion, (self.s, &xi), &normals, &cotangents);
            if let Behind::Edge { edge, .. } = piece.behind
                && carries(&self.scene, self.collocation, &self.scene.decomposition.edges[edge])?.is_some()
            {
                let cotangent = |(i, n): (usize, &Point)| {
                    let factor = m[i] * self.rows.flux_multiplier * both.y(0, nodes[i]);
                    [0.0, factor * n[0], factor * n[1], 0.0, 0.0, 0.0]
                };
                let cotangents: Vec<[f64; 6]> = normals.iter().enumerate().map(cotangent).collect();
                out.add_lower_order((self.s, &xi), &cotangents);
            }
        }
        Ok(())
    }

    /// The flux balance, but for its multiplier.
    fn add_balance(&self, diffusion: &Diffusion, out: &mut Sensitivities) -> Result<()> {
        let Some((row, multiplier)) = self.balance() else { return Ok(()) };
        let (p, r, rule, map) = (self.p[row], self.r[row], &self.collocation.integration, self.map());
        let sign = self.scene.problem.equation.flux_sign();
        let sides = self.collocation.shape.sides();
        let per_side = rule.around.len() / sides;
        let both = self.both(&self.tables.around, 3);
        for side in 0..sides {
            let first = side * per_side;
            let xi = &rule.around[first..first + per_side];
            let cotangent = |(i, frame): (usize, Frame)| {
                let length = side_speed(map, side, map.jacobian(xi[i]));
                let factor = sign * multiplier * rule.around_weights[first + i] * length;
                in_x_and_y(&frame, [1, 2].map(|k| factor * both.cotangent(k, first + i, p, r)))
            };
            let cotangents: Vec<[f64; 2]> = Frame::at(map, xi).enumerate().map(cotangent).collect();
            out.add_flux(diffusion, (self.s, xi), &self.scene.places(self.s, xi).normals(side), &cotangents);
        }
        if !out.advection.is_empty() || !out.reaction.is_empty() {
            let (xi, areas) = (&rule.inside, self.areas());
            let both = self.both(&self.tables.inside, 3);
            let cotangent = |(i, frame): (usize, Frame)| {
                let mut cotangents = Symbol::ZERO;
                for k in 0..3 {
                    cotangents.0[k] = multiplier * areas[i] * both.cotangent(k, i, p, r);
                }
                first_six(&frame.pull_back_transposed(&cotangents))
            };
            let cotangents: Vec<[f64; 6]> = Frame::at(map, xi).enumerate().map(cotangent).collect();
            out.add_lower_order((self.s, xi), &cotangents);
        }
        Ok(())
    }
}

/// Cotangents of derivatives in reference coordinates as cotangents of those in x and y.
fn in_x_and_y(frame: &Frame, [w0, w1]: [f64; 2]) -> [f64; 2] {
    let i = &frame.inverse;
    [i[0][0] * w0 + i[1][0] * w1, i[0][1] * w0 + i[1][1] * w1]
}

fn first_six(symbol: &Symbol) -> [f64; 6] {
    let mut out = [0.0; 6];
    out.copy_from_slice(&symbol.0[..6]);
    out
}
