"""The solution: a function of (x, y)."""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from ddelm import _html, _native
from ddelm._points import Outside, evaluate, nan_outside
from ddelm._types import Array, FieldLike, Part, PathLike, Quantity
from ddelm.options import case
from ddelm.problem import Problem, saved_problem
from ddelm.progress import ProgressLike, listener
from ddelm.report import Errors, Estimate, Report, warn

if TYPE_CHECKING:
    import matplotlib.axes
    import pyvista
    import torch
    import xarray

    from ddelm.gradient import Gradient


class Network(NamedTuple):
    """The network of one subdomain: ``u = sum_j c[j] sigma(weights[:, j] . xi + biases[j]) + sum_m d[m] p[m](xi)``.

    The p are polynomials beside the neurons, a skip connection: ``P_i(2 s - 1) P_j(2 t - 1)`` with Legendre polynomials P, by
    their degree i + j and then by j. The d are the sums ``polynomials + polynomial_remainders``.

    The reference coordinates xi run from 0 to 1 in x and in y over the subdomain. The c are the sums ``coefficients +
    remainders``. Where corners are singular they reach 1e8, and whatever is rounded differently, a coefficient, a sum or
    sigma itself, is seen in u as 1e-8 to 1e-7. Call the network to have the bits of the solution: ``network(s, t)``.
    """

    #: w, of shape (2, neurons).
    weights: Array
    #: b.
    biases: Array
    #: c, rounded.
    coefficients: Array
    #: What rounding took away from c.
    remainders: Array
    #: d, rounded.
    polynomials: Array
    #: What rounding took away from d.
    polynomial_remainders: Array
    #: "tanh", "sin" or "gaussian".
    activation: str = "tanh"

    def __call__(self, s: ArrayLike, t: ArrayLike) -> Array:
        """Return u at reference points, with the bits of the solution.

        Parameters
        ----------
        s, t : array_like
            Reference coordinates, of shapes that broadcast.

        Returns
        -------
        ndarray
            The values, in the shape of the points.
        """
        s, t = np.broadcast_arrays(np.asarray(s, dtype=float), np.asarray(t, dtype=float))
        number, (across, up) = np.zeros(s.size, dtype=np.int64), (np.ascontiguousarray(v.ravel()) for v in (s, t))
        coefficients = np.concatenate([self.polynomials, self.coefficients])
        remainders = np.concatenate([self.polynomial_remainders, self.remainders])
        w, b, c, rest = (array[np.newaxis] for array in (self.weights, self.biases, coefficients, remainders))
        return _native.network_values(self.activation, w, b, c, rest, number, across, up, [0])[0].reshape(s.shape)


class Solution:
    """A solution; made by `solve`, `Solver.solve` and `load`.

    It is a network with one hidden layer on every subdomain, and a smooth function there. Evaluations release the
    interpreter and use all threads.

    Examples
    --------
    >>> import numpy as np, ddelm
    >>> u = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(2, 2), points=12)
    >>> x, y = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 3))
    >>> u(x, y).shape, u.gradient(x, y).shape
    ((3, 5), (2, 3, 5))
    """

    def __init__(
        self, core: _native.Solution, problem: Optional[Problem] = None, case: Optional[_native.Case] = None
    ) -> None:
        self._core = core
        self._case = case
        self._text: Optional[str] = None
        self._estimate: Optional[Estimate] = None
        self._solver: Optional[_native.Solver] = None
        self._ready: Optional[_native.Adjoint] = None
        #: The problem, if it is known.
        self.problem = problem
        #: What the solve did.
        self.report = Report.from_json(core.report())

    @overload
    def __call__(self, x: float, y: float, *, outside: Outside = "error") -> float: ...
    @overload
    def __call__(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array: ...
    def __call__(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Union[float, Array]:
        """Return u at points.

        Parameters
        ----------
        x, y : array_like
            Coordinates, of shapes that broadcast.
        outside : "error" or "nan"
            What points outside the domain give.

        Returns
        -------
        ndarray or float
            The values, in the shape of the points; a float for two floats.
        """
        nan = nan_outside(outside)
        return evaluate(lambda x, y: self._core.values(x, y, nan), x, y)

    def gradient(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array:
        """Return the derivatives by x and y at points, along a new first axis: ``ux, uy = u.gradient(x, y)``."""
        nan = nan_outside(outside)
        return evaluate(lambda x, y: np.stack(self._core.gradients(x, y, nan)), x, y)

    def hessian(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array:
        """Return the second derivatives at points, along two new first axes: ``(uxx, uxy), (_, uyy) = u.hessian(x, y)``."""
        nan = nan_outside(outside)

        def second(x: Array, y: Array) -> Array:
            xx, xy, yy = self._core.hessians(x, y, nan)
            return np.stack([xx, xy, xy, yy]).reshape(2, 2, -1)

        return evaluate(second, x, y)

    def integrate(
        self, region: Optional[str] = None, weight: Optional[FieldLike] = None, *, of: FieldLike = "u"
    ) -> float:
        """Return the integral of u, by quadrature on the subdomains: as accurate as the solution.

        Parameters
        ----------
        region : str
            Integrate over this region; over the domain unless given.
        weight : field
            A factor: ``u.integrate(weight="x") / u.integrate()``.
        of : field
            What to integrate in the place of u: a formula, or a function of x, y and, by name, ``u``, ``ux``, ``uy``.

        Warns
        -----
        UserWarning
            Where another rule finds another number: of an integrand that jumps inside of subdomains, or has a narrow peak.

        Examples
        --------
        >>> import ddelm
        >>> u = ddelm.solve(ddelm.Problem(dirichlet="x*y"), subdomains=(2, 2), points=8)
        >>> round(u.integrate(), 10), round(u.integrate(of="ux^2 + uy^2"), 10)
        (0.25, 0.6666666667)
        """
        number = None
        if region is not None:
            number = _numbered(region, self._known_problem("integrate")._core.regions, "region", "region")
        value, doubt = self._core.integrate(of, weight, number)
        warn([] if doubt is None else [doubt])
        return value

    def max(self) -> float:
        """Return the largest value of u."""
        return self._core.extreme(True)[0]

    def min(self) -> float:
        """Return the smallest value of u."""
        return self._core.extreme(False)[0]

    def argmax(self) -> tuple[float, float]:
        """Return where u is largest, (x, y)."""
        x, y = self._core.extreme(True)[1]
        return x, y

    def argmin(self) -> tuple[float, float]:
        """Return where u is smallest, (x, y)."""
        x, y = self._core.extreme(False)[1]
        return x, y

    @overload
    def flux(self, x: Part) -> float: ...
    @overload
    def flux(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array: ...
    def flux(
        self, x: Union[Part, ArrayLike], y: Optional[ArrayLike] = None, *, outside: Outside = "error"
    ) -> Union[float, Array]:
        """Return what flows out through a part of the boundary, ``u.flux("left")``, or the flux at points, ``u.flux(x, y)``.

        Parameters
        ----------
        x : str, or array_like
            The name of a part of the boundary: the result is the integral of ``n . a grad u`` over it. Or coordinates: the result
            is the flux ``a grad u`` (of a plate ``grad Laplacian u``) at points, along a new first axis.
        y : array_like
            Coordinates.
        outside : "error" or "nan"
            What points outside the domain give.
        """
        nan, problem = nan_outside(outside), self._known_problem("flux")
        if isinstance(x, str):
            if y is not None:
                raise TypeError('flux: a part of the boundary and coordinates\nhint: u.flux("left") or u.flux(x, y)')
            number = _numbered(x, problem._core.parts, "flux", "part of the boundary")
            return self._core.outflow(problem._core, number)
        if y is None:
            raise TypeError('flux: coordinates y are missing\nhint: u.flux("left") or u.flux(x, y)')
        return evaluate(lambda x, y: np.stack(self._core.fluxes(problem._core, x, y, nan)), x, y)

    @overload
    def residual(self, x: float, y: float, *, outside: Outside = "error") -> float: ...
    @overload
    def residual(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array: ...
    def residual(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Union[float, Array]:
        """Return what is left of the equation, ``L u - f``, at points."""
        nan, problem = nan_outside(outside), self._known_problem("residual")
        return evaluate(lambda x, y: self._core.residuals(problem._core, x, y, nan), x, y)

    @overload
    def error(self, x: float, y: float, *, outside: Outside = "error") -> float: ...
    @overload
    def error(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Array: ...
    def error(self, x: ArrayLike, y: ArrayLike, *, outside: Outside = "error") -> Union[float, Array]:
        """Return u minus the problem's exact solution at points."""
        problem = self._known_problem("error")
        if not problem._core.has_exact:
            raise ValueError("error: the problem has no exact solution\nhint: give Problem(exact=...)")
        u = self(x, y, outside=outside)
        return u - evaluate(problem._core.exact_values, x, y)

    @property
    def errors(self) -> Optional[Errors]:
        """Errors against the exact solution, if the problem has one."""
        return self.report.errors

    @property
    def estimate(self) -> Estimate:
        """The estimated errors, found without an exact solution.

        They are computed at first use, if the solve did not: that takes about twice as long as the solve. Data that are not
        resolved, and large errors, are warned of.

        Raises
        ------
        ValueError
            If the solution comes from a file that has neither an estimate nor the problem.
        """
        found = self.report.estimate or self._estimate
        if found is None:
            if self._case is None:
                raise ValueError(
                    "estimate: the file of this solution has neither an estimate nor its problem\n"
                    "hint: solve again, or save with ddelm.solve(..., estimate=True)"
                )
            text, warnings = self._core.estimate(self._case)
            found = self._estimate = Estimate.from_json(text)
            warn(warning for warning in warnings if warning not in self.report.warnings)
        return found

    def vjp(
        self,
        x: ArrayLike,
        y: ArrayLike,
        cotangent: ArrayLike,
        *,
        slopes: Optional[ArrayLike] = None,
        progress: ProgressLike = None,
    ) -> Gradient:
        """Return the gradient of ``sum(cotangent * u(x, y))`` with respect to all that the problem is made of.

        That is the product of a cotangent of values at points with their derivative: with ``cotangent = dJ/du`` at the points
        it is the gradient of J. It takes one solve with the transposed factors.

        Parameters
        ----------
        x, y : array_like
            Points, of shapes that broadcast.
        cotangent : array_like
            What the values there count.
        slopes : array_like
            What the derivatives by x and y count there, along a first axis of two.
        progress : bool or function
            As in `solve`.

        Returns
        -------
        Gradient
            Derivatives with respect to source, coefficients, conditions and parameters.

        Examples
        --------
        >>> import ddelm
        >>> problem = ddelm.Problem(reaction="k", source=1.0, dirichlet=0.0, parameters={"k": 5.0})
        >>> u = ddelm.solve(problem, subdomains=(2, 2), points=12)
        >>> bool(u.vjp(0.5, 0.5, 1.0).parameters["k"] < 0)
        True
        """
        from ddelm.gradient import vjp

        return vjp(self, x, y, cotangent, slopes, progress)

    def _adjoint(self, progress: ProgressLike) -> _native.Adjoint:
        """Return what derivatives take. The factors of the problem are made anew where nobody kept them."""
        if self._ready is None:
            if self._case is None:
                raise ValueError("gradient: the problem of this solution is not known\nhint: solve again, do not load")
            with listener(progress) as told:
                if self.report.nonlinear is not None:
                    self._ready = _native.Adjoint.of_nonlinear(self._case, self._core, told)
                    return self._ready
                solver = _native.Solver(self._case, told) if self._solver is None else self._solver
                self._ready = _native.Adjoint(solver, self._case, told)
        return self._ready

    @property
    def domain(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The rectangle, ``((x0, x1), (y0, y1))``."""
        x0, x1, y0, y1 = self._core.bounding_box
        return (x0, x1), (y0, y1)

    @property
    def subdomains(self) -> tuple[int, int]:
        """Subdomains in x and y; subdomain (i, j) is number ``i * ny + j``."""
        grid = self._core.grid
        if grid is None:
            raise ValueError("the subdomains do not form a grid\nhint: u.report.subdomains counts them")
        nx, ny = grid[2]
        return nx, ny

    @property
    def activation(self) -> str:
        """The activation: "tanh", "sin" or "gaussian"."""
        return self._core.activation

    def network(self, subdomain: int) -> Network:
        """Return the network of a subdomain, in its reference coordinates."""
        return Network(*self._core.network(subdomain), self.activation)

    @property
    def interface(self) -> tuple[Array, Array]:
        """The interface nodes, of shape (nodes, 2), and the values that were found there."""
        return self._core.interface()

    def save(self, path: PathLike) -> None:
        """Write a safetensors file, which `load` and the command line read. The values are kept to the last bit."""
        from ddelm import as_file

        self._core.save(os.fspath(path), self._text if self._text is not None else as_file.text(self.problem))

    def to_vtk(self, path: PathLike, *, resolution: int = 16) -> None:
        """Write a ``.vtu`` file for ParaView.

        It holds u and its gradient, and, where the problem is known, flux, residual and error.

        Parameters
        ----------
        path : path
            The file.
        resolution : int
            Cells per side of a subdomain.
        """
        # What is left of the equation at one time says nothing: the derivative in time is not in it.
        known = self.problem is not None and self.problem._time is None
        problem = self.problem._core if known and self.problem is not None else None
        self._core.vtk(os.fspath(path), problem, resolution)

    def to_pyvista(self, *, resolution: int = 16) -> pyvista.UnstructuredGrid:
        """Return the solution as a PyVista grid, with the arrays of `to_vtk`. PyVista must be installed.

        Parameters
        ----------
        resolution : int
            Cells per side of a subdomain.
        """
        try:
            import pyvista
        except ImportError as error:
            raise ImportError("to_pyvista needs PyVista\nhint: pip install pyvista") from error
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "solution.vtu")
            self.to_vtk(path, resolution=resolution)
            grid = pyvista.read(path)
        assert isinstance(grid, pyvista.UnstructuredGrid)
        return grid

    def grid(self, points: int = 101) -> xarray.Dataset:
        """Return u and its gradient on a uniform grid, as an xarray dataset. xarray must be installed.

        Parameters
        ----------
        points : int
            Points along the longer side of the domain.

        Returns
        -------
        xarray.Dataset
            The variables u, ux and uy over the coordinates y and x; NaN outside the domain.
        """
        try:
            import xarray
        except ImportError as error:
            raise ImportError("grid needs xarray\nhint: pip install xarray") from error
        if points < 2:
            raise ValueError(f"points = {points}: a grid has at least two points along a side\nhint: 101 is usual")
        (x0, x1), (y0, y1) = self.domain
        step = max(x1 - x0, y1 - y0) / (points - 1)
        x, y = (np.linspace(a, b, max(2, round((b - a) / step) + 1)) for a, b in ((x0, x1), (y0, y1)))
        across, up = np.meshgrid(x, y)
        u = self(across, up, outside="nan")
        ux, uy = self.gradient(across, up, outside="nan")
        arrays = {"u": u, "ux": ux, "uy": uy}
        variables = {name: (("y", "x"), values) for name, values in arrays.items()}
        return xarray.Dataset(variables, {"x": x, "y": y}, {"status": self.report.status})

    def to_torch(self) -> torch.nn.Module:
        """Return the solution as a PyTorch module: ``module(x, y)`` with tensors or floats, in double precision.

        The weights, biases and coefficients are parameters, so the module can be trained further; derivatives by x and
        y come from autograd. What rounding took away from the coefficients is a buffer. The values are computed as those
        of the solution are, in this package and on the processor, and have its bits; plain sums of tensors would be off
        by 1e-8 to 1e-7 where corners are singular. Points outside the domain give NaN. Values take about as long as those
        of the solution; going backward takes plain sums on top. ``torch.jit`` and ``torch.compile`` cannot look into the
        module. PyTorch must be installed.
        """
        from ddelm.torch_module import module

        return module(self)

    def plot(
        self,
        field: Quantity = "u",
        *,
        contours: Union[bool, int, Sequence[float]] = False,
        slice: Optional[str] = None,
        surface: bool = False,
        subdomains: bool = True,
        ax: Optional[matplotlib.axes.Axes] = None,
        resolution: int = 300,
        colorbar: bool = True,
        **options: Any,
    ) -> matplotlib.axes.Axes:
        """Draw the solution with matplotlib.

        Parameters
        ----------
        field : "u", "ux", "uy", "gradient", "flux", "residual", "error" or "estimate"
            What to draw: u, a derivative, the length of the gradient or of the flux, the size of ``L u - f``, the size of
            the error against the exact solution, or the estimated error of every subdomain. The last three are drawn on a
            logarithmic scale; a field that changes its sign has colours that do so, too.
        contours : bool, int or levels
            Lines of equal value: True, about how many, or at which values.
        slice : "x=0.5" or "y=0.5"
            Draw along this line. The exact solution is drawn over u where it is known.
        surface : bool
            Draw a surface in space.
        subdomains : bool
            Whether to draw the lines between the subdomains.
        ax : matplotlib axes
            Where to draw; a new figure unless given.
        resolution : int
            Points along the longer side.
        colorbar : bool
            Whether to add a colour bar.
        **options
            Passed to ``Axes.pcolormesh``, ``Axes.plot`` (slice) or ``Axes3D.plot_surface`` (surface).

        Returns
        -------
        matplotlib axes
            The axes.
        """
        from ddelm.plotting import Picture

        picture = Picture(self, field, resolution, ax, options)
        if slice is not None:
            return picture.line(slice, subdomains)
        return picture.surface(colorbar) if surface else picture.map(contours, subdomains, colorbar)

    def _repr_html_(self) -> str:
        rows = self.report._rows()
        if self.report.estimate is None and self._estimate is not None:
            rows.append(("estimated error", f"L2 {self._estimate.l2:.1e}"))
        elif self.report.errors is None and self.report.estimate is None and self.problem is not None:
            rows.append(("error", "not estimated yet: u.estimate does"))
        problem = "" if self.problem is None else _html.mathematics(self.problem._core.equation()[0])
        image = base64.b64encode(self._core.thumbnail()).decode()
        picture = f'<img src="data:image/png;base64,{image}" alt="u over the domain" style="width:320px">'
        table = _html.table([("equation", problem), *rows])
        return _html.beside(picture, table + _html.warnings(self.report.warnings))

    def __repr__(self) -> str:
        report = self.report
        errors, estimate = report.errors, report.estimate
        error = f", L2 error {errors.l2:.1e}" if errors else f", estimated {estimate.l2:.1e}" if estimate else ""
        return f"<ddelm.Solution: {report.status}, {report.subdomains} subdomains{error}>"

    def __getstate__(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "solution.safetensors")
            self.save(path)
            with open(path, "rb") as file:
                return {"file": file.read(), "problem": self.problem}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "solution.safetensors")
            with open(path, "wb") as file:
                file.write(state["file"])
            core, text = _native.Solution.load(path)
        self.__init__(core, state["problem"])  # type: ignore[misc]
        self._text = text

    def _known_problem(self, what: str) -> Problem:
        if self.problem is None:
            raise ValueError(f"{what}: the problem of this solution is not known\nhint: set u.problem")
        if what == "residual" and self.problem._time is not None:
            raise ValueError(
                "residual: the equation has a derivative in time, which one solution does not know\n"
                "hint: report.time has the estimated error of the steps"
            )
        return self.problem


def _numbered(name: str, known: Sequence[str], argument: str, what: str) -> int:
    """Return the number of a part or region by its name."""
    if name not in known:
        hint = f"one of {', '.join(known)}" if known else "the domain has none"
        raise ValueError(f"{argument} = {name!r}: there is no such {what}\nhint: {hint}")
    return list(known).index(name)


def load(path: PathLike) -> Solution:
    """Read a solution that `Solution.save` or the command line wrote.

    Parameters
    ----------
    path : path
        A safetensors file.

    Returns
    -------
    Solution
        The same values, to the last bit, and the same report. The problem is known if it came from a file, or is made of
        numbers and formulas. Otherwise, or where it takes data from files, set ``u.problem`` for what needs it
        (`Solution.residual`).
    """
    core, text = _native.Solution.load(os.fspath(path))
    problem = saved_problem(path, text)
    solution = Solution(core, problem, None if problem is None else case(problem, {}))
    solution._text = text
    return solution
