"""A thousand sources

One factorization, a thousand right-hand sides: a source moves along a circle, and the response in the middle is drawn over its
place. By symmetry it is the same for a source and its mirror image.

Figure: 0 within 1e-9.
"""

import matplotlib.pyplot as plt
import numpy as np

import ddelm

solver = ddelm.Solver(ddelm.Problem(dirichlet=0.0), subdomains=(4, 4), points=14)
angles = np.linspace(0, 2 * np.pi, 1001)[:-1]
places = 0.5 + 0.3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
sources = [{"source": f"exp(-50*((x - {x:.15f})^2 + (y - {y:.15f})^2))"} for x, y in places]
middle = np.array([u(0.5, 0.5) for u in solver.solve_many(sources)])
plt.plot(np.degrees(angles), middle)
print(abs(middle - np.roll(middle[::-1], 1)).max())
