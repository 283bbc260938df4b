"""Formulas that use the solution."""

import pytest

import ddelm

WAVE = "sin(3*x + y)*exp(y)"


def test_formulas_may_use_the_solution():
    problem = ddelm.Problem(
        source=f"(9*sin(3*x + y) - 2*cos(3*x + y))*exp(y) + ({WAVE})^3",
        reaction="u^2",
        dirichlet=WAVE,
        exact=WAVE,
    )
    u = ddelm.solve(problem, subdomains=(3, 3), points=14)
    assert u.report.errors.l2 < 1e-9
    assert u.report.nonlinear.factorizations <= 8
    changes = [step.change for step in u.report.nonlinear.steps]
    assert changes[-1] < 1e-9 and changes[0] > changes[-1]


def test_an_initial_guess_chooses_the_solution():
    problem = ddelm.Problem(source="exp(u)", dirichlet=0.0)
    options = dict(subdomains=(2, 2), points=12)
    lower = ddelm.solve(problem, **options)
    upper = ddelm.solve(problem, initial="16*5*x*(1 - x)*y*(1 - y)", **options)
    assert lower(0.5, 0.5) < 0.2 and upper(0.5, 0.5) > 4


def test_no_solution_is_a_status():
    problem = ddelm.Problem(source="20*exp(u)", dirichlet=0.0)
    u = ddelm.solve(problem, subdomains=(2, 2), points=8, max_steps=6)
    assert u.report.status == "not_converged"


def test_what_does_not_know_the_solution():
    with pytest.raises(ValueError, match="which is not known here"):
        ddelm.Problem(source=1.0, dirichlet="u")
    with pytest.raises(ValueError, match="depends on u"):
        ddelm.Solver(ddelm.Problem(source="exp(u)", dirichlet=0.0))
