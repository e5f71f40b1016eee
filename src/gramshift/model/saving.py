"""Saving a fitted classifier, and loading it without running anything that the file says."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.kernels.weighting import RESCALED
from gramshift.learn.labelling import Labelling
from gramshift.learn.rounds import Calibration
from gramshift.model.archive import ModelFileError, read_archive, write_archive
from gramshift.model.fitted import Fit, Model, Sampled, read_told, told_to_json
from gramshift.model.ngram_model import NGramModel, NGramPart
from gramshift.model.settings import PRESETS, Settings
from gramshift.model.similarities import Reference, similarities_of
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.table import NGramTable
from gramshift.runtime.memory import parse_bytes
from gramshift.runtime.resources import Runtime, check_engine
from gramshift.runtime.threads import count_threads
from gramshift.text.corpus import DIGEST
from gramshift.text.words import Vocabulary

FORMAT = "gramshift-model"
FORMAT_VERSION, WITH_LANDMARKS, OF_NGRAMS = 2, 3, 4
LIBRARIES = ("gramshift", "numpy", "scipy", "scikit-learn", "numba")
COUNTS = ("added", "labels", "shares")  # of the history, by class
NUMBERS = {f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)} | {"|i1", "|u1", "|b1"}
ARRAYS = {
    "text_bytes": "<u1",
    "text_ends": "<i8",
    "coefficients": "<f8",
    "intercepts": "<f8",
    "scores": "<f8",
    "held_out_scores": "<f8",
    "labeled_iter": "<i8",
    "source_codes": "<i8",
    "known_codes": "<i8",
}
LANDMARK_ARRAYS = {"landmarks": "<i8", "digests": "<u1"}
TEXT_ARRAYS = ("text_bytes", "text_ends", "coefficients")  # what a model of n-grams does without
PART_ARRAYS = {
    "parents": "<u4",
    "characters": "<u4",
    "features": "<i4",
    "alphabet": "<u4",
    "weights": "<f8",
    "worth": "<f8",
    "word_bytes": "<u1",
    "word_ends": "<i8",
}
MOST_PARTS = 64
LEAST_SETTINGS = {*PRESETS["paper"]} - {"ngram_range", "bias"}  # that early files have among their parameters alone
SAMPLE_ARRAYS = {"sampled_rows": "<i8", "all_scores": "<f8", "all_probabilities": "<f8"}


def library_versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def save_fit(fit: Fit, path: str | os.PathLike[str], *, texts: bool = False) -> None:
    """Write parameters and labels as JSON, the rest as arrays; a model of n-grams without texts, unless these are asked for."""
    assert fit.calibration is not None, "a fit that users made has it"
    ngrams = fit.model.ngrams
    if texts and ngrams is not None and not len(fit.model.documents):
        raise InputError("texts=True: this model was loaded from a file without texts, so that it has none to save")
    version = WITH_LANDMARKS if fit.landmarks is not None else FORMAT_VERSION if ngrams is None else OF_NGRAMS
    head = {
        "format": FORMAT,
        "format_version": version,
        "versions": library_versions(),
        "parameters": _parameters_to_json(fit.parameters),
        "settings": _parameters_to_json(fit.settings.shaped_by_preset()),
        "classes": labels_to_json(fit.classes),
        "saved": now(),
        "history": [
            step | {key: list(step[key].values()) for key in COUNTS if step.get(key) is not None} for step in fit.history
        ],
        "steepness": fit.calibration.steepness,
        "normalized": fit.model.normalized,
        "sampled": fit.sampled is not None,
        "told": told_to_json(fit),
    }
    if ngrams is not None:
        head |= {"parts": len(ngrams.parts), "texts": texts}
    arrays: dict[str, Any] = {
        "intercepts": fit.model.intercepts,
        "scores": fit.scores,
        "held_out_scores": fit.calibration.scores,
        "labeled_iter": fit.labeled_iter,
        "source_codes": fit.labelling.source_codes,
        "known_codes": fit.labelling.known,
        "landmarks": fit.landmarks,
        "digests": fit.digests,
        "plain_codes": fit.plain,
    }
    if ngrams is not None:
        arrays["digests"] = np.frombuffer(b"".join(fit.target_digests), np.uint8).reshape(-1, DIGEST)
        for number, part in enumerate(ngrams.parts):
            arrays |= {f"{name}_{number}": array for name, array in _arrays_of_part(part).items()}
    if ngrams is None or texts:
        arrays["text_bytes"], arrays["text_ends"] = _as_bytes(fit.model.documents)
        arrays["coefficients"] = fit.model.coefficients
    if fit.sampled is not None:
        whole = (fit.sampled.rows, fit.sampled.scores, fit.sampled.probabilities)
        arrays |= dict(zip(SAMPLE_ARRAYS, whole, strict=True))
    write_archive(path, head, {name: np.asarray(arrays[name], dtype) for name, dtype in arrays_of(head).items()})


def _as_bytes(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts one after another, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([len(text) for text in encoded], dtype=np.int64)


def _arrays_of_part(part: NGramPart) -> dict[str, NDArray[Any]]:
    """The n-grams of one kernel, by the names of PART_ARRAYS; its steps are those of the kernel."""
    table, words = part.table, [] if part.vocabulary is None else part.vocabulary.words
    nodes = {"parents": table.parents, "characters": table.characters, "features": table.features, "alphabet": table.alphabet}
    word_bytes, word_ends = _as_bytes(words)
    return nodes | {"weights": part.weights, "worth": part.coefficients, "word_bytes": word_bytes, "word_ends": word_ends}


def arrays_of(head: dict[str, Any]) -> dict[str, str]:
    """The arrays that a file with this head must have, and their types."""
    sampled = SAMPLE_ARRAYS if head.get("sampled") is True else {}
    if isinstance(told := head.get("told"), dict) and told.get("shares") is not None:
        sampled = sampled | {"plain_codes": "<i8"}
    if head["format_version"] != OF_NGRAMS:
        return ARRAYS | (LANDMARK_ARRAYS if head["format_version"] == WITH_LANDMARKS else {}) | sampled
    n_parts, texts = head.get("parts"), head.get("texts")
    if type(n_parts) is not int or not 0 < n_parts <= MOST_PARTS or not isinstance(texts, bool):
        raise ModelFileError("it does not say how many kernels it has, or whether it holds texts")
    result = {name: dtype for name, dtype in ARRAYS.items() if texts or name not in TEXT_ARRAYS} | sampled
    result["digests"] = LANDMARK_ARRAYS["digests"]
    return result | {f"{name}_{number}": dtype for number in range(n_parts) for name, dtype in PART_ARRAYS.items()}


@dataclass(frozen=True)
class Kind:
    """A kind of model file: how it calls itself, which arrays its head promises, what becomes of them."""

    format: str
    versions: tuple[int, ...]
    arrays: Callable[[dict[str, Any]], dict[str, str]]
    rebuild: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Any]


def load_as(path: str | os.PathLike[str], *kinds: Kind) -> tuple[Any, dict[str, Any]]:
    """What the file holds and what it says of itself, if it is of one of these kinds and can be trusted."""

    def kind_of(head: dict[str, Any]) -> Kind:
        kind = next((one for one in kinds if one.format == head.get("format")), None)
        if kind is None:
            raise ModelFileError("it does not call itself a Gramshift model")
        if head.get("format_version") not in kind.versions:
            found, versions = str(head.get("format_version"))[:20], head.get("versions")
            made_by = str(versions.get("gramshift"))[:20] if isinstance(versions, dict) else "another version"
            reads = " and ".join(map(str, kind.versions))
            raise ModelFileError(f"it has format {found}, made by gramshift {made_by}; this one reads {reads}")
        return kind

    head, arrays = read_archive(path, lambda head: kind_of(head).arrays(head))
    try:
        return kind_of(head).rebuild(head, arrays), head
    except MemoryError:
        raise
    except Exception as error:  # whatever a made-up file leads to, it is the file's fault
        raise ModelFileError(f"{path} is not a Gramshift model that can be trusted: {error}") from error


def read_fit(parameters: dict[str, Any], head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Fit:
    """What a file holds, if all of it goes together; ``parameters`` are those of its classifier."""
    held = parameters_from_json(head["settings"])
    if not LEAST_SETTINGS <= set(held) <= set(PRESETS["paper"]):
        raise ValueError("its settings are not those that it needs")
    Settings.from_parameters(parameters)  # what the user gave must be right by itself, too
    if "told" not in head and isinstance(held["weighting"], dict) and held["weighting"].get("classes"):
        held["weighting"] = held["weighting"] | {RESCALED: 1.0}  # as n-grams weighed when the file was written
    settings = Settings.from_parameters(parameters | held)
    check_engine(parameters["engine"], parameters["scheduler"])
    runtime = Runtime(parameters["n_jobs"], parameters["memory_limit"])
    count_threads(runtime.n_jobs)
    if runtime.memory_limit is not None:
        parse_bytes(runtime.memory_limit)
    similarities = similarities_of(settings, runtime)
    classes = labels_from_json(head["classes"])
    iteration, codes = arrays["labeled_iter"], arrays["source_codes"]
    n, n_classes = len(iteration), len(classes)
    source = np.flatnonzero(iteration == 0)
    landmarks = arrays.get("landmarks")
    if landmarks is not None and not (np.diff(np.concatenate([[-1], landmarks, [n]])) > 0).all():
        raise ValueError("its landmarks are not documents of the fit, in order")
    n_compared = n if landmarks is None else len(landmarks)
    has_ngrams, has_texts = head["format_version"] == OF_NGRAMS, "text_bytes" in arrays
    shapes: dict[str, tuple[int, ...]] = {
        "labeled_iter": (n,),
        "intercepts": (n_classes,),
        "scores": (n - len(source), n_classes),
        "held_out_scores": (n - len(source), n_classes),
        "source_codes": (len(source),),
        "known_codes": (n,),
    }
    if landmarks is not None or has_ngrams:
        shapes["digests"] = (n - len(source), DIGEST)
    if has_texts:
        shapes["text_bytes"] = (arrays["text_bytes"].size,)
        shapes["text_ends"] = (n_compared if similarities is not None else 0,)
        shapes["coefficients"] = (n_compared, n_classes)
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape} where {shape} fits the rest")
    known = arrays["known_codes"]
    if ((codes < 0) | (codes >= n_classes)).any() or (iteration < -1).any() or ((known < -1) | (known >= n_classes)).any():
        raise ValueError("it names classes or rounds that there are not")
    if not all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f"):
        raise ValueError("it has numbers that are not finite")
    steepness = float(head["steepness"])
    if not 0 < steepness < np.inf or not isinstance(head["normalized"], bool):
        raise ValueError("its calibration is not a number above 0")
    joined = np.flatnonzero((known >= 0) & (iteration != 0))
    labelling = Labelling.of_source(iteration == 0, codes, n_classes).join(joined, known[joined])
    groups = labelling.groups(landmarks) if similarities is not None and similarities.by_weights else {}
    texts = _texts(arrays["text_bytes"], arrays["text_ends"]) if has_texts else []
    reference = Reference(texts, groups if has_texts else {})
    normalized, intercepts = bool(head["normalized"]), arrays["intercepts"]
    ngrams = None
    if has_ngrams:
        fits = similarities is not None and similarities.by_shared_alone and not settings.adapt
        if similarities is None or not fits or len(similarities.kernels) != head["parts"]:
            raise ValueError("it has coefficients of n-grams, which its kernels do not go with")
        parts = [_read_part(kernel, number, arrays, n_classes) for number, kernel in enumerate(similarities.kernels)]
        if len({part.coefficients.shape[1] for part in parts}) > 1:
            raise ValueError("its kernels do not have the same classes")
        ngrams = NGramModel(parts, intercepts, runtime.n_jobs)
    coefficients = arrays["coefficients"] if has_texts else np.zeros((0, n_classes))
    return Fit(
        settings,
        parameters,
        classes,
        Model(similarities, reference, settings.adapt, coefficients, intercepts, normalized, ngrams),
        labelling,
        arrays["scores"],
        iteration,
        [read_step(step, classes.tolist()) for step in head["history"]],
        Calibration(steepness, arrays["held_out_scores"]),
        landmarks,
        arrays.get("digests"),
        _read_sampled(arrays, iteration == 0),
        **read_told(head.get("told"), arrays, n_classes, n - len(source)),
    )


def _read_part(kernel: StringKernel, number: int, arrays: dict[str, NDArray[Any]], n_classes: int) -> NGramPart:
    """The n-grams of one kernel, checked before anything is looked up in them."""
    mine = {name: arrays[f"{name}_{number}"] for name in PART_ARRAYS}
    weights, worth, (ngram_range, steps) = mine["weights"], mine["worth"], kernel.check_parameters()
    columns = (1, n_classes) if n_classes == 2 else (n_classes,)
    if weights.ndim != 1 or worth.ndim != 2 or worth.shape[0] != weights.size or worth.shape[1] not in columns:
        raise ValueError(f"weights and coefficients of n-grams have shapes {weights.shape} and {worth.shape}")
    if not (weights > 0).all():
        raise ValueError("it has n-grams that weigh nothing, or less")
    nodes = {name: mine[name] for name in ("parents", "characters", "features", "alphabet")}
    table = NGramTable.from_arrays(**nodes, ngram_range=ngram_range, n_features=weights.size)
    found = np.zeros(table.n_features, np.bool_)
    found[table.features[table.features >= 0]] = True  # the table has checked that there are no larger ones
    if not found.all():
        raise ValueError("it has weights of n-grams that are not there")
    words = _texts(mine["word_bytes"], mine["word_ends"])
    if kernel.unit != "word" and words:
        raise ValueError("it has words for n-grams of characters")
    vocabulary = Vocabulary.from_words(words, table.alphabet) if kernel.unit == "word" else None
    part = NGramPart(steps, table, weights, worth, vocabulary)
    if not np.isfinite(np.abs(part.values).sum()):
        raise ValueError("its n-grams weigh so much that sums of them are not finite")
    return part


def _read_sampled(arrays: dict[str, NDArray[Any]], is_source: NDArray[np.bool_]) -> Sampled | None:
    """The whole target of a fit that learnt from a sample of it; what it has of the sample must be what the fit has."""
    if "sampled_rows" not in arrays:
        return None
    rows, scores, probabilities = (arrays[name] for name in SAMPLE_ARRAYS)
    n = int(is_source.sum()) + len(scores)
    if rows.shape != is_source.shape or not (np.diff(np.concatenate([[-1], rows, [n]])) > 0).all():
        raise ValueError("its sample is not of its documents, in order")
    if scores.shape != probabilities.shape or scores.shape[1:] != arrays["scores"].shape[1:]:
        raise ValueError(f"all_scores has shape {scores.shape}, all_probabilities {probabilities.shape}")
    place = np.cumsum(~np.isin(np.arange(n), rows[is_source])) - 1  # among target documents
    if not np.isfinite(scores).all() or (scores[place[rows[~is_source]]] != arrays["scores"]).any():
        raise ValueError("its scores of all documents are not those of its sample")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("it has probabilities that are none")
    return Sampled(rows, scores, probabilities)


def _labels_of_round(counts: Any, names: list[Any]) -> dict[Any, int] | None:
    """None in files of early versions, which did not keep them."""
    return None if counts is None else dict(zip(names, map(_whole, counts), strict=True))


def read_step(step: dict[str, Any], names: list[Any]) -> dict[str, Any]:
    """One entry of a history, checked; early files and baselines have no shares."""
    shares = step.get("shares")
    shares = shares if shares is None else dict(zip(names, map(float, shares), strict=True))
    return {
        "added": dict(zip(names, map(_whole, step["added"]), strict=True)),
        "labels": _labels_of_round(step.get("labels"), names),
        "changed": _whole(step["changed"]),
        "seconds": float(step["seconds"]),
    } | ({"shares": shares} if "shares" in step else {})


def _parameters_to_json(parameters: dict[str, Any]) -> dict[str, Any]:
    result = dict(parameters)
    if "kernel" in result:
        result["kernel"] = kernel_to_json(result["kernel"])
    if isinstance(result["select"], dict):  # keys of JSON are strings, labels need not be
        result["select"] = [list(pair) for pair in result["select"].items()]
    return result


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    result = dict(parameters)
    if "kernel" in result:
        result["kernel"] = kernel_from_json(result["kernel"])
    if result.get("ngram_range") is not None:
        result["ngram_range"] = tuple(result["ngram_range"])
    if isinstance(result.get("select"), list):
        result["select"] = dict(result["select"])
    if isinstance(result.get("n_added"), list):
        result["n_added"] = tuple(result["n_added"])
    return result


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"its history has {value!r} where a number is due")
    return value


def _texts(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    bounds = [0, *ends.tolist()]
    if bounds[-1] != len(data) or any(a > b for a, b in pairwise(bounds)):
        raise ValueError("its texts do not end where it says")
    whole = data.tobytes()
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def kernel_to_json(kernel: Any) -> Any:
    if kernel is None or isinstance(kernel, str):
        return kernel
    if isinstance(kernel, StringKernel):
        return kernel.get_params()
    if isinstance(kernel, (list, tuple)):
        return [kernel_to_json(one) for one in kernel]
    raise InputTypeError(f"kernel={kernel!r} is a function and cannot be saved; use a StringKernel, or save the labels instead")


def kernel_from_json(kernel: Any) -> Any:
    if isinstance(kernel, dict):
        return StringKernel(**kernel | {"ngram_range": tuple(kernel["ngram_range"])})
    return [kernel_from_json(one) for one in kernel] if isinstance(kernel, list) else kernel


def labels_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    if classes.dtype.kind not in "Uiufb":
        raise InputTypeError(
            f"labels of type {classes.dtype} cannot be saved; fit with labels that are str, int, float or bool"
        )
    return {"dtype": classes.dtype.str, "values": classes.tolist()}


def labels_from_json(labels: dict[str, Any]) -> NDArray[Any]:
    """The classes as an array of the type that they need; what the file says may only widen it to eight bytes."""
    values, dtype = labels["values"], str(labels["dtype"])
    kinds = {"U": str, "b": bool, "i": int, "u": int, "f": float}
    kind = dtype.lstrip("<>|=")[:1]
    if kind not in kinds or not isinstance(values, list) or not all(type(value) is kinds[kind] for value in values):
        raise ValueError(f"its labels are not of type {dtype[:20]}")
    if kind != "U" and dtype not in NUMBERS:
        raise ValueError(f"its labels cannot have type {dtype[:20]}")
    classes = np.array(values) if kind == "U" else np.array(values, np.dtype(dtype))
    if classes.tolist() != values or np.unique(classes).tolist() != values or len(values) < 2:
        raise ValueError("its labels are not in order, or not different")
    return classes
