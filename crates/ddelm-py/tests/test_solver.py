"""Methods, options, tolerance, estimate, and many right-hand sides."""

import numpy as np
import pytest

import ddelm

WAVE = {"source": "(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", "dirichlet": "sin(2*pi*x)*exp(y)", "exact": "sin(2*pi*x)*exp(y)"}


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({}, 1e-11),
        ({"preset": "paper", "subdomains": (2, 2), "points": 12}, 1e-3),
        ({"preset": "paper", "subdomains": (2, 2), "points": 12, "interface": "direct", "truncation": "svd"}, 1e-3),
        ({"method": "elm", "points": 20}, 1e-6),
        ({"method": "locelm", "subdomains": (2, 2), "points": 12}, 1e-6),
        ({"activation": "sin", "subdomains": (2, 2)}, 1e-6),
        ({"activation": "gaussian", "subdomains": (2, 2)}, 1e-6),
        ({"sharing": "independent", "subdomains": (2, 2)}, 1e-8),
    ],
)
def test_methods(options, bound):
    u = ddelm.solve(ddelm.Problem(**WAVE), **options)
    assert u.report.status == "solved"
    assert u.errors.l2 < bound


def test_running_out_of_iterations_is_a_status():
    with pytest.warns(UserWarning, match="the error is"):
        u = ddelm.solve(ddelm.Problem(**WAVE), preset="paper", subdomains=(2, 2), points=10, max_iterations=3)
    assert u.report.status == "max_iterations"
    assert u.report.interface.iterations == 3


def test_the_same_seed_gives_the_same_bits(grid):
    u, v, w = (ddelm.solve(ddelm.Problem(**WAVE), subdomains=(2, 2), points=10, seed=s)(*grid) for s in (1, 1, 2))
    assert (u == v).all()
    assert (u != w).any()


def test_threads_do_not_change_the_bits(grid):
    before = ddelm.threads()
    found = []
    for threads in (1, 3):
        ddelm.set_threads(threads)
        assert ddelm.threads() == threads
        found.append(ddelm.solve(ddelm.Problem(**WAVE))(*grid))
    ddelm.set_threads()
    assert ddelm.threads() == before
    assert (found[0] == found[1]).all()
    with pytest.raises(ValueError, match="at least one thread"):
        ddelm.set_threads(0)


def test_weights_of_the_user_are_used():
    rng = np.random.default_rng(0)
    w, b = rng.uniform(-4, 4, (4, 2, 49)), np.empty((4, 49))
    for s in range(4):
        corner = np.array([s // 2, s % 2]) / 2
        xi = corner + rng.uniform(-0.25, 0.75, (49, 2))
        b[s] = -np.einsum("kj,jk->j", w[s], xi)
    u = ddelm.solve(ddelm.Problem(**WAVE), subdomains=(2, 2), points=10, weights={"w": w, "b": b})
    assert u.report.features.neurons == 49
    assert u.errors.l2 < 1e-2
    # In the reference coordinates of a subdomain with sides of 1/2, weights are half as large.
    weights, biases, *_ = u.network(3)
    kept = {tuple(v) for v in np.round(w[3].T / 2, 12)}
    assert all(tuple(v) in kept for v in np.round(weights.T, 12))
    assert len(biases) == weights.shape[1]


def test_tolerance():
    u = ddelm.solve(ddelm.Problem(**WAVE), tolerance=1e-8)
    assert u.report.status == "solved"
    assert u.estimate.l2 < 1e-8
    assert u.errors.l2 < 1e-7
    assert u.report.attempts[-1].estimate <= 1e-8


def test_a_tolerance_out_of_reach_is_a_status():
    u = ddelm.solve(ddelm.Problem(**WAVE), tolerance=1e-20)
    assert u.report.status == "tolerance_not_reached"
    assert u.errors.l2 < 1e-10


@pytest.mark.parametrize("asked", [True, None])
def test_the_estimate_is_close_to_the_error(asked):
    u = ddelm.solve(ddelm.Problem(**WAVE), subdomains=(2, 2), points=8, estimate=asked)
    assert (u.report.estimate is not None) == bool(asked)
    assert u.errors.l2 / 10 < u.estimate.l2 < u.errors.l2 * 10
    assert len(u.estimate.subdomains) == 4


def test_one_factorization_serves_many_sources(grid):
    problem = ddelm.Problem(diffusion="1 + x^2", dirichlet=0.0, boundary={"top": ddelm.Neumann(0.0)})
    # A solver keeps the rings of its first problem, which has no source.
    options = {"subdomains": (3, 2), "points": 12, "corners": "none"}
    solver = ddelm.Solver(problem, **options)
    data = [
        {"source": 1.0},
        {"source": lambda x, y: x * y, "dirichlet": None},
        {"source": "x", "boundary": {"left": ddelm.Dirichlet("y"), "top": ddelm.Neumann("sin(x)")}},
    ]
    together = solver.solve_many(data)
    for item, u in zip(data, together):
        boundary = {"top": ddelm.Neumann(0.0), **item.get("boundary", {})}
        afresh = ddelm.Problem(diffusion="1 + x^2", source=item["source"], dirichlet=0.0, boundary=boundary)
        alone = ddelm.solve(afresh, **options)
        rounding = 1e-12 * np.abs(alone(*grid)).max()
        assert np.abs(u(*grid) - alone(*grid)).max() < rounding
        assert np.abs(solver.solve(**item)(*grid) - alone(*grid)).max() < rounding
        assert u.estimate.l2 < 1e-3 and abs(u.residual(0.4, 0.3)) < 1e-3


def test_the_problem_of_a_solver_keeps_its_errors():
    u = ddelm.Solver(ddelm.Problem(**WAVE), subdomains=(2, 2)).solve()
    assert u.errors.l2 < 1e-10
    assert u.estimate.l2 < 1e-9


def test_only_values_of_conditions_can_change():
    solver = ddelm.Solver(ddelm.Problem(dirichlet=0.0, boundary={"top": ddelm.Robin(1.0)}), subdomains=(2, 2), points=8)
    solver.solve(boundary={"top": ddelm.Robin(1.0, "x")})
    # On the sides that have it.
    assert solver.solve(dirichlet=2.0)(0.5, 0.0) == pytest.approx(2.0, abs=1e-3)
    for condition in (ddelm.Dirichlet(1.0), ddelm.Robin(2.0, "x")):
        with pytest.raises(ValueError, match="boundary.top = .*\nhint: only values can change"):
            solver.solve(boundary={"top": condition})
    with pytest.raises(TypeError, match="'diffusion' is not data"):
        solver.solve_many([{"diffusion": 1.0}])


def test_a_solver_has_a_fixed_discretization():
    with pytest.raises(ValueError, match="discretization.tolerance = .* fixed discretization"):
        ddelm.Solver(ddelm.Problem(**WAVE), tolerance=1e-8)
    for name, value in (("estimate", True), ("integrals", {"heat": "flux(left)"})):
        with pytest.raises(TypeError, match=f"{name}: a solver has no solution yet"):
            ddelm.Solver(ddelm.Problem(**WAVE), **{name: value})
    with pytest.raises(TypeError, match="'pionts' is not an option\nhint: did you mean 'points'"):
        ddelm.Solver(ddelm.Problem(**WAVE), pionts=3)
    with pytest.raises(ValueError, match='method = "locelm"'):
        ddelm.Solver(ddelm.Problem(**WAVE), method="locelm")


def test_the_load_of_a_plate_can_change():
    solver = ddelm.Solver(ddelm.Plate(load=0.0), subdomains=(2, 2))
    u = solver.solve(source="sin(pi*x)*sin(pi*y)")
    assert u(0.5, 0.5) == pytest.approx(1 / (4 * np.pi**4), rel=1e-9)


def test_finite_elements_are_of_second_order():
    coarse, fine = (ddelm.finite_element(ddelm.Problem(**WAVE), cells) for cells in (16, (32, 32)))
    assert 3.5 < coarse.errors.l2 / fine.errors.l2 < 4.5
    assert fine.converged and fine.iterations < 50 and fine.relative_residual < 1e-9
    x, y = fine.nodes
    assert np.abs(fine(*np.meshgrid(x, y)) - fine.nodal).max() < 1e-12
    assert fine.gradient(0.3, 0.4).shape == (2,)
    with pytest.raises(ValueError, match="cells"):
        ddelm.finite_element(ddelm.Problem(**WAVE), 0)


def test_progress_tells_every_stage_in_order():
    told = []
    ddelm.solve(ddelm.Problem(**WAVE), subdomains=(2, 2), points=8, progress=told.append)
    stages = list(dict.fromkeys(event.stage for event in told))
    assert stages == ["assemble", "factor", "interface", "recover"]
    assert all(0 <= event.done <= event.total for event in told)
    assert told[-1].done == told[-1].total == 4


def test_progress_tells_residuals_of_conjugate_gradients():
    told = []
    ddelm.solve(ddelm.Problem(**WAVE), preset="paper", subdomains=(2, 2), points=8, progress=told.append)
    residuals = [event.residual for event in told if event.residual is not None]
    assert residuals[-1] < 1e-6


def test_progress_may_stop_the_solve():
    class Enough(Exception):
        pass

    def stop(event):
        raise Enough

    with pytest.raises(Enough):
        ddelm.solve(ddelm.Problem(**WAVE), progress=stop)
    with pytest.raises(TypeError, match="progress: expected True or a function"):
        ddelm.solve(ddelm.Problem(**WAVE), progress=3)


def test_a_bar(capsys):
    pytest.importorskip("tqdm")
    ddelm.solve(ddelm.Problem(**WAVE), progress=True)
    assert "recover" in capsys.readouterr().err


def test_a_bar_needs_tqdm(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        ddelm.solve(ddelm.Problem(**WAVE), progress=True)
