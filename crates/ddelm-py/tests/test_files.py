"""The files of `ddelm solve --out`, read by programs that are not ours."""

import io
import re
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def out(cli, tmp_path_factory):
    """A solved directory."""
    folder = tmp_path_factory.mktemp("files") / "out"
    cli("solve", ROOT / "examples" / "poisson.toml", "--out", folder)
    return folder


def exact(x, y):
    return np.sin(2 * np.pi * x) * np.exp(y)


@pytest.fixture
def evaluated(cli, out, tmp_path):
    """Values by `ddelm eval`: the columns x, y, u, ux, uy."""

    def run(x, y):
        points = tmp_path / "points.csv"
        np.savetxt(points, np.transpose([x, y]), delimiter=",", fmt="%.17g", header="x,y", comments="")
        table = cli("eval", out / "solution.safetensors", points).stdout
        return np.loadtxt(io.StringIO(table), delimiter=",", skiprows=1).T

    return run


def test_the_program_in_the_page_evaluates_a_solution(out, evaluated, monkeypatch, capsys):
    pytest.importorskip("safetensors")
    monkeypatch.chdir(out.parent)
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "files.md").read_text(), re.DOTALL)
    names = {}
    exec(program, names)
    assert capsys.readouterr().out.startswith("[")
    x, y = np.random.default_rng(0).random((2, 300))
    assert np.abs(names["evaluate"](x, y) - evaluated(x, y)[2]).max() < 1e-9


def test_the_program_in_the_page_takes_both_halves_of_the_coefficients(cli, tmp_path, monkeypatch):
    safetensors = pytest.importorskip("safetensors")
    monkeypatch.chdir(tmp_path)
    corners = ("--set", "equation.source=1", "--set", "boundary.dirichlet=0", "--set", "discretization.corners=none")
    corners = (*corners, "--write", "solution")
    cli("solve", ROOT / "examples" / "poisson.toml", "--out", "out", *corners)
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "files.md").read_text(), re.DOTALL)
    names = {}
    exec(program, names)
    with safetensors.safe_open("out/solution.safetensors", framework="numpy") as file:
        c, rest = (file.get_tensor(name).astype(np.longdouble) for name in ("coefficients", "remainders"))
    assert np.abs(c).max() > 1e5 and np.abs(rest).max() > 0
    assert np.array_equal(names["c"], c + rest)


def check_mesh(points, fields, evaluated):
    x, y, z = points.T
    _, _, u, ux, uy = evaluated(x, y)
    assert len(x) == 16 * 17 * 17 and not z.any()
    assert np.abs(fields["u"].ravel() - u).max() < 1e-12
    assert np.abs(fields["gradient"] - np.transpose([ux, uy, 0 * ux])).max() < 1e-12 * np.abs(ux).max()
    assert np.abs(fields["flux"][:, 0] - ux).max() < 1e-8
    assert np.abs(fields["error"].ravel() - (u - exact(x, y))).max() < 1e-12
    assert np.abs(fields["residual"]).max() < 1e-5
    s = (4 * np.minimum((4 * x).astype(int), 3) + np.minimum((4 * y).astype(int), 3))[np.arange(len(x)) % 289 == 20]
    assert (fields["subdomain"].ravel()[np.arange(len(x)) % 289 == 20] == s).all()


def test_meshio_reads_the_mesh(out, evaluated):
    mesh = pytest.importorskip("meshio").read(out / "solution.vtu")
    assert [(block.type, len(block.data)) for block in mesh.cells] == [("quad", 16 * 16 * 16)]
    check_mesh(mesh.points, mesh.point_data, evaluated)


def test_vtk_reads_the_mesh(out, evaluated):
    mesh = pytest.importorskip("pyvista").read(out / "solution.vtu")
    assert mesh.n_cells == 16 * 16 * 16
    assert mesh.compute_cell_sizes()["Area"].sum() == pytest.approx(1.0)
    check_mesh(np.asarray(mesh.points), {name: np.asarray(mesh[name]) for name in mesh.array_names}, evaluated)


def test_finite_elements_have_a_mesh_too(cli, tmp_path):
    settings = ["--method", "fem", "--set", "discretization.cells=[24, 16]"]
    cli("solve", ROOT / "examples" / "poisson.toml", *settings, "--out", tmp_path / "out", "--write", "vtk")
    mesh = pytest.importorskip("meshio").read(tmp_path / "out" / "solution.vtu")
    assert [(block.type, len(block.data)) for block in mesh.cells] == [("quad", 24 * 16)]
    x, y, _ = mesh.points.T
    u, fields = mesh.point_data["u"].ravel(), mesh.point_data
    assert 0 < np.abs(u - exact(x, y)).max() < 0.05
    assert np.abs(fields["error"].ravel() - (u - exact(x, y))).max() < 1e-12
    assert (fields["flux"] == fields["gradient"]).all()
    assert "residual" not in fields


def test_numpy_reads_the_grid(out):
    grid = np.load(out / "grid.npz")
    x, y = np.meshgrid(grid["x"], grid["y"])
    assert np.abs(grid["u"] - exact(x, y)).max() < 1e-10
    assert np.abs(grid["ux"] - 2 * np.pi * np.cos(2 * np.pi * x) * np.exp(y)).max() < 1e-8


@pytest.mark.parametrize("name", ["u", "error"])
def test_pictures_are_well_formed(out, name):
    image = pytest.importorskip("matplotlib.image").imread(out / f"{name}.png")
    assert image.shape[0] > 600 and image.shape[1] > 600 and image.std() > 0.1
    picture = xml.parse(out / f"{name}.svg").getroot()
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "y", "0.0", "1.0"} <= set(texts)


def test_arrays_of_points(cli, out, tmp_path):
    points = np.random.default_rng(1).random((50, 2))
    np.save(tmp_path / "points.npy", points)
    cli("eval", out / "solution.safetensors", tmp_path / "points.npy", "--out", tmp_path / "values.npy")
    values = np.load(tmp_path / "values.npy")
    assert (values[:, :2] == points).all()
    assert np.abs(values[:, 2] - exact(*points.T)).max() < 1e-10
