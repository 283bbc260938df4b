"""Data on a grid

Measured values on a grid become a source, or a coefficient: `ddelm.Grid` lays a cubic spline through them. An xarray with the coordinates
x and y does the same. Here the values are those of a known source, so that the answer is known, too.

Figure: 1 within 1e-5.
"""

import numpy as np

import ddelm

x = y = np.linspace(0, 1, 65)
values = 2 * np.pi**2 * np.outer(np.sin(np.pi * x), np.sin(np.pi * y))
problem = ddelm.Problem(source=ddelm.Grid(x, y, values), dirichlet=0.0)
u = ddelm.solve(problem, subdomains=(4, 4))
u.plot(contours=True)
print(u(0.5, 0.5))
