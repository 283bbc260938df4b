"""An inverse problem with 25 unknowns

The conductivity of a plate is unknown: 25 values on a grid, with a spline through them. The temperature is measured at 81 points, the
dots of the picture. `layer.vjp` gives the temperatures, and a function that takes weights of them back to derivatives by the
conductivity. Each call of it is one transposed solve with factors that are there already. SciPy does the rest.

Figure: 0 within 1e-9.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import ddelm

knots, at = np.linspace(0, 1, 5), np.linspace(0.06, 0.94, 9)
truth = 1 + 0.4 * np.outer(np.sin(3 * knots), np.cos(2 * knots))
problem = ddelm.Problem(source=20.0, dirichlet="5*(x + y)")
layer = ddelm.Layer(problem, *np.meshgrid(at, at), grid=(knots, knots), subdomains=(3, 3), points=10)
measured = layer(diffusion=truth)


def slopes(a):
    _, pull = layer.vjp(diffusion=a.reshape(5, 5))
    return [pull(weight)["diffusion"].ravel() for weight in np.eye(81).reshape(81, 9, 9)]


found = least_squares(lambda a: (layer(diffusion=a.reshape(5, 5)) - measured).ravel(), np.ones(25), slopes, xtol=1e-15, ftol=1e-15, gtol=1e-15).x

plt.figure(figsize=(5.4, 4.4), layout="constrained")
plt.pcolormesh(knots, knots, found.reshape(5, 5).T, shading="gouraud")
plt.colorbar(label="conductivity")
plt.plot(*np.meshgrid(at, at), ".k", markersize=3)
plt.axis("square")
print(np.abs(found.reshape(5, 5) - truth).max())
