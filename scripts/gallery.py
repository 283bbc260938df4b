#!/usr/bin/env python3
"""Runs the gallery: every file of docs/gallery is solved, its figure is checked, and its picture is made.

    pip install target/wheels/ddelm-*.whl matplotlib scipy pyvista ipywidgets
    scripts/gallery.py --out target/gallery [NAME ...]

A file is a problem file, NAME.toml, or a program, NAME.py. It begins with a comment or docstring: the title, a blank line, some
text, and the figure that it must reach:

    Figure: u(0.5, 0.5) = 0.0737 within 1e-9.        the solution of a problem file at a point
    Figure: error below 1e-12.                       its error against the exact solution (or `estimate`)
    Figure: 0.0737 within 1e-9.                      the last number that a program prints

To add a problem, add a file; the site finds it.
"""

import argparse
import json
import re
import runpy
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

GALLERY = Path(__file__).resolve().parent.parent / "docs" / "gallery"


@dataclass
class Entry:
    """A file of the gallery."""

    path: Path
    title: str
    text: str
    figure: str
    #: The file without its head.
    source: str


def read(path):
    """Read the head of a file."""
    content = path.read_text()
    if path.suffix == ".toml":
        lines = content.splitlines()
        length = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
        head, source = "\n".join(line[1:].removeprefix(" ") for line in lines[:length]), "\n".join(lines[length:])
    else:
        _, head, source = content.split('"""', 2)
    title, _, rest = head.strip().partition("\n")
    text, found, figure = rest.rpartition("Figure:")
    if not found:
        raise SystemExit(f"{path.name}: there is no figure")
    return Entry(path, title.rstrip("."), text.strip(), figure.strip().rstrip("."), source.strip() + "\n")


def entries(names=()):
    """Read the files of the gallery, problem files first."""
    paths = sorted(GALLERY.glob("*.toml")) + sorted(GALLERY.glob("*.py"))
    return [read(path) for path in paths if not names or path.stem in names]


def close(value, figure):
    """Whether a value is what a figure of the form `EXPECTED within TOLERANCE` says."""
    expected, tolerance = map(float, re.fullmatch(r"(\S+) within (\S+)", figure).groups())
    return abs(value - expected) <= tolerance


def solve_file(entry, picture):
    """Solve a problem file by the command line, and return what was found and whether it is right."""
    import ddelm

    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        command = [sys.executable, "-m", "ddelm", "solve", entry.path, "--out", out, "--write", "solution,report,picture"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{entry.path.name}: {done.stderr}")
        (out / "u.png").rename(picture)
        report = json.loads((out / "report.json").read_text())
        point = re.fullmatch(r"u\((\S+), (\S+)\) = (.*)", entry.figure)
        if point:
            x, y, figure = point.groups()
            value = float(ddelm.load(out / "solution.safetensors")(float(x), float(y)))
            return value, close(value, figure)
        what, limit = re.fullmatch(r"(error|estimate) below (\S+)", entry.figure).groups()
        value = report["errors" if what == "error" else "estimate"]["l2"]
        return value, value <= float(limit)


def run_program(entry, picture):
    """Run a program, and return the last number that it prints and whether it is right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    printed = StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(entry.path), run_name="__main__")
    if not plt.get_fignums():
        raise SystemExit(f"{entry.path.name}: there is no picture")
    plt.gcf().savefig(picture, dpi=150, bbox_inches="tight")
    value = float(printed.getvalue().split()[-1])
    return value, close(value, entry.figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=Path("target/gallery"), help="where pictures go")
    choice = parser.parse_args()
    choice.out.mkdir(parents=True, exist_ok=True)
    wrong = []
    for entry in entries(choice.names):
        run = solve_file if entry.path.suffix == ".toml" else run_program
        value, right = run(entry, choice.out / f"{entry.path.stem}.png")
        print(f"{'ok' if right else 'WRONG':5} {entry.path.name:24} {value:.12g}  ({entry.figure})", flush=True)
        if not right:
            wrong.append(entry.path.name)
    if wrong:
        raise SystemExit(f"wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
