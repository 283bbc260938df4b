"""Eigenvalues, steps in time, functions of the solution, integrals: what loops over solves, and what is asked of solutions."""

import io

import numpy as np
import pytest

import ddelm

SMALL = dict(subdomains=(2, 2), points=14)


def wave(x, y):
    return np.sin(3 * x + y) * np.exp(y)


def minus_laplacian(x, y):
    return (9 * np.sin(3 * x + y) - 2 * np.cos(3 * x + y)) * np.exp(y)


def gradient_squared(x, y):
    s, c = np.sin(3 * x + y) * np.exp(y), np.cos(3 * x + y) * np.exp(y)
    return 9 * c**2 + (s + c) ** 2


def test_functions_may_take_the_solution():
    for source in (
        lambda x, y, u: minus_laplacian(x, y) + wave(x, y) ** 3 - u**3,
        # abs knows no complex numbers: differences take over.
        lambda x, y, u: minus_laplacian(x, y) + wave(x, y) * abs(wave(x, y)) - u * np.abs(u),
        lambda x, y, u, ux, uy: minus_laplacian(x, y) + 0.1 * gradient_squared(x, y) - 0.1 * (ux**2 + uy**2),
        ddelm.Function(
            lambda x, y, u: minus_laplacian(x, y) + np.exp(wave(x, y)) - np.exp(u), u=lambda x, y, u: -np.exp(u)
        ),
    ):
        problem = ddelm.Problem(source=source, dirichlet=wave, exact=wave)
        u = ddelm.solve(problem, **SMALL)
        assert u.report.errors.l2 < 1e-10 and u.report.nonlinear.factorizations <= 8


def test_a_diffusion_may_be_a_function_of_the_solution():
    def source(x, y):
        w = wave(x, y)
        return (1 + w**2 + x) * minus_laplacian(x, y) - 2 * w * gradient_squared(x, y) - 3 * np.cos(3 * x + y) * np.exp(y)

    for diffusion in (
        lambda x, y, u: 1 + u**2 + x,
        lambda x, y, u: 1 + np.abs(u) ** 2 + x,
        ddelm.Function(lambda x, y, u: 1 + u**2 + x, u=lambda x, y, u: 2 * u, x=lambda x, y, u: 1.0),
        "1 + u^2 + x",
    ):
        u = ddelm.solve(ddelm.Problem(diffusion=diffusion, source=source, dirichlet=wave, exact=wave), **SMALL)
        assert u.report.errors.l2 < 1e-10, diffusion
        assert u.report.nonlinear.factorizations <= 8


def test_an_advection_may_be_a_function_of_the_solution():
    def source(x, y):
        ux = 3 * np.cos(3 * x + y) * np.exp(y)
        return minus_laplacian(x, y) + wave(x, y) * ux

    problem = ddelm.Problem(advection=lambda x, y, u: (u, 0 * u), source=source, dirichlet=wave, exact=wave)
    assert ddelm.solve(problem, **SMALL).report.errors.l2 < 1e-10


def test_what_functions_cannot_take():
    with pytest.raises(TypeError, match="takes 'v', which is not known"):
        ddelm.Problem(source=lambda x, y, v: v, dirichlet=0.0)
    with pytest.raises(ValueError, match="takes `u`, which is not known here"):
        ddelm.Problem(source=1.0, dirichlet=lambda x, y, u: u)
    with pytest.raises(ValueError, match="depends on the time t"):
        ddelm.solve(ddelm.Problem(source=lambda x, y, t: t * x, dirichlet=0.0))
    with pytest.raises(ValueError, match="depends on the time t"):
        ddelm.solve(ddelm.Problem(source="t*x", dirichlet=0.0))
    # What has a default is the user's.
    problem = ddelm.Problem(source=lambda x, y, factor=2.0: factor * x, dirichlet=0.0)
    assert ddelm.solve(problem, **SMALL)(0.5, 0.5) > 0

    def broken(x, y, u):
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        ddelm.solve(ddelm.Problem(source=broken, dirichlet=0.0), **SMALL)


def test_eigenvalues_of_the_square():
    pairs = ddelm.eigenvalues(ddelm.Problem(source=0.0, dirichlet=0.0), 4, **SMALL)
    expected = np.pi**2 * np.array([2, 5, 5, 8])
    values = np.array([pair.value for pair in pairs])
    assert np.all(abs(values - expected) < 1e-9 * expected)
    assert all(pair.estimate < 1e-8 * pair.value and pair.imaginary == 0 for pair in pairs)
    first = pairs[0].function
    assert abs(first(0.5, 0.5) - 2) < 1e-9 and abs(first.integrate(of="u^2") - 1) < 1e-9
    assert [entry["value"] for entry in first.report.eigenvalues] == list(values)
    near = ddelm.eigenvalues(ddelm.Problem(dirichlet=0.0), 1, near=50.0, estimate=False, **SMALL)
    assert abs(near[0].value - 5 * np.pi**2) < 1e-8 and near[0].estimate is None
    with pytest.raises(ValueError, match="between 1 and"):
        ddelm.eigenvalues(ddelm.Problem(dirichlet=0.0), 0)
    with pytest.raises(TypeError, match="pionts"):
        ddelm.eigenvalues(ddelm.Problem(dirichlet=0.0), pionts=3)


def test_eigenvalues_of_a_supported_plate():
    (first,) = ddelm.eigenvalues(ddelm.Plate(load=0.0), 1, **SMALL)
    assert abs(first.value - 4 * np.pi**4) < 1e-6


HEAT = ddelm.Problem(
    source=lambda x, y, t: (2 * np.pi**2 - 1) * np.exp(-t) * np.sin(np.pi * x) * np.sin(np.pi * y),
    dirichlet=0.0,
    exact="exp(-t)*sin(pi*x)*sin(pi*y)",
)


def test_heat_goes_through_time():
    series = ddelm.evolve(
        HEAT, initial=lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y), end=1.0, steps=40, times=[0.25, 0.5], **SMALL
    )
    assert list(series.times) == [0.25, 0.5, 1.0] and len(series) == 3
    for t, u in zip(series.times, series):
        assert abs(u(0.5, 0.5) - np.exp(-t)) < 1e-6
        assert u.report.errors.l2 < 1e-6
        # The heat that flows out is 8 exp(-t), whatever the time.
        assert abs(u.flux("left") + 2 * np.exp(-t)) < 1e-5
    assert series.report.time["factorizations"] == 1 and series.report.time["t"] == 1.0
    with pytest.raises(ValueError, match="derivative in time"):
        series[-1].residual(0.5, 0.5)
    assert len(series[1:]) == 2 and series[1:].times[0] == 0.5


def test_a_source_may_depend_on_time_and_solution():
    # u = 1 / (1 + t): u_t = -u^2.
    problem = ddelm.Problem(
        source=lambda x, y, u: -(u**2), boundary=ddelm.Neumann(0.0), exact="1/(1 + t)"
    )
    series = ddelm.evolve(problem, initial=1.0, end=1.0, steps=100, **SMALL)
    assert series.report.errors.l2 < 1e-6


def test_the_error_at_the_end_is_estimated():
    exact = lambda x, y: np.exp(-1.0) * np.sin(np.pi * x) * np.sin(np.pi * y)  # noqa: E731
    for steps, points in ((16, 14), (40, 6)):
        series = ddelm.evolve(
            HEAT.replace(exact=None), initial="sin(pi*x)*sin(pi*y)", end=1.0, steps=steps, subdomains=(2, 2), points=points
        )
        x, y = np.meshgrid(np.linspace(0, 1, 31), np.linspace(0, 1, 31))
        error = np.linalg.norm(series[-1](x, y) - exact(x, y)) / np.linalg.norm(exact(x, y))
        estimate = series.report.estimate.l2
        assert error < 10 * estimate and estimate < 100 * error, (error, estimate)


def test_a_tolerance_chooses_the_steps():
    series = ddelm.evolve(HEAT, initial="sin(pi*x)*sin(pi*y)", end=1.0, tolerance=1e-5, method="bdf2", **SMALL)
    assert series.report.errors.l2 < 1e-5 and series.report.time["order"] == 2


def test_a_series_is_data(tmp_path):
    xarray = pytest.importorskip("xarray")
    series = ddelm.evolve(HEAT, initial="sin(pi*x)*sin(pi*y)", end=0.2, steps=10, times=[0.1], **SMALL)
    grid = series.grid(21)
    assert isinstance(grid, xarray.Dataset) and grid["u"].dims == ("t", "y", "x")
    assert abs(float(grid["u"].sel(t=0.1, x=0.5, y=0.5)) - np.exp(-0.1)) < 1e-4
    series.to_vtk(tmp_path / "heat.pvd")
    text = (tmp_path / "heat.pvd").read_text()
    assert "heat-2.vtu" in text and (tmp_path / "heat-1.vtu").exists()
    with pytest.raises(ValueError, match="pvd"):
        series.to_vtk(tmp_path / "heat.vtu")


def test_a_series_is_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    series = ddelm.evolve(HEAT, initial="sin(pi*x)*sin(pi*y)", end=0.2, steps=10, times=[0.1], **SMALL)
    figure = series.plot(resolution=30)
    assert [ax.get_title() for ax in figure.axes[:2]] == ["t = 0.1", "t = 0.2"]
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(series.animate()))
    assert image.n_frames == 2 and image.is_animated


def test_a_diffusion_may_depend_on_the_solution_in_time():
    options = dict(initial="sin(pi*x)*sin(pi*y)", end=0.02, steps=4, **SMALL)
    found = [
        ddelm.evolve(ddelm.Problem(diffusion=diffusion, dirichlet=0.0), **options)
        for diffusion in (lambda x, y, u: 1 + u**2, "1 + u^2")
    ]
    assert found[0][-1](0.5, 0.5) == pytest.approx(found[1][-1](0.5, 0.5), rel=1e-9)
    # More of it spreads faster.
    plain = ddelm.evolve(ddelm.Problem(dirichlet=0.0), **options)
    assert found[1][-1](0.5, 0.5) < 0.95 * plain[-1](0.5, 0.5)
    stiff = ddelm.Problem(source="1e4*(0.5 - u^3)", boundary=ddelm.Neumann(0.0))
    assert ddelm.evolve(stiff, initial=1.0, end=1.0, steps=20, nonlinear="implicit", **SMALL)[-1](0.3, 0.4) == pytest.approx(
        0.5 ** (1 / 3), rel=1e-9
    )


def test_what_cannot_evolve():
    with pytest.raises(ValueError, match="initial"):
        ddelm.evolve(HEAT, end=1.0, steps=10)
    with pytest.raises(ValueError, match="steps"):
        ddelm.evolve(HEAT, initial=0.0, end=1.0)
    with pytest.raises(ValueError, match="end"):
        ddelm.evolve(HEAT, initial=0.0, steps=10)
    with pytest.raises(ValueError, match="self-adjoint"):
        ddelm.evolve(ddelm.Plate(load=1.0), initial=0.0, end=1.0, steps=10)
    with pytest.raises(ValueError, match="not known here"):
        ddelm.evolve(HEAT, initial=lambda x, y, u: u, end=1.0, steps=10)


def test_files_with_time_and_eigenvalues(tmp_path):
    file = tmp_path / "heat.toml"
    file.write_text(
        '[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\n[boundary]\ndirichlet = 0\n[exact]\n'
        'u = "exp(-2*pi^2*t)*sin(pi*x)*sin(pi*y)"\n[time]\nend = 0.05\ninitial = "sin(pi*x)*sin(pi*y)"\nsteps = 40\n'
        "[discretization]\nsubdomains = [2, 2]\npoints = 12\n"
    )
    series = ddelm.evolve(ddelm.from_toml(file), steps=80)
    assert series.report.time["steps"] == 80 and series.report.errors.l2 < 1e-6
    file.write_text(
        "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\n[boundary]\ndirichlet = 0\n[eigenvalues]\ncount = 3\n"
        "[discretization]\nsubdomains = [2, 2]\npoints = 12\n"
    )
    assert len(ddelm.eigenvalues(ddelm.from_toml(file))) == 3
    assert len(ddelm.eigenvalues(ddelm.from_toml(file), 2)) == 2


def test_numbers_of_a_solution():
    domain = ddelm.Domain.rectangle((0, 1), (0, 1))
    u = ddelm.solve(
        ddelm.Problem(source=-4.0, dirichlet="x^2 + y^2", domain=domain),
        integrals={"right": "flux(right)", "all": "integral(u)", "top": "max(u)"},
        **SMALL,
    )
    assert abs(u.integrate() - 2 / 3) < 1e-12
    assert abs(u.integrate(weight="x") - (1 / 4 + 1 / 6)) < 1e-12
    assert abs(u.integrate(of=lambda x, y, u, ux, uy: ux**2 + uy**2) - 8 / 3) < 1e-11
    assert abs(u.flux("right") - 2) < 1e-10 and abs(u.flux("left")) < 1e-10
    assert abs(u.max() - 2) < 1e-12 and abs(u.min()) < 1e-12
    assert np.allclose(u.argmax(), (1, 1)) and np.allclose(u.argmin(), (0, 0), atol=1e-6)
    (uxx, uxy), (uyx, uyy) = u.hessian([0.2, 0.5], [0.3, 0.9])
    assert np.allclose(uxx, 2) and np.allclose(uyy, 2) and np.allclose(uxy, 0, atol=1e-7) and np.all(uxy == uyx)
    assert u.hessian(0.2, 0.3).shape == (2, 2)
    found = u.report.integrals
    assert abs(found["right"] - 2) < 1e-10 and abs(found["all"] - 2 / 3) < 1e-12 and abs(found["top"] - 2) < 1e-12
    assert u.flux([0.5], [0.5]).shape == (2, 1)
    with pytest.raises(ValueError, match="no such part of the boundary"):
        u.flux("wall")
    with pytest.raises(ValueError, match="no such region"):
        u.integrate("steel")
    with pytest.raises(TypeError, match="y are missing"):
        u.flux([0.5])
    with pytest.raises(ValueError, match="no part of the boundary"):
        ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), integrals={"a": "flux(wall)"})


def test_integrals_over_regions():
    domain = ddelm.Domain.circle((0, 0), 1.0, regions={"core": {"circle": {"center": [0, 0], "radius": 0.5}}})
    u = ddelm.solve(ddelm.Problem(dirichlet=1.0, domain=domain), points=12)
    assert abs(u.integrate("core") - np.pi / 4) < 1e-10 and abs(u.integrate() - np.pi) < 1e-10
