"""The tones of a membrane

The lowest eigenvalues of the Laplacian on a disk are the squares of zeros of Bessel functions, and all but those of round modes come
in pairs. Each comes with its estimated error and its eigenfunction.

Figure: 5.783185962946783 within 1e-9.
"""

import ddelm

drum = ddelm.Problem(dirichlet=0.0, domain=ddelm.Domain.circle((0, 0), 1.0))
pairs = ddelm.eigenvalues(drum, 4, points=14)
for pair in pairs:
    print(pair)
pairs[1].function.plot(contours=True)
print(pairs[0].value)
