"""Points as users give them, and as the native functions take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from ddelm._types import Array

Outside = Literal["error", "nan"]


def nan_outside(outside: Outside) -> bool:
    """Whether points outside the domain give NaN."""
    if outside not in ("error", "nan"):
        raise ValueError(f"outside = {outside!r}: unknown choice\nhint: 'error' or 'nan'")
    return outside == "nan"


def evaluate(function: Callable[[Array, Array], Array], x: ArrayLike, y: ArrayLike) -> Array:
    """Call a function of flat arrays with x and y of any shapes that broadcast.

    The result has the leading axes of what the function returns, then the shape of the points. The value at a single
    point is a number.
    """
    x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    found = function(np.ascontiguousarray(x).ravel(), np.ascontiguousarray(y).ravel())
    shaped: Array = found.reshape(found.shape[:-1] + x.shape)
    # A plain float, which prints as one; for the checker of types it is what an array of no dimension holds.
    return shaped if shaped.ndim else cast("Array", float(shaped))
