"""Plots of a fitted classifier, as ``gs.plot``: each takes matplotlib axes or makes some, and returns them.

They show what the report shows, in the same colours. matplotlib is an extra: ``pip install 'gramshift[plot]'``.
"""

from typing import Any

import numpy as np

from gramshift.errors import InputError, InputTypeError, MissingPackageError
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.diagnosis import answers_of, reference_of
from gramshift.model.explanation import COLOURS
from gramshift.model.fitted import Fit
from gramshift.model.inputs import ListedCorpus
from gramshift.report.drawings import STEP, count_by_confidence, shortened
from gramshift.report.gather import describe_linear
from gramshift.report.maps import PER_KIND, draw_maps
from gramshift.runtime.resources import Runtime

__all__ = ["confidence", "map", "ngrams", "shares"]


def confidence(classifier: TransductiveClassifier, *, ax: Any = None) -> Any:
    """Plot how sure the labels are: target documents by the probability of their label, stacked by class."""
    _fit_with_target(classifier)
    names = list(map_str(classifier.classes_.tolist()))
    sure = classifier.transduction_proba_.max(axis=1).tolist()
    low, counts = count_by_confidence(zip(map_str(classifier.transduction_.tolist()), sure, strict=True), names)
    ax, edges, below = _axes(ax), low + STEP * np.arange(len(counts)), np.zeros(len(counts))
    for code, name in enumerate(names):
        heights = np.array([row[code] for row in counts], float)
        ax.bar(edges, heights, STEP, bottom=below, align="edge", color=_colour(code), edgecolor="none", label=_short(name))
        below += heights
    ax.set(xlim=(low, 1), xlabel="probability of the label", ylabel="target documents", title="Confidence")
    return _finish(ax)


def shares(classifier: TransductiveClassifier, *, ax: Any = None) -> Any:
    """Plot the class proportions: of the source, of the target without adapting, and of the target round by round.

    Of a classifier with the preset "paper" the second takes a fit of its own.
    """
    fit = _fit_with_target(classifier)
    reference = reference_of(fit, Runtime(classifier.n_jobs, classifier.memory_limit))
    answers = answers_of(fit, reference)
    stages = {"source": {name: answers.source.count(name) / len(answers.source) for name in answers.classes}}
    names = [
        *([] if reference is None else [fit.reference]),
        *(f"round {number}" for number in range(1, 1 + len(answers.rounds))),
    ]
    stages |= dict(zip(names, answers.stages, strict=True))
    ax, places, left = _axes(ax), np.arange(len(stages)), np.zeros(len(stages))
    for code, name in enumerate(answers.classes):
        widths = np.array([one[name] for one in stages.values()])
        ax.barh(places, widths, left=left, color=_colour(code), edgecolor="none", label=_short(name))
        for place, start, width in zip(places, left, widths, strict=True):
            if width > 0.08:
                ax.text(start + width / 2, place, f"{width:.0%}", ha="center", va="center", color="white", fontsize=8)
        left += widths
    ax.set_yticks(places, list(stages))
    ax.invert_yaxis()
    ax.set(xlim=(0, 1), xlabel="proportion of each class", title="Class proportions")
    return _finish(ax, loc="upper left", bbox_to_anchor=(1, 1))  # the bars leave no room


def ngrams(classifier: TransductiveClassifier, *, n: int = 10, ax: Any = None) -> Any:
    """Plot the ``n`` n-grams that speak most for each class of a linear model, and the weight of each.

    A new figure is as high as they need. Axes of yours keep their size: they get smaller letters, then fewer n-grams.
    """
    _check(classifier)
    found = classifier.strongest_ngrams(n, overlapping=False)
    is_ours, ax = ax is None, _axes(ax)
    size = ax.yaxis.get_major_ticks(1)[0].label1.get_fontsize()  # of letters
    if is_ours:
        needed = ROW * size * _count_rows(found, n) / POINTS + 1.2  # with title and axis
        ax.figure.set_figheight(max(ax.figure.get_figheight(), needed))
    else:
        n, size = _fit_into(ax, found, n, size)
    place, ticks = 0, []
    for code, (label, strongest) in enumerate(found.items()):
        for number, (text, weight) in enumerate(strongest[:n]):
            name = _short(str(label)) if not number else None
            ax.barh(place, weight, color=_colour(code), edgecolor="none", label=name)
            ticks.append((place, text.strip()))
            place += 1
        place += 1  # a gap between classes
    names = [shortened(text, 30) for _, text in ticks]
    ax.set_yticks([one for one, _ in ticks], names, parse_math=False, fontsize=size)
    ax.set_ylim(max(place - 1, 1) - 0.3, -0.7)  # the first on top
    ax.set(xlabel="weight", title="Strongest n-grams of each class")
    return _finish(ax)


POINTS = 72  # of an inch
ROW, SMALLEST = 1.3, 6.0  # the height of a row beside that of its letters; the smallest letters, in points


def _count_rows(found: Any, n: int) -> int:
    """Bars and the gaps between classes."""
    return sum(len(strongest[:n]) + 1 for strongest in found.values()) - 1


def _fit_into(ax: Any, found: Any, n: int, size: float) -> tuple[int, float]:
    """How many n-grams of each class fit into axes of the user's, and how large letters can be."""
    room = 0.9 * POINTS * ax.get_window_extent().height / ax.figure.dpi  # a layout may take some of it
    while n > 1 and room < ROW * SMALLEST * _count_rows(found, n):
        n -= 1
    return n, min(size, room / max(1, _count_rows(found, n)) / ROW)


def map(classifier: TransductiveClassifier, *, ax: Any = None, per_kind: int = PER_KIND) -> Any:
    """Plot documents as points, near where the kernel finds them alike: rings are source, dots are target documents.

    It shows up to ``per_kind`` of either, by the kernel of the fit, adapted if it was.
    """
    fit = _fit_with_target(classifier)
    if not len(fit.model.documents):
        raise InputError("a map places documents, and this classifier was loaded from a file without texts; fit it here")
    features = None
    if fit.model.ngrams is not None:
        features = describe_linear(fit, ListedCorpus(list(fit.model.documents)), classifier.n_jobs)
    labels, is_source = list(map_str(fit.all_labels)), fit.labelling.is_source
    before, after = draw_maps(fit.model, labels, is_source, per_kind=per_kind, features=features)
    points = after or before
    if points is None:
        raise InputError("a map needs three documents or more, and a kernel that is not precomputed")
    ax, x, y = _axes(ax), np.array(points.x), np.array(points.y)
    kinds, found = np.array(points.kinds), np.array(points.labels)
    for kind in ("source", "target"):
        for code, name in enumerate(map_str(fit.classes.tolist())):
            here, colour = (kinds == kind) & (found == name), _colour(code)
            face = "none" if kind == "source" else colour
            ax.scatter(x[here], y[here], s=16, facecolors=face, edgecolors=colour, label=f"{_short(name)}, {kind}")
    ax.set(xticks=[], yticks=[], title="Documents after adapting" if after else "Documents by the kernel of the fit")
    ax.set_aspect("equal", adjustable="datalim")
    return _finish(ax)


def map_str(values: Any) -> Any:
    """Labels as they are shown."""
    return (str(value) for value in values)


def _check(classifier: Any) -> Fit:
    if not isinstance(classifier, TransductiveClassifier):
        raise InputTypeError(f"gs.plot takes a fitted TransductiveClassifier, not a {type(classifier).__name__}")
    classifier._check_fitted()
    return classifier._fit


def _fit_with_target(classifier: Any) -> Fit:
    fit = _check(classifier)
    if not len(classifier.transduction_):
        raise InputError("there is nothing to plot: the classifier was fitted without target documents")
    return fit


def _axes(ax: Any) -> Any:
    """The user's axes, or some of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingPackageError("gs.plot needs matplotlib: pip install 'gramshift[plot]'", name="matplotlib") from None
    return pyplot.subplots(layout="constrained")[1]


def _colour(code: int) -> str:
    return COLOURS[code % len(COLOURS)]


def _short(name: str) -> str:
    """A label for a legend, which leaves out names that begin with an underscore and reads $ as mathematics."""
    return "\N{ZERO WIDTH SPACE}" + shortened(name, 24).replace("$", r"\$")


def _finish(ax: Any, **where: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False, **where)
    return ax
