"""Functions of the user: how they are called, and what they may return or raise."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import ddelm


def solve(source, **options):
    # Without rings, which would ask for the source at corners first.
    return ddelm.solve(ddelm.Problem(source=source, dirichlet=0.0), subdomains=(2, 2), points=8, corners="none", **options)


def test_functions_take_whole_arrays():
    seen = []

    def source(x, y):
        seen.append((type(x), x.dtype, x.shape, y.shape))
        return x

    solve(source)
    # The nodes and the points of integration of four subdomains; then points between them, to see whether the nodes tell
    # the function.
    sizes = sorted(x[0] for _, _, x, _ in seen[:8])
    assert sizes == [49] * 4 + [144] * 4
    assert all(kind == np.ndarray and dtype == float and x == y for kind, dtype, x, y in seen)
    assert all(x[0] >= 64 for _, _, x, _ in seen[8:])


@pytest.mark.parametrize(
    "source",
    [
        lambda x, y: 1,
        lambda x, y: np.float32(1),
        lambda x, y: np.ones(x.shape, dtype=int),
        lambda x, y: np.ones(x.shape, dtype=bool),
        lambda x, y: np.ones(2 * x.size)[::2],
        lambda x, y: [1.0] * x.size,
        lambda x, y: np.array(1.0),
    ],
)
def test_results_that_can_be_taken_as_numbers(source):
    assert solve(source)(0.4, 0.4) == solve(1.0)(0.4, 0.4)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda x, y: x[:3], "3 values for 49 points"),
        (lambda x, y: np.outer(x, y), r"array of shape \(49, 49\) for 49 points"),
        (lambda x, y: x + 1j, "complex128, not real numbers"),
        (lambda x, y: "one", "not real numbers"),
        (lambda x, y: None, "not real numbers"),
    ],
)
def test_results_that_cannot(source, message):
    with pytest.raises(ValueError, match=f"equation.source: the function returned .*{message}"):
        solve(source)


def test_advection_that_is_not_a_pair():
    with pytest.raises(ValueError, match="equation.advection: .* instead of two arrays"):
        ddelm.solve(ddelm.Problem(advection=lambda x, y: x, dirichlet=0.0))


class Trouble(Exception):
    pass


def test_exceptions_come_back_as_they_were():
    trouble = Trouble("in the function")

    def source(x, y):
        raise trouble

    with pytest.raises(Trouble) as caught:
        solve(source)
    assert caught.value is trouble
    assert caught.traceback[-1].name == "source"


def test_a_value_that_is_not_finite_is_named_with_its_point():
    with pytest.raises(ValueError, match=r"equation.source is NaN at x = 0\.5\d+, y = 0\.0\d+ \(subdomain 2\)"):
        solve(lambda x, y: np.where(x > 0.5, np.nan, 1.0))
    with pytest.raises(ValueError, match="equation.diffusion is inf at x = "):
        ddelm.solve(ddelm.Problem(diffusion=lambda x, y: np.where(y > 0.9, np.inf, 1.0), dirichlet=0.0))


def test_a_solution_may_be_the_source_of_another_problem(grid):
    first = solve("2*pi^2*sin(pi*x)*sin(pi*y)")
    second = solve(first)
    assert second(0.5, 0.5) == pytest.approx(1 / (2 * np.pi**2), rel=1e-4)


def test_a_function_may_use_the_package_on_a_single_thread():
    # A thread that waits for its own pool would wait for ever.
    program = """
import ddelm
ddelm.set_threads(1)
first = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(2, 2), points=8)
def source(x, y):
    return first(x, y) + ddelm.solve(ddelm.Problem(source=lambda x, y: x, dirichlet=0.0), points=8)(x, y)
print(ddelm.solve(ddelm.Problem(source=source, dirichlet=0.0), subdomains=(2, 2), points=8))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "solved" in done.stdout, done.stderr


def test_other_threads_run_during_a_solve():
    entered, leave = threading.Event(), threading.Event()

    def source(x, y):
        entered.set()
        # Another thread must get hold of the interpreter to go on.
        assert leave.wait(60)
        return x

    def release():
        entered.wait(60)
        leave.set()

    other = threading.Thread(target=release)
    other.start()
    solve(source)
    other.join()
