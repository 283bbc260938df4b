"""The package and the command line give the same bits."""

import json

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
