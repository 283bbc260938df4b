"""One system in a process of its own, on one thread: reads requests from standard input, a line of JSON each, and answers.

    python worker.py SYSTEM [CORE]
"""

import gc
import importlib
import json
import os
import sys
import time
import traceback
from collections import OrderedDict

#: Prepared discretizations that are kept.
_KEPT = 48


def main() -> None:
    # Whatever a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    name, cores = sys.argv[1], sys.argv[2:]
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(cores[0])})
    worker = None
    for line in sys.stdin:
        start = _spent()
        try:
            if worker is None:
                worker = Worker(name)
            request = json.loads(line)
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            traceback.print_exc()
            answer = {"failure": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        answers.write(json.dumps({**answer, "spent": _spent() - start}) + "\n")


def _spent() -> float:
    """Return the CPU seconds of this process and of the compilers it has called."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Worker:
    """A system with the discretizations that were prepared."""

    def __init__(self, name: str) -> None:
        import problems

        self.problems = problems
        self.system = importlib.import_module(f"systems.{name}")
        self.states: OrderedDict[str, object] = OrderedDict()

    def version(self) -> dict:
        return {"version": self.system.version()}

    def families(self, problem: str) -> dict:
        return {"families": self.system.families(self.problems.named(problem))}

    def scan(self, problem: str, config: dict) -> dict:
        """Return the error of a discretization, and about how long it takes."""
        asked = self.problems.named(problem)
        compiling = 0.0
        if getattr(self.system, "COMPILES", False):
            start = _spent()
            self._solve(problem, config)
            compiling = _spent() - start
        errors, seconds = [], []
        for variant in getattr(self.system, "variants", lambda config: [config])(config):
            state = self._state(problem, variant)
            start = time.process_time()
            solution = self.system.solve(state)
            seconds.append(time.process_time() - start)
            errors.append(self.problems.relative_error(asked, lambda x, y: self.system.values(solution, x, y)))
        if min(seconds) < 0.05:
            seconds += self._timed(problem, config, 0.01, 4)
        return {"error": sorted(errors)[len(errors) // 2], "seconds": min(seconds), "compiling": compiling}

    def time(self, problem: str, config: dict, atleast: float) -> dict:
        """Return CPU seconds of several solves, after one that is not counted."""
        self._solve(problem, config)
        return {"seconds": self._timed(problem, config, atleast, 9)}

    def once(self, problem: str, config: dict, small: list) -> dict:
        """Return CPU seconds and memory of one large solve in a fresh process, after a small one that is not counted."""
        self._solve(*small)
        empty = _memory()
        state = self.system.prepare(self.problems.named(problem), config)
        start = time.process_time()
        solution = self.system.solve(state)
        seconds = time.process_time() - start
        memory = _memory()
        error = self.problems.relative_error(self.problems.named(problem), lambda x, y: self.system.values(solution, x, y))
        return {"seconds": seconds, "memory": memory, "empty": empty, "error": error}

    def _state(self, problem: str, config: dict):
        key = json.dumps([problem, config], sort_keys=True)
        if key not in self.states:
            self.states[key] = self.system.prepare(self.problems.named(problem), config)
        self.states.move_to_end(key)
        while len(self.states) > _KEPT:
            self.states.popitem(last=False)
        return self.states[key]

    def _solve(self, problem: str, config: dict):
        return self.system.solve(self._state(problem, config))

    def _timed(self, problem: str, config: dict, atleast: float, most: int) -> list[float]:
        state = self._state(problem, config)
        found: list[float] = []
        gc.collect()
        gc.disable()
        try:
            while len(found) < most and (not found or sum(found) < atleast):
                start = time.process_time()
                solution = self.system.solve(state)
                found.append(time.process_time() - start)
                del solution
        finally:
            gc.enable()
        return found


def _memory() -> int:
    """Return the largest resident memory of this process in bytes."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    raise OSError("the system does not tell the largest resident memory")


if __name__ == "__main__":
    main()
