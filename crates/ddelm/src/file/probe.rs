//! Whether the functions of a problem are finite where they will be needed, without solving it.

use super::case::Case;
use super::equation::SIDES;
use crate::collocation::Collocation;
use crate::error::Result;
use crate::field::FieldRef;
use crate::map::side_point;
use crate::operator::Sample;
use crate::problem::{ConditionKind, Diffusion, Equation};

/// Points along each side at which boundary values are tried.
const ALONG: usize = 64;

impl Case {
    /// Evaluates every function at the nodes, and says which one is not finite and where.
    pub fn probe(&self) -> Result<()> {
        let decomposition = self.decomposition()?;
        let collocation = Collocation::new(self.settings.nodes, self.settings.points);
        let interior = self.interior_fields();
        for (s, subdomain) in decomposition.subdomains.iter().enumerate() {
            let nodes = Sample::new(subdomain.map.as_ref(), collocation.interior.iter().copied());
            for (key, field) in &interior {
                nodes.values(field.as_ref(), key, s)?;
            }
        }
        for (part, condition) in self.problem.conditions.iter().enumerate() {
            let along = (1..ALONG).map(|k| side_point(part, k as f64 / ALONG as f64));
            let (x, y) = along
                .map(|t| (self.x[0] + t[0] * (self.x[1] - self.x[0]), self.y[0] + t[1] * (self.y[1] - self.y[0])))
                .unzip();
            let nodes = Sample { x, y };
            let coefficient = match &condition.kind {
                ConditionKind::Robin { coefficient } => Some(coefficient),
                _ => None,
            };
            for field in condition.values.iter().chain(coefficient) {
                nodes.values(field.as_ref(), &format!("boundary.{}", SIDES[part]), 0)?;
            }
        }
        Ok(())
    }

    /// The functions of the equation, with their keys.
    fn interior_fields(&self) -> Vec<(&'static str, &FieldRef)> {
        let mut fields = vec![];
        match &self.problem.equation {
            Equation::SecondOrder { diffusion, advection, reaction } => {
                match diffusion {
                    Diffusion::Scalar(a) => fields.push(("equation.diffusion", a)),
                    Diffusion::Tensor(a) => fields.extend(a.iter().flatten().map(|a| ("equation.diffusion", a))),
                }
                fields.extend(advection.iter().flatten().map(|b| ("equation.advection", b)));
                fields.extend(reaction.iter().map(|c| ("equation.reaction", c)));
                fields.push(("equation.source", &self.problem.source));
            }
            Equation::Plate { rigidity } => {
                fields.extend([("equation.plate.rigidity", rigidity), ("equation.plate.load", &self.problem.source)]);
            }
        }
        fields.extend(self.problem.exact.iter().map(|u| ("exact.u", u)));
        fields
    }
}
