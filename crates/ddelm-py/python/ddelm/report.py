"""What a solve did: status, errors, counters, seconds by stage. The fields are those of ``ddelm solve --json``."""

from __future__ import annotations

import dataclasses
import inspect
import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from ddelm import _html


@dataclass(frozen=True)
class Errors:
    """Errors against the exact solution at points that are not nodes."""

    #: Relative L2 norm.
    l2: float
    #: Relative H1 norm; None if the gradient of the exact solution is not known.
    h1: Optional[float]
    #: Largest absolute error.
    max: float
    #: Root mean square of the interface values' error; None without an interface.
    interface_rms: Optional[float] = None
    #: The same of the networks on both sides of the interface.
    trace_rms: Optional[float] = None

    def _repr_html_(self) -> str:
        return _html.table([("error", _norms(self))])


@dataclass(frozen=True)
class Estimate:
    """Estimated errors, from a second solution on another decomposition with other features."""

    #: Relative L2 norm.
    l2: float
    #: Relative H1 norm.
    h1: float
    #: Largest absolute error.
    max: float
    #: Root mean square of the error in every subdomain.
    subdomains: list[float]
    #: Points per side of the second solution.
    points: int
    #: What is in the estimate for data that neither of the two solutions has seen.
    missed: float = 0.0

    @classmethod
    def from_json(cls, text: str) -> Estimate:
        """Read the native module's estimate."""
        return cls(**json.loads(text))

    def _repr_html_(self) -> str:
        worst = max(range(len(self.subdomains)), key=self.subdomains.__getitem__, default=None)
        largest = "" if worst is None else f"subdomain {worst}, root mean square {self.subdomains[worst]:.1e}"
        return _html.table([("estimated error", _norms(self)), ("largest in", largest)])


@dataclass(frozen=True)
class Attempt:
    """One step on the way to a tolerance."""

    #: Subdomains in x and y; where they form no grid, their number.
    subdomains: Union[list[int], int]
    #: Points per side of a subdomain.
    points: int
    #: Estimated relative L2 error; ``None`` where it was not estimated, because the solution was not resolved.
    estimate: Optional[float]


@dataclass(frozen=True)
class NewtonStep:
    """One step of Newton's method."""

    #: The residual before the step, relative to the terms that should cancel in it.
    residual: float
    #: The size of the step, relative to the solution.
    change: float
    #: The share of the correction that was taken.
    damping: float
    #: Whether the problem was linearised and factored anew for it.
    factored: bool


@dataclass(frozen=True)
class ContinuationStep:
    """A value of the parameter on the way of a continuation."""

    #: The value.
    value: float
    #: Steps of Newton's method.
    steps: int
    #: Whether they converged.
    converged: bool


@dataclass(frozen=True)
class NewtonStart:
    """A solution with fewer points, from which Newton's method began."""

    #: Points per side.
    points: int
    #: Steps of Newton's method.
    steps: int
    #: Factorizations, all together; each takes a twentieth of the work of one with all points.
    factorizations: int


@dataclass(frozen=True)
class Nonlinear:
    """How a nonlinear problem was solved."""

    #: The steps of Newton's method.
    steps: list[NewtonStep]
    #: Factorizations of a linear problem with all points, all together.
    factorizations: int
    #: The residual of the solution, relative to the terms that should cancel in it.
    residual: float
    #: The values of the parameter that were tried; none without a continuation.
    continuation: list[ContinuationStep]
    #: What was done with fewer points to begin with, where that helped.
    start: Optional[NewtonStart] = None

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Nonlinear:
        """Read the native module's report."""
        steps = [NewtonStep(**step) for step in fields["steps"]]
        way = [ContinuationStep(**step) for step in fields.get("continuation", [])]
        start = NewtonStart(**fields["start"]) if "start" in fields else None
        return cls(steps, fields["factorizations"], fields["residual"], way, start)


@dataclass(frozen=True)
class Interface:
    """The interface system."""

    #: Interface values.
    unknowns: int
    #: "direct" or "cg".
    solver: str
    #: Iterations of conjugate gradients.
    iterations: int
    #: Refinement steps after a direct solve.
    refinements: int
    #: Size of the last refinement, relative to the solution.
    last_correction: Optional[float]
    #: Relative residual of conjugate gradients.
    relative_residual: Optional[float]
    #: Numbers stored in the factor.
    factor_nonzeros: Optional[int]
    #: Bytes that the ranks of a parallel run sent each other to solve it.
    bytes_sent: int


@dataclass(frozen=True)
class Rank:
    """Numerical rank over the subdomains."""

    min: int
    max: int


@dataclass(frozen=True)
class Features:
    """The features."""

    #: Neurons per subdomain.
    neurons: int
    #: Half the range of the weights.
    scale: float
    #: Rows of a local matrix.
    rows: int
    #: Numerical rank over the subdomains.
    rank: Rank
    #: Different local factorizations; congruent subdomains share theirs.
    factorizations: int


@dataclass(frozen=True)
class Seconds:
    """Seconds by stage."""

    assemble: float
    factor: float
    interface: float
    recover: float
    #: The sum of the above.
    total: float
    #: The error estimate, on top of the solve.
    estimate: float


@dataclass(frozen=True)
class Report:
    """What a solve did."""

    #: "solved", "max_iterations", "not_converged" (Newton's method), "tolerance_not_reached", or "unresolved" where the error is
    #: above 1 %.
    status: str
    #: "schur", "elm" or "locelm".
    method: str
    #: Number of subdomains.
    subdomains: int
    #: Number of vertices with rings.
    rings: int
    #: Intervals per side of a subdomain.
    points: int
    #: Errors against the exact solution, if one was given.
    errors: Optional[Errors]
    #: Estimated errors, if asked for.
    estimate: Optional[Estimate]
    #: What was tried to reach a tolerance, in order.
    attempts: list[Attempt]
    #: Relative residual of the local least-squares problems.
    residual: float
    #: The largest imbalance of the fluxes of a subdomain, relative to the largest flow; None for other methods.
    conservation: Optional[float]
    #: The interface system.
    interface: Interface
    #: The features.
    features: Features
    #: Seconds by stage.
    seconds: Seconds
    #: Peak memory of the process, where the system tells.
    peak_memory_bytes: Optional[int]
    #: Reasons not to trust the solution, and choices that were made for the user. Solving raises a `UserWarning` for each.
    warnings: list[str]
    #: The size of layers that the solution should have and has not, part of the estimate. None unless advection is fast.
    layers: Optional[float] = None
    #: The steps of Newton's method; None for linear problems.
    nonlinear: Optional[Nonlinear] = None
    #: Numbers that were asked of the solution, by name.
    integrals: dict[str, float] = field(default_factory=dict)
    #: The eigenvalues that were asked for, each with ``value`` and ``estimate``.
    eigenvalues: list[dict[str, Any]] = field(default_factory=list)
    #: Steps in time, if there were any.
    time: Optional[dict[str, Any]] = None

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read the native module's report."""
        report: dict[str, Any] = json.loads(text)
        report["errors"] = _optional(Errors, report["errors"])
        report["estimate"] = _optional(Estimate, report["estimate"])
        report["attempts"] = [Attempt(**attempt) for attempt in report["attempts"]]
        if report.get("nonlinear") is not None:
            report["nonlinear"] = Nonlinear.from_dict(report["nonlinear"])
        report["interface"] = Interface(**report["interface"])
        report["features"]["rank"] = Rank(**report["features"]["rank"])
        report["features"] = Features(**report["features"])
        report["seconds"] = Seconds(**report["seconds"])
        return cls(**report)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as nested dictionaries, without what does not belong to the problem."""
        fields = dataclasses.asdict(self)
        optional = ("nonlinear", "integrals", "eigenvalues", "time")
        if fields["nonlinear"] and not fields["nonlinear"]["continuation"]:
            del fields["nonlinear"]["continuation"]
        if fields["layers"] is None:
            del fields["layers"]
        return {name: value for name, value in fields.items() if name not in optional or value}

    def _repr_html_(self) -> str:
        return _html.table(self._rows()) + _html.warnings(self.warnings)

    def _rows(self) -> list[tuple[str, str]]:
        """Return names and figures for people."""
        interface, features = self.interface, self.features
        done, what = (interface.iterations, "iteration") if interface.solver == "cg" else (interface.refinements, "refinement")
        how = f"{done} {what}" if done == 1 else f"{done} {what}s"
        memory = self.peak_memory_bytes
        return [
            ("status", self.status.replace("_", " ")),
            ("sizes", f"{self._subdomains()}, {self.points} points per side, {features.neurons} neurons"),
            ("interface", f"{interface.unknowns:,} unknowns, {interface.solver}, {how}" if interface.unknowns else ""),
            ("error", "" if self.errors is None else _norms(self.errors)),
            ("estimated error", "" if self.estimate is None else _norms(self.estimate)),
            ("time", f"{self.seconds.total:.3f} s"),
            ("memory", "" if memory is None else f"{memory / 1e6:.0f} MB at most"),
        ]

    def _subdomains(self) -> str:
        """Return how many subdomains there are, and about how many vertices they are rings."""
        vertices = "vertex" if self.rings == 1 else "vertices"
        rings = f" (rings about {self.rings} {vertices})" if self.rings else ""
        return f"{self.subdomains} subdomains{rings}"

    def __str__(self) -> str:
        rows = [*self._rows(), *(("warning", warning) for warning in self.warnings)]
        return "\n".join(f"{name:<16} {text}" for name, text in rows if text)


def warn(messages: Iterable[str]) -> None:
    """Raise a `UserWarning` for each message, where the user called the package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    for message in messages:
        warnings.warn(message, UserWarning, stacklevel=level)


def _norms(found: Union[Errors, Estimate]) -> str:
    h1 = "" if found.h1 is None else f", H1 {found.h1:.1e}"
    return f"L2 {found.l2:.1e}{h1}, maximum {found.max:.1e}"


def _optional(kind: Any, fields: Optional[dict[str, Any]]) -> Any:
    return None if fields is None else kind(**fields)
