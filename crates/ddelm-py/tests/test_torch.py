"""Solutions as PyTorch modules: with PyTorch if it is there, and with a stand-in made of NumPy."""

import importlib
import sys
import types

import numpy as np
import pytest


def test_modules_have_the_same_values(wave, grid):
    torch = pytest.importorskip("torch")
    module = wave.to_torch()
    x, y = (torch.tensor(v, requires_grad=True) for v in grid)
    u = module(x, y)
    assert isinstance(module, torch.nn.Module) and u.shape == x.shape
    assert np.abs(u.detach().numpy() - wave(*grid)).max() < 1e-9
    ux, uy = torch.autograd.grad(u.sum(), (x, y))
    assert np.abs(np.stack([ux.numpy(), uy.numpy()]) - wave.gradient(*grid)).max() < 1e-7
    assert sum(p.numel() for p in module.parameters()) == 6 * 4 * len(wave.network(0).biases)
    module(x, y).sum().backward()
    assert all(p.grad is not None for p in module.parameters())


class Tensor(np.ndarray):
    """As much of a tensor as the module needs."""

    device = "cpu"
    detach = long = lambda self: self
    to = lambda self, _: self
    floor = lambda self: np.floor(self)
    clamp = lambda self, min: np.maximum(self, min).astype(int)
    nonzero = lambda self: np.argwhere(np.asarray(self)).view(Tensor)

    def index_put(self, at, values):
        new = self.copy()
        new[at] = values
        return new


def stand_in():
    tensor = lambda data, dtype=None, device=None: np.asarray(data).view(Tensor)

    class Module:
        def register_buffer(self, name, value):
            setattr(self, name, value)

        def __call__(self, *arguments):
            return self.forward(*arguments)

    nn = types.SimpleNamespace(Module=Module, Parameter=tensor)
    return types.SimpleNamespace(
        nn=nn, tanh=np.tanh, sin=np.sin, exp=np.exp, float64=float, tensor=tensor, from_numpy=tensor, Tensor=Tensor,
        stack=lambda tensors, dim: np.stack(tensors, axis=dim).view(Tensor), minimum=np.minimum, unique=np.unique,
        zeros_like=np.zeros_like, broadcast_tensors=lambda *t: [v.view(Tensor) for v in np.broadcast_arrays(*t)],
    )  # fmt: skip


@pytest.fixture
def without_module():
    """Import the module afresh in the test, and forget it afterwards."""
    sys.modules.pop("ddelm.torch_module", None)
    yield
    sys.modules.pop("ddelm.torch_module", None)


def test_the_formula_of_the_module(wave, grid, monkeypatch, without_module):
    monkeypatch.setitem(sys.modules, "torch", stand_in())
    module = importlib.import_module("ddelm.torch_module").module(wave)
    assert module.weights.shape == (6, 2, len(wave.network(0).biases))
    assert np.abs(module(*(v.view(Tensor) for v in grid)) - wave(*grid)).max() < 1e-9


def test_without_pytorch_the_error_says_what_to_install(wave, monkeypatch, without_module):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        wave.to_torch()
