"""The reference: linear finite elements on a uniform triangulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _native
from ddelm._points import evaluate
from ddelm._types import Array
from ddelm.problem import Problem
from ddelm.report import Errors


def finite_element(
    problem: Problem,
    cells: Union[int, Sequence[int]] = 256,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
) -> FiniteElementSolution:
    """Solve a symmetric problem of second order by P1 finite elements, with multigrid.

    Parameters
    ----------
    problem : Problem
        What to solve; it must have no advection.
    cells : int or (int, int)
        Cells of the grid in x and y, each cut into two triangles.
    tolerance : float
        Relative residual at which the iteration stops.
    max_iterations : int
        Largest number of iterations.

    Returns
    -------
    FiniteElementSolution
        A function of (x, y), good to second order in the size of the cells.
    """
    nx, ny = (cells, cells) if isinstance(cells, (int, np.integer)) else cells
    return FiniteElementSolution(
        _native.FiniteElement(problem._core, [int(nx), int(ny)], tolerance, max_iterations), problem
    )


class FiniteElementSolution:
    """A continuous function, linear in each triangle; made by `finite_element`."""

    def __init__(self, core: _native.FiniteElement, problem: Problem) -> None:
        self._core = core
        #: The problem.
        self.problem = problem

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return u at points."""
        return evaluate(self._core.values, x, y)

    def gradient(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return the derivatives by x and y at points, along a new first axis."""
        return evaluate(lambda x, y: np.stack(self._core.gradients(x, y)), x, y)

    @property
    def nodes(self) -> tuple[Array, Array]:
        """The x of the columns and the y of the rows of nodes."""
        x, y = self._core.nodes()
        return x, y

    @property
    def nodal(self) -> Array:
        """u at the nodes, of shape (rows, columns)."""
        return self._core.nodal()

    @property
    def errors(self) -> Union[Errors, None]:
        """Errors against the exact solution, if the problem has one."""
        found = self._core.errors(self.problem._core)
        if found is None:
            return None
        l2, h1 = found
        return Errors(l2=l2, h1=h1, max=float("nan"))

    @property
    def iterations(self) -> int:
        """Steps of conjugate gradients."""
        return self._core.outcome[0]

    @property
    def relative_residual(self) -> float:
        """The residual at the end, relative to the load."""
        return self._core.outcome[1]

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self._core.outcome[2]
