"""Conversion of documents in any container to a list of str, or one clear error."""

from collections.abc import Iterable, Mapping, Set
from hashlib import blake2b
from math import isnan
from typing import Any

from gramshift.errors import InputTypeError

DIGEST = 16  # bytes of a document's digest


def as_documents(documents: Any, *, name: str = "documents") -> list[str]:
    """Return a list of str from any iterable of str.

    This can be a list, tuple or array, a column of pandas, polars or Dask, or a Dask bag.
    """
    if hasattr(documents, "__dask_graph__"):
        documents = _compute(documents, name)
    if isinstance(documents, (str, bytes)):
        raise InputTypeError(
            f"{name} is a single {type(documents).__name__}; give a list of str, for one "
            f"document [{name}]"
        )
    shape = getattr(documents, "shape", None)
    if shape is not None and len(shape) != 1:
        raise InputTypeError(
            f"{name} has shape {tuple(shape)}; give one column of texts, for example frame['text']"
        )
    if isinstance(documents, (Mapping, Set)) or not isinstance(documents, Iterable):
        raise InputTypeError(f"{name} is a {type(documents).__name__}; give a list of str")
    texts = as_list(documents)
    if set(map(type, texts)) <= {str}:
        return texts
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(
                f"{name}[{row}] is {_describe(text)}; every document must be a str{_advice(text)}"
            )
    return texts


def _compute(documents: Any, name: str) -> list[Any]:
    """Return the texts of a Dask bag or column, computed by the user's client or by threads."""
    import dask

    if getattr(documents, "ndim", 1) != 1 or not hasattr(documents, "to_delayed"):
        raise InputTypeError(
            f"{name} is a dask {type(documents).__name__}; give a bag of texts or one column, "
            "such as frame['text']"
        )
    return [text for part in dask.compute(*documents.to_delayed()) for text in as_list(part)]


def as_list(values: Any) -> list[Any]:
    """Return the entries of a list, array or column as Python objects."""
    for convert in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, convert):
            return list(getattr(values, convert)())
    if hasattr(values, "__array__") and not hasattr(values, "__iter__"):
        return list(values.__array__().tolist())
    return list(values)


def _describe(value: Any) -> str:
    """Return a short representation of a value, with its type."""
    shown = repr(value)
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return f"{shown} ({type(value).__name__})"


def _advice(value: Any) -> str:
    """Return what to do about a value that is not a str, if there is a usual remedy."""
    if isinstance(value, bytes):
        return ": decode it first, for example text.decode('utf-8')"
    missing = (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and isnan(value))
    )
    return ": drop the missing rows, or fill them with ''" if missing else ""


def digest_of(text: str) -> bytes:
    """Return the 128-bit digest of a text, by which a document is recognised."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()
