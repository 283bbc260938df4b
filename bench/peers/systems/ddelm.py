"""This program, through its Python package: formulas as strings, no error estimate, one thread."""

from types import SimpleNamespace

import ddelm
import numpy as np

#: The error of a discretization is the median over these seeds: none is chosen because it was lucky.
SEEDS = (0, 1, 2)


def version():
    return f"ddelm {ddelm.__version__}"


def families(problem):
    counts = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]
    if problem.name == "f1":
        rings = [[{"subdomains": [n, n], "points": p, "corners": "auto"} for p in range(4, 25)] for n in (1, 2, 3, 4)]
        plain = [[{"subdomains": [n, n], "points": p, "corners": "none"} for p in range(4, 25)] for n in counts]
        return rings + plain
    if problem.name == "layer":
        counts += [24, 32]
    return [[{"subdomains": [n, n], "points": p} for p in range(4, 29)] for n in counts]


def variants(config):
    return [{**config, "seed": seed} for seed in SEEDS]


def prepare(problem, config):
    if problem.plate:
        asked = ddelm.Plate(load=problem.source)
    else:
        asked = ddelm.Problem(
            diffusion=problem.diffusion or 1.0,
            advection=problem.advection or None,
            reaction=problem.reaction or None,
            source=problem.source,
            dirichlet=problem.dirichlet,
        )
    return SimpleNamespace(problem=asked, options=config)


def solve(state):
    return ddelm.solve(state.problem, estimate=False, **state.options)


def values(solution, x, y):
    return np.asarray(solution(x, y))
