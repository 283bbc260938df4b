"""Solving problems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional

from ddelm import _native
from ddelm._types import FieldLike
from ddelm.boundary import BoundaryLike
from ddelm.options import Options, case
from ddelm.problem import Problem
from ddelm.progress import ProgressLike, listener
from ddelm.solution import Solution

if TYPE_CHECKING:
    from typing_extensions import Unpack


def solve(
    problem: Problem,
    *,
    tolerance: Optional[float] = None,
    estimate: Optional[bool] = None,
    progress: ProgressLike = None,
    **options: Unpack[Options],
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
        Subdomains in x and y. Default (4, 4).
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

    Examples
    --------
    >>> import ddelm
    >>> u = ddelm.solve(ddelm.Problem(source="2*pi^2*sin(pi*x)*sin(pi*y)", dirichlet=0.0), subdomains=(2, 2))
    >>> bool(abs(u(0.5, 0.5) - 1) < 1e-9)
    True
    """
    chosen = case(problem, {**options, "tolerance": tolerance, "estimate": estimate})
    with listener(progress) as told:
        return Solution(_native.solve(chosen, told), problem, chosen)


class Solver:
    """A factored problem: sources and boundary values can be changed cheaply.

    Parameters
    ----------
    problem : Problem
        What to solve.
    progress : bool or function
        True shows a bar (with tqdm); a function is called with a `Progress`.
    **options
        As in `solve`, but for `tolerance` and `estimate`.

    Examples
    --------
    >>> import ddelm
    >>> solver = ddelm.Solver(ddelm.Problem(dirichlet=0.0), subdomains=(2, 2), points=12)
    >>> u1, u2 = solver.solve(source=1.0), solver.solve(source=lambda x, y: x)
    >>> bool(u1(0.5, 0.5) > u2(0.5, 0.5))
    True
    """

    def __init__(self, problem: Problem, *, progress: ProgressLike = None, **options: Unpack[Options]) -> None:
        self.problem = problem
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
        return [Solution(core, self.problem if same else None, self._case if same else None) for core, same in zip(found, own)]
