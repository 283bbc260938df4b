//! The terms of an equation, for those who ask for some of them and not for the whole [operator](crate::problem::operators).
//!
//! ```text
//! L u = sum_k s_k d^alpha_k(c_k) d^beta_k u,     for example  -a u_xx - a_x u_x + b u_x + c u
//! ```
//!
//! With what is here nobody outside this storey has to ask which equation it is.

use std::sync::Arc;

use crate::problem::field::FieldRef;
use crate::problem::model::{Condition, ConditionKind, Diffusion, Equation, Problem};
use crate::problem::regional::Regional;
use crate::problem::shifted::shifted;

/// One term, `factor * d^slope(field) * d^of u`.
pub struct Term<'a> {
    /// A number.
    pub factor: f64,
    /// The coefficient.
    pub field: &'a FieldRef,
    /// The key of the coefficient, for messages.
    pub key: &'static str,
    /// How often the coefficient is differentiated in x and in y: not at all, or once.
    pub slope: [usize; 2],
    /// How often u is.
    pub of: [usize; 2],
}

const DIRECTIONS: [[usize; 2]; 2] = [[1, 0], [0, 1]];

impl Problem {
    /// The [lines](crate::problem::field::Field::lines) along which coefficients or the source may jump or have a kink; none of a
    /// plate, which has no regions to put on both sides of them.
    pub fn lines(&self) -> Vec<[f64; 3]> {
        if self.equation.pairs() > 1 {
            return Vec::new();
        }
        let terms = self.equation.terms();
        let fields = terms.iter().map(|term| term.field).chain([&self.source]);
        fields.flat_map(|field| field.lines()).collect()
    }

    /// The problem on regions none of which lies on both sides of one of its [lines](Problem::lines), given by a point in each: first of what is
    /// outside of all regions. Next to a line rounding does not decide which side a point is on.
    #[must_use]
    pub fn on_cells(&self, points: &[[f64; 2]]) -> Problem {
        let of = |field: &FieldRef| -> FieldRef {
            let beside: Option<Vec<FieldRef>> = points.iter().map(|&point| field.beside(point)).collect();
            match beside.filter(|_| !field.lines().is_empty()).as_deref() {
                Some([first, others @ ..]) => {
                    let regions = others.iter().cloned().enumerate().collect();
                    Arc::new(Regional::new(first.clone(), regions))
                }
                _ => field.clone(),
            }
        };
        Problem { equation: self.equation.map_fields(of), source: of(&self.source), ..self.clone() }
    }

    /// The problem with other coefficients, source and conditions, each made of its own.
    #[must_use]
    pub fn map_fields(&self, of: impl Fn(&FieldRef) -> FieldRef) -> Problem {
        let condition = |condition: &Condition| Condition {
            kind: match &condition.kind {
                ConditionKind::Robin { coefficient } => ConditionKind::Robin { coefficient: of(coefficient) },
                other => other.clone(),
            },
            values: condition.values.iter().map(&of).collect(),
        };
        Problem {
            equation: self.equation.map_fields(&of),
            source: of(&self.source),
            conditions: self.conditions.iter().map(condition).collect(),
            ..self.clone()
        }
    }
}

impl Equation {
    /// `-div(a grad u) + b . grad u + c u = f`.
    pub fn second_order(diffusion: Diffusion, advection: Option<[FieldRef; 2]>, reaction: Option<FieldRef>) -> Self {
        Equation::SecondOrder { diffusion, advection, reaction }
    }

    /// `Laplacian^2 u = q / D`, with the rigidity D.
    pub fn plate(rigidity: FieldRef) -> Self {
        Equation::Plate { rigidity }
    }

    /// a, where `-div(a grad u)` is the leading term.
    pub fn leading(&self) -> Option<&Diffusion> {
        match self {
            Equation::SecondOrder { diffusion, .. } => Some(diffusion),
            Equation::Plate { .. } => None,
        }
    }

    /// Whether something flows, or diffuses, in one direction more than in others.
    pub fn has_directions(&self) -> bool {
        self.advection().is_some() || matches!(self.leading(), Some(Diffusion::Tensor(_)))
    }

    /// b, where there is a term `b . grad u`.
    pub fn advection(&self) -> Option<&[FieldRef; 2]> {
        match self {
            Equation::SecondOrder { advection, .. } => advection.as_ref(),
            Equation::Plate { .. } => None,
        }
    }

    /// c, where there is a term `c u`.
    pub fn reaction(&self) -> Option<&FieldRef> {
        match self {
            Equation::SecondOrder { reaction, .. } => reaction.as_ref(),
            Equation::Plate { .. } => None,
        }
    }

    /// Whether the operator is the sum of squares: no advection, and a reaction that is known not to be negative.
    pub fn is_positive(&self) -> bool {
        let not_negative = |c: &FieldRef| c.constant().is_some_and(|c| c >= 0.0);
        self.advection().is_none() && self.reaction().is_none_or(not_negative)
    }

    /// The equation with a multiple of u added to the operator; nothing where it has no place for one.
    pub fn plus_reaction(&self, by: f64) -> Option<Equation> {
        match self {
            Equation::SecondOrder { diffusion, advection, reaction } => Some(Equation::SecondOrder {
                diffusion: diffusion.clone(),
                advection: advection.clone(),
                reaction: Some(shifted(reaction.as_ref(), by)),
            }),
            Equation::Plate { .. } => None,
        }
    }

    /// The equation with more diffusion, by as much in every direction; nothing where it has none.
    pub fn plus_diffusion(&self, by: f64) -> Option<Equation> {
        let Equation::SecondOrder { diffusion, advection, reaction } = self else { return None };
        let more = |a: &FieldRef| shifted(Some(a), by);
        let diffusion = match diffusion {
            Diffusion::Scalar(a) => Diffusion::Scalar(more(a)),
            Diffusion::Tensor([[a, b], [c, d]]) => Diffusion::Tensor([[more(a), b.clone()], [c.clone(), more(d)]]),
        };
        Some(Equation::SecondOrder { diffusion, advection: advection.clone(), reaction: reaction.clone() })
    }

    /// Whether what is fed inside leaves as the flux through the boundary, but for a reaction. With advection some is carried
    /// out by it.
    pub fn conserves(&self) -> bool {
        self.leading().is_some() && self.advection().is_none()
    }

    /// Whether the operator is known to be its own adjoint, with homogeneous conditions.
    pub fn is_self_adjoint(&self) -> bool {
        let symmetric = match self.leading() {
            Some(Diffusion::Tensor([[_, b], [c, _]])) => {
                Arc::ptr_eq(b, c) || (b.constant().is_some() && b.constant() == c.constant())
            }
            _ => true,
        };
        symmetric && self.advection().is_none()
    }

    /// The equation with other fields.
    #[must_use]
    pub fn map_fields(&self, of: impl Fn(&FieldRef) -> FieldRef) -> Equation {
        match self {
            Equation::SecondOrder { diffusion, advection, reaction } => Equation::SecondOrder {
                diffusion: match diffusion {
                    Diffusion::Scalar(a) => Diffusion::Scalar(of(a)),
                    Diffusion::Tensor(a) => Diffusion::Tensor(a.each_ref().map(|row| row.each_ref().map(&of))),
                },
                advection: advection.as_ref().map(|b| b.each_ref().map(&of)),
                reaction: reaction.as_ref().map(&of),
            },
            Equation::Plate { rigidity } => Equation::Plate { rigidity: of(rigidity) },
        }
    }

    /// All terms of the operator, as it stands before the [load](Equation::load_unit).
    pub fn terms(&self) -> Vec<Term<'_>> {
        let mut terms = Vec::new();
        match self {
            Equation::SecondOrder { diffusion, advection, reaction } => {
                for (i, row) in diffusion.by_rows().into_iter().enumerate() {
                    for (j, field) in row.into_iter().enumerate().filter_map(|(j, field)| Some((j, field?))) {
                        let [p, q] = [DIRECTIONS[i], DIRECTIONS[j]];
                        let term = |slope, of| Term { factor: -1.0, field, key: "equation.diffusion", slope, of };
                        terms.push(term([0, 0], [p[0] + q[0], p[1] + q[1]]));
                        terms.push(term(p, q));
                    }
                }
                let lower = |field, key, of| Term { factor: 1.0, field, key, slope: [0, 0], of };
                let advection = advection.iter().flatten().zip(DIRECTIONS);
                terms.extend(advection.map(|(b, of)| lower(b, "equation.advection", of)));
                terms.extend(reaction.iter().map(|c| lower(c, "equation.reaction", [0, 0])));
            }
            Equation::Plate { rigidity: field } => {
                let (key, slope) = ("equation.plate.rigidity", [0, 0]);
                let squared = [(1.0, [4, 0]), (2.0, [2, 2]), (1.0, [0, 4])];
                terms.extend(squared.map(|(factor, of)| Term { factor, field, key, slope, of }));
            }
        }
        terms
    }

    /// Whether all coefficients are the same everywhere.
    pub fn is_constant(&self) -> bool {
        self.terms().iter().all(|term| term.field.constant().is_some_and(f64::is_finite))
    }

    /// Whether the operator is the same where everything is turned or reflected.
    pub fn prefers_no_direction(&self) -> bool {
        match self {
            Equation::SecondOrder { diffusion, advection, .. } => {
                matches!(diffusion, Diffusion::Scalar(_)) && advection.is_none()
            }
            Equation::Plate { .. } => true,
        }
    }
}

impl Diffusion {
    /// The entries by rows; nothing where one is zero.
    pub fn by_rows(&self) -> [[Option<&FieldRef>; 2]; 2] {
        match self {
            Diffusion::Scalar(a) => [[Some(a), None], [None, Some(a)]],
            Diffusion::Tensor(a) => a.each_ref().map(|row| row.each_ref().map(Some)),
        }
    }
}

impl Condition {
    /// The condition that gives u, and its normal derivative where the equation wants two values.
    pub fn fixing(equation: &Equation, u: FieldRef, slope: FieldRef) -> Self {
        match equation.pairs() {
            1 => Condition::dirichlet(u),
            _ => Condition::clamped(u, slope),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::{Samples, constant, function};

    fn value(field: &FieldRef) -> f64 {
        let mut out = [0.0];
        field.values(&Samples::at(&[0.5], &[0.25]), &mut out).unwrap();
        out[0]
    }

    /// `L (x^3 y^2)` with constant coefficients, term by term.
    fn on_polynomial(equation: &Equation) -> f64 {
        let power = |x: f64, n: usize, k: usize| -> f64 {
            if k > n { 0.0 } else { (0..k).map(|i| (n - i) as f64).product::<f64>() * x.powi((n - k) as i32) }
        };
        let terms = equation.terms().into_iter().filter(|term| term.slope == [0, 0]);
        terms.map(|t| t.factor * value(t.field) * power(0.5, 3, t.of[0]) * power(0.25, 2, t.of[1])).sum()
    }

    #[test]
    fn the_terms_are_the_operator() {
        let [x, y] = [0.5_f64, 0.25_f64];
        let tensor = [[constant(2.0), constant(0.5)], [constant(0.25), constant(3.0)]];
        let advection = Some([constant(5.0), constant(7.0)]);
        let equation = Equation::second_order(Diffusion::Tensor(tensor), advection, Some(constant(11.0)));
        let (xx, xy, yy) = (6.0 * x * y * y, 6.0 * x * x * y, 2.0 * x * x * x);
        let lower = 5.0 * 3.0 * x * x * y * y + 7.0 * 2.0 * x * x * x * y + 11.0 * x * x * x * y * y;
        let expected = -2.0 * xx - 0.75 * xy - 3.0 * yy + lower;
        assert!((on_polynomial(&equation) - expected).abs() < 1e-13);
        // 2 u_xxyy = 2 * 6 x * 2
        assert!((on_polynomial(&Equation::plate(constant(3.0))) - 3.0 * 24.0 * x).abs() < 1e-13);
        let slopes = equation.terms().into_iter().filter(|term| term.slope != [0, 0]);
        assert_eq!(slopes.map(|t| (t.slope, t.of)).collect::<Vec<_>>().len(), 4);
    }

    #[test]
    fn a_reaction_is_added_where_there_is_a_place_for_it() {
        let shifted = Equation::poisson().plus_reaction(2.0).and_then(|e| e.plus_reaction(1.0)).unwrap();
        assert_eq!(shifted.reaction().and_then(|c| c.constant()), Some(3.0));
        assert!(Equation::plate(constant(1.0)).plus_reaction(1.0).is_none());
    }

    #[test]
    fn diffusion_is_added_in_both_directions() {
        let equation = Equation::second_order(Diffusion::Scalar(constant(2.0)), None, None);
        let Some(Equation::SecondOrder { diffusion: Diffusion::Scalar(a), .. }) = equation.plus_diffusion(3.0) else {
            panic!("the equation is of second order");
        };
        assert_eq!(value(&a), 5.0);
        let tensor = Diffusion::Tensor([[constant(2.0), constant(0.5)], [constant(0.5), constant(1.0)]]);
        let more = Equation::second_order(tensor, None, None).plus_diffusion(3.0).unwrap();
        let entries: Vec<f64> = more.leading().unwrap().entries().into_iter().map(value).collect();
        assert_eq!(entries, [5.0, 0.5, 0.5, 4.0]);
        assert!(Equation::plate(constant(1.0)).plus_diffusion(1.0).is_none());
    }

    #[test]
    fn every_field_is_replaced() {
        let advection = Some([constant(1.0), constant(2.0)]);
        let equation = Equation::second_order(Diffusion::Scalar(constant(3.0)), advection, Some(constant(4.0)));
        for equation in [equation, Equation::plate(constant(5.0))] {
            let doubled = equation.map_fields(|field| {
                let twice = 2.0 * value(field);
                function(move |_, _| twice)
            });
            let (old, new) = (equation.fields(), doubled.fields());
            assert_eq!(old.len(), new.len());
            old.iter().zip(&new).for_each(|(old, new)| assert_eq!(2.0 * value(old.1), value(new.1), "{}", old.0));
        }
    }
}
