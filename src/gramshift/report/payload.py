"""The documents of a report as one JSON text that can stand in a page."""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from gramshift.report.contents import DocumentEntry, ReportContents

LARGEST_TEXTS = 16_000_000  # bytes that all target texts take in the page
LARGEST_SOURCES = 6_000_000
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def as_json(value: Any) -> str:
    """JSON without what would end a script element, a line of JavaScript or UTF-8: half a surrogate pair becomes an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def make_payload(contents: ReportContents) -> dict[str, Any]:
    """What the page's script reads. Offsets count UTF-16 units, as JavaScript does."""
    code = {name: number for number, name in enumerate(contents.classes)}
    lengths = fit_lengths([one.text for one in contents.documents], LARGEST_TEXTS)
    neighbours = list(dict.fromkeys(near for one in contents.documents for near in map(_known, one.neighbours)))
    place = {near: number for number, near in enumerate(neighbours)}
    source_lengths = fit_lengths([text for _, _, text in neighbours], LARGEST_SOURCES)

    def pack(one: DocumentEntry, length: int) -> dict[str, Any]:
        packed: dict[str, Any] = {
            "id": one.id,
            "text": one.text[:length],
            "label": code[one.label],
            "confidence": round(one.confidence, 4),
            "probabilities": [round(value, 3) for value in one.probabilities],
            "round": one.round,
            "spans": to_units(one.text, [span for span in one.spans if span[1] <= length]),
            "near": [[place[_known(near)], round(near.similarity, 3)] for near in one.neighbours],
        }
        known = {"plain": code.get(one.plain_label or ""), "truth": one.truth}
        flags = {
            "corrected": one.corrected,
            "abstained": one.abstained,
            "unexplained": not one.explained,
            "cut": len(one.text) - length,
        }
        packed |= {name: value for name, value in known.items() if value is not None}
        return packed | {name: value for name, value in flags.items() if value}

    return {
        "key": digest(contents),
        "classes": contents.classes,
        "documents": [pack(one, length) for one, length in zip(contents.documents, lengths, strict=True)],
        "sources": [
            [name, label, text[:length], len(text) - length]
            for (name, label, text), length in zip(neighbours, source_lengths, strict=True)
        ],
    }


def digest(contents: ReportContents) -> str:
    """Tells runs apart: of the classes and of ids, texts and labels; the time does not count."""
    rows = [[one.id, one.text, one.label, one.corrected] for one in contents.documents]
    return sha256(as_json([contents.classes, rows]).encode()).hexdigest()[:20]


def fit_lengths(texts: Sequence[str], budget: int) -> list[int]:
    """How many characters of each text fit: all of them, or of long ones as many as leave room for the others."""
    sizes = [len(as_json(text).encode()) for text in texts]
    limit, left = float(budget), budget
    for rank, size in enumerate(sorted(sizes)):
        limit = left / (len(sizes) - rank)
        if size > limit:
            break
        left -= size
    else:
        return [len(text) for text in texts]
    return [len(text) if size <= limit else int(len(text) * limit / size) for text, size in zip(texts, sizes, strict=True)]


def to_units(text: str, spans: Sequence[tuple[int, int, float, int]]) -> list[list[Any]]:
    """Spans with offsets in UTF-16 units: a character beyond U+FFFF has two."""
    if text.isascii():
        return [[start, stop, round(strength, 2), code] for start, stop, strength, code in spans]
    wide = [place for place, char in enumerate(text) if char > "\uffff"]

    def units(offset: int) -> int:
        return offset + bisect_left(wide, offset)

    return [[units(start), units(stop), round(strength, 2), code] for start, stop, strength, code in spans]


def _known(near: Any) -> tuple[str, str, str]:
    return near.id, near.label, near.text
