"""What Python adds to a small solve: 4 x 4 subdomains, 16 points, a constant coefficient.

Compares the median time of `ddelm.solve`, from the call to the return, with the library's own time in the same runs.
The goal is at most 1.5 times the library's time plus 5 ms.
"""

import statistics
import time

import ddelm

problem = ddelm.Problem(source="(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", dirichlet="sin(2*pi*x)*exp(y)")
walls, own = [], []
for _ in range(51):
    start = time.perf_counter()
    u = ddelm.solve(problem, subdomains=(4, 4), points=16)
    walls.append(time.perf_counter() - start)
    own.append(u.report.seconds.total)

wall, library = statistics.median(walls), statistics.median(own)
goal = 1.5 * library + 5e-3
print(f"from Python {1e3 * wall:.2f} ms, the library {1e3 * library:.2f} ms, goal {1e3 * goal:.2f} ms")
raise SystemExit(wall > goal)
