#!/usr/bin/env python3
"""Measures how ddelm scales with ranks and with subdomains, and prints the tables of docs/scaling.md.

    cargo build --release --features mpi
    scripts/scaling.py --program target/release/ddelm

Every rank has one thread. Runs of a table are interleaved and repeated; times are the smallest of the repetitions,
for whatever else runs on the machine only ever adds. Conjugate gradients on 16 x 16 subdomains and more run once. Memory
is the largest over the ranks. Bytes are counted by the program.
"""

import argparse
import json
import os
import subprocess
import tempfile

PROBLEM = """
[domain]
x = [0.0, {width}]
y = [0.0, {height}]
[equation]
diffusion = "1.1 + tanh(3*sin(5*x + 2*y))"
source = "1"
[boundary]
dirichlet = "0"
[discretization]
subdomains = [{across}, {up}]
corners = "none"
points = {points}
estimate = false
[interface]
solver = "{solver}"
max_iterations = {iterations}
"""

# Sides that conjugate gradients solve to the end. Beyond, so many iterations show what one costs.
SOLVED = 32
SOME_ITERATIONS = 1000


def solve(program, ranks, across, up, points, solver="direct", iterations=10**6):
    """One run; the report as a dictionary."""
    text = PROBLEM.format(width=across / 16, height=up / 16, across=across, up=up, points=points, solver=solver,
                          iterations=iterations)
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        # A rank that is bound to a core cannot step aside for another program.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
    }
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        command = [program, "solve", file.name, "--json", "--quiet", "--threads", "1"]
        launcher = ["mpirun", "-n", str(ranks)]
        done = subprocess.run(launcher + command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # 1 is a solve that ran out of iterations.
    if done.returncode not in (0, 1):
        raise SystemExit(f"{across} x {up} subdomains on {ranks} ranks: exit code {done.returncode}")
    return json.loads(done.stdout)


def best(program, runs, repeat):
    """The reports of several runs with the smallest time of each stage, interleaved."""
    found = {}
    for _ in range(repeat):
        for name, run in runs.items():
            report = solve(program, **run)
            kept = found.setdefault(name, report)
            for stage, seconds in report["seconds"].items():
                kept["seconds"][stage] = min(kept["seconds"][stage], seconds)
    return found


def local(report):
    return report["seconds"]["assemble"] + report["seconds"]["factor"]


def table(title, head, rows):
    """Prints a table, row by row as they come."""
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |", flush=True)


def ranks_table(title, program, runs, repeat):
    found = best(program, runs, repeat)
    one = found[1]
    rows = []
    for ranks, report in found.items():
        seconds, memory = report["seconds"], report["peak_memory_bytes"]
        rows.append([
            ranks, report["subdomains"], f"{local(report):.2f}", f"{local(one) / local(report):.2f}",
            f"{seconds['interface']:.2f}", f"{seconds['recover']:.3f}", f"{memory / 1e6:.0f}",
            f"{100 * memory / one['peak_memory_bytes']:.0f} %",
        ])
    table(title, ["ranks", "subdomains", "local phase, s", "faster", "interface, s", "recover, s", "peak per rank, MB",
                  "of one rank"], rows)


def strong(choice):
    runs = {n: dict(ranks=n, across=16, up=16, points=24) for n in choice.ranks}
    ranks_table("Strong scaling: 16 x 16 subdomains, 24 points", choice.program, runs, choice.repeat)


def weak(choice):
    runs = {n: dict(ranks=n, across=8 * n, up=8, points=24) for n in choice.ranks}
    ranks_table("Weak scaling: 8 x 8 subdomains on every rank, 24 points", choice.program, runs, choice.repeat)


def subdomains(choice):
    def row(side):
        size = dict(ranks=2, across=side, up=side, points=12)
        direct = best(choice.program, {1: size}, choice.repeat)[1]
        # Iterations grow with the number of subdomains, and every one costs as much as the last.
        limit = {} if side <= SOLVED else dict(iterations=SOME_ITERATIONS)
        runs = {1: size | dict(solver="cg") | limit}
        cg = best(choice.program, runs, choice.repeat if side < 16 else 1)[1]
        interface, seconds = cg["interface"], cg["seconds"]["interface"]
        unsolved = "" if cg["status"] == "solved" else f", residual {interface['relative_residual']:.0e}"
        return [
            f"{side} x {side}", f"{interface['unknowns']:,}", f"{direct['seconds']['interface']:.2f}",
            f"{direct['interface']['factor_nonzeros'] / 1e6:.2f}", f"{interface['iterations']:,}{unsolved}",
            f"{seconds:.2f}", f"{1e3 * seconds / interface['iterations']:.2f}",
            f"{interface['bytes_sent'] / interface['iterations'] / 1e3:.2f}",
        ]

    head = ["subdomains", "unknowns", "direct, s", "factor, 10^6 entries", "CG iterations", "CG, s", "ms per iteration",
            "kB per iteration"]
    table("Subdomains: 12 points, two ranks", head, (row(side) for side in (4, 8, 16, 32, 64) if side <= choice.largest))


def communication(choice):
    def row(ranks):
        size = dict(ranks=ranks, across=16, up=16, points=24)
        cg = solve(choice.program, **size, solver="cg", iterations=160)["interface"]
        direct = solve(choice.program, **size)["interface"]
        return [ranks, f"{cg['bytes_sent'] / cg['iterations'] / 1e3:.1f}", f"{direct['bytes_sent'] / 1e3:.0f}",
                direct["refinements"]]

    head = ["ranks", "CG, kB per iteration", "direct, kB in all", "refinement steps"]
    table("Communication: 16 x 16 subdomains, 24 points", head, (row(ranks) for ranks in choice.ranks))


TABLES = {"strong": strong, "weak": weak, "subdomains": subdomains, "communication": communication}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/ddelm")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--largest", type=int, default=64, help="subdomains per side of the largest problem")
    parser.add_argument("--repeat", type=int, default=3)
    choice = parser.parse_args()
    for name in choice.tables:
        TABLES[name](choice)


if __name__ == "__main__":
    main()
