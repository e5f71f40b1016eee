"""Saving a fitted classifier, and loading it without running anything that the file says."""

import os
import platform
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramshift.estimators.archive import ModelFileError, read_archive, write_archive
from gramshift.estimators.model import Model
from gramshift.estimators.string_kernel import StringKernel

if TYPE_CHECKING:
    from gramshift.estimators.transductive import TransductiveClassifier

FORMAT = "gramshift-model"
FORMAT_VERSION = 1
LIBRARIES = ("gramshift", "numpy", "scipy", "scikit-learn", "numba")
ARRAYS = {
    "text_bytes": "<u1",
    "text_ends": "<i8",
    "coefficients": "<f8",
    "intercepts": "<f8",
    "scores": "<f8",
    "labeled_iter": "<i8",
    "source_codes": "<i8",
}


def save_classifier(classifier: "TransductiveClassifier", path: str | os.PathLike[str]) -> None:
    """Parameters and labels as JSON, the rest as arrays; probabilities are calibrated first."""
    model, parameters = classifier._model, classifier.get_params(deep=False)
    texts = list(model.documents) if model.comparison is not None else []
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()},
        "parameters": parameters | {"kernel": _kernel_to_json(classifier.kernel), "ngram_range": list(classifier.ngram_range)},
        "classes": _labels_to_json(classifier.classes_),
        "history": [step | {"added": list(step["added"].values())} for step in classifier.history_],
        "steepness": classifier._calibrate(),
        "normalized": model.normalized,
    }
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    arrays: dict[str, Any] = {
        "text_bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "text_ends": np.cumsum([len(text) for text in encoded], dtype=np.int64),
        "coefficients": model.coefficients,
        "intercepts": model.intercepts,
        "scores": classifier.transduction_score_,
        "labeled_iter": classifier.labeled_iter_,
        "source_codes": classifier._training[1],
    }
    write_archive(path, head, {name: np.asarray(arrays[name], dtype) for name, dtype in ARRAYS.items()})


def load(path: str | os.PathLike[str]) -> "TransductiveClassifier":
    """The classifier that ``save`` wrote; it predicts the same, to the last bit."""
    head, arrays = read_archive(path, ARRAYS)
    if head.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a Gramshift model")
    if head.get("format_version") != FORMAT_VERSION:
        made_by = head.get("versions", {}).get("gramshift", "another version")
        raise ModelFileError(
            f"{path} has format {head.get('format_version')!r}, made by gramshift {made_by}; this one reads {FORMAT_VERSION}"
        )
    try:
        return _rebuild(head, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFileError(f"{path} is not a Gramshift model that can be trusted: {error}") from None


def _rebuild(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "TransductiveClassifier":
    from gramshift.estimators.transductive import Calibration, TransductiveClassifier

    parameters = dict(head["parameters"])
    parameters["kernel"] = _kernel_from_json(parameters["kernel"])
    parameters["ngram_range"] = tuple(parameters["ngram_range"])
    classifier = TransductiveClassifier(**parameters)
    comparison = classifier._check_parameters()
    classes = _labels_from_json(head["classes"])
    iteration, codes = arrays["labeled_iter"], arrays["source_codes"]
    n, n_classes = len(iteration), len(classes)
    source = np.flatnonzero(iteration == 0)
    shapes = {
        "coefficients": (n, n_classes),
        "intercepts": (n_classes,),
        "scores": (n - len(source), n_classes),
        "source_codes": (len(source),),
        "text_ends": (n if comparison is not None else 0,),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape} where {shape} fits the rest")
    if ((codes < 0) | (codes >= n_classes)).any() or (iteration < -1).any():
        raise ValueError("it names classes or rounds that there are not")
    texts = _texts(arrays["text_bytes"], arrays["text_ends"])
    classifier.classes_ = classes
    classifier._model = Model(
        comparison, texts, bool(classifier.adapt), arrays["coefficients"], arrays["intercepts"], bool(head["normalized"])
    )
    classifier._training = source, codes, source[:0], codes[:0]
    classifier._calibration = Calibration(float(head["steepness"]))
    classifier.transduction_score_ = arrays["scores"]
    classifier.transduction_ = classes[arrays["scores"].argmax(axis=1)] if len(arrays["scores"]) else classes[:0]
    classifier.labeled_iter_ = iteration
    names = classes.tolist()
    classifier.history_ = [dict(step) | {"added": dict(zip(names, step["added"], strict=True))} for step in head["history"]]
    return classifier


def _texts(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    bounds = [0, *ends.tolist()]
    if bounds[-1] != len(data) or any(a > b for a, b in pairwise(bounds)):
        raise ValueError("its texts do not end where it says")
    whole = data.tobytes()
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def _kernel_to_json(kernel: Any) -> Any:
    if isinstance(kernel, str):
        return kernel
    if isinstance(kernel, StringKernel):
        return kernel.get_params()
    if isinstance(kernel, (list, tuple)):
        return [_kernel_to_json(one) for one in kernel]
    raise TypeError(f"kernel={kernel!r} is a function and cannot be saved; use a StringKernel, or save the labels instead")


def _kernel_from_json(kernel: Any) -> Any:
    if isinstance(kernel, dict):
        return StringKernel(**kernel | {"ngram_range": tuple(kernel["ngram_range"])})
    return [_kernel_from_json(one) for one in kernel] if isinstance(kernel, list) else kernel


def _labels_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    if classes.dtype.kind not in "Uiufb":
        raise TypeError(f"labels of type {classes.dtype} cannot be saved; fit with labels that are str, int, float or bool")
    return {"dtype": classes.dtype.str, "values": classes.tolist()}


def _labels_from_json(labels: dict[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(str(labels["dtype"]))
    if dtype.kind not in "Uiufb" or not isinstance(labels["values"], list):
        raise ValueError(f"its labels have type {dtype}")
    return np.array(labels["values"]).astype(dtype)
