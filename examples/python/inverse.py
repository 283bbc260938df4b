"""A coefficient with 25 parameters, found from measurements with noise.

The conductivity is a spline through 25 values on a grid; the temperature is known at 81 points, to four digits. Every row of the
matrix of Levenberg and Marquardt's method is one transposed solve with the factors of the solution.
"""

import time

import numpy as np

import ddelm

knots = np.linspace(0, 1, 5)
truth = 1 + 0.4 * np.sin(3 * knots)[:, None] * np.cos(2 * knots)
x, y = np.meshgrid(np.linspace(0.06, 0.94, 9), np.linspace(0.06, 0.94, 9))
problem = ddelm.Problem(source=20.0, dirichlet="5*(x + y)")
layer = ddelm.Layer(problem, x, y, grid=(knots, knots), subdomains=(3, 3), points=10)
measured = layer(diffusion=truth)
noise = 1e-4 * measured.max()
measured = measured + noise * np.random.default_rng(0).normal(size=measured.shape)

start, a = time.perf_counter(), np.ones((5, 5))
for step in range(10):
    u, pull = layer.vjp(diffusion=a)
    misfit = (u - measured).ravel()
    print(f"step {step}: misfit {np.sqrt(np.mean(misfit**2)):.1e}, largest error {np.abs(a - truth).max():.1e}")
    # Whatever fits better than the noise fits the noise.
    if np.sqrt(np.mean(misfit**2)) < 1.2 * noise:
        break
    # Of the logarithms of the values, which keeps them positive.
    matrix = np.array([(pull(row.reshape(x.shape))["diffusion"] * a).ravel() for row in np.eye(u.size)])
    damping = 1e-2 * 0.3**step
    change = np.linalg.solve(matrix.T @ matrix + damping * np.eye(a.size), matrix.T @ misfit)
    a = a * np.exp(-change.reshape(a.shape))
print(f"{time.perf_counter() - start:.1f} s")
assert np.abs(a - truth).max() < 0.12
