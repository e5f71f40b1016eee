"""How much each n-gram counts, worked out from the numbers of documents that have it."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.leaves.weighted import find_association

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]
LARGEST_POWER = 100
WEAK = 0.2  # an association below this is taken for none: few n-grams, but the common ones that take most of the time
SMOOTHING = 1.0  # documents that are added to those with an n-gram, found and expected alike


@dataclass(frozen=True)
class Powers:
    """The exponents of the three factors of a weight; 0 leaves a factor out.

    ``idf``: log(documents / documents with the n-gram). ``consistency``: the n-gram's share of the documents of the domain
    where it is rarest, over that where it is commonest. ``classes``: the absolute log of how much more common it is in a class
    than in the others, for the class where that is largest; 0 if that is below 0.2 or fewer than two documents have it.
    """

    idf: float = 0.0
    consistency: float = 0.0
    classes: float = 0.0


@dataclass(frozen=True)
class Weighting:
    """Powers, and the documents that they are applied to: numbers of a domain and of a class for each, -1 for none.

    Documents without a domain are not counted at all.
    """

    powers: Powers
    domains: Groups | None = None
    classes: Groups | None = None


Count = Callable[[Groups, int], NDArray[np.int64]]
"""(a group for each document that gives weights, number of groups) -> documents that have each n-gram, by group."""


def make_weights(weighting: Weighting, n_documents: int, count: Count) -> Floats:
    """A weight per n-gram.

    One that no document has weighs as much as one that a single document has; with domains or classes that is nothing.
    """
    powers = weighting.powers

    def tell(groups: Groups | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Documents by group, with each n-gram and at all."""
        assert groups is not None
        n_groups = int(groups.max(initial=-1)) + 1
        return count(groups, n_groups), np.bincount(groups[groups >= 0], minlength=n_groups)

    counted = (
        np.zeros(n_documents, np.int64)
        if weighting.domains is None
        else np.minimum(weighting.domains, 0)
    )
    (having,), (total,) = tell(counted)
    weights = np.ones(len(having))
    if powers.idf:
        weights *= inverse_frequency(having, total) ** powers.idf
    if powers.consistency:
        weights *= consistency(*tell(weighting.domains)) ** powers.consistency
    if powers.classes:
        weights *= association(*tell(weighting.classes)) ** powers.classes
    if powers.consistency or powers.classes:
        weights[having < 2] = 0.0  # one document says nothing of a domain or a class
    return weights


def inverse_frequency(having: NDArray[np.int64], total: int) -> Floats:
    """log(total / having); n-grams that no document has are taken to be in one."""
    result: Floats = np.log(total / np.maximum(having, 1)) if total else np.zeros(len(having))
    return result


def consistency(having: NDArray[np.int64], totals: NDArray[np.int64]) -> Floats:
    """Smallest over largest share of a domain's documents, 0 where some domain has none; shape (domains, n-grams)."""
    shares = having / np.maximum(totals, 1)[:, None]
    largest = shares.max(axis=0)
    result: Floats = np.divide(
        shares.min(axis=0), largest, out=np.zeros(len(largest)), where=largest > 0
    )
    return result


def association(having: NDArray[np.int64], totals: NDArray[np.int64]) -> Floats:
    """The largest |log(a / b)| over classes: how much more common an n-gram is in the class and in all others than expected.

    Expected are the class's documents times the share of all documents that have the n-gram. SMOOTHING is added to what was
    found and to what was expected, so that one document of a small class says little. Below WEAK, or unseen, it is 0.
    """
    best = np.empty(having.shape[1])
    counts = np.ascontiguousarray(having, np.int64), np.ascontiguousarray(totals, np.int64)
    find_association(*counts, SMOOTHING, WEAK, best)
    return best


RARE, SHARE = (
    5,
    0.005,
)  # an n-gram must be in so many documents, and in such a share of them, to tell of a domain


def frequency_ratios(having: NDArray[np.int64], totals: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The log of how much more common n-grams are in the second of two domains, and its variance by chance.

    Of those n-grams that are not rare in either domain.
    """
    common = (having >= np.maximum(RARE, SHARE * totals)[:, None]).all(axis=0)
    first, second = having[:, common] + 0.5
    ratios: Floats = np.log(second / (totals[1] + 1)) - np.log(first / (totals[0] + 1))
    return ratios, 1 / first + 1 / second


def as_powers(value: Any) -> Powers | None:
    """Read what a user may give: None or "none", "idf", or a dict of powers."""
    names = ", ".join(vars(Powers()))
    rule = f"give 'none', 'idf', or a dict with powers from 0 on for some of {names}, for example {{'idf': 2}}"
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
            or not 0 <= float(power) <= LARGEST_POWER
        ):
            raise InputError(f"weighting={value!r}: {rule}; powers go up to {LARGEST_POWER}")
    return Powers(**{name: float(power) for name, power in value.items()})


def as_groups(values: Any, n: int, name: str) -> Groups:
    """A number from 0 on for each of n documents, by the sorted values that a user gave; -1 for None."""
    given = list(values) if values is not None else []
    if values is None or len(given) != n:
        found = "nothing was given" if values is None else f"{len(given)} were given"
        raise InputError(
            f"this weighting needs {name}, one for each of the {n} documents that weights come from; {found}"
        )
    places = {
        value: place
        for place, value in enumerate(sorted({value for value in given if value is not None}))
    }
    return np.array([-1 if value is None else places[value] for value in given], np.int64)
