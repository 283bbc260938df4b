"""The algorithm of the paper, as this program has it (`preset = "paper"`)."""

from systems.ddelm import prepare as _prepare
from systems.ddelm import solve, values, variants, version as _version

__all__ = ["families", "prepare", "solve", "values", "variants", "version"]


def version():
    return f"{_version()}, preset = paper"


def families(problem):
    if problem.name in ("f1", "layer"):
        return []
    return [[{"subdomains": [n, n], "points": p} for p in (6, 8, 10, 12, 16, 20, 24)] for n in (1, 2, 4, 8)]


def prepare(problem, config):
    return _prepare(problem, {**config, "preset": "paper"})
