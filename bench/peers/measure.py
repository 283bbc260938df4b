"""Measures: which discretization of a system reaches an accuracy at the lowest cost, and what that cost is.

First every system tries discretizations, cheap ones first, and notes errors and rough times. Then the cheapest few for every
accuracy are timed again, all systems in turns; the medians of these rounds are what counts.
"""

import heapq
import itertools
import json
import math
import os
import select
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environment import HERE, SYSTEMS, Environment, say

#: The accuracies: relative L2 errors.
LEVELS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)

#: The two that are compared most closely.
MAIN = ("ddelm", "ngsolve")

#: Solves that take longer than this, in seconds, are not continued to larger ones.
LONGEST = 4.0

_ONE_THREAD = {
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NGS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


class Failed(Exception):
    """A worker could not do what it was asked for."""


class Client:
    """The other end of a worker."""

    def __init__(self, system: str, environment: Environment, core: int) -> None:
        self.system = system
        self.command = [str(environment.interpreters[system]), str(HERE / "worker.py"), system]
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.command += [str(cores[core % len(cores)])] if cores else []
        # What FEniCSx and JAX compile is kept in the environment.
        caches = {"XDG_CACHE_HOME": environment.folder / "cache", "JAX_COMPILATION_CACHE_DIR": environment.folder / "cache" / "jax"}
        self.variables = {**os.environ, **_ONE_THREAD, **{name: str(path) for name, path in caches.items()}}
        self.variables.pop("PYTHONPATH", None)
        self.log = environment.folder / f"{system}.log"
        self.process: subprocess.Popen | None = None

    def ask(self, limit: float = 300.0, **request) -> dict:
        """Return the worker's answer; it is started if it does not run, and ended if it takes more CPU seconds than the limit."""
        if self.process is None:
            with self.log.open("a") as log:
                self.process = subprocess.Popen(
                    self.command,
                    cwd=HERE,
                    env=self.variables,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                )
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            line = self._line(limit)
        except BrokenPipeError:
            line = b""
        if not line:
            self.end()
            raise Failed(f"the process ended or took more than {limit:.0f} CPU seconds, see {self.log.name}")
        answer = json.loads(line)
        if "failure" in answer:
            raise Failed(answer["failure"])
        return answer

    def _line(self, limit: float) -> bytes:
        begun, line = self._used(), b""
        patience = time.monotonic() + 20 * limit
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], 1.0)
            if ready:
                chunk = os.read(self.process.stdout.fileno(), 65536)
                if not chunk:
                    return b""
                line += chunk
            elif self._used() - begun > limit or time.monotonic() > patience:
                return b""
        return line

    def _used(self) -> float:
        """Return the CPU seconds of the process and of those it has started and awaited: a busy machine is no reason to give up."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return time.monotonic()

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


class Scan:
    """Tries the discretizations of a system for one problem, until its CPU seconds are used up."""

    def __init__(self, client: Client, problem: str, levels: tuple[float, ...], budget: float) -> None:
        self.client, self.problem, self.levels, self.budget = client, problem, levels, budget
        self.found: dict[tuple[int, int], dict] = {}
        self.failures = 0
        try:
            self.families = client.ask(do="families", problem=problem)["families"]
        except Failed as failure:
            self._complain("", failure)
            self.families = []

    def points(self) -> list[dict]:
        """Return what was found: every second discretization of each family, then what lies next to the cheapest."""
        self._coarse()
        for _ in range(2):
            self._fine()
        return list(self.found.values())

    def _coarse(self) -> None:
        """Go through the families, the cheapest first: what the budget cuts off is what costs most.

        A family is left when it is dearer than what reaches every accuracy, does not get better any more, or is behind a coarser
        mesh of higher order by far: that one converges faster.
        """
        enough = float("inf")
        # The first of a family costs about as much as the first of the family before: later ones start no sooner.
        queue = [(0.0, 0, 0)] if self.families else []
        history: dict[int, list[float]] = {}
        while queue:
            last, number, place = heapq.heappop(queue)
            point = None if last > enough else self._try(number, place)
            if place < 2 and number + 1 < len(self.families):
                heapq.heappush(queue, (point["seconds"] if point else last, number + 1, (number + 1) % 2))
            if point is None:
                continue
            if point["error"] <= min(self.levels):
                enough = min(enough, 1.2 * point["seconds"])
                continue
            errors = history.setdefault(number, [])
            errors.append(point["error"])
            stuck = len(errors) > 3 and min(errors) < 1e-3 and min(errors[-3:]) > 0.8 * min(errors[:-3])
            left = stuck or point["seconds"] > LONGEST or self._beaten(point)
            if place + 2 < len(self.families[number]) and not left:
                heapq.heappush(queue, (point["seconds"], number, place + 2))

    def _beaten(self, point: dict) -> bool:
        size = _cells(point["config"])
        return any(
            _cells(other["config"]) < size and other["error"] < 0.03 * point["error"] and other["seconds"] < 0.8 * point["seconds"]
            for other in self.found.values()
        )

    def _fine(self) -> None:
        for level in self.levels:
            good = sorted((point["seconds"], key) for key, point in self.found.items() if point["error"] <= level)
            for _, (number, place) in good[:4]:
                for near in (place - 1, place + 1):
                    if 0 <= near < len(self.families[number]) and (number, near) not in self.found:
                        self._try(number, near)

    def _try(self, number: int, place: int) -> dict | None:
        if self.budget <= 0 or self.failures >= 20:
            return None
        config = self.families[number][place]
        try:
            answer = self.client.ask(do="scan", problem=self.problem, config=config, limit=120.0)
        except Failed as failure:
            self.failures += 1
            self._complain(config, failure)
            return None
        self.budget -= answer["spent"] - answer["compiling"]
        if not math.isfinite(answer["error"]):
            return None
        point = {"config": config, "error": answer["error"], "seconds": answer["seconds"]}
        self.found[number, place] = point
        return point

    def _complain(self, config: object, failure: Failed) -> None:
        say(f"  {self.problem}: {SYSTEMS[self.client.system][0]} {config}: {failure}")


def _cells(config: dict) -> int:
    """Return the number of cells per side; meshes that are graded, or have rings, count as the coarsest."""
    if "layers" in config or "factor" in config or config.get("corners") == "auto":
        return 0
    return config.get("cells") or config.get("subdomains", [0])[0] or config.get("parts") or 2 ** config["levels"]


def scan(client: Client, problem: str, levels: tuple[float, ...], budget: float) -> list[dict]:
    """Try the discretizations of a system for some CPU seconds."""
    return Scan(client, problem, levels, budget).points()


def candidates(points: list[dict], levels: tuple[float, ...]) -> list[dict]:
    """Return the discretizations that may be the cheapest for one of the accuracies."""
    chosen: dict[int, dict] = {}
    for level in levels:
        good = sorted((point for point in points if point["error"] <= level), key=lambda point: point["seconds"])
        for point in good[:3]:
            if point["seconds"] <= 1.3 * good[0]["seconds"]:
                chosen[id(point)] = point
    return sorted(chosen.values(), key=lambda point: point["seconds"])


def measure(
    environment: Environment,
    problems: list[str],
    levels: tuple[float, ...] = LEVELS,
    rounds: int = 5,
    budget: float = 25.0,
    other_budget: float = 12.0,
    jobs: int = 2,
) -> dict:
    """Return every discretization that was tried, by problem and system; `rounds` holds the CPU seconds that count."""
    clients = {}
    versions = {}
    for core, system in enumerate(list(environment.interpreters)):
        client = Client(system, environment, core)
        try:
            client.log.write_text("")
            versions[system] = client.ask(do="version")["version"]
            clients[system] = client
        except Failed as failure:
            client.end()
            environment.skip(system, str(failure))
    results: dict[str, dict[str, list[dict]]] = {}
    try:
        for problem in problems:
            start = time.monotonic()
            with ThreadPoolExecutor(max(1, min(jobs, os.cpu_count() or 1))) as pool:
                allowed = {system: budget if system in MAIN else other_budget for system in clients}
                asked = {system: pool.submit(scan, clients[system], problem, levels, allowed[system]) for system in clients}
                found = {system: future.result() for system, future in asked.items()}
            tried = time.monotonic()
            repeat(clients, problem, {system: candidates(points, levels) for system, points in found.items()}, rounds)
            results[problem] = found
            count = sum(len(points) for points in found.values())
            say(f"{problem}: {count} discretizations in {tried - start:.0f} s, rounds in {time.monotonic() - tried:.0f} s")
            for system, points in found.items():
                say(f"  {SYSTEMS[system][0]:<22} {row(points, levels)}")
    finally:
        for client in clients.values():
            client.end()
    return {"versions": versions, "levels": list(levels), "problems": results}


def repeat(clients: dict[str, Client], problem: str, chosen: dict[str, list[dict]], rounds: int) -> None:
    """Time the candidates of all systems in turns."""
    for number in range(rounds):
        for turn in itertools.zip_longest(*([(system, point) for point in points] for system, points in chosen.items())):
            for system, point in filter(None, turn):
                seldom = system not in MAIN or point["seconds"] > 0.3
                if number >= 3 and seldom or "failure" in point:
                    continue
                try:
                    answer = clients[system].ask(do="time", problem=problem, config=point["config"], atleast=0.05)
                except Failed as failure:
                    point["failure"] = str(failure)
                    say(f"  {problem}: {SYSTEMS[system][0]} {point['config']}: {failure}")
                    continue
                point.setdefault("rounds", []).append(statistics.median(answer["seconds"]))


def cost(point: dict) -> float:
    """Return the CPU seconds of a discretization: the median of its rounds."""
    return statistics.median(point["rounds"])


def best(points: list[dict], level: float) -> dict | None:
    """Return the cheapest discretization that reaches an accuracy."""
    good = [point for point in points if point["error"] <= level and point.get("rounds")]
    return min(good, key=cost, default=None)


def row(points: list[dict], levels) -> str:
    """Return the costs for all accuracies in a line."""
    found = [best(points, level) for level in levels]
    return "  ".join(f"{level:.0e}: " + (f"{1e3 * cost(point):8.2f} ms" if point else "       -   ") for level, point in zip(levels, found))


def large(environment: Environment, waves: int, rounds: int = 3) -> dict:
    """Compare one large problem, a process for every solve: CPU seconds and memory.

    The discretization of ddelm is given; NGSolve's is the cheapest that has at most ddelm's error.
    """
    problem = f"scale{waves}"
    own = {"subdomains": [waves, waves], "points": 12}
    runs: dict[str, list[dict]] = {"ddelm": [once(environment, "ddelm", problem, own)]}
    error = runs["ddelm"][0]["error"]
    say(f"{problem}: ddelm {runs['ddelm'][0]}")
    tried = []
    kinds = [(waves, range(5, 13), {}), (waves, range(6, 12), {"triangles": True}), (waves // 2, range(9, 19), {}), (2 * waves, range(4, 7), {})]
    for cells, orders, kind in kinds:
        for order in orders:
            config = {"cells": cells, "order": order, "bonus": 0, **kind}
            run = {"config": config, **once(environment, "ngsolve", problem, config)}
            tried.append(run)
            cheapest = min((other["seconds"] for other in tried if other["error"] <= error), default=float("inf"))
            if run["error"] <= error or run["seconds"] > cheapest:
                break
    good = [run for run in tried if run["error"] <= error]
    result = {"waves": waves, "tried": tried, "ddelm": {"config": own, "error": error, "runs": runs["ddelm"]}}
    if good:
        peer = min(good, key=lambda run: run["seconds"])
        runs["ngsolve"] = [peer]
        result["ngsolve"] = {"config": peer["config"], "error": peer["error"], "runs": runs["ngsolve"]}
        for _ in range(rounds - 1):
            for system, config in (("ddelm", own), ("ngsolve", peer["config"])):
                runs[system].append(once(environment, system, problem, config))
    for system in runs:
        seconds, memory = scale_cost(result[system])
        say(f"{problem}: {system} {result[system]['config']} error {result[system]['error']:.1e}, {seconds:.2f} s, {memory:.2f} GB")
    return result


def scale_cost(entry: dict) -> tuple[float, float]:
    """Return the median of the CPU seconds, and of the largest memory in GB."""
    seconds = statistics.median(run["seconds"] for run in entry["runs"])
    return seconds, statistics.median(run["memory"] for run in entry["runs"]) / 1e9


def once(environment: Environment, system: str, problem: str, config: dict) -> dict:
    """Solve once in a process of its own."""
    small = {"subdomains": [2, 2], "points": 8} if system == "ddelm" else {"cells": 2, "order": 4}
    client = Client(system, environment, 0)
    try:
        return client.ask(do="once", problem=problem, config=config, small=["scale2", small], limit=600.0)
    finally:
        client.end()
