"""Draw the pictures of docs/how-it-works.md, from ten short texts.

python -m docs.make_pictures writes them into docs/images.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

import gramshift as gs
from gramshift.learn.features import adapted_kernel, exponential, normalize_gram
from gramshift.report.drawings import Scale, shape

IMAGES = Path(__file__).parent / "images"
SOURCE = ["a great pan", "great, sharp knife", "the pan broke", "a knife that broke"]
LABELS = ["good", "good", "bad", "bad"]
TARGET = [
    "a great film",
    "great, moving film",
    "a moving story",
    "the disc broke",
    "it broke: dull mess",
    "such a dull mess",
]
LENGTH = 3
N_ADDED = 4
WIDTH = 520  # still to be read when a phone shrinks it
INK, GREY, LINE, PAPER, SHARED = "#20242b", "#5b6270", "#d5d9e0", "#ffffff", "#dbe8f7"
COLOURS = {"good": "#2b6cb3", "bad": "#c05717"}
SANS, MONO = (
    "system-ui, 'DejaVu Sans', Arial, sans-serif",
    "ui-monospace, 'DejaVu Sans Mono', Menlo, monospace",
)


def make_pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    return {
        "how-flow.svg": picture("From texts to labels", 440, draw_flow()),
        "how-ngrams.svg": picture(
            "N-grams that two texts share", 222, draw_ngrams(SOURCE[0], TARGET[0])
        ),
        "how-adapting.svg": picture("Similarities before and after adapting", 760, draw_adapting()),
        "how-rounds.svg": picture(
            "Scores of the target documents, stage by stage", 292, draw_rounds()
        ),
    }


def picture(title: str, height: int, parts: Iterator[Markup]) -> str:
    paper = shape("rect", width=WIDTH, height=height, rx=8, fill=PAPER)
    inside = Markup("\n").join([shape("title", title), paper, *parts])
    root = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": WIDTH,
        "height": height,
        "viewBox": f"0 0 {WIDTH} {height}",
    }
    return (
        str(shape("svg", inside, role="img", font_family=SANS, font_size=13, fill=INK, **root))
        + "\n"
    )


def words(x: float, y: float, text: str, **attributes: Any) -> Markup:
    return shape("text", text, x=x, y=y, **attributes)


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *lines: str,
    fill: str = PAPER,
    stroke: str = LINE,
) -> Markup:
    """Return a frame around lines of text, the first of them bold."""
    parts = [shape("rect", x=x, y=y, width=width, height=height, rx=6, fill=fill, stroke=stroke)]
    for number, line in enumerate(lines):
        style = {"font_weight": 600} if number == 0 else {"fill": GREY, "font_size": 12}
        top = y + height / 2 + 5 + 18 * (number - (len(lines) - 1) / 2)
        parts.append(words(x + width / 2, top, line, text_anchor="middle", **style))
    return Markup("\n").join(parts)


def arrow(*points: tuple[float, float], colour: str = GREY) -> Markup:
    """Return an arrow through the points, with its head at the last one."""
    (x0, y0), (x, y) = points[-2:]
    dx, dy = np.sign(x - x0), np.sign(y - y0)
    line = " ".join(f"{a:g},{b:g}" for a, b in points)
    corners = [
        (x, y),
        (x - 7 * dx - 4 * dy, y - 7 * dy - 4 * dx),
        (x - 7 * dx + 4 * dy, y - 7 * dy + 4 * dx),
    ]
    head = " ".join(f"{a:g},{b:g}" for a, b in corners)
    return shape("polyline", points=line, fill="none", stroke=colour, stroke_width=1.5) + shape(
        "polygon", points=head, fill=colour
    )


def draw_flow() -> Iterator[Markup]:
    yield box(20, 16, 185, 52, "source", "texts with labels", stroke=COLOURS["good"])
    yield box(225, 16, 185, 52, "target", "texts without labels")
    for x in (112, 317):
        yield arrow((x, 68), (x, 94))
    steps = [
        (
            94,
            (
                "n-grams in common",
                "of every text with every other: exact counts",
                "divided so that a text has 1 with itself",
            ),
        ),
        (
            188,
            (
                "likeness to all texts",
                "each text is described by a row of similarities",
                "to all source and target texts",
            ),
        ),
        (282, ("round 1", "learns from the source, labels the target")),
        (366, ("round 2", "learns from both, labels the target again")),
    ]
    for number, (y, lines) in enumerate(steps):
        height = 70 if len(lines) == 3 else 58
        yield box(20, y, 390, height, *lines)
        if number < len(steps) - 1:
            yield arrow((215, y + height), (215, steps[number + 1][0]))
    yield arrow((410, 311), (438, 311), (438, 395), (410, 395), colour=COLOURS["bad"])
    for number, line in enumerate(("the surest", "answers", "join")):
        yield words(446, 339 + 16 * number, line, font_size=12, fill=COLOURS["bad"])


def draw_ngrams(*texts: str) -> Iterator[Markup]:
    cut = [
        list(dict.fromkeys(text[i : i + LENGTH] for i in range(len(text) - LENGTH + 1)))
        for text in texts
    ]
    common = set(cut[0]) & set(cut[1])
    for row, (text, grams) in enumerate(zip(texts, cut, strict=True)):
        top = 30 + 84 * row
        yield words(20, top, f"{text}", font_weight=600)
        yield words(
            500,
            top,
            f"{len(grams)} different {LENGTH}-grams",
            fill=GREY,
            text_anchor="end",
            font_size=12,
        )
        for place, gram in enumerate(grams):
            x, shared = 20 + 48 * place, gram in common
            colour = COLOURS["good"] if shared else LINE
            yield shape(
                "rect",
                x=x,
                y=top + 12,
                width=44,
                height=28,
                rx=5,
                fill=SHARED if shared else PAPER,
                stroke=colour,
            )
            letters = gram.replace(" ", "\N{OPEN BOX}")
            yield words(
                x + 22, top + 31, letters, text_anchor="middle", font_family=MONO, font_size=14
            )
    found = gs.StringKernel(ngram_range=(LENGTH, LENGTH)).gram(list(texts))
    value = normalize_gram(found)[0, 1]
    product = f"{found[0, 0]} \N{MULTIPLICATION SIGN} {found[1, 1]}"
    formula = f"{found[0, 1]} / \N{SQUARE ROOT}({product}) = {value:.2f}"
    yield words(20, 200, f"{found[0, 1]} in common", fill=COLOURS["good"], font_weight=600)
    yield words(500, 200, f"similarity {formula}", text_anchor="end")


def similarities() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """K-hat of all texts, and their adapted kernel brought to 1 on its diagonal."""
    plain = gs.StringKernel(ngram_range=(LENGTH, LENGTH)).gram(SOURCE + TARGET, normalize=True)
    return plain, normalize_gram(adapted_kernel(exponential(plain)))


def draw_adapting() -> Iterator[Markup]:
    captions = (
        "Before: n-grams in common. Empty cells share none.",
        "After: likeness in how two texts relate to all ten.",
    )
    for number, (caption, values) in enumerate(zip(captions, similarities(), strict=True)):
        top = 376 * number
        yield words(20, top + 28, caption, font_weight=600)
        yield from draw_map(values, top + 62, digits=2 + number)


def draw_map(values: NDArray[np.float64], top: float, *, digits: int) -> Iterator[Markup]:
    """Cells from white, the least, to blue; lines part source and target."""
    side, left, depth = 30, 182, Scale(float(values.min()), 1, 0, 1)
    for row, text in enumerate(SOURCE + TARGET):
        y, colour = top + side * row, COLOURS[LABELS[row]] if row < len(SOURCE) else INK
        yield words(left - 28, y + 20, text, text_anchor="end", font_size=12.5, fill=colour)
        yield words(left - 8, y + 20, str(row + 1), text_anchor="end", font_size=11, fill=GREY)
        yield words(
            left + side * (row + 0.5),
            top - 8,
            str(row + 1),
            text_anchor="middle",
            font_size=11,
            fill=GREY,
        )
        for column, value in enumerate(values[row].tolist()):
            x, share = left + side * column, depth(value)
            yield shape("rect", x=x, y=y, width=side, height=side, fill=mixed(share), stroke=PAPER)
            if value > 0:
                figure = "1" if row == column else f"{value:.{digits}f}".removeprefix("0")
                ink = PAPER if share > 0.7 else INK
                yield words(
                    x + side / 2, y + 19, figure, text_anchor="middle", font_size=10.5, fill=ink
                )
    span, middle = side * len(values), side * len(SOURCE)
    yield shape("rect", x=left, y=top, width=span, height=span, fill="none", stroke=GREY)
    yield shape(
        "path",
        d=f"M{left} {top + middle}h{span}M{left + middle} {top}v{span}",
        fill="none",
        stroke=GREY,
    )


def mixed(share: float) -> str:
    """White, blue, and what lies between."""
    parts = [round(255 + (int(COLOURS["good"][i : i + 2], 16) - 255) * share) for i in (1, 3, 5)]
    return "#" + "".join(f"{part:02x}" for part in parts)


def stages() -> list[tuple[str, gs.TransductiveClassifier]]:
    options = {
        "plain": {"adapt": False, "n_rounds": 1},
        "round 1, adapted": {"n_rounds": 1},
        "round 2": {"n_rounds": 2, "n_added": N_ADDED},
    }
    paper = {"preset": "paper", "ngram_range": (LENGTH, LENGTH)}
    return [
        (name, gs.TransductiveClassifier(**paper, **one).fit(SOURCE, LABELS, target=TARGET))
        for name, one in options.items()
    ]


def draw_rounds() -> Iterator[Markup]:
    """Draw a bar per target document and stage, to the right for good, to the left for bad."""
    top, step = 62, 34
    for row, text in enumerate(TARGET):
        yield words(150, top + step * row + 19, text, text_anchor="end", font_size=12.5)
    for number, (name, clf) in enumerate(stages()):
        middle = 222 + 118 * number
        across = Scale(-1.15, 1.15, middle - 52, middle + 52)
        yield words(middle, 28, name, text_anchor="middle", font_weight=600)
        for x, label in ((middle - 52, "bad"), (middle + 52, "good")):
            anchor = "start" if label == "bad" else "end"
            yield words(x, 48, label, fill=COLOURS[label], font_size=11.5, text_anchor=anchor)
        yield shape("path", d=f"M{middle} {top - 8}v{step * len(TARGET)}", stroke=GREY)
        scores = clf.transduction_score_[:, list(clf.classes_).index("good")]
        for row, score in enumerate(scores.tolist()):
            y, x = top + step * row, across(score)
            label = "good" if score > 0 else "bad"
            joined = clf.labeled_iter_[len(SOURCE) + row] > 0
            style = {"fill": COLOURS[label], "fill_opacity": 1 if joined else 0.55}
            yield shape(
                "rect", x=min(x, middle), y=y + 4, width=abs(x - middle), height=20, rx=2, **style
            )
            side = -1 if score > 0.005 else 1  # the figure stands where the bar does not
            anchor, figure = (
                "end" if side < 0 else "start",
                f"{score:.2f}".replace("-", "\N{MINUS SIGN}"),
            )
            yield words(middle + 6 * side, y + 18, figure, font_size=11, text_anchor=anchor)
    yield shape("rect", x=20, y=270, width=16, height=12, rx=2, fill=GREY)
    yield words(
        42,
        280,
        f"joined the training for round 2: the {N_ADDED} surest of round 1",
        font_size=12,
        fill=GREY,
    )


def main() -> None:
    for name, content in make_pictures().items():
        (IMAGES / name).write_text(content)


if __name__ == "__main__":
    main()
