"""Model files of baselines, and loading any model file."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramshift.baselines import CLASSES
from gramshift.model import saving as files
from gramshift.model.archive import ModelFileError, write_archive

if TYPE_CHECKING:
    from gramshift.baselines.base import Baseline
    from gramshift.model.classifier import TransductiveClassifier

FORMAT = "gramshift-baseline"
FORMAT_VERSION = 1
DTYPES = ("<f8", "<i8")
OWN = {"scores": "<f8", "labeled_iter": "<i8"}  # arrays that every baseline has


def save_baseline(baseline: "Baseline", path: str | os.PathLike[str]) -> None:
    """Parameters, labels, words and numbers as JSON, the rest as arrays; probabilities are calibrated first."""
    arrays = {name: value for name, value in baseline._state.items() if isinstance(value, np.ndarray)}
    arrays = {name: np.asarray(value, "<f8" if value.dtype.kind == "f" else "<i8") for name, value in arrays.items()}
    parameters = baseline._parameters
    if "kernel" in parameters:
        parameters = parameters | {"kernel": files.kernel_to_json(parameters["kernel"])}
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": files.library_versions(),
        "saved": files.now(),
        "class": type(baseline).__name__,
        "parameters": parameters,
        "classes": files.labels_to_json(baseline.classes_),
        "steepness": baseline._calibrate(),
        "history": [step | {name: list(step[name].values()) for name in ("added", "labels")} for step in baseline.history_],
        "state": {name: value for name, value in baseline._state.items() if name not in arrays},
        "arrays": {name: value.dtype.str for name, value in arrays.items()},
    }
    own = {"scores": baseline.transduction_score_, "labeled_iter": baseline.labeled_iter_}
    write_archive(path, head, arrays | {name: np.asarray(value, OWN[name]) for name, value in own.items()})


def load(path: str | os.PathLike[str]) -> "TransductiveClassifier | Baseline":
    """What ``save`` wrote, a classifier or a baseline; it predicts the same, to the last bit."""
    return load_with_head(path)[0]


def load_with_head(path: str | os.PathLike[str]) -> "tuple[TransductiveClassifier | Baseline, dict[str, Any]]":
    """The same, and what the file says of itself."""
    return files.load_as(path, files.CLASSIFIERS, files.Kind(FORMAT, (FORMAT_VERSION,), _arrays, _rebuild))


def _arrays(head: dict[str, Any]) -> dict[str, str]:
    arrays = head.get("arrays")
    if not isinstance(arrays, dict) or not all(dtype in DTYPES for dtype in arrays.values()) or set(arrays) & set(OWN):
        raise ModelFileError("its arrays are not those of a baseline")
    return arrays | OWN


def _rebuild(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Baseline":
    """The baseline, after it has scored two texts as a trial: what does not fit together shows there."""
    if head["class"] not in CLASSES:
        raise ValueError(f"there is no baseline {str(head['class'])[:20]!r}")
    parameters = {name: tuple(value) if name == "ngram_range" else value for name, value in head["parameters"].items()}
    if "kernel" in parameters:
        parameters["kernel"] = files.kernel_from_json(parameters["kernel"])
    baseline: Baseline = getattr(import_module(CLASSES[head["class"]]), head["class"])(**parameters)
    baseline._check_parameters()
    scores, iteration = (arrays.pop(name) for name in OWN)
    classes, steepness = files.labels_from_json(head["classes"]), float(head["steepness"])
    if not all(np.isfinite(array).all() for array in (scores, *arrays.values())) or not 0 < steepness < np.inf:
        raise ValueError("it has numbers that are not finite")
    if scores.shape != (int(np.sum(iteration != 0)), len(classes)) or not np.isin(iteration, (0, -1)).all():
        raise ValueError(f"its scores have shape {scores.shape} for {len(classes)} classes")
    baseline._state = head["state"] | arrays
    trial = baseline._score_texts(baseline._state, ["a trial of what it holds", ""])
    if trial.shape != (2, len(classes)) or not np.isfinite(trial).all():
        raise ValueError("it does not score texts")
    baseline._parameters, baseline._training, baseline._steepness = baseline.get_params(deep=False), None, steepness
    baseline.classes_, baseline.transduction_score_, baseline.labeled_iter_ = classes, scores, iteration
    baseline.history_ = [files.read_step(step, classes.tolist()) for step in head["history"]]
    baseline.transduction_ = classes[scores.argmax(axis=1)] if len(scores) else classes[:0]
    return baseline
