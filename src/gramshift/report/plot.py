"""Plots of a fitted classifier with matplotlib, as ``gs.plot``; each returns the axes.

They show what the report shows, in the same colours. ``pip install 'gramshift[plot]'`` installs
matplotlib.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramshift.errors import InputError, InputTypeError, MissingPackageError
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.diagnosis import reference_of, summarize
from gramshift.model.explanation import COLOURS
from gramshift.model.result import FitResult
from gramshift.report.drawings import BIN_WIDTH, count_by_confidence, shortened
from gramshift.report.evidence import last_features
from gramshift.report.maps import MAX_POINTS, draw_maps
from gramshift.runtime import Runtime

__all__ = ["confidence", "map", "ngrams", "shares"]

POINTS_PER_INCH = 72
ROW_HEIGHT = 1.3  # of an n-gram, in font sizes
MIN_FONT_SIZE = 6.0  # in points
MIN_SHARE = 0.08  # of a bar, for a percentage to fit in


def confidence(classifier: TransductiveClassifier, *, ax: Any = None) -> Any:
    """Plot the target documents by the probability of their label, stacked by class."""
    _fit_with_target(classifier)
    names = _as_names(classifier.classes_.tolist())
    labels = _as_names(classifier.transduction_.tolist())
    probabilities = classifier.transduction_proba_.max(axis=1).tolist()
    low, counts = count_by_confidence(zip(labels, probabilities, strict=True), names)
    ax = _make_axes(ax)
    edges = low + BIN_WIDTH * np.arange(len(counts))
    bottom = np.zeros(len(counts))
    for code, name in enumerate(names):
        heights = np.array([row[code] for row in counts], float)
        ax.bar(edges, heights, BIN_WIDTH, bottom=bottom, align="edge", **_style(code, name))
        bottom += heights
    ax.set(xlim=(low, 1), xlabel="probability of the label", ylabel="target documents")
    ax.set(title="Confidence")
    return _finish(ax)


def shares(classifier: TransductiveClassifier, *, ax: Any = None) -> Any:
    """Plot the class proportions of the source and of the target, without adapting and by round.

    For a classifier with the preset "paper", the labels without adapting need another fit.
    """
    fit = _fit_with_target(classifier)
    reference = reference_of(fit, Runtime(classifier.n_jobs, classifier.memory_limit))
    summary = summarize(fit, reference)
    names = [f"round {number}" for number in range(1, 1 + len(summary.rounds))]
    if reference is not None:
        names = [fit.reference, *names[1 + len(names) - len(summary.stages) :]]
    stages = {"source": summary.source} | dict(zip(names, summary.stages, strict=True))
    ax = _make_axes(ax)
    places = np.arange(len(stages))
    left = np.zeros(len(stages))
    for code, name in enumerate(summary.source):
        widths = np.array([one[name] for one in stages.values()])
        ax.barh(places, widths, left=left, **_style(code, name))
        for place, start, width in zip(places, left, widths, strict=True):
            if width > MIN_SHARE:
                middle = start + width / 2
                style = {"ha": "center", "va": "center", "color": "white", "fontsize": 8}
                style["bbox"] = {"facecolor": _colour(code), "edgecolor": "none", "pad": 1}
                ax.text(middle, place, f"{width:.0%}", **style)
        left += widths
    ax.set_yticks(places, list(stages))
    ax.invert_yaxis()
    ax.set(xlim=(0, 1), xlabel="proportion of each class", title="Class proportions")
    return _finish(ax, loc="upper left", bbox_to_anchor=(1, 1))  # bars fill the axes


def ngrams(classifier: TransductiveClassifier, *, n: int = 10, ax: Any = None) -> Any:
    """Plot the ``n`` n-grams that indicate each class of a linear model most, with their weights.

    A new figure is as high as needed. Given axes keep their size: letters become smaller, then
    there are fewer n-grams.
    """
    _check(classifier)
    found = classifier.strongest_ngrams(n, overlapping=False)
    is_new, ax = ax is None, _make_axes(ax)
    font_size = ax.yaxis.get_major_ticks(1)[0].label1.get_fontsize()
    if is_new:
        rows = ROW_HEIGHT * font_size * _count_rows(found, n)
        title_and_axis = 1.2
        needed = rows / POINTS_PER_INCH + title_and_axis
        ax.figure.set_figheight(max(ax.figure.get_figheight(), needed))
    else:
        n, font_size = _fit_into(ax, found, n, font_size)
    place = 0
    places = []
    names = []
    for code, (label, strongest) in enumerate(found.items()):
        for number, (text, weight) in enumerate(strongest[:n]):
            ax.barh(place, weight, **_style(code, None if number else str(label)))
            places.append(place)
            names.append(shortened(text.strip(), 30))
            place += 1
        place += 1  # a gap between classes
    ax.set_yticks(places, names, parse_math=False, fontsize=font_size)
    ax.set_ylim(max(place - 1, 1) - 0.3, -0.7)  # the first on top
    ax.set(xlabel="weight", title="Strongest n-grams of each class")
    return _finish(ax)


def _count_rows(found: dict[Any, list[Any]], n: int) -> int:
    """Return the number of bars and of gaps between classes."""
    return sum(len(strongest[:n]) + 1 for strongest in found.values()) - 1


def _fit_into(ax: Any, found: dict[Any, list[Any]], n: int, font_size: float) -> tuple[int, float]:
    """Return the number of n-grams of each class and the font size that fit into given axes."""
    inches = ax.get_window_extent().height / ax.figure.dpi
    height = 0.9 * POINTS_PER_INCH * inches  # a layout may take some of it
    while n > 1 and height < ROW_HEIGHT * MIN_FONT_SIZE * _count_rows(found, n):
        n -= 1
    return n, min(font_size, height / max(1, _count_rows(found, n)) / ROW_HEIGHT)


def map(classifier: TransductiveClassifier, *, ax: Any = None, per_kind: int = MAX_POINTS) -> Any:
    """Plot documents as points, near each other if the kernel of the fit finds them similar.

    Rings are source documents, dots are target documents, up to ``per_kind`` of each.
    """
    fit = _fit_with_target(classifier)
    if not len(fit.model.documents):
        raise InputError(
            "a map places documents, and this classifier was loaded from a file without texts;"
            " fit it here"
        )
    features = last_features(fit, classifier.n_jobs)
    before, after = draw_maps(fit, features, per_kind=per_kind)
    points = after or before
    if points is None:
        raise InputError(
            "a map needs three documents or more, and a kernel that is not precomputed"
        )
    ax = _make_axes(ax)
    x, y = np.array(points.x), np.array(points.y)
    kinds, labels = np.array(points.kinds), np.array(points.labels)
    for kind in ("source", "target"):
        for code, name in enumerate(_as_names(fit.classes.tolist())):
            rows = (kinds == kind) & (labels == name)
            ax.scatter(
                x[rows],
                y[rows],
                s=16,
                facecolors="none" if kind == "source" else _colour(code),
                edgecolors=_colour(code),
                marker="D" if _is_striped(code) else "o",
                label=f"{_shorten_label(name)}, {kind}",
            )
    title = "Documents after adapting" if after else "Documents by the kernel of the fit"
    ax.set(xticks=[], yticks=[], title=title)
    ax.set_aspect("equal", adjustable="datalim")
    return _finish(ax)


def _as_names(labels: Iterable[Any]) -> list[str]:
    return [str(label) for label in labels]


def _check(classifier: Any) -> FitResult:
    """Return the result of the fit, or raise an error."""
    if not isinstance(classifier, TransductiveClassifier):
        kind = type(classifier).__name__
        raise InputTypeError(f"gs.plot takes a fitted TransductiveClassifier, not a {kind}")
    check_is_fitted(classifier)
    return classifier.result_


def _fit_with_target(classifier: Any) -> FitResult:
    fit = _check(classifier)
    if not len(classifier.transduction_):
        raise InputError(
            "there is nothing to plot: the classifier was fitted without target documents"
        )
    return fit


def _make_axes(ax: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingPackageError(
            "gs.plot needs matplotlib: pip install 'gramshift[plot]'", name="matplotlib"
        ) from None
    return pyplot.subplots(layout="constrained")[1]


def _colour(code: int) -> str:
    return COLOURS[code % len(COLOURS)]


def _style(code: int, name: str | None) -> dict[str, Any]:
    """Return the style of a class's bars; only those with a ``name`` are in the legend."""
    label = None if name is None else _shorten_label(name)
    style = {"facecolor": _colour(code), "edgecolor": "white", "linewidth": 0, "label": label}
    return style | ({"hatch": "////"} if _is_striped(code) else {})


def _is_striped(code: int) -> bool:
    """Return True for every second turn through the colours."""
    return code // len(COLOURS) % 2 == 1


def _shorten_label(name: str) -> str:
    """Return a label for a legend.

    Matplotlib hides names that begin with an underscore and reads $ as mathematics.
    """
    return "\N{ZERO WIDTH SPACE}" + shortened(name, 24).replace("$", r"\$")


def _finish(ax: Any, **where: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False, **where)
    return ax
