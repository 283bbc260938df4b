"""NGSolve: H1 elements of high order with static condensation.

What was found to be fastest: structured quadrilaterals, unless triangles are asked for; the sparse Cholesky
factorization (UMFPACK where the matrix is not symmetric; MKL's Pardiso was slower); compiled coefficients (not with a
C++ compiler); boundary values by the dual basis. The plate is two Poisson problems with one factorization. Towards singular
corners the mesh is refined geometrically, towards layers it is graded. Meshes are not timed.
"""

from types import SimpleNamespace

import ngsolve as ng
import numpy as np
from ngsolve.meshes import MakeStructured2DMesh

from problems import function

ng.ngsglobals.msg_level = 0

#: Ends of the cells in a layer, in units of its width, from the wall.
LAYERS = ([30], [10, 32], [5, 15, 35], [4, 10, 20, 40], [3, 7, 13, 21, 40])


def version():
    return f"NGSolve {ng.__version__}"


def families(problem):
    found = []
    if problem.name == "f1":
        for cells in (1, 2):
            for levels in range(7):
                for factor in (0.2, 0.3) if levels else (0.0,):
                    found.append([{"cells": cells, "order": p, "levels": levels, "factor": factor} for p in range(4, 19)])
        return found
    if problem.name == "layer":
        for layers in range(len(LAYERS)):
            for cells in (1, 2, 3):
                found.append([{"cells": cells, "order": p, "layers": layers} for p in range(4, 19)])
        return found
    bonus = 4 if problem.diffusion else 0
    for cells in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32):
        found.append([{"cells": cells, "order": p, "bonus": bonus} for p in range(2, 21)])
        found.append([{"cells": cells, "order": p, "bonus": bonus, "triangles": True} for p in range(3, 19)])
    return found


def prepare(problem, config):
    x, y = ng.x, ng.y
    library = SimpleNamespace(sin=ng.sin, cos=ng.cos, exp=ng.exp, tanh=lambda z: 1 - 2 / (ng.exp(2 * z) + 1))

    def field(formula):
        return ng.CF(function(formula, library)(x, y)).Compile()

    return SimpleNamespace(
        problem=problem,
        order=config["order"],
        bonus=config.get("bonus", 0),
        mesh=_mesh(config),
        diffusion=field(problem.diffusion) if problem.diffusion else None,
        source=None if problem.source == "0" else field(problem.source),
        dirichlet=None if problem.dirichlet == "0" else field(problem.dirichlet),
    )


def _mesh(config):
    cells = config["cells"]
    if "layers" in config:
        walls = [1 - 0.01 * end for end in LAYERS[config["layers"]]]
        ends = [*np.linspace(0, walls[-1], cells + 1), *reversed(walls[:-1]), 1.0]
        count = len(ends) - 1

        def graded(s, t):
            return float(ends[round(s * count)]), float(ends[round(t * count)])

        return MakeStructured2DMesh(quads=True, nx=count, ny=count, mapping=graded)
    if config.get("levels"):
        corners = [(a, b, 1) for a in (0, 1) for b in (0, 1)]
        mesh = MakeStructured2DMesh(quads=True, nx=cells, ny=cells, hppnts=corners)
        mesh.RefineHP(config["levels"], factor=config["factor"])
        return mesh
    return MakeStructured2DMesh(quads=not config.get("triangles"), nx=cells, ny=cells)


def solve(state):
    problem = state.problem
    symmetric = not problem.advection
    space = ng.H1(state.mesh, order=state.order, dirichlet=".*")
    u, v = space.TnT()
    dx = ng.dx(bonus_intorder=state.bonus) if state.bonus else ng.dx
    flux = ng.grad(u) * ng.grad(v)
    form = ng.BilinearForm(space, condense=True, symmetric=symmetric)
    form += (flux if state.diffusion is None else state.diffusion * flux) * dx
    if problem.advection:
        form += ng.CF(problem.advection) * ng.grad(u) * v * dx
    if problem.reaction:
        form += problem.reaction * u * v * dx
    form.Assemble()
    inverse = form.mat.Inverse(space.FreeDofs(True), inverse="sparsecholesky" if symmetric else "umfpack")

    def solution(right, values):
        found = ng.GridFunction(space)
        if values is not None:
            found.Set(values, ng.BND, dual=True)
            right.data -= form.mat * found.vec
        right.data += form.harmonic_extension_trans * right
        found.vec.data += inverse * right
        found.vec.data += form.harmonic_extension * found.vec
        found.vec.data += form.inner_solve * right
        return found

    if state.source is None:
        right = ng.GridFunction(space).vec
    else:
        load = ng.LinearForm(space)
        load += state.source * v * dx
        right = load.Assemble().vec
    found = solution(right, state.dirichlet)
    if problem.plate:
        moment = ng.LinearForm(space)
        moment += found * v * ng.dx
        found = solution(moment.Assemble().vec, None)
    return state.mesh, found


def values(solution, x, y):
    mesh, found = solution
    return np.asarray(found(mesh(x, y))).ravel()
