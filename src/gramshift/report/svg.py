"""The few shapes that our plots need, as text; colours are classes of the page's style sheet."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

N_COLOURS = 8
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
    """Without digits that nobody sees; all else as it is."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


@dataclass(frozen=True)
class Scale:
    """From values to places on the page."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        return self.start + (self.stop - self.start) * ((value - self.low) / span if span else 0.5)


def picture(name: str, title: str, description: str, parts: Iterable[Markup], *, height: int = HEIGHT) -> Markup:
    """A whole drawing with a name and a description for those who do not see it."""
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


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
