"""Heat in time

Backward differentiation of order four; all steps share one factorization. The first mode fades as exp(-2 pi^2 t). Without an exact
solution the error at the end is estimated, that of the steps and that of the subdomains.

Figure: 0.13891113314280026 within 1e-7.
"""

import ddelm

heat = ddelm.Problem(dirichlet=0.0)
initial, times = "sin(pi*x)*sin(pi*y)", [0.01, 0.03, 0.06]
series = ddelm.evolve(heat, initial=initial, end=0.1, steps=100, times=times, subdomains=(2, 2), points=12)
series.plot()
print(series.report.estimate.l2, series[-1](0.5, 0.5))
