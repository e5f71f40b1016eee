"""Numbers with the digits that they have in their file, and the text of any value in a csv and in JSON."""

import json
from base64 import b64encode
from dataclasses import dataclass
from decimal import Decimal
from json.encoder import encode_basestring
from math import isfinite
from typing import Any


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number by its text, because Python would write it otherwise: 1.10, -0, 1e400."""

    text: str

    def __str__(self) -> str:
        return self.text


def read_exactly(line: str) -> dict[str, Any]:
    """Read an object of a jsonl again, every number by its text."""
    row: dict[str, Any] = json.loads(line, parse_float=WrittenNumber, parse_int=WrittenNumber, parse_constant=WrittenNumber)
    return row


def is_exact(value: Any) -> bool:
    """Return True if Python is sure to write a JSON value as it was; 0 may have been -0."""
    return value is None or isinstance(value, (str, bool)) or (isinstance(value, int) and value != 0)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any) -> str:
    """Write JSON. Numbers that are given by their text keep it; NaN and infinity of Python, which JSON lacks, become null."""
    try:
        return _encode(value)
    except (TypeError, ValueError):  # there is something in it that the json of Python does not know
        return _json_of_parts(value)


def _json_of_parts(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{encode_basestring(str(key))}: {_json_of_parts(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_json_of_parts, value)) + "]"
    if isinstance(value, float) and not isfinite(value):
        return "null"
    if value is None or isinstance(value, (str, bool, int, float)):
        return _encode(value)
    text = cell_text(value)
    return text if isinstance(value, (WrittenNumber, Decimal)) else encode_basestring(text)


def cell_text(value: Any) -> str:
    """Write a cell of a csv: strings as they are, bytes as base64, nothing for None, all else as JSON would have it."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    if isinstance(value, (bool, int, float, dict, list, tuple)):
        return json_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)
