"""Equations, coefficients and boundary conditions, against known solutions."""

import numpy as np
import pytest

import ddelm

EXACT = "sin(2*x)*exp(y)"


def exact(x, y):
    return np.sin(2 * x) * np.exp(y)


def exact_gradient(x, y):
    return 2 * np.cos(2 * x) * np.exp(y), np.sin(2 * x) * np.exp(y)


@pytest.mark.parametrize("diffusion", [2, 2.0, np.float64(2.0), "2", "1 + 1", lambda x, y: 2.0, lambda x, y: 2 + 0 * x])
@pytest.mark.parametrize("source", ["6*sin(2*x)*exp(y)", lambda x, y: 6 * np.sin(2 * x) * np.exp(y)])
def test_coefficients_of_every_kind_say_the_same(diffusion, source, grid):
    u = ddelm.solve(ddelm.Problem(diffusion=diffusion, source=source, dirichlet=exact), subdomains=(2, 2), points=12)
    assert np.abs(u(*grid) - exact(*grid)).max() < 1e-10


@pytest.mark.parametrize("tensor", [[[2, 0.5], [0.5, 1]], np.array([[2, 0.5], [0.5, 1]]), (("2", lambda x, y: 0.5), (0.5, 1))])
def test_tensors_are_nested_lists(tensor, grid):
    # -div(a grad u) = -(2 u_xx + u_xy + u_yy)
    source = "(8 - 1)*sin(2*x)*exp(y) - 2*cos(2*x)*exp(y)"
    # A tensor makes right angles others, and rings at those cost digits where u happens to be smooth.
    problem = ddelm.Problem(diffusion=tensor, source=source, dirichlet=EXACT)
    u = ddelm.solve(problem, subdomains=(2, 2), points=12, corners="none")
    assert np.abs(u(*grid) - exact(*grid)).max() < 1e-10


@pytest.mark.parametrize("advection", [["1 + y", "x"], [lambda x, y: 1 + y, "x"], lambda x, y: (1 + y, x)])
def test_advection_and_reaction(advection, grid):
    source = "3*sin(2*x)*exp(y) + (1 + y)*2*cos(2*x)*exp(y) + x*sin(2*x)*exp(y) + 5*sin(2*x)*exp(y)"
    problem = ddelm.Problem(advection=advection, reaction=5.0, source=source, dirichlet=EXACT)
    assert np.abs(ddelm.solve(problem, subdomains=(2, 2), points=12)(*grid) - exact(*grid)).max() < 1e-10


def test_every_condition_on_its_own_side():
    problem = ddelm.Problem(
        source="3*sin(2*x)*exp(y)",
        dirichlet=EXACT,
        boundary={
            "right": ddelm.Neumann("2*cos(2*x)*exp(y)"),
            "top": ddelm.Robin(lambda x, y: 1 + x, "(2 + x)*sin(2*x)*exp(y)"),
        },
        exact=exact,
        exact_gradient=exact_gradient,
    )
    u = ddelm.solve(problem, subdomains=(2, 3), points=14)
    assert u.errors.l2 < 1e-10
    assert u.errors.h1 < 1e-9


def test_one_condition_for_the_whole_boundary():
    problem = ddelm.Problem(boundary=ddelm.Neumann(0.0), reaction=1.0, source=3.0)
    assert ddelm.solve(problem, subdomains=(2, 2), points=14)(0.3, 0.4) == pytest.approx(3.0, abs=1e-10)


def test_rectangles():
    problem = ddelm.Problem(source=f"3*{EXACT}", dirichlet=EXACT, exact=EXACT, domain=((-1, 2), (0, 0.5)))
    u = ddelm.solve(problem, subdomains=(5, 2), points=12)
    assert u.domain == ((-1.0, 2.0), (0.0, 0.5))
    assert u.subdomains == (5, 2)
    assert u.errors.l2 < 1e-10


@pytest.mark.parametrize(
    "boundary",
    [
        ddelm.SimplySupported(EXACT, f"-3*{EXACT}"),
        {
            "left": ddelm.Clamped(EXACT, lambda x, y: -2 * np.cos(2 * x) * np.exp(y)),
            "right": ddelm.SimplySupported(exact, lambda x, y: -3 * exact(x, y)),
            "bottom": ddelm.Clamped(EXACT, f"-{EXACT}"),
            "top": ddelm.Clamped(EXACT, EXACT),
        },
    ],
)
def test_plates(boundary):
    # Laplacian^2 u = 9 u
    plate = ddelm.Plate(load=f"18*{EXACT}", rigidity=2.0, boundary=boundary, exact=EXACT)
    assert ddelm.solve(plate, subdomains=(2, 2), points=14).errors.l2 < 1e-8


def test_a_gradient_that_is_given_is_used(grid):
    calls = []

    def slope(x, y):
        calls.append(x.shape)
        return np.cos(x), 0.0

    def problem(**more):
        return ddelm.Problem(diffusion=lambda x, y: 2 + np.sin(x), source="sin(pi*x)*sin(pi*y)", dirichlet=0.0, **more)

    found = ddelm.solve(problem(diffusion_gradient=slope), subdomains=(2, 2))
    assert calls
    assert np.abs(found(*grid) - ddelm.solve(problem(), subdomains=(2, 2))(*grid)).max() < 1e-9


@pytest.mark.parametrize("steepness", [1, 3])
def test_functions_and_formulas_agree(steepness, grid):
    # The gradient of the function is found by the package; it is as large as 15.
    source = "100*sin(2*pi*x)^3*sin(pi*y)^3"
    by_formula = ddelm.Problem(diffusion=f"1.1 + tanh({steepness}*sin(5*x + 2*y))", source=source, dirichlet=0.0)
    by_function = ddelm.Problem(
        diffusion=lambda x, y: 1.1 + np.tanh(steepness * np.sin(5 * x + 2 * y)), source=source, dirichlet=0.0
    )
    u, v = (ddelm.solve(p, subdomains=(8, 8), points=24)(*grid) for p in (by_function, by_formula))
    assert np.abs(u - v).max() < 1e-12 * np.abs(v).max()


@pytest.mark.parametrize("points", [8, 16])
def test_functions_and_formulas_agree_where_the_corners_are_singular(points, grid):
    by_formula = ddelm.Problem(diffusion="1.1 + tanh(sin(5*x))", source="exp(x)", dirichlet="x*y")
    by_function = ddelm.Problem(
        diffusion=lambda x, y: 1.1 + np.tanh(np.sin(5 * x)),
        source=lambda x, y: np.exp(x),
        dirichlet=lambda x, y: x * y,
    )
    u, v = (ddelm.solve(p, subdomains=(8, 8), points=points, estimate=False) for p in (by_function, by_formula))
    assert np.abs(u(*grid) - v(*grid)).max() < 1e-11 * np.abs(v(*grid)).max()


def test_formulas_call_fields_by_name(grid):
    grf = ddelm.RandomField(alpha=2, modes=16, seed=3)
    formula = ddelm.Formula("1.1 + tanh(grf(x, y))", grf=grf)
    assert np.abs(formula(*grid) - (1.1 + np.tanh(grf(*grid)))).max() < 1e-14
    ux, uy = formula.gradient(*grid)
    assert ux.shape == grid[0].shape
    step = 1e-6
    assert np.abs((grf(grid[0] + step, grid[1]) - grf(grid[0] - step, grid[1])) / (2 * step) - grf.gradient(*grid)[0]).max() < 1e-6
    u = ddelm.solve(ddelm.Problem(diffusion=formula, source="sin(pi*x)*sin(pi*y)", dirichlet=0.0), subdomains=(4, 4))
    v = ddelm.solve(
        ddelm.Problem(diffusion=lambda x, y: formula(x, y), source="sin(pi*x)*sin(pi*y)", dirichlet=0.0), subdomains=(4, 4)
    )
    assert np.abs(u(*grid) - v(*grid)).max() < 1e-9


def test_random_fields_from_arrays(grid):
    a, w, b = [1.0, 0.5], [[1.0, 2.0], [3.0, -1.0]], [0.1, 0.2]
    field = ddelm.RandomField.from_arrays(a, w, b)
    expected = sum(a[i] * np.sin(w[i][0] * grid[0] + w[i][1] * grid[1] + b[i]) for i in range(2))
    assert np.abs(field(*grid) - expected).max() < 1e-14
