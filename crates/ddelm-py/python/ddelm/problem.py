"""Boundary value problems."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ddelm import _html, _native
from ddelm._types import DomainLike, FieldLike, Function, PathLike, TensorLike, VectorLike
from ddelm.boundary import BoundaryLike, Clamped, Condition, Dirichlet, Neumann, Robin, SimplySupported, sides
from ddelm.check import Check
from ddelm.domain import Domain, as_domain

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ddelm.options import Options

_UNIT_SQUARE: DomainLike = ((0.0, 1.0), (0.0, 1.0))


class Problem:
    """``-div(a grad u) + b . grad u + c u = f`` in a domain, with a condition on each part of its boundary.

    A field (diffusion, reaction, source, exact, values of conditions) is a number, a formula such as
    ``"sin(2*pi*x)*exp(y)"``, data on a grid (`ddelm.Grid`, ``xarray.DataArray``), or a function. Functions are called with whole
    arrays of x and y, from several threads (one at a time), and return an array of the same shape, or one number.

    Formulas of the equation and of fluxes may use the solution, ``u``, ``ux`` and ``uy``, and functions take it by these names:
    ``lambda x, y, u: np.exp(u)``. Such a problem is solved by Newton's method; derivatives of functions are found by complex
    steps or differences unless they are given with a `ddelm.Function`. Likewise ``t`` is the time, for `ddelm.evolve`.

    Parameters
    ----------
    diffusion : field or 2x2 nested list of fields
        a, a scalar or a tensor by rows.
    advection : two fields, or a function that returns two arrays
        b.
    reaction : field
        c.
    source : field
        f.
    dirichlet : field
        ``u = dirichlet`` on every side that `boundary` does not name.
    boundary : condition, or dict of conditions
        The condition of every side, or of the parts of the boundary by name (``"left"``, ``"right"``, ``"bottom"``,
        ``"top"`` of a rectangle): `ddelm.Dirichlet`, `ddelm.Neumann` or `ddelm.Robin`.
    domain : ((x0, x1), (y0, y1)), or `ddelm.Domain`
        The rectangle, or any other domain.
    regions : dict of dicts
        What regions of the domain have of their own: ``{"steel": {"diffusion": 100.0}}``; also advection, reaction, source.
    mean : float
        The mean of u, where fluxes are given on the whole boundary, or all sides are periodic, and u is known up to a constant.
    exact : field
        The exact solution, if known: errors are measured against it. The solver does not use it.
    parameters : dict
        Numbers that formulas use by name: ``diffusion="1 + kappa*x", parameters={"kappa": 2.0}``. Gradients and sweeps know them.
    diffusion_gradient : function, or 2x2 nested list of functions
        Returns the derivatives of a diffusion that is a function, by x and by y. If it is not given, the diffusion
        is differentiated spectrally, which is as good if the diffusion is smooth in every subdomain.
    exact_gradient : function
        Returns the derivatives of an exact solution that is a function, for the error in the H1 norm.

    Examples
    --------
    >>> import ddelm
    >>> problem = ddelm.Problem(
    ...     diffusion=[["1 + x^2", 0.1], [0.1, 2.0]],
    ...     source=lambda x, y: x * y,
    ...     dirichlet=0.0,
    ...     boundary={"right": ddelm.Neumann(1.0), "top": ddelm.Robin(2.0, "sin(x)")},
    ... )
    >>> problem.domain
    ((0.0, 1.0), (0.0, 1.0))
    """

    _core: _native.Problem
    _file: Optional[_native.File] = None
    _domain: Optional[Domain] = None
    parameters: dict[str, float] = {}  # noqa: RUF012 - never changed in place
    #: The time, of a problem that is part of a run through time.
    _time: Optional[float] = None

    def __init__(
        self,
        *,
        diffusion: TensorLike = 1.0,
        advection: Optional[VectorLike] = None,
        reaction: Optional[FieldLike] = None,
        source: FieldLike = 0.0,
        dirichlet: Optional[FieldLike] = None,
        boundary: Optional[BoundaryLike] = None,
        domain: Union[Domain, DomainLike] = _UNIT_SQUARE,
        regions: Optional[Mapping[str, Mapping[str, Any]]] = None,
        mean: Optional[float] = None,
        exact: Optional[FieldLike] = None,
        parameters: Optional[Mapping[str, float]] = None,
        diffusion_gradient: Optional[Any] = None,
        exact_gradient: Optional[Function] = None,
    ) -> None:
        place = self._place(domain)
        self._conditions = _complete(sides(dirichlet, boundary, place.parts), "dirichlet=0.0", place.parts)
        _suited(self._conditions, place.parts, (Dirichlet, Neumann, Robin), "a second-order equation needs one condition")
        #: The parameters of the formulas, by name.
        self.parameters = {name: float(value) for name, value in (parameters or {}).items()}
        known = _Known(self.parameters)
        self._core = _native.Problem.second_order(
            place._core,
            known(diffusion, "equation.diffusion"),
            diffusion_gradient,
            known(advection, "equation.advection"),
            known(reaction, "equation.reaction"),
            known(source, "equation.source"),
            [(k, known.all(own, "equation")) for k, own in _materials(regions or {}, place)],
            known.conditions(self._conditions, place.parts),
            mean,
            known(exact, "exact.u"),
            exact_gradient,
        )
        self._arguments: dict[str, Any] = {
            "diffusion": diffusion,
            "advection": advection,
            "reaction": reaction,
            "source": source,
            "dirichlet": dirichlet,
            "boundary": boundary,
            "domain": self.domain,
            "regions": regions,
            "mean": mean,
            "exact": exact,
            "parameters": parameters,
            "diffusion_gradient": diffusion_gradient,
            "exact_gradient": exact_gradient,
        }

    def _place(self, domain: Union[Domain, DomainLike]) -> Domain:
        self._domain = domain if isinstance(domain, Domain) else None
        return as_domain(domain)

    @property
    def domain(self) -> Union[Domain, tuple[tuple[float, float], tuple[float, float]]]:
        """The `ddelm.Domain` that was given, or the rectangle, ``((x0, x1), (y0, y1))``; of a file, the box around it."""
        if self._domain is not None:
            return self._domain
        (x0, x1), (y0, y1) = self._core.domain
        return (x0, x1), (y0, y1)

    def replace(self, **changes: Any) -> Self:
        """Return the same problem with other arguments.

        Parameters
        ----------
        **changes
            Arguments of `Problem` or `Plate`: ``problem.replace(source="x", dirichlet=1.0)``. All others are kept.
        """
        unknown = sorted(set(changes) - set(self._arguments))
        if unknown:
            raise TypeError(
                f"{unknown[0]!r} is not an argument of {type(self).__name__}\nhint: one of {', '.join(self._arguments)}"
            )
        return type(self)(**{**self._arguments, **changes})

    def check(self, **options: Unpack[Options]) -> Check:
        """Return what the problem asks for and what a solve will cost, without solving.

        Every function is evaluated once at the nodes, so that one that fails, or is not finite, is found.

        Parameters
        ----------
        **options
            As in `solve`.

        Examples
        --------
        >>> import ddelm
        >>> check = ddelm.Problem(source=1.0, dirichlet=0.0).check(subdomains=(8, 8))
        >>> print(check["sizes"])
        92 subdomains (rings about 4 vertices), 16 points per side, 256 neurons, 270 rows
        1672 interface unknowns, 33 local factorizations
        """
        from ddelm.options import case

        return Check(case(self, dict(options)).check())

    def _repr_html_(self) -> str:
        equation, *below = self._core.equation()
        exact = self._core.exact()
        return _html.table(
            [
                ("equation", _html.lines([_html.mathematics(equation), *map(_html.code, below)])),
                ("domain", _html.code(self._core.place())),
                ("boundary", _html.lines(map(_html.code, self._core.boundary()))),
                ("exact", "" if exact is None else _html.code(f"u = {exact}")),
            ]
        )

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self._arguments.items() if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._arguments)

    def _replaced(self, dirichlet: Optional[FieldLike], boundary: Optional[BoundaryLike]) -> list[Optional[Parts]]:
        """Return conditions that replace those of a factored problem, as the native module takes them."""
        known, given = _Known(self.parameters), self._new_conditions(dirichlet, boundary)
        return [None if new is None else known.condition(new, side) for new, side in zip(given, self._core.parts)]

    def _new_conditions(
        self, dirichlet: Optional[FieldLike], boundary: Optional[BoundaryLike]
    ) -> list[Optional[Condition]]:
        """Return conditions that replace those of a factored problem: only values may change."""
        names = self._core.parts
        given = sides(None, boundary, names)
        for side, kind in enumerate(self._core.conditions):
            if given[side] is None and dirichlet is not None and kind == "dirichlet":
                given[side] = Dirichlet(dirichlet)
            new = given[side]
            if new is not None and not (new.kind == kind and self._keeps_coefficient(side, new)):
                raise ValueError(
                    f"boundary.{names[side]} = {new}: the problem was factored with another condition, {kind}\n"
                    "hint: only values can change; make a new Solver for another kind or coefficient"
                )
        return given

    def _with_data_of(self, case: _native.Case, data: Mapping[str, Any]) -> Problem:
        """Return this problem with the data that a factored problem was solved for."""
        return Replaced(self, _native.Problem.of_case(case), data)

    def _at_time(self, core: _native.Problem, t: float) -> Problem:
        """Return this problem as it is at a time."""
        return _AtTime(self, core, t)

    def _keeps_coefficient(self, side: int, new: Condition) -> bool:
        old = self._conditions[side]
        return not isinstance(new, Robin) or (isinstance(old, Robin) and new.coefficient == old.coefficient)


class Plate(Problem):
    """The Kirchhoff-Love plate, ``Laplacian^2 u = q / D``, in a domain with straight sides.

    Fields are numbers, formulas or functions, as in `Problem`.

    Parameters
    ----------
    load : field
        q.
    rigidity : field
        D.
    boundary : condition, or dict of conditions
        `ddelm.SimplySupported` or `ddelm.Clamped`, for every side or for the named parts of the boundary; simply supported
        unless given.
    domain : ((x0, x1), (y0, y1)), or `ddelm.Domain`
        The rectangle, or another domain.
    exact, exact_gradient
        The exact solution, if known, and its derivatives.
    parameters : dict
        Numbers that formulas use by name.

    Examples
    --------
    >>> import ddelm
    >>> u = ddelm.solve(ddelm.Plate(load="sin(pi*x)*sin(pi*y)"), subdomains=(2, 2))
    >>> bool(abs(u(0.5, 0.5) * 4 * 3.141592653589793**4 - 1) < 1e-9)
    True
    """

    def __init__(
        self,
        *,
        load: FieldLike,
        rigidity: FieldLike = 1.0,
        boundary: Optional[BoundaryLike] = None,
        domain: Union[Domain, DomainLike] = _UNIT_SQUARE,
        exact: Optional[FieldLike] = None,
        parameters: Optional[Mapping[str, float]] = None,
        exact_gradient: Optional[Function] = None,
    ) -> None:
        place = self._place(domain)
        self.parameters = {name: float(value) for name, value in (parameters or {}).items()}
        known = _Known(self.parameters)
        given = sides(None, SimplySupported() if boundary is None else boundary, place.parts)
        self._conditions = _complete(given, "boundary=ddelm.SimplySupported()", place.parts)
        _suited(self._conditions, place.parts, (SimplySupported, Clamped), "a plate needs two conditions")
        self._core = _native.Problem.plate(
            place._core,
            known(load, "equation.plate.load"),
            known(rigidity, "equation.plate.rigidity"),
            known.conditions(self._conditions, place.parts),
            known(exact, "exact.u"),
            exact_gradient,
        )
        self._arguments = {
            "load": load,
            "rigidity": rigidity,
            "boundary": boundary,
            "domain": self.domain,
            "exact": exact,
            "parameters": parameters,
            "exact_gradient": exact_gradient,
        }


class _FromFile(Problem):
    """The problem of a file; options of the file are the defaults of `solve`."""

    def __init__(self, path: PathLike, text: Optional[str] = None) -> None:
        self._path = os.fspath(path)
        self._saved = text
        self._file = _native.File(self._path) if text is None else _native.File.of_text(self._path, text)
        self._core = self._file.problem()

    def __repr__(self) -> str:
        return f"ddelm.from_toml({self._path!r})" if self._saved is None else f"<the problem of {self._path!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _FromFile, (self._path, self._saved)

    def replace(self, **changes: Any) -> Self:
        """Refuse: a file is changed where it is."""
        raise TypeError(
            "replace: the problem comes from a file\n"
            "hint: change the file, or write the problem as ddelm.Problem(...); options go to ddelm.solve(problem, points=20)"
        )

    def _keeps_coefficient(self, side: int, new: Condition) -> bool:
        # The coefficient in the file cannot be compared with another.
        return not isinstance(new, Robin)


class Replaced(Problem):
    """A problem with other data, of a solution that `ddelm.Solver` made."""

    def __init__(self, problem: Problem, core: _native.Problem, data: Mapping[str, Any]) -> None:
        self._core = core
        self._base, self._data = problem, data
        self._described = f"<{problem!r} with other {' and '.join(name for name in data if data[name] is not None)}>"

    def whole(self) -> Optional[Problem]:
        """Return the problem that has these data as its own; None where its arguments are not known."""
        base, data = self._base, self._data
        if getattr(base, "_arguments", None) is None:
            return None
        new = base._new_conditions(data.get("dirichlet"), data.get("boundary"))
        conditions = [old if given is None else given for given, old in zip(new, base._conditions)]
        # The exact solution belongs to the data that were replaced.
        changes: dict[str, Any] = {"boundary": dict(zip(base._core.parts, conditions)), "exact": None, "exact_gradient": None}
        if data.get("source") is not None:
            changes["load" if isinstance(base, Plate) else "source"] = data["source"]
        if not isinstance(base, Plate):
            changes["dirichlet"] = None
        return base.replace(**changes)

    def __repr__(self) -> str:
        return self._described

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a problem of a Solver with replaced data cannot be pickled\nhint: set u.problem = None before")

    def replace(self, **changes: Any) -> Self:
        """Refuse: the arguments are not known."""
        raise TypeError("replace: the problem comes from a Solver\nhint: replace arguments of the problem it was made of")


class _AtTime(Problem):
    """A problem at a time, of a solution that `ddelm.evolve` made."""

    def __init__(self, problem: Problem, core: _native.Problem, t: float) -> None:
        self._core = core
        self._time = t
        self._described = f"<{problem!r} at t = {t:g}>"

    def __repr__(self) -> str:
        return self._described

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a problem at a time cannot be pickled\nhint: set u.problem = None before")

    def replace(self, **changes: Any) -> Self:
        """Refuse: the arguments are those of the problem."""
        raise TypeError("replace: the problem is part of a run through time\nhint: replace arguments of the problem it was made of")


def from_toml(path: PathLike) -> Problem:
    """Read a problem file, the same as the command line's.

    Parameters
    ----------
    path : path
        A TOML file.

    Returns
    -------
    Problem
        The problem. What the file says about how to solve it (``[discretization]``, ``[network]``, ``[interface]``)
        are the defaults of `solve` and `Solver`; their arguments override them.
    """
    return _FromFile(path)


def saved_problem(path: PathLike, text: Optional[str]) -> Optional[Problem]:
    """Return the problem that was saved with a solution; None if there is none, or if it takes data from files."""
    if text is None:
        return None
    try:
        return _FromFile(path, text)
    except ValueError:
        return None


def checked(problem: object) -> Problem:
    """Return a problem; anything else is refused with what was probably meant."""
    if isinstance(problem, Problem):
        return problem
    hint = "ddelm.Problem(source=1.0, dirichlet=0.0) makes one"
    if isinstance(problem, (str, os.PathLike)):
        hint = f"for a problem file, ddelm.from_toml({os.fspath(problem)!r})"
    elif isinstance(problem, dict):
        hint = f"ddelm.Problem({', '.join(f'{name}=...' for name in problem)}) takes the entries as arguments"
    raise TypeError(f"problem: expected a ddelm.Problem or ddelm.Plate, not `{type(problem).__name__}`\nhint: {hint}")


#: A condition as the native module takes it.
Parts = tuple[str, list[Any]]


def part(condition: Condition) -> Parts:
    """Return a condition as the native module takes it."""
    return condition.kind, condition._fields()


class _Named:
    """A formula with parameters, as the native module takes it."""

    def __init__(self, core: _native.Field) -> None:
        self._core = core


class _Known:
    """Reads the formulas of a problem with parameters."""

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self._parameters = list(parameters.items())

    def __call__(self, value: Any, key: str) -> Any:
        """Return a field, or a nested list of them, with its formulas read."""
        if not self._parameters or value is None:
            return value
        if isinstance(value, str):
            return _Named(_native.Field.with_parameters(value, key, self._parameters))
        if isinstance(value, (list, tuple)):
            return [self(entry, key) for entry in value]
        return value

    def all(self, fields: Mapping[str, Any], table: str) -> dict[str, Any]:
        """Return fields by name."""
        return {name: self(value, f"{table}.{name}") for name, value in fields.items()}

    def condition(self, condition: Condition, side: str) -> Parts:
        """Return a condition as the native module takes it."""
        kind, fields = part(condition)
        key = f"boundary.{side}.{kind}" + (".value" if kind == "robin" else "")
        return kind, [self(value, key) for value in fields]

    def conditions(self, conditions: Sequence[Condition], sides: Sequence[str]) -> list[Parts]:
        """Return conditions as the native module takes them."""
        return [self.condition(condition, side) for condition, side in zip(conditions, sides)]


def _complete(conditions: list[Optional[Condition]], example: str, names: Sequence[str]) -> list[Condition]:
    missing = [name for name, condition in zip(names, conditions) if condition is None]
    if missing:
        *most, last = missing
        listed = f"{', '.join(most)} and {last}" if most else f"{last} side"
        raise ValueError(
            f"boundary: there is no condition on the {listed}\n"
            f"hint: for example {example} for every side, or boundary={{{missing[0]!r}: ...}}"
        )
    return [condition for condition in conditions if condition is not None]


def _suited(conditions: Sequence[Condition], names: Sequence[str], kinds: tuple[type, ...], needed: str) -> None:
    """Refuse conditions that belong to another equation."""
    for name, condition in zip(names, conditions):
        if not isinstance(condition, kinds):
            known = " or ".join(f"ddelm.{kind.__name__}" for kind in kinds)
            raise ValueError(f"boundary.{name} = {condition}: {needed} on every side\nhint: {known}")


def _materials(regions: Mapping[str, Mapping[str, Any]], domain: Domain) -> list[tuple[int, dict[str, Any]]]:
    """Return what regions have of their own, by their numbers."""
    for name in regions:
        if name not in domain.regions:
            known = ", ".join(domain.regions)
            hint = f"the regions are {known}" if known else "give them to the domain: ddelm.Domain.rectangle(..., regions={...})"
            raise ValueError(f"regions: there is no region {name!r}\nhint: {hint}")
    return [(k, dict(regions[name])) for k, name in enumerate(domain.regions) if name in regions]


def _rebuild(kind: type[Problem], arguments: dict[str, Any]) -> Problem:
    return kind(**arguments)
