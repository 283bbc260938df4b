#!/usr/bin/env python3
"""Checks that VTK reads the files of a run on several ranks as one, with the values that `ddelm eval` gives.

    pip install --no-deps numpy vtk
    scripts/check-pvtu.py --program target/debug/ddelm
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader

PROBLEM = """
[domain]
x = [0.0, 2.0]
y = [0.0, 1.0]
[equation]
diffusion = "2 + sin(3*x + y)"
source = "exp(x*y)"
[boundary]
dirichlet = "cos(x - y)"
[discretization]
subdomains = [4, 3]
points = 10
corners = "none"
estimate = false
"""


def solve(program, ranks, folder):
    """Solves on so many ranks, and leaves the files in `folder / "result"`."""
    (folder / "problem.toml").write_text(PROBLEM)
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    launcher = ["mpirun", "-n", str(ranks), program, "solve", folder / "problem.toml", "--quiet"]
    options = ["--out", folder / "result", "--write", "solution,vtk"]
    subprocess.run(launcher + options, env=environment, stdout=subprocess.DEVNULL, check=True)


def read(path):
    """The points of a .pvtu file and the fields there."""
    reader = vtkXMLPUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    data = grid.GetPointData()
    fields = {data.GetArrayName(k): vtk_to_numpy(data.GetArray(k)) for k in range(data.GetNumberOfArrays())}
    return vtk_to_numpy(grid.GetPoints().GetData()), fields, grid.GetNumberOfCells()


def evaluate(program, folder, points):
    """u, ux and uy at points."""
    np.save(folder / "points.npy", points)
    saved, values = folder / "result" / "solution.safetensors", folder / "values.npy"
    subprocess.run([program, "eval", saved, folder / "points.npy", "--out", values], check=True)
    return np.load(values)[:, 2:]


def check(program, ranks):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        solve(program, ranks, folder)
        points, fields, cells = read(folder / "result" / "solution.pvtu")
        expected = evaluate(program, folder, points[:, :2])
    found = np.column_stack([fields["u"], fields["gradient"][:, :2]])
    difference = np.abs(found - expected).max()
    assert points.shape == (12 * 11 * 11, 3) and cells == 12 * 10 * 10, (points.shape, cells)
    assert sorted(fields) == ["flux", "gradient", "residual", "subdomain", "u"], sorted(fields)
    assert np.array_equal(np.bincount(fields["subdomain"]), np.full(12, 11 * 11))
    assert difference <= 1e-12, difference
    print(f"{ranks} ranks: VTK reads {cells} cells; largest difference to ddelm eval {difference:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/ddelm")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4])
    choice = parser.parse_args()
    for ranks in choice.ranks:
        check(choice.program, ranks)


if __name__ == "__main__":
    main()
