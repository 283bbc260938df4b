//! The boundary value problem `L u = f` in the domain, `B u = g` on its boundary (paper, eq. (2.1)).

use crate::error::{Error, Result};
use crate::field::{FieldRef, constant};

/// The diffusion `a` in `-div(a grad u)`.
#[derive(Clone)]
pub enum Diffusion {
    /// The same in every direction.
    Scalar(FieldRef),
    /// A 2 x 2 tensor, by rows.
    Tensor([[FieldRef; 2]; 2]),
}

/// The differential operator L.
#[derive(Clone)]
pub enum Equation {
    /// `-div(a grad u) + b . grad u + c u = f`.
    SecondOrder {
        /// a
        diffusion: Diffusion,
        /// b; `None` where it is zero.
        advection: Option<[FieldRef; 2]>,
        /// c; `None` where it is zero.
        reaction: Option<FieldRef>,
    },
    /// The Kirchhoff-Love plate, `Laplacian^2 u = q / D`, with load q (the problem's source) and rigidity D.
    Plate {
        /// D
        rigidity: FieldRef,
    },
}

impl Equation {
    /// `-Laplacian u = f`.
    pub fn poisson() -> Self {
        Self::diffusion(constant(1.0))
    }

    /// `-div(a grad u) = f`.
    pub fn diffusion(a: FieldRef) -> Self {
        Equation::SecondOrder { diffusion: Diffusion::Scalar(a), advection: None, reaction: None }
    }

    /// Transmission pairs (trace, flux) across an interface: 1 for second order, 2 for the plate.
    pub fn pairs(&self) -> usize {
        match self {
            Equation::SecondOrder { .. } => 1,
            Equation::Plate { .. } => 2,
        }
    }
}

/// What kind of condition holds on a part of the boundary.
#[derive(Clone)]
pub enum ConditionKind {
    /// `u = g`.
    Dirichlet,
    /// `n . a grad u = g` (conormal flux).
    Neumann,
    /// `n . a grad u + k u = g`.
    Robin {
        /// k
        coefficient: FieldRef,
    },
    /// Plate: `u = g`, `Laplacian u = m`.
    SimplySupported,
    /// Plate: `u = g`, `du/dn = s`.
    Clamped,
}

/// A condition on a part of the boundary, with its data.
#[derive(Clone)]
pub struct Condition {
    /// The operator B.
    pub kind: ConditionKind,
    /// The data g: one field for second order, two for the plate, in the order of the kind's documentation.
    pub values: Vec<FieldRef>,
}

impl Condition {
    /// `u = g`.
    pub fn dirichlet(g: FieldRef) -> Self {
        Condition { kind: ConditionKind::Dirichlet, values: vec![g] }
    }

    /// `n . a grad u = g`.
    pub fn neumann(g: FieldRef) -> Self {
        Condition { kind: ConditionKind::Neumann, values: vec![g] }
    }

    /// `n . a grad u + k u = g`.
    pub fn robin(k: FieldRef, g: FieldRef) -> Self {
        Condition { kind: ConditionKind::Robin { coefficient: k }, values: vec![g] }
    }

    /// Plate: `u = g`, `Laplacian u = m`.
    pub fn simply_supported(g: FieldRef, m: FieldRef) -> Self {
        Condition { kind: ConditionKind::SimplySupported, values: vec![g, m] }
    }

    /// Plate: `u = g`, `du/dn = s`.
    pub fn clamped(g: FieldRef, s: FieldRef) -> Self {
        Condition { kind: ConditionKind::Clamped, values: vec![g, s] }
    }
}

/// What may change from one solve to the next with the same factorization: source and boundary values.
#[derive(Clone)]
pub struct Data {
    /// f, or the load q of a plate.
    pub source: FieldRef,
    /// The values of the condition on each part of the boundary.
    pub boundary: Vec<Vec<FieldRef>>,
}

/// A boundary value problem.
#[derive(Clone)]
pub struct Problem {
    /// L
    pub equation: Equation,
    /// f, or the load q of a plate.
    pub source: FieldRef,
    /// The condition on each part of the boundary. On a rectangle the parts are left, right, bottom, top.
    pub conditions: Vec<Condition>,
    /// The exact solution, if known: errors are measured against it. The solver does not use it.
    pub exact: Option<FieldRef>,
}

impl Problem {
    /// The source and the boundary values.
    pub fn data(&self) -> Data {
        Data { source: self.source.clone(), boundary: self.conditions.iter().map(|c| c.values.clone()).collect() }
    }

    /// Refuses conditions that do not fit the equation, and problems without a unique solution.
    pub fn validate(&self, parts: usize) -> Result<()> {
        if self.conditions.len() != parts {
            return Err(Error::input(
                "boundary",
                format!("{} conditions", self.conditions.len()),
                format!("the boundary has {parts} parts"),
                "give one condition for each of them",
            ));
        }
        let plate = matches!(self.equation, Equation::Plate { .. });
        for condition in &self.conditions {
            let for_plate = matches!(condition.kind, ConditionKind::SimplySupported | ConditionKind::Clamped);
            if plate != for_plate || condition.values.len() != self.equation.pairs() {
                let (problem, hint) = if plate {
                    (
                        "a plate needs two conditions on every side",
                        "give dirichlet and laplacian, or dirichlet and normal",
                    )
                } else {
                    ("a second-order equation needs one condition on every side", "give dirichlet, neumann or robin")
                };
                return Err(Error::input("boundary", condition.name(), problem, hint));
            }
        }
        let zero = |field: &FieldRef| field.constant() == Some(0.0);
        let floating = |condition: &Condition| match &condition.kind {
            ConditionKind::Neumann => true,
            ConditionKind::Robin { coefficient } => zero(coefficient),
            _ => false,
        };
        let no_reaction = match &self.equation {
            Equation::SecondOrder { reaction, .. } => reaction.as_ref().is_none_or(zero),
            Equation::Plate { .. } => false,
        };
        if no_reaction && self.conditions.iter().all(floating) {
            return Err(Error::NotUnique {
                reason:
                    "the flux is given on the whole boundary and there is no reaction, so u is known up to a constant"
                        .into(),
                hint: "give u on one side (dirichlet), a robin condition, or a reaction".into(),
            });
        }
        Ok(())
    }
}

impl Condition {
    /// The kind as a word.
    pub fn name(&self) -> &'static str {
        match self.kind {
            ConditionKind::Dirichlet => "dirichlet",
            ConditionKind::Neumann => "neumann",
            ConditionKind::Robin { .. } => "robin",
            ConditionKind::SimplySupported => "dirichlet and laplacian",
            ConditionKind::Clamped => "dirichlet and normal",
        }
    }
}
