"""The heat equation by implicit time steps: every step is a right-hand side of one factorization.

u_t = Laplacian u, u = 0 on the boundary, u = sin(pi x) sin(pi y) at t = 0. The two-step backward differentiation formula:
(3/(2 dt) - Laplacian) u_new = (4 u - u_old) / (2 dt).
"""

import numpy as np

import ddelm

steps, end = 20, 0.1
dt = end / steps
solver = ddelm.Solver(ddelm.Problem(reaction=3 / (2 * dt), dirichlet=0.0), subdomains=(2, 2), points=14)


def exact(t):
    return lambda x, y: np.exp(-2 * np.pi**2 * t) * np.sin(np.pi * x) * np.sin(np.pi * y)


old, u = exact(-dt), exact(0.0)
for _ in range(steps):
    old, u = u, solver.solve(source=lambda x, y: (4 * u(x, y) - old(x, y)) / (2 * dt))

found, expected = u(0.5, 0.5), exact(end)(0.5, 0.5)
print(f"u(1/2, 1/2) at t = {end}: {found:.6f}, exact {expected:.6f}")
assert abs(found - expected) < 1e-3
