"""The derivative by a parameter

Name a number of the formulas in `parameters`, and ask a functional for its gradient: one transposed solve finds the derivatives by all
parameters. Here u is a fixed function divided by kappa, so that the derivative of its integral, times kappa, is minus the integral.

Figure: -1 within 1e-10.
"""

import ddelm

problem = ddelm.Problem(diffusion="kappa", source=1.0, dirichlet=0.0, parameters={"kappa": 2.0})
u = ddelm.solve(problem)
total = ddelm.Functional("integral(u)")
slope = total.gradient(u).parameters["kappa"]
u.plot(contours=True)
print(slope * 2.0 / total(u))
