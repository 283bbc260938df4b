//! Boundary value problems as people write them, in lines of text.

use crate::problem::field::FieldRef;
use crate::problem::model::{Condition, ConditionKind, Diffusion, Equation, Problem};

impl Problem {
    /// The equation, with its coefficients below it.
    ///
    /// Coefficients that are constant stand in the equation, and those that do nothing are left out.
    pub fn typeset_equation(&self) -> Vec<String> {
        let (left, mut below) = match &self.equation {
            Equation::SecondOrder { diffusion, advection, reaction } => second_order(diffusion, advection, reaction),
            Equation::Plate { rigidity } => match rigidity.constant() {
                Some(1.0) => ("Δ²u".into(), Vec::new()),
                Some(d) => (format!("{d} Δ²u"), Vec::new()),
                None => ("D Δ²u".into(), vec![format!("D = {}", rigidity.describe())]),
            },
        };
        let right = match self.source.constant() {
            Some(f) => f.to_string(),
            None => {
                below.push(format!("f = {}", self.source.describe()));
                "f".into()
            }
        };
        let mut lines = vec![format!("{left} = {right}")];
        lines.extend(below);
        lines
    }

    /// The conditions on the parts of the boundary, by their names, one line for parts that have the same; and the mean.
    pub fn typeset_boundary(&self, parts: &[String]) -> Vec<String> {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for (condition, side) in self.conditions.iter().zip(parts) {
            let text = condition.typeset(&self.equation);
            match groups.iter_mut().find(|(known, _)| *known == text) {
                Some((_, sides)) => sides.push(side),
                None => groups.push((text, vec![side])),
            }
        }
        let place = |sides: Vec<&str>| match sides.len() {
            1 if parts.len() == 1 => "on the boundary".into(),
            all if all == parts.len() => "on every side".into(),
            _ => format!("on the {}", listed(&sides)),
        };
        let mean = self.mean.map(|mean| format!("the mean of u is {mean}"));
        groups.into_iter().map(|(text, sides)| format!("{text}   {}", place(sides))).chain(mean).collect()
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

impl Condition {
    fn typeset(&self, equation: &Equation) -> String {
        let value = |i: usize| self.values.get(i).map_or_else(String::new, |field| field.describe());
        let flux = match equation {
            Equation::SecondOrder { diffusion: Diffusion::Scalar(a), .. } if a.constant() == Some(1.0) => "∂u/∂n",
            _ => "n·a∇u",
        };
        match &self.kind {
            ConditionKind::Dirichlet => format!("u = {}", value(0)),
            ConditionKind::Neumann => format!("{flux} = {}", value(0)),
            ConditionKind::Robin { coefficient } => format!("{flux} + {} = {}", times_u(coefficient), value(0)),
            ConditionKind::SimplySupported => format!("u = {}, Δu = {}", value(0), value(1)),
            ConditionKind::Clamped => format!("u = {}, ∂u/∂n = {}", value(0), value(1)),
        }
    }
}

/// The left-hand side, and what its letters mean.
fn second_order(
    diffusion: &Diffusion,
    advection: &Option<[FieldRef; 2]>,
    reaction: &Option<FieldRef>,
) -> (String, Vec<String>) {
    let mut below = Vec::new();
    let mut left = match diffusion {
        Diffusion::Scalar(a) => match a.constant() {
            Some(1.0) => "-Δu".into(),
            Some(a) => format!("-{a} Δu"),
            None => {
                below.push(format!("a = {}", a.describe()));
                "-∇·(a∇u)".into()
            }
        },
        Diffusion::Tensor(a) => {
            let row = |row: &[FieldRef; 2]| format!("[{}, {}]", row[0].describe(), row[1].describe());
            below.push(format!("a = [{}, {}]", row(&a[0]), row(&a[1])));
            "-∇·(a∇u)".into()
        }
    };
    if let Some(b) = advection {
        left += " + b·∇u";
        below.push(format!("b = ({}, {})", b[0].describe(), b[1].describe()));
    }
    if let Some(c) = reaction {
        match c.constant() {
            Some(c) if c < 0.0 => left += &format!(" - {} u", -c),
            Some(c) => left += &format!(" + {c} u"),
            None => {
                left += " + c u";
                below.push(format!("c = {}", c.describe()));
            }
        }
    }
    (left, below)
}

/// A coefficient times u.
fn times_u(field: &FieldRef) -> String {
    match field.constant() {
        Some(1.0) => "u".into(),
        Some(value) => format!("{value} u"),
        None => format!("({}) u", field.describe()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::ProblemFile;

    fn problem(equation: &str, boundary: &str) -> Problem {
        let text = format!(
            "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\n{equation}\n[boundary]\n{boundary}\n\
             [discretization]\nsubdomains = [2, 2]\npoints = 8\n"
        );
        ProblemFile::new(text).case().unwrap().problem
    }

    fn sides() -> Vec<String> {
        crate::problem::model::SIDES.map(String::from).to_vec()
    }

    #[test]
    fn equations_read_as_on_paper() {
        let cases = [
            ("source = 1", vec!["-Δu = 1"]),
            ("diffusion = 0.5\nreaction = -400\nsource = 'x'", vec!["-0.5 Δu - 400 u = f", "f = x"]),
            (
                "diffusion = '1 + x'\nadvection = [1, 'y']\nreaction = 'x^2'\nsource = 0",
                vec!["-∇·(a∇u) + b·∇u + c u = 0", "a = 1 + x", "b = (1, y)", "c = x^2"],
            ),
            ("diffusion = [[2, 'x'], ['x', 1]]\nsource = 'y'", vec!["-∇·(a∇u) = f", "a = [[2, x], [x, 1]]", "f = y"]),
        ];
        for (text, expected) in cases {
            assert_eq!(problem(text, "dirichlet = 0").typeset_equation(), expected);
        }
        let plate = problem("plate = { load = 'x', rigidity = 2 }", "dirichlet = 0\nlaplacian = 0");
        assert_eq!(plate.typeset_equation(), ["2 Δ²u = f", "f = x"]);
        assert_eq!(plate.typeset_boundary(&sides()), ["u = 0, Δu = 0   on every side"]);
    }

    #[test]
    fn sides_with_the_same_condition_share_a_line() {
        let text = "dirichlet = 'x*y'\nleft = { neumann = 0 }\ntop = { robin = { coefficient = '1 + x', value = 2 } }";
        assert_eq!(
            problem("source = 0", text).typeset_boundary(&sides()),
            ["∂u/∂n = 0   on the left", "u = x*y   on the right and bottom", "∂u/∂n + (1 + x) u = 2   on the top"]
        );
        let three = problem("source = 0", "dirichlet = 0\nleft = { neumann = 0 }").typeset_boundary(&sides());
        assert_eq!(three, ["∂u/∂n = 0   on the left", "u = 0   on the right, bottom and top"]);
    }
}
