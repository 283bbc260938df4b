"""jaxhps: Chebyshev elements on a quadtree, merged by Dirichlet-to-Neumann maps. Grids and compilation are not timed."""

from types import SimpleNamespace

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import jaxhps
import numpy as np

from problems import function

COMPILES = True


def version():
    return f"jaxhps {jaxhps.__version__} (jax {jax.__version__})"


def families(problem):
    if problem.name in ("f1", "layer"):
        return []
    return [[{"levels": levels, "order": p} for p in range(6, 23, 2)] for levels in (1, 2, 3, 4)]


def prepare(problem, config):
    p = config["order"]
    root = jaxhps.DiscretizationNode2D(xmin=0.0, xmax=1.0, ymin=0.0, ymax=1.0)
    domain = jaxhps.Domain(p=p, q=p - 2, root=root, L=config["levels"])
    inside, border = domain.interior_points, domain.boundary_points
    like = jnp.zeros_like(inside[..., 0])

    def field(formula):
        made = function(formula, jnp)
        return jax.jit(lambda x, y: made(x, y) + jnp.zeros_like(x))

    # The reference element's operators are made with the problem; its coefficients are set when it is solved.
    asked = {"source": like, "D_xx_coefficients": like, "D_yy_coefficients": like}
    if problem.diffusion:
        asked |= {"D_x_coefficients": like, "D_y_coefficients": like}
    if problem.reaction:
        asked |= {"I_coefficients": like}
    return SimpleNamespace(
        problem=problem,
        domain=domain,
        task=jaxhps.PDEProblem(domain, **asked),
        inside=(inside[..., 0], inside[..., 1]),
        border=(border[..., 0], border[..., 1]),
        diffusion=field(problem.diffusion or "1"),
        gradient=[field(formula) for formula in problem.diffusion_gradient],
        source=field(problem.source),
        dirichlet=field(problem.dirichlet),
    )


def solve(state):
    problem, task = state.problem, state.task
    task.reset()
    diffusion = state.diffusion(*state.inside)
    task.D_xx_coefficients = -diffusion
    task.D_yy_coefficients = -diffusion
    if problem.diffusion:
        task.D_x_coefficients, task.D_y_coefficients = (-slope(*state.inside) for slope in state.gradient)
    if problem.reaction:
        task.I_coefficients = problem.reaction * jnp.ones_like(diffusion)
    border = state.dirichlet(*state.border)
    task.source = state.source(*state.inside)
    jaxhps.build_solver(task)
    found = jaxhps.solve(task, border)
    if problem.plate:
        task.reset()
        task.source = found
        jaxhps.build_solver(task)
        found = jaxhps.solve(task, border)
    return state.domain, found.block_until_ready()


def values(solution, x, y):
    """Interpolate in every element by barycentric weights; jaxhps itself interpolates to tensor grids only."""
    domain, found = solution
    points, found = np.asarray(domain.interior_points), np.asarray(found)
    result = np.full(x.shape, np.nan)
    for nodes, samples in zip(points, found):
        low, high = nodes.min(axis=0), nodes.max(axis=0)
        here = (x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1])
        if not here.any():
            continue
        p = domain.p
        angles = np.pi * np.arange(p) / (p - 1)
        line = -np.cos(angles)
        weights = (-1.0) ** np.arange(p)
        weights[[0, -1]] /= 2
        # Nodes come in the package's own order: put the samples on the tensor grid by their places.
        place = np.rint(np.arccos(np.clip(-(2 * nodes - low - high) / (high - low), -1, 1)) / np.pi * (p - 1)).astype(int)
        grid = np.empty((p, p))
        grid[place[:, 0], place[:, 1]] = samples
        rows = []
        for axis, at in enumerate((x[here], y[here])):
            local = (2 * at - low[axis] - high[axis]) / (high[axis] - low[axis])
            ratio = weights / (local[:, None] - line)
            rows.append(ratio / ratio.sum(axis=1, keepdims=True))
        result[here] = np.einsum("ki,ij,kj->k", rows[0], grid, rows[1])
    return result
