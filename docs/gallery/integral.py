"""Integral and flux through a side

Integrals are as accurate as the solution: quadrature on every subdomain. What flows out of the four sides is the integral of the
source, here 1.

Figure: 1 within 1e-6.
"""

import ddelm

u = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(8, 8))
print("integral", u.integrate(), "energy", u.integrate(of="ux^2 + uy^2"), "largest", u.max(), "at", u.argmax())
u.plot("gradient")
print("flux out of all four sides", -sum(u.flux(side) for side in ("left", "right", "bottom", "top")))
