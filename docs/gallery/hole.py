"""A hole

A potential flow from left to right around a pillar. Nothing flows through the pillar, and far away the flow is even; here the
outer boundary has the values of the known solution, x + x r^2/(x^2 + y^2). On the pillar, at (0.4, 0), that is 0.8.

Figure: 0.8 within 1e-9.
"""

import ddelm

pillar = ddelm.Domain.circle((0, 0), 0.4)
channel = ddelm.Domain.rectangle((-2, 2), (-1, 1), holes={"pillar": pillar})
flow = "x + 0.16*x/(x^2 + y^2)"
problem = ddelm.Problem(dirichlet=flow, boundary={"pillar": ddelm.Neumann(0)}, domain=channel)
u = ddelm.solve(problem)
u.plot("flux", contours=True)
print(u(0.4, 0))
