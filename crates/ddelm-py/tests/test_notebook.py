"""What a notebook shows: rich representations, grids, sliders."""

import html.parser

import numpy as np
import pytest

import ddelm


class Text(html.parser.HTMLParser):
    """The text of a piece of HTML, whose elements must be closed."""

    def __init__(self, source):
        super().__init__()
        self.text, self.open, self.images = "", [], []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes)["src"])
        elif tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_problems_show_their_equation():
    problem = ddelm.Problem(diffusion="1 + x*y", source=1.0, dirichlet=0.0)
    shown = Text(problem._repr_html_()).text
    assert "\u2212\u2207\u00b7(a\u2207u) = 1" in shown and "a = 1 + x*y" in shown and "u = 0   on every side" in shown
    plate = Text(ddelm.Plate(load="x")._repr_html_()).text
    assert "\u0394\u00b2u = f" in plate and "\u0394u = 0" in plate


def test_names_of_functions_are_no_html():
    def f(x, y):
        return x

    f.__name__ = "<script>"
    assert "<script>" not in ddelm.Problem(source=f, dirichlet=0.0)._repr_html_()


def test_solutions_show_a_picture_and_figures(wave):
    page = Text(wave._repr_html_())
    assert page.images[0].startswith("data:image/png;base64,iVBOR")
    assert "solved" in page.text and "6 subdomains, 14 points" in page.text and "L2 " in page.text
    assert "6 subdomains" in Text(wave.report._repr_html_()).text
    assert "L2" in Text(wave.estimate._repr_html_()).text and "L2" in Text(wave.errors._repr_html_()).text


def test_solvers_and_checks_show_sizes():
    problem = ddelm.Problem(source=1.0, dirichlet=0.0)
    solver = ddelm.Solver(problem, subdomains=(2, 2), points=8, corners="none")
    assert "2 x 2 subdomains, 8 points" in Text(solver._repr_html_()).text
    assert repr(solver).startswith("<ddelm.Solver: -\u0394u = 1, 2 x 2 subdomains, 8 points")
    check = problem.check(subdomains=(2, 2), points=8, corners="none")
    assert "2 x 2 subdomains, 8 points" in check["sizes"] and "less than" in check["cost"]
    assert str(check).splitlines()[0] == "equation   -\u0394u = 1" and "2 x 2" in Text(check._repr_html_()).text
    assert "32 subdomains (rings about 4 vertices), 8 points" in problem.check(subdomains=(2, 2), points=8)["sizes"]
    with pytest.raises(ValueError, match="equation.source is inf"):
        ddelm.Problem(source=lambda x, y: np.where(x > 0.5, np.inf, 0.0), dirichlet=0.0).check()


def test_problems_can_be_changed():
    problem = ddelm.Problem(source=1.0, dirichlet=0.0, boundary={"left": ddelm.Neumann(2.0)}, domain=((0, 2), (0, 1)))
    other = problem.replace(source="x", dirichlet=3.0)
    assert other.domain == problem.domain and "source='x', dirichlet=3.0" in repr(other)
    assert Text(other._repr_html_()).text.count("u = 3") == 1 and "\u2202u/\u2202n = 2" in Text(other._repr_html_()).text
    with pytest.raises(TypeError, match="'sauce' is not an argument of Problem\nhint: one of diffusion"):
        problem.replace(sauce=1)


def test_grids_are_datasets(wave):
    pytest.importorskip("xarray")
    grid = wave.grid(21)
    assert dict(grid.sizes) == {"y": 21, "x": 21}
    assert float(grid.u.sel(x=0.25, y=0.5)) == wave(0.25, 0.5)
    assert np.abs(grid.ux - wave.gradient(*np.meshgrid(grid.x, grid.y))[0]).max() == 0
    with pytest.raises(ValueError, match="points = 1"):
        wave.grid(1)


def test_pyvista_has_the_fields(wave):
    pytest.importorskip("pyvista")
    grid = wave.to_pyvista(resolution=4)
    assert grid.n_cells == 6 * 16 and {"u", "gradient", "flux"} <= set(grid.array_names)
    assert np.abs(grid["u"] - wave(*grid.points.T[:2])).max() < 1e-12


def test_pyvista_has_colours_next_to_a_corner():
    # The gradient is infinite at the inner corner, and the residual is rounding over the square of the distance.
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    problem = ddelm.Problem(source=1.0, dirichlet=0.0, domain=ddelm.Domain.polygon(corners))
    pytest.importorskip("pyvista")
    mesh = ddelm.solve(problem, points=16).to_pyvista()
    assert np.isfinite(mesh["u"]).all()
    for name, most in (("gradient", 10.0), ("flux", 10.0), ("residual", 1.0)):
        values = mesh[name]
        assert np.isnan(values).mean() < 0.5, name
        assert not np.isinf(values).any() and np.nanmax(np.abs(values)) < most, (name, np.nanmax(np.abs(values)))


def test_sliders_solve_again():
    widgets = pytest.importorskip("ipywidgets")
    pytest.importorskip("matplotlib").use("Agg")
    solved = []

    def problem(k, kind):
        solved.append((k, kind))
        return ddelm.Problem(reaction=k, source=kind, dirichlet=0.0)

    box = ddelm.explore(problem, options={"subdomains": (2, 2), "points": 8}, k=(1, 9), kind=["x", "y"])
    slider, choice, picture = box.children
    assert isinstance(slider, widgets.IntSlider) and solved == [(5, "x")]
    slider.value = 7
    choice.value = "y"
    assert solved[1:] == [(7, "x"), (7, "y")]
    with pytest.raises(TypeError, match="expected a ddelm.Problem or a function that returns one, not `float`"):
        ddelm.explore(1.0, k=(1, 2))
    with pytest.raises(ValueError, match="from the smaller to the larger"):
        ddelm.explore(problem, k=(2, 1), kind=["x"])


def test_sliders_move_parameters_of_a_problem(monkeypatch):
    pytest.importorskip("ipywidgets")
    pytest.importorskip("matplotlib").use("Agg")
    solved = []
    monkeypatch.setattr("ddelm.sliders.solve", lambda problem, **options: solved.append(problem) or ddelm.solve(problem, **options))
    problem = ddelm.Problem(reaction="a*kappa", source=1.0, dirichlet=0.0, parameters={"kappa": 1.0, "a": 2.0})
    box = ddelm.explore(problem, options={"subdomains": (2, 2), "points": 8}, kappa=(1, 9))
    box.children[0].value = 7
    assert [found.parameters for found in solved] == [{"kappa": 5.0, "a": 2.0}, {"kappa": 7.0, "a": 2.0}]
    with pytest.raises(TypeError, match="no parameter 'k'\nhint: its parameters are kappa, a"):
        ddelm.explore(problem, k=(1, 2))
    with pytest.raises(TypeError, match=r"no parameter 'k'\nhint: ddelm.Problem\(reaction=\"k\""):
        ddelm.explore(ddelm.Problem(source=1.0, dirichlet=0.0), k=(1, 2))
