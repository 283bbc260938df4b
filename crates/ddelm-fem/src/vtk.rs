//! Finite element solutions for ParaView.

use std::path::Path;

use ddelm::domain::sample::Sample;
use ddelm::solution::vtk::{Cells, MOST_CELLS, Patch, vectors_of, write_patches};
use ddelm::{Problem, Result};

use crate::FiniteElementSolution;

/// Writes a finite element solution as a `.vtu` file, with the values at its nodes, or, where there are more than
/// [`MOST_CELLS`] cells along a side, at so many points.
///
/// The fields are those of [`vtk::write`](ddelm::solution::vtk::write()) except for the residual, which a function that is linear in triangles does not
/// have. The gradient at a node is that in one of the triangles that meet there.
pub fn write(path: impl AsRef<Path>, solution: &FiniteElementSolution, problem: &Problem) -> Result<()> {
    let cells = solution.cells().map(|cells| cells.min(MOST_CELLS));
    let patch = patch(solution, problem, cells)?;
    write_patches(path, &[patch])
}

/// The solution as one patch.
fn patch(solution: &FiniteElementSolution, problem: &Problem, [cx, cy]: [usize; 2]) -> Result<Patch> {
    let [x0, x1, y0, y1] = solution.bounding_box();
    let at =
        |k: usize, count: usize, a: f64, b: f64| if k == count { b } else { a + (b - a) * k as f64 / count as f64 };
    let (x, y) = (0..=cy).flat_map(|j| (0..=cx).map(move |i| (at(i, cx, x0, x1), at(j, cy, y0, y1)))).unzip();
    let points = Sample::at(x, y);
    let [mut u, mut ux, mut uy] = [(); 3].map(|()| vec![0.0; points.x.len()]);
    solution.values(&points.x, &points.y, &mut u);
    solution.gradients(&points.x, &points.y, &mut ux, &mut uy);
    let mut vectors = vec![("gradient", vectors_of(&ux, &uy))];
    if let Some(diffusion) = problem.equation.leading() {
        let entries = diffusion.entries().into_iter().map(|a| points.values(a.as_ref(), "equation.diffusion", 0));
        let a: Vec<Vec<f64>> = entries.collect::<Result<_>>()?;
        let row = |k: usize| -> Vec<f64> {
            let entry = |i: usize| match &a[..] {
                [a] => a[i] * if k == 0 { ux[i] } else { uy[i] },
                a => a[2 * k][i] * ux[i] + a[2 * k + 1][i] * uy[i],
            };
            (0..ux.len()).map(entry).collect()
        };
        vectors.push(("flux", vectors_of(&row(0), &row(1))));
    }
    let mut scalars = vec![("u", u)];
    if let Some(exact) = &problem.exact {
        let exact = points.values(exact.as_ref(), "exact.u", 0)?;
        let error = scalars[0].1.iter().zip(exact).map(|(u, e)| u - e).collect();
        scalars.push(("error", error));
    }
    let cells = Cells::Grid([cx, cy]);
    Ok(Patch { subdomain: 0, points: vectors_of(&points.x, &points.y), cells, scalars, vectors })
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ddelm::problem::Diffusion;
    use ddelm::{Condition, Equation, constant, function};

    use super::*;

    /// The numbers of an array of a file.
    fn read(text: &str, name: &str) -> Vec<f64> {
        let start = text.find(&format!("Name=\"{name}\"")).unwrap();
        let encoded = text[start..].lines().nth(1).unwrap();
        let bytes = STANDARD.decode(encoded).unwrap();
        assert_eq!(u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize, bytes.len() - 8);
        bytes[8..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn finite_elements_are_written_at_their_nodes() {
        let exact = function(|x, y| x - 2.0 * y);
        let tensor = [[constant(2.0), constant(1.0)], [constant(1.0), constant(3.0)]];
        let problem = Problem::new(
            Equation::SecondOrder { diffusion: Diffusion::Tensor(tensor), advection: None, reaction: None },
            constant(0.0),
            vec![Condition::dirichlet(exact.clone()); 4],
        )
        .with_exact(exact);
        let settings = crate::Settings::new([6, 3]);
        let solution = crate::solve(&problem, [0.0, 2.0], [1.0, 2.0], &settings).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.vtu");
        write(&path, &solution, &problem).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(r#"NumberOfPoints="28" NumberOfCells="18""#) && !text.contains("residual"));
        let [points, u, gradient, flux, error] =
            ["points", "u", "gradient", "flux", "error"].map(|name| read(&text, name));
        assert!(u.len() == 28 && u.iter().zip(solution.nodal()).all(|(a, b)| (a - b).abs() < 1e-14));
        for i in 0..28 {
            assert!((u[i] - points[3 * i] + 2.0 * points[3 * i + 1]).abs() < 1e-8 && error[i].abs() < 1e-8);
            assert!((gradient[3 * i] - 1.0).abs() < 1e-7 && (gradient[3 * i + 1] + 2.0).abs() < 1e-7);
            assert!(flux[3 * i].abs() < 1e-6 && (flux[3 * i + 1] + 5.0).abs() < 1e-6);
        }
    }
}
