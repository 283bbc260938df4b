"""Elliptic boundary value problems by domain-decomposed extreme learning machines.

The domain, a rectangle or any other in the plane, is cut into subdomains. On each of them the solution is a neural network with one hidden
layer of random, fixed features; its output coefficients come from least squares, coupled through the values on the
interfaces. The equations are of second order, ``-div(a grad u) + b . grad u + c u = f``, or the plate,
``Laplacian^2 u = q / D``.

>>> import numpy as np, ddelm
>>> problem = ddelm.Problem(diffusion=lambda x, y: 1.1 + np.tanh(np.sin(5 * x)), source=1.0, dirichlet=0.0)
>>> u = ddelm.solve(problem, subdomains=(4, 4), points=12)
>>> bool(abs(u(0.5, 0.5) - 0.1) < 0.1)
True

`Problem`, `Plate` and `from_toml` make problems, `solve` and `Solver` solve them, `evolve` goes through time, `eigenvalues` finds
eigenvalues, a `Solution` is a function of (x, y).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ddelm._native import __version__, set_threads, threads

if TYPE_CHECKING:
    from ddelm.boundary import Clamped, Condition, Dirichlet, Neumann, Robin, SimplySupported
    from ddelm.check import Check
    from ddelm.domain import Domain
    from ddelm.elements import FiniteElementSolution, finite_element
    from ddelm.evolution import Series, evolve
    from ddelm.fields import Formula, Grid, RandomField
    from ddelm.functions import Function
    from ddelm.gradient import Functional, Gradient, Sensitivity
    from ddelm.layer import Layer
    from ddelm.problem import Plate, Problem, from_toml
    from ddelm.progress import Progress
    from ddelm.report import Errors, Estimate, Report
    from ddelm.sliders import explore
    from ddelm.solution import Solution, load
    from ddelm.solver import Solver, solve
    from ddelm.spectrum import Eigenpair, eigenvalues
    from ddelm.sweeps import Sweep, sweep

#: The modules of the names above. They are imported at first use: the command line needs none of them, nor NumPy, whose
#: threads would take its signals.
_MODULES = {
    "boundary": ("Clamped", "Condition", "Dirichlet", "Neumann", "Robin", "SimplySupported"),
    "check": ("Check",),
    "domain": ("Domain",),
    "elements": ("FiniteElementSolution", "finite_element"),
    "evolution": ("Series", "evolve"),
    "fields": ("Formula", "Grid", "RandomField"),
    "functions": ("Function",),
    "gradient": ("Functional", "Gradient", "Sensitivity"),
    "layer": ("Layer",),
    "problem": ("Plate", "Problem", "from_toml"),
    "progress": ("Progress",),
    "report": ("Errors", "Estimate", "Report"),
    "sliders": ("explore",),
    "solution": ("Solution", "load"),
    "solver": ("Solver", "solve"),
    "spectrum": ("Eigenpair", "eigenvalues"),
    "sweeps": ("Sweep", "sweep"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Check",
    "Clamped",
    "Condition",
    "Dirichlet",
    "Domain",
    "Eigenpair",
    "Errors",
    "Estimate",
    "FiniteElementSolution",
    "Formula",
    "Function",
    "Functional",
    "Gradient",
    "Grid",
    "Layer",
    "Neumann",
    "Plate",
    "Problem",
    "Progress",
    "RandomField",
    "Report",
    "Robin",
    "Sensitivity",
    "Series",
    "SimplySupported",
    "Solution",
    "Solver",
    "Sweep",
    "__version__",
    "eigenvalues",
    "evolve",
    "explore",
    "finite_element",
    "from_toml",
    "load",
    "set_threads",
    "solve",
    "sweep",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ddelm.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
