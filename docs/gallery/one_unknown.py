"""An inverse problem with one unknown

One measurement, one unknown: which reaction k gives this value in the middle? A solve takes some milliseconds, so a root finder of SciPy may
ask for as many as it likes.

Figure: 7.5 within 1e-8.
"""

from scipy.optimize import brentq

import ddelm


def solution(k):
    return ddelm.solve(ddelm.Problem(reaction=k, source=1.0, dirichlet=0.0), points=12)


measured = solution(7.5)(0.5, 0.5)
k = brentq(lambda k: solution(k)(0.5, 0.5) - measured, 0, 100, xtol=1e-12)
solution(k).plot(contours=True)
print(k)
