"""Prints the ratio of ddelm's CPU time to NGSolve's, at equal error. Below 1, ddelm is faster.

    python3 bench/peers/ratio.py [--problems P1,P3b] [--no-build]
"""

import argparse
from pathlib import Path

from environment import SYSTEMS, Environment, target
from measure import best, cost, measure

SMOOTH = ["P1", "P2", "P3", "P3b", "plate", "helmholtz"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", default=",".join(SMOOTH), help="separated by commas; f1 and layer are there as well")
    parser.add_argument("--levels", default="1e-6,1e-8,1e-10", help="relative L2 errors")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions, in turns")
    parser.add_argument("--budget", type=float, default=25.0, help="CPU seconds to look for discretizations, each problem and system")
    parser.add_argument("--environment", type=Path, default=target() / "peers", help="folder of the virtual environment")
    parser.add_argument("--no-build", action="store_true", help="measure the package that is installed there")
    parser.add_argument("--verbose", action="store_true", help="show the discretizations, too")
    asked = parser.parse_args()
    levels = tuple(float(level) for level in asked.levels.split(","))
    environment = Environment(asked.environment.resolve())
    environment.make(["ddelm", "ngsolve"], build=not asked.no_build)
    if environment.skipped:
        raise SystemExit(1)
    found = measure(environment, asked.problems.split(","), levels, asked.rounds, asked.budget)
    print(f"{'ddelm/NGSolve':<14}" + "".join(f"{level:>10.0e}" for level in levels))
    for problem, systems in found["problems"].items():
        pairs = [(best(systems["ddelm"], level), best(systems["ngsolve"], level)) for level in levels]
        print(f"{problem:<14}" + "".join(f"{cost(own) / cost(peer):10.2f}" if own and peer else "         -" for own, peer in pairs))
        if asked.verbose:
            for level, pair in zip(levels, pairs):
                for system, point in zip(("ddelm", "ngsolve"), pair):
                    if point:
                        print(f"    {level:.0e} {SYSTEMS[system][0]:<8} {1e3 * cost(point):8.2f} ms  {point['error']:.1e}  {point['config']}")


if __name__ == "__main__":
    main()
