"""Pictures with matplotlib: what is in them, not how they look."""

import numpy as np
import pytest

import ddelm

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("field", ["u", "ux", "uy", "gradient", "flux", "residual", "error", "estimate"])
def test_every_field_has_a_map_a_line_and_a_surface(wave, field):
    ax = wave.plot(field, resolution=20, contours=True)
    assert ax.figure.dpi == 100 and ax.get_xlabel() == "x"
    assert wave.plot(field, slice="y=0.3").get_xlabel() == "x"
    assert wave.plot(field, slice=" x = 0.3").get_xlabel() == "y"
    assert wave.plot(field, surface=True, resolution=10).name == "3d"
    for figure in map(plt.figure, plt.get_fignums()):
        figure.canvas.draw()


def test_axes_and_options_of_the_user_are_taken(wave):
    figure, ax = plt.subplots()
    assert wave.plot(ax=ax, resolution=20, cmap="magma", vmin=-1, vmax=1) is ax
    mesh = ax.collections[0]
    assert mesh.get_cmap().name == "magma" and mesh.get_clim() == (-1, 1)
    lines = sum(len(collection.get_segments()) for collection in ax.collections[1:])
    # 3 x 2 subdomains have seven lines between them.
    assert lines == 7
    other = plt.subplots()[1]
    wave.plot(ax=other, subdomains=False)
    assert sum(len(collection.get_segments()) for collection in other.collections[1:]) == 0


def test_colours_tell_the_sign(wave):
    wave_map = wave.plot(resolution=20).collections[0]
    low, high = wave_map.get_clim()
    assert wave_map.get_cmap().name == "RdBu_r" and low == -high
    positive = ddelm.solve(ddelm.Problem(source=1.0, dirichlet=0.0), subdomains=(2, 2), points=8)
    assert positive.plot(resolution=20).collections[0].get_cmap().name == "viridis"
    flat = ddelm.solve(ddelm.Problem(source=0.0, dirichlet=2.0), subdomains=(2, 2), points=8)
    low, high = flat.plot(resolution=20).collections[0].get_clim()
    assert low < 1.9 and high > 2.1
    # Nor are there lines of its rounding errors: the colours, the borders inside and around it.
    lines = [len(ax.collections) for ax in (flat.plot(resolution=20, contours=True), flat.plot(resolution=20))]
    assert lines[0] == lines[1]
    with pytest.raises(TypeError, match="contours = 'yes'.*\nhint: for example contours=12"):
        flat.plot(contours="yes")


def test_a_line_shows_the_exact_solution_and_the_borders(wave):
    ax = wave.plot(slice="y=0.25")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["u", "exact"]
    drawn, exact, *borders = ax.get_lines()
    assert np.abs(drawn.get_ydata() - exact.get_ydata()).max() < 1e-10
    assert len(borders) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"field": "v"}, "field = 'v': unknown.*\nhint: one of u, ux"),
        ({"slice": "z=1"}, "slice = 'z=1'"),
        ({"slice": "x=2"}, "does not meet the domain.*\nhint: x runs from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_named(wave, options, message):
    with pytest.raises(ValueError, match=message):
        wave.plot(**options)
