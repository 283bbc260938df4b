"""The solution: a function of (x, y)."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _native
from ddelm._points import Outside, evaluate, nan_outside
from ddelm._types import Array, PathLike
from ddelm.problem import Problem
from ddelm.report import Errors, Estimate, Report

if TYPE_CHECKING:
    import matplotlib.axes
    import torch


class Network(NamedTuple):
    """The network of one subdomain: ``u = sum_j coefficients[j] sigma(weights[:, j] . xi + biases[j])``.

    The reference coordinates xi run from 0 to 1 in x and in y over the subdomain.
    """

    #: w, of shape (2, neurons).
    weights: Array
    #: b.
    biases: Array
    #: c.
    coefficients: Array


class Solution:
    """A solution; made by `solve`, `Solver.solve` and `load`.

    It is a network with one hidden layer on every subdomain, and a smooth function there. Evaluations release the
    interpreter and use all threads.

    Examples
    --------
    >>> import numpy as np, ddelm
    >>> u = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(2, 2), points=12)
    >>> x, y = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 3))
    >>> u(x, y).shape, u.gradient(x, y).shape
    ((3, 5), (2, 3, 5))
    """

    def __init__(
        self, core: _native.Solution, problem: Optional[Problem] = None, case: Optional[_native.Case] = None
    ) -> None:
        self._core = core
        self._case = case
        self._text: Optional[str] = None
        self._estimate: Optional[Estimate] = None
        #: The problem, if it is known.
        self.problem = problem
        #: What the solve did.
        self.report = Report.from_json(core.report())

    def __call__(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array:
        """Return u at points.

        Parameters
        ----------
        x, y : array_like
            Coordinates, of shapes that broadcast.
        outside : "error" or "nan"
            What points outside the domain give.

        Returns
        -------
        ndarray or float
            The values, in the shape of the points.
        """
        nan = nan_outside(outside)
        return evaluate(lambda x, y: self._core.values(x, y, nan), x, y)

    def gradient(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array:
        """Return the derivatives by x and y at points, along a new first axis: ``ux, uy = u.gradient(x, y)``."""
        nan = nan_outside(outside)
        return evaluate(lambda x, y: np.stack(self._core.gradients(x, y, nan)), x, y)

    def residual(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array:
        """Return what is left of the equation, ``L u - f``, at points."""
        nan, problem = nan_outside(outside), self._known_problem("residual")
        return evaluate(lambda x, y: self._core.residuals(problem._core, x, y, nan), x, y)

    def error(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array:
        """Return u minus the problem's exact solution at points."""
        problem = self._known_problem("error")
        if not problem._core.has_exact:
            raise ValueError("error: the problem has no exact solution\nhint: give Problem(exact=...)")
        u = self(x, y, outside=outside)
        return u - evaluate(problem._core.exact_values, x, y)

    @property
    def errors(self) -> Optional[Errors]:
        """Errors against the exact solution, if the problem has one."""
        return self.report.errors

    @property
    def estimate(self) -> Optional[Estimate]:
        """The estimated errors, found without an exact solution.

        They are computed at first use, if the solve did not: that takes about as long as the solve. None if the
        solution comes from a file without them, or from `Solver` with replaced data.
        """
        if self.report.estimate is not None:
            return self.report.estimate
        if self._estimate is None and self._case is not None:
            self._estimate = Estimate.from_json(self._core.estimate(self._case))
        return self._estimate

    @property
    def domain(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The rectangle, ``((x0, x1), (y0, y1))``."""
        x0, x1, y0, y1 = self._core.bounding_box
        return (x0, x1), (y0, y1)

    @property
    def subdomains(self) -> tuple[int, int]:
        """Subdomains in x and y; subdomain (i, j) is number ``i * ny + j``."""
        grid = self._core.grid
        if grid is None:
            raise ValueError("the subdomains do not form a grid")
        nx, ny = grid[2]
        return nx, ny

    @property
    def activation(self) -> str:
        """The activation: "tanh", "sin" or "gaussian"."""
        return self._core.activation

    def network(self, subdomain: int) -> Network:
        """Return the network of a subdomain, in its reference coordinates."""
        return Network(*self._core.network(subdomain))

    @property
    def interface(self) -> tuple[Array, Array]:
        """The interface nodes, of shape (nodes, 2), and the values that were found there."""
        return self._core.interface()

    def save(self, path: PathLike) -> None:
        """Write a safetensors file, which `load` and the command line read. The values are kept to the last bit."""
        file = None if self.problem is None or self.problem._file is None else self.problem._file.text
        self._core.save(os.fspath(path), self._text if self._text is not None else file)

    def to_vtk(self, path: PathLike, *, resolution: int = 16) -> None:
        """Write a ``.vtu`` file for ParaView.

        It holds u and its gradient, and, where the problem is known, flux, residual and error.

        Parameters
        ----------
        path : path
            The file.
        resolution : int
            Cells per side of a subdomain.
        """
        self._core.vtk(os.fspath(path), None if self.problem is None else self.problem._core, resolution)

    def to_torch(self) -> torch.nn.Module:
        """Return the solution as a PyTorch module: ``module(x, y)`` with tensors, in double precision.

        The weights, biases and coefficients are parameters, so the module can be trained further; derivatives by x and
        y come from autograd. It sums in plain doubles: the values are those of the solution to about the machine
        precision times the largest coefficient. PyTorch must be installed.
        """
        from ddelm.torch_module import module

        return module(self)

    def plot(
        self,
        quantity: str = "u",
        *,
        ax: Optional[matplotlib.axes.Axes] = None,
        resolution: int = 200,
        interfaces: bool = True,
        colorbar: bool = True,
        **options: Any,
    ) -> matplotlib.axes.Axes:
        """Draw the solution with matplotlib.

        Parameters
        ----------
        quantity : "u", "gradient", "residual" or "error"
            What to draw: u, the length of its gradient, the size of ``L u - f``, or the size of the error against the
            exact solution. The last two are drawn on a logarithmic scale.
        ax : matplotlib axes
            Where to draw; the current axes unless given.
        resolution : int
            Points along the longer side.
        interfaces : bool
            Whether to draw the lines between the subdomains.
        colorbar : bool
            Whether to add a colour bar.
        **options
            Passed to ``Axes.pcolormesh``.

        Returns
        -------
        matplotlib axes
            The axes.
        """
        from ddelm.plotting import plot

        return plot(
            self, quantity, ax=ax, resolution=resolution, interfaces=interfaces, colorbar=colorbar, options=options
        )

    def __repr__(self) -> str:
        report = self.report
        errors, estimate = report.errors, report.estimate
        error = f", L2 error {errors.l2:.1e}" if errors else f", estimated {estimate.l2:.1e}" if estimate else ""
        return f"<ddelm.Solution: {report.status}, {report.subdomains} subdomains{error}>"

    def __getstate__(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "solution.safetensors")
            self.save(path)
            with open(path, "rb") as file:
                return {"file": file.read(), "problem": self.problem}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "solution.safetensors")
            with open(path, "wb") as file:
                file.write(state["file"])
            core, text = _native.Solution.load(path)
        self.__init__(core, state["problem"])  # type: ignore[misc]
        self._text = text

    def _known_problem(self, what: str) -> Problem:
        if self.problem is None:
            raise ValueError(f"{what}: the problem of this solution is not known\nhint: set u.problem")
        return self.problem


def load(path: PathLike) -> Solution:
    """Read a solution that `Solution.save` or the command line wrote.

    Parameters
    ----------
    path : path
        A safetensors file.

    Returns
    -------
    Solution
        The same values, to the last bit, and the same report. The problem is not in the file; set ``u.problem`` for
        what needs it (`Solution.residual`).
    """
    core, text = _native.Solution.load(os.fspath(path))
    solution = Solution(core)
    solution._text = text
    return solution
