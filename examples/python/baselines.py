"""The methods of the paper and of its baselines on one problem."""

import ddelm

exact = "sin(2*pi*x)*exp(y)"
problem = ddelm.Problem(source="(4*pi^2 - 1)*sin(2*pi*x)*exp(y)", dirichlet=exact, exact=exact)

runs = {
    "the default": {},
    "the paper's Algorithm 1": {"preset": "paper"},
    "the same, direct": {"preset": "paper", "interface": "direct"},
    "LocELM": {"method": "locelm"},
    "one network": {"method": "elm", "subdomains": (1, 1), "points": 24},
}
for name, options in runs.items():
    u = ddelm.solve(problem, **{"subdomains": (2, 2), "points": 16, **options})
    print(f"{name:<24} L2 error {u.errors.l2:.1e}, {u.report.seconds.total:.3f} s")
    assert u.errors.l2 < 1e-3
