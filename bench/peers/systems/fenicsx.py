"""FEniCSx as Debian has it: quadrilaterals of high order, MUMPS. Compiled forms are not timed.

The plate is two Poisson problems with one factorization.
"""

from types import SimpleNamespace

import dolfinx
import numpy as np
import ufl
from dolfinx import fem, geometry, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

from problems import function

COMPILES = True


def version():
    return f"FEniCSx {dolfinx.__version__} (Debian)"


def families(problem):
    if problem.name in ("f1", "layer"):
        return []
    return [[{"cells": n, "order": p} for p in (2, 3, 4, 5, 6, 7, 8)] for n in (2, 4, 8, 16, 24, 32)]


def prepare(problem, config):
    cells, order = config["cells"], config["order"]
    square = mesh.create_unit_square(MPI.COMM_WORLD, cells, cells, mesh.CellType.quadrilateral)
    state = SimpleNamespace(problem=problem, mesh=square, order=order)
    state.dirichlet = function(problem.dirichlet, np)
    _build(state)
    return state


def _build(state):
    """Make the space and the forms; those of a degree are compiled once and found again afterwards."""
    problem = state.problem
    state.space = fem.FunctionSpace(state.mesh, ("Lagrange", state.order))
    u, v = ufl.TrialFunction(state.space), ufl.TestFunction(state.space)
    x, y = ufl.SpatialCoordinate(state.mesh)
    library = SimpleNamespace(sin=ufl.sin, cos=ufl.cos, exp=ufl.exp, tanh=ufl.tanh)
    diffusion = function(problem.diffusion, library)(x, y) if problem.diffusion else 1.0
    dx = ufl.dx(metadata={"quadrature_degree": 2 * state.order + (4 if problem.diffusion else 0)})
    form = diffusion * ufl.inner(ufl.grad(u), ufl.grad(v)) * dx
    if problem.reaction:
        form += problem.reaction * u * v * dx
    source = fem.Constant(state.mesh, 0.0) if problem.source == "0" else function(problem.source, library)(x, y)
    state.form = fem.form(form)
    state.load = fem.form(source * v * dx)
    state.deflection = fem.Function(state.space)
    state.second = fem.form(state.deflection * v * dx) if problem.plate else None


def solve(state):
    _build(state)
    space = state.space
    values = fem.Function(space)
    values.interpolate(lambda x: state.dirichlet(x[0], x[1]) + 0 * x[0])
    square = state.mesh
    square.topology.create_connectivity(1, 2)
    sides = mesh.exterior_facet_indices(square.topology)
    conditions = [fem.dirichletbc(values, fem.locate_dofs_topological(space, 1, sides))]
    matrix = petsc.assemble_matrix(state.form, conditions)
    matrix.assemble()
    solver = PETSc.KSP().create(square.comm)
    solver.setOperators(matrix)
    solver.setType("preonly")
    solver.getPC().setType("lu")
    solver.getPC().setFactorSolverType("mumps")
    found = fem.Function(space)

    def apply(load):
        right = petsc.assemble_vector(load)
        petsc.apply_lifting(right, [state.form], [conditions])
        petsc.set_bc(right, conditions)
        solver.solve(right, found.vector)
        right.destroy()

    apply(state.load)
    if state.second is not None:
        state.deflection.x.array[:] = found.x.array
        apply(state.second)
    solver.destroy()
    matrix.destroy()
    return square, found


def values(solution, x, y):
    square, found = solution
    points = np.array([x, y, np.zeros_like(x)]).T
    tree = geometry.BoundingBoxTree(square, 2)
    near = geometry.compute_collisions(tree, points)
    cells = geometry.compute_colliding_cells(square, near, points)
    return found.eval(points, [cells.links(i)[0] for i in range(len(points))])
