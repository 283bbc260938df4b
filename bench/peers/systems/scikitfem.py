"""scikit-fem: quadrilaterals of high order, SciPy's SuperLU. The plate is two Poisson problems with one factorization."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse.linalg
import skfem
from skfem.helpers import dot, grad

from problems import function


def version():
    return f"scikit-fem {skfem.__version__}"


def families(problem):
    if problem.name in ("f1", "layer"):
        return []
    return [[{"cells": n, "order": p} for p in range(2, 13)] for n in (1, 2, 4, 8, 12, 16, 24)]


def prepare(problem, config):
    line = np.linspace(0, 1, config["cells"] + 1)
    return SimpleNamespace(
        problem=problem,
        mesh=skfem.MeshQuad.init_tensor(line, line),
        element=skfem.ElementQuadP(config["order"]),
        order=2 * config["order"] + (4 if problem.diffusion else 0),
        diffusion=function(problem.diffusion or "1", np),
        source=function(problem.source, np),
        dirichlet=function(problem.dirichlet, np),
    )


@skfem.BilinearForm
def _laplace(u, v, w):
    return dot(grad(u), grad(v))


@skfem.BilinearForm
def _weighted(u, v, w):
    return w.diffusion * dot(grad(u), grad(v))


@skfem.BilinearForm
def _mass(u, v, w):
    return u * v


@skfem.LinearForm
def _load(v, w):
    return w.source * v


def solve(state):
    problem = state.problem
    basis = skfem.Basis(state.mesh, state.element, intorder=state.order)

    # A form is called for every pair of basis functions: coefficients are evaluated once, before.
    at = basis.global_coordinates()
    if problem.diffusion:
        matrix = _weighted.assemble(basis, diffusion=state.diffusion(*at))
    else:
        matrix = _laplace.assemble(basis)
    if problem.reaction:
        matrix = matrix + problem.reaction * _mass.assemble(basis)
    right = _load.assemble(basis, source=state.source(*at) + 0 * at[0])
    fixed = basis.get_dofs()
    found = np.zeros(basis.N)
    if problem.dirichlet != "0":
        edges = skfem.FacetBasis(state.mesh, state.element, intorder=state.order)
        found = edges.project(lambda x: state.dirichlet(*x))
    free = basis.complement_dofs(fixed)
    fixed = fixed.flatten()
    inner = matrix[free][:, free].tocsc()
    factor = scipy.sparse.linalg.splu(inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    found[free] = factor.solve((right - matrix[:, fixed] @ found[fixed])[free])
    if problem.plate:
        right = _load.assemble(basis, source=basis.interpolate(found))
        found[free] = factor.solve(right[free])
    return basis, found


def values(solution, x, y):
    basis, found = solution
    return basis.probes(np.array([x, y])) @ found
