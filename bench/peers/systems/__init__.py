"""The systems, one module each. Each has the same functions:

    version()                   what is measured
    families(problem)           discretizations to try: lists in which accuracy and cost rise; empty if it cannot
    prepare(problem, config)    what is not timed: formulas, meshes
    solve(state)                what is timed: from coefficients and mesh to a solution
    values(solution, x, y)      the solution at points, not timed

and may have `variants(config)`, discretizations whose median error is taken for that of one, and `COMPILES = True` if the first
solve with a new shape compiles something.
"""
