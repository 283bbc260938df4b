"""Measures ddelm and its peers and writes docs/peers.md.

    python3 bench/peers/run.py            everything, some 20 minutes on two cores
    python3 bench/peers/run.py --quick    ddelm and NGSolve only, some 3 minutes

The first run also makes an environment and builds the program.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from environment import ROOT, SYSTEMS, Environment, machine, revision, say, target


def together(before: dict, results: dict) -> dict:
    """Return the results of a run with those of another piece of it: problems and sizes that were not measured again."""
    for key in ("quick", "rounds", "budget", "revision", "levels"):
        if before[key] != results[key]:
            raise SystemExit(f"the pieces differ: {key} is {before[key]} and {results[key]}")
    return {
        **results,
        "problems": before["problems"] | results["problems"],
        "versions": before["versions"] | results["versions"],
        "scale": before["scale"],
        "skipped": {system: why for system, why in results["skipped"].items() if system in before["skipped"]},
    }


def main() -> None:
    folder = target() / "peers"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only ddelm and NGSolve, fewer repetitions, no large problems")
    parser.add_argument("--systems", help=f"separated by commas, of {','.join(SYSTEMS)}")
    parser.add_argument("--problems", help="separated by commas")
    parser.add_argument("--without", default="", help="systems to leave out, separated by commas")
    parser.add_argument("--scale", default="64,96", help="sizes of the large problems, separated by commas; empty for none")
    parser.add_argument("--budget", type=float, help="CPU seconds of ddelm and NGSolve to try discretizations of a problem; others get half")
    parser.add_argument("--environment", type=Path, default=folder, help="folder of the virtual environment")
    parser.add_argument("--no-build", action="store_true", help="measure the package that is installed there")
    parser.add_argument("--json", type=Path, help="where raw results go; results.json in the environment unless given")
    parser.add_argument("--page", type=Path, help="the page; docs/peers.md unless given, or peers.md in the environment if --quick")
    parser.add_argument("--add", action="store_true", help="keep what the raw results have of other problems: a run in pieces")
    parser.add_argument("--from-json", action="store_true", help="write the page from results that are there")
    asked = parser.parse_args()
    environment = Environment(asked.environment.resolve())
    if Path(sys.prefix).resolve() != (environment.folder / "venv").resolve():
        # Tables and pictures need the environment's packages: the rest is done by its interpreter.
        environment.make([], build=False)
        arguments = [str(environment.python), str(Path(__file__).resolve()), *sys.argv[1:]]
        os.execv(arguments[0], arguments)

    from measure import MAIN, Failed, large, measure
    from page import write
    from problems import PROBLEMS

    raw = asked.json or environment.folder / "results.json"
    page = asked.page or (environment.folder if asked.quick else ROOT / "docs") / "peers.md"
    if not asked.from_json:
        systems = asked.systems.split(",") if asked.systems else list(MAIN) if asked.quick else list(SYSTEMS)
        systems = [system for system in systems if system not in asked.without.split(",")]
        for system in set(SYSTEMS) - set(systems) if not asked.quick else ():
            environment.skipped[system] = "it was left out of this run"
        environment.make(systems, build=not asked.no_build)
        rounds = 3 if asked.quick else 5
        budget = asked.budget or (12.0 if asked.quick else 25.0)
        problems = asked.problems.split(",") if asked.problems else list(PROBLEMS)
        raw.parent.mkdir(parents=True, exist_ok=True)
        results = measure(environment, problems, rounds=rounds, budget=budget, other_budget=budget / 2)
        results |= {"quick": asked.quick, "rounds": rounds, "budget": budget, "machine": machine(), "revision": revision(), "scale": []}
        results["skipped"] = environment.skipped
        if asked.add and raw.exists():
            results = together(json.loads(raw.read_text()), results)
        raw.write_text(json.dumps(results, indent=1))
        if not asked.quick and set(MAIN) <= set(results["versions"]):
            for waves in filter(None, asked.scale.split(",")):
                results["scale"] = [entry for entry in results["scale"] if entry["waves"] != int(waves)]
                try:
                    results["scale"].append(large(environment, int(waves)))
                except Failed as failure:
                    say(f"\n*** {waves} x {waves} IS NOT MEASURED: {failure}\n")
        raw.write_text(json.dumps(results, indent=1))
    write(json.loads(raw.read_text()), page, page.parent / "images" / "peers", "python3 bench/peers/run.py")
    say(f"written: {page} and {raw}")


if __name__ == "__main__":
    main()
