"""Solutions as PyTorch modules. PyTorch is imported here only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("to_torch needs PyTorch\nhint: pip install torch") from error

from ddelm import _native

if TYPE_CHECKING:
    from ddelm.solution import Network, Solution

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tanh": torch.tanh,
    "sin": torch.sin,
    "gaussian": lambda z: torch.exp(-z * z),
}


class PiecewiseNetwork(torch.nn.Module):
    """One network per rectangle of a grid, with xi from 0 to 1 in each.

    It is ``sum_j c_j sigma(w_j . xi + b_j) + sum_m d_m p_m(xi)``, with polynomials p as a skip connection. Points outside the
    domain give NaN.

    The values are summed by this package, as those of the solution are. ``torch.jit`` and ``torch.compile`` cannot look into
    that: call the module as it is, under ``torch.no_grad()`` where no derivatives are needed.
    """

    remainders: torch.Tensor
    origin: torch.Tensor
    side: torch.Tensor

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        (x0, x1), (y0, y1) = solution.domain
        self.subdomains = solution.subdomains
        self.activation = solution.activation
        nx, ny = self.subdomains
        networks = [solution.network(s) for s in range(nx * ny)]

        def parameter(arrays: list[np.ndarray]) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.from_numpy(np.stack(arrays)))

        #: w of shape (subdomains, 2, neurons), b and c of shape (subdomains, neurons).
        self.weights = parameter([network.weights for network in networks])
        self.biases = parameter([network.biases for network in networks])
        self.coefficients = parameter([network.coefficients for network in networks])
        #: d of shape (subdomains, polynomials).
        self.polynomials = parameter([network.polynomials for network in networks])
        #: What rounding took away from d and c: it is not trained.
        remainders = [np.concatenate([network.polynomial_remainders, network.remainders]) for network in networks]
        self.register_buffer("remainders", torch.from_numpy(np.stack(remainders)))
        self.register_buffer("origin", torch.tensor([x0, y0], dtype=torch.float64))
        self.register_buffer("side", torch.tensor([(x1 - x0) / nx, (y1 - y0) / ny], dtype=torch.float64))

    def forward(self, x: Union[torch.Tensor, float], y: Union[torch.Tensor, float]) -> torch.Tensor:
        """Return u at points of shapes that broadcast, in double precision; NaN outside the domain."""
        double: dict[str, Any] = {"dtype": self.origin.dtype, "device": self.origin.device}
        both = [v.to(**double) if isinstance(v, torch.Tensor) else torch.tensor(v, **double) for v in (x, y)]
        broadcast: Any = torch.broadcast_tensors
        across, up = broadcast(*both)
        points = torch.stack([across.reshape(-1), up.reshape(-1)], dim=-1)
        scaled = (points - self.origin) / self.side
        # The cell of a point does not depend smoothly on it: no derivative goes through it.
        last = torch.tensor(self.subdomains, device=scaled.device) - 1
        cell = torch.minimum(scaled.detach().floor().long().clamp(min=0), last)
        # As the solution finds it, to the last bit: rounding differently would show.
        local = (points - (self.origin + cell * self.side)) / self.side
        outside = ((local.detach() - 0.5).abs() > 0.5 + _ROUNDING).any(dim=-1) | local.detach().isnan().any(dim=-1)
        number = cell[:, 0] * self.subdomains[1] + cell[:, 1]
        values = torch.zeros_like(local[:, 0])
        for s in torch.unique(number[~outside]).tolist():
            here = ((number == s) & ~outside).nonzero().squeeze(-1)
            values = values.index_put((here,), self._network(s, local[here]))
        return values.masked_fill(outside, torch.nan).reshape(across.shape)

    def _network(self, s: int, local: torch.Tensor) -> torch.Tensor:
        """Return network s at points in its own coordinates."""
        if not torch.is_grad_enabled() and local.dtype == torch.float64:
            return self._exact(s, local)
        z = local @ self.weights[s] + self.biases[s]
        plain = _ACTIVATIONS[self.activation](z) @ self.coefficients[s]
        plain = plain + _polynomials(local, self.polynomials.shape[1]) @ self.polynomials[s]
        if plain.dtype != torch.float64:
            return plain
        # What plain sums lose to rounding has no derivatives.
        return plain + (self._exact(s, local) - plain.detach())

    def _exact(self, s: int, local: torch.Tensor) -> torch.Tensor:
        """Return network s as solutions are summed; it has no derivatives."""
        coefficients = torch.cat([self.polynomials[s], self.coefficients[s]])
        tensors = (self.weights[s], self.biases[s], coefficients, self.remainders[s], local[:, 0], local[:, 1])
        w, b, c, rest, x, y = (np.ascontiguousarray(tensor.detach().cpu().numpy()) for tensor in tensors)
        exact = _native.network_values(self.activation, w, b, c, rest, _inside(x), _inside(y))
        return torch.from_numpy(exact).to(local.device)


#: Reference coordinates that leave the subdomain by no more than this have done so by rounding.
_ROUNDING = 1e-9


def _polynomials(xi: torch.Tensor, count: int) -> torch.Tensor:
    """Return products of Legendre polynomials in both coordinates, by their degree and then by that in the second."""
    legendre = []
    for z in (2 * xi[:, 0] - 1, 2 * xi[:, 1] - 1):
        one = torch.ones_like(z)
        legendre.append([one, z, (3 * z**2 - 1) / 2, (5 * z**3 - 3 * z) / 2, (35 * z**4 - 30 * z**2 + 3) / 8])
    columns = [legendre[0][degree - j] * legendre[1][j] for degree in range(5) for j in range(degree + 1)]
    return torch.stack(columns[:count], dim=-1) if count else xi[:, :0]


def _inside(xi: np.ndarray) -> np.ndarray:
    """Return reference coordinates that rounding has not moved out of the subdomain."""
    inside = np.clip(xi, 0.0, 1.0)
    return np.where(np.abs(xi - inside) < _ROUNDING, inside, xi)


class _Local(torch.nn.Module):
    """The network of one subdomain, in its reference coordinates."""

    remainders: torch.Tensor

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.activation = network.activation
        self.weights = torch.nn.Parameter(torch.from_numpy(network.weights))
        self.biases = torch.nn.Parameter(torch.from_numpy(network.biases))
        self.coefficients = torch.nn.Parameter(torch.from_numpy(network.coefficients))
        self.polynomials = torch.nn.Parameter(torch.from_numpy(network.polynomials))
        remainders = np.concatenate([network.polynomial_remainders, network.remainders])
        self.register_buffer("remainders", torch.from_numpy(remainders))

    def forward(self, xi: torch.Tensor) -> torch.Tensor:
        """Return u at reference points: derivatives of plain sums, with what they lose to rounding."""
        plain = _ACTIVATIONS[self.activation](xi @ self.weights + self.biases) @ self.coefficients
        plain = plain + _polynomials(xi, len(self.polynomials)) @ self.polynomials
        coefficients = torch.cat([self.polynomials, self.coefficients])
        tensors = (self.weights, self.biases, coefficients, self.remainders, xi[:, 0], xi[:, 1])
        arrays = (np.ascontiguousarray(tensor.detach().cpu().numpy()) for tensor in tensors)
        exact = torch.from_numpy(_native.network_values(self.activation, *arrays)).to(plain.device)
        return plain + (exact - plain.detach())


class MappedNetwork(torch.nn.Module):
    """One network per subdomain of any domain, straight or curved.

    The reference coordinates of a point are found by the solution, and continued around it to second order: first and second
    derivatives by x and y come from autograd, higher ones only where subdomains are parallelograms or straight triangles.
    Points outside the domain give NaN. The module holds the solution for its geometry, and cannot be scripted.
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self._core = solution._core
        #: The networks, by the number of the subdomain.
        self.networks = torch.nn.ModuleList(_Local(solution.network(s)) for s in range(len(solution._core)))

    def forward(self, x: Union[torch.Tensor, float], y: Union[torch.Tensor, float]) -> torch.Tensor:
        """Return u at points of shapes that broadcast, in double precision; NaN outside the domain."""
        broadcast: Any = torch.broadcast_tensors
        across, up = broadcast(*(torch.as_tensor(v, dtype=torch.float64) for v in (x, y)))
        points = torch.stack([across.reshape(-1), up.reshape(-1)], dim=-1)
        known = points.detach().cpu().numpy()
        number, xi, first, second = self._core.frames(*(np.ascontiguousarray(known[:, k]) for k in (0, 1)))
        values = torch.full_like(points[:, 0], torch.nan)
        # Zero, with the derivatives of a point.
        moved = points - points.detach()
        for s in np.unique(number[number >= 0]).tolist():
            here = np.flatnonzero(number == s)
            at, by, bend = (torch.from_numpy(table[here]).to(points.device) for table in (xi, first, second))
            step = moved[torch.from_numpy(here)]
            local = at + torch.einsum("nka,na->nk", by.reshape(-1, 2, 2), step)
            local = local + 0.5 * torch.einsum("nkab,na,nb->nk", bend.reshape(-1, 2, 2, 2), step, step)
            values = values.index_put((torch.from_numpy(here),), self.networks[s](local))
        return values.reshape(across.shape)


def module(solution: Solution) -> torch.nn.Module:
    """Return a solution as a module."""
    return PiecewiseNetwork(solution) if solution._core.grid is not None else MappedNetwork(solution)
