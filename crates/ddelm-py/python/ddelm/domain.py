"""Domains: rectangles, polygons, circles, ellipses, outlines of pieces and meshes, with holes, regions and periodic sides."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, cast

import numpy as np

from ddelm import _native
from ddelm._types import DomainLike, PathLike

if TYPE_CHECKING:
    import matplotlib.axes

#: What describes a shape in a problem file.
_WORDS = ("x", "y", "polygon", "names", "circle", "ellipse", "outline", "mesh")

#: The outline of a hole or a region: a domain, or the words of a problem file.
Shape = Union["Domain", Mapping[str, Any]]


class Domain:
    """A planar domain, in the words of ``[domain]`` in problem files.

    Give one of: x and y, polygon, circle, ellipse, outline, mesh. There is a method for each, which reads better:
    ``ddelm.Domain.circle((0, 0), 1)``.

    Parameters
    ----------
    x, y : two numbers each
        The ends of a rectangle. Its sides are ``"left"``, ``"right"``, ``"bottom"``, ``"top"``.
    polygon : points
        Corners in order. Sides are ``"side-1"``, ``"side-2"``, ... or as `names` says.
    circle, ellipse : dict
        ``{"center": (0, 0), "radius": 1}``, ``{"center": (0, 0), "axes": (2, 1), "angle": 30}``; one side, ``"boundary"``.
    outline : list of dicts
        Pieces that follow each other: ``{"line": [p, q]}``, ``{"arc": {"center", "radius", "from", "to"}}`` in degrees,
        ``{"spline": points}``, ``{"curve": ["cos(t)", "sin(t)"], "t": [0, 3]}``, each with a ``"name"`` if you like.
    mesh : path
        A mesh of gmsh, whose elements are the subdomains.
    names : list of str
        The sides of a polygon.
    holes : list, or dict by name
        Domains, or dicts in the same words. A hole is one part of the boundary, ``"hole"`` (``"hole-1"``, ...) or by its name.
    regions : dict by name
        Materials: domains, or dicts in the same words.
    periodic : list
        ``["x"]``, ``["x", "y"]`` or pairs of sides that are the same up to a shift: ``[("inlet", "outlet")]``.

    Examples
    --------
    >>> import ddelm
    >>> ring = ddelm.Domain.circle((0, 0), 1, holes={"axle": ddelm.Domain.circle((0, 0), 0.5)})
    >>> ring.parts
    ['boundary', 'axle']
    >>> problem = ddelm.Problem(source=1.0, dirichlet=0.0, domain=ring)
    >>> u = ddelm.solve(problem, points=12)
    >>> bool(abs(u(0.75, 0.0) - (1 - 0.75**2) / 4 + 0.1875 * 0.41503749927884376) < 1e-6)
    True
    """

    def __init__(
        self,
        *,
        x: Optional[Sequence[float]] = None,
        y: Optional[Sequence[float]] = None,
        polygon: Optional[Any] = None,
        circle: Optional[Mapping[str, Any]] = None,
        ellipse: Optional[Mapping[str, Any]] = None,
        outline: Optional[Sequence[Mapping[str, Any]]] = None,
        mesh: Optional[PathLike] = None,
        names: Optional[Sequence[str]] = None,
        holes: Union[Sequence[Shape], Mapping[str, Shape]] = (),
        regions: Optional[Mapping[str, Shape]] = None,
        periodic: Sequence[Union[str, Sequence[str]]] = (),
    ) -> None:
        given = (x, y, polygon, names, circle, ellipse, outline, None if mesh is None else os.path.abspath(mesh))
        self._words = {word: value for word, value in zip(_WORDS, given) if value is not None}
        self._holes, self._regions, self._periodic = holes, dict(regions or {}), list(periodic)
        keys: dict[str, Any] = {"domain": dict(self._words)}
        if holes:
            keys["domain"]["hole"] = _named(holes) if isinstance(holes, Mapping) else [_words(hole) for hole in holes]
        if regions:
            keys["domain"]["region"] = _named(regions)
        if self._periodic:
            keys["boundary"] = {"periodic": self._periodic}
        #: The keys of a problem file that mean the same.
        self._keys = keys
        self._core = _native.Domain(keys, os.getcwd())

    @classmethod
    def rectangle(cls, x: Sequence[float], y: Sequence[float], **more: Any) -> Domain:
        """Return the rectangle with these ends; more are `holes`, `regions` and `periodic`."""
        return cls(x=x, y=y, **more)

    @classmethod
    def polygon(cls, points: Any, names: Optional[Sequence[str]] = None, **more: Any) -> Domain:
        """Return the polygon with these corners; sides with the same name are one part, and there and back is a slit."""
        return cls(polygon=points, names=names, **more)

    @classmethod
    def circle(cls, center: Sequence[float] = (0.0, 0.0), radius: float = 1.0, **more: Any) -> Domain:
        """Return the disk with this centre and radius."""
        return cls(circle={"center": center, "radius": radius}, **more)

    @classmethod
    def ellipse(cls, center: Sequence[float], axes: Sequence[float], angle: float = 0.0, **more: Any) -> Domain:
        """Return the ellipse with these half axes, the first of them turned by an angle in degrees."""
        return cls(ellipse={"center": center, "axes": axes, "angle": angle}, **more)

    @classmethod
    def outline(cls, pieces: Sequence[Mapping[str, Any]], **more: Any) -> Domain:
        """Return the domain within pieces that follow each other: lines, arcs, splines, curves."""
        return cls(outline=pieces, **more)

    @classmethod
    def mesh(cls, path: PathLike, **more: Any) -> Domain:
        """Return the union of the elements of a mesh of gmsh, with the names of its physical groups."""
        return cls(mesh=path, **more)

    @property
    def parts(self) -> list[str]:
        """The parts of the boundary that have conditions; a periodic side has none."""
        return self._core.parts

    @property
    def regions(self) -> list[str]:
        """The regions, as `Problem(regions=...)` names them."""
        return self._core.regions

    @property
    def bounding_box(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The smallest box around the domain, ``((x0, x1), (y0, y1))``; of a curved one, to about a thousandth."""
        x0, x1, y0, y1 = self._core.bounding_box
        return (x0, x1), (y0, y1)

    def plot(self, *, size: Optional[float] = None, ax: Optional[matplotlib.axes.Axes] = None) -> matplotlib.axes.Axes:
        """Draw the subdomains, the parts of the boundary and the regions, with their names, with matplotlib.

        Parameters
        ----------
        size : float
            The largest subdomain, as in `solve`.
        ax : matplotlib axes
            Where to draw; a new figure unless given.
        """
        import matplotlib.pyplot as plt
        from matplotlib.collections import LineCollection, PolyCollection

        inside, boundary, tiles = self._core.plan(size)
        if ax is None:
            ax = plt.figure(layout="constrained").add_subplot()
        axes = cast("Any", ax)
        tints = cast("Any", plt.get_cmap("Set3")).colors
        for region, name in [(None, None), *enumerate(self.regions)]:
            polygons = [polygon for number, polygon in tiles if number == region]
            colour = "0.96" if region is None else tints[region % len(tints)]
            axes.add_collection(PolyCollection(polygons, facecolors=[colour], edgecolors="none", label=name))
        axes.add_collection(LineCollection(list(inside), colors="0.5", linewidths=0.6))
        for part, name in [*enumerate(self.parts), (None, "periodic")]:
            lines = [line for number, line in boundary if number == part]
            if lines:
                colour = "0.2" if part is None else f"C{part % 10}"
                style = "dashed" if part is None else "solid"
                axes.add_collection(LineCollection(lines, colors=colour, linewidths=2.4, linestyles=style, label=name))
        points = np.concatenate([line for _, line in boundary])
        low, high = points.min(axis=0), points.max(axis=0)
        room = 0.02 * float(max(high - low))
        axes.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room), xlabel="x", ylabel="y")
        axes.set(aspect="equal", title=f"{len(tiles)} subdomains")
        axes.locator_params(nbins=6)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax

    def __repr__(self) -> str:
        more = {"holes": self._holes, "regions": self._regions, "periodic": self._periodic}
        shown = {**self._words, **{name: value for name, value in more.items() if value}}
        return f"Domain({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        more = {"holes": self._holes, "regions": self._regions, "periodic": self._periodic}
        return _rebuild, ({**self._words, **more},)


def as_domain(domain: Union[Domain, DomainLike]) -> Domain:
    """Return a domain; ``((x0, x1), (y0, y1))`` is a rectangle."""
    if isinstance(domain, Domain):
        return domain
    try:
        (x0, x1), (y0, y1) = domain
        ends = [float(x0), float(x1)], [float(y0), float(y1)]
    except (TypeError, ValueError):
        raise ValueError(
            f"domain = {domain!r}: expected a ddelm.Domain, or two intervals\n"
            "hint: for example ((0, 1), (0, 1)); corners make a ddelm.Domain.polygon"
        ) from None
    return Domain(x=ends[0], y=ends[1])


def _words(shape: Shape) -> dict[str, Any]:
    """Return the words for a hole or a region."""
    if isinstance(shape, Domain):
        if shape._holes or shape._regions or shape._periodic:
            raise ValueError(f"{shape!r}: a hole or a region is one loop\nhint: leave its own holes, regions and periodic out")
        return dict(shape._words)
    if not isinstance(shape, Mapping):
        raise TypeError(
            f"expected a ddelm.Domain or a dictionary, not `{type(shape).__name__}`\n"
            'hint: for example ddelm.Domain.circle((0, 0), 1), or {"circle": {"center": (0, 0), "radius": 1}}'
        )
    return dict(shape)


def _named(shapes: Mapping[str, Shape]) -> list[dict[str, Any]]:
    return [{"name": name, **_words(shape)} for name, shape in shapes.items()]


def _rebuild(arguments: dict[str, Any]) -> Domain:
    return Domain(**arguments)
