"""Saving a fitted classifier, and loading it without running anything from the file."""

import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.kernels.encoding import Encoder, is_alike, name_encoder, take_fingerprint
from gramshift.kernels.string_kernel import KernelSpec, StringKernel
from gramshift.learn.calibrate import Expected
from gramshift.learn.class_proportions import ClassProportions
from gramshift.learn.rounds import Calibration
from gramshift.learn.training_set import TrainingSet
from gramshift.model.archive import ModelFileError, Writable, write_archive
from gramshift.model.blank import without_domain
from gramshift.model.kernel_list import ComparedDocuments, KernelList, kernel_list_of, refer_to_rows
from gramshift.model.labels import MAX_LABEL_CHARACTERS
from gramshift.model.model_schema import (
    COUNTS,
    FORMAT,
    FORMAT_VERSION,
    MAX_CLASSES,
    MAX_KERNELS,
    MAX_NGRAM_LENGTH,
    OF_THE_MACHINE,
    PRECOMPUTED,
    PRIOR_LISTS,
    ROWS,
    STEP_LISTS,
    declare_arrays,
    declare_part,
)
from gramshift.model.ngram_model import NGramModel, NGramPart, VectorPart
from gramshift.model.result import FitResult, KernelModel
from gramshift.model.settings import PRESETS, Settings
from gramshift.ngrams.trie import NGramTable
from gramshift.runtime import Runtime
from gramshift.terminal import visible
from gramshift.text.documents import DIGEST
from gramshift.text.words import SPLITTERS, Vocabulary

LIBRARIES = ("gramshift", "numpy", "scipy", "scikit-learn", "numba")
NUMBER_TYPES = {f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)} | {"|i1", "|u1", "|b1"}
SWITCHES = ("normalize", "strip", "lowercase", "collapse_whitespace")  # of a kernel


class EncoderError(ModelFileError):
    """A model file that needs another encoder than the given one, or one at all.

    ``name`` is that of the encoder of the fit.
    """

    advice = "give the encoder of the fit, as in gs.load(path, encoder=encode)"

    def __init__(self, fault: str, name: str) -> None:
        super().__init__(f"{fault}: {self.advice}")
        self.fault = fault
        self.name = name


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that a result can depend on."""
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}


def save_fit(fit: FitResult, path: Writable, *, texts: bool = False) -> None:
    """Write parameters and labels as JSON, the rest as arrays.

    A linear model is saved with its texts only if ``texts`` asks for them; other models need them.
    """
    _check_saved(fit, texts=texts)
    has_texts = texts
    if fit.model.ngrams is None:
        has_texts = not (fit.is_of_rows or fit.settings.is_precomputed)
    head = _make_head(fit, has_texts=has_texts)
    arrays = _collect_arrays(fit, has_texts=has_texts)
    declared = declare_arrays(head).items()
    write_archive(path, head, {name: np.asarray(arrays[name], one.dtype) for name, one in declared})


def _check_saved(fit: FitResult, *, texts: bool) -> None:
    """Raise an error if a file cannot hold this fit."""
    if texts and fit.model.ngrams is not None and not len(fit.model.documents):
        raise InputError(
            "texts=True: this model was loaded from a file without texts, so it has none to save"
        )
    if not isinstance(fit.settings.classifier, str):
        given = f"classifier={type(fit.settings.classifier).__name__}(...)"
        advice = "save a classifier with classifier='ridge' or 'discriminant', or the labels"
        raise InputError(f"a model file holds no objects such as {given}; {advice}")
    _check_kernels(fit.model.kernel_list)


def _make_head(fit: FitResult, *, has_texts: bool) -> dict[str, Any]:
    """Return all that a file has as JSON.

    Origins and domains of documents are included only in files that hold documents.
    """
    assert fit.calibration is not None, "every fit of a user has probabilities"
    model, prior = fit.model, fit.class_prior
    vectors = None if model.ngrams is None else model.ngrams.vectors
    has_documents = model.ngrams is None or has_texts
    domains = model.reference.groups.get("domains", []) if has_documents else []
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": library_versions(),
        "parameters": _parameters_to_json(fit.parameters),
        "settings": _parameters_to_json(fit.settings.shaped_by_preset()),
        "classes": labels_to_json(fit.classes),
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "history": [
            step | {name: step[name] and list(step[name].values()) for name in STEP_LISTS}
            for step in fit.history
        ],
        "steepness": fit.calibration.steepness,
        "normalized": model.normalized,
        "parts": 0 if model.ngrams is None else len(model.ngrams.parts),
        "texts": has_texts,
        "encoder": vectors
        and {
            "name": name_encoder(vectors.encoder),
            "width": len(vectors.centre),
            "share": vectors.share,
        },
        "columns": np.shape(model.documents)[1] if fit.is_of_rows else 0,
        **{name: getattr(fit, name) for name in COUNTS},
        "corrected": list(fit.corrected),
        "random": list(fit.random),
        "class_prior": prior and {name: getattr(prior, name).tolist() for name in PRIOR_LISTS},
        "expected": fit.expected_accuracy,
        "sources": fit.sources,
        "without_domain": [row for row, domain in enumerate(domains) if domain is None],
        "origins": fit.origins if has_documents else None,
    }


def _collect_arrays(fit: FitResult, *, has_texts: bool) -> dict[str, Any]:
    """Return the arrays of a fit by name, some of which its file does not need."""
    assert fit.calibration is not None, "every fit of a user has probabilities"
    model = fit.model
    arrays: dict[str, Any] = {
        "intercepts": model.intercepts,
        "scores": fit.scores,
        "held_out_scores": fit.calibration.scores,
        "labeled_iter": fit.labeled_iter,
        "source_codes": fit.training_set.source_codes,
        "known_codes": fit.training_set.known,
        "unadapted_codes": fit.unadapted,
        "rows": model.documents,
        "coefficients": model.coefficients,
    }
    if model.ngrams is not None:
        digests = np.frombuffer(b"".join(fit.target_digests), np.uint8)
        arrays["digests"] = digests.reshape(-1, DIGEST)
        for number, part in enumerate(model.ngrams.parts):
            named = _arrays_of_part(part).items()
            arrays |= {f"{name}_{number}": array for name, array in named}
        if (vectors := model.ngrams.vectors) is not None:
            arrays["centre"], arrays["vector_worth"] = vectors.centre, vectors.coefficients
            arrays["fingerprint"] = take_fingerprint(vectors.encoder)
    if has_texts:
        arrays["text_bytes"], arrays["text_ends"] = _join_strings(model.documents)
    return arrays


def _join_strings(strings: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of strings one after another, and where each ends."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    ends = np.cumsum([len(string) for string in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def _split_strings(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    whole, bounds = data.tobytes(), [0, *ends.tolist()]
    pieces = (whole[start:end] for start, end in pairwise(bounds))
    return [piece.decode("utf-8", "surrogatepass") for piece in pieces]


def _arrays_of_part(part: NGramPart) -> dict[str, NDArray[Any]]:
    """Return the n-grams of one kernel by the names of ``declare_part``."""
    table = part.table
    words = [] if part.vocabulary is None else part.vocabulary.words
    word_bytes, word_ends = _join_strings(words)
    return {
        "parents": table.parents,
        "characters": table.characters,
        "features": table.features,
        "alphabet": table.alphabet,
        "weights": part.weights,
        "worth": part.coefficients,
        "word_bytes": word_bytes,
        "word_ends": word_ends,
    }


def read_fit(
    parameters: dict[str, Any], head: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> FitResult:
    """Return the fit of a file; raise a ValueError if its parts do not go together.

    The head and the arrays have been checked one by one; ``parameters`` are those of the
    classifier that the head describes.
    """
    settings = _read_settings(parameters, parameters_from_json(head["settings"]))
    classes = labels_from_json(head["classes"])
    training_set = _read_training_set(arrays, len(classes))
    return FitResult(
        settings=settings,
        parameters=parameters,
        classes=classes,
        model=_read_model(settings, training_set, head, arrays),
        training_set=training_set,
        scores=arrays["scores"],
        labeled_iter=arrays["labeled_iter"],
        history=[_read_step(step, classes.tolist()) for step in head["history"]],
        calibration=Calibration(float(head["steepness"]), arrays["held_out_scores"]),
        digests=arrays.get("digests"),
        unadapted=arrays.get("unadapted_codes"),
        **_read_findings(head, training_set),
    )


def _read_settings(parameters: dict[str, Any], shaped: dict[str, Any]) -> Settings:
    """Return the settings of a fit: parameters of the user, and those shaped by the preset."""
    if set(shaped) != set(PRESETS["paper"]):
        raise ValueError("its settings are not those that it needs")
    given = Settings.from_parameters(parameters)  # must be valid for the next fit, too
    for kernel in (PRECOMPUTED, ROWS):
        if len({one.get("kernel") == kernel for one in (parameters, shaped)}) > 1:
            raise ValueError("its parameters and its settings take different kinds of documents")
    settings = Settings.from_parameters(parameters | shaped)
    for one in (settings, given):
        _check_kernels(kernel_list_of(one, Runtime()))
    return settings


def _read_training_set(arrays: dict[str, NDArray[Any]], n_classes: int) -> TrainingSet:
    iteration, codes, known = (
        arrays[name] for name in ("labeled_iter", "source_codes", "known_codes")
    )
    if not np.bincount(codes, minlength=n_classes).all():
        raise ValueError("it has classes without any document")
    joined = np.flatnonzero((known >= 0) & (iteration != 0))
    source = TrainingSet.of_source(iteration == 0, codes, n_classes)
    return source.with_pseudo_labels(joined, known[joined])


def _read_model(
    settings: Settings,
    training_set: TrainingSet,
    head: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> KernelModel:
    """Return the model; the machine that loads it decides on threads and memory."""
    n, n_classes = len(training_set), training_set.n_classes
    kernel_list = kernel_list_of(settings, Runtime())
    groups = training_set.groups() if kernel_list is not None and kernel_list.by_weights else {}
    groups = without_domain(groups, np.isin(np.arange(n), head["without_domain"]))
    compared = refer_to_rows(kernel_list, arrays.get("rows"), n)
    if compared is None and head["texts"]:
        texts = _split_strings(arrays["text_bytes"], arrays["text_ends"])
        compared = ComparedDocuments(texts, groups)
    ngrams = None
    if head["parts"]:
        if (
            kernel_list is None
            or not kernel_list.by_shared_alone
            or settings.adapt
            or len(kernel_list.kernels) != head["parts"]
        ):
            raise ValueError("its kernels do not go with its coefficients of n-grams")
        parts = [
            _read_part(kernel, number, arrays, n_classes)
            for number, kernel in enumerate(kernel_list.kernels)
        ]
        ngrams = NGramModel(parts, arrays["intercepts"], vectors=_read_vectors(head, arrays))
    return KernelModel(
        kernel_list,
        compared or ComparedDocuments([]),
        settings.adapt,
        arrays.get("coefficients", np.zeros((0, n_classes))),
        arrays["intercepts"],
        head["normalized"],
        ngrams,
    )


def _read_vectors(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> VectorPart | None:
    """Return the coefficients of vectors; ``with_encoder`` gives them their encoder."""
    if head["encoder"] is None:
        return None
    share = float(head["encoder"]["share"])
    return VectorPart(_refuse_texts, arrays["centre"], arrays["vector_worth"], share)


def _refuse_texts(texts: list[str]) -> Any:
    raise InputError("this model was read without its encoder, for its description alone")


def with_encoder(
    fit: FitResult,
    encoder: Encoder | None,
    head: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    path: Any,
) -> FitResult:
    """Return the fit of a file with the encoder that it needs, if that is the given one."""
    ngrams = fit.model.ngrams
    if ngrams is None or ngrams.vectors is None:
        return fit
    width, name = head["encoder"]["width"], visible(head["encoder"]["name"])
    was = f"{path} was fitted with the encoder {name}, with {width} numbers for each text"
    if encoder is None:
        raise EncoderError(f"{was}, and needs it", name)
    found = take_fingerprint(encoder)
    if not is_alike(arrays["fingerprint"], found):
        other = f"with {found.shape[1]} numbers" if found.shape[1] != width else "with others"
        raise EncoderError(f"{was}, and {name_encoder(encoder)} is another one, {other}", name)
    ngrams = replace(ngrams, vectors=replace(ngrams.vectors, encoder=encoder))
    return replace(fit, model=replace(fit.model, ngrams=ngrams))


def _read_part(
    kernel: KernelSpec, number: int, arrays: dict[str, NDArray[Any]], n_classes: int
) -> NGramPart:
    """Return the n-grams of one kernel, checked before anything is looked up in them."""
    own = {name.removesuffix(f"_{number}"): arrays[name] for name in declare_part(number)}
    weights, worth = own["weights"], own["worth"]
    if worth.shape[1] not in ((1, n_classes) if n_classes == 2 else (n_classes,)):
        raise ValueError(f"coefficients of n-grams have shape {worth.shape}, not {n_classes}")
    nodes = {name: own[name] for name in ("parents", "characters", "features", "alphabet")}
    table = NGramTable.from_arrays(**nodes, ngram_range=kernel.ngram_range, n_features=weights.size)
    is_found = np.zeros(table.n_features, np.bool_)
    is_found[table.features[table.features >= 0]] = True
    if not is_found.all():
        raise ValueError("it has weights of n-grams that are not there")
    words = _split_strings(own["word_bytes"], own["word_ends"])
    is_of_words = kernel.unit in SPLITTERS
    if words and not is_of_words:
        raise ValueError("it has words for n-grams of characters")
    vocabulary = Vocabulary.from_words(words, table.alphabet, kernel.unit) if is_of_words else None
    return NGramPart(kernel.steps, table, weights, worth, vocabulary)


def _read_step(step: dict[str, Any], names: list[Any]) -> dict[str, Any]:
    """Return one entry of the history, with its lists by class."""
    by_class = {key: step[key] and dict(zip(names, step[key], strict=True)) for key in STEP_LISTS}
    return by_class | {name: step[name] for name in ("changed", "seconds")}


def _read_findings(head: dict[str, Any], training_set: TrainingSet) -> dict[str, Any]:
    """Return the findings of a fit beyond labels and probabilities, as arguments of a result."""
    source, target = training_set.source.tolist(), training_set.target.tolist()
    if head["n_unlabelled"] >= max(1, len(target)) or head["n_blank"] > len(target):
        raise ValueError("it counts more documents than it has")
    for name, rows in (("corrected", source), ("random", target)):
        is_ascending = all(low < high for low, high in pairwise(head[name]))
        if not is_ascending or not set(head[name]).issubset(rows):
            raise ValueError(f"its {name} documents are not in order, or are of the wrong domain")
    prior, expected, origins = head["class_prior"], head["expected"], head["origins"]
    if prior is not None:
        prior = ClassProportions(**{name: np.array(prior[name], float) for name in PRIOR_LISTS})
    if origins is not None:
        origins = [(file, id) for file, id in origins]
        if len(origins) != len(training_set):
            raise ValueError("it does not name each of its documents")
    return {name: head[name] for name in COUNTS} | {
        "corrected": tuple(head["corrected"]),
        "random": tuple(head["random"]),
        "class_prior": prior,
        "expected": None if expected is None else Expected(**expected),
        "sources": head["sources"],
        "origins": origins,
    }


def _without_machine(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in OF_THE_MACHINE}


def _parameters_to_json(parameters: dict[str, Any]) -> dict[str, Any]:
    result = _without_machine(parameters)
    result["kernel"] = _kernel_to_json(result["kernel"])
    if isinstance(result["class_prior"], dict):  # keys of JSON are strings, labels need not be
        result["class_prior"] = [list(pair) for pair in result["class_prior"].items()]
    return result


def parameters_from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a classifier without those of the machine."""
    result = _without_machine(parameters)
    if "kernel" in result:
        result["kernel"] = _kernel_from_json(result["kernel"])
    if isinstance(result.get("class_prior"), list):
        result["class_prior"] = dict(result["class_prior"])
    for name in ("ngram_range", "n_added"):
        if isinstance(result.get(name), list):
            result[name] = tuple(result[name])
    return result


def _kernel_to_json(kernel: Any) -> Any:
    if kernel is None or isinstance(kernel, str):
        return kernel
    if isinstance(kernel, StringKernel):
        return _without_machine(kernel.get_params())
    if isinstance(kernel, (list, tuple)):
        return [_kernel_to_json(one) for one in kernel]
    advice = "use a StringKernel or kernel='rows', or save the labels instead"
    raise InputTypeError(f"kernel={kernel!r} is a function and cannot be saved; {advice}")


def _kernel_from_json(kernel: Any) -> Any:
    if isinstance(kernel, dict):
        if not all(kernel.get(name, True) in (True, False) for name in SWITCHES):
            raise ValueError(f"{', '.join(SWITCHES)} of its kernel are not true or false")
        ngram_range = tuple(kernel["ngram_range"])
        return StringKernel(**_without_machine(kernel) | {"ngram_range": ngram_range})
    if isinstance(kernel, list):
        if len(kernel) > MAX_KERNELS:
            raise ValueError(f"it has {len(kernel)} kernels; a file has {MAX_KERNELS} at most")
        return [_kernel_from_json(one) for one in kernel]
    return kernel


def _check_kernels(kernel_list: KernelList | None) -> None:
    """Refuse more kernels than a file may have, and n-grams too long to be looked up in time."""
    kernels = [] if kernel_list is None else kernel_list.kernels
    if len(kernels) > MAX_KERNELS:
        raise InputError(f"there are {len(kernels)} kernels; a file has {MAX_KERNELS} at most")
    for kernel in kernels:
        ngram_range = getattr(kernel, "ngram_range", (1, 1))
        if ngram_range[1] > MAX_NGRAM_LENGTH:
            words = f"n-grams of a file have at most {MAX_NGRAM_LENGTH} characters"
            raise InputError(f"ngram_range={ngram_range}: {words}")


def labels_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    """Return the classes and their type for JSON."""
    if classes.dtype.kind not in "Uiufb":
        advice = "fit with labels that are str, int, float or bool"
        raise InputTypeError(f"labels of type {classes.dtype} cannot be saved; {advice}")
    if len(classes) > MAX_CLASSES:
        advice = f"a model file holds at most {MAX_CLASSES}; save the labels instead"
        raise InputError(f"there are {len(classes)} classes, and {advice}")
    return {"dtype": classes.dtype.str, "values": classes.tolist()}


def labels_from_json(labels: dict[str, Any]) -> NDArray[Any]:
    """Return the classes as an array; the type in the file can widen numbers to eight bytes."""
    values, dtype = labels["values"], labels["dtype"]
    kinds = {"U": str, "b": bool, "i": int, "u": int, "f": float}
    kind = dtype.lstrip("<>|=")[:1]
    if kind not in kinds or not all(type(value) is kinds[kind] for value in values):
        raise ValueError(f"its labels are not of type {dtype}")
    if kind != "U" and dtype not in NUMBER_TYPES:
        raise ValueError(f"its labels cannot have type {dtype}")
    if kind == "U" and max(map(len, values), default=0) > MAX_LABEL_CHARACTERS:
        raise ValueError(f"it has a label of more than {MAX_LABEL_CHARACTERS} characters")
    classes = np.array(values, "U" if kind == "U" else dtype)
    if kind == "f" and not np.isfinite(classes).all():
        raise ValueError("its labels are not finite")
    is_sorted = classes.tolist() == values == np.unique(classes).tolist()
    if not is_sorted or len(values) < 2:
        raise ValueError("its labels are not in order, or not different")
    return classes
