"""Boundary value problems on rectangles."""

from __future__ import annotations

import os
from typing import Any, Optional

from ddelm import _native
from ddelm._types import DomainLike, FieldLike, Function, PathLike, TensorLike, VectorLike
from ddelm.boundary import SIDES, BoundaryLike, Condition, Dirichlet, Robin, SimplySupported, sides

_UNIT_SQUARE: DomainLike = ((0.0, 1.0), (0.0, 1.0))


class Problem:
    """``-div(a grad u) + b . grad u + c u = f`` in a rectangle, with a condition on each of its sides.

    A field (diffusion, reaction, source, exact, values of conditions) is a number, a formula such as
    ``"sin(2*pi*x)*exp(y)"``, or a function. Functions are called with whole arrays of x and y, from several threads
    (one at a time), and return an array of the same shape, or one number.

    Parameters
    ----------
    diffusion : field or 2x2 nested list of fields
        a, a scalar or a tensor by rows.
    advection : two fields, or a function that returns two arrays
        b.
    reaction : field
        c.
    source : field
        f.
    dirichlet : field
        ``u = dirichlet`` on every side that `boundary` does not name.
    boundary : condition, or dict of conditions
        The condition of every side, or of the sides ``"left"``, ``"right"``, ``"bottom"``, ``"top"``:
        `ddelm.Dirichlet`, `ddelm.Neumann` or `ddelm.Robin`.
    domain : ((x0, x1), (y0, y1))
        The rectangle.
    exact : field
        The exact solution, if known: errors are measured against it. The solver does not use it.
    diffusion_gradient : function, or 2x2 nested list of functions
        Returns the derivatives of a diffusion that is a function, by x and by y. If it is not given, the diffusion
        is differentiated spectrally, which is as good if the diffusion is smooth in every subdomain.
    exact_gradient : function
        Returns the derivatives of an exact solution that is a function, for the error in the H1 norm.

    Examples
    --------
    >>> import ddelm
    >>> problem = ddelm.Problem(
    ...     diffusion=[["1 + x^2", 0.1], [0.1, 2.0]],
    ...     source=lambda x, y: x * y,
    ...     dirichlet=0.0,
    ...     boundary={"right": ddelm.Neumann(1.0), "top": ddelm.Robin(2.0, "sin(x)")},
    ... )
    >>> problem.domain
    ((0.0, 1.0), (0.0, 1.0))
    """

    _core: _native.Problem
    _file: Optional[_native.File] = None

    def __init__(
        self,
        *,
        diffusion: TensorLike = 1.0,
        advection: Optional[VectorLike] = None,
        reaction: Optional[FieldLike] = None,
        source: FieldLike = 0.0,
        dirichlet: Optional[FieldLike] = None,
        boundary: Optional[BoundaryLike] = None,
        domain: DomainLike = _UNIT_SQUARE,
        exact: Optional[FieldLike] = None,
        diffusion_gradient: Optional[Any] = None,
        exact_gradient: Optional[Function] = None,
    ) -> None:
        self._conditions = _complete(sides(dirichlet, boundary), "dirichlet=0.0")
        self._core = _native.Problem.second_order(
            _rectangle(domain),
            diffusion,
            diffusion_gradient,
            advection,
            reaction,
            source,
            parts(self._conditions),
            exact,
            exact_gradient,
        )
        self._arguments: dict[str, Any] = {
            "diffusion": diffusion,
            "advection": advection,
            "reaction": reaction,
            "source": source,
            "boundary": dict(zip(SIDES, self._conditions)),
            "domain": self.domain,
            "exact": exact,
            "diffusion_gradient": diffusion_gradient,
            "exact_gradient": exact_gradient,
        }

    @property
    def domain(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The rectangle, ``((x0, x1), (y0, y1))``."""
        (x0, x1), (y0, y1) = self._core.domain
        return (x0, x1), (y0, y1)

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self._arguments.items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._arguments)

    def _replaced(self, dirichlet: Optional[FieldLike], boundary: Optional[BoundaryLike]) -> list[Optional[Parts]]:
        """Return conditions that replace those of a factored problem: only values may change."""
        given = sides(None, boundary)
        for side, kind in enumerate(self._core.conditions):
            if given[side] is None and dirichlet is not None and kind == "dirichlet":
                given[side] = Dirichlet(dirichlet)
            new = given[side]
            if new is not None and not (new.kind == kind and self._keeps_coefficient(side, new)):
                raise ValueError(
                    f"boundary.{SIDES[side]} = {new}: the problem was factored with another condition, {kind}\n"
                    "hint: only values can change; make a new Solver for another kind or coefficient"
                )
        return [None if condition is None else part(condition) for condition in given]

    def _keeps_coefficient(self, side: int, new: Condition) -> bool:
        old = self._conditions[side]
        return not isinstance(new, Robin) or (isinstance(old, Robin) and new.coefficient == old.coefficient)


class Plate(Problem):
    """The Kirchhoff-Love plate, ``Laplacian^2 u = q / D``, in a rectangle.

    Fields are numbers, formulas or functions, as in `Problem`.

    Parameters
    ----------
    load : field
        q.
    rigidity : field
        D.
    boundary : condition, or dict of conditions
        `ddelm.SimplySupported` or `ddelm.Clamped`, for every side or for the named sides.
    domain : ((x0, x1), (y0, y1))
        The rectangle.
    exact, exact_gradient
        The exact solution, if known, and its derivatives.

    Examples
    --------
    >>> import ddelm
    >>> u = ddelm.solve(ddelm.Plate(load="sin(pi*x)*sin(pi*y)"), subdomains=(2, 2))
    >>> bool(abs(u(0.5, 0.5) * 4 * 3.141592653589793**4 - 1) < 1e-9)
    True
    """

    def __init__(
        self,
        *,
        load: FieldLike,
        rigidity: FieldLike = 1.0,
        boundary: Optional[BoundaryLike] = None,
        domain: DomainLike = _UNIT_SQUARE,
        exact: Optional[FieldLike] = None,
        exact_gradient: Optional[Function] = None,
    ) -> None:
        given = sides(None, SimplySupported() if boundary is None else boundary)
        self._conditions = _complete(given, "boundary=ddelm.SimplySupported()")
        self._core = _native.Problem.plate(
            _rectangle(domain), load, rigidity, parts(self._conditions), exact, exact_gradient
        )
        self._arguments = {
            "load": load,
            "rigidity": rigidity,
            "boundary": dict(zip(SIDES, self._conditions)),
            "domain": self.domain,
            "exact": exact,
            "exact_gradient": exact_gradient,
        }


class _FromFile(Problem):
    """The problem of a file; options of the file are the defaults of `solve`."""

    def __init__(self, path: PathLike) -> None:
        self._path = os.fspath(path)
        self._file = _native.File(self._path)
        self._core = self._file.problem()

    def __repr__(self) -> str:
        return f"ddelm.from_toml({self._path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _FromFile, (self._path,)

    def _keeps_coefficient(self, side: int, new: Condition) -> bool:
        # The coefficient in the file cannot be compared with another.
        return not isinstance(new, Robin)


def from_toml(path: PathLike) -> Problem:
    """Read a problem file, the same as the command line's.

    Parameters
    ----------
    path : path
        A TOML file.

    Returns
    -------
    Problem
        The problem. What the file says about how to solve it (``[discretization]``, ``[network]``, ``[interface]``)
        are the defaults of `solve` and `Solver`; their arguments override them.
    """
    return _FromFile(path)


#: A condition as the native module takes it.
Parts = tuple[str, list[Any]]


def part(condition: Condition) -> Parts:
    """Return a condition as the native module takes it."""
    return condition.kind, condition._fields()


def parts(conditions: list[Condition]) -> list[Parts]:
    """Return conditions as the native module takes them."""
    return [part(condition) for condition in conditions]


def _complete(conditions: list[Optional[Condition]], example: str) -> list[Condition]:
    missing = [name for name, condition in zip(SIDES, conditions) if condition is None]
    if missing:
        raise ValueError(
            f"boundary: there is no condition on the {' and '.join(missing)} side\n"
            f"hint: for example {example} for every side, or boundary={{{missing[0]!r}: ...}}"
        )
    return [condition for condition in conditions if condition is not None]


def _rectangle(domain: DomainLike) -> list[list[float]]:
    try:
        (x0, x1), (y0, y1) = domain
        return [[float(x0), float(x1)], [float(y0), float(y1)]]
    except (TypeError, ValueError):
        raise ValueError(f"domain = {domain!r}: expected two intervals\nhint: for example ((0, 1), (0, 1))") from None


def _rebuild(kind: type[Problem], arguments: dict[str, Any]) -> Problem:
    return kind(**arguments)
