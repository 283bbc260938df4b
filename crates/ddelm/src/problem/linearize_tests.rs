use std::sync::Arc;

use super::*;
use crate::problem::expression::{Formula, Names, Variables};
use crate::problem::field::{Samples, constant};

/// A polynomial state of second order at points, moved by `shift` in one of u, ux, uy, uxx, uxy, uyy.
struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    state: [Vec<f64>; 6],
}

impl Points {
    fn new(moved: usize, shift: f64) -> Self {
        let (x, y) = (vec![0.3, 0.7, 0.1], vec![0.2, 0.5, 0.9]);
        let mut state = [0.4, 0.8, -0.5, 1.3, 0.6, -0.9].map(|v| vec![v, v + 0.2, v - 0.3]);
        state[moved].iter_mut().for_each(|v| *v += shift);
        Points { x, y, state }
    }
}

impl Coefficients for Points {
    fn points(&self) -> (&[f64], &[f64]) {
        (&self.x, &self.y)
    }

    fn subdomain(&self) -> usize {
        0
    }

    fn state(&self) -> Option<State<'_>> {
        Some(State { u: &self.state[0], ux: &self.state[1], uy: &self.state[2] })
    }

    fn second_derivatives(&self) -> Option<[Vec<f64>; 3]> {
        Some([3, 4, 5].map(|k| self.state[k].clone()))
    }

    fn values(&self, field: &FieldRef, _: &str) -> Result<Vec<f64>> {
        Ok(self.jets(field, "")?.value)
    }

    fn boundary_values(&self, field: &FieldRef, key: &str) -> Result<Vec<f64>> {
        self.values(field, key)
    }

    fn gradients(&self, field: &FieldRef, _: &str) -> Result<[Vec<f64>; 2]> {
        let jets = self.jets(field, "")?;
        Ok([jets.first[X].clone(), jets.first[Y].clone()])
    }

    fn jets(&self, field: &FieldRef, _: &str) -> Result<Jets> {
        let mut jets = Jets::new(self.x.len());
        let at = Samples { state: self.state(), ..Samples::at(&self.x, &self.y) };
        assert!(field.jets(&at, &mut jets).unwrap());
        Ok(jets)
    }
}

fn formula(text: &str) -> FieldRef {
    let names = Names::default().with_variables(Variables { state: true, time: false });
    Arc::new(Formula::parse_in(text, &names).unwrap())
}

/// Everything depends on everything.
fn problem() -> Problem {
    let a = [["2 + u^2 + x*ux^2 + uy", "0.3*u*ux"], ["sin(u + y)*uy", "3 + ux*uy^2*x*y + u"]];
    Problem::new(
        Equation::SecondOrder {
            diffusion: Diffusion::Tensor(a.map(|row| row.map(formula))),
            advection: Some([formula("u*uy + x"), formula("exp(ux) - u")]),
            reaction: Some(formula("u^2 + y*ux")),
        },
        formula("sinh(u) + x*uy^2"),
        vec![Condition::robin(formula("1 + u*ux"), formula("u^3 + uy"))],
    )
}

/// How a quantity changes with each part of the state, by differences of sixth order.
fn differences(of: impl Fn(&Points) -> Vec<f64>) -> Vec<[f64; 6]> {
    let h = 1e-2;
    let one = |k: usize, i: usize| {
        let terms = [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)].map(|(steps, weight)| {
            weight * (of(&Points::new(k, steps * h))[i] - of(&Points::new(k, -steps * h))[i]) / h
        });
        terms.iter().sum()
    };
    (0..3).map(|i| std::array::from_fn(|k| one(k, i))).collect()
}

fn assert_close(symbols: &[Symbol], expected: &[[f64; 6]]) {
    for (symbol, expected) in symbols.iter().zip(expected) {
        for (c, e) in symbol.0.iter().zip(expected) {
            assert!((c - e).abs() < 1e-9 * (1.0 + e.abs()), "{:?} {expected:?}", symbol.0);
        }
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let (problem, here) = (problem(), Points::new(0, 0.0));
    let normals = [[0.6, 0.8], [-0.8, 0.6], [0.0, 1.0]];
    let whole = |at: &Points| {
        let Residual { leading, lower } = problem.residual(at).unwrap();
        leading.iter().zip(lower).map(|(a, b)| a + b).collect()
    };
    assert_close(&problem.interior(&here).unwrap(), &differences(whole));
    let flux = |at: &Points| {
        let [fx, fy] = problem.flux_at(at).unwrap();
        (0..3).map(|i| normals[i][0] * fx[i] + normals[i][1] * fy[i]).collect()
    };
    assert_close(&problem.flux(0, &here, &normals).unwrap(), &differences(flux));
    let lower = |at: &Points| problem.lower_terms(at).unwrap();
    assert_close(&problem.lower_order(&here).unwrap().unwrap(), &differences(lower));
    let condition = &problem.conditions[0];
    let row = |at: &Points| problem.condition_residual(condition, "boundary", at, &normals).unwrap();
    let terms = problem.condition_terms(condition, "boundary", &here).unwrap();
    let fluxes = problem.flux(0, &here, &normals).unwrap();
    let rows: Vec<Symbol> = terms.into_iter().zip(fluxes).map(|(a, b)| a.plus(b)).collect();
    assert_close(&rows, &differences(row));
}

/// `-div((1 + u^2) grad u)` with its divergence written out.
#[test]
fn the_divergence_is_that_of_the_chain_rule() {
    let mut problem = problem();
    problem.equation = Equation::diffusion(formula("(1 + u^2)*(1 + x)"));
    problem.source = constant(0.0);
    let at = Points::new(0, 0.0);
    let Residual { leading, .. } = problem.residual(&at).unwrap();
    for i in 0..3 {
        let [u, ux, uy, uxx, _, uyy] = at.state.each_ref().map(|v| v[i]);
        let x = at.x[i];
        let expected = -(1.0 + x) * ((1.0 + u * u) * (uxx + uyy) + 2.0 * u * (ux * ux + uy * uy)) - (1.0 + u * u) * ux;
        assert!((leading[i] - expected).abs() < 1e-14 * expected.abs());
    }
}

#[test]
fn a_negative_diffusion_is_refused() {
    let problem = Problem { equation: Equation::diffusion(formula("u - 1")), ..problem() };
    let error = problem.residual(&Points::new(0, 0.0)).unwrap_err();
    assert!(error.to_string().contains("the diffusion must be positive"), "{error}");
}
