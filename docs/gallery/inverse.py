"""An inverse problem with 25 unknowns

The conductivity of a plate is unknown: 25 values on a grid, with a spline through them. The temperature is measured at 81 points.
Levenberg and Marquardt's method finds the logarithms of the values; every row of its matrix is one transposed solve with factors that
are there already.

Figure: 0 within 1e-9.
"""

import matplotlib.pyplot as plt
import numpy as np

import ddelm

knots = np.linspace(0, 1, 5)
truth = 1 + 0.4 * np.sin(3 * knots)[:, None] * np.cos(2 * knots)
x, y = np.meshgrid(np.linspace(0.06, 0.94, 9), np.linspace(0.06, 0.94, 9))
problem = ddelm.Problem(source=20.0, dirichlet="5*(x + y)")
layer = ddelm.Layer(problem, x, y, grid=(knots, knots), subdomains=(3, 3), points=10)
measured = layer(diffusion=truth)

a = np.ones((5, 5))
errors = []
for step in range(9):
    u, pull = layer.vjp(diffusion=a)
    rows = [(pull(row.reshape(x.shape))["diffusion"] * a).ravel() for row in np.eye(u.size)]
    matrix, damping = np.array(rows), 1e-2 * 0.03**step
    change = np.linalg.solve(matrix.T @ matrix + damping * np.eye(a.size), matrix.T @ (u - measured).ravel())
    a = a * np.exp(-change.reshape(a.shape))
    errors.append(np.abs(a - truth).max())

plt.semilogy(range(1, len(errors) + 1), errors, "o-")
plt.xlabel("step")
plt.ylabel("error of the conductivity")
print(errors[-1])
