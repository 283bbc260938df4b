"""A plate, simply supported on two sides and clamped on the others."""

import ddelm

supported, clamped = ddelm.SimplySupported(), ddelm.Clamped()
plate = ddelm.Plate(
    load=1.0,
    rigidity=2.0,
    boundary={"left": supported, "right": supported, "bottom": clamped, "top": clamped},
    domain=((0, 2), (0, 1)),
)
u = ddelm.solve(plate, subdomains=(8, 4), points=14, estimate=True)

print(u.report)
print("largest deflection:", u(1.0, 0.5))
# An endless strip of width 1, clamped on both sides, bends by q / (384 D) in the middle. This one is nearly that.
assert abs(u(1.0, 0.5) * 384 * 2.0 - 1) < 0.05
