"""Python functions as coefficients: what they take, and their derivatives, which Newton's method needs.

A function that takes ``u``, ``ux`` or ``uy`` makes a problem nonlinear. Its derivatives in them are those that the user gives with a
`Function`; otherwise they come from complex steps, ``f'(u) = Im f(u + i h) / h``, which are exact to rounding where f is made of
analytic functions of NumPy. A second way, differences, says whether that holds: ``abs(u)`` or ``np.real`` know no complex numbers.
Where the two differ, differences of order eight are taken.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Optional

import numpy as np

from ddelm._types import Array

#: The variables of a field, in the order of the native module.
VARIABLES = ("x", "y", "u", "ux", "uy")

#: What a function may take by name beside x and y.
KNOWN = ("t", "u", "ux", "uy")

#: Weights of the central difference of order eight for 1, 2, 3 and 4 steps.
_WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)

#: The imaginary step: nothing is subtracted, so that it may be as small as one likes.
_IMAGINARY = 1e-30

#: Steps of differences, relative to the size of the variable: of order eight, of order two as a check, and of second derivatives.
_STEP, _CHECK_STEP, _SECOND_STEP = 4e-3, 1e-5, 1e-4

#: How far complex steps and differences may be apart, relative to the largest slope.
_ALIKE = 1e-5

Values = Mapping[str, Any]


class Function:
    """A function together with the derivatives that are known.

    A plain function does as well wherever a field is expected; then its derivatives by ``u``, ``ux`` and ``uy`` are found by
    complex steps or differences.

    Parameters
    ----------
    value : function
        A function of x and y and, by these names, of ``t``, ``u``, ``ux`` or ``uy``.
    x, y, u, ux, uy : function
        The partial derivatives that are known, with the same arguments. Of a diffusion that depends on the solution those by x
        and y are needed as well.

    Examples
    --------
    >>> import numpy as np, ddelm
    >>> source = ddelm.Function(lambda x, y, u: np.exp(u), u=lambda x, y, u: np.exp(u))
    >>> u = ddelm.solve(ddelm.Problem(source=source, dirichlet=0.0), subdomains=(2, 2), points=10)
    >>> print(round(u(0.5, 0.5), 4))
    0.0781
    """

    def __init__(
        self,
        value: Callable[..., Any],
        *,
        x: Optional[Callable[..., Any]] = None,
        y: Optional[Callable[..., Any]] = None,
        u: Optional[Callable[..., Any]] = None,
        ux: Optional[Callable[..., Any]] = None,
        uy: Optional[Callable[..., Any]] = None,
    ) -> None:
        given = {"x": x, "y": y, "u": u, "ux": ux, "uy": uy}
        for name, function in {"value": value, **given}.items():
            if function is not None and not callable(function):
                raise TypeError(f"{name}: expected a function, not `{type(function).__name__}`")
        self._value = value
        self._derivatives = {name: function for name, function in given.items() if function is not None}
        self.__name__ = getattr(value, "__name__", type(value).__name__)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the values."""
        return self._value(*arguments, **named)

    def __repr__(self) -> str:
        known = "".join(f", {name}=..." for name in self._derivatives)
        return f"Function({self.__name__}{known})"


def arguments(function: Callable[..., Any], name: str) -> list[str]:
    """Return what a function takes beside its first two arguments, by name; what has a default is left alone."""
    try:
        parameters = list(inspect.signature(getattr(function, "_value", function)).parameters.values())
    except (TypeError, ValueError):
        # Functions of C often have no signature.
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    many = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    if not many and sum(p.kind in positional for p in parameters) < 2:
        raise TypeError(f"the function {name} does not take x and y\nhint: for example lambda x, y: np.sin(x)")
    required = [p for p in parameters if p.default is p.empty and p.kind in (*positional, inspect.Parameter.KEYWORD_ONLY)]
    taken = [p.name for k, p in enumerate(required) if k > 1 or p.kind is inspect.Parameter.KEYWORD_ONLY]
    for parameter in taken:
        if parameter not in KNOWN:
            raise TypeError(
                f"the function {name} takes {parameter!r}, which is not known\n"
                f"hint: a function takes x and y and, by these names, {', '.join(KNOWN)}; others need a default"
            )
    return taken


def jets(
    function: Callable[..., Any], component: Optional[int], twice: bool, x: Array, y: Array, beside: dict[str, Any]
) -> list[Optional[Array]]:
    """Return the values, the first derivatives by x, y, u, ux and uy, and the second ones; None is zero.

    Those in x and y, and the second ones, are found only if ``twice`` asks for them, as a diffusion does.
    """
    at: dict[str, Any] = {"x": x, "y": y, **beside}
    taken = [name for name in VARIABLES if name in beside]
    variables = [*VARIABLES[:2], *taken] if twice else taken
    given: Mapping[str, Callable[..., Any]] = getattr(function, "_derivatives", {})
    value = _Component(function, component)
    known = {name: _Component(given[name], component) for name in variables if name in given}
    # First of all: an exception of the function itself is shown as it is.
    values = _real(value(at))

    def first(name: str, at: Values) -> Array:
        return _real(known[name](at)) if name in known else _slope(value, name, at)

    found = {name: first(name, at) for name in variables}
    out: list[Optional[Array]] = [values, *(found.get(name) for name in VARIABLES)]
    for i, one in enumerate(VARIABLES):
        for other in VARIABLES[i:]:
            if not twice or one not in found or other not in found:
                out.append(None)
            elif one in known or other in known:
                of, by = (one, other) if one in known else (other, one)
                out.append(_slope(known[of], by, at))
            else:
                out.append(_second(first, one, other, at))
    return out


class _Component:
    """A function of named values, or one component of what it returns."""

    def __init__(self, function: Callable[..., Any], component: Optional[int]) -> None:
        self.function = function
        self.component = component

    def __call__(self, at: Values) -> Any:
        named = {name: value for name, value in at.items() if name not in ("x", "y")}
        returned = self.function(at["x"], at["y"], **named)
        found = returned if self.component is None else returned[self.component]
        return np.broadcast_to(np.asarray(found), np.shape(at["x"]))


def _real(values: Any) -> Array:
    return np.array(values, dtype=np.float64)


def _size(values: Any) -> float:
    """Return the size of a variable, to choose steps by."""
    return float(np.max(np.abs(values), initial=0.0)) or 1.0


def _moved(at: Values, name: str, by: complex) -> dict[str, Any]:
    return {**at, name: at[name] + (by if by.imag else by.real)}


def _slope(function: _Component, name: str, at: Values) -> Array:
    """Return the derivative in one variable: by a complex step where that is right, else by differences."""
    size = _size(at[name])
    check = _CHECK_STEP * size
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rough = (_real(function(_moved(at, name, check))) - _real(function(_moved(at, name, -check)))) / (2 * check)
        except Exception as error:
            raise ValueError(
                f"the derivative by {name} could not be found: {error}\nhint: give it with ddelm.Function(f, {name}=...)"
            ) from error
        try:
            step = np.asarray(function(_moved(at, name, complex(0.0, _IMAGINARY))))
            exact = _real(step.imag) / _IMAGINARY
        except Exception:
            # It was not made for complex numbers.
            exact = np.full_like(rough, np.nan)
        alike = np.abs(exact - rough) <= _ALIKE * max(_size(rough), np.finfo(float).tiny)
        if np.all(alike):
            return exact
        h = _STEP * size
        fine = np.zeros_like(rough)
        for steps, weight in enumerate(_WEIGHTS, start=1):
            ahead, behind = (_real(function(_moved(at, name, sign * steps * h))) for sign in (1, -1))
            fine += weight * (ahead - behind) / h
    # Close to a kink, or to the end of where the function is defined, short steps are the better ones.
    smooth = np.abs(fine - rough) <= 1e-3 * _size(rough)
    return np.where(alike, exact, np.where(smooth, fine, rough))


def _second(first: Callable[[str, Values], Array], one: str, other: str, at: Values) -> Array:
    """Return a second derivative by differences of first ones: Newton's method needs a few digits of it."""
    h = _SECOND_STEP * _size(at[other])
    found: Array = (first(one, _moved(at, other, h)) - first(one, _moved(at, other, -h))) / (2 * h)
    return found
