"""Values of cells that Python would tell otherwise than their file does, and the text of any value in a csv and in JSON."""

import json
from dataclasses import dataclass
from json.encoder import encode_basestring
from math import isfinite
from typing import Any


@dataclass(frozen=True, slots=True)
class Written:
    """A value by its text: a number with the digits that it has in its file, or a date, a time or bytes of a parquet file."""

    text: str
    is_number: bool = False

    def __str__(self) -> str:
        return self.text


def as_written(text: str) -> Written:
    """Keep the text of a number: a hook for ``json.loads``."""
    return Written(text, is_number=True)


def read_exactly(line: str) -> dict[str, Any]:
    """Read an object of a jsonl again, every number by its text: 1.10, -0 and 1e400 are told as they stand."""
    row: dict[str, Any] = json.loads(line, parse_float=as_written, parse_int=as_written, parse_constant=as_written)
    return row


def is_exact(value: Any) -> bool:
    """Whether the text of a JSON value is sure to be what Python would write; 0 may have been -0."""
    return value is None or isinstance(value, (str, bool)) or (isinstance(value, int) and value != 0)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any) -> str:
    """Write JSON. Numbers that are told by their text keep it; NaN and infinity of Python, which JSON lacks, become null."""
    try:
        return _encode(value)
    except (TypeError, ValueError):  # there is something in it that the json of Python does not know
        return _told(value)


def _told(value: Any) -> str:
    if isinstance(value, Written):
        return value.text if value.is_number else encode_basestring(value.text)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{encode_basestring(str(key))}: {_told(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_told, value)) + "]"
    if isinstance(value, float) and not isfinite(value):
        return "null"
    if value is None or isinstance(value, (str, bool, int, float)):
        return _encode(value)
    return encode_basestring(str(value))


def cell_text(value: Any) -> str:
    """Write a cell of a csv: strings, dates and bytes as they are, nothing for None, all else as JSON would have it."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Written):
        return value.text
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    if isinstance(value, (bool, int, float, dict, list, tuple)):
        return json_text(value)
    return str(value)
