"""Ctrl-C."""

import signal
import subprocess
import sys
import textwrap

import pytest

PROGRAMS = {
    "conjugate gradients": """
        ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), preset="paper", subdomains=(24, 24), points=12,
                    interface_tolerance=1e-15, max_iterations=10**9, progress=started)
    """,
    "factorization": """
        ddelm.solve(ddelm.Problem(diffusion="2 + sin(9*x*y)", source=1.0, dirichlet=0.0), subdomains=(40, 40),
                    points=24, progress=started)
    """,
    "a function": """
        def slow(x, y):
            started(None)
            time.sleep(0.01)
            return x
        ddelm.solve(ddelm.Problem(source=slow, dirichlet=0.0), subdomains=(80, 80), points=6)
    """,
}


BEFORE = """
import time, ddelm
def started(event):
    print("started", flush=True)
try:
"""

AFTER = """
except KeyboardInterrupt:
    print("stopped", flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_stops_a_solve(name):
    program = BEFORE + textwrap.indent(textwrap.dedent(PROGRAMS[name]), "    ") + AFTER
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        while process.stdout.readline().strip() != "started":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        # Uninterrupted, each of the programs would take much longer.
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.split()[-1] == "stopped"
