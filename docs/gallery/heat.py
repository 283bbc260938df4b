"""Heat in time

Backward Euler: every step is one solve with the same operator, so the problem is factored once. The source of a step is the
last solution. Ten steps of length 0.01 multiply the first mode by (1 + 0.01 * 2 pi^2)^-10.

Figure: 0.16505784 within 1e-7.
"""

import ddelm

dt = 0.01
solver = ddelm.Solver(ddelm.Problem(reaction=1 / dt, dirichlet=0.0), subdomains=(2, 2), points=12)
u = ddelm.Formula("sin(pi*x)*sin(pi*y)")
for step in range(10):
    u = solver.solve(source=lambda x, y, last=u: last(x, y) / dt)
u.plot()
print(u(0.5, 0.5))
