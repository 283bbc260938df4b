"""Elliptic boundary value problems by domain-decomposed extreme learning machines.

The domain is a rectangle, cut into subdomains. On each of them the solution is a neural network with one hidden
layer of random, fixed features; its output coefficients come from least squares, coupled through the values on the
interfaces. The equations are of second order, ``-div(a grad u) + b . grad u + c u = f``, or the plate,
``Laplacian^2 u = q / D``.

>>> import numpy as np, ddelm
>>> problem = ddelm.Problem(diffusion=lambda x, y: 1.1 + np.tanh(np.sin(5 * x)), source=1.0, dirichlet=0.0)
>>> u = ddelm.solve(problem, subdomains=(4, 4), points=12)
>>> bool(abs(u(0.5, 0.5) - 0.1) < 0.1)
True

`Problem`, `Plate` and `from_toml` make problems, `solve` and `Solver` solve them, a `Solution` is a function of
(x, y).
"""

from ddelm._native import __version__, set_threads, threads
from ddelm.boundary import Clamped, Condition, Dirichlet, Neumann, Robin, SimplySupported
from ddelm.fields import Formula, RandomField
from ddelm.finite_element import FiniteElementSolution, finite_element
from ddelm.problem import Plate, Problem, from_toml
from ddelm.progress import Progress
from ddelm.report import Errors, Estimate, Report
from ddelm.solution import Solution, load
from ddelm.solver import Solver, solve

__all__ = [
    "Clamped",
    "Condition",
    "Dirichlet",
    "Errors",
    "Estimate",
    "FiniteElementSolution",
    "Formula",
    "Neumann",
    "Plate",
    "Problem",
    "Progress",
    "RandomField",
    "Report",
    "Robin",
    "SimplySupported",
    "Solution",
    "Solver",
    "__version__",
    "finite_element",
    "from_toml",
    "load",
    "set_threads",
    "solve",
    "threads",
]
