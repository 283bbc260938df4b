"""Gradients against differences and identities, layers, and sweeps."""

import numpy as np
import pytest

import ddelm

OPTIONS = {"subdomains": (2, 2), "points": 10}
X, Y = np.array([0.3, 0.72]), np.array([0.4, 0.85])


def difference(function, at, h):
    """A difference of sixth order."""
    a, b, c = (function(at + k * h) - function(at - k * h) for k in (1, 2, 3))
    return (45 * a - 9 * b + c) / (60 * h)


def general(a=0.3, c=2.0, g=0.5, k=1.5):
    return ddelm.Problem(
        diffusion=[["2 + a*sin(3*x)", "a*x/2"], [0.1, "1.5 + a*x*y"]],
        advection=["1", "a*y"],
        reaction="c*(1 + x)",
        source=1.0,
        dirichlet="g*x",
        boundary={"right": ddelm.Robin("k*(1 + y)", "g")},
        parameters={"a": a, "c": c, "g": g, "k": k},
    )


@pytest.mark.parametrize("text", ["integral(u^2 + a*x)", "flux(left)", "max(u)"])
def test_functionals(text):
    functional = ddelm.Functional(text)
    u = ddelm.solve(general(), **OPTIONS)
    gradient = functional.gradient(u).parameters
    assert set(gradient) == {"a", "c", "g", "k"}
    scale = max(map(abs, gradient.values()))
    for name, value in u.problem.parameters.items():
        expected = difference(lambda v: functional(ddelm.solve(general(**{name: v}), **OPTIONS)), value, 4e-3 * value)
        assert gradient[name] == pytest.approx(expected, rel=0, abs=1e-9 * scale), name


def test_values_at_points():
    weights, slopes = np.array([1.0, -2.0]), np.array([[0.5, 0.0], [0.0, 1.0]])

    def number(c):
        u = ddelm.solve(general(c=c), **OPTIONS)
        return np.sum(weights * u(X, Y)) + np.sum(slopes * u.gradient(X, Y))

    found = ddelm.solve(general(), **OPTIONS).vjp(X, Y, weights, slopes=slopes)
    assert found.parameters["c"] == pytest.approx(difference(number, 2.0, 8e-3), rel=1e-9)


def test_nonlinear_problems():
    def problem(a=0.5, f=2.0):
        return ddelm.Problem(
            diffusion="1 + a*u^2", source="f*sin(pi*x)*sin(pi*y)", dirichlet="a*x", parameters={"a": a, "f": f}
        )

    functional, options = ddelm.Functional("integral(u^2*x)"), {"subdomains": (2, 2), "points": 16, "corners": "none"}
    u = ddelm.solve(problem(), **options)
    gradient = functional.gradient(u).parameters
    for name, value in u.problem.parameters.items():
        expected = difference(lambda v: functional(ddelm.solve(problem(**{name: v}), **options)), value, 4e-3 * value)
        # The derivatives have corners, which are not resolved: Newton's method and the gradient differ by what is left there.
        assert gradient[name] == pytest.approx(expected, rel=1e-7), name
    number = difference(lambda f: np.sum(ddelm.solve(problem(f=f), **options)(X, Y)), 2.0, 8e-3)
    assert u.vjp(X, Y, [1.0, 1.0]).parameters["f"] == pytest.approx(number, rel=1e-7)


def test_a_solver_keeps_its_factors_and_data():
    solver = ddelm.Solver(ddelm.Problem(diffusion="1 + x", dirichlet=0.0), **OPTIONS)
    u = solver.solve(source="1 + y", dirichlet="x")
    gradient = u.vjp(X, Y, [1.0, 1.0])
    # u is linear in source and boundary values.
    other = solver.solve(source="x*y", dirichlet=0.0)
    assert gradient.source.along("x*y") == pytest.approx(np.sum(other(X, Y)), rel=1e-10)
    whole = gradient.source.along("1 + y") + sum(side.along("x") for side in gradient.boundary.values())
    assert whole == pytest.approx(np.sum(u(X, Y)), rel=1e-10)
    weights = gradient.source.weights
    assert np.sum(weights.value * weights.x * weights.y) == pytest.approx(gradient.source.along("x*y"), rel=1e-12)
    assert gradient.robin == {} and gradient.reaction is None and gradient.advection is None


def test_data_on_grids():
    knots = np.linspace(0, 1, 5)
    layer = ddelm.Layer(ddelm.Problem(source=1.0, dirichlet="x"), X, Y, grid=(knots, knots), **OPTIONS)
    a, direction = np.ones((5, 5)) + 0.1 * knots, np.cos(np.arange(25.0)).reshape(5, 5)
    value, pull = layer.vjp(diffusion=a)
    assert np.array_equal(value, layer(diffusion=a))
    found = np.sum(pull([1.0, 2.0])["diffusion"] * direction)
    expected = difference(lambda t: layer(diffusion=a + t * direction) @ [1.0, 2.0], 0.0, 4e-3)
    assert found == pytest.approx(expected, rel=1e-9)


def test_torch():
    torch = pytest.importorskip("torch")
    layer = ddelm.Layer(general(), X, Y, **OPTIONS)
    c = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    layer.torch(c=c).sum().backward()
    assert c.grad.item() == pytest.approx(layer.vjp(c=2.0)[1]([1.0, 1.0])["c"], rel=1e-12)


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    layer = ddelm.Layer(general(), X, Y, **OPTIONS)
    found = jax.grad(lambda c: layer.jax(c=c).sum())(2.0)
    assert float(found) == pytest.approx(layer.vjp(c=2.0)[1]([1.0, 1.0])["c"], rel=1e-12)


def test_what_is_refused():
    u = ddelm.solve(general(), **OPTIONS)
    with pytest.raises(KeyError, match="no parameter"):
        u.vjp(X, Y, 1.0).parameters["kapa"]
    with pytest.raises(ValueError, match="outside the domain"):
        u.vjp([2.0], [0.5], [1.0])
    with pytest.raises(ValueError, match="not a finite number"):
        u.vjp(X, Y, np.nan)
    with pytest.raises(ValueError, match="no part of the boundary"):
        ddelm.Functional("flux(wall)").gradient(u)
    with pytest.raises(TypeError, match="not an input"):
        ddelm.Layer(general(), X, Y)(kappa=1.0)
    with pytest.raises(ValueError, match="unknown name"):
        ddelm.Problem(diffusion="1 + kapa", dirichlet=0.0, parameters={"kappa": 1.0})


def test_sweeps(tmp_path):
    values = np.linspace(1, 2, 3)
    found = ddelm.sweep(general(), c=values, g=[0.0, 1.0], grid=(5, 4), inputs=["reaction"], options=OPTIONS)
    assert found.u.shape == found.inputs["reaction"].shape == (6, 5, 4)
    assert found.status == ["solved"] * 6
    alone = ddelm.solve(general(c=1.5, g=1.0), **OPTIONS)
    x, y = np.meshgrid(found.x, found.y, indexing="ij")
    assert np.array_equal(found.u[3], alone(x, y))
    assert np.allclose(found.inputs["reaction"][3], 1.5 * (1 + x))
    found.save(tmp_path / "data.npz")
    assert np.array_equal(np.load(tmp_path / "data.npz")["c"], np.repeat(values, 2))


def test_sweeps_of_functions_and_files(tmp_path):
    def problem(seed):
        return ddelm.Problem(reaction=ddelm.RandomField(1.0, seed=seed), source=1.0, dirichlet=0.0)

    assert ddelm.sweep(problem, seed=range(3), grid=5, options=OPTIONS).u.shape == (3, 5, 5)
    text = '[parameters]\nk = 1\n[equation]\nsource = "k"\n[boundary]\ndirichlet = 0\n'
    text += '[domain]\nx = [0, 1]\ny = [0, 1]\n[discretization]\nsubdomains = [2, 2]\npoints = 8\n'
    (tmp_path / "a.toml").write_text(text)
    found = ddelm.sweep(ddelm.from_toml(tmp_path / "a.toml"), k=[1.0, 2.0], grid=5, options=OPTIONS)
    assert np.allclose(found.u[1], 2 * found.u[0])


def test_a_sweep_names_the_values_that_fail():
    problem = ddelm.Problem(diffusion="k", source=1.0, dirichlet=0.0, parameters={"k": 1.0})
    with pytest.raises(ValueError, match=r"solve 2 of 2 \(k = -1.0\)"):
        ddelm.sweep(problem, k=[1.0, -1.0], options=OPTIONS)
    with pytest.raises(TypeError, match="no parameter"):
        ddelm.sweep(problem, kappa=[1.0], options=OPTIONS)
    with pytest.raises(TypeError, match="options="):
        ddelm.sweep(problem, k=[1.0], points=[8])
