//! The derivative of a problem at a state: what Newton's method solves with.
//!
//! Where coefficients, source or conditions depend on u and its gradient p, the equation says N(u) = 0 with
//!
//! ```text
//! N(u) = -div F + r,    F = a(x, y, u, p) p,    r = b . p + c u - f,
//! div F = F1_x + F1_u u_x + F1_p1 u_xx + F1_p2 u_xy  +  F2_y + F2_u u_y + F2_p1 u_xy + F2_p2 u_yy,
//! ```
//!
//! and its derivative is the linear operator with the coefficients dN/d(u, ux, uy, uxx, uxy, uyy): a [`Symbol`] at every point, exact,
//! from the [`Jets`] of the coefficients. The same goes for the flux F . n, for the terms of lower order r, and for conditions
//! `F . n + k u - g`. Of a linear problem these are the symbols of its [equation](crate::problem::operators), at any state.

use crate::algebra::symbol::Symbol;
use crate::base::error::{Error, Result};
use crate::problem::ellipticity;
use crate::problem::field::{Dependence, FieldRef, State};
use crate::problem::jets::{Jets, U, UX, UY, VARIABLES, X, Y, pair};
use crate::problem::model::{Condition, Diffusion, Equation, Problem};
use crate::problem::operators::{BoundaryRow, Coefficients};

const DIFFUSION: &str = "equation.diffusion";

/// N(u) at points, in two parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Residual {
    /// `-div F`
    pub leading: Vec<f64>,
    /// `r = b . grad u + c u - f`
    pub lower: Vec<f64>,
}

impl Problem {
    /// What its fields depend on, all of them together.
    pub fn depends_on(&self) -> Dependence {
        let of_equation = self.equation.fields().into_iter().map(|(_, field)| field);
        let of_conditions = self.conditions.iter().flat_map(|c| c.values.iter().chain(c.multiple()));
        let all = of_equation.chain([&self.source]).chain(of_conditions);
        all.map(|field| field.depends_on()).fold(Dependence::default(), Dependence::or)
    }

    /// Whether anything in it depends on the solution.
    pub fn is_nonlinear(&self) -> bool {
        self.depends_on().state
    }

    /// N(u) at points that have a state.
    ///
    /// # Panics
    /// If the points have no state, or for a plate.
    pub fn residual(&self, at: &dyn Coefficients) -> Result<Residual> {
        let (state, equation) = (state_of(at), SecondOrder::of(self));
        let [f1, f2] = equation.flux(at, state)?;
        let [uxx, uxy, uyy] = second_derivatives(at);
        let leading = |i: usize| {
            let along = f1.first[X][i] + f1.first[U][i] * state.ux[i];
            let across = f2.first[Y][i] + f2.first[U][i] * state.uy[i];
            let mixed = f1.first[UY][i] + f2.first[UX][i];
            -(along + across + f1.first[UX][i] * uxx[i] + mixed * uxy[i] + f2.first[UY][i] * uyy[i])
        };
        Ok(Residual { leading: (0..uxx.len()).map(leading).collect(), lower: equation.lower(at, state)?.value })
    }

    /// The terms of lower order `r = b . grad u + c u - f` at points that have a state.
    pub fn lower_terms(&self, at: &dyn Coefficients) -> Result<Vec<f64>> {
        Ok(SecondOrder::of(self).lower(at, state_of(at))?.value)
    }

    /// The flux `a grad u` at points that have a state.
    pub fn flux_at(&self, at: &dyn Coefficients) -> Result<[Vec<f64>; 2]> {
        let state = state_of(at);
        let a = SecondOrder::of(self).diffusion.tensor(at)?;
        let row = |i: usize| {
            let terms = a[2 * i].iter().zip(&a[2 * i + 1]).zip(state.ux.iter().zip(state.uy));
            terms.map(|((a, b), (ux, uy))| a * ux + b * uy).collect()
        };
        Ok([row(0), row(1)])
    }

    /// By how much a condition does not hold at points that have a state and these outward unit normals: `u - g`, or
    /// `n . a grad u + k u - g`. The key is for messages.
    pub fn condition_residual(
        &self,
        condition: &Condition,
        key: &str,
        at: &dyn Coefficients,
        normals: &[[f64; 2]],
    ) -> Result<Vec<f64>> {
        let (state, g) = (state_of(at), at.boundary_values(&condition.values[0], key)?);
        let coefficient = match condition.row(0) {
            BoundaryRow::Trace(_) => return Ok(state.u.iter().zip(g).map(|(u, g)| u - g).collect()),
            BoundaryRow::Flux(coefficient) => coefficient,
        };
        let [fx, fy] = self.flux_at(at)?;
        let k = coefficient.map_or_else(|| Ok(vec![0.0; g.len()]), |k| at.boundary_values(k, key))?;
        let row = |i: usize| normals[i][0] * fx[i] + normals[i][1] * fy[i] + k[i] * state.u[i] - g[i];
        Ok((0..g.len()).map(row).collect())
    }

    /// The operator L at points, or its derivative at their state.
    pub fn interior(&self, at: &dyn Coefficients) -> Result<Vec<Symbol>> {
        let Some(state) = at.state() else { return self.equation.interior(at) };
        let equation = SecondOrder::of(self);
        let [f1, f2] = equation.flux(at, state)?;
        let lower = equation.lower(at, state)?;
        let [uxx, uxy, uyy] = second_derivatives(at);
        let symbol = |i: usize| {
            // d/dv of div F, where v is u or a part of its gradient that the derivatives in the formula of div F are held fixed for.
            let divergence = |v: usize| {
                let f1 = |w: usize| f1.second(v, w)[i];
                let f2 = |w: usize| f2.second(v, w)[i];
                f1(X)
                    + f1(U) * state.ux[i]
                    + f1(UX) * uxx[i]
                    + f1(UY) * uxy[i]
                    + f2(Y)
                    + f2(U) * state.uy[i]
                    + f2(UX) * uxy[i]
                    + f2(UY) * uyy[i]
            };
            let gradient = [
                lower.first[UX][i] - divergence(UX) - f1.first[U][i],
                lower.first[UY][i] - divergence(UY) - f2.first[U][i],
            ];
            Symbol::TRACE
                .scaled(lower.first[U][i] - divergence(U))
                .plus(Symbol::gradient(gradient))
                .plus(leading([&f1, &f2], i))
        };
        Ok((0..uxx.len()).map(symbol).collect())
    }

    /// The terms of lower order, `b . grad u + c u`, or the derivative of them and of the source at the state; nothing where
    /// there are none.
    pub fn lower_order(&self, at: &dyn Coefficients) -> Result<Option<Vec<Symbol>>> {
        let Some(state) = at.state() else { return self.equation.lower_order(at) };
        let lower = SecondOrder::of(self).lower(at, state)?;
        Ok(Some((0..lower.value.len()).map(|i| derivative(&lower, i)).collect()))
    }

    /// The flux of a transmission pair at points with outward unit normals, or its derivative at the state.
    pub fn flux(&self, pair: usize, at: &dyn Coefficients, normals: &[[f64; 2]]) -> Result<Vec<Symbol>> {
        let Some(state) = at.state() else { return self.equation.flux(pair, at, normals) };
        let [f1, f2] = SecondOrder::of(self).flux(at, state)?;
        let symbol = |(i, n): (usize, &[f64; 2])| derivative(&f1, i).scaled(n[0]).plus(derivative(&f2, i).scaled(n[1]));
        Ok(normals.iter().enumerate().map(symbol).collect())
    }

    /// The mean size of the coefficient of the flux at points, or of its derivative at the state.
    pub fn coefficient(&self, at: &dyn Coefficients) -> Result<f64> {
        let Some(state) = at.state() else { return self.equation.coefficient(at) };
        let [f1, f2] = SecondOrder::of(self).flux(at, state)?;
        let sizes = f1.first[UX].iter().zip(&f2.first[UY]).map(|(a, d)| 0.5 * (a.abs() + d.abs()));
        Ok(sizes.sum::<f64>() / f1.value.len() as f64)
    }

    /// What a condition on the flux has beside the flux, `k u`, or the derivative of `k u - g` at the state. The key is for
    /// messages.
    pub fn condition_terms(&self, condition: &Condition, key: &str, at: &dyn Coefficients) -> Result<Vec<Symbol>> {
        let count = at.points().0.len();
        let multiple = condition.multiple();
        let Some(state) = at.state() else {
            let Some(k) = multiple else { return Ok(vec![Symbol::ZERO; count]) };
            return Ok(at.boundary_values(k, key)?.into_iter().map(|k| Symbol::TRACE.scaled(k)).collect());
        };
        let mut terms = Jets::new(count);
        if let Some(k) = multiple {
            let k = match k.depends_on().state {
                true => at.jets(k, key)?,
                false => Jets { value: at.boundary_values(k, key)?, ..Jets::new(count) },
            };
            add_product(&mut terms, &k, U, state.u);
        }
        let g = &condition.values[0];
        if g.depends_on().state {
            subtract(&mut terms, &at.jets(g, key)?);
        }
        Ok((0..count).map(|i| derivative(&terms, i)).collect())
    }
}

/// The state of points that have one.
fn state_of(at: &dyn Coefficients) -> State<'_> {
    at.state().expect("a nonlinear problem is asked at points with a state")
}

fn second_derivatives(at: &dyn Coefficients) -> [Vec<f64>; 3] {
    at.second_derivatives().expect("a nonlinear problem is asked at points with a state")
}

/// A nonlinear equation of second order with its source.
struct SecondOrder<'a> {
    diffusion: &'a Diffusion,
    advection: &'a Option<[FieldRef; 2]>,
    reaction: &'a Option<FieldRef>,
    source: &'a FieldRef,
}

impl<'a> SecondOrder<'a> {
    fn of(problem: &'a Problem) -> Self {
        match &problem.equation {
            Equation::SecondOrder { diffusion, advection, reaction } => {
                SecondOrder { diffusion, advection, reaction, source: &problem.source }
            }
            Equation::Plate { .. } => unreachable!("a plate is linear, which is checked before it is solved"),
        }
    }

    /// The components of the flux with their derivatives.
    fn flux(&self, at: &dyn Coefficients, state: State<'_>) -> Result<[Jets; 2]> {
        let count = state.u.len();
        let mut flux = [Jets::new(count), Jets::new(count)];
        let jets = |field: &FieldRef| at.jets(field, DIFFUSION);
        match self.diffusion {
            Diffusion::Scalar(a) => {
                let a = jets(a)?;
                let zero = vec![0.0; count];
                self.check_ellipticity(at, [&a.value, &zero, &zero, &a.value])?;
                add_product(&mut flux[0], &a, UX, state.ux);
                add_product(&mut flux[1], &a, UY, state.uy);
            }
            Diffusion::Tensor([[a, b], [c, d]]) => {
                let [a, b, c, d] = [jets(a)?, jets(b)?, jets(c)?, jets(d)?];
                self.check_ellipticity(at, [&a.value, &b.value, &c.value, &d.value])?;
                for (out, row) in flux.iter_mut().zip([[a, b], [c, d]]) {
                    add_product(out, &row[0], UX, state.ux);
                    add_product(out, &row[1], UY, state.uy);
                }
            }
        }
        Ok(flux)
    }

    fn check_ellipticity(&self, at: &dyn Coefficients, tensor: [&[f64]; 4]) -> Result<()> {
        let (x, y) = at.points();
        let fault = |i: usize| {
            ellipticity::fault(self.diffusion, tensor.map(|entry| entry[i]), [x[i], y[i]], Some(at.subdomain()))
        };
        (0..x.len()).find_map(fault).map_or(Ok(()), Err)
    }

    /// The terms of lower order with their derivatives in u and its gradient.
    fn lower(&self, at: &dyn Coefficients, state: State<'_>) -> Result<Jets> {
        let mut terms = Jets::new(state.u.len());
        if let Some([b0, b1]) = self.advection {
            add_product(&mut terms, &at_fixed_place(at, b0, "equation.advection")?, UX, state.ux);
            add_product(&mut terms, &at_fixed_place(at, b1, "equation.advection")?, UY, state.uy);
        }
        if let Some(c) = self.reaction {
            add_product(&mut terms, &at_fixed_place(at, c, "equation.reaction")?, U, state.u);
        }
        subtract(&mut terms, &at_fixed_place(at, self.source, "equation.source")?);
        Ok(terms)
    }
}

/// A field with its derivatives in u and its gradient; those in x and y are not needed, and left out where they would cost
/// something.
fn at_fixed_place(at: &dyn Coefficients, field: &FieldRef, key: &str) -> Result<Jets> {
    if field.depends_on().state {
        return at.jets(field, key);
    }
    let value = at.values(field, key)?;
    Ok(Jets { value, ..Jets::new(at.points().0.len()) })
}

/// Adds `a v` to a function, where v is one of its variables, with all derivatives.
fn add_product(out: &mut Jets, a: &Jets, variable: usize, v: &[f64]) {
    let add = |out: &mut [f64], a: &[f64]| out.iter_mut().zip(a).zip(v).for_each(|((o, a), v)| *o += a * v);
    let plain = |out: &mut [f64], a: &[f64]| out.iter_mut().zip(a).for_each(|(o, a)| *o += a);
    add(&mut out.value, &a.value);
    for i in 0..VARIABLES {
        add(&mut out.first[i], &a.first[i]);
        for j in i..VARIABLES {
            add(&mut out.second[pair(i, j)], &a.second[pair(i, j)]);
        }
    }
    // (a v)_v = a + a_v v, (a v)_iv = a_i + a_iv v, and (a v)_vv has the first twice.
    plain(&mut out.first[variable], &a.value);
    for i in 0..VARIABLES {
        plain(&mut out.second[pair(i, variable)], &a.first[i]);
    }
    plain(&mut out.second[pair(variable, variable)], &a.first[variable]);
}

/// Subtracts a function, with its first derivatives.
fn subtract(out: &mut Jets, f: &Jets) {
    let minus = |out: &mut [f64], f: &[f64]| out.iter_mut().zip(f).for_each(|(o, f)| *o -= f);
    minus(&mut out.value, &f.value);
    out.first.iter_mut().zip(&f.first).for_each(|(out, f)| minus(out, f));
}

/// The derivative of a function of u and its gradient, as an operator at a point.
fn derivative(f: &Jets, i: usize) -> Symbol {
    Symbol::TRACE.scaled(f.first[U][i]).plus(Symbol::gradient([f.first[UX][i], f.first[UY][i]]))
}

/// The derivative of `-div F` in the second derivatives of u.
fn leading([f1, f2]: [&Jets; 2], i: usize) -> Symbol {
    let entry = |f: &Jets, v: usize| -f.first[v][i];
    Symbol::hessian([[entry(f1, UX), entry(f1, UY)], [entry(f2, UX), entry(f2, UY)]])
}

/// The error for a field whose derivatives in u are not known.
pub fn without_derivatives(key: &str, field: &FieldRef) -> Error {
    Error::input(
        key,
        field.describe(),
        "its derivatives in u, ux and uy are not known, and Newton's method needs them",
        "give a formula",
    )
}

#[cfg(test)]
#[path = "linearize_tests.rs"]
mod tests;
