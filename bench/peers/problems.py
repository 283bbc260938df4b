"""The problems, as formulas that every system reads, and the points where errors are measured.

    -div(diffusion grad u) + advection . grad u + reaction u = source    in the unit square, u = dirichlet on its boundary
                                             Laplacian^2 u = source      the plate, u = Laplacian u = 0 on its boundary

Formulas are written for ddelm (`^` is a power); `function` turns them into functions of any array library.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A problem in the unit square with a known solution."""

    name: str
    title: str
    source: str
    exact: str
    diffusion: str = ""
    diffusion_gradient: tuple[str, ...] = ()
    advection: tuple[float, ...] = ()
    reaction: float = 0.0
    plate: bool = False
    #: Breaks of the panels of Gauss points in x and y. They do not meet the sides of the systems' elements.
    panels: tuple[float, ...] = (0.0, 0.173, 0.391, 0.618, 0.827, 1.0)
    #: Waves per side: what decides how fine a discretization must be.
    waves: int = 1

    @property
    def dirichlet(self) -> str:
        """Boundary values: a number where they vanish."""
        return "0" if self.plate or self.name in ("P2", "f1") or self.name.startswith("scale") else self.exact


#: The coefficient of P3 in terms of s = 5 x + 2 y, its derivative by s, and the second derivative of t = tanh(3 sin(s)).
_S = "(5*x + 2*y)"
_T = f"tanh(3*sin{_S})"
_RHO = f"(1.1 + {_T})"
_Q = f"(3*(1 - {_T}^2)*cos{_S})"
_DQ = f"(-6*{_T}*{_Q}*cos{_S} - 3*(1 - {_T}^2)*sin{_S})"
_VARIABLE = {"diffusion": _RHO, "diffusion_gradient": (f"5*{_Q}", f"2*{_Q}")}

_P1 = "sin(2*pi*x)*exp(y)"
_LAYER = ("(1 - exp(100*(x - 1)))", "(1 - exp(100*(y - 1)))", "cos(pi*(x + y))", "sin(pi*(x + y))")


def _layer_source() -> str:
    # u = X Y c with eps = 0.01, where X' = 100 (X - 1), X'' = 100 X', and the same for Y.
    ex, ey, c, s = _LAYER
    dx, dy = f"(100*({ex} - 1))", f"(100*({ey} - 1))"
    ux = f"({dx}*{ey}*{c} - pi*{ex}*{ey}*{s})"
    uy = f"({ex}*{dy}*{c} - pi*{ex}*{ey}*{s})"
    uxx = f"(100*{dx}*{ey}*{c} - 2*pi*{dx}*{ey}*{s} - pi^2*{ex}*{ey}*{c})"
    uyy = f"(100*{ex}*{dy}*{c} - 2*pi*{ex}*{dy}*{s} - pi^2*{ex}*{ey}*{c})"
    return f"2*{ux} + {uy} - 0.01*({uxx} + {uyy})"


PROBLEMS = {
    problem.name: problem
    for problem in [
        Problem("P1", "P1: Poisson, u = sin(2 pi x) exp(y)", f"(4*pi^2 - 1)*{_P1}", _P1),
        Problem(
            "P2",
            "P2: Poisson, u = sin(8 pi x) sin(8 pi y)",
            "128*pi^2*sin(8*pi*x)*sin(8*pi*y)",
            "sin(8*pi*x)*sin(8*pi*y)",
            waves=4,
        ),
        Problem(
            "P3",
            "P3: diffusion 1.1 + tanh(3 sin(5x + 2y)), u = sin(2 pi x) exp(y)",
            f"{_RHO}*(4*pi^2 - 1)*{_P1} - {_Q}*exp(y)*(10*pi*cos(2*pi*x) + 2*sin(2*pi*x))",
            _P1,
            **_VARIABLE,
            waves=2,
        ),
        Problem(
            "P3b",
            "P3b: diffusion 1.1 + tanh(3 sin(5x + 2y)), u = tanh(3 sin(5x + 2y))",
            f"-29*({_Q}^2 + {_RHO}*{_DQ})",
            _T,
            **_VARIABLE,
            waves=4,
        ),
        Problem("plate", "plate: simply supported, u = sin(pi x) sin(pi y)", "4*pi^4*sin(pi*x)*sin(pi*y)", "sin(pi*x)*sin(pi*y)", plate=True),
        Problem("helmholtz", "Helmholtz: wave number 20, u = sin(12x + 16y)", "0", "sin(12*x + 16*y)", reaction=-400.0, waves=3),
        Problem(
            "f1",
            "f = 1, u = 0 on the boundary: singular corners",
            "1",
            "torsion",
            panels=(0.0, 0.0123, 0.0711, 0.227, 0.531, 0.779, 0.931, 0.9881, 1.0),
        ),
        Problem(
            "layer",
            "layer: diffusion 0.01, advection (2, 1), layers at x = 1 and y = 1",
            _layer_source(),
            "*".join(_LAYER[:3]),
            diffusion="0.01",
            diffusion_gradient=("0", "0"),
            advection=(2.0, 1.0),
            panels=(0.0, 0.293, 0.571, 0.783, 0.907, 0.9537, 0.9791, 0.9913, 1.0),
        ),
    ]
}


def scale(waves: int) -> Problem:
    """Return the problem of the scale rows: P3's coefficient, one wave per subdomain."""
    k = f"{2 * waves}*pi"
    u, ux, uy = f"sin({k}*x)*sin({k}*y)", f"cos({k}*x)*sin({k}*y)", f"sin({k}*x)*cos({k}*y)"
    return Problem(
        f"scale{waves}",
        f"{waves} x {waves} waves, diffusion 1.1 + tanh(3 sin(5x + 2y))",
        f"2*({k})^2*{_RHO}*{u} - ({k})*{_Q}*(5*{ux} + 2*{uy})",
        u,
        **_VARIABLE,
        waves=waves,
    )


def named(name: str) -> Problem:
    """Return a problem by its name."""
    return scale(int(name[5:])) if name.startswith("scale") else PROBLEMS[name]


def function(formula: str, library):
    """Return a formula as a function of x and y, with the elementary functions of a library."""
    names = {name: getattr(library, name) for name in ("sin", "cos", "exp", "tanh")}
    return eval("lambda x, y: " + formula.replace("^", "**"), {"pi": math.pi, **names})


def measured_at(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points x, y and weights of a quadrature in the unit square: none of them is a node of a system."""
    if problem.name.startswith("scale"):
        x, y = np.random.default_rng(1).random((2, 40_000))
        return x, y, np.full(x.shape, 1 / x.size)
    nodes, weights = np.polynomial.legendre.leggauss(11)
    breaks = np.array(problem.panels)
    half = np.diff(breaks)[:, None] / 2
    line = ((breaks[:-1] + breaks[1:])[:, None] / 2 + half * nodes).ravel()
    along = (half * weights).ravel()
    x, y = np.meshgrid(line, line, indexing="ij")
    return x.ravel(), y.ravel(), np.outer(along, along).ravel()


def exact(problem: Problem, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the exact solution."""
    if problem.exact == "torsion":
        return _torsion(x, y)
    return function(problem.exact, np)(x, y)


def _torsion(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the solution of -Laplacian u = 1, u = 0, by its series in the direction where it converges faster.

    u = x (1 - x)/2 - sum over odd k of 4/(pi k)^3 sin(k pi x) cosh(k pi (y - 1/2))/cosh(k pi/2)
    """
    x, y = np.minimum(x, 1 - x), np.minimum(y, 1 - y)
    x, y = np.minimum(x, y), np.maximum(x, y)
    u = x * (1 - x) / 2
    order = np.argsort(y)
    for part in np.array_split(order, max(1, len(order) // 64)):
        k = np.arange(1, 40 / (math.pi * y[part].min()) + 2, 2)[:, None]
        decay = np.exp(-k * math.pi * y[part]) + np.exp(-k * math.pi * (1 - y[part]))
        terms = 4 / (math.pi * k) ** 3 * np.sin(k * math.pi * x[part]) * decay / (1 + np.exp(-k * math.pi))
        u[part] -= terms[::-1].sum(axis=0)
    return u


@lru_cache(maxsize=4)
def _measured(problem: Problem) -> tuple[np.ndarray, ...]:
    x, y, weights = measured_at(problem)
    return x, y, weights, exact(problem, x, y)


def relative_error(problem: Problem, values) -> float:
    """Return the relative L2 error of `values(x, y)`."""
    x, y, weights, truth = _measured(problem)
    found = np.asarray(values(x, y), dtype=float).reshape(truth.shape)
    return float(np.sqrt(np.sum(weights * (found - truth) ** 2) / np.sum(weights * truth**2)))
