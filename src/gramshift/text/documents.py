"""Conversion of documents in any container to a list of str, or one clear error."""

from collections.abc import Iterable, Mapping, Set
from hashlib import blake2b
from math import isnan
from typing import Any

import numpy as np

from gramshift.errors import InputTypeError, short

DIGEST = 16  # bytes of a document's digest
MAX_COLUMNS = 10  # that an error names


def as_documents(documents: Any, *, name: str = "documents") -> list[str]:
    """Return a list of str from any iterable of str.

    This can be a list, tuple or array, a column of pandas, polars or Dask, a frame or an array of
    one column, or a Dask bag.
    """
    if hasattr(documents, "__dask_graph__"):
        documents = _compute(documents, name)
    if isinstance(documents, (str, bytes)):
        raise InputTypeError(
            f"{name} is a single {type(documents).__name__}; give a list of str, for one "
            f"document [{name}]"
        )
    shape = getattr(documents, "shape", None)
    if shape is not None and len(shape) == 2:
        documents, shape = _only_column(documents, shape[1], name), None
    if shape is not None and len(shape) != 1:
        raise InputTypeError(
            f"{name} has shape {tuple(shape)}; give one column of texts, for example frame['text']"
        )
    if isinstance(documents, (Mapping, Set)) or not isinstance(documents, Iterable):
        raise InputTypeError(f"{name} is of type {type(documents).__name__}; give a list of str")
    texts = as_list(documents)
    if set(map(type, texts)) <= {str}:
        return texts
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(
                f"{name}[{row}] is {_describe(text)}; every document must be a str{_advice(text)}"
            )
    return texts


def _only_column(documents: Any, n_columns: int, name: str) -> Any:
    """Return the column of a frame or an array; raise an error if it has several or none."""
    if n_columns == 0:
        raise InputTypeError(f"{name} has no columns; give one of texts")
    # of the class: a frame may have a column of this name
    attribute = "column_names" if hasattr(type(documents), "column_names") else "columns"
    if not hasattr(documents, attribute):
        if n_columns == 1:
            return np.asarray(documents)[:, 0]
        raise InputTypeError(
            f"{name} has {n_columns} columns; give the one with the texts, for example {name}[:, 0]"
        )
    columns = list(getattr(documents, attribute))
    if n_columns == 1:
        return documents[columns[0]]
    usual = "text" if "text" in columns else columns[0]
    shown = [short(str(column)) for column in columns[:MAX_COLUMNS]]
    names = ", ".join(shown) + (", ..." if columns[MAX_COLUMNS:] else "")
    raise InputTypeError(
        f"{name} has {n_columns} columns: {names}; give the one with the texts, for example "
        f"{name}[{short(repr(usual))}]"
    )


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
