"""A disk

A membrane over a round frame, pushed up by a constant pressure: u = (1 - r^2)/4. Subdomains follow the circle itself, not a
polygon inside of it, so there is no error of the geometry.

Figure: 0.25 within 1e-12.
"""

import ddelm

disk = ddelm.Domain.circle(center=(0, 0), radius=1)
u = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0, domain=disk))
u.plot(contours=True, subdomains=True)
print(u(0, 0))
