//! The boundary value problem `L u = f` in the domain, `B u = g` on its boundary (paper, eq. (2.1)).

use crate::base::error::{Error, Result};
use crate::problem::field::{FieldRef, constant};

/// The sides of a rectangle, in the order of the parts of its boundary.
pub const SIDES: [&str; 4] = ["left", "right", "bottom", "top"];

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
        /// D, a positive constant: where it varies the equation has more terms, and Poisson's ratio in them.
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
    /// The condition on each part of the boundary. On a rectangle the parts are left, right, bottom, top. Periodic sides are
    /// no parts, and have no condition.
    pub conditions: Vec<Condition>,
    /// The mean of u over the domain, where equation and conditions leave a constant open: the flux is given on the whole
    /// boundary, or there is none, and there is no reaction. `None` elsewhere.
    pub mean: Option<f64>,
    /// The exact solution, if known: errors are measured against it. The solver does not use it.
    pub exact: Option<FieldRef>,
}

impl Problem {
    /// An equation with its source, and a condition on every part of the boundary.
    pub fn new(equation: Equation, source: FieldRef, conditions: Vec<Condition>) -> Self {
        Problem { equation, source, conditions, mean: None, exact: None }
    }

    /// The problem with its exact solution, which errors are measured against.
    #[must_use]
    pub fn with_exact(self, exact: FieldRef) -> Self {
        Problem { exact: Some(exact), ..self }
    }

    /// Whether the problem without data may have solutions other than zero, or nearly so, as far as its terms tell. It has
    /// none where all of them are squares and u is held somewhere: then the energy of a solution bounds it.
    pub fn may_resonate(&self) -> bool {
        let held = self.conditions.iter().any(Condition::is_essential);
        let mut multiples = self.conditions.iter().filter_map(Condition::multiple);
        let positive = self.equation.is_positive() && multiples.all(|k| k.constant().is_some_and(|k| k >= 0.0));
        !(held && positive) || self.is_nonlinear()
    }

    /// The source and the boundary values.
    pub fn data(&self) -> Data {
        Data { source: self.source.clone(), boundary: self.conditions.iter().map(|c| c.values.clone()).collect() }
    }

    /// The problem without source and boundary values.
    #[must_use]
    pub fn homogeneous(&self) -> Problem {
        let condition = |condition: &Condition| Condition {
            values: condition.values.iter().map(|_| constant(0.0)).collect(),
            ..condition.clone()
        };
        Problem {
            source: constant(0.0),
            conditions: self.conditions.iter().map(condition).collect(),
            exact: None,
            ..self.clone()
        }
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
        self.check_conditions()?;
        if let Equation::Plate { rigidity } = &self.equation {
            check_rigidity(rigidity)?;
        }
        self.check_nonlinear()?;
        let floats = self.floats();
        match self.mean {
            None if floats => Err(Error::NotUnique {
                reason:
                    "the flux is given on the whole boundary and there is no reaction, so u is known up to a constant"
                        .into(),
                hint: "give the mean of u (mean = 0), u on one side (dirichlet), a robin condition, or a reaction"
                    .into(),
            }),
            Some(mean) if !floats => Err(Error::input(
                "boundary.mean",
                mean,
                "the solution is unique without it",
                "leave it out: it is for problems with neumann conditions or periodic sides alone, and no reaction",
            )),
            Some(mean) if !mean.is_finite() => {
                Err(Error::input("boundary.mean", mean, "the mean is not a finite number", "for example 0"))
            }
            _ => Ok(()),
        }
    }
}

impl Problem {
    /// Refuses conditions of another kind of equation.
    fn check_conditions(&self) -> Result<()> {
        let plate = matches!(self.equation, Equation::Plate { .. });
        for condition in &self.conditions {
            if [condition.pairs(), condition.values.len()] != [self.equation.pairs(); 2] {
                let (problem, hint) = if plate {
                    (
                        "a plate needs two conditions on every side",
                        "give dirichlet and laplacian, or dirichlet and normal",
                    )
                } else {
                    ("a second-order equation needs one condition on every side", "give dirichlet, neumann or robin")
                };
                return Err(Error::input("boundary", condition.names()[1], problem, hint));
            }
        }
        Ok(())
    }

    /// Whether nothing holds u, so that it is known up to a constant.
    fn floats(&self) -> bool {
        let zero = |field: &FieldRef| field.constant() == Some(0.0);
        let floating = |condition: &Condition| !condition.is_essential() && condition.multiple().is_none_or(zero);
        let no_reaction = match &self.equation {
            Equation::SecondOrder { reaction, .. } => reaction.as_ref().is_none_or(zero),
            Equation::Plate { .. } => false,
        };
        let on_state = |field: &FieldRef| field.depends_on().state;
        let fixed = on_state(&self.source) || self.conditions.iter().any(|c| c.values.iter().any(on_state));
        no_reaction && !fixed && self.conditions.iter().all(floating)
    }

    /// Refuses a solution that depends on itself where that cannot be solved.
    fn check_nonlinear(&self) -> Result<()> {
        let on_state = |field: &FieldRef| field.depends_on().state;
        let plate = matches!(self.equation, Equation::Plate { .. });
        let load = plate.then_some(&self.source).filter(|load| on_state(load));
        if let Some(load) = load {
            let problem = "the load of a plate cannot depend on u";
            return Err(Error::input("equation.plate.load", load.describe(), problem, "give a formula in x and y"));
        }
        if let Some(mean) = self.mean.filter(|_| self.is_nonlinear()) {
            let (problem, hint) =
                ("a nonlinear problem is not solved up to a constant", "give u on one side (dirichlet)");
            return Err(Error::input("boundary.mean", mean, problem, hint));
        }
        let given = self.conditions.iter().filter(|c| c.is_essential() || plate).flat_map(|c| &c.values);
        if let Some(value) = given.into_iter().find(|value| on_state(value)) {
            let (problem, hint) = ("u on the boundary cannot depend on u", "give a formula in x and y, or use neumann");
            return Err(Error::input("boundary", value.describe(), problem, hint));
        }
        if let Some(exact) = self.exact.as_ref().filter(|exact| on_state(exact)) {
            let (problem, hint) = ("the exact solution cannot depend on u", "give a formula in x and y");
            return Err(Error::input("exact.u", exact.describe(), problem, hint));
        }
        Ok(())
    }
}

/// Refuses a rigidity that varies, or is not positive.
fn check_rigidity(rigidity: &FieldRef) -> Result<()> {
    let (problem, hint) = match rigidity.constant() {
        Some(d) if d > 0.0 && d.is_finite() => return Ok(()),
        Some(_) => ("the rigidity must be positive", "check the sign"),
        None => (
            "a rigidity that varies is not supported: D Laplacian^2 u = q would leave out terms with its derivatives",
            "give a number; a thickness that varies needs another program",
        ),
    };
    Err(Error::input("equation.plate.rigidity", rigidity.describe(), problem, hint))
}

impl Condition {
    /// The kind as a word, and the keys that it has in a problem file.
    fn names(&self) -> [&'static str; 2] {
        match self.kind {
            ConditionKind::Dirichlet => ["dirichlet"; 2],
            ConditionKind::Neumann => ["neumann"; 2],
            ConditionKind::Robin { .. } => ["robin"; 2],
            ConditionKind::SimplySupported => ["simply_supported", "dirichlet and laplacian"],
            ConditionKind::Clamped => ["clamped", "dirichlet and normal"],
        }
    }

    /// The kind as a word.
    pub fn name(&self) -> &'static str {
        self.names()[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::field::{constant, function};
    use crate::problem::gallery;

    #[test]
    fn a_sum_of_squares_that_is_held_somewhere_does_not_resonate() {
        let [held, bent] = [gallery::poisson(), gallery::plate(gallery::Material::PAPER)];
        assert!(!held.may_resonate() && !bent.may_resonate());
        assert!(gallery::helmholtz(12.0).may_resonate() && gallery::advection_diffusion(0.01).may_resonate());
        let with = |change: &dyn Fn(&mut Problem)| {
            let mut problem = held.clone();
            change(&mut problem);
            problem.may_resonate()
        };
        let react = |c: FieldRef| {
            with(&|problem| {
                let Equation::SecondOrder { reaction, .. } = &mut problem.equation else { return };
                *reaction = Some(c.clone());
            })
        };
        assert!(!react(constant(2.0)) && react(constant(-2.0)));
        // Nobody knows the sign of a function.
        assert!(react(function(|x, _| x)));
        let kinds = |kind: &dyn Fn(usize) -> ConditionKind| {
            with(&|problem| problem.conditions.iter_mut().enumerate().for_each(|(k, c)| c.kind = kind(k)))
        };
        let robin = |k: f64| ConditionKind::Robin { coefficient: constant(k) };
        assert!(kinds(&|_| ConditionKind::Neumann) && kinds(&|_| robin(1.0)));
        assert!(!kinds(&|k| if k == 0 { ConditionKind::Dirichlet } else { robin(1.0) }));
        assert!(kinds(&|k| if k == 0 { ConditionKind::Dirichlet } else { robin(-1.0) }));
    }
}
