"""Many loads from one factorization, together and one after the other; the result in files."""

import numpy as np

import ddelm

solver = ddelm.Solver(ddelm.Problem(diffusion="1 + x*y", dirichlet=0.0), subdomains=(4, 4), points=14)

# The response to a bump at different places.
centres = [(0.3, 0.3), (0.5, 0.5), (0.7, 0.4)]
sources = [{"source": lambda x, y, a=a, b=b: np.exp(-50 * ((x - a) ** 2 + (y - b) ** 2))} for a, b in centres]
for (a, b), u in zip(centres, solver.solve_many(sources)):
    print(f"bump at ({a}, {b}): u = {u(a, b):.6f} there")

u.save("bump.safetensors")
u.to_vtk("bump.vtu")
again = ddelm.load("bump.safetensors")
assert again(0.5, 0.5) == u(0.5, 0.5)
