"""Pictures of solutions, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ddelm._types import Array

if TYPE_CHECKING:
    import matplotlib.axes

    from ddelm.solution import Solution

#: What is drawn on a logarithmic scale.
_LOGARITHMIC = ("residual", "error")


def plot(
    solution: Solution,
    quantity: str,
    *,
    ax: Optional[matplotlib.axes.Axes],
    resolution: int,
    interfaces: bool,
    colorbar: bool,
    options: dict[str, Any],
) -> matplotlib.axes.Axes:
    """Draw a quantity of a solution; see `Solution.plot`."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.colors import LogNorm
    except ImportError as error:
        raise ImportError("plotting needs matplotlib\nhint: pip install matplotlib") from error
    (x0, x1), (y0, y1) = solution.domain
    step = max(x1 - x0, y1 - y0) / resolution
    # Cell centres: no point on the corners of the domain, where a residual may be infinite.
    x, y = (_centres(a, b, step) for a, b in ((x0, x1), (y0, y1)))
    values = _values(solution, quantity, *np.meshgrid(x, y))
    if ax is None:
        ax = plt.gca()
    if quantity in _LOGARITHMIC:
        options.setdefault("norm", LogNorm())
        # A value that is zero by chance must not stretch the scale.
        values = np.maximum(values, max(1e-6 * values.max(), np.finfo(np.float64).tiny))
    mesh = ax.pcolormesh(x, y, values, **{"shading": "nearest", "rasterized": True, **options})
    if interfaces:
        nx, ny = solution.subdomains
        lines: dict[str, Any] = {"color": "white", "linewidth": 0.5, "alpha": 0.5}
        ax.vlines(np.linspace(x0, x1, nx + 1)[1:-1], y0, y1, **lines)
        ax.hlines(np.linspace(y0, y1, ny + 1)[1:-1], x0, x1, **lines)
    if colorbar:
        # As high as the picture.
        ax.figure.colorbar(mesh, ax=ax, fraction=0.046 * (y1 - y0) / (x1 - x0), pad=0.04)
    ax.set(xlim=(x0, x1), ylim=(y0, y1), aspect="equal", xlabel="x", ylabel="y", title=_TITLES[quantity])
    return ax


_TITLES = {"u": "u", "gradient": "|grad u|", "residual": "|L u - f|", "error": "|u - exact|"}


def _centres(start: float, end: float, step: float) -> Array:
    count = max(1, round((end - start) / step))
    return start + (np.arange(count, dtype=np.float64) + 0.5) * ((end - start) / count)


def _values(solution: Solution, quantity: str, x: Array, y: Array) -> Array:
    if quantity == "u":
        return solution(x, y)
    if quantity == "gradient":
        length: Array = np.hypot(*solution.gradient(x, y))
        return length
    if quantity == "residual":
        return np.abs(solution.residual(x, y))
    if quantity == "error":
        return np.abs(solution.error(x, y))
    raise ValueError(f"quantity = {quantity!r}: unknown\nhint: one of {', '.join(_TITLES)}")
