"""Checking n-gram ranges."""

from numbers import Integral
from typing import Any

from gramshift.errors import InputError, InputTypeError


def check_ngram_range(value: Any) -> tuple[int, int]:
    """(lo, hi) with 1 <= lo <= hi, or an error that says what to type instead."""
    rule = "give two whole numbers (lo, hi) with 1 <= lo <= hi, for example (5, 8)"
    try:
        lo, hi = value
    except (TypeError, ValueError):
        hint = f"; for one length only: ({value}, {value})" if isinstance(value, Integral) else ""
        raise InputError(f"ngram_range={value!r}: {rule}{hint}") from None
    if any(isinstance(n, bool) or not isinstance(n, Integral) for n in (lo, hi)):
        whole = all(isinstance(n, float) and n.is_integer() for n in (lo, hi) if not isinstance(n, Integral))
        raise InputTypeError(f"ngram_range={value!r}: {rule}" + (f"; did you mean ({int(lo)}, {int(hi)})?" if whole else ""))
    if lo > hi >= 1:
        raise InputError(f"ngram_range={value!r}: {rule}; did you mean ({hi}, {lo})?")
    if lo < 1:
        raise InputError(f"ngram_range={value!r}: {rule}")
    return int(lo), int(hi)
