"""Solutions as PyTorch modules. PyTorch is imported here only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("to_torch needs PyTorch\nhint: pip install torch") from error

if TYPE_CHECKING:
    from ddelm.solution import Solution

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tanh": torch.tanh,
    "sin": torch.sin,
    "gaussian": lambda z: torch.exp(-z * z),
}


class PiecewiseNetwork(torch.nn.Module):
    """One network per rectangle of a grid, ``sum_j c_j sigma(w_j . xi + b_j)`` with xi from 0 to 1 in each."""

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
        self.register_buffer("origin", torch.tensor([x0, y0], dtype=torch.float64))
        self.register_buffer("side", torch.tensor([(x1 - x0) / nx, (y1 - y0) / ny], dtype=torch.float64))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return u at points of shapes that broadcast."""
        x, y = torch.broadcast_tensors(x, y)
        points = torch.stack([x.reshape(-1), y.reshape(-1)], dim=-1).to(self.origin.dtype)
        scaled = (points - self.origin) / self.side
        # The cell of a point does not depend smoothly on it: no derivative goes through it.
        last = torch.tensor(self.subdomains, device=scaled.device) - 1
        cell = torch.minimum(scaled.detach().floor().long().clamp(min=0), last)
        local = scaled - cell
        number = cell[:, 0] * self.subdomains[1] + cell[:, 1]
        values = torch.zeros_like(local[:, 0])
        for s in torch.unique(number).tolist():
            here = (number == s).nonzero().squeeze(-1)
            z = local[here] @ self.weights[s] + self.biases[s]
            values = values.index_put((here,), _ACTIVATIONS[self.activation](z) @ self.coefficients[s])
        return values.reshape(x.shape)


def module(solution: Solution) -> PiecewiseNetwork:
    """Return a solution as a module."""
    return PiecewiseNetwork(solution)
