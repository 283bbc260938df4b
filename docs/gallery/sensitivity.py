"""Derivative with respect to a parameter

Differentiate the equation: where -Laplacian u + k u = 1, the derivative v of u by k solves -Laplacian v + k v = -u, with the same
operator. The difference quotient agrees.

Figure: 0 within 1e-8.
"""

import ddelm

k, h = 5.0, 1e-4


def solver(k):
    return ddelm.Solver(ddelm.Problem(reaction=k, dirichlet=0.0))


u = solver(k).solve(source=1.0)
v = solver(k).solve(source=lambda x, y: -u(x, y))
v.plot()
quotient = (solver(k + h).solve(source=1.0)(0.5, 0.5) - solver(k - h).solve(source=1.0)(0.5, 0.5)) / (2 * h)
print(v(0.5, 0.5) - quotient)
