"""Bad input: ValueError with the words of the command line."""

import json
import math
import sys

import numpy as np
import pytest

import ddelm

LAPLACE = {"dirichlet": 0.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": 1}, "discretization.points = 1: .*\nhint: 10 to 24 is usual"),
        ({"points": 2.5}, "discretization.points = 2.5: expected a whole number"),
        ({"subdomains": (0, 4)}, r"discretization.subdomains = \[0, 4\]: .* at least one subdomain"),
        ({"subdomains": 4}, "discretization.subdomains"),
        ({"neurons": 100000}, "discretization.neurons = 100000: .* fewer than the neurons"),
        ({"preset": "fst"}, 'preset = "fst": .*\nhint: did you mean "fast"'),
        ({"activation": "relu"}, 'network.activation = "relu"'),
        ({"scale": -1.0}, "network.scale = -1"),
        ({"seed": -1}, "network.seed = -1"),
        ({"interface_tolerance": 2}, "interface.tolerance = 2"),
        ({"tolerance": 0.0}, "discretization.tolerance = 0"),
        ({"method": "elm", "subdomains": (2, 2)}, "one network for the whole domain"),
        ({"weights": (np.zeros((16, 2, 9)), np.zeros((16, 8)))}, "network.weights = w of shape"),
        ({"weights": (np.zeros((3, 2, 9)), np.zeros((3, 9)))}, "network.weights = .* 16 subdomains"),
        ({"weights": (np.zeros(3), np.zeros(3))}, "weights: w has the shape"),
    ],
)
def test_options(options, message):
    with pytest.raises(ValueError, match=message):
        ddelm.solve(ddelm.Problem(**LAPLACE), **options)


def test_unknown_options_name_the_nearest():
    with pytest.raises(TypeError, match="'pionts' is not an option\nhint: did you mean 'points'"):
        ddelm.solve(ddelm.Problem(**LAPLACE), pionts=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "sine(x)", **LAPLACE}, "equation.source: unknown name `sine` .*\nhint: did you mean `sin`"),
        ({"boundary": {"left": ddelm.Neumann()}}, "no condition on the right, bottom and top"),
        ({"boundary": {"west": ddelm.Neumann()}}, "there is no side 'west'"),
        ({"boundary": ddelm.Neumann(), **LAPLACE}, "besides dirichlet"),
        ({"domain": (0, 1), **LAPLACE}, "domain = .*two intervals\nhint: .*ddelm.Domain.polygon"),
        ({}, "no condition on the left"),
    ],
)
def test_problems(arguments, message):
    with pytest.raises(ValueError, match=message):
        ddelm.Problem(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": [1, 2], **LAPLACE}, "equation.source: expected a number, a formula or a function .* not `list`"),
        ({"diffusion": [1, 2, 3], **LAPLACE}, "equation.diffusion: expected"),
        ({"diffusion": [1, 2], **LAPLACE}, "2 x 2 nested list"),
        ({"advection": 1.0, **LAPLACE}, "equation.advection: expected two components"),
        ({"boundary": {"left": 0.0}, **LAPLACE}, r"boundary\['left'\]: expected ddelm.Dirichlet.*\nhint: ddelm.Dirichlet\(0.0\) gives"),
        ({"diffusion": "x", "diffusion_gradient": lambda x, y: (1, 0), **LAPLACE}, "goes with a function"),
    ],
)
def test_types(arguments, message):
    with pytest.raises(TypeError, match=message):
        ddelm.Problem(**arguments)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (lambda: ddelm.Problem(boundary=ddelm.Neumann()), "no unique solution.*\nhint: give the mean of u"),
        (lambda: ddelm.Problem(domain=((1, 0), (0, 1)), **LAPLACE), "domain.x"),
        (lambda: ddelm.Problem(boundary=ddelm.Clamped()), "one condition on every side"),
        (lambda: ddelm.Plate(load=1.0, boundary=ddelm.Dirichlet()), "a plate needs two conditions"),
    ],
)
def test_problems_that_cannot_be_solved(problem, message):
    with pytest.raises(ValueError, match=message):
        ddelm.solve(problem())


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"source": 1.0}, "not `dict`\nhint: ddelm.Problem\\(source=...\\)"),
        ("p.toml", "not `str`\nhint: for a problem file, ddelm.from_toml\\('p.toml'\\)"),
        (1.0, "not `float`\nhint: ddelm.Problem"),
    ],
)
def test_what_is_no_problem_is_refused_with_what_was_meant(problem, message):
    for take in (ddelm.solve, ddelm.Solver):
        with pytest.raises(TypeError, match="problem: expected a ddelm.Problem or ddelm.Plate, " + message):
            take(problem)


def test_a_problem_is_refused_where_it_is_made():
    with pytest.raises(ValueError, match="domain.x"):
        ddelm.Problem(domain=((1, 0), (0, 1)), **LAPLACE)
    with pytest.raises(ValueError, match="a plate needs two conditions on every side\nhint: ddelm.SimplySupported or ddelm.Clamped"):
        ddelm.Plate(load=1.0, boundary=ddelm.Dirichlet())
    with pytest.raises(ValueError, match="boundary.left = Clamped.*one condition on every side\nhint: ddelm.Dirichlet or ddelm.Neumann"):
        ddelm.Problem(boundary={"left": ddelm.Clamped()}, **LAPLACE)
    with pytest.raises(TypeError, match="does not take x and y\nhint: for example lambda x, y"):
        ddelm.Problem(source=lambda x: x, **LAPLACE)


def by_math(x, y):
    return math.sin(x)


def by_if(x, y):
    return 1.0 if x < 0.5 else 2.0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize(("function", "kind"), [(by_math, TypeError), (by_if, ValueError)])
def test_functions_of_single_numbers_are_told_about_arrays(function, kind):
    with pytest.raises(kind) as caught:
        ddelm.solve(ddelm.Problem(source=function, **LAPLACE), points=8)
    assert "whole arrays of x and y" in caught.value.__notes__[0]


def test_a_function_that_is_not_finite_is_named_with_the_point():
    with pytest.raises(ValueError, match="equation.source is NaN at x = .*\nhint: .*function"):
        ddelm.solve(ddelm.Problem(source=lambda x, y: np.where(x > 0.5, np.nan, 0.0), **LAPLACE), points=8)


def test_what_cannot_be_computed_is_a_runtime_error():
    # All features are the same: the local matrices have rank one, and the interface system no factor.
    weights = (np.zeros((4, 2, 9)), np.full((4, 9), np.nan))
    with pytest.raises((RuntimeError, ValueError)):
        ddelm.solve(ddelm.Problem(source=1.0, **LAPLACE), subdomains=(2, 2), points=8, weights=weights)


def test_points_outside_are_named_or_nan(wave):
    with pytest.raises(ValueError, match=r"\(1.5, 0.2\).*outside the domain\nhint: .*outside=\"nan\""):
        wave([0.1, 1.5], 0.2)
    assert np.isnan(wave([0.1, 1.5], 0.2, outside="nan")).tolist() == [False, True]
    with pytest.raises(ValueError, match="'error' or 'nan'"):
        wave(0.1, 0.2, outside="zero")


def test_files_that_are_not_there(tmp_path, wave):
    with pytest.raises(FileNotFoundError):
        ddelm.load(tmp_path / "no.safetensors")
    with pytest.raises(FileNotFoundError):
        ddelm.from_toml(tmp_path / "no.toml")
    with pytest.raises(OSError):
        wave.save(tmp_path / "no" / "u.safetensors")


def test_files_that_make_no_sense(tmp_path):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="bad.safetensors"):
        ddelm.load(bad)


def test_errors_in_problem_files_have_the_words_of_the_command_line(tmp_path, cli):
    path = tmp_path / "bad.toml"
    path.write_text(
        "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = '1 +'\n[boundary]\ndirichlet = 0\n"
        "[discretization]\nsubdomains = [2, 2]\npoints = 8\n"
    )
    with pytest.raises(ValueError, match=r"bad.toml, line 5: equation.source: ") as caught:
        ddelm.from_toml(path)
    told = cli("solve", path, check=False)
    assert told.returncode == 2
    said = str(caught.value).split("equation.source: ")[1].splitlines()[0].split(" (column")[0]
    assert said in told.stderr


def test_options_override_a_file(tmp_path):
    path = tmp_path / "good.toml"
    path.write_text(
        "[domain]\nx = [0, 1]\ny = [0, 1]\n[equation]\nsource = 1\n[boundary]\ndirichlet = 0\n"
        "[discretization]\nsubdomains = [2, 2]\npoints = 8\nestimate = false\n"
    )
    problem = ddelm.from_toml(path)
    assert ddelm.solve(problem).report.points == 8
    u = ddelm.solve(problem, points=9, subdomains=[3, 1], corners="none")
    assert (u.report.points, u.subdomains) == (9, (3, 1))
    with pytest.raises(ValueError, match="discretization.points = 1"):
        ddelm.solve(problem, points=1)


def test_warnings_are_in_the_report_and_raised(wave):
    assert wave.report.warnings == []
    jump = ddelm.Problem(diffusion="1 + 99*step(x - 0.37)", source=1.0, dirichlet=0.0)
    with pytest.warns(UserWarning) as raised:
        u = ddelm.solve(jump, points=10, estimate=True)
    assert [str(warning.message) for warning in raised] == u.report.warnings
    assert u.report.status == "unresolved" and len(u.report.warnings) == 2
    assert all(warning.filename == __file__ for warning in raised)


def test_the_estimate_warns_when_it_is_asked():
    jump = ddelm.Problem(diffusion=lambda x, y: 1 + 99 * (x > 0.37), source=1.0, dirichlet=0.0)
    with pytest.warns(UserWarning, match=r"equation.diffusion is not resolved in 4 of \d+ subdomains"):
        u = ddelm.solve(jump, points=10)
    with pytest.warns(UserWarning) as raised:
        assert u.estimate.l2 > 0.01
    assert any("the estimated error is" in str(warning.message) for warning in raised)


@pytest.mark.parametrize("diffusion", [-1.0, "x - 0.5", [["1", "2"], ["2", "1"]]])
def test_what_is_not_elliptic_is_refused(diffusion):
    with pytest.raises(ValueError, match="must be positive"):
        ddelm.solve(ddelm.Problem(diffusion=diffusion, source=1.0, **LAPLACE), points=8)


def test_a_report_is_json(wave):
    assert json.dumps(wave.report.to_dict())
