"""Many problems on all cores: a table, or data to learn from."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _native
from ddelm._types import Array, PathLike
from ddelm.options import KEYS, case
from ddelm.problem import Problem, checked
from ddelm.progress import ProgressLike, listener
from ddelm.report import Report, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ddelm.options import Options


class Sweep:
    """What came of many solves; made by `sweep`. Arrays have one entry for each solve."""

    def __init__(
        self,
        values: dict[str, Array],
        grid: tuple[Array, Array],
        u: Array,
        inputs: dict[str, Array],
        reports: list[Report],
    ) -> None:
        #: The values that were swept over, by name.
        self.values = values
        #: The coordinates of the grid.
        self.x, self.y = grid
        #: u of shape (solves, len(x), len(y)): ``u[k, i, j]`` at ``(x[i], y[j])``; NaN outside the domain.
        self.u = u
        #: Fields of the problems on the same grid, by name.
        self.inputs = inputs
        #: The reports.
        self.reports = reports

    def __len__(self) -> int:
        return len(self.reports)

    @property
    def status(self) -> list[str]:
        """How every solve ended: ``"solved"``, or why not."""
        return [report.status for report in self.reports]

    @property
    def errors(self) -> Array:
        """The relative L2 errors, measured or else estimated; NaN where neither was asked for."""

        def error(report: Report) -> float:
            known = report.errors or report.estimate
            return known.l2 if known else float("nan")

        return np.array([error(report) for report in self.reports])

    def save(self, path: PathLike) -> None:
        """Write one ``.npz`` file, as ``ddelm sweep --out`` does: values, x, y, u, inputs, errors and whether solved."""
        solved = np.array([status == "solved" for status in self.status], dtype=float)
        arrays = {**self.values, **self.inputs, "u": self.u, "x": self.x, "y": self.y, "errors": self.errors, "solved": solved}
        np.savez(os.fspath(path), **arrays)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        over = ", ".join(self.values)
        solved = sum(status == "solved" for status in self.status)
        return f"<ddelm.Sweep: {len(self)} solves over {over}, {solved} solved>"


def sweep(
    problem: Union[Problem, Callable[..., Problem]],
    *,
    grid: Union[int, Sequence[int]] = 65,
    inputs: Sequence[str] = (),
    product: bool = True,
    options: Union[Options, Mapping[str, Any], None] = None,
    progress: ProgressLike = None,
    **values: ArrayLike,
) -> Sweep:
    """Solve for many values, on all cores.

    Parameters
    ----------
    problem : Problem, or function that returns one
        With a `Problem`, the names are those of its parameters. A function is called with the values by name.
    grid : int or (int, int)
        Points of the grid on which u is kept, in x and y.
    inputs : list of "diffusion", "reaction" and "source"
        Fields to keep on the same grid, for learning.
    product : bool
        Whether several values are combined, the last varying fastest; otherwise they go side by side.
    options : dict
        Options of `solve`, for example ``{"subdomains": (16, 16)}``.
    progress : bool or function
        As in `solve`.
    **values : array_like
        The values, one array for each name.

    Returns
    -------
    Sweep
        The table and the data.

    Examples
    --------
    >>> import numpy as np, ddelm
    >>> problem = ddelm.Problem(diffusion="k", source=1.0, dirichlet=0.0, parameters={"k": 1.0})
    >>> found = ddelm.sweep(problem, k=np.linspace(1, 2, 5), grid=9, options={"subdomains": (2, 2), "points": 8})
    >>> found.u.shape, bool(np.allclose(found.u[0], 2 * found.u[-1]))
    ((5, 9, 9), True)
    """
    if not values:
        raise TypeError("sweep: there is nothing to sweep over\nhint: ddelm.sweep(problem, kappa=np.linspace(1, 10, 50))")
    axes = {name: np.atleast_1d(np.asarray(value)) for name, value in values.items()}
    if any(axis.ndim != 1 or axis.size == 0 for axis in axes.values()):
        raise ValueError("sweep: values are arrays with one axis, and not empty")
    if not product and len({axis.size for axis in axes.values()}) > 1:
        raise ValueError("sweep: values that go side by side have the same length\nhint: product=True combines them")
    rows = list(itertools.product(*axes.values()) if product else zip(*axes.values()))
    chosen = dict(options or {})
    made = [dict(zip(axes, row)) for row in rows]
    cases = [_case(problem, row, chosen) for row in made]
    (x0, x1), (y0, y1) = _first(problem, made[0])._core.domain
    nx, ny = (grid, grid) if isinstance(grid, int) else grid
    x, y = np.linspace(x0, x1, nx), np.linspace(y0, y1, ny)
    across, up = (np.ascontiguousarray(v.ravel()) for v in np.meshgrid(x, y, indexing="ij"))
    with listener(progress) as told:
        found, failed = _native.sweep(cases, across, up, list(inputs), told)
    if found is None:
        assert failed is not None
        index, error = failed
        given = ", ".join(f"{name} = {value}" for name, value in made[index].items())
        raise type(error)(f"solve {index + 1} of {len(made)} ({given}): {error}") from error
    u, sampled, texts = found
    reports = [Report.from_json(text) for text in texts]
    warn(dict.fromkeys(warning for report in reports for warning in report.warnings))
    shape = (len(made), nx, ny)
    return Sweep(
        {name: np.array([row[name] for row in made]) for name in axes},
        (x, y),
        u.reshape(shape),
        {name: field.reshape(shape) for name, field in zip(inputs, sampled)},
        reports,
    )


def _first(problem: Union[Problem, Callable[..., Problem]], row: Mapping[str, Any]) -> Problem:
    return problem if isinstance(problem, Problem) else checked(problem(**_plain(row)))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers of NumPy as those of Python."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}


def _case(
    problem: Union[Problem, Callable[..., Problem]], row: Mapping[str, Any], options: Mapping[str, Any]
) -> _native.Case:
    if not isinstance(problem, Problem):
        return case(_first(problem, row), options)
    if problem._file is not None:
        return case(problem, options, {f"parameters.{name}": value for name, value in _plain(row).items()})
    unknown = [name for name in row if name not in problem.parameters]
    if unknown:
        known = ", ".join(problem.parameters) or "none"
        hint = "options go into options={...}" if unknown[0] in KEYS else f"its parameters: {known}"
        raise TypeError(f"sweep: {unknown[0]!r} is no parameter of the problem\nhint: {hint}")
    return case(problem.replace(parameters={**problem.parameters, **_plain(row)}), options)
