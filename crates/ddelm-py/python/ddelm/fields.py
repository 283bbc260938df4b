"""Scalar functions of (x, y) that live in Rust: formulas and random fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _native
from ddelm._points import evaluate
from ddelm._types import Array, FieldLike


class _Field:
    """A native field as a function of (x, y)."""

    _core: _native.Field

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return the values at points."""
        return evaluate(self._core.values, x, y)

    def gradient(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return the derivatives by x and y at points, along a new first axis."""
        return evaluate(self._known_gradients, x, y)

    def _known_gradients(self, x: Array, y: Array) -> Array:
        found = self._core.gradients(x, y)
        if found is None:
            raise ValueError(f"{self._core.describe()}: the gradient is not known")
        return np.stack(found)


class Formula(_Field):
    """A formula in x and y, as in a problem file.

    Wherever a field is expected, a plain string does the same. This class also evaluates the formula, and lets it
    call other fields by name.

    Parameters
    ----------
    text : str
        The formula: numbers, ``x``, ``y``, ``pi``, ``e``, ``+ - * / ^``, parentheses and the usual functions.
    **fields
        Fields that the formula calls by name, ``name(x, y)``: numbers, formulas, functions, random fields.

    Examples
    --------
    >>> import ddelm
    >>> grf = ddelm.RandomField(alpha=16, seed=1)
    >>> rho = ddelm.Formula("1.1 + tanh(grf(x, y))", grf=grf)
    >>> bool(0.1 <= rho(0.3, 0.4) <= 2.1)
    True
    """

    def __init__(self, text: str, **fields: FieldLike) -> None:
        self._core = _native.Field.formula(text, fields)
        self._arguments = (text, fields)

    def __repr__(self) -> str:
        return f"Formula({self._core.describe()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _formula, self._arguments


def _formula(text: str, fields: dict[str, FieldLike]) -> Formula:
    return Formula(text, **fields)


class RandomField(_Field):
    """The paper's approximate Gaussian random field, ``sum_i a_i sin(w_i . (x, y) + b_i)``.

    The amplitudes a are normal with variance ``alpha^4 / modes``, the wave vectors w with ``alpha^2``, the phases b
    uniform. The same seed gives the same field on every machine.

    Parameters
    ----------
    alpha : float
        How fast the field varies.
    modes : int
        Number of waves.
    seed : int
        Seed of the random numbers.
    """

    def __init__(self, alpha: float, modes: int = 256, seed: int = 0) -> None:
        self._core = _native.Field.random(alpha, modes, seed)
        self._arguments: tuple[Any, ...] = (alpha, modes, seed)

    @classmethod
    def from_arrays(cls, a: ArrayLike, w: ArrayLike, b: ArrayLike) -> RandomField:
        """Make the field with given amplitudes, wave vectors of shape (modes, 2), and phases."""
        field = cls.__new__(cls)
        arrays = [np.ascontiguousarray(v, dtype=np.float64) for v in (a, w, b)]
        if arrays[1].ndim != 2 or arrays[1].shape[1] != 2:
            raise ValueError(f"w of shape {arrays[1].shape}: wave vectors have the shape (modes, 2)")
        field._core = _native.Field.waves(arrays[0].tolist(), arrays[1], arrays[2].tolist())
        field._arguments = tuple(arrays)
        return field

    def __repr__(self) -> str:
        if isinstance(self._arguments[0], np.ndarray):
            return f"RandomField.from_arrays(<{len(self._arguments[0])} modes>)"
        return "RandomField(alpha={}, modes={}, seed={})".format(*self._arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        make = RandomField.from_arrays if isinstance(self._arguments[0], np.ndarray) else RandomField
        return make, self._arguments

