"""Preparation of a text before n-grams are extracted, and the origin of each of its characters."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gramshift.errors import InputError

FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
_SPACES, _WORDS = re.compile(r"\s+"), re.compile(r"\S+")


@dataclass(frozen=True)
class TextSteps:
    """The steps that prepare a text, each of which can be turned off.

    Lower-case, convert to a Unicode form, replace runs of white space by one blank, and strip.
    """

    strip: bool = True
    lowercase: bool = True
    collapse_whitespace: bool = True
    unicode_form: str | None = None

    def __post_init__(self) -> None:
        if self.unicode_form not in FORMS:
            raise InputError(
                f"unicode_form={self.unicode_form!r}: must be one of {', '.join(map(repr, FORMS))}"
            )

    def apply(self, texts: Iterable[str]) -> list[str]:
        """Return the prepared texts."""
        for step in self._steps():
            texts = map(step, texts)
        return list(texts)

    def _steps(self) -> list[Callable[[str], str]]:
        """Return the functions to apply, in order."""
        steps: list[Callable[[str], str]] = []
        if self.lowercase:
            steps.append(str.lower)
        if self.unicode_form is not None:
            form = self.unicode_form
            steps.append(lambda text: unicodedata.normalize(form, text))  # type: ignore[arg-type]
        if self.collapse_whitespace and self.strip:
            steps.append(lambda text: " ".join(text.split()))
        elif self.collapse_whitespace:
            steps.append(lambda text: _SPACES.sub(" ", text))
        elif self.strip:
            steps.append(str.strip)
        return steps


@dataclass(frozen=True)
class Aligned:
    """A prepared text, whose character i comes from ``original[starts[i]:stops[i]]``."""

    text: str
    starts: Sequence[int]
    stops: Sequence[int]


def align(text: str, steps: TextSteps) -> Aligned:
    """Return a text prepared by ``steps``, with the origin of every character."""
    prepared = steps.apply([text])[0]
    if (quick := _align_words(text, steps)) is not None and quick.text == prepared:
        return quick
    pieces = [(char, i, i + 1) for i, char in enumerate(text)]
    if steps.lowercase:
        pieces = [(low, start, stop) for char, start, stop in pieces for low in char.lower()]
    if steps.unicode_form is not None:
        pieces = _normalize(pieces, steps.unicode_form)
    if steps.collapse_whitespace:
        pieces = _collapse(pieces)
    if steps.strip:
        while pieces and pieces[0][0].isspace():
            del pieces[0]
        while pieces and pieces[-1][0].isspace():
            del pieces[-1]
    if len(pieces) != len(prepared):  # a form that our cutting into characters does not follow
        return Aligned(prepared, [0] * len(prepared), [len(text)] * len(prepared))
    return Aligned(prepared, [start for _, start, _ in pieces], [stop for _, _, stop in pieces])


def _align_words(text: str, steps: TextSteps) -> Aligned | None:
    """Align a text in a tenth of the time, or return None.

    This works for the default steps if no letter changes its length in lower case.
    """
    if steps != TextSteps() or len(text.lower()) != len(text):
        return None
    prepared = " ".join(text.lower().split())
    first = len(text) - len(text.lstrip())
    if len(prepared) == len(text.strip()):
        last = first + len(prepared)
        return Aligned(prepared, range(first, last), range(first + 1, last + 1))
    starts: list[int] = []
    stops: list[int] = []
    for word in _WORDS.finditer(text):
        start, stop = word.span()
        if stops:
            starts.append(stops[-1])
            stops.append(start)
        starts.extend(range(start, stop))
        stops.extend(range(start + 1, stop + 1))
    return Aligned(prepared, starts, stops)


def _normalize(pieces: list[tuple[str, int, int]], form: str) -> list[tuple[str, int, int]]:
    """Normalise groups of characters that may combine; each result has the origin of its group."""
    result: list[tuple[str, int, int]] = []
    group: list[tuple[str, int, int]] = []
    for piece in [*pieces, None]:
        if group and (piece is None or _are_apart(group[-1][0], piece[0], form)):
            joined = "".join(char for char, _, _ in group)
            whole = unicodedata.normalize(form, joined)  # type: ignore[arg-type]
            result += [(char, group[0][1], group[-1][2]) for char in whole]
            group = []
        if piece is not None:
            group.append(piece)
    return result


def _are_apart(before: str, after: str, form: str) -> bool:
    """Return True if two characters in a row do not combine."""

    def normal(text: str) -> str:
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]

    return unicodedata.combining(after) == 0 and normal(before + after) == normal(before) + normal(
        after
    )


def _collapse(pieces: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Replace runs of white space by one blank, with the origin of the run."""
    result: list[tuple[str, int, int]] = []
    for char, start, stop in pieces:
        if not char.isspace():
            result.append((char, start, stop))
        elif result and result[-1][0] == " ":
            result[-1] = (" ", result[-1][1], stop)
        else:
            result.append((" ", start, stop))
    return result
