"""Save and load

A solution is a small file with the bits of every coefficient. `ddelm eval`, PyTorch and JAX read it, too.

Figure: 0 within 0.
"""

import tempfile

import ddelm

u = ddelm.solve(ddelm.Problem(source="x*y", dirichlet=0.0))
with tempfile.TemporaryDirectory() as folder:
    u.save(f"{folder}/u.safetensors")
    again = ddelm.load(f"{folder}/u.safetensors")
again.plot(contours=True)
print(again(0.3, 0.7) - u(0.3, 0.7))
