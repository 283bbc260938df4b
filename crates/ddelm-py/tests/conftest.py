"""What the tests share."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ddelm

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def grid():
    """Points that are not nodes, over the unit square."""
    return np.meshgrid(np.linspace(0.0, 1.0, 23), np.linspace(0.0, 1.0, 19))


@pytest.fixture(scope="session")
def wave():
    """A resolved solution: sin(2 pi x) e^y."""
    problem = ddelm.Problem(
        source="(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", dirichlet="sin(2*pi*x)*exp(y)", exact="sin(2*pi*x)*exp(y)"
    )
    return ddelm.solve(problem, subdomains=(3, 2), points=14)


@pytest.fixture(scope="session")
def corners():
    """A solution with singular corners and without rings: its coefficients are large, and rounding them shows."""
    return ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(4, 3), points=16, corners="none")


@pytest.fixture(scope="session")
def rings():
    """The same with rings about the corners."""
    return ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(4, 3), points=16)


@pytest.fixture(scope="session")
def cli():
    """Run the command line; it must have been built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = Path(os.environ.get("DDELM", target / "debug" / "ddelm"))
    if not binary.exists():
        pytest.skip("the command line is not built")

    def run(*arguments, check=True):
        done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stderr
        return done

    return run
