"""Nonlinear diffusion

A conductivity that grows with the temperature, 1 + u^2: a function that takes `u` makes the problem nonlinear, and Newton's method solves
it. Here u + u^3/3 solves Poisson's equation, and is 4/3 in the middle: u is 1.

Figure: 1 within 1e-8.
"""

import ddelm

hot = ddelm.Problem(diffusion=lambda x, y, u: 1 + u**2, source="8/3*pi^2*sin(pi*x)*sin(pi*y)", dirichlet=0.0)
u = ddelm.solve(hot)
u.plot(contours=True)
print(u(0.5, 0.5))
