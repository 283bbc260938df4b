"""What a solve did: status, errors, counters, seconds by stage. The fields are those of ``ddelm solve --json``."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Optional


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


@dataclass(frozen=True)
class Estimate:
    """Estimated errors, from a second solution with more points and other features."""

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

    @classmethod
    def from_json(cls, text: str) -> Estimate:
        """Read the native module's estimate."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Attempt:
    """One step on the way to a tolerance."""

    #: Subdomains in x and y.
    subdomains: list[int]
    #: Points per side of a subdomain.
    points: int
    #: Estimated relative L2 error.
    estimate: float


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

    #: "solved", "max_iterations" or "tolerance_not_reached".
    status: str
    #: "schur", "elm" or "locelm".
    method: str
    #: Number of subdomains.
    subdomains: int
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
    #: The interface system.
    interface: Interface
    #: The features.
    features: Features
    #: Seconds by stage.
    seconds: Seconds
    #: Peak memory of the process, where the system tells.
    peak_memory_bytes: Optional[int]
    #: Reasons not to trust the solution, and choices that were made for the user.
    warnings: list[str]

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read the native module's report."""
        report: dict[str, Any] = json.loads(text)
        report["errors"] = _optional(Errors, report["errors"])
        report["estimate"] = _optional(Estimate, report["estimate"])
        report["attempts"] = [Attempt(**attempt) for attempt in report["attempts"]]
        report["interface"] = Interface(**report["interface"])
        report["features"]["rank"] = Rank(**report["features"]["rank"])
        report["features"] = Features(**report["features"])
        report["seconds"] = Seconds(**report["seconds"])
        return cls(**report)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as nested dictionaries."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.status} by {self.method}: {self.subdomains} subdomains, {self.points} points per side, "
            f"{self.features.neurons} neurons (rank {self.features.rank.min} to {self.features.rank.max})",
            f"interface  {self.interface.unknowns} unknowns, {self.interface.solver}, "
            f"{self.interface.iterations} iterations, {self.interface.refinements} refinements",
        ]
        for name, found in (("errors", self.errors), ("estimate", self.estimate)):
            if found is not None:
                h1 = "" if found.h1 is None else f", H1 {found.h1:.1e}"
                lines.append(f"{name:<10} L2 {found.l2:.1e}{h1}, max {found.max:.1e}")
        lines.append(f"seconds    {self.seconds.total:.3f}")
        lines += [f"warning    {warning}" for warning in self.warnings]
        return "\n".join(lines)


def _optional(kind: Any, fields: Optional[dict[str, Any]]) -> Any:
    return None if fields is None else kind(**fields)
