"""Pictures of solutions, with matplotlib: maps, lines and surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Union, cast

import numpy as np

from ddelm._types import Array, Quantity

if TYPE_CHECKING:
    import matplotlib.axes

    from ddelm.solution import Solution

#: What is drawn on a logarithmic scale: sizes, of which the order of magnitude matters.
_SIZES = ("residual", "error", "estimate")

_TITLES = {
    "u": "u",
    "ux": "∂u/∂x",
    "uy": "∂u/∂y",
    "gradient": "|∇u|",
    "flux": "|flux|",
    "residual": "|L u − f|",
    "error": "|u − exact|",
    "estimate": "estimated error",
}

#: Decades that a logarithmic scale shows at most.
_DECADES = 6

#: The part of the cells, at either end of the colours, that may have values beyond them.
_FEW = 0.002

#: A field changes its sign where the smaller of its two signs has this part of its range.
_BOTH_SIGNS = 0.05

#: Points along a line.
_ALONG = 801


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib\nhint: pip install matplotlib") from error
    return plt


class Picture:
    """A field of a solution, ready to be drawn; see `Solution.plot`."""

    def __init__(
        self,
        solution: Solution,
        field: Quantity,
        resolution: int,
        ax: Optional[matplotlib.axes.Axes],
        options: dict[str, Any],
    ) -> None:
        if field not in _TITLES:
            raise ValueError(f"field = {field!r}: unknown\nhint: one of {', '.join(_TITLES)}")
        self.solution, self.field, self.resolution, self.options = solution, field, resolution, options
        self.plt: Any = pyplot()
        self._ax: Any = ax

    def axes(self, size: tuple[float, float], **options: Any) -> Any:
        """Return the axes that were given, or those of a new figure of this size in inches."""
        if self._ax is None:
            figure = self.plt.figure(figsize=size, dpi=100, layout="constrained")
            self._ax = figure.add_subplot(**options)
        return self._ax

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        """Coordinates of columns and rows: centres of cells, for a residual may be infinite in a corner of the domain."""
        (x0, x1), (y0, y1) = self.solution.domain
        step = max(x1 - x0, y1 - y0) / self.resolution

        def centres(start: float, end: float) -> Array:
            count = max(2, round((end - start) / step))
            found: Array = start + (np.arange(count, dtype=np.float64) + 0.5) * ((end - start) / count)
            return found

        return centres(x0, x1), centres(y0, y1)

    def _values(self, x: Array, y: Array) -> Array:
        """Return the field at points; NaN outside the domain."""
        u, field = self.solution, self.field
        if field == "u":
            return u(x, y, outside="nan")
        if field in ("ux", "uy"):
            derivative: Array = u.gradient(x, y, outside="nan")[0 if field == "ux" else 1]
            return derivative
        if field in ("gradient", "flux"):
            vector = u.gradient(x, y, outside="nan") if field == "gradient" else u.flux(x, y, outside="nan")
            length: Array = np.hypot(*vector)
            return length
        if field == "residual":
            return np.abs(u.residual(x, y, outside="nan"))
        if field == "error":
            return np.abs(u.error(x, y, outside="nan"))
        # One number for each subdomain, and one for all that lies outside of them.
        levels = np.array([*u.estimate.subdomains, np.nan])
        found: Array = levels[u._core.places(np.ravel(x), np.ravel(y))[0]].reshape(np.shape(x))
        return found

    @cached_property
    def values(self) -> Array:
        """The field on the grid of a map; NaN outside the domain."""
        return self._values(*np.meshgrid(*self._grid))

    def colours(self, values: Array) -> dict[str, Any]:
        """Return the norm and the colour map that suit the values."""
        from matplotlib.colors import LogNorm, Normalize

        least, most = float(np.nanmin(values)), float(np.nanmax(values))
        if self.field in _SIZES:
            most = most if most > 0 else 1.0
            # Sizes near a zero say nothing, and must not stretch the scale.
            small = float(np.nanquantile(values, 0.02))
            return {"norm": LogNorm(min(max(small, most * 10.0**-_DECADES), most / 10), most), "cmap": "magma"}
        if self.field != "u":
            # Next to a corner derivatives may be infinite: a few cells must not take all colours.
            low, high = (float(np.nanquantile(values, q)) for q in (_FEW, 1 - _FEW))
            room = 0.2 * (high - low)
            least, most = max(least, low - room), min(most, high + room)
        size = max(abs(least), abs(most))
        if _is_flat(least, most):
            room = 0.1 * size if size > 0 else 1.0
            return {"norm": Normalize(least - room, most + room), "cmap": "viridis"}
        if min(-least, most) > _BOTH_SIGNS * (most - least):
            return {"norm": Normalize(-size, size), "cmap": "RdBu_r"}
        return {"norm": Normalize(least, most), "cmap": "viridis"}

    def _size(self) -> tuple[float, float]:
        """Return the size of a figure whose map is neither tiny nor huge."""
        (x0, x1), (y0, y1) = self.solution.domain
        scale = min(4.6 / (x1 - x0), 3.8 / (y1 - y0))
        return max(scale * (x1 - x0), 1.6) + 1.6, max(scale * (y1 - y0), 1.2) + 0.9

    def map(self, contours: Union[bool, int, Sequence[float]], subdomains: bool, colorbar: bool) -> matplotlib.axes.Axes:
        """Draw colours over the domain."""
        x, y = self._grid
        values = self.values
        colours = {**self.colours(values), **self.options}
        shown = np.maximum(values, colours["norm"].vmin) if self.field in _SIZES else values
        ax = self.axes(self._size())
        if {"vmin", "vmax"} & set(self.options):
            del colours["norm"]
        inside, outline = self.solution._core.borders()
        # Cells on the outline have their centres on either side of it: those outside are filled, and cut off along it.
        drawn = _filled(shown) if outline else shown
        mesh = ax.pcolormesh(x, y, drawn, **{"shading": "nearest", "rasterized": True, **colours})
        if outline:
            mesh.set_clip_path(_region(outline), ax.transData)
        if contours is not False:
            self._contours(ax, x, y, shown, contours)
        if subdomains:
            # White is the middle of colours for both signs.
            colour = "0.35" if mesh.cmap.name == "RdBu_r" else "white"
            _lines(ax, inside, color=colour, linewidth=0.6, alpha=0.5)
        _lines(ax, outline, color="0.1", linewidth=1.0)
        (x0, x1), (y0, y1) = self.solution.domain
        if colorbar:
            # As high as the map, and as wide for every shape of it.
            width = 0.045 * max(1.0, (y1 - y0) / (x1 - x0))
            ax.figure.colorbar(mesh, cax=ax.inset_axes([1.0 + 0.8 * width, 0.0, width, 1.0]), extend=_beyond(mesh, shown))
        ax.set(xlim=(x0, x1), ylim=(y0, y1), aspect="equal", xlabel="x", ylabel="y", title=_TITLES[self.field])
        # Labels such as -0.75 must not touch each other.
        ax.locator_params(nbins=6)
        return cast("matplotlib.axes.Axes", ax)

    def _contours(self, ax: Any, x: Array, y: Array, values: Array, contours: Union[bool, int, Sequence[float]]) -> None:
        from matplotlib.ticker import LogLocator, MaxNLocator

        count = 10 if contours is True else contours
        if isinstance(count, str) or not (isinstance(count, int) or np.all(np.isfinite(count))):
            raise TypeError(f"contours = {count!r}: expected True, a number of lines or their values\nhint: for example contours=12")
        if isinstance(count, int) and _is_flat(float(np.nanmin(values)), float(np.nanmax(values))):
            return
        locator = None
        if isinstance(count, int):
            locator = LogLocator() if self.field in _SIZES else MaxNLocator(count)
        levels = {} if locator is not None else {"levels": sorted(cast("Sequence[float]", count))}
        ax.contour(x, y, values, colors="black", linewidths=0.7, locator=locator, **levels)

    def line(self, line: str, subdomains: bool) -> matplotlib.axes.Axes:
        """Draw the field along a line."""
        fixed, at = _line(line)
        ends, across = self.solution.domain if fixed == "y" else self.solution.domain[::-1]
        if not across[0] <= at <= across[1]:
            raise ValueError(
                f"slice = {line!r}: the line does not meet the domain\nhint: {fixed} runs from {across[0]:g} to {across[1]:g}"
            )
        along, still = np.linspace(*ends, _ALONG), np.full(_ALONG, at)
        x, y = (along, still) if fixed == "y" else (still, along)
        ax = self.axes((6.0, 3.6))
        title = _TITLES[self.field]
        problem = self.solution.problem
        values = self._values(x, y)
        ax.plot(along, values, **{"label": title, **self.options})
        if self.field == "u" and problem is not None and problem._core.has_exact:
            exact = np.where(np.isnan(values), np.nan, problem._core.exact_values(x, y))
            ax.plot(along, exact, "--", color="0.2", label="exact")
            ax.legend()
        if subdomains:
            number, _ = self.solution._core.places(x, y)
            for k in np.flatnonzero(np.diff(number)):
                ax.axvline(0.5 * (along[k] + along[k + 1]), color="0.85", linewidth=0.8, zorder=0)
        ax.set(xlim=ends, xlabel="x" if fixed == "y" else "y", ylabel=title, title=f"{title} at {fixed} = {at:g}")
        if self.field in _SIZES:
            ax.set_yscale("log")
        return cast("matplotlib.axes.Axes", ax)

    def surface(self, colorbar: bool) -> matplotlib.axes.Axes:
        """Draw the field as a surface."""
        x, y = np.meshgrid(*self._grid)
        values = self.values
        colours = self.colours(values)
        if self.field in _SIZES:
            # Axes in space have no logarithmic scale.
            values = np.log10(np.maximum(values, colours["norm"].vmin))
            colours = {"cmap": colours["cmap"]}
        ax = self.axes((6.4, 4.8), projection="3d")
        # The default draws fifty lines of the grid: the surface would have fewer points than it was given.
        steps: dict[str, Any] = {"rcount": min(len(x), 120), "ccount": min(len(x[0]), 120), "linewidth": 0, "antialiased": False}
        drawn = ax.plot_surface(x, y, values, **{**steps, **colours, **self.options})
        title = _TITLES[self.field]
        if colorbar:
            ax.figure.colorbar(drawn, ax=ax, shrink=0.65, pad=0.12)
        ax.set(xlabel="x", ylabel="y", title=f"log₁₀ {title}" if self.field in _SIZES else title)
        (x0, x1), (y0, y1) = self.solution.domain
        longest = max(x1 - x0, y1 - y0)
        ax.locator_params(nbins=5)
        ax.set_box_aspect(((x1 - x0) / longest, (y1 - y0) / longest, 0.6))
        return cast("matplotlib.axes.Axes", ax)


def _is_flat(least: float, most: float) -> bool:
    """Whether values are a constant, whose rounding errors nobody wants to see."""
    return most - least <= 1e-8 * max(abs(least), abs(most))


def _lines(ax: Any, lines: Sequence[Array], **style: Any) -> None:
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(list(lines), **style))


def _beyond(mesh: Any, values: Array) -> str:
    """Return at which ends of its scale a colour bar has an arrow: where values lie beyond it."""
    below, above = np.nanmin(values) < mesh.norm.vmin, np.nanmax(values) > mesh.norm.vmax
    return "both" if below and above else "min" if below else "max" if above else "neither"


def _filled(values: Array) -> Array:
    """Return values with those of their neighbours in the place of NaN, two cells deep."""
    found: Array = values.copy()
    for _ in range(2):
        near = np.pad(found, 1, constant_values=np.nan)
        rows, columns = found.shape
        shifts = ((1, 0), (1, 2), (0, 1), (2, 1), (0, 0), (0, 2), (2, 0), (2, 2))
        for i, j in shifts:
            there = near[i : i + rows, j : j + columns]
            found = np.where(np.isnan(found), there, found)
    return found


def _region(lines: Sequence[Array]) -> Any:
    """Return the region within lines that follow each other around the domain and its holes."""
    from matplotlib.path import Path

    left, loops = [np.asarray(line) for line in lines], []
    close = 1e-9 * float(np.ptp(np.concatenate(left), axis=0).max())
    while left:
        loop = left.pop(0)
        while np.abs(loop[-1] - loop[0]).max() > close or len(loop) < 3:
            following = next((k for k, line in enumerate(left) if np.abs(line[0] - loop[-1]).max() <= close), None)
            if following is None:
                break
            loop = np.concatenate([loop, left.pop(following)[1:]])
        loops.append(Path(loop, closed=False))
    return Path.make_compound_path(*loops)


def _line(text: str) -> tuple[str, float]:
    """Read a line across the domain."""
    name, _, value = str(text).partition("=")
    try:
        at = float(value)
    except ValueError:
        at = float("nan")
    if name.strip() not in ("x", "y") or not np.isfinite(at):
        raise ValueError(f"slice = {text!r}: a line is x=NUMBER or y=NUMBER\nhint: for example \"x=0.5\"")
    return name.strip(), at
