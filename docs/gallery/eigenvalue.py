"""The lowest tone of a membrane

Inverse iteration: solve, divide by the size, again. The size tends to the reciprocal of the smallest eigenvalue, pi^2 (1 + 1/4) on
a rectangle of 1 by 2.

Figure: 12.337005501 within 1e-7.
"""

import ddelm

solver = ddelm.Solver(ddelm.Problem(dirichlet=0.0, domain=((0, 1), (0, 2))), subdomains=(2, 4), points=14)
u, size = ddelm.Formula("x*(1 - x)*y*(2 - y)"), 1.0
for step in range(24):
    u = solver.solve(source=lambda x, y, v=u, s=size: v(x, y) / s)
    size = u(0.5, 1.0)
u.plot(contours=True)
print(1 / size)
