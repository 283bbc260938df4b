"""Sliders

In a notebook `ddelm.explore` shows a slider for each parameter that is given a range, and solves again when one moves. It takes a
problem with parameters, or a function that makes problems. The picture is that of the first position, kappa = 5.5.

Figure: -0.167081 within 1e-5.
"""

import ddelm

problem = ddelm.Problem(reaction="-kappa^2", source=1.0, dirichlet=0.0, parameters={"kappa": 5.5})
ddelm.explore(problem, kappa=(1.0, 10.0))
u = ddelm.solve(problem)
u.plot()
print(u(0.5, 0.5))
