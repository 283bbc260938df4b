"""Solutions as functions, and in files."""

import json
import os
import pickle

import numpy as np
import pytest

import ddelm


def exact(x, y):
    return np.sin(2 * np.pi * x) * np.exp(y)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (0.3, 0.4),
        ([0.1, 0.2], 0.5),
        (np.linspace(0, 1, 6).reshape(2, 3), np.array([[0.1], [0.9]])),
        (np.float32(0.25), 1),
        (np.zeros((0,)), 0.5),
        (np.arange(6).reshape(2, 3)[:, ::2] / 10, 0.5),
    ],
)
def test_points_of_any_shape(wave, x, y):
    expected = exact(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    assert np.shape(wave(x, y)) == expected.shape
    assert np.allclose(wave(x, y), expected, rtol=0, atol=1e-10)
    assert wave.gradient(x, y).shape == (2, *expected.shape)


def test_a_single_point_gives_a_number(wave):
    assert isinstance(wave(0.3, 0.4), float)


def test_gradient_residual_and_error(wave, grid):
    ux, uy = wave.gradient(*grid)
    assert np.abs(ux - 2 * np.pi * np.cos(2 * np.pi * grid[0]) * np.exp(grid[1])).max() < 1e-8
    assert np.abs(uy - exact(*grid)).max() < 1e-8
    assert np.abs(wave.residual(*grid)).max() < 1e-5
    assert np.abs(wave.error(*grid) - (wave(*grid) - exact(*grid))).max() < 1e-12


def skip_connection(s, t, coefficients):
    """The polynomials of a network: products of Legendre polynomials, by their degree and then by that in t."""
    unit = np.eye(5)
    p, q = (lambda i: np.polynomial.legendre.legval(2 * s - 1, unit[i])), (
        lambda j: np.polynomial.legendre.legval(2 * t - 1, unit[j])
    )
    columns = [p(degree - j) * q(j) for degree in range(5) for j in range(degree + 1)]
    return sum(d * column for d, column in zip(coefficients, columns))


def test_networks_with_large_coefficients_have_the_bits_of_the_solution(corners):
    # Points that reference coordinates give without rounding: a third of a power of two is one of 1/3.
    s, t = np.meshgrid(np.arange(16) / 16, 0.5 ** np.arange(1, 9))
    network = corners.network(0)
    assert np.abs(network.coefficients).max() > 1e5 and np.abs(network.remainders).max() > 0
    assert np.array_equal(network(s, t), corners(0.25 * s, (1 / 3) * t)) and network(0.5, 0.5).shape == ()
    plain = np.tanh(np.stack([s, t], axis=-1) @ network.weights + network.biases) @ network.coefficients
    plain = plain + skip_connection(s, t, network.polynomials)
    assert np.abs(plain - network(s, t)).max() > 1e-12
    with pytest.raises(ValueError, match="do not fit each other"):
        network._replace(biases=network.biases[1:])(s, t)


def test_the_networks_are_the_solution(wave):
    # Subdomain (1, 1) of 3 x 2 is number 3.
    network = wave.network(3)
    z = network.weights.T @ np.array([0.25, 0.5]) + network.biases
    value = network.coefficients @ np.tanh(z) + skip_connection(0.25, 0.5, network.polynomials)
    assert len(network.polynomials) == 15
    assert value == pytest.approx(wave((1 + 0.25) / 3, (1 + 0.5) / 2), abs=1e-9)
    assert wave.activation == "tanh"
    with pytest.raises(IndexError, match="no subdomain 6"):
        wave.network(6)


def test_interface_values(wave):
    points, values = wave.interface
    assert points.shape == (wave.report.interface.unknowns, 2)
    assert np.abs(values - exact(*points.T)).max() < 1e-10


def test_the_report_says_what_was_done(wave):
    report = wave.report
    assert (report.status, report.method, report.subdomains, report.points) == ("solved", "schur", 6, 14)
    assert report.features.neurons == 14**2 and report.interface.solver == "direct"
    assert report.seconds.total > 0
    assert "6 subdomains" in str(report) and "L2" in str(report)
    assert "6 subdomains, L2 error" in repr(wave)


def test_save_and_load_keep_every_bit(wave, grid, tmp_path):
    wave.save(tmp_path / "u.safetensors")
    loaded = ddelm.load(tmp_path / "u.safetensors")
    assert (loaded(*grid) == wave(*grid)).all()
    assert loaded.report == wave.report
    # A problem of numbers and formulas is saved, too.
    assert loaded.residual(0.4, 0.5) == wave.residual(0.4, 0.5)
    assert loaded.error(0.4, 0.5) == wave.error(0.4, 0.5)
    # Networks are summed in another order than the basis of a solution that was just found.
    assert loaded.estimate.l2 == pytest.approx(wave.estimate.l2, rel=0.05)


def test_functions_are_not_saved(tmp_path):
    u = ddelm.solve(ddelm.Problem(source=lambda x, y: x * y, dirichlet=0.0), subdomains=(2, 2), points=8)
    u.save(tmp_path / "u.safetensors")
    loaded = ddelm.load(tmp_path / "u.safetensors")
    with pytest.raises(ValueError, match="neither an estimate nor its problem"):
        loaded.estimate
    with pytest.raises(ValueError, match="residual: the problem of this solution is not known"):
        loaded.residual(0.5, 0.5)
    loaded.problem = u.problem
    assert loaded.residual(0.4, 0.5) == u.residual(0.4, 0.5)


@pytest.mark.parametrize(
    "problem",
    [
        ddelm.Problem(
            diffusion=[["1 + x^2", 0.1], [0.1, np.float64(2.0)]],
            advection=(1.0, "y"),
            reaction="k",
            source="k*x",
            dirichlet=0.5,
            boundary={"right": ddelm.Neumann("y"), "top": ddelm.Robin(2.0, "sin(x)")},
            domain=((0, 2), (-1, 1)),
            parameters={"k": 3.0},
        ),
        ddelm.Plate(load="x", rigidity=2.0, boundary={**dict.fromkeys(("left", "right", "top"), ddelm.Clamped("y", 1.0)), "bottom": ddelm.SimplySupported(0.0, "x")}),
        ddelm.Problem(source="u^2", dirichlet=1.0),
        ddelm.Problem(
            source=1.0,
            domain=ddelm.Domain.rectangle((0, 1), (0, 1), regions={"a.b": ddelm.Domain.circle((0.5, 0.5), 0.2)}),
            dirichlet=0.0,
            regions={"a.b": {"diffusion": 10.0}},
        ),
        ddelm.Problem(source="sin(2*pi*x)", domain=ddelm.Domain.rectangle((0, 1), (0, 1), periodic=["x"]), dirichlet=0.0),
        ddelm.Problem(
            source=0.0, boundary=ddelm.Neumann(0.0), mean=2.0, domain=ddelm.Domain.polygon([(0, 0), (1, 0), (0, 1)])
        ),
    ],
    ids=["coefficients", "plate", "nonlinear", "regions", "periodic", "mean"],
)
def test_a_saved_problem_is_the_same_problem(problem, tmp_path):
    u = ddelm.solve(problem, points=8, **({} if problem._core.suggests_sizes else {"subdomains": (2, 2)}))
    u.save(tmp_path / "u.safetensors")
    loaded = ddelm.load(tmp_path / "u.safetensors")
    x, y = 0.45, 0.4
    assert loaded.residual(x, y) == u.residual(x, y)
    assert np.array_equal(loaded.flux(x, y), u.flux(x, y))
    assert loaded.problem._core.parts == problem._core.parts
    again = ddelm.solve(loaded.problem, points=8, subdomains=None if problem._core.suggests_sizes else (2, 2))
    assert again(x, y) == u(x, y)


def test_the_data_of_a_solver_are_saved(tmp_path):
    problem = ddelm.Problem(diffusion="1 + x", source=1.0, dirichlet=0.0, boundary={"top": ddelm.Robin(1.0, "x")})
    # A solver keeps the rings of its problem, which other data need not have.
    solver = ddelm.Solver(problem, subdomains=(2, 2), points=8, corners="none")
    u = solver.solve(source="x*y", dirichlet=1.0, boundary={"top": ddelm.Robin(1.0, 3.0)})
    u.save(tmp_path / "u.safetensors")
    loaded = ddelm.load(tmp_path / "u.safetensors")
    assert loaded.residual(0.4, 0.6) == u.residual(0.4, 0.6)
    assert loaded.estimate.l2 == pytest.approx(u.estimate.l2, rel=1e-4)
    again = ddelm.solve(loaded.problem, points=8, subdomains=(2, 2), corners="none")
    assert abs(again(0.4, 0.6) - u(0.4, 0.6)) < 1e-9


def test_saved_solutions_can_be_evaluated_without_the_package(wave, tmp_path):
    safe_open = pytest.importorskip("safetensors").safe_open
    wave.save(tmp_path / "u.safetensors")
    with safe_open(tmp_path / "u.safetensors", framework="numpy") as file:
        header = json.loads(file.metadata()["ddelm"])
        w, b, c, d = (file.get_tensor(name) for name in ("weights", "biases", "coefficients", "polynomials"))
    assert header["activation"] == "tanh"
    x, y, (nx, ny) = 0.35, 0.8, wave.subdomains
    i, j = int(x * nx), int(y * ny)
    k = 0 if len(w) == 1 else i * ny + j
    u = c[i * ny + j] @ np.tanh(w[k, 0] * (x * nx - i) + w[k, 1] * (y * ny - j) + b[k])
    u += skip_connection(x * nx - i, y * ny - j, d[i * ny + j])
    assert u == pytest.approx(wave(x, y), abs=1e-9)


def test_vtk_files_can_be_read(wave, tmp_path):
    meshio = pytest.importorskip("meshio")
    wave.to_vtk(tmp_path / "u.vtu", resolution=4)
    mesh = meshio.read(tmp_path / "u.vtu")
    x, y, _ = mesh.points.T
    assert sum(len(block.data) for block in mesh.cells) == 6 * 4 * 4
    assert np.abs(mesh.point_data["u"].ravel() - exact(x, y)).max() < 1e-10
    assert set(mesh.point_data) >= {"u", "gradient", "flux", "residual", "error"}
    assert np.abs(mesh.point_data["error"]).max() < 1e-10


def test_pickle_keeps_every_bit(wave, grid):
    copy = pickle.loads(pickle.dumps(wave))
    assert (copy(*grid) == wave(*grid)).all()
    assert copy.report == wave.report
    assert (copy.residual(*grid) == wave.residual(*grid)).all()
    plate = pickle.loads(pickle.dumps(ddelm.Plate(load="x", boundary=ddelm.Clamped("y", 1.0))))
    assert repr(plate) == repr(ddelm.Plate(load="x", boundary=ddelm.Clamped("y", 1.0)))
    for field in (ddelm.Formula("g(y, x)", g="x"), ddelm.RandomField(2.0, 8, 1), ddelm.RandomField.from_arrays([1], [[1, 2]], [3])):
        assert pickle.loads(pickle.dumps(field))(0.2, 0.3) == field(0.2, 0.3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
# JAX, which other tests import, does not like it.
@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_fork_has_threads_of_its_own(wave):
    expected = wave(0.3, 0.4)
    child = os.fork()
    if child == 0:
        os._exit(0 if wave(0.3, 0.4) == expected and ddelm.threads() > 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_value_at_a_point_is_a_float(wave):
    assert type(wave(0.5, 0.5)) is float and type(wave.error(0.5, 0.5)) is float and type(wave.residual(0.5, 0.5)) is float
    assert wave([0.5], 0.5).shape == (1,) and wave.gradient(0.5, 0.5).shape == (2,)


def test_fluxes_next_to_a_corner_are_those_of_the_gradient():
    # u has no digits left for its slope there: the flux was rounding over the distance, up to 1e4.
    u = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0, diffusion=2.0), subdomains=(2, 2), points=10)
    assert u.report.rings > 0
    x = np.array([0.0, 1e-15, 1e-12, 1e-8, 1e-5, 1e-3])
    assert np.abs(u.flux(x, 0.5 * x) - 2 * u.gradient(x, 0.5 * x)).max() < 1e-12
    assert np.abs(u.flux(x, 0.5 * x)).max() < 0.1
