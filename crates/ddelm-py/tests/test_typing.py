"""The package is typed, and the stub of the extension module is true."""

import inspect
import subprocess
import sys

import pytest
from conftest import ROOT

import ddelm.options

pytest.importorskip("mypy")

USER = """
import numpy as np
import ddelm

problem = ddelm.Problem(
    diffusion=lambda x, y: 1.1 + np.tanh(np.sin(5 * x)),
    source="x",
    boundary={"left": ddelm.Neumann(0.0), "right": ddelm.Dirichlet("y"), "top": ddelm.Robin(1.0), "bottom": ddelm.Dirichlet()},
    domain=((0, 1), (0, 1)),
)
u = ddelm.solve(problem, subdomains=(8, 8), points=16, progress=lambda event: print(event.stage))
total: float = u(0.5, 0.5) + u.report.seconds.total + u.estimate.l2 + u(0.1, 1.5, outside="nan")
values: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = u([0.1, 0.2], 0.3)
again: ddelm.Problem = problem.replace(source=1.0)
print(problem.check(points=12)["cost"])
ux, uy = u.gradient([0.1, 0.2], 0.3)
solver = ddelm.Solver(problem, subdomains=(8, 8), activation="sin")
u1 = solver.solve(source=lambda x, y: x)
pairs = ddelm.eigenvalues(problem, 3, near=0.0, points=12, corners="auto")
first: float = pairs[0].value + pairs[0].function(0.5, 0.5) + (pairs[0].estimate or 0.0)
series = ddelm.evolve(problem, initial=lambda x, y: x * y, end=1.0, steps=10, times=[0.5], method="bdf2", points=12)
last: float = series[-1].integrate(weight="x") + series[-1].flux("left") + series[-1].max() + float(series.times[0])
(uxx, uxy), (_, uyy) = u.hessian([0.1, 0.2], 0.3)
bratu = ddelm.Problem(source=ddelm.Function(lambda x, y, u: np.exp(u), u=lambda x, y, u: np.exp(u)), dirichlet=0.0)
"""


def run(module, *arguments, cwd):
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def mypy(*arguments, cwd):
    # What it has found out about numpy serves all programs, if they are read as the same version of Python.
    return run("mypy", "--python-version=3.10", f"--cache-dir={ROOT / 'target/mypy'}", *arguments, cwd=cwd)


def test_the_package_is_typed():
    code, said = mypy("crates/ddelm-py/python/ddelm", cwd=ROOT)
    assert code == 0, said


def test_the_stub_is_true():
    code, said = run("mypy.stubtest", "ddelm._native", "--ignore-disjoint-bases", cwd=ROOT / "crates")
    assert code == 0, said


def test_programs_of_users_are_checked(tmp_path):
    (tmp_path / "good.py").write_text(USER)
    assert mypy("--strict", "good.py", cwd=tmp_path)[0] == 0
    (tmp_path / "bad.py").write_text(USER + 'ddelm.solve(problem, pionts=3)\nddelm.solve(problem, preset="fst")\n')
    code, said = mypy("--strict", "bad.py", cwd=tmp_path)
    assert code == 1 and "pionts" in said and "preset" in said


def test_pyright_agrees(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "good.py").write_text(USER)
    code, said = run("pyright", "--pythonpath", sys.executable, "good.py", cwd=tmp_path)
    assert code == 0, said
    (tmp_path / "bad.py").write_text(USER + "ddelm.solve(problem, pionts=3)\n")
    code, said = run("pyright", "--pythonpath", sys.executable, "bad.py", cwd=tmp_path)
    assert code == 1 and "pionts" in said


def test_keywords_are_in_the_signature():
    parameters = inspect.signature(ddelm.solve).parameters
    assert set(ddelm.options.KEYS) | {"weights", "progress"} <= set(parameters)
    assert set(ddelm.options.KEYS) - {"tolerance", "estimate", "integrals"} <= set(inspect.signature(ddelm.Solver).parameters)
