"""Derivatives of numbers that depend on a solution, with respect to what its problem is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _native
from ddelm._types import Array, FieldLike
from ddelm.fields import Grid
from ddelm.progress import ProgressLike, listener
from ddelm.report import warn

if TYPE_CHECKING:
    from ddelm.solution import Solution


class Weights(NamedTuple):
    """What the values of a field, and of its derivatives, count at points: ``dJ = sum(value * d + dx * d_x + dy * d_y)``."""

    #: Where the points are.
    x: Array
    #: Where the points are.
    y: Array
    #: What a change of the field counts.
    value: Array
    #: What a change of its derivative in x counts; zero for all fields but the diffusion.
    dx: Array
    #: What a change of its derivative in y counts.
    dy: Array


class Sensitivity:
    """How a number changes with one field of the problem; made by `Gradient`."""

    def __init__(self, core: _native.Gradient, name: str, component: int) -> None:
        self._core, self._name, self._component = core, name, component

    @property
    def weights(self) -> Weights:
        """What the field counts at the points where the solver takes it."""
        return Weights(*self._core.weights(self._name, self._component))

    def along(self, direction: FieldLike) -> float:
        """Return the derivative in the direction of a change of the field.

        Parameters
        ----------
        direction : field
            The change: a number, a formula, a grid or a function, as in `Problem`.
        """
        return self._core.along(self._name, self._component, direction)

    def on(self, grid: Union[Grid, tuple[ArrayLike, ArrayLike]]) -> Array:
        """Return the derivatives with respect to the values on a grid, where the field is a `ddelm.Grid`.

        Parameters
        ----------
        grid : Grid or (x, y)
            The grid, or its coordinates.

        Returns
        -------
        ndarray
            Of shape (len(x), len(y)).
        """
        x, y = grid._arguments[:2] if isinstance(grid, Grid) else (np.asarray(v, dtype=float) for v in grid)
        return self._core.on_grid(self._name, self._component, x.tolist(), y.tolist()).reshape(len(x), len(y))

    def __repr__(self) -> str:
        return f"<ddelm.Sensitivity: {self._name}, {len(self.weights.x)} points>"


class _Parameters(Mapping[str, float]):
    """The derivatives with respect to parameters, found as they are asked for."""

    def __init__(self, core: _native.Gradient, declared: Mapping[str, float]) -> None:
        self._core = core
        self._used = core.parameters()
        self._names = list(dict.fromkeys([*self._used, *declared]))
        self._found: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        if name not in self._names:
            raise KeyError(f"{name!r} is no parameter of the problem\nhint: the parameters are {', '.join(self._names)}")
        if name not in self._found:
            self._found[name] = self._core.parameter(name) if name in self._used else 0.0
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


class Gradient:
    """How a number changes with all that a problem is made of; made by `Solution.vjp` and `Functional.gradient`.

    It is the derivative of what the solver computes, found by one solve with the transposed factors, whatever the number of
    parameters.
    """

    def __init__(self, core: _native.Gradient, solution: Solution) -> None:
        self._core = core
        self._parts = solution._known_problem("gradient")._core.parts
        declared = getattr(solution.problem, "parameters", {})
        #: The derivatives with respect to the parameters of formulas, by name.
        self.parameters: Mapping[str, float] = _Parameters(core, declared)

    def _one(self, name: str) -> Optional[Sensitivity]:
        return Sensitivity(self._core, name, 0) if self._core.components(name) else None

    @property
    def source(self) -> Sensitivity:
        """With the source, or the load of a plate."""
        return Sensitivity(self._core, "source", 0)

    @property
    def diffusion(self) -> Union[Sensitivity, list[list[Sensitivity]], None]:
        """With the diffusion: one `Sensitivity`, or those of a tensor by rows; None for a plate."""
        if self._core.components("diffusion") == 4:
            return [[Sensitivity(self._core, "diffusion", 2 * i + j) for j in range(2)] for i in range(2)]
        return self._one("diffusion")

    @property
    def advection(self) -> Optional[list[Sensitivity]]:
        """With the two components of the advection, if there is one."""
        count = self._core.components("advection")
        return [Sensitivity(self._core, "advection", k) for k in range(count)] if count else None

    @property
    def reaction(self) -> Optional[Sensitivity]:
        """With the reaction, if there is one."""
        return self._one("reaction")

    @property
    def rigidity(self) -> Optional[Sensitivity]:
        """With the rigidity of a plate."""
        return self._one("rigidity")

    @property
    def boundary(self) -> dict[str, Sensitivity]:
        """With the values of the conditions (of a plate, with the values of u), by the names of the parts."""
        return {part: Sensitivity(self._core, f"boundary.{k}", 0) for k, part in enumerate(self._parts)}

    @property
    def robin(self) -> dict[str, Sensitivity]:
        """With the coefficients of Robin conditions, by the names of the parts; nothing where there is none."""
        found = {part: Sensitivity(self._core, f"robin.{k}", 0) for k, part in enumerate(self._parts)}
        return {part: sensitivity for part, sensitivity in found.items() if len(sensitivity.weights.x)}

    def __repr__(self) -> str:
        return f"<ddelm.Gradient: parameters {self.parameters!r}>"


class Functional:
    """A number that is asked of a solution: an integral, a flux, an extreme value.

    Parameters
    ----------
    text : str
        ``"integral(u^2)"``, ``"integral(u*x, region)"``, ``"flux(right)"``, ``"max(u)"`` or ``"min(u)"``. Integrands are formulas
        in x, y, u, ux, uy and the parameters of the problem.

    Examples
    --------
    >>> import ddelm
    >>> problem = ddelm.Problem(diffusion="k", source=1.0, dirichlet=0.0, parameters={"k": 2.0})
    >>> u = ddelm.solve(problem, subdomains=(2, 2), points=12)
    >>> mean = ddelm.Functional("integral(u)")
    >>> bool(abs(mean.gradient(u).parameters["k"] + mean(u) / 2) < 1e-10)
    True
    """

    def __init__(self, text: str) -> None:
        #: The functional as it was written.
        self.text = text

    def _core(self, solution: Solution) -> _native.Functional:
        problem = solution._known_problem("functional")
        return _native.Functional(self.text, problem._core, list(getattr(problem, "parameters", {}).items()))

    def __call__(self, u: Solution) -> float:
        """Return the number."""
        return self._core(u).value(u._core, u._known_problem("functional")._core)

    def gradient(self, u: Solution, *, progress: ProgressLike = None) -> Gradient:
        """Return how the number changes with all that the problem is made of.

        Parameters
        ----------
        u : Solution
            Where. One of a `ddelm.Solver` has its factors; another is factored once more, at first use.
        progress : bool or function
            As in `solve`.
        """
        core, adjoint = self._core(u), u._adjoint(progress)
        with listener(progress) as told:
            found = adjoint.gradient(core, told)
        warn(found.warnings)
        return Gradient(found, u)

    def __repr__(self) -> str:
        return f"Functional({self.text!r})"


def vjp(
    u: Solution,
    x: ArrayLike,
    y: ArrayLike,
    cotangent: ArrayLike,
    slopes: Optional[ArrayLike] = None,
    progress: ProgressLike = None,
) -> Gradient:
    """Return the gradient of ``sum(cotangent * u(x, y))``; see `Solution.vjp`."""
    across, up, weights = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (x, y, cotangent)))
    px, py, c = (np.ascontiguousarray(v.ravel()) for v in (across, up, weights))
    cx = cy = np.zeros(0)
    if slopes is not None:
        given = np.broadcast_to(np.asarray(slopes, dtype=float), (2, *across.shape))
        cx, cy = (np.ascontiguousarray(v.ravel()) for v in given)
    adjoint = u._adjoint(progress)
    with listener(progress) as told:
        found = adjoint.vjp(px, py, c, cx, cy, told)
    warn(found.warnings)
    return Gradient(found, u)
