"""A thousand coefficients

Monte Carlo: the diffusion of a wall is uncertain, and a thousand samples tell how much that matters. `ddelm.sweep` solves them on all
cores. For a constant diffusion k the answer is the torsion function divided by k; k is between 1 and 2, uniformly, and the mean of
1/k is log 2.

Figure: 0.69 within 0.02.
"""

import matplotlib.pyplot as plt
import numpy as np

import ddelm

problem = ddelm.Problem(diffusion="k", source=1.0, dirichlet=0.0, parameters={"k": 1.0})
samples = np.random.default_rng(1).uniform(1, 2, 1000)
found = ddelm.sweep(problem, k=samples, grid=3, options={"subdomains": (2, 2), "points": 8})
middle = found.u[:, 1, 1]
plt.hist(middle, bins=40)
plt.xlabel("u in the middle")
print(np.mean(middle) / 0.0736713532814)
