"""A line across the domain

`slice` draws a field along a line, with the exact solution over it where that is known.

Figure: 1.6487212707 within 1e-9.
"""

import ddelm

exact = "sin(2*pi*x)*exp(y)"
problem = ddelm.Problem(source="(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", dirichlet=exact, exact=exact)
u = ddelm.solve(problem)
u.plot(slice="y=0.5")
print(u(0.25, 0.5))
