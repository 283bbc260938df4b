"""A coefficient that is a function of NumPy arrays; its gradient is found by the package."""

import numpy as np

import ddelm


def diffusion(x, y):
    return 1.1 + np.tanh(np.sin(5 * x + 2 * y))


def exact(x, y):
    return np.sin(2 * np.pi * x) * np.exp(y)


def source(x, y):
    """-div(diffusion grad exact), by hand."""
    slope = 1 - np.tanh(np.sin(5 * x + 2 * y)) ** 2
    slope *= np.cos(5 * x + 2 * y)
    ux, uy = 2 * np.pi * np.cos(2 * np.pi * x) * np.exp(y), exact(x, y)
    return (4 * np.pi**2 - 1) * diffusion(x, y) * exact(x, y) - slope * (5 * ux + 2 * uy)


problem = ddelm.Problem(diffusion=diffusion, source=source, dirichlet=exact, exact=exact)
u = ddelm.solve(problem, subdomains=(6, 6), points=18)

print(u.report)
assert u.errors.l2 < 1e-10

# The same to a tolerance: the package chooses points and subdomains.
u = ddelm.solve(problem, tolerance=1e-8)
for attempt in u.report.attempts:
    print(attempt)
assert u.errors.l2 < 1e-7
