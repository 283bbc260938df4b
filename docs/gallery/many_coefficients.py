"""A thousand coefficients

Monte Carlo: the diffusion of a wall is uncertain, and a thousand samples tell how much that matters. Small problems take a few
milliseconds each. For a constant diffusion k the answer is the torsion function divided by k; k is between 1 and 2, uniformly, and
the mean of 1/k is log 2.

Figure: 0.69 within 0.02.
"""

import matplotlib.pyplot as plt
import numpy as np

import ddelm

problem = ddelm.Problem(source=1.0, dirichlet=0.0)
samples = np.random.default_rng(1).uniform(1, 2, 1000)
middle = [ddelm.solve(problem.replace(diffusion=k), subdomains=(2, 2), points=8)(0.5, 0.5) for k in samples]
plt.hist(middle, bins=40)
plt.xlabel("u in the middle")
print(np.mean(middle) / 0.0736713532814)
