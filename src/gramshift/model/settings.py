"""Settings of a fit, checked in one place: the paper's, or the best that we know."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from gramshift.errors import InputError
from gramshift.kernels.registry import KERNELS, check_ngram_range
from gramshift.kernels.string_kernel import StringKernel
from gramshift.kernels.weighting import as_powers
from gramshift.learn.decisions import RandomLabels
from gramshift.learn.rounds import ESTIMATED, IGNORED, SOURCE, Schedule
from gramshift.model.model_schema import PRECOMPUTED, ROWS

Floats = NDArray[np.float64]
WORDS, WORD_RANGE = "words", (1, 2)
CLASSIFIERS = ("ridge", "discriminant")
CLASS_PRIORS = (ESTIMATED, SOURCE, IGNORED)
MIN_TARGET = 50  # target documents; with 30, adapting did not help on average (docs/experiments.md)
UNADAPTED, PLAIN = (
    "unadapted",
    "plain",
)  # labels for comparison: first round, plain kernel
PRIOR = "prior"  # scores that begin at the class proportions
MAX_ALPHA = 1e12  # beyond it all scores are the same to rounding
# the paper has 1000 of 2000; all of a smaller target would leave a round without effect
HALF_OR_1000 = "1000, or half of a smaller target"
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "kernel": "presence",
        "ngram_range": (5, 8),
        "weighting": "none",
        "adapt": True,
        "n_rounds": 2,
        "n_added": HALF_OR_1000,
        "alpha": 1e-5,
        "class_prior": "ignored",
        "bias": False,
    },
    "best": {  # chosen on development data: docs/experiments.md
        "kernel": ("presence", "words"),
        "ngram_range": (3, 8),
        "weighting": {"idf": 2, "classes": 1},
        "adapt": False,
        "n_rounds": 5,
        "n_added": (0.25, 0.5, 0.75, 0.9),
        "alpha": 1.0,
        "class_prior": "estimated",
        "bias": "prior",
    },
}


@dataclass(frozen=True)
class Settings:
    """Settings of a fit, described in :class:`TransductiveClassifier`; here each has a value."""

    kernel: Any
    ngram_range: tuple[int, int]
    weighting: str | dict[str, float]
    adapt: bool
    n_rounds: int
    n_added: str | int | float | tuple[int | float, ...]
    class_prior: str | dict[Any, float]
    alpha: float
    bias: bool | str
    classifier: Any = "ridge"
    encoder: Any = None
    fewest: int = 1
    """Number of target documents below which there is one round: nothing is adapted."""

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """Return checked parameters, with the preset's value for each that is None."""
        preset = parameters["preset"]
        if not isinstance(preset, str) or preset not in PRESETS:
            raise InputError(f"preset={preset!r}: must be one of {', '.join(map(repr, PRESETS))}")
        values = {one.name: parameters[one.name] for one in fields(cls) if one.name != "fewest"}
        values |= {name: value for name, value in PRESETS[preset].items() if values[name] is None}
        if parameters["n_rounds"] is None and isinstance(parameters["n_added"], (list, tuple)):
            values["n_rounds"] = 1 + len(parameters["n_added"])
        kernels = (
            values["kernel"] if isinstance(values["kernel"], (list, tuple)) else [values["kernel"]]
        )
        if parameters["weighting"] is None and not all(map(_can_be_weighted, kernels)):
            values["weighting"] = "none"  # those of the preset are not meant for these
        _check(values)
        by_itself = (
            parameters["n_rounds"] is None
            and parameters["n_added"] is None
            and values["bias"] == PRIOR
        )
        return cls(**_with_plain_types(values), fewest=MIN_TARGET if by_itself else 1)

    @property
    def has_intercept(self) -> bool:
        """True if ridge regression has an intercept that is not penalised."""
        return self.bias is True

    @property
    def is_precomputed(self) -> bool:
        """True if X is a kernel matrix."""
        return kernel_is_precomputed(self.kernel)

    def shaped_by_preset(self) -> dict[str, Any]:
        """Return the parameters that a preset decides, by name."""
        return {name: getattr(self, name) for name in PRESETS["paper"]}

    def count_added(self, n_target: int) -> tuple[int, ...]:
        """Return how many documents join before each round after the first."""
        if isinstance(self.n_added, str):
            return (max(1, min(1000, n_target // 2)),)
        several = self.n_added if isinstance(self.n_added, tuple) else (self.n_added,)
        return tuple(
            int(one) if isinstance(one, Integral) else max(1, round(one * n_target))
            for one in several
        )

    def make_schedule(
        self, n_target: int, classes: list[Any], random: RandomLabels | None = None
    ) -> Schedule:
        """Return the schedule for this many target documents, these classes, and random labels."""
        given = self.class_prior
        class_prior = given_proportions(given, classes) if isinstance(given, dict) else given
        centred = self.bias == PRIOR and self.classifier == "ridge"
        n_rounds = self.n_rounds if n_target >= self.fewest else 1
        return Schedule(n_rounds, self.count_added(n_target), class_prior, centred, random)


def _with_plain_types(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked values as Python's own types, independent of the user's objects."""
    result = dict(values)
    result["ngram_range"] = tuple(map(int, values["ngram_range"]))
    result |= {name: bool(values[name]) for name in ("adapt", "bias") if values[name] != PRIOR}
    result["n_rounds"], result["alpha"] = int(values["n_rounds"]), float(values["alpha"])
    if isinstance(values["n_added"], (list, tuple)):
        result["n_added"] = tuple(values["n_added"])
    result |= {
        name: dict(values[name])
        for name in ("class_prior", "weighting")
        if isinstance(values[name], Mapping)
    }
    result["kernel"] = copy_kernel(values["kernel"])
    if not isinstance(values["classifier"], str):
        result["classifier"] = clone(values["classifier"])
    return result


def copy_kernel(kernel: Any) -> Any:
    """Return a copy of a kernel, or of a list, that does not change with the user's."""
    if isinstance(kernel, (list, tuple)):
        return [copy_kernel(one) for one in kernel]
    return StringKernel(**kernel.get_params()) if isinstance(kernel, StringKernel) else kernel


def _can_be_weighted(kernel: Any) -> bool:
    """Return True if a kernel is given by a name, and can have weights."""
    return isinstance(kernel, str) and (
        kernel == WORDS or (kernel in KERNELS and KERNELS[kernel].weigh is not None)
    )


def _check_classifier(classifier: Any) -> None:
    """Raise an error unless this is a known name, or a scikit-learn classifier for kernels."""
    if isinstance(classifier, str) and classifier in CLASSIFIERS:
        return
    allowed = (
        f"must be {' or '.join(map(repr, CLASSIFIERS))}, or a scikit-learn classifier such as "
        f"SVC(kernel='precomputed')"
    )
    lacking = [
        name for name in ("fit", "decision_function", "get_params") if not hasattr(classifier, name)
    ]
    if isinstance(classifier, (str, type)) or lacking:
        raise InputError(f"classifier={classifier!r}: {allowed}")
    if not get_tags(classifier).input_tags.pairwise:
        raise InputError(f"classifier={classifier!r} does not take a kernel matrix: {allowed}")


def _check(values: Mapping[str, Any]) -> None:
    """Raise an error for the first parameter that is wrong."""
    n_rounds, alpha, prior, classifier = (
        values[name] for name in ("n_rounds", "alpha", "class_prior", "classifier")
    )
    if not _is(n_rounds, Integral) or n_rounds < 1:
        raise InputError(f"n_rounds={n_rounds!r}: give a whole number from 1 on; 2 is the paper's")
    several = isinstance(values["n_added"], (list, tuple))
    given = (
        values["n_added"]
        if several
        else []
        if values["n_added"] == HALF_OR_1000
        else [values["n_added"]]
    )
    for n_added in given:
        share = _is(n_added, Real) and not isinstance(n_added, Integral)
        if not _is(n_added, Real) or not n_added > 0 or (share and n_added > 1):
            advice = "to add none, use n_rounds=1"
            raise InputError(
                f"n_added={n_added!r}: give a count from 1 on, or a share of the target up to 1.0; "
                f"{advice}"
            )
    if several and not values["n_added"]:
        raise InputError(
            "n_added is empty: give a number for each round after the first; to add none, use "
            "n_rounds=1"
        )
    if not _is(alpha, Real) or not 0 < alpha <= MAX_ALPHA:
        raise InputError(
            f"alpha={alpha!r}: give a number above 0, up to {MAX_ALPHA:g}; 1e-5 is the paper's"
        )
    if not isinstance(values["adapt"], (bool, np.bool_)):
        raise InputError(f"adapt={values['adapt']!r}: give True or False")
    if not isinstance(values["bias"], (bool, np.bool_)) and values["bias"] != PRIOR:
        raise InputError(f"bias={values['bias']!r}: give True, False or {PRIOR!r}")
    if not isinstance(prior, Mapping) and prior not in CLASS_PRIORS:
        names = ", ".join(map(repr, CLASS_PRIORS))
        raise InputError(
            f"class_prior={prior!r}: must be one of {names}, or a dict with the proportion of each "
            f"class"
        )
    check_encoder(values["encoder"])
    as_powers(values["weighting"])
    _check_classifier(classifier)
    check_ngram_range(values["ngram_range"])
    check_kernel(values["kernel"])


def check_encoder(encoder: Any) -> None:
    """Raise an error unless this is None or can be called with texts."""
    if encoder is not None and (isinstance(encoder, type) or not callable(encoder)):
        raise InputError(
            f"encoder={encoder!r}: give a function that takes a list of texts and returns an array "
            f"with a row for each, such as SentenceTransformer(...).encode"
        )


def check_kernel(kernel: Any) -> None:
    """Raise an error unless this is a kernel or a list of kernels.

    A list cannot contain precomputed similarities.
    """
    for one in kernel if isinstance(kernel, (list, tuple)) else [kernel]:
        if one is not kernel and kernel_is_precomputed(one):
            raise InputError(
                "kernel='precomputed' cannot stand in a list; add up the kernel matrices yourself, "
                "normalised"
            )
        if one is not kernel and kernel_is_rows(one):
            raise InputError(
                "kernel='rows' cannot stand in a list: put all numbers of a document into one row"
            )
        if isinstance(one, StringKernel):
            one.parse()
            continue
        is_named = isinstance(one, str) and one in (*KERNELS, WORDS, ROWS, PRECOMPUTED)
        if not is_named and (isinstance(one, type) or not callable(one)):
            names = ", ".join(map(repr, [*KERNELS, WORDS, ROWS, PRECOMPUTED]))
            raise InputError(
                f"kernel={one!r}: must be one of {names}, a StringKernel, another callable, or a "
                f"list of kernels"
            )
    if isinstance(kernel, (list, tuple)) and not kernel:
        raise InputError(
            "kernel=[]: give at least one kernel, for example ['presence', 'spectrum']"
        )


def kernel_is_precomputed(kernel: Any) -> bool:
    """Return True if a kernel matrix is given instead of a kernel."""
    return isinstance(kernel, str) and kernel == PRECOMPUTED


def kernel_is_rows(kernel: Any) -> bool:
    """Return True if documents are rows of numbers, compared by their cosine."""
    return isinstance(kernel, str) and kernel == ROWS


def check_verbose(verbose: Any) -> bool:
    """Return True if progress is shown: for True or a number from 1 on, as in scikit-learn."""
    if not isinstance(verbose, (bool, np.bool_)) and (not _is(verbose, Integral) or verbose < 0):
        raise InputError(f"verbose={verbose!r}: give True or False")
    return bool(verbose)


def given_proportions(class_prior: Mapping[Any, Any], classes: list[Any]) -> Floats:
    """Return the user's class proportions in the order of the classes, normalised."""
    given = class_prior.values()
    wrong = set(class_prior) != set(classes) or not all(
        _is(one, Real) and 0 <= one < np.inf for one in given
    )
    if wrong or not sum(given) > 0:
        advice = f"give a proportion from 0 on for each of the classes {classes}, and one above 0"
        raise InputError(f"class_prior={dict(class_prior)!r}: {advice}")
    proportions = np.array([float(class_prior[label]) for label in classes])
    total: Floats = proportions / proportions.sum()
    return total


def _is(value: Any, kind: type) -> bool:
    """Return True for a number of this kind, not True or False."""
    return isinstance(value, kind) and not isinstance(value, bool)
