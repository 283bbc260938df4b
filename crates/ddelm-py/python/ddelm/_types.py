"""What the functions of this package take."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: A function of whole arrays of x and y, and by their names of t, u, ux and uy.
Function = Callable[..., Any]

#: A scalar function of (x, y): a number, a formula, or a function of whole arrays.
FieldLike = Union[float, str, Function]

#: A vector: two fields, or one function that returns two arrays.
VectorLike = Union[Sequence[FieldLike], Function]

#: A diffusion: a field, or a 2 x 2 nested list of them.
TensorLike = Union[FieldLike, Sequence[Sequence[FieldLike]], Array]

#: Ends of the domain: ``((x0, x1), (y0, y1))``.
DomainLike = Sequence[Sequence[float]]

#: What can be drawn of a solution.
Quantity = Literal["u", "ux", "uy", "gradient", "flux", "residual", "error", "estimate"]

#: The sides of a rectangle, in the order of the native module.
Side = Literal["left", "right", "bottom", "top"]

#: A part of the boundary: a side of a rectangle, or a name of the user's own.
Part = Union[Side, str]

PathLike = Union[str, "os.PathLike[str]"]

__all__ = [
    "Array",
    "ArrayLike",
    "DomainLike",
    "FieldLike",
    "Function",
    "Part",
    "PathLike",
    "Quantity",
    "Side",
    "TensorLike",
    "VectorLike",
]
