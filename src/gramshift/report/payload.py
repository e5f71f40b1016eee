"""Turn the contents of a report into the JSON that the script of the page reads."""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from gramshift.report.contents import DocumentEntry, Highlight, ReportContents, SimilarDocument
from gramshift.report.drawings import STYLES, group_classes, shortened

MAX_TARGET_BYTES = 16_000_000  # of all target texts in the page
MAX_SOURCE_BYTES = 6_000_000
MAX_TEXT_LENGTH = 100_000  # browsers take minutes to lay out longer texts without a blank
MAX_VALUE_LENGTH = 300  # characters of a value in one of the user's other columns
MAX_COLUMN_BYTES = 6_000_000  # of all these values
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def least_confidence(n_classes: int) -> float:
    """Return the confidence below which documents should be reviewed.

    It is 0.4 of the way from chance to certainty: 70 % with two classes, 60 % with three. It is
    never below 50 %, where a label is more likely wrong than right.
    """
    chance = 1 / max(2, n_classes)
    return round(max(0.5, chance + 0.4 * (1 - chance)), 4)


def as_json(value: Any) -> str:
    """Return JSON that is safe in a page.

    Characters that could end a script element or a line of JavaScript are escaped, and so are
    lone surrogates, which UTF-8 cannot encode.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def make_payload(
    contents: ReportContents, *, max_target_bytes: int = MAX_TARGET_BYTES
) -> dict[str, Any]:
    """Return the data for the script of the page. Offsets count UTF-16 units, as in JavaScript."""
    code = {name: number for number, name in enumerate(contents.classes)}
    groups = group_classes(contents.classes, (one.label for one in contents.documents))
    texts = [one.text[:MAX_TEXT_LENGTH] for one in contents.documents]
    lengths = fit_lengths(texts, max_target_bytes)
    found = (_identify(near) for one in contents.documents for near in one.neighbours)
    neighbours = list(dict.fromkeys(found))
    place = {near: number for number, near in enumerate(neighbours)}
    source_texts = [text[:MAX_TEXT_LENGTH] for _, _, text in neighbours]
    source_lengths = fit_lengths(source_texts, MAX_SOURCE_BYTES)
    columns = {name for one in contents.documents for name, _ in one.more}
    n_values = max(1, len(columns) * len(contents.documents))
    max_value_length = max(20, min(MAX_VALUE_LENGTH, MAX_COLUMN_BYTES // n_values))
    documents = []
    for one, length in zip(contents.documents, lengths, strict=True):
        near = [[place[_identify(near)], round(near.similarity, 3)] for near in one.neighbours]
        more = [[name, shortened(value, max_value_length)] for name, value in one.more]
        documents.append(_pack(one, length, code, near, more))
    sources = zip(neighbours, source_lengths, strict=True)
    return {
        "key": digest(contents),
        "classes": contents.classes,
        "new": [code[name] for name in contents.new_classes],
        "styles": [
            *(STYLES[groups[name]] for name in contents.classes),
            *STYLES[len(contents.classes) :],  # of labels that a reviewer adds
            STYLES[-1],
        ],
        "doubtful": least_confidence(len(contents.classes)),
        "reference": contents.reference,
        "command": contents.run.next_command,
        "documents": documents,
        "sources": [
            [name, label, text[:length], len(text) - length]
            for (name, label, text), length in sources
        ],
    }


def _pack(
    one: DocumentEntry, length: int, code: dict[str, int], near: list[Any], more: list[Any]
) -> dict[str, Any]:
    """Return a document, with ``length`` characters of its text; fields that say no are left out.

    ``near`` are the numbers of its neighbours and their similarities, ``more`` its other columns.
    """
    spans = [span for span in one.spans if span[1] <= length]
    packed = {
        "id": one.id,
        "text": one.text[:length],
        "label": code[one.label],
        "confidence": round(one.confidence, 4),
        "probabilities": [round(value, 3) for value in one.probabilities],
        "round": one.round,
        "spans": to_units(one.text[:length], spans),
        "near": near,
    }
    known = {"reference": code.get(one.reference_label or ""), "truth": one.truth}
    packed |= {name: value for name, value in known.items() if value is not None}
    others = {
        "more": more,
        "corrected": one.corrected,
        "drawn": one.drawn,
        "abstained": one.abstained,
        "unexplained": not one.explained,
        "cut": len(one.text) - length,
    }
    return packed | {name: value for name, value in others.items() if value}


def digest(contents: ReportContents) -> str:
    """Return a digest that identifies a run: of classes, ids, texts and labels, not of the time."""
    found = sha256(f"[{as_json(contents.classes)},[".encode())
    for number, one in enumerate(contents.documents):  # one by one, since they can be long
        entry = as_json([one.id, one.text, one.label, one.corrected])
        found.update(f"{',' if number else ''}{entry}".encode())
    found.update(b"]]")
    return found.hexdigest()[:20]


def fit_lengths(texts: Sequence[str], budget: int) -> list[int]:
    """Return for each text the number of characters to keep, so that all fit into ``budget`` bytes.

    Only the longest texts are cut, all of them to about the same number of bytes of JSON.
    """
    sizes = [len(as_json(text).encode()) for text in texts]
    limit, left = float(budget), budget
    for rank, size in enumerate(sorted(sizes)):
        limit = left / (len(sizes) - rank)
        if size > limit:
            break
        left -= size
    else:
        return [len(text) for text in texts]
    return [
        len(text) if size <= limit else int(len(text) * limit / size)
        for text, size in zip(texts, sizes, strict=True)
    ]


def to_units(text: str, spans: Sequence[Highlight]) -> list[list[Any]]:
    """Return highlights with offsets in UTF-16 units: a character beyond U+FFFF has two."""
    wide = [] if text.isascii() else [place for place, char in enumerate(text) if char > "\uffff"]

    def units(offset: int) -> int:
        return offset + bisect_left(wide, offset)

    return [
        [units(start), units(stop), round(strength, 2), code]
        for start, stop, strength, code in spans
    ]


def _identify(near: SimilarDocument) -> tuple[str, str, str]:
    return near.id, near.label, near.text
