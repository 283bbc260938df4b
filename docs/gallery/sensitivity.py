"""Derivatives with respect to parameters

How does the heat that leaves a plate through its right side change with the conductivity, the reaction and the boundary value? One
transposed solve gives all three derivatives, and they agree with differences of the whole solve.

Figure: 0 within 1e-9.
"""

import ddelm

values = {"kappa": 2.0, "c": 3.0, "g": 0.5}
problem = ddelm.Problem(diffusion="1 + kappa*x*y", reaction="c", source=1.0, dirichlet="g*x", parameters=values)
heat = ddelm.Functional("flux(right)")


def number(**changed):
    return heat(ddelm.solve(problem.replace(parameters={**values, **changed}), points=12))


u = ddelm.solve(problem, points=12)
u.plot()
gradient = heat.gradient(u).parameters


def difference(name, h=4e-3):
    """Of sixth order."""
    a, b, c = (number(**{name: values[name] + k * h}) - number(**{name: values[name] - k * h}) for k in (1, 2, 3))
    return (45 * a - 9 * b + c) / (60 * h)


print(max(abs(gradient[name] - difference(name)) for name in values))
