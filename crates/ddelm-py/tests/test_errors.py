"""Bad input: ValueError with the words of the command line."""

import json

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
        ({"boundary": {"left": ddelm.Neumann()}}, "no condition on the right and bottom and top side"),
        ({"boundary": {"west": ddelm.Neumann()}}, "there is no side 'west'"),
        ({"boundary": ddelm.Neumann(), **LAPLACE}, "besides dirichlet"),
        ({"domain": (0, 1), **LAPLACE}, "domain = .*two intervals"),
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
        ({"boundary": {"left": 0.0}, **LAPLACE}, r"boundary\['left'\]: expected ddelm.Dirichlet"),
        ({"diffusion": "x", "diffusion_gradient": lambda x, y: (1, 0), **LAPLACE}, "goes with a function"),
    ],
)
def test_types(arguments, message):
    with pytest.raises(TypeError, match=message):
        ddelm.Problem(**arguments)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (lambda: ddelm.Problem(boundary=ddelm.Neumann()), "no unique solution.*\nhint: give u on one side"),
        (lambda: ddelm.Problem(domain=((1, 0), (0, 1)), **LAPLACE), "domain.x"),
        (lambda: ddelm.Problem(boundary=ddelm.Clamped()), "one condition on every side"),
        (lambda: ddelm.Plate(load=1.0, boundary=ddelm.Dirichlet()), "a plate needs two conditions"),
    ],
)
def test_problems_that_cannot_be_solved(problem, message):
    with pytest.raises(ValueError, match=message):
        ddelm.solve(problem())


def test_what_cannot_be_computed_is_a_runtime_error():
    # All features are the same: the local matrices have rank one, and the interface system no factor.
    weights = (np.zeros((4, 2, 9)), np.full((4, 9), np.nan))
    with pytest.raises((RuntimeError, ValueError)):
        ddelm.solve(ddelm.Problem(source=1.0, **LAPLACE), subdomains=(2, 2), points=8, weights=weights)


def test_points_outside_are_named_or_nan(wave):
    with pytest.raises(ValueError, match=r"\(1.5, 0.2\).*outside the domain"):
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
    u = ddelm.solve(problem, points=9, subdomains=[3, 1])
    assert (u.report.points, u.subdomains) == (9, (3, 1))
    with pytest.raises(ValueError, match="discretization.points = 1"):
        ddelm.solve(problem, points=1)


def test_warnings_are_in_the_report(wave):
    assert wave.report.warnings == []
    assert json.dumps(wave.report.to_dict())
