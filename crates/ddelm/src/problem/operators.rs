//! An equation as data: its operator inside, and the transmission pairs across an interface, as [symbols](Symbol) in x and y.
//!
//! ```text
//!                      inside                                    pair 1            pair 2
//! second order         -a : D^2 u - (div a - b) . grad u + c u   u, n . a grad u
//! plate                Laplacian^2 u                             u, du/dn          Laplacian u, d(Laplacian u)/dn
//! ```
//!
//! A pair is a trace, which both sides of an interface share, and a flux, which balances. Boundary conditions are made of the
//! same: a trace, or a flux with a multiple of u. This is all that the method knows about equations.

use crate::algebra::symbol::Symbol;
use crate::base::error::{Error, Result};
use crate::problem::ellipticity;
use crate::problem::field::{FieldRef, Jets, State};
use crate::problem::model::{Condition, ConditionKind, Diffusion, Equation};

/// Points at which an equation takes its coefficients.
pub trait Coefficients {
    /// Where they are: all x, and all y.
    fn points(&self) -> (&[f64], &[f64]);

    /// The subdomain, for messages.
    fn subdomain(&self) -> usize;

    /// The values of a coefficient, as the subdomain sees it.
    fn values(&self, field: &FieldRef, key: &str) -> Result<Vec<f64>>;

    /// The gradients of a coefficient, as the subdomain sees it.
    fn gradients(&self, field: &FieldRef, key: &str) -> Result<[Vec<f64>; 2]>;

    /// The values of what is given on the boundary, exactly where the points are.
    fn boundary_values(&self, field: &FieldRef, key: &str) -> Result<Vec<f64>>;

    /// The iterate about which a nonlinear problem is [linearised](crate::problem::linearize), if there is one.
    fn state(&self) -> Option<State<'_>>;

    /// uxx, uxy and uyy of that iterate.
    fn second_derivatives(&self) -> Option<[Vec<f64>; 3]>;

    /// A coefficient at the state, with its derivatives in (x, y, u, ux, uy); of those that need no u, second derivatives are
    /// left out.
    fn jets(&self, field: &FieldRef, key: &str) -> Result<Jets>;
}

/// What a condition says on the boundary.
#[derive(Clone, Copy)]
pub enum BoundaryRow<'a> {
    /// The trace of a transmission pair has a given value.
    Trace(usize),
    /// The flux of the first pair, with this times u, has a given value.
    Flux(Option<&'a FieldRef>),
}

const DIFFUSION: &str = "equation.diffusion";

impl Equation {
    /// The order of the operator.
    pub fn order(&self) -> usize {
        2 * self.pairs()
    }

    /// Whether subdomains must be affine images of their shapes: derivatives of order four of a map are not known.
    pub fn needs_affine_maps(&self) -> bool {
        self.order() > 2
    }

    /// Transmission pairs (trace, flux) across an interface: 1 for second order, 2 for the plate.
    pub fn pairs(&self) -> usize {
        match self {
            Equation::SecondOrder { .. } => 1,
            Equation::Plate { .. } => 2,
        }
    }

    /// The sign of the last flux in the balance of a subdomain: `-int flux = int f` for second order, `int flux = int f` for
    /// the plate.
    pub fn flux_sign(&self) -> f64 {
        match self {
            Equation::SecondOrder { .. } => -1.0,
            Equation::Plate { .. } => 1.0,
        }
    }

    /// The trace of a transmission pair.
    pub fn trace(&self, pair: usize) -> Symbol {
        if pair == 0 { Symbol::TRACE } else { Symbol::LAPLACIAN }
    }

    /// The operator L at points.
    pub fn interior(&self, at: &dyn Coefficients) -> Result<Vec<Symbol>> {
        match self {
            Equation::Plate { .. } => Ok(vec![Symbol::LAPLACIAN.times(Symbol::LAPLACIAN); at.points().0.len()]),
            Equation::SecondOrder { diffusion, .. } => {
                let a = diffusion.tensor(at)?;
                let div = divergence(diffusion, at)?;
                let lower = self.lower_order(at)?;
                // -div(a grad u) = -sum a_ij u_ij - (div a) . grad u
                let symbol = |i: usize| {
                    let leading = Symbol::hessian([[-a[0][i], -a[1][i]], [-a[2][i], -a[3][i]]])
                        .plus(Symbol::gradient([-div[0][i], -div[1][i]]));
                    lower.as_ref().map_or(leading, |lower| leading.plus(lower[i]))
                };
                Ok((0..a[0].len()).map(symbol).collect())
            }
        }
    }

    /// The terms of lower order, `b . grad u + c u`, if there are any.
    pub fn lower_order(&self, at: &dyn Coefficients) -> Result<Option<Vec<Symbol>>> {
        let Equation::SecondOrder { advection, reaction, .. } = self else { return Ok(None) };
        if advection.is_none() && reaction.is_none() {
            return Ok(None);
        }
        let mut out = vec![Symbol::ZERO; at.points().0.len()];
        if let Some([b0, b1]) = advection {
            let b = [at.values(b0, "equation.advection")?, at.values(b1, "equation.advection")?];
            out.iter_mut().enumerate().for_each(|(i, s)| *s = s.plus(Symbol::gradient([b[0][i], b[1][i]])));
        }
        if let Some(c) = reaction {
            let c = at.values(c, "equation.reaction")?;
            out.iter_mut().zip(c).for_each(|(s, c)| *s = s.plus(Symbol::TRACE.scaled(c)));
        }
        Ok(Some(out))
    }

    /// The flux of a transmission pair at points with outward unit normals.
    pub fn flux(&self, pair: usize, at: &dyn Coefficients, normals: &[[f64; 2]]) -> Result<Vec<Symbol>> {
        match self {
            Equation::SecondOrder { diffusion, .. } => {
                let a = diffusion.tensor(at)?;
                // n . (a grad u) = (a' n) . grad u
                let conormal = |(i, n): (usize, &[f64; 2])| {
                    Symbol::gradient([a[0][i] * n[0] + a[2][i] * n[1], a[1][i] * n[0] + a[3][i] * n[1]])
                };
                Ok(normals.iter().enumerate().map(conormal).collect())
            }
            Equation::Plate { .. } => {
                Ok(normals.iter().map(|&n| Symbol::gradient(n).times(self.trace(pair))).collect())
            }
        }
    }

    /// The vector whose normal component is the last flux, at points: its two components as operators.
    pub fn flux_vector(&self, at: &dyn Coefficients) -> Result<[Vec<Symbol>; 2]> {
        let directions = [[1.0, 0.0], [0.0, 1.0]];
        let [x, y] = directions.map(|n| self.flux(self.pairs() - 1, at, &vec![n; at.points().0.len()]));
        Ok([x?, y?])
    }

    /// What a load is divided by before it is the right-hand side of [`interior`](Equation::interior), if by anything.
    pub fn load_unit(&self, at: &dyn Coefficients) -> Result<Option<Vec<f64>>> {
        match self {
            Equation::SecondOrder { .. } => Ok(None),
            Equation::Plate { rigidity } => at.values(rigidity, "equation.plate.rigidity").map(Some),
        }
    }

    /// The mean size of the coefficient of the flux at points.
    pub fn coefficient(&self, at: &dyn Coefficients) -> Result<f64> {
        match self {
            Equation::Plate { .. } => Ok(1.0),
            Equation::SecondOrder { diffusion, .. } => {
                let [a, _, _, d] = diffusion.tensor(at)?;
                Ok(a.iter().zip(&d).map(|(a, d)| 0.5 * (a.abs() + d.abs())).sum::<f64>() / a.len() as f64)
            }
        }
    }

    /// The units of trace and flux of a pair on an edge between subdomains of extent h with the given coefficient.
    pub fn units(&self, pair: usize, h: f64, coefficient: f64) -> [f64; 2] {
        let trace = h.powi(2 * pair as i32);
        [trace, h * trace / if coefficient > 0.0 { coefficient } else { 1.0 }]
    }

    /// The size of an operator in reference coordinates by its leading part, or by its lower order parts where those are far
    /// larger. A positive reaction counts in full: with the mass term of a small step in time, rows by the leading part alone
    /// let noise grow from step to step.
    pub fn size(&self, symbol: &Symbol) -> f64 {
        let c = symbol.0.map(f64::abs);
        match self {
            Equation::Plate { .. } => 0.5 * (c[10] + c[14]),
            Equation::SecondOrder { .. } => {
                let leading = 0.5 * (c[3] + c[5]);
                let reaction = if symbol.0[0] > 0.0 { leading.hypot(c[0]) } else { 0.01 * c[0] };
                leading.max(0.05 * (c[1] + c[2])).max(reaction)
            }
        }
    }

    /// The derivatives of [`Equation::size`] in the coefficients of the operator.
    pub fn size_slopes(&self, symbol: &Symbol) -> Symbol {
        let c = &symbol.0;
        let mut out = Symbol::ZERO;
        if let Equation::SecondOrder { .. } = self {
            let leading = 0.5 * (c[3].abs() + c[5].abs());
            let [first, reaction] =
                [0.05 * (c[1].abs() + c[2].abs()), if c[0] > 0.0 { leading.hypot(c[0]) } else { 0.01 * c[0].abs() }];
            // Of the terms that size is the largest of, the one that it is.
            if first > leading && first > reaction {
                (out.0[1], out.0[2]) = (0.05 * c[1].signum(), 0.05 * c[2].signum());
            } else if c[0] > 0.0 {
                out.0[0] = c[0] / reaction;
                (out.0[3], out.0[5]) =
                    (0.5 * c[3].signum() * leading / reaction, 0.5 * c[5].signum() * leading / reaction);
            } else if reaction > leading {
                out.0[0] = 0.01 * c[0].signum();
            } else {
                (out.0[3], out.0[5]) = (0.5 * c[3].signum(), 0.5 * c[5].signum());
            }
        }
        out
    }

    /// All coefficients with their keys.
    pub fn fields(&self) -> Vec<(&'static str, &FieldRef)> {
        match self {
            Equation::SecondOrder { diffusion, advection, reaction } => {
                let mut fields: Vec<_> = diffusion.entries().into_iter().map(|a| (DIFFUSION, a)).collect();
                fields.extend(advection.iter().flatten().map(|b| ("equation.advection", b)));
                fields.extend(reaction.iter().map(|c| ("equation.reaction", c)));
                fields
            }
            Equation::Plate { rigidity } => vec![("equation.plate.rigidity", rigidity)],
        }
    }

    /// The key of the right-hand side in a problem file.
    pub fn source_key(&self) -> &'static str {
        match self {
            Equation::SecondOrder { .. } => "equation.source",
            Equation::Plate { .. } => "equation.plate.load",
        }
    }

    /// Whether every coefficient is the same everywhere, so that congruent subdomains have the same rows.
    pub fn has_constant_coefficients(&self) -> bool {
        self.fields().iter().all(|(_, field)| field.constant().is_some())
    }
}

impl Diffusion {
    /// The fields that it consists of: one, or four by rows.
    pub fn entries(&self) -> Vec<&FieldRef> {
        match self {
            Diffusion::Scalar(a) => vec![a],
            Diffusion::Tensor(a) => a.iter().flatten().collect(),
        }
    }

    /// The tensor at points, by rows: a11, a12, a21, a22. Refuses one that is not positive definite.
    pub fn tensor(&self, at: &dyn Coefficients) -> Result<[Vec<f64>; 4]> {
        let value = |f: &FieldRef| at.values(f, DIFFUSION);
        let tensor = match self {
            Diffusion::Scalar(a) => {
                let a = value(a)?;
                let zero = vec![0.0; a.len()];
                [a.clone(), zero.clone(), zero, a]
            }
            Diffusion::Tensor([[a, b], [c, d]]) => [value(a)?, value(b)?, value(c)?, value(d)?],
        };
        let entries = |i: usize| tensor.each_ref().map(|entry| entry[i]);
        // Where the points are is asked for messages only: it takes time to map them.
        let fault = |i: usize| {
            let (x, y) = at.points();
            ellipticity::fault(self, entries(i), [x[i], y[i]], Some(at.subdomain()))
        };
        let suspect = |&i: &usize| ellipticity::least_eigenvalue(entries(i)) <= 0.0;
        match (0..tensor[0].len()).filter(suspect).find_map(fault) {
            None => Ok(tensor),
            Some(error) => Err(error),
        }
    }
}

/// The row vector `div a` at many points: `(d_x a11 + d_y a21, d_x a12 + d_y a22)`.
fn divergence(diffusion: &Diffusion, at: &dyn Coefficients) -> Result<[Vec<f64>; 2]> {
    let gradient = |f: &FieldRef| at.gradients(f, DIFFUSION);
    match diffusion {
        Diffusion::Scalar(a) => gradient(a),
        Diffusion::Tensor([[a, b], [c, d]]) => {
            let [mut first, _] = gradient(a)?;
            let [mut second, _] = gradient(b)?;
            let ([_, c], [_, d]) = (gradient(c)?, gradient(d)?);
            first.iter_mut().zip(c).for_each(|(v, w)| *v += w);
            second.iter_mut().zip(d).for_each(|(v, w)| *v += w);
            Ok([first, second])
        }
    }
}

impl Condition {
    /// What value `index` of the condition says.
    pub fn row(&self, index: usize) -> BoundaryRow<'_> {
        match (&self.kind, index) {
            (ConditionKind::Dirichlet, _) => BoundaryRow::Trace(0),
            (ConditionKind::SimplySupported, _) => BoundaryRow::Trace(index),
            (ConditionKind::Clamped, 0) => BoundaryRow::Trace(0),
            (ConditionKind::Clamped | ConditionKind::Neumann, _) => BoundaryRow::Flux(None),
            (ConditionKind::Robin { coefficient }, _) => BoundaryRow::Flux(Some(coefficient)),
        }
    }

    /// What it says, value by value.
    pub fn rows(&self) -> impl Iterator<Item = BoundaryRow<'_>> {
        (0..self.pairs()).map(|index| self.row(index))
    }

    /// Transmission pairs of the equations that it is for.
    pub fn pairs(&self) -> usize {
        match self.kind {
            ConditionKind::SimplySupported | ConditionKind::Clamped => 2,
            ConditionKind::Dirichlet | ConditionKind::Neumann | ConditionKind::Robin { .. } => 1,
        }
    }

    /// Whether the condition gives u itself.
    pub fn is_essential(&self) -> bool {
        matches!(self.row(0), BoundaryRow::Trace(0))
    }

    /// What u is multiplied by beside the flux, if by anything: k of a Robin condition.
    pub fn multiple(&self) -> Option<&FieldRef> {
        match self.row(0) {
            BoundaryRow::Flux(multiple) => multiple,
            BoundaryRow::Trace(_) => None,
        }
    }
}

/// The error for an equation that vanishes at a point.
pub fn vanishing([x, y]: [f64; 2], subdomain: usize) -> Error {
    Error::Input {
        key: DIFFUSION.into(),
        value: "0".into(),
        problem: format!("the equation vanishes at x = {x}, y = {y} (subdomain {subdomain})"),
        hint: "the diffusion must be positive in the whole domain".into(),
    }
}
