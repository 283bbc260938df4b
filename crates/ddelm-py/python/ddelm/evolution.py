"""Steps in time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

import numpy as np

from ddelm import _native
from ddelm._types import Array, FieldLike, PathLike, Quantity
from ddelm.options import case
from ddelm.problem import Problem, checked
from ddelm.progress import ProgressLike, listener
from ddelm.report import Report, warn
from ddelm.solution import Solution

if TYPE_CHECKING:
    import matplotlib.figure
    import xarray
    from typing_extensions import Unpack

    from ddelm.options import LinearOptions

#: Backward differentiation formulas by their order.
TimeMethod = Literal["bdf1", "bdf2", "bdf3", "bdf4"]

#: When terms that depend on u are taken.
Terms = Literal["auto", "implicit"]


class Series(Sequence[Solution]):
    """Solutions at times, a sequence; made by `evolve`.

    ``series[-1]`` is the solution at the end, ``series.times`` has the times.
    """

    def __init__(self, times: Sequence[float], solutions: Sequence[Solution]) -> None:
        #: The times, ascending.
        self.times: Array = np.array(times, dtype=np.float64)
        self._solutions = list(solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> Series: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Solution, Series]:
        """Return a solution, or some of them."""
        if isinstance(index, slice):
            return Series(self.times[index].tolist(), self._solutions[index])
        return self._solutions[index]

    def __len__(self) -> int:
        return len(self._solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self._solutions)

    @property
    def report(self) -> Report:
        """What the run did: the report of the last solution. ``report.time`` has the steps."""
        return self._solutions[-1].report

    def grid(self, points: int = 101) -> xarray.Dataset:
        """Return u and its gradient on a uniform grid at all times, as an xarray dataset. xarray must be installed.

        Parameters
        ----------
        points : int
            Points along the longer side of the domain.

        Returns
        -------
        xarray.Dataset
            The variables u, ux and uy over the coordinates t, y and x; NaN outside the domain.
        """
        frames = [solution.grid(points) for solution in self]
        import xarray

        return xarray.concat(frames, xarray.DataArray(self.times, dims="t", name="t"), combine_attrs="override")

    def plot(self, field: Quantity = "u", *, columns: int = 4, **options: Any) -> matplotlib.figure.Figure:
        """Draw all solutions side by side with matplotlib, in the same colours.

        Parameters
        ----------
        field : "u", "ux", "uy" or another quantity of `Solution.plot`
            What to draw.
        columns : int
            Pictures in a row.
        **options
            As in `Solution.plot`.

        Returns
        -------
        matplotlib figure
            The figure.
        """
        from ddelm.plotting import Picture, pyplot

        columns = max(1, min(columns, len(self)))
        rows = -(-len(self) // columns)
        (x0, x1), (y0, y1) = self[0].domain
        height = min(max(2.6 * (y1 - y0) / (x1 - x0), 1.3), 5.0) + 0.6
        figure: matplotlib.figure.Figure
        figure, axes = pyplot().subplots(
            rows, columns, figsize=(3.0 * columns + 0.6, height * rows), squeeze=False, dpi=100, layout="constrained"
        )
        drawn = list(zip(axes.flat, self))
        if {"slice", "surface", "vmin", "vmax", "norm"} & set(options):
            for ax, solution in drawn:
                solution.plot(field, ax=ax, **options)
        else:
            own = {name: options.pop(name, default) for name, default in (("contours", False), ("subdomains", True))}
            resolution, bar = options.pop("resolution", 200), options.pop("colorbar", True)
            pictures = [Picture(solution, field, resolution, ax, dict(options)) for ax, solution in drawn]
            colours = pictures[0].colours(np.stack([picture.values for picture in pictures]))
            for picture in pictures:
                picture.options = {**colours, **options}
                picture.map(own["contours"], own["subdomains"], False)
            if bar:
                figure.colorbar(axes.flat[0].collections[0], ax=list(axes.flat), label=axes.flat[0].get_title(), pad=0.01)
        for (ax, _), t in zip(drawn, self.times):
            ax.set_title(f"t = {t:.4g}")
            ax.label_outer()
        for ax in axes.flat[len(self) :]:
            ax.set_axis_off()
        return figure

    def animate(self, path: Optional[PathLike] = None) -> bytes:
        """Return u at all times as an animated PNG file (APNG), which browsers and notebooks show, and write it.

        Parameters
        ----------
        path : path
            The file to write, ``heat.png``; none unless given. In a notebook, ``IPython.display.Image(series.animate())``.
        """
        content = _native.animation([solution._core for solution in self])
        if path is not None:
            with open(path, "wb") as file:
                file.write(content)
        return content

    def to_vtk(self, path: PathLike, *, resolution: int = 16) -> None:
        """Write a ``.pvd`` file for ParaView, and beside it one ``.vtu`` file for every time.

        Parameters
        ----------
        path : path
            The file, ``heat.pvd``; the others are ``heat-1.vtu`` and so on.
        resolution : int
            Cells per side of a subdomain.
        """
        stem, extension = os.path.splitext(os.fspath(path))
        if extension != ".pvd":
            raise ValueError(f"path = {os.fspath(path)!r}: a series is a .pvd file\nhint: {stem}.pvd")
        names = [f"{stem}-{k}.vtu" for k in range(1, len(self) + 1)]
        for name, solution in zip(names, self):
            solution.to_vtk(name, resolution=resolution)
        _native.write_pvd(os.fspath(path), list(zip(self.times.tolist(), map(os.path.basename, names))))

    def __repr__(self) -> str:
        shown = f"{len(self)} solutions from t = {self.times[0]:g} to {self.times[-1]:g}"
        return f"<ddelm.Series: {self.report.status}, {shown}>"


def evolve(
    problem: Problem,
    *,
    initial: Optional[FieldLike] = None,
    end: Optional[float] = None,
    start: Optional[float] = None,
    steps: Optional[int] = None,
    tolerance: Optional[float] = None,
    method: Optional[TimeMethod] = None,
    nonlinear: Optional[Terms] = None,
    times: Union[Sequence[float], Array, None] = None,
    estimate: Optional[bool] = None,
    progress: ProgressLike = None,
    **options: Unpack[LinearOptions],
) -> Series:
    """Solve ``u_t = -L u + f`` by steps in time.

    Formulas of the problem may use ``t`` and ``u``, and functions take them by these names. All steps of a linear problem share one
    factorization unless a coefficient depends on t. A source that depends on u is extrapolated to the new time; where coefficients or
    conditions depend on u, every step is solved by Newton's method.

    Parameters
    ----------
    problem : Problem
        L, f and the boundary conditions. Of a problem file with ``[time]`` the arguments below are there already, and override it.
    initial : field
        u at the start.
    end, start : float
        The last time, and the first, 0 unless given.
    steps : int
        How many steps.
    tolerance : float
        Instead of steps: the relative L2 error at the end that they are to reach.
    method : "bdf1" to "bdf4"
        The backward differentiation formula by its order; "bdf4" unless given.
    nonlinear : "auto" or "implicit"
        With "implicit" a source that depends on u is taken at the new time as well: for stiff ones, and for those that depend on the
        gradient of u.
    times : sequence of float
        Other times at which the solution is wanted; they need not be steps.
    estimate : bool
        Whether to estimate the error at the end, of the steps and of the subdomains, which takes about as long again; by default
        where the exact solution is not known.
    progress : bool or function
        As in `solve`.
    **options
        As in `solve`: subdomains, points and others.

    Returns
    -------
    Series
        The solutions at `times`, and the last one at `end`.

    Examples
    --------
    >>> import ddelm
    >>> heat = ddelm.Problem(dirichlet=0.0)
    >>> u = ddelm.evolve(heat, initial="sin(pi*x)*sin(pi*y)", end=0.1, steps=50, subdomains=(2, 2), points=10)
    >>> print(round(u[-1](0.5, 0.5), 6))
    0.138911
    """
    known = checked(problem)
    values = None if times is None else np.asarray(times, dtype=np.float64).tolist()
    asked = {"end": end, "start": start, "steps": steps, "time_tolerance": tolerance, "time_method": method, "time_nonlinear": nonlinear}
    if known._file is None and initial is None:
        raise ValueError('initial: u at the start is not given\nhint: for example initial="sin(pi*x)*sin(pi*y)", or 0.0')
    # A function cannot go through an option: it takes the place of zero.
    placeholder = None if initial is None else 0.0
    if estimate is None:
        estimate = None if known._file is not None else not known._core.has_exact
    chosen = case(known, {**options, **asked, "time_initial": placeholder, "times": values, "estimate": estimate})
    if initial is not None:
        chosen = chosen.starting_at(initial)
    with listener(progress) as told:
        found = _native.evolve(chosen, told)
    solutions = [Solution(core, known._at_time(then, t)) for t, core, then in found]
    warn(dict.fromkeys(warning for solution in solutions for warning in solution.report.warnings))
    return Series([t for t, _, _ in found], solutions)
