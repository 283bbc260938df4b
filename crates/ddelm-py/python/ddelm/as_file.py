"""A problem of Python as the text of a problem file, which is saved with its solutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from ddelm import _native
from ddelm.boundary import Clamped, Condition, Neumann, Robin, SimplySupported
from ddelm.domain import as_domain
from ddelm.options import DEFAULTS
from ddelm.problem import Plate, Problem, Replaced

#: The coefficients of an equation of second order.
_COEFFICIENTS = ("diffusion", "advection", "reaction", "source")


class _NotWritten(Exception):
    """No file can hold a function, a spline or a random field."""


def text(problem: Optional[Problem]) -> Optional[str]:
    """Return the problem as a file; None where nobody knows it, or where it has fields that are no numbers and formulas."""
    if isinstance(problem, Replaced):
        problem = problem.whole()
    if problem is None:
        return None
    if problem._file is not None:
        return problem._file.text
    arguments = getattr(problem, "_arguments", None)
    if arguments is None:
        return None
    try:
        return _native.problem_text(_keys(problem, arguments))
    except _NotWritten:
        return None


def _keys(problem: Problem, arguments: Mapping[str, Any]) -> dict[str, Any]:
    domain = as_domain(arguments["domain"])
    keys: dict[str, Any] = {name: dict(table) for name, table in domain._keys.items()}
    # Derivatives that are given belong to functions.
    _written([arguments.get("diffusion_gradient"), arguments.get("exact_gradient")], nothing=True)
    if isinstance(problem, Plate):
        keys["equation"] = {"plate": _given(arguments, ("load", "rigidity"))}
    else:
        keys["equation"] = _given(arguments, _COEFFICIENTS)
        regions = {name: _given(own, _COEFFICIENTS) for name, own in (arguments["regions"] or {}).items()}
        if regions:
            keys["equation"]["regions"] = regions
    boundary = {name: _condition(condition) for name, condition in zip(domain.parts, problem._conditions)}
    keys["boundary"] = {**keys.get("boundary", {}), **boundary, **_given(arguments, ("mean",))}
    if arguments["exact"] is not None:
        keys["exact"] = {"u": _written(arguments["exact"])}
    if problem.parameters:
        keys["parameters"] = dict(problem.parameters)
    # What a file must say. It is what `solve` takes unless it is told.
    keys["discretization"] = {"points": DEFAULTS["points"]}
    if not domain._core.suggests_sizes:
        keys["discretization"]["subdomains"] = DEFAULTS["subdomains"]
    return keys


def _given(arguments: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _written(arguments[name]) for name in names if arguments.get(name) is not None}


def _condition(condition: Condition) -> dict[str, Any]:
    value = _written(condition.value)
    if isinstance(condition, Neumann):
        return {"neumann": value}
    if isinstance(condition, Robin):
        return {"robin": {"coefficient": _written(condition.coefficient), "value": value}}
    if isinstance(condition, SimplySupported):
        return {"dirichlet": value, "laplacian": _written(condition.laplacian)}
    if isinstance(condition, Clamped):
        return {"dirichlet": value, "normal": _written(condition.normal)}
    return {"dirichlet": value}


def _written(value: Any, *, nothing: bool = False) -> Any:
    """Return a field that a file can hold: a number, a formula, or lists of them; with `nothing`, only None."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_written(entry, nothing=nothing) for entry in value]
    if not (value is None if nothing else isinstance(value, (int, float, str, np.integer, np.floating))):
        raise _NotWritten
    return value
