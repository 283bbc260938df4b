"""An inverse problem

One measurement, one unknown: which reaction k gives this value in the middle? Newton's method with the derivative of the page
before needs a handful of steps.

Figure: 7.5 within 1e-8.
"""

import ddelm


def middle(k):
    """u in the middle, and its derivative by k."""
    solver = ddelm.Solver(ddelm.Problem(reaction=k, dirichlet=0.0))
    u = solver.solve(source=1.0)
    v = solver.solve(source=lambda x, y: -u(x, y))
    return u, u(0.5, 0.5), v(0.5, 0.5)


measured = middle(7.5)[1]
k = 1.0
for step in range(6):
    u, value, slope = middle(k)
    k -= (value - measured) / slope
u.plot()
print(k)
