//! Derivatives of numbers that depend on the solution, by one transposed solve with the factors at hand.
//!
//! The subdomains have `y_s = K_s^+ (F_s + E_s u)` and the fluxes balance, `sum_s A_s y_s = 0`. A number J with the gradients g_s in
//! the y_s has the multipliers m of the flux balance,
//!
//! ```text
//! D' m = sum_s Y_s' g_s,     h_s = g_s - A_s' m,
//! ```
//!
//! and with h_s every subdomain finds alone (`local/transposed_rows.rs`) what its coefficients and data count. That is the
//! derivative of what the solver computes, to rounding, also where the solution is not resolved.

mod curvature;
mod nonlinear;
mod open_constant;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use faer::Mat;
use rayon::prelude::*;

use self::curvature::{Curvature, is_curved};
use self::nonlinear::at_solution;
use super::{Solver, balanced, by_factor};
use crate::base::error::{Error, Result};
use crate::base::parallel::in_order;
use crate::base::progress::Progress;
use crate::domain::collocation::{Integration, Nodes};
use crate::domain::decomposition::Decomposition;
use crate::domain::map::{Point, magnification, side_speed};
use crate::domain::sample::Sample;
use crate::domain::shape::PerShape;
use crate::interface::Refinement;
use crate::local::basis::ReferenceBasis;
use crate::local::local_factor::{affine, part_of, side_by_side};
use crate::local::operator::flux_symbols;
use crate::local::places::Scene;
use crate::local::sensitivity::{Sensitivities, Sensitivity};
use crate::local::transposed_rows::{LocalAdjoint, PartTables};
use crate::method::settings::Coupling;
use crate::network::symbol::{DERIVATIVES, Frame, Symbol};
use crate::problem::field::{FieldRef, Jets};
use crate::problem::functional::Functional;
use crate::problem::jets::{U, UX, UY};
use crate::problem::model::{Data, Problem};
use crate::problem::parameter::ParameterDerivative;
use crate::solution::evaluate::{Gradients, Solution};

/// A solution of a factored problem, ready to be differentiated.
pub struct Adjoint {
    solver: Arc<Solver>,
    /// The problem with the data of the solution.
    problem: Problem,
    /// The same, where it is nonlinear with all fields as they are at the solution.
    linear: Problem,
    /// The solution as a field, where the problem depends on it.
    state: Option<FieldRef>,
    solution: Solution,
    /// The coefficients of the subdomains.
    ys: Vec<Mat<f64>>,
    tables: PerShape<PartTables>,
    /// What the solution leaves in the rows of every subdomain.
    rests: Vec<Mat<f64>>,
    rhs: Vec<Mat<f64>>,
    /// That of the rows, where the problem depends on the solution.
    curvature: Option<Arc<Curvature>>,
}

/// How a number changes with all that a problem is made of.
pub struct Gradient {
    problem: Problem,
    decomposition: Arc<Decomposition>,
    /// With the fields of the problem.
    pub fields: Sensitivities,
    /// With the mean of the solution, where that is given.
    pub mean: Option<f64>,
    integrand: Option<Integrand>,
    /// The solution, where the problem depends on it.
    state: Option<FieldRef>,
    /// The curvature of the rows there, and w of every subdomain.
    curvature: Option<(Arc<Curvature>, Vec<Mat<f64>>)>,
    /// What makes the gradient doubtful.
    pub warnings: Vec<String>,
}

/// The integrand of a functional, where its integral was taken: it may have parameters of its own.
struct Integrand {
    field: FieldRef,
    places: Vec<(usize, Sample, Vec<f64>)>,
}

/// A correction of the multipliers that is larger than this makes the gradient doubtful.
const DOUBTFUL: f64 = 1e-8;

impl Solver {
    /// Solves for data, and keeps what derivatives of the solution take. Needs the default method on one process. For a
    /// nonlinear problem see [`Adjoint::of_nonlinear`].
    pub fn adjoint(self: &Arc<Self>, data: &Data, progress: &dyn Progress) -> Result<Adjoint> {
        self.check_adjoint()?;
        let right_hand_side = self.right_hand_side();
        let posed = balanced(&self.plan, &self.problem, data)?;
        let rhs = (self.locals.par_iter().zip(&self.data_rows))
            .map(|(local, rows)| right_hand_side.of(local.subdomain, rows, std::slice::from_ref(&posed)));
        let rhs = in_order(rhs)?;
        let known = self.known(&rhs);
        let coupled = self.couple(&known, 1, 0.0, progress)?;
        let rests: Vec<Mat<f64>> = (self.locals.par_iter().zip(&known.local))
            .map(|(local, data)| {
                let n = affine(&data.n, local.factor.n.as_ref(), local.pick(coupled.u.as_ref()).as_ref());
                local.factor.residual(&n)
            })
            .collect();
        let solution = self.recover(&coupled, 1)?.swap_remove(0);
        let tables = self.part_tables();
        let mut problem = self.problem.clone();
        problem.source = data.source.clone();
        for (condition, values) in problem.conditions.iter_mut().zip(&data.boundary) {
            condition.values.clone_from(values);
        }
        let (linear, ys) = (problem.clone(), coupled.ys);
        Ok(Adjoint {
            solver: self.clone(),
            problem,
            linear,
            state: None,
            solution,
            ys,
            tables,
            rests,
            rhs,
            curvature: None,
        })
    }

    /// The tables that transposed rows are made of.
    fn part_tables(&self) -> PerShape<PartTables> {
        let bases = self.bases.as_ref().expect("checked beforehand");
        let table = |shape| Ok::<_, Infallible>(PartTables::new(bases.of(shape), self.plan.collocations.of(shape)));
        let Ok(tables) = PerShape::new(&self.plan.decomposition.shapes(), table);
        tables
    }

    /// Refuses problems and settings whose solution is not differentiated.
    fn check_adjoint(&self) -> Result<()> {
        let refuse = |value: String, problem: &str, hint: &str| Err(Error::input("gradient", value, problem, hint));
        if self.plan.exchange.size() > 1 {
            let ranks = format!("{} ranks", self.plan.exchange.size());
            return refuse(ranks, "gradients are found by one process", "run it without mpirun");
        }
        let coupled = self.plan.decomposition.len() == 1 || self.plan.settings.coupling() == Coupling::FluxBalance;
        if self.bases.is_none() || !coupled {
            let problem = "gradients need features that the subdomains share and a direct interface solve";
            return refuse("this method".into(), problem, "use preset = \"fast\" and method = \"schur\"");
        }
        if self.plan.settings.nodes() == Nodes::Gauss {
            let problem =
                "advection is so fast that rows are tested, and gradients are those of rows that are collocated";
            return refuse("nodes = \"gauss\"".into(), problem, "use nodes = \"chebyshev\" and smaller subdomains");
        }
        Ok(())
    }
}

impl Adjoint {
    /// The solution itself.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The gradient of `sum_i c_i u(x_i) + cx_i u_x(x_i) + cy_i u_y(x_i)`, the product of a cotangent c of the values at points,
    /// and possibly of the derivatives there, with their derivative. `c.ux` and `c.uy` may be empty.
    pub fn vjp(&self, x: &[f64], y: &[f64], c: &Gradients, progress: &dyn Progress) -> Result<Gradient> {
        let decomposition = &self.solver.plan.decomposition;
        let lengths = [c.u.len(), c.ux.len(), c.uy.len()];
        let with_slopes = lengths[1] + lengths[2] > 0;
        if x.len() != y.len() || lengths[0] != x.len() || (with_slopes && lengths[1..] != [x.len(); 2]) {
            let problem = format!("{} points have as many cotangents of u, and as many of ux and uy or none", x.len());
            return Err(Error::input("cotangent", format!("{lengths:?} numbers"), problem, "give one for every point"));
        }
        if let Some(i) = [&c.u, &c.ux, &c.uy].iter().find_map(|c| c.iter().position(|c| !c.is_finite())) {
            let problem = "a cotangent is not a finite number";
            return Err(Error::input("cotangent", format!("entry {i}"), problem, "check what it was computed from"));
        }
        let mut by_subdomain = vec![Vec::new(); decomposition.len()];
        for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
            let Some((s, xi)) = decomposition.locate([x, y]) else {
                let problem = "the point lies outside the domain";
                return Err(Error::input(format!("point {}", i + 1), format!("({x}, {y})"), problem, "leave it out"));
            };
            by_subdomain[s].push((i, xi));
        }
        let seed = |s: usize| -> Vec<f64> {
            let xi: Vec<Point> = by_subdomain[s].iter().map(|(_, xi)| *xi).collect();
            let map = decomposition.subdomains[s].map.as_ref();
            let symbol = |(frame, &(i, _)): (Frame, &(usize, Point))| {
                let slope = |c: &[f64]| c.get(i).copied().unwrap_or(0.0);
                Symbol::TRACE.scaled(c.u[i]).plus(frame.gradient([slope(&c.ux), slope(&c.uy)]))
            };
            let symbols: Vec<Symbol> = Frame::at(map, &xi).zip(&by_subdomain[s]).map(symbol).collect();
            self.seed(s, &xi, &symbols)
        };
        let seeds: Vec<Vec<f64>> = self.solver.locals.par_iter().map(|local| seed(local.subdomain)).collect();
        self.pull(seeds, progress)
    }

    /// The gradient of a number that is asked of the solution. At an extreme value it is that of the value there.
    pub fn gradient(&self, functional: &Functional, progress: &dyn Progress) -> Result<Gradient> {
        match functional {
            Functional::Integral { field, region } => self.of_integral(field, *region, progress),
            Functional::Flux(part) => self.of_flux(*part, progress),
            Functional::Max | Functional::Min => {
                let max = matches!(functional, Functional::Max);
                let [x, y] = if max { self.solution.max() } else { self.solution.min() }.point;
                self.vjp(&[x], &[y], &Gradients { u: vec![1.0], ..Gradients::default() }, progress)
            }
        }
    }

    fn of_integral(&self, field: &FieldRef, region: Option<usize>, progress: &dyn Progress) -> Result<Gradient> {
        let decomposition = &self.solver.plan.decomposition;
        type Part = (Vec<f64>, Option<(usize, Sample, Vec<f64>)>);
        let one = |s: usize| -> Result<Part> {
            let place = &decomposition.subdomains[s];
            if region.is_some() && place.region != region {
                return Ok((self.zero(s), None));
            }
            let (map, rule) = (place.map.as_ref(), self.integration(s));
            let xi = &rule.inside;
            let Gradients { u, ux, uy } = self.solution.local_gradients(s, xi);
            let sample = Sample::new(place, xi.iter().copied()).with_state([u, ux, uy]);
            let areas = xi.iter().zip(&rule.inside_weights).map(|(&xi, w)| w * magnification(map.jacobian(xi)));
            let areas: Vec<f64> = areas.collect();
            let mut seed = self.zero(s);
            if field.depends_on().state {
                let mut jets = Jets::new(xi.len());
                let failed = Error::callback("integral");
                if !field.jets(&sample.samples(s), &mut jets).map_err(failed)? {
                    let problem = "the integrand does not know its derivatives in u";
                    return Err(Error::input("gradient", field.describe(), problem, "write it as a formula"));
                }
                for slopes in [U, UX, UY].map(|variable| &jets.first[variable]) {
                    sample.finite(slopes, "integral", s)?;
                }
                let symbol = |(i, frame): (usize, Frame)| {
                    let [u, ux, uy] = [U, UX, UY].map(|variable| areas[i] * jets.first[variable][i]);
                    Symbol::TRACE.scaled(u).plus(frame.gradient([ux, uy]))
                };
                let symbols: Vec<Symbol> = Frame::at(map, xi).enumerate().map(symbol).collect();
                seed = self.seed(s, xi, &symbols);
            }
            Ok((seed, Some((s, sample, areas))))
        };
        let parts = in_order(self.solver.locals.par_iter().map(|local| one(local.subdomain)))?;
        let (seeds, places): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let mut gradient = self.pull(seeds, progress)?;
        gradient.integrand = Some(Integrand { field: field.clone(), places: places.into_iter().flatten().collect() });
        Ok(gradient)
    }

    /// A flux depends on the diffusion directly, beside what u does.
    fn of_flux(&self, part: usize, progress: &dyn Progress) -> Result<Gradient> {
        let decomposition = &self.solver.plan.decomposition;
        let scene = self.scene();
        let equation = &self.problem.equation;
        let one = |s: usize| -> Result<(Vec<f64>, Sensitivities)> {
            let (mut seed, mut direct) = (self.zero(s), Sensitivities::none(&self.problem));
            let place = &decomposition.subdomains[s];
            let (map, rule) = (place.map.as_ref(), self.integration(s));
            let per_side = rule.around.len() / map.shape().sides();
            for (side, _) in place.boundaries().filter(|(_, on)| *on == part) {
                let xi = &rule.around[side * per_side..(side + 1) * per_side];
                let places = scene.places(s, xi);
                let speed = |(&xi, w): (&Point, &f64)| w * side_speed(map, side, map.jacobian(xi));
                let lengths: Vec<f64> = xi.iter().zip(&rule.around_weights).map(speed).collect();
                let fluxes = flux_symbols(&self.problem, &places, &places.normals(side), equation.pairs() - 1)?;
                let symbols: Vec<Symbol> = fluxes.iter().zip(&lengths).map(|(flux, &l)| flux.scaled(l)).collect();
                seed.iter_mut().zip(self.seed(s, xi, &symbols)).for_each(|(sum, part)| *sum += part);
                if let Some(diffusion) = equation.leading() {
                    let Gradients { ux, uy, .. } = self.solution.local_gradients(s, xi);
                    let cotangents: Vec<[f64; 2]> =
                        (0..xi.len()).map(|i| [lengths[i] * ux[i], lengths[i] * uy[i]]).collect();
                    direct.add_flux(diffusion, (s, xi), &places.normals(side), &cotangents);
                }
            }
            Ok((seed, direct))
        };
        let parts = in_order(self.solver.locals.par_iter().map(|local| one(local.subdomain)))?;
        let (seeds, direct): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let mut gradient = self.pull(seeds, progress)?;
        direct.into_iter().for_each(|direct| gradient.fields.add(direct));
        Ok(gradient)
    }

    /// Where the solution takes its integrals.
    fn integration(&self, s: usize) -> Integration {
        Integration::new(
            self.solver.plan.decomposition.subdomains[s].map.shape(),
            self.solver.plan.settings.points.max(8),
        )
    }

    fn zero(&self, s: usize) -> Vec<f64> {
        vec![0.0; self.basis(s).rank]
    }

    fn basis(&self, s: usize) -> &ReferenceBasis {
        let bases = self.solver.bases.as_ref().expect("checked beforehand");
        bases.of(self.solver.plan.decomposition.subdomains[s].map.shape())
    }

    /// The gradient in y of the sum of operators at reference points of subdomain s, as the network is evaluated.
    fn seed(&self, s: usize, xi: &[Point], symbols: &[Symbol]) -> Vec<f64> {
        let active: Vec<usize> =
            (0..DERIVATIVES).filter(|&a| symbols.iter().any(|symbol| symbol.0[a] != 0.0)).collect();
        if active.is_empty() {
            return self.zero(s);
        }
        let ReferenceBasis { network, lift, .. } = self.basis(s);
        let cotangents: Vec<Vec<f64>> =
            active.iter().map(|&a| symbols.iter().map(|symbol| symbol.0[a]).collect()).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = xi.iter().map(|p| (p[0], p[1])).unzip();
        let ridges = ([&network.weights[0][..], &network.weights[1][..]], &network.biases[..]);
        let sums = network.activation.transposed_sums(network.polynomials, ridges, (&x, &y), &active, &cotangents);
        lift.apply_transposed(&sums)
    }

    /// The gradient of a number with the gradients `seeds` in the coefficients of the subdomains.
    fn pull(&self, seeds: Vec<Vec<f64>>, progress: &dyn Progress) -> Result<Gradient> {
        let solver = self.solver.as_ref();
        let mut g: Vec<Mat<f64>> = seeds.iter().map(|g| Mat::from_fn(g.len(), 1, |i, _| g[i])).collect();
        let mean = self.before_the_shift(&mut g);
        let Transposed { multipliers, adjoints, warnings } = self.transposed_with_curvature(&g, progress)?;
        let one = |k: usize, scene: Scene<'_>, rest: &Mat<f64>| {
            let local = &solver.locals[k];
            let subdomain = &solver.plan.decomposition.subdomains[local.subdomain];
            let collocation = solver.plan.collocations.of(subdomain.map.shape());
            let layout = collocation.layout(subdomain);
            let mut m = vec![0.0; layout.fluxes.len() * collocation.pairs];
            let places = solver.plan.portion.numbering.gather(subdomain, &layout).fluxes;
            for (&row, (flux, _)) in local.fluxes.iter().zip(places) {
                m[flux] = multipliers[k][(row, 0)];
            }
            LocalAdjoint {
                scene,
                collocation,
                weighting: solver.plan.weighting,
                s: local.subdomain,
                rows: &solver.data_rows[k],
                tables: self.tables.of(subdomain.map.shape()),
                coefficients: side_by_side(&[&self.ys[k], &adjoints[k][1]]),
                p: adjoints[k][0].col_as_slice(0),
                r: rest.col_as_slice(0),
                f: self.rhs[k].col_as_slice(0),
                m,
            }
            .sensitivities()
        };
        let linear = Scene::linear(&self.linear, &solver.plan.decomposition);
        let of = |k: usize| match &self.curvature {
            None => one(k, linear, &self.rests[k]),
            Some(curvature) => {
                // What a field that depends on the solution does to the curvature is found apart.
                let nothing = Mat::zeros(self.rests[k].nrows(), 1);
                let linear = Scene { about: Some(curvature.as_ref()), ..linear };
                let (plain, curved) = (one(k, self.scene(), &self.rests[k])?, one(k, linear, &nothing)?);
                Ok(plain.with_others_for(&self.problem, curved, is_curved))
            }
        };
        let mut fields = Sensitivities::none(&self.problem);
        in_order((0..solver.locals.len()).into_par_iter().map(of))?.into_iter().for_each(|part| fields.add(part));
        self.with_balance(&mut fields);
        let (problem, decomposition) = (self.problem.clone(), solver.plan.decomposition.clone());
        let w = adjoints.into_iter().map(|[_, w]| w).collect();
        let curvature = self.curvature.clone().map(|curvature| (curvature, w));
        let state = self.state.clone();
        Ok(Gradient { problem, decomposition, fields, mean, integrand: None, state, curvature, warnings })
    }

    /// The transposed solve for the gradients g in the coefficients.
    fn transposed(&self, g: &[Mat<f64>], progress: &dyn Progress) -> Result<Transposed> {
        let solver = self.solver.as_ref();
        let mut warnings = Vec::new();
        let multipliers: Vec<Mat<f64>> = match &solver.direct {
            None => solver.locals.iter().map(|local| Mat::zeros(local.factor.d.nrows(), 1)).collect(),
            Some(factor) => {
                let interface = solver.interface();
                let (factor, steps) = (factor.as_ref(), solver.plan.settings.refinements);
                let refinement = Refinement { interface: &interface, factor, steps, progress };
                let (m, outcome) = refinement.solve_transposed(&interface.pull_back(g))?;
                if outcome.last_correction > DOUBTFUL {
                    let size = outcome.last_correction;
                    warnings.push(format!("the gradient's interface system is solved to {size:.1e} only"));
                }
                solver.locals.iter().map(|local| local.pick_jumps(m.as_ref())).collect()
            }
        };
        let adjoints: Vec<[Mat<f64>; 2]> = by_factor(&solver.locals, |factor, batch| {
            let beside = |of: &[Mat<f64>]| side_by_side(&batch.iter().map(|&k| &of[k]).collect::<Vec<_>>());
            let [p, w] = factor.transposed(&beside(g), &beside(&multipliers));
            (0..batch.len()).map(|k| [part_of(&p, k, 1), part_of(&w, k, 1)]).collect()
        });
        Ok(Transposed { multipliers, adjoints, warnings })
    }
}

/// What a transposed solve has found.
struct Transposed {
    /// The multipliers of the flux balance, for the fluxes of every subdomain.
    multipliers: Vec<Mat<f64>>,
    /// p and w of every subdomain.
    adjoints: Vec<[Mat<f64>; 2]>,
    warnings: Vec<String>,
}

impl Gradient {
    /// The decomposition of the solution, on which sensitivities are evaluated.
    pub fn decomposition(&self) -> &Decomposition {
        &self.decomposition
    }

    /// The derivative in a direction of one of the [`fields`](Gradient::fields).
    pub fn along(&self, sensitivity: &Sensitivity, direction: &FieldRef) -> Result<f64> {
        sensitivity.along(&self.decomposition, &at_solution(direction, self.state.as_ref()))
    }

    /// Every field of the problem with what it counts.
    fn pairs(&self) -> Vec<(&FieldRef, &Sensitivity)> {
        let Sensitivities { source, diffusion, advection, reaction, rigidity, boundary, robin } = &self.fields;
        // In the order of `Equation::fields`.
        let equation = diffusion.iter().chain(advection).chain(reaction).chain(rigidity);
        let mut pairs: Vec<_> =
            self.problem.equation.fields().into_iter().map(|(_, field)| field).zip(equation).collect();
        pairs.push((&self.problem.source, source));
        for ((condition, values), robin) in self.problem.conditions.iter().zip(boundary).zip(robin) {
            pairs.extend(condition.values.iter().zip(values));
            pairs.extend(condition.multiple().map(|k| (k, robin)));
        }
        pairs
    }

    /// The parameters that the fields of the problem, and the number itself, have.
    pub fn parameters(&self) -> BTreeSet<String> {
        let fields = self.pairs().into_iter().map(|(field, _)| field);
        fields
            .chain(self.integrand.iter().map(|integrand| &integrand.field))
            .flat_map(|f| f.parameter_names())
            .collect()
    }

    /// The derivative with respect to a parameter of the formulas. One that no formula has is refused.
    pub fn parameter(&self, name: &str) -> Result<f64> {
        let known = self.parameters();
        if !known.contains(name) {
            let hint = match known.is_empty() {
                true => "no formula has parameters".to_string(),
                false => format!("known: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            };
            return Err(Error::input("gradient", name, "no formula has this parameter", hint));
        }
        let derivative = |field: &FieldRef| ParameterDerivative { field: field.clone(), parameter: name.into() };
        let mut sum = 0.0;
        for (field, sensitivity) in self.pairs() {
            sum += self.along(sensitivity, &(Arc::new(derivative(field)) as FieldRef))?;
        }
        if let Some((curvature, w)) = &self.curvature {
            sum += curvature.parameter(name, w)?;
        }
        if let Some(Integrand { field, places }) = &self.integrand {
            let change = derivative(field);
            for (s, sample, areas) in places {
                let values = sample.values(&change, "integral", *s)?;
                sum += values.iter().zip(areas).map(|(value, area)| value * area).sum::<f64>();
            }
        }
        Ok(sum)
    }
}
