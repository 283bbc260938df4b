"""The package and the command line give the same bits."""

import json
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT

import ddelm

FILES = sorted((ROOT / "examples").glob("*.toml"))


def without_clock(report):
    return {key: value for key, value in report.items() if key not in ("seconds", "peak_memory_bytes")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_problem_files_give_the_same_report(path, cli):
    expected = json.loads(cli("solve", path, "--json").stdout)
    u = ddelm.solve(ddelm.from_toml(path))
    found = json.loads(json.dumps(u.report.to_dict()))
    assert without_clock(found) == without_clock(expected)
    assert set(found["seconds"]) == set(expected["seconds"])


def test_a_problem_written_in_python_gives_the_same_bits(cli):
    expected = json.loads(cli("solve", ROOT / "examples" / "poisson.toml", "--json").stdout)
    in_file = ddelm.from_toml(ROOT / "examples" / "poisson.toml")
    exact = "sin(2*pi*x)*exp(y)"
    problem = ddelm.Problem(source="(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", dirichlet=exact, exact=exact)
    same = ddelm.solve(in_file)
    u = ddelm.solve(problem, subdomains=same.subdomains, points=same.report.points)
    assert u.report.to_dict()["errors"] == expected["errors"]


def test_the_command_of_the_package_is_the_command_line(cli, tmp_path):
    arguments = ["solve", str(ROOT / "examples" / "poisson.toml"), "--json"]
    done = subprocess.run([sys.executable, "-m", "ddelm", *arguments], capture_output=True, text=True, cwd=tmp_path)
    expected = json.loads(cli(*arguments).stdout)
    assert done.returncode == 0 and without_clock(json.loads(done.stdout)) == without_clock(expected)
    bad = subprocess.run([sys.executable, "-m", "ddelm", "solve", "none.toml"], capture_output=True, text=True, cwd=tmp_path)
    assert bad.returncode == 2 and "there is no such file" in bad.stderr and not bad.stdout


def test_the_command_does_not_import_numpy():
    program = "import sys, ddelm.__main__; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_command_ends_at_an_interrupt(tmp_path):
    big = ["--set", "discretization.subdomains=[96, 96]", "--set", "equation.diffusion=1 + x*y", "--out", "out"]
    command = [sys.executable, "-m", "ddelm", "solve", str(ROOT / "examples" / "poisson.toml"), *big]
    # A shell that runs the tests in the background has them ignore the signal, and so would the child.
    heeds = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, heeds)
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 3 and "interrupted" in said
    assert list(tmp_path.iterdir()) == []
