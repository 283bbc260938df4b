"""Sliders: a problem with parameters, solved again as they move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ddelm._types import Quantity
from ddelm.problem import Problem, checked
from ddelm.solver import solve

if TYPE_CHECKING:
    import ipywidgets

#: Ends of a slider, perhaps with its step; or a list of choices.
RangeLike = Union[tuple[float, float], tuple[float, float, float], Sequence[Any]]


def explore(
    problem: Union[Problem, Callable[..., Problem]],
    *,
    field: Quantity = "u",
    options: Optional[Mapping[str, Any]] = None,
    plot: Optional[Mapping[str, Any]] = None,
    **parameters: RangeLike,
) -> ipywidgets.VBox:
    """Show a slider for each parameter of a problem, and the solution below them. It needs ipywidgets and matplotlib.

    Parameters
    ----------
    problem : Problem or function
        A problem with `parameters`, or a function that returns the problem for values of its arguments.
    field : "u", "ux", ...
        What to draw, as in `Solution.plot`.
    options : dict
        Options of `solve`.
    plot : dict
        Options of `Solution.plot`.
    **parameters
        The range of each: ``(1, 10)``, ``(1, 10, 0.5)`` with a step, or a list of choices. Whole numbers stay whole.

    Returns
    -------
    ipywidgets.VBox
        The sliders and the picture; a notebook shows it.

    Examples
    --------
    In a notebook::

        problem = ddelm.Problem(reaction="-kappa^2", source=1.0, dirichlet=0.0, parameters={"kappa": 1.0})
        ddelm.explore(problem, kappa=(1.0, 10.0))
        ddelm.explore(lambda r: ddelm.Problem(source=1.0, dirichlet=0.0, domain=ddelm.Domain.circle((0, 0), r)), r=(0.5, 2.0))
    """
    try:
        import ipywidgets
        import matplotlib.pyplot as plt
        from IPython import display
    except ImportError as error:
        raise ImportError("explore needs ipywidgets and matplotlib\nhint: pip install ipywidgets matplotlib") from error

    made = _maker(problem, parameters)
    sliders = {name: _slider(ipywidgets, name, values) for name, values in parameters.items()}

    def draw(**values: Any) -> None:
        u = solve(made(**values), **dict(options or {}))
        figure: Any = u.plot(field, **dict(plot or {})).figure
        show: Any = display.display
        show(figure)
        plt.close(figure)

    picture = ipywidgets.interactive_output(draw, sliders)
    return ipywidgets.VBox([*sliders.values(), picture])


def _maker(problem: Union[Problem, Callable[..., Problem]], parameters: Mapping[str, RangeLike]) -> Callable[..., Problem]:
    """Return the function that makes the problem for values of the parameters."""
    if not parameters:
        raise TypeError("explore: there is no parameter\nhint: name one with its range, for example k=(1, 10)")
    if isinstance(problem, Problem):
        own = problem
        for name in parameters:
            if name not in own.parameters:
                known = ", ".join(own.parameters)
                hint = f"its parameters are {known}" if known else f'ddelm.Problem(reaction="{name}", ..., parameters={{"{name}": 1.0}})'
                raise TypeError(f"explore: the problem has no parameter {name!r}\nhint: {hint}")
        return lambda **values: own.replace(parameters={**own.parameters, **values})
    if not callable(problem):
        raise TypeError(
            f"problem: expected a ddelm.Problem or a function that returns one, not `{type(problem).__name__}`\n"
            "hint: for example ddelm.explore(lambda k: ddelm.Problem(reaction=k, source=1.0, dirichlet=0.0), k=(1, 10))"
        )
    function = problem
    return lambda **values: checked(function(**values))


def _slider(widgets: Any, name: str, values: RangeLike) -> Any:
    common = {"description": name, "continuous_update": False}
    if isinstance(values, tuple) and len(values) in (2, 3):
        low, high, *step = values
        if not low < high:
            raise ValueError(f"{name} = {values}: a range goes from the smaller to the larger number")
        if all(isinstance(value, int) for value in values):
            return widgets.IntSlider(value=(low + high) // 2, min=low, max=high, step=step[0] if step else 1, **common)
        fine = step[0] if step else (high - low) / 100
        return widgets.FloatSlider(value=low + (high - low) / 2, min=low, max=high, step=fine, **common)
    return widgets.SelectionSlider(options=list(values), **common)
