"""The drawings of a page, as SVG."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import floor
from typing import Any

from markupsafe import Markup

from gramshift.model.explanation import COLOURS
from gramshift.report.contents import DocumentEntry, Map

N_COLOURS = len(COLOURS)
WIDTH, HEIGHT = 360, 230  # about what a phone shows without scaling, so that letters keep their size


def colour(number: int) -> str:
    """The style of a class by its number; beyond the last colour they start again."""
    return f"c{number % N_COLOURS}"


def shape(name: str, text: Any = None, **attributes: Any) -> Markup:
    """An element; class_ stands for class, x_y for x-y, and numbers get two decimals at most."""
    pairs = Markup("").join(Markup(' {}="{}"').format(_name(key), number(value)) for key, value in attributes.items())
    if text is None:
        return Markup("<{}{}/>").format(Markup(name), pairs)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), pairs, text)


def number(value: Any) -> Any:
    """Write a number without digits that nobody sees; all else as it is."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


@dataclass(frozen=True)
class Scale:
    """A way from values to places on the page."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        return self.start + (self.stop - self.start) * ((value - self.low) / span if span else 0.5)


def picture(name: str, title: str, description: str, parts: Iterable[Markup], *, height: int = HEIGHT) -> Markup:
    """Return a whole drawing with a name and a description for those who do not see it."""
    head = [shape("title", title, id=f"{name}-title"), shape("desc", description, id=f"{name}-desc")]
    return shape(
        "svg",
        Markup("").join([*head, *parts]),
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="plot",
    )


def percent(value: float) -> str:
    return f"{100 * value:.0f}\N{NARROW NO-BREAK SPACE}%"


def exact_percent(value: float) -> str:
    return f"{100 * value:.1f}\N{NARROW NO-BREAK SPACE}%"


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


STEP = 0.05  # of the histogram
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 16, 40


def count_by_confidence(labelled: Iterable[tuple[str, float]], classes: Sequence[str]) -> tuple[float, list[list[int]]]:
    """Where the histogram begins, and for each of its bins how many documents of each class; the last one has its end too.

    Documents are given by label and confidence.
    """
    first = floor(1 / len(classes) / STEP + 1e-9)
    last = round(1 / STEP) - 1
    counts = [[0] * len(classes) for _ in range(first, last + 1)]
    code = {name: number for number, name in enumerate(classes)}
    for label, confidence in labelled:
        place = min(max(floor(confidence / STEP + 1e-9), first), last)
        counts[place - first][code[label]] += 1
    return first * STEP, counts


def draw_confidence(documents: Sequence[DocumentEntry], classes: Sequence[str]) -> Markup:
    """Confidence: documents by confidence, stacked by label."""
    low, counts = count_by_confidence(((one.label, one.confidence) for one in documents), classes)
    most = max((sum(row) for row in counts), default=0) or 1
    levels = find_levels(most)
    x, y = Scale(low, 1, LEFT, WIDTH - RIGHT), Scale(0, most, HEIGHT - BOTTOM, TOP)  # the highest bar ends at the top
    parts = [*_levels(y, levels, lambda value: f"{value:g}")]
    for place, row in enumerate(counts):
        left, right, below = x(low + place * STEP), x(low + (place + 1) * STEP), 0
        for code, count in enumerate(row):
            if count:
                top = y(below + count)
                parts.append(
                    shape("rect", class_=colour(code), x=left + 1, y=top, width=right - left - 2, height=y(below) - top)
                )
                below += count
    parts += [_below(x(value), percent(value)) for value in _tenths(low, 1.0)]
    parts.append(_axis_name("confidence"))
    told = "; ".join(
        f"{percent(low + place * STEP)} to {percent(low + (place + 1) * STEP)}: {sum(row)}" for place, row in enumerate(counts)
    )
    return picture("confidence", "Confidence", f"Documents by confidence. {told}.", parts)


def draw_shares(shares: Sequence[dict[str, float]], names: Sequence[str], classes: Sequence[str]) -> Markup:
    """The proportion of each class: in the source, then among the target labels, stage by stage."""
    left, gap = 78, 8
    height = min(34.0, max(14.0, (HEIGHT - BOTTOM - TOP) / max(1, len(shares)) - gap))
    x = Scale(0, 1, left, WIDTH - RIGHT)
    parts, told = [], []
    for row, (share, name) in enumerate(zip(shares, names, strict=True)):
        top, before = TOP + row * (height + gap), 0.0
        parts.append(shape("text", shortened(name, 9), x=left - 8, y=top + height / 2, class_="side"))
        for code, label in enumerate(classes):
            value = share.get(label, 0.0)
            if value > 0:
                width = x(before + value) - x(before)
                parts.append(shape("rect", class_=colour(code), x=x(before), y=top, width=max(width - 1.5, 0.5), height=height))
                if width > 34:
                    parts.append(shape("text", percent(value), x=x(before) + width / 2, y=top + height / 2, class_="inside"))
            before += value
        told.append(f"{name}: " + ", ".join(f"{label} {percent(share.get(label, 0.0))}" for label in classes))
    bottom = int(TOP + len(shares) * (height + gap) + 22)
    ticks = {0: "below", 0.5: "below", 1: "below end"}
    parts += [shape("text", percent(value), x=x(value), y=bottom - 10, class_=style) for value, style in ticks.items()]
    return picture("shares", "Class proportions", "; ".join(told) + ".", parts, height=bottom)


def draw_map(name: str, title: str, points: Map, classes: Sequence[str]) -> Markup:
    """Documents as points, both ways on the same scale; rings are source documents, dots target documents."""
    size, edge = 320, 8
    code = {label: number for number, label in enumerate(classes)}
    across, up = (max(values) - min(values) for values in (points.x, points.y))
    unit = (size - 2 * edge) / (max(across, up) or 1.0)
    height = round(max(up * unit + 2 * edge, size / 2))
    left = (WIDTH - across * unit) / 2 - unit * min(points.x)
    bottom = (height + up * unit) / 2 + unit * min(points.y)
    parts = [shape("rect", class_="frame", x=(WIDTH - size + 1) / 2, y=0.5, width=size - 1, height=height - 1, rx=4)]
    for kind in ("source", "target"):  # what is asked about lies on top
        for x, y, this, label in zip(points.x, points.y, points.kinds, points.labels, strict=True):
            if this == kind:
                style = f"{kind} {colour(code.get(label, len(classes)))}"
                parts.append(shape("circle", class_=style, cx=left + unit * x, cy=bottom - unit * y, r=2.6))
    told = (
        f"{points.kinds.count('source')} source documents as rings and {points.kinds.count('target')} target documents as dots."
    )
    return picture(name, title, told, parts, height=height)


def draw_accuracy(bins: Sequence[dict[str, Any]]) -> Markup:
    """Calibration: how often answers of some confidence are right; on the line both would be equal."""
    low = floor(10 * min(one["low"] for one in bins)) / 10
    x, y = Scale(low, 1, LEFT, WIDTH - RIGHT), Scale(0, 1, HEIGHT - BOTTOM, TOP)
    parts, told = [*_levels(y, [0, 0.5, 1], percent)], []
    for one in bins:
        left, right, top = x(one["low"]), x(min(one["high"], 1.0)), y(one["accuracy"])
        parts.append(shape("rect", class_="column", x=left + 1, y=top, width=max(right - left - 2, 1.0), height=y(0) - top))
        parts.append(shape("text", f"{one['n']}", x=(left + right) / 2, y=max(top - 4, 10.0), class_="count"))
        told.append(f"{percent(one['low'])} to {percent(one['high'])}: {percent(one['accuracy'])} of {one['n']}")
    parts.append(shape("line", class_="ideal", x1=x(low), y1=y(low), x2=x(1), y2=y(1)))
    parts += [_below(x(value), percent(value)) for value in _tenths(low, 1.0)]
    parts.append(_axis_name("confidence"))
    return picture("accuracy", "Calibration", "; ".join(told) + ".", parts)


def draw_bar(share: float, code: int) -> Markup:
    """A bar beside a figure, which tells the same to those who do not see it."""
    bar = shape("rect", width=100 * share, height=8, rx=1)
    return shape(
        "svg", bar, class_=f"worth {colour(code)}", viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true"
    )


def find_levels(most: float) -> list[float]:
    """Round numbers from 0 to ``most`` at the highest, in at most five steps of 1, 2, 5, 10, ..."""
    step, factors = 1.0, cycle((2, 2.5, 2))
    while most >= 6 * step:
        step *= next(factors)
    return [step * k for k in range(floor(most / step) + 1)]


def _levels(y: Scale, values: Sequence[float], name: Any) -> Iterator[Markup]:
    for value in values:
        yield shape("line", class_="level", x1=LEFT, x2=WIDTH - RIGHT, y1=y(value), y2=y(value))
        yield shape("text", name(value), x=LEFT - 6, y=y(value), class_="side")


def _tenths(low: float, high: float) -> list[float]:
    """Round tenths from low to high, at most six."""
    values = [k / 10 for k in range(11) if low - 1e-9 <= k / 10 <= high + 1e-9]
    return values if len(values) <= 6 else [value for value in values if round(10 * value) % 2 == 0]


def _below(x: float, text: str) -> Markup:
    return shape("text", text, x=min(x, WIDTH - RIGHT - 14.0), y=HEIGHT - BOTTOM + 17, class_="below")


def _axis_name(text: str) -> Markup:
    return shape("text", text, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 3, class_="below")
