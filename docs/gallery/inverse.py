"""An inverse problem with 25 unknowns

The conductivity of a plate is unknown: 25 values on a grid, with a spline through them. The temperature is measured at 81 points.
Gauss and Newton's method finds the conductivity; every row of its matrix is one transposed solve with factors that are there already.

Figure: 0 within 1e-8.
"""

import matplotlib.pyplot as plt
import numpy as np

import ddelm

knots = np.linspace(0, 1, 5)
truth = 1 + 0.4 * np.sin(3 * knots)[:, None] * np.cos(2 * knots)
x, y = np.meshgrid(np.linspace(0.06, 0.94, 9), np.linspace(0.06, 0.94, 9))
problem = ddelm.Problem(source=1.0, dirichlet="2*x + y")
layer = ddelm.Layer(problem, x, y, grid=(knots, knots), subdomains=(3, 3), points=10)
measured = layer(diffusion=truth)

a = np.ones((5, 5))
errors = []
for step in range(7):
    u, pull = layer.vjp(diffusion=a)
    rows = [pull(row.reshape(x.shape))["diffusion"].ravel() for row in np.eye(u.size)]
    a = a - np.linalg.lstsq(np.array(rows), (u - measured).ravel(), rcond=None)[0].reshape(a.shape)
    errors.append(np.abs(a - truth).max())

plt.semilogy(range(1, len(errors) + 1), errors, "o-")
plt.xlabel("step")
plt.ylabel("error of the conductivity")
print(errors[-1])
