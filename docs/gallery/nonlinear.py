"""A nonlinear equation by Newton's method

-Laplacian u + u^3 = f. Each step is linear, with coefficients made of the last iterate, which is a function like any other.

Figure: 1 within 1e-9.
"""

import numpy as np

import ddelm


def f(x, y):
    s = np.sin(np.pi * x) * np.sin(np.pi * y)
    return 2 * np.pi**2 * s + s**3


u = ddelm.solve(ddelm.Problem(source=f, dirichlet=0.0))
for step in range(5):
    linear = ddelm.Problem(
        reaction=lambda x, y, v=u: 3 * v(x, y) ** 2, source=lambda x, y, v=u: f(x, y) + 2 * v(x, y) ** 3, dirichlet=0.0
    )
    u = ddelm.solve(linear)
u.plot()
print(u(0.5, 0.5))
