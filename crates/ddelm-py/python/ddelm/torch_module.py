"""Solutions as PyTorch modules. PyTorch is imported here only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Union

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("to_torch needs PyTorch\nhint: pip install torch") from error

from ddelm import _native

if TYPE_CHECKING:
    from ddelm.solution import Solution

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tanh": torch.tanh,
    "sin": torch.sin,
    "gaussian": lambda z: torch.exp(-z * z),
}

#: A bias with which a neuron is zero, and so are its derivatives, if its weights and its coefficient are.
_SILENT = {"tanh": 0.0, "sin": 0.0, "gaussian": 1e3}


class PiecewiseNetwork(torch.nn.Module):
    """One network per subdomain, with reference coordinates xi of its own.

    It is ``sum_j c_j sigma(w_j . xi + b_j) + sum_m d_m p_m(xi)``, with polynomials p as a skip connection. Points outside the
    domain give NaN.

    The values are summed by this package, as those of the solution are; derivatives come from tensors. ``torch.jit`` and
    ``torch.compile`` cannot look into that: call the module as it is.
    """

    remainders: torch.Tensor

    #: How far rounding may move points of a border out of their subdomain, whence the solution moves them back.
    _moved = 0.0

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.activation = solution.activation
        networks = [solution.network(s) for s in range(len(solution._core))]
        most = max(len(network.biases) for network in networks)

        def stacked(rows: Iterable[np.ndarray], length: int = most, silent: float = 0.0) -> torch.Tensor:
            # Where shapes of subdomains are mixed some have fewer neurons: silent ones take the place of what is missing.
            full = [np.pad(row, [(0, 0)] * (row.ndim - 1) + [(0, length - row.shape[-1])], constant_values=silent) for row in rows]
            return torch.from_numpy(np.stack(full))

        #: w of shape (subdomains, 2, neurons), b and c of shape (subdomains, neurons).
        self.weights = torch.nn.Parameter(stacked(network.weights for network in networks))
        self.biases = torch.nn.Parameter(stacked((network.biases for network in networks), silent=_SILENT[self.activation]))
        self.coefficients = torch.nn.Parameter(stacked(network.coefficients for network in networks))
        #: d of shape (subdomains, polynomials).
        polynomials = max(len(network.polynomials) for network in networks)
        self.polynomials = torch.nn.Parameter(stacked((network.polynomials for network in networks), polynomials))
        #: What rounding took away from d and c: it is not trained.
        lost = stacked((network.polynomial_remainders for network in networks), polynomials)
        self.register_buffer("remainders", torch.cat([lost, stacked(network.remainders for network in networks)], dim=1))

    def forward(self, x: Union[torch.Tensor, float], y: Union[torch.Tensor, float]) -> torch.Tensor:
        """Return u at points of shapes that broadcast, in double precision; NaN outside the domain."""
        double: dict[str, Any] = {"dtype": self.weights.dtype, "device": self.weights.device}
        both = [v.to(**double) if isinstance(v, torch.Tensor) else torch.tensor(v, **double) for v in (x, y)]
        broadcast: Any = torch.broadcast_tensors
        across, up = broadcast(*both)
        points = torch.stack([across.reshape(-1), up.reshape(-1)], dim=-1)
        number, local = self._places(points)
        inside = (number >= 0).nonzero().squeeze(-1)
        if len(inside) == len(number):
            return self._networks(number, local).reshape(across.shape)
        values = torch.full_like(points[:, 0], torch.nan)
        return values.index_put((inside,), self._networks(number[inside], local[inside])).reshape(across.shape)

    def _places(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the number of the subdomain of each point, -1 outside of all, and its reference coordinates."""
        raise NotImplementedError

    def _networks(self, number: torch.Tensor, local: torch.Tensor) -> torch.Tensor:
        """Return the networks with these numbers at points in their own coordinates."""
        parameters = (self.weights, self.biases, self.coefficients, self.polynomials)
        if local.dtype != torch.float64:
            return _plain(self.activation, number, local, *parameters)
        values: torch.Tensor = _Values.apply(self.activation, self._moved, number, self.remainders, local, *parameters)  # type: ignore[no-untyped-call]
        if torch.is_grad_enabled() and any(parameter.requires_grad for parameter in parameters):
            values = values + _Trained.apply(self.activation, (number, local), *parameters)  # type: ignore[no-untyped-call]
        return values


class GridNetwork(PiecewiseNetwork):
    """One network per rectangle of a grid. Coordinates run from 0 to 1 in each, and derivatives of all orders are right."""

    origin: torch.Tensor
    side: torch.Tensor
    _moved = 1e-9

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution)
        (x0, x1), (y0, y1) = solution.domain
        self.subdomains = nx, ny = solution.subdomains
        self.register_buffer("origin", torch.tensor([x0, y0], dtype=torch.float64))
        self.register_buffer("side", torch.tensor([(x1 - x0) / nx, (y1 - y0) / ny], dtype=torch.float64))

    def _places(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # The cell of a point does not depend smoothly on it: no derivative goes through it.
        scaled = (points.detach() - self.origin) / self.side
        last = torch.tensor(self.subdomains, device=scaled.device) - 1
        cell = torch.minimum(scaled.floor().long().clamp(min=0), last)
        # As the solution finds it, to the last bit: rounding differently would show.
        local = (points - (self.origin + cell * self.side)) / self.side
        # Not "if it is farther": a point that is not a number lies nowhere.
        inside = ((local.detach() - 0.5).abs() <= 0.5 + self._moved).all(dim=-1)
        return torch.where(inside, cell[:, 0] * self.subdomains[1] + cell[:, 1], -1), local


class MappedNetwork(PiecewiseNetwork):
    """One network per subdomain of any domain, straight or curved.

    The reference coordinates of a point are found by the solution, and continued around it to second order: first and second
    derivatives by x and y come from autograd, higher ones only where subdomains are parallelograms or straight triangles.
    The module holds the solution for its geometry.
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution)
        self._core = solution._core

    def _places(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        known = points.detach().cpu().numpy().astype(np.float64)
        at = tuple(np.ascontiguousarray(known[:, k]) for k in (0, 1))

        def tensor(array: np.ndarray) -> torch.Tensor:
            found = torch.from_numpy(array).to(points.device)
            return found.to(points.dtype) if found.is_floating_point() else found

        if not points.requires_grad:
            number, xi = map(tensor, self._core.places(*at))
            return number, xi
        number, xi, first, second = map(tensor, self._core.frames(*at))
        # Zero, with the derivatives of a point.
        step = points - points.detach()
        local = xi + torch.einsum("nka,na->nk", first.reshape(-1, 2, 2), step)
        return number, local + 0.5 * torch.einsum("nkab,na,nb->nk", second.reshape(-1, 2, 2, 2), step, step)


class _Values(torch.autograd.Function):
    """Networks at points in their own coordinates, with their slopes: both as solutions are summed.

    Derivatives of slopes are those of plain sums, which nobody pays for who does not ask. Those by parameters are `_Trained`'s.
    """

    @staticmethod
    def forward(
        ctx: Any,
        activation: str,
        moved: float,
        number: torch.Tensor,
        remainders: torch.Tensor,
        local: torch.Tensor,
        *parameters: torch.Tensor,
    ) -> torch.Tensor:
        ctx.activation, ctx.moved = activation, moved
        ctx.save_for_backward(number, remainders, local, *parameters)
        return _summed(activation, moved, [0], number, remainders, local, *parameters)[0]

    @staticmethod
    def backward(ctx: Any, cotangent: torch.Tensor) -> Any:
        number, remainders, local, *parameters = ctx.saved_tensors
        found = None
        # Derivatives of derivatives are asked for by whoever switches them on here.
        if ctx.needs_input_grad[4] and torch.is_grad_enabled():
            plain = _plain(ctx.activation, number, local, *parameters)
            (found,) = torch.autograd.grad(plain, local, cotangent, create_graph=True)
        elif ctx.needs_input_grad[4]:
            slopes = _summed(ctx.activation, ctx.moved, [1, 2], number, remainders, local, *parameters)
            found = cotangent[:, None] * torch.stack(slopes, dim=1)
        return (None, None, None, None, found, *(None for _ in parameters))


class _Trained(torch.autograd.Function):
    """Zero, with the derivatives of networks by their parameters: a function of its own, so that who wants slopes does not pay for them."""

    @staticmethod
    def forward(
        ctx: Any, activation: str, places: tuple[torch.Tensor, torch.Tensor], *parameters: torch.Tensor
    ) -> torch.Tensor:
        # Autograd does not look into a tuple: it would come here for slopes. Derivatives of these derivatives know the points.
        ctx.activation, ctx.places = activation, places
        ctx.save_for_backward(*parameters)
        return torch.zeros_like(places[1][:, 0])

    @staticmethod
    def backward(ctx: Any, cotangent: torch.Tensor) -> Any:
        (number, local), parameters = ctx.places, ctx.saved_tensors
        wanted, again = ctx.needs_input_grad[2:], torch.is_grad_enabled()
        with torch.enable_grad():
            if not again:
                local = local.detach()
                parameters = [tensor.detach().requires_grad_(want) for tensor, want in zip(parameters, wanted)]
            plain = _plain(ctx.activation, number, local, *parameters)
            asked = [tensor for tensor, want in zip(parameters, wanted) if want]
            found = iter(torch.autograd.grad(plain, asked, cotangent, create_graph=again))
        return (None, None, *(next(found) if want else None for want in wanted))


def _summed(
    activation: str,
    moved: float,
    derivatives: list[int],
    number: torch.Tensor,
    remainders: torch.Tensor,
    local: torch.Tensor,
    weights: torch.Tensor,
    biases: torch.Tensor,
    coefficients: torch.Tensor,
    polynomials: torch.Tensor,
) -> list[torch.Tensor]:
    """Return networks at points in their own coordinates, or their slopes, as solutions are summed."""
    at = local.clamp(0.0, 1.0) if moved else local
    tensors = (weights, biases, torch.cat([polynomials, coefficients], dim=1), remainders, number, at[:, 0], at[:, 1])
    w, b, c, rest, which, across, up = (np.ascontiguousarray(tensor.detach().cpu().numpy()) for tensor in tensors)
    found = _native.network_values(activation, w, b, c, rest, which, across, up, derivatives)
    return [torch.from_numpy(values).to(local.device) for values in found]


def _plain(
    activation: str,
    number: torch.Tensor,
    local: torch.Tensor,
    weights: torch.Tensor,
    biases: torch.Tensor,
    coefficients: torch.Tensor,
    polynomials: torch.Tensor,
) -> torch.Tensor:
    """Return networks at points in their own coordinates, by plain sums of tensors."""
    order = torch.argsort(number)
    which, counts = torch.unique_consecutive(number[order], return_counts=True)
    parts = []
    for s, here in zip(which.tolist(), torch.split(order, counts.tolist())):
        xi = local[here]
        neurons = _ACTIVATIONS[activation](torch.addmm(biases[s], xi, weights[s])) @ coefficients[s]
        parts.append(neurons + _polynomials(xi, polynomials.shape[1]) @ polynomials[s])
    values = torch.cat(parts) if parts else local[:, 0]
    return values[torch.argsort(order)]


def _polynomials(xi: torch.Tensor, count: int) -> torch.Tensor:
    """Return products of Legendre polynomials in both coordinates, by their degree and then by that in the second."""
    legendre = []
    for z in (2 * xi[:, 0] - 1, 2 * xi[:, 1] - 1):
        one = torch.ones_like(z)
        legendre.append([one, z, (3 * z**2 - 1) / 2, (5 * z**3 - 3 * z) / 2, (35 * z**4 - 30 * z**2 + 3) / 8])
    columns = [legendre[0][degree - j] * legendre[1][j] for degree in range(5) for j in range(degree + 1)]
    return torch.stack(columns[:count], dim=-1) if count else xi[:, :0]


def module(solution: Solution) -> torch.nn.Module:
    """Return a solution as a module."""
    return GridNetwork(solution) if solution._core.grid is not None else MappedNetwork(solution)
