"""Plots of a fitted classifier: axes in, axes out, with the results in them."""

import re
import sys
from importlib.resources import files
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import gramshift as gs
from gramshift.report import drawings
from small_demo import load_demo

mpl.use("Agg")
KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
PLOTS = [gs.plot.confidence, gs.plot.shares, gs.plot.ngrams, gs.plot.map]


@pytest.fixture(scope="module")
def best():
    return gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)
def test_axes_in_axes_out(best, ax, plot):
    before = pyplot.get_fignums()
    assert plot(best, ax=ax) is ax
    assert ax.get_title()
    assert pyplot.get_fignums() == before
    made = plot(best)
    assert pyplot.get_fignums() == [*before, made.figure.number]
    pyplot.close(made.figure)


def test_a_figure_can_be_drawn_whatever_labels_are(tmp_path):
    names = {"positive": "_$x^", "negative": "a\nb" * 40}
    clf = gs.TransductiveClassifier().fit(
        KITCHEN.texts, [names[label] for label in KITCHEN.labels], target=FILMS.texts
    )
    for plot in PLOTS:
        figure = Figure()
        drawn = plot(clf, ax=figure.subplots())
        figure.savefig(tmp_path / "f.png")
        assert len(drawn.get_legend().get_texts()) == (4 if plot is gs.plot.map else 2)


def test_confidence_counts_every_document(best, ax):
    gs.plot.confidence(best, ax=ax)
    negative, positive = ([bar.get_height() for bar in one] for one in ax.containers)
    assert sum(negative) == (best.transduction_ == "negative").sum()
    assert sum(positive) == (best.transduction_ == "positive").sum()
    sure = best.transduction_proba_.max(axis=1)
    assert negative[-1] + positive[-1] == (sure >= 0.95).sum()


def test_shares_are_those_of_source_plain_and_rounds(best, ax):
    gs.plot.shares(best, ax=ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["source", "unadapted", *(f"round {number}" for number in range(2, 6))]
    widths = [bar.get_width() for bar in ax.containers[1]]
    assert widths[0] == 0.5
    assert widths[1] == pytest.approx(np.mean(best.unadapted_transduction_ == "positive"))
    assert widths[-1] == pytest.approx(np.mean(best.transduction_ == "positive"))


def test_ngrams_are_the_strongest(best, ax):
    gs.plot.ngrams(best, n=3, ax=ax)
    assert ax.get_xlabel() == "weight"
    found = best.strongest_ngrams(3, overlapping=False)
    assert [bar.get_width() for bar in ax.patches] == [
        worth for one in found.values() for _, worth in one
    ]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        text.strip() for one in found.values() for text, _ in one
    ]


@pytest.fixture(scope="module")
def four():
    labels = [f"{label} {number % 2}" for number, label in enumerate(KITCHEN.labels)]
    return gs.TransductiveClassifier().fit(KITCHEN.texts, labels, target=FILMS.texts)


def overlaps(ax):
    """Return the number of n-gram names that overlap the next one."""
    ax.figure.draw_without_rendering()
    boxes = sorted(
        (label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0
    )
    return sum(low.y1 > high.y0 for low, high in pairwise(boxes))


def test_a_figure_is_as_high_as_the_ngrams_of_all_classes_need(best, four):
    two, more = (gs.plot.ngrams(clf) for clf in (best, four))
    assert [len(one.get_yticklabels()) for one in (two, more)] == [20, 40]
    assert [overlaps(one) for one in (two, more)] == [0, 0]
    assert two.figure.get_figheight() < more.figure.get_figheight()
    for one in (two, more):
        pyplot.close(one.figure)


@pytest.mark.parametrize("size", [(6.4, 4.8), (3, 2.5), (8, 12)])
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_axes_of_the_user_keep_their_size_and_names_do_not_overlap(four, size, layout):
    figure = Figure(figsize=size, layout=layout)
    ax = gs.plot.ngrams(four, ax=figure.subplots())
    assert tuple(figure.get_size_inches()) == size
    assert overlaps(ax) == 0
    assert 4 <= len(ax.get_yticklabels()) <= 40
    assert ax.get_yticklabels()[0].get_fontsize() >= 6


def test_ten_classes_look_different():
    names = [f"class {k % 10}" for k in range(len(KITCHEN.texts))]
    clf = gs.TransductiveClassifier().fit(KITCHEN.texts, names, target=FILMS.texts)
    for plot in (gs.plot.confidence, gs.plot.shares, gs.plot.ngrams):
        shown = [one[0] for one in plot(clf, ax=Figure().subplots()).get_legend_handles_labels()[0]]
        assert len({(one.get_facecolor(), one.get_hatch()) for one in shown}) == 10
    points = gs.plot.map(clf, ax=Figure().subplots()).get_legend_handles_labels()[0]
    looks = {(str(one.get_edgecolor()), len(one.get_paths()[0].vertices)) for one in points}
    assert len(looks) == 10  # with their shapes


def test_a_map_has_a_point_for_each_document(best, ax):
    gs.plot.map(best, ax=ax, per_kind=50)
    assert [len(one.get_offsets()) for one in ax.collections[:2]] != [0, 0]
    assert sum(len(one.get_offsets()) for one in ax.collections) == 100


def test_what_cannot_be_plotted_is_said(best, tmp_path):
    best.save(tmp_path / "m.gramshift")
    with pytest.raises(ValueError, match="loaded from a file without texts"):
        gs.plot.map(gs.load(tmp_path / "m.gramshift"))
    with pytest.raises(ValueError, match="fitted without target documents"):
        gs.plot.confidence(gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels))
    with pytest.raises(TypeError, match="takes a fitted TransductiveClassifier, not a list"):
        gs.plot.shares([])


def test_without_matplotlib_it_is_said_what_to_install(best, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        gs.GramshiftError, match=r"gs.plot needs matplotlib: pip install 'gramshift\[plot\]'"
    ):
        gs.plot.confidence(best)


def test_colours_are_those_of_the_page():
    style = files("gramshift.report").joinpath("assets", "review.css").read_text(encoding="utf-8")
    first = style[: style.index("@media")]
    assert re.findall(r"--c\d: (#\w+);", first) == list(drawings.COLOURS)
