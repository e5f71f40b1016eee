"""How much each n-gram counts, worked out from the numbers of documents that have it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.weighted import WeightedNGrams
from gramshift.ngrams.incidence import Incidence

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]
SMOOTHING = 1.0  # documents that every n-gram is taken to have in every class


@dataclass(frozen=True)
class Powers:
    """The exponents of the three factors of a weight; 0 leaves a factor out.

    ``idf``: log(documents / documents with the n-gram). ``consistency``: the n-gram's share of the documents of the domain
    where it is rarest, over that where it is commonest. ``classes``: the absolute log of how much more common it is in a class
    than in the others, for the class where that is largest; 0 if fewer than two documents have it.
    """

    idf: float = 0.0
    consistency: float = 0.0
    classes: float = 0.0


@dataclass(frozen=True)
class Weighting:
    """Powers, and the documents that they are applied to: numbers of a domain and of a class for each, -1 for none."""

    powers: Powers
    domains: Groups | None = None
    classes: Groups | None = None


def weigh_ngrams(incidence: Incidence, weighting: Weighting, *, n_cols: int | None = None) -> WeightedNGrams:
    """The kernel of all documents, or, with ``n_cols``, of those after the first n_cols with these, which give the weights.

    An n-gram that none of them has weighs as much as one that a single one has; with classes or domains that is nothing.
    """
    n_fit = incidence.n_docs if n_cols is None else n_cols
    everyone = np.zeros(n_fit, np.int64)

    def count(groups: Groups) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Documents by group, with each feature and at all."""
        n_groups = int(groups.max(initial=-1)) + 1
        padded = np.concatenate([groups, np.full(incidence.n_docs - n_fit, -1)]).astype(np.int64)
        return incidence.count(padded, n_groups), np.bincount(groups[groups >= 0], minlength=n_groups)

    powers = weighting.powers
    (having,), (total,) = count(everyone)
    weights, alone = np.ones(incidence.times.size), 1.0
    if powers.idf:
        weights *= inverse_frequency(having, total) ** powers.idf
        alone = float(inverse_frequency(np.ones(1, np.int64), total)[0] ** powers.idf)
    if powers.consistency:
        assert weighting.domains is not None
        weights *= consistency(*count(weighting.domains)) ** powers.consistency
        alone = 0.0
    if powers.classes:
        assert weighting.classes is not None
        weights *= association(*count(weighting.classes)) ** powers.classes
        weights[having < 2] = alone = 0.0  # one document says nothing of a class
    return WeightedNGrams(incidence, weights, alone, n_cols=n_fit, first_row=0 if n_cols is None else n_cols)


def inverse_frequency(having: NDArray[np.int64], total: int) -> Floats:
    """log(total / having); n-grams that no document has are taken to be in one."""
    result: Floats = np.log(total / np.maximum(having, 1)) if total else np.zeros(len(having))
    return result


def consistency(having: NDArray[np.int64], totals: NDArray[np.int64]) -> Floats:
    """Smallest over largest share of a domain's documents, 0 where some domain has none; shape (domains, n-grams)."""
    shares = having / np.maximum(totals, 1)[:, None]
    largest = shares.max(axis=0)
    result: Floats = np.divide(shares.min(axis=0), largest, out=np.zeros(len(largest)), where=largest > 0)
    return result


def association(having: NDArray[np.int64], totals: NDArray[np.int64]) -> Floats:
    """The largest |log(a / b)| over classes: a of its documents, b of all others, as if both were equally many; 0 if unseen.

    Both are counted as if classes and their complements had half of the documents each, plus SMOOTHING.
    """
    n, everywhere = int(totals.sum()), having.sum(axis=0)
    best = np.zeros(having.shape[1])
    for here, size in zip(having, totals.tolist(), strict=True):
        if 0 < size < n:
            inside, outside = here * (n / 2 / size), (everywhere - here) * (n / 2 / (n - size))
            np.maximum(best, np.abs(np.log((inside + SMOOTHING) / (outside + SMOOTHING))), out=best)
    return best


def as_powers(value: Any) -> Powers | None:
    """From what a user may give: None, "idf", a dict of powers or Powers."""
    names = ", ".join(vars(Powers()))
    rule = f"give None, 'idf', or a dict with powers from 0 on for some of {names}, for example {{'idf': 2}}"
    if value is None or isinstance(value, Powers):
        return value
    if isinstance(value, str) and value == "idf":
        return Powers(idf=2.0)
    if not isinstance(value, dict) or not value or not set(value) <= set(vars(Powers())):
        raise ValueError(f"weighting={value!r}: {rule}")
    for power in value.values():
        if isinstance(power, bool) or not isinstance(power, (int, float)) or not 0 <= power <= 100:
            raise ValueError(f"weighting={value!r}: {rule}")
    return Powers(**{name: float(power) for name, power in value.items()})
