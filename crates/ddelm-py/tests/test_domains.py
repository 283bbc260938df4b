"""Domains other than rectangles: the words of problem files, conditions and materials by name, pictures, files, modules."""

import pathlib
import pickle

import numpy as np
import pytest

import ddelm

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
WAVE = "sin(3*x)*exp(y)"


@pytest.fixture(scope="module")
def ring():
    return ddelm.Domain.circle((0, 0), 1, holes={"axle": ddelm.Domain.circle((0, 0), 0.5)})


@pytest.fixture(scope="module")
def torsion(ring):
    exact = "(1 - x^2 - y^2)/4 - 0.1875*log(x^2 + y^2)/(2*log(0.5))"
    return ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0, domain=ring, exact=exact))


def solve(domain, **options):
    problem = ddelm.Problem(source=f"8*{WAVE}", dirichlet=WAVE, domain=domain, exact=WAVE)
    return ddelm.solve(problem, **options)


@pytest.mark.parametrize(
    "domain",
    [
        ddelm.Domain.rectangle((0, 2), (0, 1), holes=[{"circle": {"center": (0.6, 0.5), "radius": 0.2}}]),
        ddelm.Domain.polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], names=["floor"] + 5 * ["wall"]),
        ddelm.Domain.ellipse((0, 0), (1.5, 1), 30),
        ddelm.Domain.outline(
            [
                {"line": [(0, 0), (2, 0)], "name": "inlet"},
                {"arc": {"center": (2, 1), "radius": 1, "from": -90, "to": 90}},
                {"spline": [(2, 2), (1, 2.3), (0, 2)]},
                {"curve": ["0.1*sin(pi*t)", "2 - t"], "t": (0, 2)},
            ]
        ),
        ddelm.Domain.mesh(EXAMPLES / "quarter.msh"),
    ],
    ids=["rectangle with a hole", "polygon", "ellipse", "outline", "mesh"],
)
def test_every_kind_of_domain_is_solved(domain):
    u = solve(domain)
    assert u.errors.l2 < 1e-10
    assert pickle.loads(pickle.dumps(domain)).parts == domain.parts
    assert repr(domain).startswith("Domain(")


def test_points_in_a_hole_are_outside(torsion, tmp_path):
    assert torsion.errors.l2 < 1e-10
    with pytest.raises(ValueError, match="outside the domain"):
        torsion(0.0, 0.0)
    x, y = np.meshgrid(np.linspace(-1, 1, 21), np.linspace(-1, 1, 21))
    r = np.hypot(x, y)
    values = torsion(x, y, outside="nan")
    inside = (r > 0.51) & (r < 0.99)
    assert np.isfinite(values[inside]).all() and np.isnan(values[(r < 0.49) | (r > 1.01)]).all()
    torsion.save(tmp_path / "u.safetensors")
    loaded = ddelm.load(tmp_path / "u.safetensors")
    assert np.array_equal(loaded(x, y, outside="nan"), values, equal_nan=True)
    torsion.to_vtk(tmp_path / "u.vtu", resolution=4)
    assert (tmp_path / "u.vtu").read_bytes().startswith(b"<?xml")


def test_regions_are_materials():
    core = ddelm.Domain.circle((0, 0), 0.5)
    square = ddelm.Domain.rectangle((-1, 1), (-1, 1), regions={"core": core})
    exact = "if(x^2 + y^2 < 0.25, 2*x/11, x*(1 - 9/11*0.25/(x^2 + y^2)))"
    problem = ddelm.Problem(dirichlet=exact, domain=square, regions={"core": {"diffusion": 10.0}}, exact=exact)
    assert square.regions == ["core"]
    assert ddelm.solve(problem).errors.l2 < 1e-9
    with pytest.raises(ValueError, match="no region 'steel'"):
        ddelm.Problem(dirichlet=0.0, domain=square, regions={"steel": {"diffusion": 2.0}})
    with pytest.raises(ValueError, match="a region has diffusion"):
        ddelm.Problem(dirichlet=0.0, domain=square, regions={"core": {"difusion": 2.0}})


def test_conditions_are_given_by_the_names_of_parts(ring):
    flux = "-(3*cos(3*x)*exp(y)*x + sin(3*x)*exp(y)*y)/0.5"
    problem = ddelm.Problem(
        source=f"8*{WAVE}", dirichlet=WAVE, boundary={"axle": ddelm.Neumann(flux)}, domain=ring, exact=WAVE
    )
    assert problem.domain is ring
    solver = ddelm.Solver(problem, points=14)
    assert solver.solve().errors.l2 < 1e-8
    doubled = solver.solve(source=f"16*{WAVE}", dirichlet=f"2*{WAVE}", boundary={"axle": ddelm.Neumann(f"2*({flux})")})
    assert abs(doubled(0.7, 0.1) - 2 * np.sin(2.1) * np.exp(0.1)) < 1e-8
    with pytest.raises(ValueError, match="the sides are boundary, axle"):
        ddelm.Problem(dirichlet=0.0, boundary={"hole": ddelm.Neumann()}, domain=ring)
    with pytest.raises(ValueError, match="no condition on the boundary side"):
        ddelm.Problem(boundary={"axle": ddelm.Neumann()}, domain=ring)


def test_periodic_sides_have_no_condition():
    strip = ddelm.Domain.rectangle((0, 1), (0, 1), periodic=["x"])
    assert strip.parts == ["bottom", "top"]
    exact = "sin(2*pi*x)*sinh(2*pi*y)/sinh(2*pi)"
    problem = ddelm.Problem(dirichlet=exact, domain=strip, exact=exact)
    assert ddelm.solve(problem, subdomains=(3, 3)).errors.l2 < 1e-10


def test_mistakes_name_the_piece():
    with pytest.raises(ValueError, match="domain.polygon"):
        ddelm.Domain.polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    with pytest.raises(ValueError, match="domain.circle"):
        ddelm.Domain.circle((0, 0), -1)
    with pytest.raises(TypeError, match="expected a ddelm.Domain or a dictionary"):
        ddelm.Domain.circle(holes=[3])
    with pytest.raises(ValueError, match="one loop"):
        ddelm.Domain.circle(holes=[ddelm.Domain.circle(radius=0.5, holes=[ddelm.Domain.circle(radius=0.2)])])
    with pytest.raises(ValueError, match="expected a ddelm.Domain, or two intervals"):
        ddelm.Problem(dirichlet=0.0, domain=[0, 1])


def test_domains_are_drawn(ring):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = ring.plot(size=0.4)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["boundary", "axle"] and ax.get_title().endswith("subdomains")


def test_modules_know_curved_subdomains(torsion):
    torch = pytest.importorskip("torch")
    module = torsion.to_torch()
    angle = np.linspace(0, 6, 40)
    points = 0.8 * np.cos(angle), 0.7 * np.sin(angle)
    x, y = (torch.tensor(v, requires_grad=True) for v in points)
    u = module(x, y)
    assert np.abs(u.detach().numpy() - torsion(*points)).max() < 1e-12
    ux, uy = torch.autograd.grad(u.sum(), (x, y), create_graph=True)
    assert np.abs(np.stack([ux.detach(), uy.detach()]) - torsion.gradient(*points)).max() < 1e-6
    uxx = torch.autograd.grad(ux.sum(), x, retain_graph=True)[0]
    uyy = torch.autograd.grad(uy.sum(), y)[0]
    assert (uxx + uyy + 1).abs().max() < 1e-4
    assert torch.isnan(module(torch.zeros(1), torch.zeros(1))).all()
    module(x, y).sum().backward()


def test_data_on_a_grid_is_a_coefficient():
    x, y = np.linspace(0, 1, 9), np.linspace(0, 1, 8)
    k = ddelm.Grid(x, y, 1 + x[:, None] ** 2 + 0 * y)
    assert abs(k(0.3, 0.4) - 1.09) < 1e-12 and abs(k.gradient(0.3, 0.4)[0] - 0.6) < 1e-12
    problem = ddelm.Problem(diffusion=k, source="-(1 + 3*x^2)*2", dirichlet="x^2", exact="x^2")
    # -d/dx((1 + x^2) 2 x) = -2 - 6 x^2
    assert ddelm.solve(problem, subdomains=(2, 2)).errors.l2 < 1e-10
    assert abs(pickle.loads(pickle.dumps(k))(0.3, 0.4) - 1.09) < 1e-12
    with pytest.raises(ValueError, match="shape"):
        ddelm.Grid(x, y, np.zeros((8, 9)))
    with pytest.raises(ValueError, match="finite"):
        ddelm.Grid(x, y, np.full((9, 8), np.nan))


def test_data_arrays_are_grids():
    xarray = pytest.importorskip("xarray")
    x, y = np.linspace(0, 1, 9), np.linspace(0, 1, 8)
    data = xarray.DataArray(1 + y[:, None] + 0 * x, coords={"y": y, "x": x}, dims=("y", "x"))
    problem = ddelm.Problem(diffusion=data, source=-1.0, dirichlet="y", exact="y")
    assert ddelm.solve(problem, subdomains=(2, 2)).errors.l2 < 1e-10
    with pytest.raises(ValueError, match="rename them"):
        ddelm.Problem(diffusion=data.rename(x="lon"), dirichlet=0.0)
