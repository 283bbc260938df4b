"""pyRFM: random features with a partition of unity, one dense least-squares problem."""

from importlib.metadata import version as _installed
from types import SimpleNamespace

import numpy as np
import pyrfm
import torch

from problems import function

torch.set_default_dtype(torch.float64)
torch.set_default_device("cpu")


def version():
    return f"pyRFM {_installed('pyrfm')} (torch {torch.__version__})"


def families(problem):
    if problem.plate or problem.name in ("f1", "layer"):
        return []
    return [[{"parts": n, "neurons": m} for m in (64, 100, 144, 196, 256, 400, 576)] for n in (1, 2, 3, 4)]


def prepare(problem, config):
    square = pyrfm.Square2D(center=[0.5, 0.5], half=[0.5, 0.5])
    unknowns = config["neurons"] * config["parts"] ** 2
    return SimpleNamespace(
        problem=problem,
        config=config,
        square=square,
        inside=square.in_sample(2 * unknowns, with_boundary=False),
        border=square.on_sample(8 * int(2 * unknowns**0.5)),
        diffusion=function(problem.diffusion or "1", torch),
        gradient=[function(formula, torch) for formula in problem.diffusion_gradient],
        source=function(problem.source, torch),
        dirichlet=function(problem.dirichlet, torch),
    )


def solve(state):
    problem = state.problem
    model = pyrfm.RFMBase(
        dim=2, n_hidden=state.config["neurons"], domain=state.square, n_subdomains=state.config["parts"], pou=pyrfm.PsiB
    )
    x, y = state.inside[:, [0]], state.inside[:, [1]]
    second = [model.features_second_derivative(state.inside, axis1=i, axis2=i).cat(dim=1) for i in (0, 1)]
    rows = -state.diffusion(x, y) * (second[0] + second[1])
    for axis, slope in enumerate(state.gradient):
        rows -= slope(x, y) * model.features_derivative(state.inside, axis=axis).cat(dim=1)
    if problem.reaction:
        rows += problem.reaction * model.features(state.inside).cat(dim=1)
    on = model.features(state.border).cat(dim=1)
    right = [state.source(x, y) + 0 * x, state.dirichlet(state.border[:, [0]], state.border[:, [1]]) + 0 * state.border[:, [0]]]
    # Rows of the equation and of the boundary get the same size.
    sizes = [rows.abs().amax(dim=1, keepdim=True), on.abs().amax(dim=1, keepdim=True)]
    matrix = torch.cat([rows / sizes[0], on / sizes[1]])
    model.compute(matrix, verbose=False).solve(torch.cat([right[0] / sizes[0], right[1] / sizes[1]]))
    return model


def values(solution, x, y):
    return solution(torch.tensor(np.array([x, y]).T)).numpy().ravel()
