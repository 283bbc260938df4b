"""Solutions as PyTorch modules, where PyTorch is installed."""

import sys

import numpy as np
import pytest


def test_modules_have_the_same_values(wave, grid):
    torch = pytest.importorskip("torch")
    module = wave.to_torch()
    x, y = (torch.tensor(v, requires_grad=True) for v in grid)
    u = module(x, y)
    assert isinstance(module, torch.nn.Module) and u.shape == x.shape
    assert np.abs(u.detach().numpy() - wave(*grid)).max() < 1e-13
    ux, uy = torch.autograd.grad(u.sum(), (x, y))
    assert np.abs(np.stack([ux.numpy(), uy.numpy()]) - wave.gradient(*grid)).max() < 1e-7
    network = wave.network(0)
    assert sum(p.numel() for p in module.parameters()) == 6 * (4 * len(network.biases) + len(network.polynomials))
    module(x, y).sum().backward()
    assert all(p.grad is not None for p in module.parameters())


def test_modules_with_large_coefficients_have_the_same_values(corners, grid):
    torch = pytest.importorskip("torch")
    module = corners.to_torch()
    u = module(*(torch.tensor(v) for v in grid)).detach().numpy()
    assert np.abs(u - corners(*grid)).max() < 1e-13
    assert "remainders" in module.state_dict()


def test_modules_of_rings_have_the_same_values_and_gradients(rings):
    torch = pytest.importorskip("torch")
    x, y = (torch.tensor(v, requires_grad=True) for v in ([0.5, 0.01, 1e-5, 0.999], [0.5, 0.02, 1e-6, 0.9999]))
    u = rings.to_torch()(x, y)
    at = (x.detach().numpy(), y.detach().numpy())
    assert np.abs(u.detach().numpy() - rings(*at)).max() < 1e-13
    ux, uy = torch.autograd.grad(u.sum(), (x, y))
    assert np.abs(np.stack([ux.numpy(), uy.numpy()]) - rings.gradient(*at)).max() < 1e-5


def test_modules_take_floats_and_give_nan_outside(wave):
    torch = pytest.importorskip("torch")
    module = wave.to_torch()
    assert module(0.3, 0.4).item() == pytest.approx(wave(0.3, 0.4), abs=1e-13)
    single = module(torch.tensor([0.25, 1.5, float("nan")]), 0.5)
    assert single.dtype == torch.float64 and single.isnan().tolist() == [False, True, True]
    with torch.no_grad():
        points = torch.linspace(0, 1, 101, dtype=torch.float64)
        assert (module(points, points).numpy() == wave(points.numpy(), points.numpy())).all()
    outside = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    module(outside, 0.5)[0].backward()
    assert outside.grad[0] != 0 and outside.grad[1] == 0


@pytest.mark.parametrize("which", ["wave", "rings"])
def test_modules_have_the_bits_of_the_solution_and_second_derivatives(which, request, grid):
    torch = pytest.importorskip("torch")
    solution = request.getfixturevalue(which)
    module = solution.to_torch()
    # Borders of subdomains among them.
    x, y = (torch.tensor(np.concatenate([[0.3, 0.45, 0.8], v.ravel(), [0.0, 0.5, 1.0, 1 / 3]]), requires_grad=True) for v in grid)
    at = (x.detach().numpy(), y.detach().numpy())
    u = module(x, y)
    assert (u.detach().numpy() == solution(*at)).all()
    inside = slice(0, 3)
    ux, uy = torch.autograd.grad(module(x[inside], y[inside]).sum(), (x, y), create_graph=True)
    uxx, uxy = torch.autograd.grad(ux.sum(), (x, y))
    (hxx, hxy), _ = solution.hessian(at[0][inside], at[1][inside])
    size = max(1.0, np.abs([hxx, hxy]).max())
    assert np.abs(uxx.numpy()[inside] - hxx).max() < 1e-5 * size and np.abs(uxy.numpy()[inside] - hxy).max() < 1e-5 * size


def test_values_alone_take_one_call(wave, monkeypatch):
    torch = pytest.importorskip("torch")
    import ddelm.torch_module

    module = wave.to_torch()
    plain, calls = ddelm.torch_module._plain, []
    monkeypatch.setattr(ddelm.torch_module, "_plain", lambda *arguments: calls.append(1) or plain(*arguments))
    x = torch.linspace(0.1, 0.9, 5, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(module(x, 0.4).sum(), x)
    assert not calls and np.abs(slope.numpy() - wave.gradient(x.detach().numpy(), 0.4)[0]).max() < 1e-11
    module(x, 0.4).sum().backward()
    assert len(calls) == 1


def test_slopes_can_be_trained(wave):
    torch = pytest.importorskip("torch")
    module = wave.to_torch()
    x = torch.tensor([0.2, 0.6], dtype=torch.float64, requires_grad=True)

    def bending():
        (ux,) = torch.autograd.grad(module(x, 0.4).sum(), x, create_graph=True)
        (uxx,) = torch.autograd.grad(ux.sum(), x, create_graph=True)
        return (uxx**2).sum()

    bending().backward()
    # In the other order it is the same.
    (weighed,) = torch.autograd.grad(module(x, 0.4).sum(), module.polynomials, create_graph=True)
    (mixed,) = torch.autograd.grad(weighed[:, 1].sum(), x)
    assert mixed.tolist() == pytest.approx([2.0 * module.subdomains[0]] * 2)
    slope = module.polynomials.grad[:, 3].clone()
    step = 1e-6
    changed = []
    for sign in (1, -1):
        with torch.no_grad():
            module.polynomials[:, 3] += sign * step
        changed.append(bending().detach())
        with torch.no_grad():
            module.polynomials[:, 3] -= sign * step
    assert (changed[0] - changed[1]) / (2 * step) == pytest.approx(slope.sum().item(), rel=1e-6)


def test_modules_can_be_trained(wave):
    torch = pytest.importorskip("torch")
    module = wave.to_torch()
    x = torch.linspace(0.1, 0.9, 9, dtype=torch.float64)
    before = module(x, 0.4).detach()
    optimizer = torch.optim.SGD([module.polynomials], lr=1e-3)
    for _ in range(3):
        optimizer.zero_grad()
        ((module(x, 0.4) - before - 0.1) ** 2).sum().backward()
        optimizer.step()
    moved = (module(x, 0.4) - before).detach()
    assert (moved > 1e-6).all() and (moved < 0.1).all()
    # In single precision there are plain sums only.
    assert (module.float()(x, 0.4) - before).abs().max() < 1


@pytest.fixture
def without_module():
    """Import the module afresh in the test, and forget it afterwards."""
    sys.modules.pop("ddelm.torch_module", None)
    yield
    sys.modules.pop("ddelm.torch_module", None)


def test_without_pytorch_the_error_says_what_to_install(wave, monkeypatch, without_module):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        wave.to_torch()
