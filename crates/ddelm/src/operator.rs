//! The rows of one subdomain: the equation at interior nodes, conditions and traces on the perimeter, fluxes.
//!
//! Every row is a [`Symbol`] in reference coordinates times a scale. In the paper all scales are one. In the default
//! method the equation is divided by the size of its leading part (so that it is the reference Laplacian, give or
//! take the coefficient), traces and conditions have a weight against it, and fluxes are measured in units of the
//! edge: that makes the least-squares problem independent of the size of the subdomains and of the units of the
//! coefficients.

use crate::chebyshev::Interpolant;
use crate::collocation::Collocation;
use crate::decomposition::{Decomposition, Edge, Side, Subdomain, width_across};
use crate::error::{Error, Result};
use crate::field::{Field, FieldRef};
use crate::map::{Map, Point, side_point, unit_normal};
use crate::problem::{Condition, ConditionKind, Diffusion, Equation, Problem};
use crate::symbol::{Frame, Symbol, Symbols};

/// Weights of the rows against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights {
    /// All rows as they stand (the paper).
    Unit,
    /// The equation divided by the size of its leading part; the rest weighted against it.
    Scaled {
        /// Traces, and conditions on u.
        trace: f64,
        /// Traces of the Laplacian, and conditions on it (plate).
        laplacian: f64,
        /// Conditions on the flux or the normal derivative.
        flux: f64,
    },
}

impl Weights {
    /// The weight of the equation at a reference point, next to the scaling by its size.
    ///
    /// A residual close to the perimeter moves the solution little, because Green's function vanishes there; nodes are
    /// dense there, and residuals large where the solution is not smooth at a corner. So the weight goes to zero.
    pub fn interior(self, xi: Point) -> f64 {
        match self {
            Weights::Unit => 1.0,
            Weights::Scaled { .. } => xi.iter().map(|t| 2.0 * (t * (1.0 - t)).sqrt()).product(),
        }
    }

    /// What an interface value is multiplied with in the trace rows of a transmission pair.
    pub fn interface(self, pair: usize) -> f64 {
        match self {
            Weights::Unit => 1.0,
            Weights::Scaled { trace, laplacian, .. } => [trace, laplacian][pair],
        }
    }

    /// The weights of the default method.
    pub fn default_for(equation: &Equation) -> Self {
        match equation {
            Equation::SecondOrder { .. } => Weights::Scaled { trace: 30.0, laplacian: 0.0, flux: 30.0 },
            Equation::Plate { .. } => Weights::Scaled { trace: 100.0, laplacian: 10.0, flux: 100.0 },
        }
    }
}

/// Units of the traces and fluxes on an edge, one per transmission pair. Both sides use the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeScale {
    /// An interface value is this times the trace.
    pub trace: [f64; 2],
    /// A jump is this times the sum of the two outward fluxes.
    pub flux: [f64; 2],
}

impl EdgeScale {
    /// Traces and fluxes as they stand.
    pub const UNIT: Self = EdgeScale { trace: [1.0; 2], flux: [1.0; 2] };
}

/// What a row on the perimeter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerimeterRow {
    /// The trace equals an interface value.
    Interface,
    /// The condition `values[index]` of a part of the boundary holds.
    Condition {
        /// The part.
        part: usize,
        /// Which of its values.
        index: usize,
    },
}

/// The rows of one subdomain. K is `interior` over `perimeter`, A is `flux`.
#[derive(Debug, Clone)]
pub struct LocalRows {
    /// The equation at the interior nodes, scaled.
    pub interior: Symbols,
    /// The scales of the interior rows.
    pub interior_scale: Vec<f64>,
    /// Traces and conditions at the perimeter nodes, scaled: all nodes for the first pair, then for the second.
    pub perimeter: Symbols,
    /// The scales of the perimeter rows: what boundary values are multiplied with.
    pub perimeter_scale: Vec<f64>,
    /// What the perimeter rows say.
    pub perimeter_kind: Vec<PerimeterRow>,
    /// The outward fluxes at the flux nodes of all sides, not scaled.
    pub flux: Symbols,
}

/// Points in both coordinates, as fields take them.
pub(crate) struct Sample {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

impl Sample {
    pub fn new(map: &dyn Map, xi: impl IntoIterator<Item = Point>) -> Self {
        let (x, y) = xi.into_iter().map(|p| map.point(p)).map(|p| (p[0], p[1])).unzip();
        Sample { x, y }
    }

    /// The values of a field, all finite.
    pub fn values(&self, field: &dyn Field, key: &str, subdomain: usize) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.x.len()];
        field
            .values(&self.x, &self.y, &mut out)
            .map_err(|failure| Error::Callback { quantity: key.into(), failure })?;
        self.finite(&out, key, subdomain)?;
        Ok(out)
    }

    fn finite(&self, values: &[f64], key: &str, subdomain: usize) -> Result<()> {
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                quantity: key.into(),
                value: values[i],
                x: self.x[i],
                y: self.y[i],
                subdomain: Some(subdomain),
            }),
        }
    }
}

/// The name of a part of the boundary, as in a problem file.
pub fn part_name(decomposition: &Decomposition, part: usize) -> String {
    match decomposition.grid() {
        Some(_) => format!("boundary.{}", ["left", "right", "bottom", "top"][part]),
        None => format!("boundary.{part}"),
    }
}

/// The diffusion tensor at many points, by rows: a11, a12, a21, a22.
pub(crate) fn diffusion_values(diffusion: &Diffusion, points: &Sample, subdomain: usize) -> Result<[Vec<f64>; 4]> {
    const KEY: &str = "equation.diffusion";
    match diffusion {
        Diffusion::Scalar(a) => {
            let a = points.values(a.as_ref(), KEY, subdomain)?;
            let zero = vec![0.0; a.len()];
            Ok([a.clone(), zero.clone(), zero, a])
        }
        Diffusion::Tensor([[a, b], [c, d]]) => {
            let value = |f: &FieldRef| points.values(f.as_ref(), KEY, subdomain);
            Ok([value(a)?, value(b)?, value(c)?, value(d)?])
        }
    }
}

/// The row vector `div a` at many points: `(d_x a11 + d_y a21, d_x a12 + d_y a22)`.
fn diffusion_divergence(diffusion: &Diffusion, nodes: &Nodes<'_>) -> Result<[Vec<f64>; 2]> {
    let gradient = |f: &FieldRef| nodes.gradient(f.as_ref(), "equation.diffusion");
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

/// Reference points of one subdomain, with what fields need to know about them.
struct Nodes<'a> {
    map: &'a dyn Map,
    subdomain: usize,
    xi: &'a [Point],
    points: Sample,
}

impl<'a> Nodes<'a> {
    fn new(map: &'a dyn Map, subdomain: usize, xi: &'a [Point]) -> Self {
        Nodes { map, subdomain, xi, points: Sample::new(map, xi.iter().copied()) }
    }

    /// The gradient of a field: its own, or that of its interpolant on the subdomain.
    fn gradient(&self, field: &dyn Field, key: &str) -> Result<[Vec<f64>; 2]> {
        let n = self.xi.len();
        let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; n]);
        let known = field
            .gradients(&self.points.x, &self.points.y, &mut dx, &mut dy)
            .map_err(|failure| Error::Callback { quantity: key.into(), failure })?;
        if !known {
            let fit = Interpolant::adaptive(|xi| {
                Sample::new(self.map, xi.iter().copied()).values(field, key, self.subdomain)
            })?;
            for (i, &xi) in self.xi.iter().enumerate() {
                let (g, inverse) = (fit.gradient(xi), Frame::new(self.map, xi).inverse);
                dx[i] = inverse[0][0] * g[0] + inverse[1][0] * g[1];
                dy[i] = inverse[0][1] * g[0] + inverse[1][1] * g[1];
            }
        }
        self.points.finite(&dx, key, self.subdomain)?;
        self.points.finite(&dy, key, self.subdomain)?;
        Ok([dx, dy])
    }
}

/// The operator L at reference points of a subdomain, in reference coordinates, not scaled.
pub fn interior_symbols(equation: &Equation, map: &dyn Map, subdomain: usize, xi: &[Point]) -> Result<Vec<Symbol>> {
    let nodes = Nodes::new(map, subdomain, xi);
    let frames = Frame::at(map, xi);
    match equation {
        Equation::Plate { .. } => {
            if map.affine().is_none() {
                return Err(Error::input(
                    "equation.plate",
                    "curved subdomains",
                    "the plate is solved on affine subdomains only",
                    "use a decomposition into parallelograms",
                ));
            }
            Ok(frames.map(|f| f.laplacian().times(f.laplacian())).collect())
        }
        Equation::SecondOrder { diffusion, advection, reaction } => {
            let a = diffusion_values(diffusion, &nodes.points, subdomain)?;
            let div = diffusion_divergence(diffusion, &nodes)?;
            let zero = || vec![0.0; xi.len()];
            let b = match advection {
                None => [zero(), zero()],
                Some([b0, b1]) => [
                    nodes.points.values(b0.as_ref(), "equation.advection", subdomain)?,
                    nodes.points.values(b1.as_ref(), "equation.advection", subdomain)?,
                ],
            };
            let c = match reaction {
                None => zero(),
                Some(c) => nodes.points.values(c.as_ref(), "equation.reaction", subdomain)?,
            };
            // -div(a grad u) = -sum a_ij u_ij - (div a) . grad u
            Ok(frames
                .enumerate()
                .map(|(i, frame)| {
                    frame
                        .hessian([[-a[0][i], -a[1][i]], [-a[2][i], -a[3][i]]])
                        .plus(frame.gradient([b[0][i] - div[0][i], b[1][i] - div[1][i]]))
                        .plus(Symbol::TRACE.scaled(c[i]))
                })
                .collect())
        }
    }
}

/// The size of an operator by its leading part, or by its lower order parts where those are far larger.
fn size(symbol: &Symbol, equation: &Equation) -> f64 {
    let c = symbol.0.map(f64::abs);
    match equation {
        Equation::Plate { .. } => 0.5 * (c[10] + c[14]),
        Equation::SecondOrder { .. } => (0.5 * (c[3] + c[5])).max(0.05 * (c[1] + c[2])).max(0.01 * c[0]),
    }
}

/// The flux of a transmission pair at perimeter points of a side: conormal, normal, or normal of the Laplacian.
fn flux_symbols(
    equation: &Equation,
    map: &dyn Map,
    subdomain: usize,
    side: usize,
    pair: usize,
    xi: &[Point],
) -> Result<Vec<Symbol>> {
    let normal = |p: Point| unit_normal(map.jacobian(p), side);
    match equation {
        Equation::SecondOrder { diffusion, .. } => {
            let a = diffusion_values(diffusion, &Sample::new(map, xi.iter().copied()), subdomain)?;
            Ok(Frame::at(map, xi)
                .enumerate()
                .map(|(i, frame)| {
                    let n = normal(xi[i]);
                    // n . (a grad u) = (a' n) . grad u
                    let v = [a[0][i] * n[0] + a[2][i] * n[1], a[1][i] * n[0] + a[3][i] * n[1]];
                    frame.gradient(v)
                })
                .collect())
        }
        Equation::Plate { .. } => Ok(Frame::at(map, xi)
            .zip(xi)
            .map(|(frame, &p)| {
                let slope = frame.gradient(normal(p));
                if pair == 0 { slope } else { slope.times(frame.laplacian()) }
            })
            .collect()),
    }
}

/// The units of an edge. They come from the first side, so that both sides, on whatever rank, find the same.
pub fn edge_scale(
    problem: &Problem,
    decomposition: &Decomposition,
    collocation: &Collocation,
    weights: Weights,
    edge: &Edge,
) -> Result<EdgeScale> {
    if weights == Weights::Unit {
        return Ok(EdgeScale::UNIT);
    }
    let h = edge.width;
    match &problem.equation {
        Equation::Plate { .. } => Ok(EdgeScale { trace: [1.0, h * h], flux: [h, h * h * h] }),
        Equation::SecondOrder { diffusion, .. } => {
            let (s, side) = edge.sides[0];
            let map = decomposition.subdomains[s].map.as_ref();
            let points = Sample::new(map, collocation.side.iter().map(|&t| side_point(side, t)));
            let [a, _, _, d] = diffusion_values(diffusion, &points, s)?;
            let mean = a.iter().zip(&d).map(|(a, d)| 0.5 * (a.abs() + d.abs())).sum::<f64>() / a.len() as f64;
            let unit = if mean > 0.0 { h / mean } else { h };
            Ok(EdgeScale { trace: [1.0; 2], flux: [unit; 2] })
        }
    }
}

/// The condition rows at perimeter points of a boundary side: for each point its symbols and their scales.
struct ConditionRows<'a> {
    equation: &'a Equation,
    weights: Weights,
    map: &'a dyn Map,
    subdomain: usize,
    /// Extent of the subdomain across the side.
    width: f64,
}

impl ConditionRows<'_> {
    /// Rows (symbol, scale) for value `index` of a condition on a side.
    fn rows(
        &self,
        condition: &Condition,
        key: &str,
        side: usize,
        index: usize,
        xi: &[Point],
    ) -> Result<Vec<(Symbol, f64)>> {
        let h = self.width;
        let weighted = |symbol: Symbol, unit: f64, weight: f64| match self.weights {
            Weights::Unit => (symbol, 1.0),
            Weights::Scaled { .. } => (symbol.scaled(weight * unit), weight * unit),
        };
        let (trace, laplacian, flux) = match self.weights {
            Weights::Unit => (1.0, 1.0, 1.0),
            Weights::Scaled { trace, laplacian, flux } => (trace, laplacian, flux),
        };
        let fluxes = || flux_symbols(self.equation, self.map, self.subdomain, side, 0, xi);
        match (&condition.kind, index) {
            (ConditionKind::Dirichlet, _) | (ConditionKind::SimplySupported | ConditionKind::Clamped, 0) => {
                Ok(xi.iter().map(|_| weighted(Symbol::TRACE, 1.0, trace)).collect())
            }
            (ConditionKind::SimplySupported, _) => {
                Ok(Frame::at(self.map, xi).map(|frame| weighted(frame.laplacian(), h * h, laplacian)).collect())
            }
            (ConditionKind::Clamped, _) => Ok(fluxes()?.into_iter().map(|s| weighted(s, h, flux)).collect()),
            (ConditionKind::Neumann, _) => {
                Ok(fluxes()?.into_iter().map(|s| weighted(s, reference_unit(&s), flux)).collect())
            }
            (ConditionKind::Robin { coefficient }, _) => {
                let points = Sample::new(self.map, xi.iter().copied());
                let k = points.values(coefficient.as_ref(), key, self.subdomain)?;
                Ok(fluxes()?
                    .into_iter()
                    .zip(k)
                    .map(|(s, k)| {
                        let unit = reference_unit(&s);
                        weighted(s.plus(Symbol::TRACE.scaled(k)), unit / (1.0 + (k * unit).abs()), flux)
                    })
                    .collect())
            }
        }
    }
}

/// What turns a flux into a derivative of size one in reference coordinates.
fn reference_unit(flux: &Symbol) -> f64 {
    let length = flux.0[1].hypot(flux.0[2]);
    if length > 0.0 { 1.0 / length } else { 1.0 }
}

/// All rows of subdomain s.
pub fn local_rows(
    problem: &Problem,
    decomposition: &Decomposition,
    collocation: &Collocation,
    weights: Weights,
    scales: &[EdgeScale],
    s: usize,
) -> Result<LocalRows> {
    let subdomain = &decomposition.subdomains[s];
    let (map, equation) = (subdomain.map.as_ref(), &problem.equation);

    let mut interior_scale = Vec::with_capacity(collocation.interior.len());
    let interior: Symbols = interior_symbols(equation, map, s, &collocation.interior)?
        .into_iter()
        .enumerate()
        .map(|(i, symbol)| {
            let scale = match weights {
                Weights::Unit => Ok(1.0),
                Weights::Scaled { .. } => {
                    let size = size(&symbol, equation);
                    let xi = collocation.interior[i];
                    if size > 0.0 { Ok(weights.interior(xi) / size) } else { Err(vanishing(map.point(xi), s)) }
                }
            }?;
            interior_scale.push(scale);
            Ok(symbol.scaled(scale))
        })
        .collect::<Result<_>>()?;

    let mut rows = LocalRows {
        interior,
        interior_scale,
        perimeter: Symbols::new(),
        perimeter_scale: Vec::new(),
        perimeter_kind: Vec::new(),
        flux: Symbols::new(),
    };
    for pair in 0..equation.pairs() {
        perimeter_rows(&mut rows, problem, decomposition, collocation, weights, scales, s, pair)?;
    }
    for pair in 0..equation.pairs() {
        for side in 0..4 {
            let xi: Vec<Point> =
                collocation.flux_nodes(side).into_iter().map(|node| collocation.perimeter[node].xi).collect();
            flux_symbols(equation, map, s, side, pair, &xi)?.iter().for_each(|symbol| rows.flux.push(symbol));
        }
    }
    Ok(rows)
}

fn vanishing(point: Point, subdomain: usize) -> Error {
    Error::Input {
        key: "equation.diffusion".into(),
        value: "0".into(),
        problem: format!("the equation vanishes at x = {}, y = {} (subdomain {subdomain})", point[0], point[1]),
        hint: "the diffusion must be positive in the whole domain".into(),
    }
}

/// The side whose condition holds at a perimeter node, or `None` at an interface node. At a corner of two boundary
/// sides a Dirichlet condition goes before the others.
fn boundary_side(
    subdomain: &Subdomain,
    decomposition: &Decomposition,
    problem: &Problem,
    node: &crate::collocation::PerimeterNode,
) -> Option<usize> {
    let part = |side: usize| match subdomain.sides[side] {
        Side::Boundary(part) => Some(part),
        Side::Interface { .. } => None,
    };
    match node.corner {
        None => part(node.side).map(|_| node.side),
        Some(c) if !decomposition.vertices[subdomain.vertices[c]].boundary => None,
        Some(c) => {
            let sides = [c % 2, 2 + c / 2];
            let essential = |&side: &usize| {
                part(side).is_some_and(|p| {
                    !matches!(problem.conditions[p].kind, ConditionKind::Neumann | ConditionKind::Robin { .. })
                })
            };
            sides.into_iter().find(essential).or_else(|| sides.into_iter().find(|&side| part(side).is_some()))
        }
    }
}

/// Adds the rows of one transmission pair on the perimeter.
#[expect(clippy::too_many_arguments, reason = "a private step of local_rows, with its arguments")]
fn perimeter_rows(
    rows: &mut LocalRows,
    problem: &Problem,
    decomposition: &Decomposition,
    collocation: &Collocation,
    weights: Weights,
    scales: &[EdgeScale],
    s: usize,
    pair: usize,
) -> Result<()> {
    let subdomain = &decomposition.subdomains[s];
    let map = subdomain.map.as_ref();
    let mut cache: [Option<Vec<(Symbol, f64)>>; 4] = [const { None }; 4];
    for node in &collocation.perimeter {
        let Some(side) = boundary_side(subdomain, decomposition, problem, node) else {
            let unit = match subdomain.sides[node.side] {
                Side::Interface { edge, .. } => scales[edge].trace[pair],
                Side::Boundary(_) => 1.0,
            };
            let weight = weights.interface(pair);
            let symbol = if pair == 0 { Symbol::TRACE } else { Frame::new(map, node.xi).laplacian() };
            rows.perimeter.push(&symbol.scaled(weight * unit));
            rows.perimeter_scale.push(weight);
            rows.perimeter_kind.push(PerimeterRow::Interface);
            continue;
        };
        let Side::Boundary(part) = subdomain.sides[side] else { continue };
        let condition = &problem.conditions[part];
        let key = part_name(decomposition, part);
        let width = width_across(map, side);
        let maker = ConditionRows { equation: &problem.equation, weights, map, subdomain: s, width };
        let (symbol, scale) = if node.corner.is_some() {
            maker.rows(condition, &key, side, pair, &[node.xi])?[0]
        } else {
            if cache[side].is_none() {
                let xi: Vec<Point> = collocation.side.iter().map(|&t| side_point(side, t)).collect();
                cache[side] = Some(maker.rows(condition, &key, side, pair, &xi)?);
            }
            cache[side].as_ref().map_or((Symbol::ZERO, 0.0), |rows| rows[node.position])
        };
        rows.perimeter.push(&symbol);
        rows.perimeter_scale.push(scale);
        rows.perimeter_kind.push(PerimeterRow::Condition { part, index: pair });
    }
    Ok(())
}
