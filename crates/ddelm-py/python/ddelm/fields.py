"""Scalar functions of (x, y) that live in Rust: formulas, random fields and data on grids."""

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


class Grid(_Field):
    """Data on a grid as a function: a cubic spline in x and y through the values, with two continuous derivatives.

    Wherever a field is expected, an ``xarray.DataArray`` with coordinates x and y does the same.

    Parameters
    ----------
    x, y : array_like
        The coordinates, increasing; at least four of each. Points outside of the grid are an error.
    values : array_like
        Of shape (len(x), len(y)): ``values[i, j]`` at ``(x[i], y[j])``, all of them finite.

    Examples
    --------
    >>> import numpy as np, ddelm
    >>> x, y = np.linspace(0, 1, 5), np.linspace(0, 2, 6)
    >>> k = ddelm.Grid(x, y, x[:, None] ** 3 + y)
    >>> bool(abs(k(0.3, 1.7) - (0.3**3 + 1.7)) < 1e-12)
    True
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, values: ArrayLike) -> None:
        across, up, data = (np.ascontiguousarray(v, dtype=np.float64) for v in (x, y, values))
        if (across.ndim, up.ndim, data.ndim) != (1, 1, 2):
            raise ValueError(
                f"x, y and values have the shapes {across.shape}, {up.shape} and {data.shape}\n"
                "hint: x of shape (n,), y of shape (m,), and values of shape (n, m)"
            )
        self._core = _native.Field.grid(across.tolist(), up.tolist(), data)
        self._arguments = (across, up, data)

    @classmethod
    def from_xarray(cls, array: Any) -> Grid:
        """Return the field of an ``xarray.DataArray`` with the dimensions x and y, in either order."""
        if set(array.dims) != {"x", "y"}:
            raise ValueError(f"the dimensions are {', '.join(map(str, array.dims))}\nhint: rename them to x and y")
        ordered = array.transpose("x", "y").sortby("x").sortby("y")
        return cls(ordered["x"].values, ordered["y"].values, ordered.values)

    def __repr__(self) -> str:
        return f"Grid(<{len(self._arguments[0])} x {len(self._arguments[1])} values>)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Grid, self._arguments
