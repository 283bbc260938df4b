"""Examples, notebook and documentation run as they stand."""

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

import ddelm

EXAMPLES = ROOT / "examples" / "python"
ENVIRONMENT = {**os.environ, "MPLBACKEND": "Agg"}


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples(script, tmp_path):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    shutil.copy(EXAMPLES / "tour.ipynb", tmp_path)
    notebook = nbformat.read(tmp_path / "tour.ipynb", as_version=4)
    client.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 3


def modules():
    return [name for _, name, _ in pkgutil.iter_modules(ddelm.__path__, "ddelm.") if "torch" not in name and "_native" not in name]


@pytest.mark.parametrize("name", ["ddelm", *modules()])
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_everything_public_is_documented():
    for name in ddelm.__all__:
        thing = getattr(ddelm, name)
        if not name.startswith("__") and name != "Condition":
            assert thing.__doc__, name
            for part in (p for p in vars(thing) if not p.startswith("_")) if isinstance(thing, type) else ():
                member = getattr(thing, part)
                assert not callable(member) or member.__doc__, f"{name}.{part}"


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_programs_in_the_pages(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    text = (ROOT / page).read_text()
    programs = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert programs
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("*.ipynb"))
    scope = {}
    for program in programs:
        exec(compile(program, page, "exec"), scope)


@pytest.mark.parametrize(
    "page",
    "l_shape disk hole two_materials data_on_a_grid periodic eigenvalue heat nonlinear_diffusion many_sources many_coefficients "
    "parameter one_unknown slider surface integral line save_and_load".split(),
)
def test_ordinary_tasks_take_ten_lines(page):
    program = (ROOT / "docs" / "gallery" / f"{page}.py").read_text().split('"""')[2]
    assert sum(bool(line.strip()) for line in program.splitlines()) <= 10
