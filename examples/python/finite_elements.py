"""Against linear finite elements, on a problem with a corner singularity and without an exact solution."""

import numpy as np

import ddelm

problem = ddelm.Problem(diffusion="1.1 + tanh(sin(7*x)*cos(4*y))", source=1.0, dirichlet=0.0)
u = ddelm.solve(problem, subdomains=(8, 8), points=16, estimate=True)
print(f"networks: estimated error {u.estimate.l2:.1e}, {u.report.seconds.total:.2f} s")

x, y = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
errors = []
for cells in (64, 128, 256):
    v = ddelm.finite_element(problem, cells)
    errors.append(np.abs(u(x, y) - v(x, y)).max() / np.abs(u(x, y)).max())
    print(f"finite elements, {cells} x {cells} cells: largest difference {errors[-1]:.1e}")
assert errors[-1] < errors[0] / 10
