"""A nonlinear equation

-Laplacian u + u^3 = f: a function that takes u makes the problem nonlinear, and Newton's method solves it. The derivative by u is
found by a complex step; `ddelm.Function` takes it if you know it.

Figure: 1 within 1e-9.
"""

import numpy as np

import ddelm

s = ddelm.Formula("sin(pi*x)*sin(pi*y)")
u = ddelm.solve(
    ddelm.Problem(source=lambda x, y, u: 2 * np.pi**2 * s(x, y) + s(x, y) ** 3 - u**3, dirichlet=0.0)
)
u.plot()
print(u(0.5, 0.5))
