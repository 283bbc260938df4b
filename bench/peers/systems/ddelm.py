"""This program, through its Python package: formulas as strings, no error estimate, one thread."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import ddelm
import numpy as np

#: The error of a discretization is the median over these seeds: none is chosen because it was lucky.
SEEDS = (0, 1, 2)


#: Ends of the subdomains in a layer, in units of its width, from the wall: those that NGSolve has.
LAYERS = ([30], [10, 32], [5, 15, 35], [4, 10, 20, 40], [3, 7, 13, 21, 40])


def version():
    return f"ddelm {ddelm.__version__}"


def families(problem):
    counts = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20]
    if problem.name == "f1":
        rings = [[{"subdomains": [n, n], "points": p, "corners": "auto"} for p in range(4, 25)] for n in (1, 2, 3, 4)]
        plain = [[{"subdomains": [n, n], "points": p, "corners": "none"} for p in range(4, 25)] for n in counts]
        return rings + plain
    if problem.name == "layer":
        graded = [(layers, cells) for layers in range(len(LAYERS)) for cells in (1, 2, 3)]
        return [[{"cells": cells, "points": p, "layers": layers} for p in range(6, 25)] for layers, cells in graded]
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
    options = {key: value for key, value in config.items() if key not in ("cells", "layers")}
    if "layers" in config:
        walls = [1 - 0.01 * end for end in LAYERS[config["layers"]]]
        asked = asked.replace(domain=_graded([*np.linspace(0, walls[-1], config["cells"] + 1), *reversed(walls[:-1]), 1.0]))
    return SimpleNamespace(problem=asked, options=options)


def _graded(ends):
    """Return the unit square, cut at these places in both directions, as a mesh."""
    count = len(ends)
    nodes = [f"{i * count + j + 1} {x!r} {y!r} 0" for i, x in enumerate(map(float, ends)) for j, y in enumerate(map(float, ends))]
    corners = [i * count + j + 1 for i in range(count - 1) for j in range(count - 1)]
    cells = [f"{k + 1} 3 0 {n} {n + count} {n + count + 1} {n + 1}" for k, n in enumerate(corners)]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(nodes)), *nodes, "$EndNodes"]
    lines += ["$Elements", str(len(cells)), *cells, "$EndElements", ""]
    with tempfile.TemporaryDirectory() as folder:
        mesh = Path(folder) / "graded.msh"
        mesh.write_text("\n".join(lines))
        return ddelm.Domain.mesh(mesh)


def solve(state):
    return ddelm.solve(state.problem, estimate=False, **state.options)


def values(solution, x, y):
    return np.asarray(solution(x, y))
