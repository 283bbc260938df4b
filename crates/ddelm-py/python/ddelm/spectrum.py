"""Eigenvalues and eigenfunctions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from ddelm import _native
from ddelm.options import case
from ddelm.problem import Problem, checked
from ddelm.progress import ProgressLike, listener
from ddelm.report import warn
from ddelm.solution import Solution

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ddelm.options import LinearOptions


@dataclass(frozen=True)
class Eigenpair:
    """An eigenvalue and its eigenfunction; made by `eigenvalues`."""

    #: The eigenvalue, or its real part.
    value: float
    #: Its estimated error; None if it was not asked for.
    estimate: Optional[float]
    #: The eigenfunction. Its L2 norm is one, and its mean is positive, or its first large value is.
    function: Solution
    #: The imaginary part, not zero where an advection makes eigenvalues complex. Of such a pair the two functions are the real and
    #: the imaginary part of the eigenfunction.
    imaginary: float = 0.0

    def __repr__(self) -> str:
        shown = f"{self.value:.12g}" + (f" {self.imaginary:+.12g}i" if self.imaginary else "")
        return f"<ddelm.Eigenpair: {shown}{'' if self.estimate is None else f', error about {self.estimate:.1e}'}>"


def eigenvalues(
    problem: Problem,
    count: Optional[int] = None,
    near: Optional[float] = None,
    *,
    estimate: bool = True,
    progress: ProgressLike = None,
    **options: Unpack[LinearOptions],
) -> list[Eigenpair]:
    """Find eigenvalues and eigenfunctions, ``L u = lambda u`` with homogeneous conditions.

    Source, boundary values and exact solution of the problem do not matter.

    Parameters
    ----------
    problem : Problem
        The operator, its domain and the kinds of its conditions.
    count : int
        How many; 10 unless the problem's file says otherwise. Multiple eigenvalues are found as often as they occur.
    near : float
        Those closest to this number are found; 0 unless given. The operator of a plate cannot be shifted.
    estimate : bool
        Whether to estimate the errors, by the same eigenvalues on a second decomposition with other features. It takes about as
        long again.
    progress : bool or function
        As in `solve`.
    **options
        As in `solve`: subdomains, points, corners and others.

    Returns
    -------
    list of Eigenpair
        In ascending order.

    Examples
    --------
    >>> import ddelm
    >>> first, second = ddelm.eigenvalues(ddelm.Problem(dirichlet=0.0), 2, subdomains=(2, 2), points=12)
    >>> print(f"{first.value:.8f}, {second.value:.8f}, {first.function(0.5, 0.5):.8f}")
    19.73920880, 49.34802201, 2.00000000
    """
    from_file = problem._file is not None if isinstance(problem, Problem) else False
    asked = {"count": count if count is not None or from_file else 10, "near": near}
    chosen = case(checked(problem), {"estimate": estimate, **options, **asked})
    with listener(progress) as told:
        found = _native.eigenpairs(chosen, told)
    # The problem has a source, of which an eigenfunction knows nothing: there is no residual to ask for.
    pairs = [Eigenpair(value, error, Solution(core), imaginary) for value, imaginary, error, core in found]
    warn(dict.fromkeys(warning for pair in pairs for warning in pair.function.report.warnings))
    return pairs
