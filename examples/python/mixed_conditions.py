"""Anisotropic diffusion, advection and reaction, with another condition on every side."""

import ddelm

# u = sin(2x) e^y
problem = ddelm.Problem(
    diffusion=[[2.0, 0.5], [0.5, 1.0]],
    advection=lambda x, y: (y, -x),
    reaction=1.0,
    source="(8*sin(2*x) - 2*cos(2*x) + 2*y*cos(2*x) - x*sin(2*x))*exp(y)",
    boundary={
        "left": ddelm.Dirichlet("sin(2*x)*exp(y)"),
        "right": ddelm.Neumann("(4*cos(2*x) + 0.5*sin(2*x))*exp(y)"),
        "bottom": ddelm.Dirichlet("sin(2*x)*exp(y)"),
        "top": ddelm.Robin(3.0, "(cos(2*x) + 4*sin(2*x))*exp(y)"),
    },
    exact="sin(2*x)*exp(y)",
)
u = ddelm.solve(problem, subdomains=(3, 3), points=16)

print(u.report)
assert u.errors.l2 < 1e-11 and u.errors.h1 < 1e-9
