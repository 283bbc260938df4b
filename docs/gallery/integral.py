"""Integral and flux through a side

A solution is a function: Gauss points in every subdomain integrate it, Gauss points on a side integrate its normal derivative.
What flows out of the four sides is the integral of the source, here 1; the four are alike.

Figure: 1 within 1e-6.
"""

import numpy as np

import ddelm

u = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(8, 8))
nodes, weights = np.polynomial.legendre.leggauss(12)
t = ((np.arange(8)[:, None] + (nodes + 1) / 2) / 8).ravel()
w = np.tile(weights / 16, 8)
print("integral of u", w @ u(*np.meshgrid(t, t)) @ w)
right = w @ u.gradient(1.0, t)[0]
u.plot("gradient")
print("flux out of all four sides", -4 * right)
