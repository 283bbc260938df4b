"""A periodic cell

Left and right are the same side, and so are bottom and top: one cell of a pattern without end. Then u is known up to a constant, and
`mean` fixes it.

Figure: 0.012665147955 within 1e-11.
"""

import ddelm

cell = ddelm.Domain.rectangle((0, 1), (0, 1), periodic=["x", "y"])
u = ddelm.solve(ddelm.Problem(source="sin(2*pi*x)*cos(2*pi*y)", mean=0.0, domain=cell))
u.plot(contours=True)
print(u(0.25, 0))
