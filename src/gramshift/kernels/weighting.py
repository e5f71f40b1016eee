"""Weights of n-grams, computed from the numbers of documents that have them."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.compiled.weighted import find_association

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]
MAX_POWER = 100
MIN_ASSOCIATION = 0.2  # weaker ones count as 0, which drops the common n-grams that take most time
SMOOTHING = 1.0  # documents added to the observed and to the expected number


@dataclass(frozen=True)
class Powers:
    """The exponents of the three factors of a weight; 0 leaves a factor out.

    ``idf``: log(documents / documents with the n-gram). ``consistency``: the n-gram's share of the
    documents in the domain where it is rarest, divided by its share where it is most common.
    ``classes``: the absolute log of how much more common it is in a class than in the others, for
    the class where this is largest; 0 if it is below 0.2 or fewer than two documents have it.
    """

    idf: float = 0.0
    consistency: float = 0.0
    classes: float = 0.0


@dataclass(frozen=True)
class Weighting:
    """Powers, with the number of the domain and of the class of each document, -1 for none.

    Documents without a domain are not counted at all.
    """

    powers: Powers
    domains: Groups | None = None
    classes: Groups | None = None


Count = Callable[[Groups, int], NDArray[np.int64]]
"""Counts documents: (a group for each document, number of groups) -> groups x n-grams."""


def make_weights(weighting: Weighting, n_documents: int, count: Count) -> Floats:
    """Return a weight per n-gram.

    An n-gram that no document has weighs as much as one of a single document; with consistency or
    classes, this is 0.
    """
    powers = weighting.powers

    def count_groups(groups: Groups | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the documents of each group that have an n-gram, and all of them."""
        assert groups is not None
        n_groups = int(groups.max(initial=-1)) + 1
        return count(groups, n_groups), np.bincount(groups[groups >= 0], minlength=n_groups)

    counted = (
        np.zeros(n_documents, np.int64)
        if weighting.domains is None
        else np.minimum(weighting.domains, 0)
    )
    (having,), (total,) = count_groups(counted)
    weights = np.ones(len(having))
    if powers.idf:
        weights *= inverse_frequency(having, total) ** powers.idf
    if powers.consistency:
        weights *= consistency(*count_groups(weighting.domains)) ** powers.consistency
    if powers.classes:
        weights *= association(*count_groups(weighting.classes)) ** powers.classes
    if powers.consistency or powers.classes:
        weights[having < 2] = 0.0  # a single document is no evidence
    return weights


def inverse_frequency(having: NDArray[np.int64], total: int) -> Floats:
    """Return log(total / having); n-grams that no document has count as in one."""
    result: Floats = np.log(total / np.maximum(having, 1)) if total else np.zeros(len(having))
    return result


def consistency(having: NDArray[np.int64], totals: NDArray[np.int64]) -> Floats:
    """Return the smallest over the largest share of the documents of a domain.

    ``having`` has a row per domain. The result is 0 if no document of some domain has the n-gram.
    """
    shares = having / np.maximum(totals, 1)[:, None]
    largest = shares.max(axis=0)
    result: Floats = np.divide(
        shares.min(axis=0), largest, out=np.zeros(len(largest)), where=largest > 0
    )
    return result


def association(having: NDArray[np.int64], totals: NDArray[np.int64]) -> Floats:
    """Return the largest |log(a / b)| over classes.

    a is the number of documents of the class with the n-gram over the number expected, b the same
    for all other classes together. The expected number is the number of documents of the class, or
    of the others, times the share of all documents that have the n-gram. SMOOTHING is added to each
    number, so that one document of a small class changes little. An association below
    MIN_ASSOCIATION is 0.
    """
    best = np.empty(having.shape[1])
    counts = np.ascontiguousarray(having, np.int64), np.ascontiguousarray(totals, np.int64)
    find_association(*counts, SMOOTHING, MIN_ASSOCIATION, best)
    return best


# an n-gram shows a difference of domains if it is in at least this many documents of both
MIN_DOCUMENTS = 5
MIN_SHARE = 0.005  # of the documents


def frequency_ratios(having: NDArray[np.int64], totals: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the log ratios of n-gram frequencies in the second and first domain, with variances.

    Only n-grams that are rare in neither domain are used.
    """
    common = (having >= np.maximum(MIN_DOCUMENTS, MIN_SHARE * totals)[:, None]).all(axis=0)
    first, second = having[:, common] + 0.5
    ratios: Floats = np.log(second / (totals[1] + 1)) - np.log(first / (totals[0] + 1))
    return ratios, 1 / first + 1 / second


def as_powers(value: Any) -> Powers | None:
    """Return the powers that a user gave as None or "none", "idf", or a dict."""
    names = ", ".join(vars(Powers()))
    rule = f"give 'none', 'idf', or a dict with powers from 0 on for some of {names}, "
    rule += "for example {'idf': 2}"
    if value is None or (isinstance(value, str) and value == "none"):
        return None
    if isinstance(value, str) and value == "idf":
        return Powers(idf=2.0)
    if not isinstance(value, dict) or not value or not set(value) <= set(vars(Powers())):
        raise InputError(f"weighting={value!r}: {rule}")
    for power in value.values():
        if (
            isinstance(power, bool)
            or not isinstance(power, Real)
            or not 0 <= float(power) <= MAX_POWER
        ):
            raise InputError(f"weighting={value!r}: {rule}; powers go up to {MAX_POWER}")
    return Powers(**{name: float(power) for name, power in value.items()})


def as_groups(values: Any, n: int, name: str) -> Groups:
    """Return the number of each document's value, in sorted order; None becomes -1."""
    given = list(values) if values is not None else []
    if values is None or len(given) != n:
        found = "nothing was given" if values is None else f"{len(given)} were given"
        raise InputError(
            f"this weighting needs {name}, one for each of the {n} documents that weights come "
            f"from; {found}"
        )
    places = {
        value: place
        for place, value in enumerate(sorted({value for value in given if value is not None}))
    }
    return np.array([-1 if value is None else places[value] for value in given], np.int64)
