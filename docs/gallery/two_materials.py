"""Two materials

A round core that conducts ten times better than the plate around it. A region has its own coefficients, and subdomains end at its
outline, so that the jump costs no accuracy. In the core the gradient is 2/(1 + 10).

Figure: 0.18181818181818 within 1e-9.
"""

import ddelm

core = ddelm.Domain.circle((0, 0), 0.5)
plate = ddelm.Domain.rectangle((-1, 1), (-1, 1), regions={"core": core})
sides = "x*(1 - 9/11*0.25/(x^2 + y^2))"
u = ddelm.solve(ddelm.Problem(dirichlet=sides, domain=plate, regions={"core": {"diffusion": 10}}))
u.plot("flux", subdomains=True)
print(u.gradient(0.1, 0.2)[0])
