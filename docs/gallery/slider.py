"""Sliders

In a notebook `ddelm.explore` shows a slider for each argument of a function that makes problems, and solves again when one moves.
The picture is that of the first position, kappa = 5.5.

Figure: -0.167081 within 1e-5.
"""

import ddelm


def problem(kappa):
    return ddelm.Problem(reaction=-(kappa**2), source=1.0, dirichlet=0.0)


ddelm.explore(problem, kappa=(1.0, 10.0))
u = ddelm.solve(problem(5.5))
u.plot()
print(u(0.5, 0.5))
