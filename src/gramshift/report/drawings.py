"""Draw the plots of the page as SVG."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import floor
from typing import Any

from markupsafe import Markup

from gramshift.model.explanation import COLOURS
from gramshift.report.contents import DocumentMap
from gramshift.terminal import count_in_words

N_COLOURS = len(COLOURS)
STRIPED = "striped"
STYLES = [f"c{k}" for k in range(N_COLOURS)] + [f"c{k} {STRIPED}" for k in range(N_COLOURS)]
WIDTH, HEIGHT = 360, 230  # about the width of a phone, so that letters are not scaled down
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 16, 40  # margins
BIN_WIDTH = 0.05  # of the histogram
MAP_SIZE, MAP_MARGIN = 320, 8


def group_classes(classes: Sequence[str], labels: Iterable[str]) -> dict[str, int]:
    """Return for each class the number of its style.

    If there are more classes than styles, those that are rarest in ``labels`` share the last.
    """
    if len(classes) <= len(STYLES):
        return {name: number for number, name in enumerate(classes)}
    counts = Counter(labels)
    common = set(sorted(classes, key=lambda name: -counts[name])[: len(STYLES) - 1])
    own = iter(range(len(STYLES) - 1))
    return {name: next(own) if name in common else len(STYLES) - 1 for name in classes}


def shape(name: str, text: Any = None, **attributes: Any) -> Markup:
    """Return an SVG element; ``class_`` is the attribute class, and ``x_y`` is x-y."""
    pairs = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), number(value))
        for key, value in attributes.items()
    )
    if text is None:
        return Markup("<{}{}/>").format(Markup(name), pairs)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), pairs, text)


def number(value: Any) -> Any:
    """Return a float as text with at most two decimals, anything else unchanged."""
    if not isinstance(value, float):
        return value
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no -0


@dataclass(frozen=True)
class Scale:
    """A linear map from values in [low, high] to positions from start to stop."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        extent = self.high - self.low
        fraction = (value - self.low) / extent if extent else 0.5
        return self.start + (self.stop - self.start) * fraction


def picture(
    name: str, title: str, description: str, parts: Iterable[Markup], *, height: int = HEIGHT
) -> Markup:
    """Return an SVG image with a title and a description for screen readers."""
    head = [
        shape("title", title, id=f"{name}-title"),
        shape("desc", description, id=f"{name}-desc"),
    ]
    return shape(
        "svg",
        Markup("").join([*head, *parts]),
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="plot",
    )


def percent(value: float) -> str:
    """Return a fraction as a whole percentage."""
    return f"{100 * value:.0f}\N{NARROW NO-BREAK SPACE}%"


def exact_percent(value: float) -> str:
    """Return a fraction as a percentage with one decimal."""
    return f"{100 * value:.1f}\N{NARROW NO-BREAK SPACE}%"


def shortened(text: str, max_length: int) -> str:
    """Return a text, cut to ``max_length`` characters with an ellipsis."""
    return text if len(text) <= max_length else text[: max_length - 1] + "\N{HORIZONTAL ELLIPSIS}"


def count_by_confidence(
    labelled: Iterable[tuple[str, float]], classes: Sequence[str]
) -> tuple[float, list[list[int]]]:
    """Return the start of the histogram, and for each bin the number of documents of each class.

    ``labelled`` has the label and the confidence of each document. Bins contain their lower
    end; the last bin contains 1 as well.
    """
    labelled = list(labelled)
    least = min([1 / len(classes), *(confidence for _, confidence in labelled)])
    first = floor(least / BIN_WIDTH + 1e-9)
    last = round(1 / BIN_WIDTH) - 1
    counts = [[0] * len(classes) for _ in range(first, last + 1)]
    code = {name: number for number, name in enumerate(classes)}
    for label, confidence in labelled:
        place = min(floor(confidence / BIN_WIDTH + 1e-9), last)
        counts[place - first][code[label]] += 1
    return first * BIN_WIDTH, counts


def draw_confidence(labelled: Iterable[tuple[str, float]], classes: Sequence[str]) -> Markup:
    """Draw a histogram of the confidence of documents, stacked by label."""
    low, counts = count_by_confidence(labelled, classes)
    highest = max((sum(row) for row in counts), default=0) or 1
    x = Scale(low, 1, LEFT, WIDTH - RIGHT)
    y = Scale(0, highest, HEIGHT - BOTTOM, TOP)
    parts = [*_draw_levels(y, find_levels(highest), lambda value: f"{value:g}")]
    words = []
    for place, row in enumerate(counts):
        start, stop = low + place * BIN_WIDTH, low + (place + 1) * BIN_WIDTH
        below = 0
        for code, count in enumerate(row):
            if not count:
                continue
            top = y(below + count)
            width = x(stop) - x(start) - 2
            parts.append(_draw_class(code, x(start) + 1, top, width, y(below) - top))
            below += count
        words.append(f"{percent(start)} to {percent(stop)}: {sum(row)}")
    parts += _draw_confidence_axis(x, low)
    return picture(
        "confidence", "Confidence", f"Documents by confidence. {'; '.join(words)}.", parts
    )


def draw_shares(shares: Mapping[str, Mapping[str, float]], classes: Sequence[str]) -> Markup:
    """Draw the class proportions of each stage as a bar."""
    left, gap = 78, 8
    height = min(34.0, max(14.0, (HEIGHT - BOTTOM - TOP) / max(1, len(shares)) - gap))
    x = Scale(0, 1, left, WIDTH - RIGHT)
    parts, words = [], []
    for row, (name, share) in enumerate(shares.items()):
        top = TOP + row * (height + gap)
        middle = top + height / 2
        parts.append(shape("text", shortened(name, 9), x=left - 8, y=middle, class_="side"))
        before = 0.0
        for code, label in enumerate(classes):
            value = share.get(label, 0.0)
            start, width = x(before), x(before + value) - x(before)
            before += value
            if value <= 0:
                continue
            parts.append(_draw_class(code, start, top, max(width - 1.5, 0.5), height))
            if width > 34:
                style = f"inside {STYLES[code]}"
                text = shape("text", percent(value), x=start + width / 2, y=middle, class_=style)
                parts.append(text)
        values = ", ".join(f"{label} {percent(share.get(label, 0.0))}" for label in classes)
        words.append(f"{name}: {values}")
    bottom = int(TOP + len(shares) * (height + gap) + 22)
    ticks = {0: "below", 0.5: "below", 1: "below end"}
    parts += [
        shape("text", percent(value), x=x(value), y=bottom - 10, class_=style)
        for value, style in ticks.items()
    ]
    return picture("shares", "Class proportions", "; ".join(words) + ".", parts, height=bottom)


def draw_map(name: str, title: str, points: DocumentMap, classes: Sequence[str]) -> Markup:
    """Draw documents as points, with one unit for both axes: source as rings, target as dots."""
    code = {label: number for number, label in enumerate(classes)}
    width, height = (max(values) - min(values) for values in (points.x, points.y))
    unit = (MAP_SIZE - 2 * MAP_MARGIN) / (max(width, height) or 1.0)
    shown_height = round(max(height * unit + 2 * MAP_MARGIN, MAP_SIZE / 2))
    left = (WIDTH - width * unit) / 2 - unit * min(points.x)
    bottom = (shown_height + height * unit) / 2 + unit * min(points.y)
    frame = shape(
        "rect",
        class_="frame",
        x=(WIDTH - MAP_SIZE + 1) / 2,
        y=0.5,
        width=MAP_SIZE - 1,
        height=shown_height - 1,
        rx=4,
    )
    parts = [frame]
    for wanted in ("source", "target"):  # target documents on top
        for x, y, kind, label in zip(points.x, points.y, points.kinds, points.labels, strict=True):
            if kind == wanted:
                style = STYLES[code.get(label, len(STYLES) - 1)]
                parts.append(_draw_point(f"{kind} {style}", left + unit * x, bottom - unit * y))
    words = (
        f"{count_in_words(points.kinds.count('source'), 'source document')} as rings"
        f" and {count_in_words(points.kinds.count('target'), 'target document')} as dots."
    )
    return picture(name, title, words, parts, height=shown_height)


def draw_accuracy(bins: Sequence[dict[str, Any]]) -> Markup:
    """Draw the calibration: the accuracy of labels by their confidence."""
    low = floor(10 * min(one["low"] for one in bins)) / 10
    x = Scale(low, 1, LEFT, WIDTH - RIGHT)
    y = Scale(0, 1, HEIGHT - BOTTOM, TOP)
    parts = [*_draw_levels(y, [0, 0.5, 1], percent)]
    numbers, words = [], []
    for one in bins:
        start, stop = x(one["low"]), x(min(one["high"], 1.0))
        top = y(one["accuracy"])
        width = max(stop - start - 2, 1.0)
        parts.append(_draw_box("column", start + 1, top, width, y(0) - top))
        middle = (start + stop) / 2
        numbers.append(shape("text", f"{one['n']}", x=middle, y=max(top - 4, 10.0), class_="count"))
        between = f"{percent(one['low'])} to {percent(one['high'])}"
        words.append(f"{between}: {percent(one['accuracy'])} of {one['n']}")
    parts.append(shape("line", class_="ideal", x1=x(low), y1=y(low), x2=x(1), y2=y(1)))
    parts += numbers  # on top of the line
    parts += _draw_confidence_axis(x, low)
    return picture("accuracy", "Calibration", "; ".join(words) + ".", parts)


def _draw_box(style: str, x: float, y: float, width: float, height: float) -> Markup:
    return shape("rect", class_=style, x=x, y=y, width=width, height=height)


def _draw_class(code: int, x: float, y: float, width: float, height: float) -> Markup:
    """Return a box in the style of a class; the page has the pattern of the stripes."""
    box = _draw_box(STYLES[code], x, y, width, height)
    if STRIPED not in STYLES[code]:
        return box
    return box + shape("rect", fill="url(#stripes)", x=x, y=y, width=width, height=height)


def _draw_point(style: str, x: float, y: float) -> Markup:
    """Return a dot, or a diamond for a striped style: stripes of a dot would not be seen."""
    if STRIPED not in style:
        return shape("circle", class_=style, cx=x, cy=y, r=2.6)
    path = f"M{number(x - 3.4)} {number(y)}l3.4-3.4 3.4 3.4-3.4 3.4z"
    return shape("path", class_=style, d=path)


def draw_bar(share: float, code: int) -> Markup:
    """Draw a bar; screen readers skip it, because a number follows."""
    bar = shape("rect", width=100 * share, height=8, rx=1)
    return shape(
        "svg",
        bar,
        class_=f"worth {STYLES[code]}",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def find_levels(highest: float) -> list[float]:
    """Return round numbers from 0 to at most ``highest``, in up to five equal steps."""
    step, factors = 1.0, cycle((2, 2.5, 2))
    while highest >= 6 * step:
        step *= next(factors)
    return [step * k for k in range(floor(highest / step) + 1)]


def _draw_levels(
    y: Scale, values: Sequence[float], name: Callable[[float], str]
) -> Iterator[Markup]:
    for value in values:
        yield shape("line", class_="level", x1=LEFT, x2=WIDTH - RIGHT, y1=y(value), y2=y(value))
        yield shape("text", name(value), x=LEFT - 6, y=y(value), class_="side")


def _draw_confidence_axis(x: Scale, low: float) -> Iterator[Markup]:
    """Yield the labels of an axis from ``low`` to 1: at most six round tenths, and its name."""
    tenths = [k / 10 for k in range(11) if k / 10 >= low - 1e-9]
    if len(tenths) > 6:
        tenths = [value for value in tenths if round(10 * value) % 2 == 0]
    for value in tenths:
        place = min(x(value), WIDTH - RIGHT - 14.0)
        yield shape("text", percent(value), x=place, y=HEIGHT - BOTTOM + 17, class_="below")
    yield shape("text", "confidence", x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 3, class_="below")
