"""Saving a fitted classifier, and loading it without running anything that the file says."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.learn.labelling import Labelling
from gramshift.learn.rounds import Calibration
from gramshift.model.archive import Writable, write_archive
from gramshift.model.blank import without_domain
from gramshift.model.fitted import Fit, Model, read_told, told_to_json
from gramshift.model.model_schema import (
    FORMAT,
    FORMAT_VERSION,
    LONGEST_NGRAM,
    MOST_CLASSES,
    MOST_PARTS,
    OF_THE_MACHINE,
    arrays_of,
    of_part,
)
from gramshift.model.ngram_model import NGramModel, NGramPart
from gramshift.model.settings import PRESETS, Settings
from gramshift.model.similarities import Reference, refer_to_rows, similarities_of
from gramshift.model.string_kernel import KernelSpec, StringKernel
from gramshift.ngrams.table import NGramTable
from gramshift.runtime.resources import Runtime
from gramshift.text.documents import DIGEST
from gramshift.text.words import Vocabulary

LIBRARIES = ("gramshift", "numpy", "scipy", "scikit-learn", "numba")
COUNTS = ("added", "labels", "class_prior")  # of the history, by class
NUMBERS = {f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)} | {"|i1", "|u1", "|b1"}
SWITCHES = ("normalize", "strip", "lowercase", "collapse_whitespace")  # of a kernel
LABEL_CHARACTERS = 2**26  # of all classes, each as long as the longest: NumPy's arrays of strings take four bytes for each


def library_versions() -> dict[str, str]:
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def save_fit(fit: Fit, path: Writable, *, texts: bool = False) -> None:
    """Write parameters and labels as JSON, the rest as arrays; a model of n-grams without texts, unless these are asked for."""
    assert fit.calibration is not None, "a fit that users made has it"
    ngrams = fit.model.ngrams
    if texts and ngrams is not None and not len(fit.model.documents):
        raise InputError("texts=True: this model was loaded from a file without texts, so that it has none to save")
    if not isinstance(fit.settings.classifier, str):
        name, advice = type(fit.settings.classifier).__name__, "save a classifier with classifier='ridge' or 'discriminant'"
        raise InputError(f"a model file holds no objects such as classifier={name}(...); {advice}, or the labels")
    check_kernels([] if fit.model.similarities is None else fit.model.similarities.kernels)
    has_texts = texts if ngrams is not None else not (fit.is_of_rows or fit.settings.is_precomputed)
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": library_versions(),
        "parameters": _parameters_to_json(fit.parameters),
        "settings": _parameters_to_json(fit.settings.shaped_by_preset()),
        "classes": labels_to_json(fit.classes),
        "saved": now(),
        "history": [step | {key: list(step[key].values()) for key in COUNTS if step[key] is not None} for step in fit.history],
        "steepness": fit.calibration.steepness,
        "normalized": fit.model.normalized,
        "parts": 0 if ngrams is None else len(ngrams.parts),
        "texts": has_texts,
        "columns": np.shape(fit.model.documents)[1] if fit.is_of_rows else 0,
        "told": told_to_json(fit, texts=ngrams is None or texts),
    }
    arrays: dict[str, Any] = {
        "intercepts": fit.model.intercepts,
        "scores": fit.scores,
        "held_out_scores": fit.calibration.scores,
        "labeled_iter": fit.labeled_iter,
        "source_codes": fit.labelling.source_codes,
        "known_codes": fit.labelling.known,
        "digests": fit.digests,
        "unadapted_codes": fit.unadapted,
        "rows": fit.model.documents,
        "coefficients": fit.model.coefficients,
    }
    if ngrams is not None:
        arrays["digests"] = np.frombuffer(b"".join(fit.target_digests), np.uint8).reshape(-1, DIGEST)
        for number, part in enumerate(ngrams.parts):
            arrays |= {f"{name}_{number}": array for name, array in _arrays_of_part(part).items()}
    if has_texts:
        arrays["text_bytes"], arrays["text_ends"] = _as_bytes(fit.model.documents)
    write_archive(path, head, {name: np.asarray(arrays[name], str(one.dtype)) for name, one in arrays_of(head).items()})


def _as_bytes(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts one after another, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([len(text) for text in encoded], dtype=np.int64)


def _arrays_of_part(part: NGramPart) -> dict[str, NDArray[Any]]:
    """The n-grams of one kernel, by the names of ``of_part``; its steps are those of the kernel."""
    table, words = part.table, [] if part.vocabulary is None else part.vocabulary.words
    nodes = {"parents": table.parents, "characters": table.characters, "features": table.features, "alphabet": table.alphabet}
    word_bytes, word_ends = _as_bytes(words)
    return nodes | {"weights": part.weights, "worth": part.coefficients, "word_bytes": word_bytes, "word_ends": word_ends}


def read_fit(parameters: dict[str, Any], head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Fit:
    """What a file holds, if all of it goes together; ``parameters`` are those of its classifier."""
    held = parameters_from_json(head["settings"])
    if set(held) != set(PRESETS["paper"]):
        raise ValueError("its settings are not those that it needs")
    given = Settings.from_parameters(parameters)  # what the user gave must be right by itself, too
    if len({one.get("kernel") == "precomputed" for one in (parameters, held)}) > 1:
        raise ValueError("its parameters and its settings do not agree on whether kernels are given")
    settings = Settings.from_parameters(parameters | held)
    runtime = Runtime()  # never what a file says: whoever loads it decides
    similarities = similarities_of(settings, runtime)
    for one in (similarities, similarities_of(given, runtime)):
        check_kernels([] if one is None else one.kernels)
    classes = labels_from_json(head["classes"])
    iteration, codes = arrays["labeled_iter"], arrays["source_codes"]
    n, n_classes, source = len(iteration), len(classes), np.flatnonzero(iteration == 0)
    if not np.bincount(codes, minlength=n_classes).all():
        raise ValueError("it has classes without any document")
    has_texts = head["texts"]
    known = arrays["known_codes"]
    joined = np.flatnonzero((known >= 0) & (iteration != 0))
    labelling = Labelling.of_source(iteration == 0, codes, n_classes).join(joined, known[joined])
    groups = labelling.groups() if similarities is not None and similarities.by_weights else {}
    left_out = np.isin(np.arange(n), head["told"]["without_domain"])
    groups = without_domain(groups, left_out)
    texts = _texts(arrays["text_bytes"], arrays["text_ends"]) if has_texts else []
    of_rows = refer_to_rows(similarities, arrays.get("rows"), n)
    reference = of_rows or Reference(texts, groups if has_texts else {})
    normalized, intercepts = bool(head["normalized"]), arrays["intercepts"]
    ngrams = None
    if head["parts"]:
        fits = similarities is not None and similarities.by_shared_alone and not settings.adapt
        if similarities is None or not fits or len(similarities.kernels) != head["parts"]:
            raise ValueError("it has coefficients of n-grams, which its kernels do not go with")
        parts = [_read_part(kernel, number, arrays, n_classes) for number, kernel in enumerate(similarities.kernels)]
        ngrams = NGramModel(parts, intercepts, runtime.n_jobs)
    coefficients = arrays.get("coefficients", np.zeros((0, n_classes)))
    return Fit(
        settings,
        parameters,
        classes,
        Model(similarities, reference, settings.adapt, coefficients, intercepts, normalized, ngrams),
        labelling,
        arrays["scores"],
        iteration,
        [read_step(step, classes.tolist()) for step in head["history"]],
        Calibration(float(head["steepness"]), arrays["held_out_scores"]),
        arrays.get("digests"),
        **read_told(head["told"], arrays, n - len(source)),
    )


def _read_part(kernel: KernelSpec, number: int, arrays: dict[str, NDArray[Any]], n_classes: int) -> NGramPart:
    """The n-grams of one kernel, checked before anything is looked up in them."""
    mine = {name.removesuffix(f"_{number}"): arrays[name] for name in of_part(number)}
    weights, worth = mine["weights"], mine["worth"]
    if worth.shape[1] not in ((1, n_classes) if n_classes == 2 else (n_classes,)):
        raise ValueError(f"coefficients of n-grams have shape {worth.shape} for {n_classes} classes")
    nodes = {name: mine[name] for name in ("parents", "characters", "features", "alphabet")}
    table = NGramTable.from_arrays(**nodes, ngram_range=kernel.ngram_range, n_features=weights.size)
    found = np.zeros(table.n_features, np.bool_)
    found[table.features[table.features >= 0]] = True  # the table has checked that there are no larger ones
    if not found.all():
        raise ValueError("it has weights of n-grams that are not there")
    words = _texts(mine["word_bytes"], mine["word_ends"])
    if kernel.unit != "word" and words:
        raise ValueError("it has words for n-grams of characters")
    vocabulary = Vocabulary.from_words(words, table.alphabet) if kernel.unit == "word" else None
    return NGramPart(kernel.steps, table, weights, worth, vocabulary)


def read_step(step: dict[str, Any], names: list[Any]) -> dict[str, Any]:
    """One entry of a history, whose head was checked."""
    by_class = {key: step.get(key) and dict(zip(names, step[key], strict=True)) for key in COUNTS}
    return by_class | {"changed": step["changed"], "seconds": float(step["seconds"])}


def _without_machine(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in OF_THE_MACHINE}


def _parameters_to_json(parameters: dict[str, Any]) -> dict[str, Any]:
    result = _without_machine(parameters)
    if "kernel" in result:
        result["kernel"] = kernel_to_json(result["kernel"])
    if isinstance(result["class_prior"], dict):  # keys of JSON are strings, labels need not be
        result["class_prior"] = [list(pair) for pair in result["class_prior"].items()]
    return result


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a classifier; what is up to the machine that loads it is left out."""
    result = _without_machine(parameters)
    if "kernel" in result:
        result["kernel"] = kernel_from_json(result["kernel"])
    if result.get("ngram_range") is not None:
        result["ngram_range"] = tuple(result["ngram_range"])
    if isinstance(result.get("class_prior"), list):
        result["class_prior"] = dict(result["class_prior"])
    if isinstance(result.get("n_added"), list):
        result["n_added"] = tuple(result["n_added"])
    return result


def _texts(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    bounds, whole = [0, *ends.tolist()], data.tobytes()
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def kernel_to_json(kernel: Any) -> Any:
    if kernel is None or isinstance(kernel, str):
        return kernel
    if isinstance(kernel, StringKernel):
        return _without_machine(kernel.get_params())
    if isinstance(kernel, (list, tuple)):
        return [kernel_to_json(one) for one in kernel]
    advice = "use a StringKernel or kernel='rows', or save the labels instead"
    raise InputTypeError(f"kernel={kernel!r} is a function and cannot be saved; {advice}")


def kernel_from_json(kernel: Any) -> Any:
    if isinstance(kernel, dict):
        if not all(kernel.get(name, True) in (True, False) for name in SWITCHES):
            raise ValueError(f"{', '.join(SWITCHES)} of its kernel are not true or false")
        return StringKernel(**_without_machine(kernel) | {"ngram_range": tuple(kernel["ngram_range"])})
    if isinstance(kernel, list) and len(kernel) > MOST_PARTS:
        raise ValueError(f"it has {len(kernel)} kernels; {MOST_PARTS} at most can be saved")
    return [kernel_from_json(one) for one in kernel] if isinstance(kernel, list) else kernel


def check_kernels(kernels: Sequence[Any]) -> None:
    """Refuse more kernels than a file may have, and n-grams so long that comparing a text by them would not end."""
    if len(kernels) > MOST_PARTS:
        raise InputError(f"there are {len(kernels)} kernels; a file has {MOST_PARTS} at most")
    for kernel in kernels:
        lengths = getattr(kernel, "ngram_range", (1, 1))
        if lengths[1] > LONGEST_NGRAM:
            raise InputError(f"ngram_range={lengths}: n-grams of a file have at most {LONGEST_NGRAM} characters")


def labels_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    if classes.dtype.kind not in "Uiufb":
        raise InputTypeError(
            f"labels of type {classes.dtype} cannot be saved; fit with labels that are str, int, float or bool"
        )
    if len(classes) > MOST_CLASSES:
        advice = f"a file holds a model of at most {MOST_CLASSES}; save the labels instead"
        raise InputError(f"there are {len(classes)} classes, and {advice}")
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
    if kind == "U" and len(values) * max(map(len, values), default=0) > LABEL_CHARACTERS:
        raise ValueError("its labels are too long")
    classes = np.array(values) if kind == "U" else np.array(values, np.dtype(dtype))
    if kind == "f" and not np.isfinite(classes).all():
        raise ValueError("its labels are not finite")
    if classes.tolist() != values or np.unique(classes).tolist() != values or len(values) < 2:
        raise ValueError("its labels are not in order, or not different")
    return classes
