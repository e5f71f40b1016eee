"""Labels as users give them: missing ones, classes, and weights of documents."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from gramshift.errors import InputError, InputTypeError
from gramshift.terminal import count_in_words
from gramshift.text.documents import as_list

MAX_LABEL_CHARACTERS = 1000  # characters; arrays of labels have room for the longest in every row
MIN_DISTINCT_LABELS = 20  # from this number on, documents that all differ in class are a mistake


def is_missing(label: Any) -> bool:
    """Return True for None, NaN and pandas' NA; -1 is a label like any other."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def as_labels(y: Any, *, n_documents: int) -> list[Any]:
    """Return one label, or gap, per document, as Python objects in a list."""
    if y is None:
        raise InputError(
            "fit requires y to be passed, but the target y is None; give one label per document, "
            "None for those without"
        )
    if isinstance(y, (str, bytes, Mapping, Set)) or not (
        isinstance(y, Iterable) or hasattr(y, "__array__")
    ):
        raise InputTypeError(
            f"y is a single {type(y).__name__}; give a list with one label per document"
        )
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 1:
        message = (
            "A column-vector y was passed when a 1d array was expected; its one column is taken as "
            "the labels"
        )
        warnings.warn(message, DataConversionWarning, stacklevel=3)
        y, shape = np.asarray(y).ravel(), None
    if shape is not None and len(shape) != 1:
        raise InputError(
            f"y has shape {tuple(shape)}; give one column of labels, for example frame['label']"
        )
    labels = as_list(y)
    if len(labels) != n_documents:
        raise InputError(
            f"y has {count_in_words(len(labels), 'label')} for"
            f" {count_in_words(n_documents, 'document')}; give one each, None for those without"
        )
    for row, label in enumerate(labels):
        if isinstance(label, (str, bytes)) and len(label) > MAX_LABEL_CHARACTERS:
            words = (
                f"y[{row}] has {len(label)} characters, {label[:40]!r} ...; a label has "
                f"{MAX_LABEL_CHARACTERS} at most"
            )
            raise InputError(f"{words}: is this the column of labels, or that of texts?")
    return labels


def find_alike(labels: Iterable[Any]) -> list[str]:
    """Return warnings about labels that differ only by case or blanks."""
    alike: dict[str, set[str]] = {}
    for label in {label for label in labels if isinstance(label, str)}:
        alike.setdefault(" ".join(label.split()).casefold(), set()).add(label)
    shown = [
        " and ".join(map(repr, sorted(several))) for several in alike.values() if len(several) > 1
    ]
    return [
        f"the labels {one} differ only by case or blanks, and are different classes"
        for one in sorted(shown)
    ]


def encode_labels(labels: list[Any], *, name: str = "y") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in order, and the number of each label's class.

    Errors call the labels by their ``name``. Only the classes become an array: one of all labels
    would have room for the longest of them in every row.
    """
    kind = _find_kind(labels, name)
    distinct = sorted(dict.fromkeys(labels))
    for label in distinct:
        if isinstance(label, (str, bytes)) and label[-1:] in ("\0", b"\0"):
            raise InputError(
                f"{name} has the label {label!r}, which ends with a NUL character; remove it"
            )
        if isinstance(label, (int, np.integer)) and not -(2**63) <= int(label) < 2**63:
            raise InputError(
                f"{name} has the label {label}, which has more than 64 bits with its sign; make it "
                f"a str"
            )
        if isinstance(label, (float, np.floating)) and label % 1 != 0:
            raise InputError(
                f"Unknown label type: {name} is continuous, it has {label}; if these are classes, "
                f"make them str"
            )
    classes = _make_classes(distinct, name)
    if len(classes) < 2:
        shown = f"one class only, {classes.tolist()[0]!r}" if len(classes) else "no label at all"
        raise InputError(f"{name} has {shown}; a classifier needs documents of at least 2 classes")
    if len(classes) == len(labels) >= MIN_DISTINCT_LABELS and kind == "str":
        raise InputError(
            f"{name} has {len(classes)} different labels for as many documents; are X and y "
            f"swapped?"
        )
    numbers = {label: number for number, label in enumerate(distinct)}
    return classes, np.fromiter((numbers[label] for label in labels), np.intp, len(labels))


def _find_kind(labels: list[Any], name: str) -> str | None:
    """Return the kind of the labels, which must be the same for all; None without labels."""
    kinds = {one: _kind(one) for one in set(map(type, labels))}
    for label in labels if None in kinds.values() else []:
        if kinds[type(label)] is None:
            given = f"{name} has the label {label!r} ({type(label).__name__})"
            raise InputTypeError(
                f"{given}; labels are str, numbers of up to 64 bits or bool: make it a str"
            )
    found = {kind for kind in kinds.values() if kind is not None}
    if len(found) > 1:
        examples = ", ".join(
            repr(next(label for label in labels if kinds[type(label)] == kind))
            for kind in sorted(found)
        )
        raise InputTypeError(
            f"{name} mixes labels of different types ({examples}); make them all of one, for "
            f"example all str"
        )
    return next(iter(found), None)


def _kind(of_type: type) -> str | None:
    """Return the kind of labels of a type; None for what is no label."""
    if issubclass(of_type, (Enum, np.timedelta64, np.longdouble)):  # files cannot hold the last
        return None
    kinds: list[tuple[str, tuple[type, ...]]] = [
        ("bool", (bool, np.bool_)),
        ("number", (int, float, np.integer, np.floating)),
        ("str", (str,)),
        ("bytes", (bytes,)),
    ]
    return next((kind for kind, types in kinds if issubclass(of_type, types)), None)


def _make_classes(ordered: list[Any], name: str) -> NDArray[Any]:
    """Return an array of classes; whole numbers never pass through floats that cannot hold them."""
    whole = [
        label
        for label in ordered
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool)
    ]
    if len(whole) == len(ordered) > 0:
        classes = np.array(ordered)
        if classes.dtype.kind in "iu":
            return classes
        return np.array([int(label) for label in ordered], np.int64)
    large = next((label for label in whole if abs(int(label)) > 2**53), None)
    if large is not None:
        raise InputError(
            f"{name} has the label {large} among floats, which cannot hold it; make all of them "
            f"int, or str"
        )
    return np.array(ordered)


def weigh_documents(
    labels: list[Any], is_source: NDArray[np.bool_], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64] | None:
    """Return a weight for each document, from the user's weights of X and of classes.

    None means that all have weight 1.
    """
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(labels))
    if sample_weight is not None:
        given = np.asarray(sample_weight, float)
        if given.ndim != 1 or len(given) > len(labels) or is_source[len(given) :].any():
            raise InputError(
                f"sample_weight has {given.size} numbers; give one for each document of X"
            )
        wrong = ~(np.isfinite(given) & (given > 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"sample_weight[{row}] is {given[row]:g}; weights are above 0: leave out what "
                f"shall not count"
            )
        weights[: len(given)] = given
    source = [label for label, known in zip(labels, is_source, strict=True) if known]
    if class_weight is not None:
        worth = _class_weights(source, class_weight)
        weights[is_source] *= [worth[label] for label in source]
    weights[~is_source] = 1.0
    weights[is_source] /= weights[is_source].mean()
    return weights


def _class_weights(labels: list[Any], class_weight: Any) -> dict[Any, float]:
    """Return the weight of each class: as given, or so that all classes count alike."""
    counts = Counter(labels)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return {label: len(labels) / (len(counts) * count) for label, count in counts.items()}
    if not isinstance(class_weight, Mapping) or not set(class_weight) <= set(counts):
        raise InputError(
            f"class_weight={class_weight!r}: give 'balanced', or a dict with a weight for some of "
            f"{sorted(counts)}"
        )
    for label, weight in class_weight.items():
        is_number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not is_number or not 0 < weight < np.inf:
            raise InputError(f"class_weight[{label!r}] is {weight!r}; give a number above 0")
    given = {label: float(weight) for label, weight in class_weight.items()}
    return dict.fromkeys(counts, 1.0) | given
