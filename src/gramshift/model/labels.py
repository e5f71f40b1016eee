"""Labels as users have them: of any type, with gaps."""

import warnings
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from gramshift.model.settings import given_shares
from gramshift.text.documents import as_list

SUSPICIOUS = 20  # so many documents, each of a class of its own, are a mistake


def is_missing(label: Any) -> bool:
    """None, NaN and pandas' NA mark a document without a label; -1 is a label like any other."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


@dataclass(frozen=True)
class Known:
    """What is known of the documents of a fit: which are source, and the classes of these."""

    is_source: NDArray[np.bool_]
    classes: NDArray[Any]
    codes: NDArray[np.intp]


def read_labels(labels: list[Any], select: Any) -> Known:
    """From labels with gaps; shares that are given for classes must be those of all of them."""
    is_source = np.array([not is_missing(label) for label in labels], bool)
    classes, codes = encode_labels([label for label in labels if not is_missing(label)])
    if isinstance(select, Mapping):
        given_shares(select, classes.tolist())
    return Known(is_source, classes, codes)


def as_labels(y: Any, *, n_documents: int) -> list[Any]:
    """One label, or gap, per document, as Python objects in a list."""
    if y is None:
        raise ValueError(
            "fit requires y to be passed, but the target y is None; give one label per document, None for those without"
        )
    if isinstance(y, (str, bytes, Mapping, Set)) or not (isinstance(y, Iterable) or hasattr(y, "__array__")):
        raise TypeError(f"y is a single {type(y).__name__}; give a list with one label per document")
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is taken as the labels"
        warnings.warn(message, DataConversionWarning, stacklevel=3)
        y, shape = np.asarray(y).ravel(), None
    if shape is not None and len(shape) != 1:
        raise ValueError(f"y has shape {tuple(shape)}; give one column of labels, for example frame['label']")
    labels = as_list(y)
    if len(labels) != n_documents:
        raise ValueError(f"y has {len(labels)} labels for {n_documents} documents; give one each, None for those without")
    return labels


def encode_labels(labels: list[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in order, and the number of each label's class."""
    for label in labels:
        if not isinstance(label, (str, bytes, bool, int, float, np.generic)) or isinstance(label, (Enum, np.datetime64)):
            raise TypeError(
                f"y has the label {label!r} ({type(label).__name__}); labels are str, numbers or bool: make it a str"
            )
        if isinstance(label, (str, bytes)) and label[-1:] in ("\0", b"\0"):
            raise ValueError(f"y has the label {label!r}, which ends with a NUL character; remove it")
        if isinstance(label, int) and not -(2**63) <= label < 2**63:
            raise ValueError(f"y has the label {label}, which has more than 64 bits; make it a str")
    kinds = {_kind(label) for label in labels}
    if len(kinds) > 1:
        examples = ", ".join(repr(next(label for label in labels if _kind(label) == kind)) for kind in sorted(kinds))
        raise TypeError(f"y mixes labels of different types ({examples}); make them all of one, for example all str")
    fraction = next((label for label in labels if isinstance(label, (float, np.floating)) and label % 1 != 0), None)
    if fraction is not None:
        raise ValueError(f"Unknown label type: y is continuous, it has {fraction}; if these are classes, make them str")
    classes, codes = np.unique(np.array(labels), return_inverse=True)
    if len(classes) < 2:
        shown = f"one class only, {classes.tolist()[0]!r}" if len(classes) else "no label at all"
        raise ValueError(f"y has {shown}; a classifier needs documents of at least 2 classes")
    if len(classes) == len(labels) >= SUSPICIOUS and kinds == {"str"}:
        raise ValueError(f"y has {len(classes)} different labels for as many documents; are X and y swapped?")
    return classes, codes.astype(np.intp)


def _kind(label: Any) -> str:
    if isinstance(label, (bool, np.bool_)):
        return "bool"
    if isinstance(label, (int, float, np.number)):
        return "number"
    return type(label).__name__
