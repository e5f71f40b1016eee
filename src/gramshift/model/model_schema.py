"""The contents of model files, and the checks of every part before anything is made of it.

Compiled code trusts its arrays, so their types, shapes and values are checked here.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.encoding import MAX_NAME, SENTENCES
from gramshift.text.documents import DIGEST

PRECOMPUTED = "precomputed"  # a kernel matrix of the user
ROWS = "rows"  # the cosine of rows of numbers, such as embeddings
FORMAT = "gramshift-model"
FORMAT_VERSION = 1
MAX_CLASSES = 5_000  # scores of 4096 texts take 160 MB then
MAX_NGRAM_LENGTH = 1_000  # far beyond any useful fit, and short enough to look up in time
MAX_KERNELS = 64
MAX_ITEMS = 10_000  # of a list in the head that has no other size
MAX_COUNT = 2**62
MAX_NUMBER = 1e60  # products of three such numbers, and sums of these, are still finite
MIN_POSITIVE = 5e-324
MAX_SHARE = 1 - 1e-9  # of the kernel, for vectors: n-grams have the rest
OF_THE_MACHINE = ("n_jobs", "memory_limit", "encoder")
"""Parameters of the program that loads a file: they are neither saved nor taken from a file."""

COUNTS = ("n_unlabelled", "n_blank")
ROW_LISTS = ("without_domain", "corrected", "random")
STEP_LISTS = ("added", "labels", "class_prior")
PRIOR_LISTS = ("source", "estimated", "used", "errors", "limits")
HEAD_NAMES = {
    *("format", "format_version", "versions", "saved", "classes", "parameters", "settings"),
    *("steepness", "normalized", "history", "parts", "texts", "columns"),
    *("class_prior", "expected", "sources", "origins", "encoder", *COUNTS, *ROW_LISTS),
}

Sizes = dict[str, int]
"""Sizes by name. The first array that has a size defines it, and all others must agree."""


@dataclass(frozen=True)
class Array:
    """The declaration of an array. A side or an upper bound may be the name of a size."""

    dtype: str
    sides: tuple[str | int, ...]
    low: float = -MAX_NUMBER
    high: float | str = MAX_NUMBER
    below: str = ""
    """A size that all values are below, in place of ``high``."""
    is_ends: bool = False
    """Values never fall, and the last one equals ``high``: the ends of consecutive strings."""

    def check(self, name: str, value: NDArray[Any], sizes: Sizes) -> None:
        """Raise a ValueError if the type, the shape or a value is wrong; add new sizes."""
        if value.dtype != np.dtype(self.dtype):
            raise ValueError(f"{name} has values of type {value.dtype} instead of {self.dtype}")
        if value.ndim == len(self.sides):
            for side, length in zip(self.sides, value.shape, strict=True):
                if isinstance(side, str):
                    sizes.setdefault(side, length)
        shape = tuple(sizes.get(str(side), side) for side in self.sides)
        if value.shape != shape:
            raise ValueError(f"{name} has shape {value.shape} where {shape} fits the rest")
        high = sizes[self.high] if isinstance(self.high, str) else self.high
        if self.below:
            high = sizes[self.below] - 1
        if self.is_ends and (value[-1] if value.size else 0) != high:
            raise ValueError(f"{name} does not end where it should")
        if not value.size:
            return
        smallest, largest = value.min(), value.max()
        if not self.low <= smallest <= largest <= high:  # false for NaN, too
            allowed = f"must be from {self.low:g} to {high:g}"
            raise ValueError(f"{name} has values from {smallest} to {largest}; they {allowed}")
        if self.is_ends and (value[1:] < value[:-1]).any():
            raise ValueError(f"{name} is not in order")


BY_CLASS = Array("<f8", ("target", "classes"))


def check_head(head: Any) -> None:
    """Raise a ValueError if the head of a file is not one that this version writes."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ValueError("it does not call itself a Gramshift model")
    version = head.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        versions = head.get("versions")
        made_by = versions.get("gramshift") if isinstance(versions, dict) else "another version"
        found = f"it has format {str(version)[:20]}, made by gramshift {str(made_by)[:20]}"
        raise ValueError(f"{found}; this one reads {FORMAT_VERSION}")
    _check_record("its head", head, HEAD_NAMES)
    if not isinstance(head["versions"], dict):
        raise ValueError("versions are not names with their values")
    for text in ("saved", head["saved"]), *(("versions", one) for one in head["versions"].values()):
        _check_text(*text)
    for name in ("normalized", "texts"):
        if type(head[name]) is not bool:
            raise ValueError(f"{name} is neither true nor false")
    for name in ("parameters", "settings"):
        if not isinstance(head[name], dict):
            raise ValueError(f"{name} are not names with their values")
        _check_finite(name, head[name])
    _check_number("steepness", head["steepness"], low=MIN_POSITIVE)
    _check_count("parts", head["parts"], high=MAX_KERNELS)
    for name in ("columns", *COUNTS):
        _check_count(name, head[name])
    _check_record("classes", head["classes"], {"dtype", "values"})
    _check_text("the type of its classes", head["classes"]["dtype"])
    classes = head["classes"]["values"]
    if not isinstance(classes, list) or len(classes) > MAX_CLASSES:
        raise ValueError(f"its classes are not a list of at most {MAX_CLASSES} values")
    if head["encoder"] is not None:
        _check_record("encoder", head["encoder"], ("name", "width", "share"))
        _check_text("the name of its encoder", head["encoder"]["name"], longest=MAX_NAME)
        _check_count("the width of its encoder", head["encoder"]["width"])
        _check_number("the share of its encoder", head["encoder"]["share"], low=0, high=MAX_SHARE)
    _check_history(head["history"], len(classes))
    _check_findings(head, len(classes))


def _check_history(history: Any, n_classes: int) -> None:
    for step in _check_list("history", history):
        _check_record("history", step, {*STEP_LISTS, "changed", "seconds"})
        for name in ("added", "labels"):
            for count in _check_list(name, step[name], n_classes):
                _check_count(name, count)
        if step["class_prior"] is not None:
            _check_proportions("class_prior", step["class_prior"], n_classes)
        _check_count("changed", step["changed"])
        _check_number("seconds", step["seconds"], low=0)


def _check_findings(head: dict[str, Any], n_classes: int) -> None:
    """Check what a fit has found out beyond labels and probabilities; most of it may be null."""
    for name in ROW_LISTS:
        for row in _check_list(name, head[name]):
            _check_count(name, row)
    if (prior := head["class_prior"]) is not None:
        _check_record("class_prior", prior, PRIOR_LISTS)
        for name in PRIOR_LISTS:
            high = MAX_NUMBER if name == "errors" else 1
            _check_proportions(name, prior[name], n_classes, high=high)
    if (expected := head["expected"]) is not None:
        _check_record("expected", expected, ("value", "low", "high"))
        _check_proportions("expected", list(expected.values()), 3)
        if not expected["low"] <= expected["value"] <= expected["high"]:
            raise ValueError("its expected accuracy is not within its interval")
    for source in _check_list("sources", [] if head["sources"] is None else head["sources"]):
        if not isinstance(source, dict) or "domain" not in source or len(source) > MAX_ITEMS:
            raise ValueError("sources have no domain")
        _check_text("domain", source["domain"], longest=10_000)
        for name in source.keys() - {"domain"}:
            _check_number("sources", source[name])
    origins = [] if head["origins"] is None else head["origins"]
    for origin in _check_list("origins", origins, high=MAX_COUNT):
        for text in _check_list("origins", origin, 2):
            _check_text("origins", text, longest=MAX_COUNT)


def _check_record(name: str, value: Any, names: Collection[str]) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not a record")
    check_names(name, names, value)


def check_names(name: str, expected: Collection[str], found: Collection[str]) -> None:
    """Raise a ValueError if names are missing or unknown."""
    if missing := sorted(set(expected).difference(found)):
        raise ValueError(f"{name} lacks {missing[0]!r}")
    if unknown := sorted(set(found).difference(expected)):
        raise ValueError(f"{name} holds {unknown[0][:40]!r}, which is unknown")


def _check_list(
    name: str, value: Any, size: int | None = None, *, high: int = MAX_ITEMS
) -> list[Any]:
    if not isinstance(value, list) or (len(value) > high if size is None else len(value) != size):
        expected = f"at most {high}" if size is None else size
        raise ValueError(f"{name} is not a list of {expected} values")
    return value


def _check_proportions(name: str, value: Any, size: int, *, high: float = 1) -> None:
    for one in _check_list(name, value, size):
        _check_number(name, one, low=0, high=high)


def _check_number(
    name: str, value: Any, *, low: float = -MAX_NUMBER, high: float = MAX_NUMBER
) -> None:
    if type(value) not in (int, float) or not low <= value <= high:
        expected = f"a number from {low:g} to {high:g}"
        raise ValueError(f"{name} is {_shorten(value)}, but must be {expected}")


def _check_count(name: str, value: Any, *, high: int = MAX_COUNT) -> None:
    if type(value) is not int or not 0 <= value <= high:
        expected = f"a whole number from 0 to {high}"
        raise ValueError(f"{name} is {_shorten(value)}, but must be {expected}")


def _check_text(name: str, value: Any, longest: int = 100) -> None:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError(f"{name} is {_shorten(value)}, but must be a string of up to {longest}")


def _check_finite(name: str, value: Any) -> None:
    """Raise a ValueError if JSON holds NaN or infinity, which could not be written again."""
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            _check_finite(name, one)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} has a number that is not finite")


def _shorten(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def declare_arrays(head: dict[str, Any]) -> dict[str, Array]:
    """Return the arrays that a file with this head must have, in the order of their checks.

    A linear model has ``parts``, one for each kernel, and may have vectors and texts. Any other
    model has a coefficient for each document, and the documents that new ones are compared with:
    texts, rows of numbers in ``columns``, or none if kernel values are given.
    """
    arrays = {
        "labeled_iter": Array("<i8", ("documents",), low=-1),
        "source_codes": Array("<i8", ("source",), low=0, below="classes"),
        "known_codes": Array("<i8", ("documents",), low=-1, below="classes"),
        "intercepts": Array("<f8", ("classes",)),
        "scores": BY_CLASS,
        "held_out_scores": BY_CLASS,
    }
    kernel, n_parts, has_texts = head["settings"].get("kernel"), head["parts"], head["texts"]
    takes_texts = not isinstance(kernel, str) or kernel not in (ROWS, PRECOMPUTED)
    if takes_texts != (n_parts > 0 or has_texts):
        held = "neither texts nor n-grams" if takes_texts else "texts or n-grams"
        raise ValueError(f"it holds {held}, which does not go with its kernel")
    for number in range(n_parts):
        arrays |= declare_part(number)
    if n_parts:
        arrays["digests"] = Array("<u1", ("target", DIGEST))
    if head["encoder"] is not None:
        if not n_parts:
            raise ValueError("it has an encoder, but no n-grams")
        width = head["encoder"]["width"]
        arrays["centre"] = Array("<f8", (width,))
        arrays["vector_worth"] = Array("<f8", (width, "columns"))
        arrays["fingerprint"] = Array("<f8", (len(SENTENCES), width))
    if kernel == ROWS:
        arrays["rows"] = Array("<f8", ("documents", head["columns"]))
    if has_texts:
        arrays |= _declare_strings("text", "documents")
    if has_texts or not n_parts:
        arrays["coefficients"] = Array("<f8", ("documents", "classes"))
    if head["class_prior"] is not None:
        arrays["unadapted_codes"] = Array("<i8", ("target",), low=0, below="classes")
    return arrays


def declare_part(number: int) -> dict[str, Array]:
    """Return the arrays with the n-grams of one kernel; their trie is checked where it is built."""
    nodes, letters, features = (f"{name} {number}" for name in ("nodes", "alphabet", "features"))
    arrays = {
        "alphabet": Array("<u4", (letters,), low=0, high=0x10FFFF),
        "weights": Array("<f8", (features,), low=MIN_POSITIVE),
        "worth": Array("<f8", (features, "columns")),
        "parents": Array("<u4", (nodes,), low=0, below=nodes),
        "characters": Array("<u4", (nodes,), low=0, high=letters),
        "features": Array("<i4", (nodes,), low=-1, below=features),
    }
    words = _declare_strings("word", f"words {number}", suffix=f"_{number}")
    return {f"{name}_{number}": array for name, array in arrays.items()} | words


def _declare_strings(kind: str, size: str, suffix: str = "") -> dict[str, Array]:
    """Declare strings that are stored one after another: their bytes, and where each ends."""
    n_bytes = f"{kind}_bytes{suffix}"
    ends = Array("<i8", (size,), low=0, high=n_bytes, is_ends=True)
    return {n_bytes: Array("<u1", (n_bytes,)), f"{kind}_ends{suffix}": ends}
