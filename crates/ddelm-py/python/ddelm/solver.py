"""Solving problems."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

from ddelm import _html, _native
from ddelm._types import FieldLike
from ddelm.boundary import BoundaryLike
from ddelm.options import (
    KEYS,
    Activation,
    Initialization,
    InterfaceSolver,
    Method,
    Nodes,
    Preset,
    Sharing,
    Truncation,
    WeightsLike,
    case,
    refuse_unknown,
)
from ddelm.problem import Problem, checked
from ddelm.progress import ProgressLike, listener
from ddelm.report import warn
from ddelm.solution import Solution

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ddelm.options import Options

#: The options, which are spelled out in signatures for whoever types with completion.
_NAMES = (*KEYS, "weights")


def solve(
    problem: Problem,
    *,
    tolerance: Optional[float] = None,
    estimate: Optional[bool] = None,
    subdomains: Optional[Sequence[int]] = None,
    size: Optional[float] = None,
    points: Optional[int] = None,
    neurons: Optional[int] = None,
    preset: Optional[Preset] = None,
    method: Optional[Method] = None,
    seed: Optional[int] = None,
    weights: Optional[WeightsLike] = None,
    nodes: Optional[Nodes] = None,
    activation: Optional[Activation] = None,
    initialization: Optional[Initialization] = None,
    scale: Optional[float] = None,
    c: Optional[float] = None,
    r: Optional[float] = None,
    sharing: Optional[Sharing] = None,
    truncation: Optional[Truncation] = None,
    cut: Optional[float] = None,
    interface: Optional[InterfaceSolver] = None,
    interface_tolerance: Optional[float] = None,
    max_iterations: Optional[int] = None,
    refinements: Optional[int] = None,
    max_memory: Union[int, str, None] = None,
    max_subdomains: Optional[int] = None,
    max_seconds: Optional[float] = None,
    corners: Union[str, Sequence[Sequence[float]], None] = None,
    initial: Optional[str] = None,
    max_steps: Optional[int] = None,
    integrals: Optional[Mapping[str, str]] = None,
    progress: ProgressLike = None,
    **unknown: NoReturn,
) -> Solution:
    """Solve a problem.

    Parameters
    ----------
    problem : Problem
        What to solve. Options in a problem's file are defaults, which arguments override.
    tolerance : float
        The relative L2 error to reach. Points and subdomains are raised until the estimated error is below it; if that
        cannot be done, the best solution is returned and ``report.status`` says so.
    estimate : bool
        Whether to estimate the error at once. Otherwise `Solution.estimate` does so when it is asked.
    progress : bool or function
        True shows a bar (with tqdm); a function is called with a `Progress`.
    subdomains : (int, int)
        Subdomains of a rectangle in x and y. Default (4, 4).
    size : float
        The largest side of a subdomain, about, of any domain. Default: from the domain.
    points : int
        Intervals per side of a subdomain. Default 16.
    neurons : int
        Neurons per subdomain. Default ``points**2``.
    preset : "fast" or "paper"
        The defaults of all other options: the fast method, or Algorithm 1 of the paper.
    method : "schur", "elm" or "locelm"
        The Schur complement method; one network for the whole domain; continuity rows in one least-squares problem.
    seed : int
        Seed of the weights. The same seed gives the same solution, on any number of threads.
    weights : (w, b), or a mapping with these keys
        Hidden layers to use instead of random ones, in physical coordinates: w of shape (subdomains, 2, neurons), b of
        shape (subdomains, neurons). Subdomain (i, j) is number ``i * ny + j``.
    nodes, activation, initialization, scale, c, r, sharing, truncation, cut
        The network and the local problems; see `ddelm.options.Options`.
    interface, interface_tolerance, max_iterations, refinements
        The interface system; see `ddelm.options.Options`.
    initial, max_steps
        Newton's method, where formulas use ``u``, ``ux`` or ``uy``, or functions take them: its initial guess, a formula, and
        its steps at most.
    integrals : dict
        Numbers that are asked of the solution, for ``report.integrals``: ``{"heat": "flux(left)"}``, also
        ``"integral(FORMULA)"`` with u, ux and uy, ``"integral(FORMULA, REGION)"``, ``"max(u)"`` and ``"min(u)"``.
    max_memory : int or str
        Memory that a solve may take, in bytes or as ``"8 GB"``.
    max_subdomains, max_seconds
        Where a tolerance is given up; the best solution that was found is returned.
    corners : str or list of points
        Rings about vertices where the solution is singular: ``"auto"`` (the default), ``"none"``, ``"all"``, or where. A
        solver keeps those of its problem for all its right-hand sides.

    Returns
    -------
    Solution
        The solution, a function of (x, y).

    Raises
    ------
    ValueError
        If the problem or an option makes no sense, or a coefficient is not finite. The message says where.
    RuntimeError
        If the solution could not be computed.

    Warns
    -----
    UserWarning
        For every entry of ``report.warnings``: data that are not resolved, an error above 1 %, an exact solution that
        does not satisfy the equation.

    Examples
    --------
    >>> import ddelm
    >>> u = ddelm.solve(ddelm.Problem(source="2*pi^2*sin(pi*x)*sin(pi*y)", dirichlet=0.0), subdomains=(2, 2))
    >>> bool(abs(u(0.5, 0.5) - 1) < 1e-9)
    True
    """
    given = locals()
    refuse_unknown(unknown)
    chosen = case(checked(problem), {name: given[name] for name in _NAMES})
    with listener(progress) as told:
        solution = Solution(_native.solve(chosen, told), problem, chosen)
    warn(solution.report.warnings)
    return solution


class Solver:
    """A factored problem: sources and boundary values can be changed cheaply.

    Parameters
    ----------
    problem : Problem
        What to solve.
    progress : bool or function
        True shows a bar (with tqdm); a function is called with a `Progress`.
    subdomains, points, ...
        As in `solve`, but for `tolerance`, `estimate` and `integrals`.

    Examples
    --------
    >>> import ddelm
    >>> solver = ddelm.Solver(ddelm.Problem(dirichlet=0.0), subdomains=(2, 2), points=12)
    >>> u1, u2 = solver.solve(source=1.0), solver.solve(source=lambda x, y: x)
    >>> bool(u1(0.5, 0.5) > u2(0.5, 0.5))
    True
    """

    def __init__(self, problem: Problem, *, progress: ProgressLike = None, **options: Unpack[Options]) -> None:
        # A tolerance is an option as well, which the native module refuses with a hint.
        refuse_unknown(name for name in options if name != "weights")
        for name in ("estimate", "integrals"):
            if options.get(name) is not None:
                raise TypeError(f"{name}: a solver has no solution yet\nhint: ask those of Solver.solve, for example u.estimate")
        #: The problem.
        self.problem = checked(problem)
        self._case = case(problem, options)
        with listener(progress) as told:
            self._core = _native.Solver(self._case, told)

    def solve(
        self,
        *,
        source: Optional[FieldLike] = None,
        dirichlet: Optional[FieldLike] = None,
        boundary: Optional[BoundaryLike] = None,
        progress: ProgressLike = None,
    ) -> Solution:
        """Solve with another source, or other values of the boundary conditions.

        Parameters
        ----------
        source : field
            f, or the load of a plate; the problem's unless given.
        dirichlet, boundary
            As in `Problem`. Only values can change: kinds of conditions, and coefficients of Robin conditions, are
            those of the problem. Sides that are not given keep theirs.
        progress : bool or function
            As in `solve`.

        Returns
        -------
        Solution
            The solution. Errors against the problem's exact solution are measured only if nothing was replaced.
        """
        return self.solve_many([{"source": source, "dirichlet": dirichlet, "boundary": boundary}], progress=progress)[0]

    def solve_many(self, data: Iterable[Mapping[str, Any]], *, progress: ProgressLike = None) -> list[Solution]:
        """Solve for several sources and boundary values at once, which is faster than one after the other.

        Parameters
        ----------
        data : iterable of dict
            The arguments of `Solver.solve` for each solution: ``[{"source": f1}, {"source": f2}]``.

        Returns
        -------
        list of Solution
            One for each.
        """
        items = [dict(item) for item in data]
        for item in items:
            unknown = set(item) - {"source", "dirichlet", "boundary"}
            if unknown:
                raise TypeError(f"{unknown.pop()!r} is not data\nhint: the keys are source, dirichlet and boundary")
        native = [
            (item.get("source"), self.problem._replaced(item.get("dirichlet"), item.get("boundary"))) for item in items
        ]
        with listener(progress) as told:
            found = self._core.solve(self.problem._core, native, told)
        own = [all(value is None for value in item.values()) for item in items]
        solutions = [
            Solution(core, self.problem if same else self.problem._with_data_of(case, item), case)
            for (core, case), same, item in zip(found, own, items)
        ]
        for solution in solutions:
            solution._solver = self._core
        # Those of the factorization are in the report of every solution, and are told once.
        warn(dict.fromkeys(warning for solution in solutions for warning in solution.report.warnings))
        return solutions

    def __repr__(self) -> str:
        sizes = next(text for name, text in self._case.check() if name == "sizes")
        return f"<ddelm.Solver: {self.problem._core.equation()[0]}, {sizes.splitlines()[0]}>"

    def _repr_html_(self) -> str:
        rows = [("factored", _html.mathematics(self.problem._core.equation()[0]))]
        rows += [(name, _html.code(text)) for name, text in self._case.check() if name in ("sizes", "cost")]
        return _html.table(rows)


def _spelled_out() -> inspect.Signature:
    """Return the signature of `solve` as that of a solver, for whoever types with completion."""
    solving = inspect.signature(solve)
    left_out = ("tolerance", "estimate", "integrals", "unknown")
    kept = [parameter for name, parameter in solving.parameters.items() if name not in left_out]
    return solving.replace(parameters=kept, return_annotation=inspect.Signature.empty)


Solver.__signature__ = _spelled_out()  # type: ignore[attr-defined]
