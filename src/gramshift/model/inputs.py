"""What fit and predict are given, as arrays and lists, or one clear error."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Described
from gramshift.learn.leaves.cells import find_faults
from gramshift.model.labels import as_labels
from gramshift.model.target import Target
from gramshift.runtime.threads import run_threads

BLOCK = 256


def gather(X: Any, y: Any, target: Any, *, read: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """Source and target documents one after another, and their labels with gaps for the target."""
    target = target.documents if isinstance(target, Target) else target
    documents = read(X, name="X")
    labels = as_labels(y, n_documents=len(documents))
    if target is None:
        return documents, labels
    more = read(target, name="target")
    if not len(more):
        raise ValueError("target is an empty list; leave it out for an ordinary classifier")
    labels = labels + [None] * len(more)
    return (documents + more if isinstance(documents, list) else np.vstack([documents, more])), labels


def check_gram(gram: Any, *, name: str = "X", n_threads: int = 1) -> NDArray[Any]:
    """A square, symmetric gram of finite numbers as int64 or float64, or an error that names the first fault."""
    result = as_gram(gram)
    tolerance = 1e-5 if getattr(gram, "dtype", None) in (np.float32, np.float16) else 1e-9
    if result.ndim != 2 or result.shape[0] != result.shape[1]:
        raise ValueError(f"{name} has shape {result.shape}; a gram of source and target documents is square")
    own = np.diagonal(result)
    if (own < 0).any():
        row = int(np.argmax(own < 0))
        raise ValueError(f"{name}[{row}, {row}] is negative; a document cannot be that unlike itself")
    scale = Described.from_gram(result, adapt=False).scale

    def search(start: int) -> NDArray[np.int64]:
        fault = np.zeros(3, np.int64)
        find_faults(result, scale, np.arange(start, min(start + BLOCK, len(result))), tolerance, fault)
        return fault

    for row, column, kind in run_threads(search, range(0, len(result), BLOCK), n_threads=n_threads):
        if kind:
            raise ValueError(_describe_fault(name, result, row, column, kind))
    return result


def check_rows(similarity: NDArray[Any], *, name: str = "X") -> None:
    """Similarities of new documents: finite, and none beyond 1."""
    wrong = ~(np.abs(similarity) <= 1 + 1e-6)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = similarity[row, column]
        raise ValueError(f"{name}[{row}, {column}] is {value}; similarities of new documents are finite, from -1 to 1")


def _describe_fault(name: str, gram: NDArray[Any], row: int, column: int, kind: int) -> str:
    value, mirror = gram[row, column], gram[column, row]
    here, there = f"{name}[{row}, {column}]", f"{name}[{column}, {row}]"
    if kind == 1:
        place, value = (there, mirror) if np.isfinite(value) else (here, value)
        return f"{place} is {value}; every value of a gram must be finite, without NaN or infinity"
    if kind == 2:
        return f"{here} is {value} and {there} is {mirror}; a gram is symmetric"
    return f"{here} is {value}, beyond the root of {name}[{row}, {row}] times {name}[{column}, {column}]: no kernel gives that"


def as_gram(gram: Any) -> NDArray[Any]:
    """An array of int64 or float64 that leaves can read; the user's own where it is one."""
    if hasattr(gram, "toarray"):
        raise TypeError("X is sparse; sparse data is not supported, give X.toarray()")
    try:
        result = np.asarray(gram)
        if result.dtype.kind not in "iufb":
            result = result.astype(float)
    except (TypeError, ValueError):
        raise TypeError("X is not a matrix of numbers; with texts choose another kernel than 'precomputed'") from None
    whole = result.dtype.kind in "ib" or (result.dtype.kind == "u" and result.dtype.itemsize < 8)
    return np.ascontiguousarray(result, dtype=np.int64 if whole else np.float64)
