"""Values of a solution as a differentiable function of parameters and of data on grids, for NumPy, PyTorch and JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from ddelm._types import Array
from ddelm.fields import Grid
from ddelm.problem import Problem
from ddelm.solution import Solution
from ddelm.solver import Solver

if TYPE_CHECKING:
    import jax
    import torch
    from typing_extensions import Unpack

    from ddelm.options import Options

#: The fields that may be given by their values on a grid.
_FIELDS = ("diffusion", "reaction", "source")


class Layer:
    """u at points as a function of parameters, and of a diffusion, reaction or source given on a grid.

    Calls with NumPy's arrays return an array. `torch` and `jax` do the same for tensors and take part in their differentiation:
    going backward is one transposed solve, whatever the number of inputs.

    Parameters
    ----------
    problem : Problem
        The problem; its parameters and fields are replaced by the inputs.
    x, y : array_like
        Where u is taken, of shapes that broadcast.
    grid : (x, y)
        The coordinates of the grid on which fields are given.
    **options
        As in `Solver`.

    Examples
    --------
    >>> import numpy as np, ddelm
    >>> problem = ddelm.Problem(diffusion="k", source=1.0, dirichlet=0.0, parameters={"k": 1.0})
    >>> layer = ddelm.Layer(problem, [0.3, 0.5], [0.5, 0.5], subdomains=(2, 2), points=10)
    >>> u1, u2 = layer(k=1.0), layer(k=2.0)
    >>> bool(np.allclose(u1, 2 * u2))
    True
    >>> value, pull = layer.vjp(k=2.0)
    >>> bool(np.isclose(pull([1.0, 0.0])["k"], -value[0] / 2))
    True
    """

    def __init__(
        self,
        problem: Problem,
        x: ArrayLike,
        y: ArrayLike,
        *,
        grid: Optional[Sequence[ArrayLike]] = None,
        **options: Unpack[Options],
    ) -> None:
        self.problem = problem
        self._x, self._y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        self._grid = None if grid is None else (np.asarray(grid[0], dtype=float), np.asarray(grid[1], dtype=float))
        self._options = options

    def _solve(self, inputs: Mapping[str, Any]) -> Solution:
        parameters = dict(self.problem.parameters)
        fields: dict[str, Any] = {}
        for name, value in inputs.items():
            if name in parameters:
                parameters[name] = float(np.asarray(value))
            elif name in _FIELDS:
                if self._grid is None:
                    raise ValueError(f"{name}: values of a field need the grid they are on\nhint: Layer(..., grid=(x, y))")
                fields[name] = Grid(*self._grid, value)
            else:
                known = ", ".join([*parameters, *_FIELDS])
                raise TypeError(f"{name!r} is not an input\nhint: one of {known}")
        # What a solver does not take, a tolerance for one, it refuses with a hint.
        options: Any = self._options
        return Solver(self.problem.replace(parameters=parameters, **fields), **options).solve()

    def __call__(self, **inputs: ArrayLike) -> Array:
        """Return u at the points."""
        return np.asarray(self._solve(inputs)(self._x, self._y))

    def vjp(self, **inputs: ArrayLike) -> tuple[Array, Any]:
        """Return u at the points, and the function that takes a cotangent of them to those of the inputs, by name."""
        u = self._solve(inputs)

        def pull(cotangent: ArrayLike) -> dict[str, Any]:
            return self._pulled(u, inputs, cotangent)

        return np.asarray(u(self._x, self._y)), pull

    def _pulled(self, u: Solution, inputs: Mapping[str, Any], cotangent: ArrayLike) -> dict[str, Any]:
        gradient = u.vjp(self._x, self._y, cotangent)
        grid = self._grid

        def of(name: str) -> Any:
            if name not in _FIELDS:
                return gradient.parameters[name]
            assert grid is not None
            return getattr(gradient, name).on(grid)

        return {name: of(name) for name in inputs}

    def torch(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Return u at the points as a tensor, through which PyTorch differentiates. PyTorch must be installed."""
        try:
            import torch
        except ImportError as error:
            raise ImportError("Layer.torch needs PyTorch\nhint: pip install torch") from error
        layer, names = self, list(inputs)

        class Values(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *tensors: torch.Tensor) -> torch.Tensor:
                arrays = {name: tensor.detach().cpu().double().numpy() for name, tensor in zip(names, tensors)}
                values, ctx.pull = layer.vjp(**arrays)
                ctx.like = [(tensor.dtype, tensor.device) for tensor in tensors]
                return torch.as_tensor(values, dtype=torch.float64)

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx: Any, cotangent: torch.Tensor) -> Any:
                found = ctx.pull(cotangent.detach().cpu().double().numpy())
                pairs = zip(names, ctx.like)
                return tuple(torch.as_tensor(found[name], dtype=dtype, device=device) for name, (dtype, device) in pairs)

        return Values.apply(*inputs.values())  # type: ignore[no-any-return, no-untyped-call]

    def jax(self, **inputs: jax.Array) -> jax.Array:
        """Return u at the points as an array of JAX, through which it differentiates. JAX must be installed.

        Without ``jax.config.update("jax_enable_x64", True)`` values are rounded to single precision.
        """
        try:
            import jax
            import jax.numpy as jnp
        except ImportError as error:
            raise ImportError("Layer.jax needs JAX\nhint: pip install jax") from error
        precision = jnp.result_type(float)
        struct: Any = jax.ShapeDtypeStruct
        shape = struct(self._x.shape, precision)

        def values(given: Mapping[str, Any]) -> Any:
            return self(**given).astype(precision)

        def pulled(given: Mapping[str, Any], cotangent: Any) -> dict[str, Any]:
            _, pull = self.vjp(**given)
            found = pull(cotangent)
            return {name: np.asarray(found[name], dtype=np.asarray(given[name]).dtype) for name in given}

        @jax.custom_vjp
        def solve(given: Any) -> Any:
            return jax.pure_callback(values, shape, given)

        def forward(given: Any) -> Any:
            return solve(given), given

        def backward(given: Any, cotangent: Any) -> Any:
            shapes = {name: struct(jnp.shape(v), jnp.result_type(v)) for name, v in given.items()}
            return (jax.pure_callback(pulled, shapes, given, cotangent),)

        solve.defvjp(forward, backward)
        return solve({name: jnp.asarray(value, dtype=float) for name, value in inputs.items()})  # type: ignore[no-any-return]
