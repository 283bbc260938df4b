"""How to solve: the options of `solve`, `Solver`, `eigenvalues` and `evolve`.

An option is a key of a problem file under another name. The native module reads both in the same place, so that they
mean the same and are refused with the same words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _native
from ddelm._types import Array

if TYPE_CHECKING:
    from ddelm.problem import Problem


Preset = Literal["fast", "paper"]
Method = Literal["schur", "elm", "locelm"]
Nodes = Literal["auto", "chebyshev", "gauss", "uniform"]
Activation = Literal["tanh", "sin", "gaussian"]
Initialization = Literal["suggested", "weighted", "manual", "he", "glorot"]
Sharing = Literal["shared", "independent"]
Truncation = Literal["qr", "svd"]
InterfaceSolver = Literal["direct", "cg"]

#: Hidden layers: (w, b), or a mapping with these keys.
WeightsLike = Union[tuple[ArrayLike, ArrayLike], Mapping[str, ArrayLike]]


class LinearOptions(TypedDict, total=False):
    """Options of `eigenvalues` and `evolve`. None is the same as leaving one out."""

    #: "fast", the default, or "paper", which is Algorithm 1 of the paper to the letter.
    preset: Optional[Preset]
    #: Subdomains of a rectangle in x and y; (4, 4) unless given.
    subdomains: Optional[Sequence[int]]
    #: The largest side of a subdomain, about; from the domain unless given.
    size: Optional[float]
    #: Intervals per side of a subdomain; 16 unless given.
    points: Optional[int]
    #: Neurons per subdomain; points^2 unless given.
    neurons: Optional[int]
    #: Where the nodes lie: "chebyshev", "uniform", "gauss" (rows are tested, not collocated), or "auto": "gauss" where
    #: advection is fast or diffusion prefers a direction, else "chebyshev".
    nodes: Optional[Nodes]
    #: "tanh", "sin" or "gaussian".
    activation: Optional[Activation]
    #: How weights are drawn.
    initialization: Optional[Initialization]
    #: Half the range of the weights.
    scale: Optional[float]
    #: The constant of ``scale = c sqrt(neurons)``.
    c: Optional[float]
    #: By how much of its side a subdomain is enlarged for the biases.
    r: Optional[float]
    #: Seed of the weights.
    seed: Optional[int]
    #: Hidden layers in physical coordinates: w of shape (subdomains, 2, neurons), b of shape (subdomains, neurons).
    weights: Optional[WeightsLike]
    #: Whether subdomains have the same features: "shared" or "independent".
    sharing: Optional[Sharing]
    #: How the inverse of a local matrix is truncated: "qr" or "svd".
    truncation: Optional[Truncation]
    #: Directions smaller than this times the largest are dropped.
    cut: Optional[float]
    #: How the interface system is solved: "direct" or "cg".
    interface: Optional[InterfaceSolver]
    #: Relative residual at which conjugate gradients stop.
    interface_tolerance: Optional[float]
    #: Largest number of iterations of conjugate gradients.
    max_iterations: Optional[int]
    #: Largest number of refinement steps after a direct solve.
    refinements: Optional[int]
    #: Memory that a solve may take, in bytes or as "8 GB"; what the machine has unless given.
    max_memory: Union[int, str, None]
    #: Subdomains beyond which a tolerance is given up.
    max_subdomains: Optional[int]
    #: Seconds after which a tolerance is given up.
    max_seconds: Optional[float]
    #: Rings about singular vertices: "none", "auto", "all", or points.
    corners: Union[str, Sequence[Sequence[float]], None]
    #: Numbers that are asked of the solution, by name: ``{"heat": "flux(left)", "energy": "integral(u^2)"}``.
    integrals: Optional[Mapping[str, str]]


class Options(LinearOptions, total=False):
    """Options of `solve` and `Solver`. None is the same as leaving one out."""

    #: "schur", the default; "elm", one network; "locelm", continuity rows in one least-squares problem.
    method: Optional[Method]
    #: The initial guess of Newton's method for a nonlinear problem, a formula; the boundary values decide unless given.
    initial: Optional[str]
    #: Steps of Newton's method, at most; 50 unless given.
    max_steps: Optional[int]


#: The keys of a problem file.
KEYS = {
    "preset": "preset",
    "method": "method",
    "subdomains": "discretization.subdomains",
    "size": "discretization.size",
    "points": "discretization.points",
    "neurons": "discretization.neurons",
    "nodes": "discretization.nodes",
    "tolerance": "discretization.tolerance",
    "estimate": "discretization.estimate",
    "activation": "network.activation",
    "initialization": "network.initialization",
    "scale": "network.scale",
    "c": "network.c",
    "r": "network.r",
    "seed": "network.seed",
    "sharing": "network.sharing",
    "truncation": "network.truncation",
    "cut": "network.cut",
    "interface": "interface.solver",
    "interface_tolerance": "interface.tolerance",
    "max_iterations": "interface.max_iterations",
    "refinements": "interface.refinements",
    "initial": "nonlinear.initial",
    "max_steps": "nonlinear.max_steps",
    "max_memory": "discretization.max_memory",
    "max_subdomains": "discretization.max_subdomains",
    "max_seconds": "discretization.max_seconds",
    "corners": "discretization.corners",
    "integrals": "output.integrals",
}

#: The keys of `eigenvalues` and `evolve`, which have arguments of their own for them.
LOOPS = {
    "count": "eigenvalues.count",
    "near": "eigenvalues.near",
    "start": "time.start",
    "end": "time.end",
    "steps": "time.steps",
    "time_tolerance": "time.tolerance",
    "time_method": "time.method",
    "time_nonlinear": "time.nonlinear",
    "time_initial": "time.initial",
    "times": "time.times",
}

#: What is taken where neither the call nor a file says anything. The estimate is made when it is asked for.
DEFAULTS: dict[str, object] = {"subdomains": (4, 4), "points": 16, "estimate": False}

#: What the solver chooses if it is given a tolerance.
_CHOSEN = ("subdomains", "points")


def case(
    problem: Problem, options: Mapping[str, object], keys: Optional[Mapping[str, object]] = None
) -> _native.Case:
    """Return a problem together with how to solve it; `keys` are set on top of the problem's file."""
    given = {name: value for name, value in options.items() if value is not None}
    weights = _weights(given.pop("weights", None))
    values = {**{_key(name): value for name, value in given.items()}, **(keys or {})}
    if problem._file is not None:
        return _native.Case.of_file(problem._file, values, weights)
    defaults = dict(DEFAULTS)
    if given.get("method") == "elm":
        defaults["subdomains"] = (1, 1)
    if "size" in given or problem._core.suggests_sizes:
        # The domain says how it is cut.
        del defaults["subdomains"]
    if "tolerance" in given:
        defaults = {name: value for name, value in defaults.items() if name not in _CHOSEN}
    return _native.Case(problem._core, {**{_key(name): value for name, value in defaults.items()}, **values}, weights)


def _key(name: str) -> str:
    if name in LOOPS:
        return LOOPS[name]
    refuse_unknown([name])
    return KEYS[name]


def refuse_unknown(names: Iterable[str]) -> None:
    """Refuse names that are not options, with the nearest one that is."""
    for name in names:
        if name not in KEYS:
            near = difflib.get_close_matches(name, [*KEYS, "weights", "progress"], n=1)
            hint = f"\nhint: did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{name!r} is not an option{hint}")


def _weights(weights: Any) -> Optional[tuple[Array, Array]]:
    if weights is None:
        return None
    w, b = (weights["w"], weights["b"]) if isinstance(weights, Mapping) else weights
    w, b = np.asarray(w, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if w.ndim != 3 or b.ndim != 2:
        raise ValueError(
            f"weights: w has the shape {w.shape} and b {b.shape}\n"
            "hint: w has the shape (subdomains, 2, neurons) and b (subdomains, neurons)"
        )
    return w, b
