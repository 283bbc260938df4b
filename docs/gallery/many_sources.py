"""A thousand sources

One factorization, a thousand right-hand sides: a source moves along a circle, and the response in the middle is drawn over its
place. By symmetry it is the same for a source and its mirror image.

Figure: 0 within 1e-9.
"""

import matplotlib.pyplot as plt
import numpy as np

import ddelm

solver = ddelm.Solver(ddelm.Problem(dirichlet=0.0), subdomains=(4, 4), points=14)
angles = 2 * np.pi * np.arange(1000) / 1000
source = "exp(-50*((x - 0.5 - 0.3*cos({a}))^2 + (y - 0.5 - 0.3*sin({a}))^2))"
middle = np.array([u(0.5, 0.5) for u in solver.solve_many([{"source": source.format(a=a)} for a in angles])])
axes = plt.figure().add_subplot(xlabel="angle of the source in degrees", ylabel="u in the middle")
axes.plot(np.degrees(angles), middle)
print(abs(middle - np.roll(middle[::-1], 1)).max())
