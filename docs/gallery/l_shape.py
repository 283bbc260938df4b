"""An L-shape

The corner that points inwards makes the gradient infinite there. Rings of ever smaller subdomains lie around such
corners, and the figure has all its digits. Subdomains are drawn, so that the rings can be seen.

Figure: 0.13105296203 within 1e-9.
"""

import ddelm

corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
problem = ddelm.Problem(source=1.0, dirichlet=0.0, domain=ddelm.Domain.polygon(corners))
u = ddelm.solve(problem)
u.plot(contours=True, subdomains=True)
print(u(0.5, 0.5))
