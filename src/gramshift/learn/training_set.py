"""Training set of a round: source documents, pseudo-labelled ones, and their classes."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class TrainingSet:
    """The documents of a fit, by number, and those that a round learns from.

    ``training`` has the source documents in order, then the pseudo-labelled target documents,
    surest first or, in a loaded fit, by number. ``codes`` are their classes, numbers below
    ``n_classes``.
    """

    is_source: NDArray[np.bool_]
    training: Rows
    codes: Codes
    n_classes: int
    ranks: NDArray[np.intp] | None = None
    """Rank of each document in an order of texts; None for the given order."""

    @classmethod
    def of_source(
        cls,
        is_source: NDArray[np.bool_],
        codes: Codes,
        n_classes: int,
        ranks: NDArray[np.intp] | None = None,
    ) -> "TrainingSet":
        """Return the training set of a first round: the source alone."""
        return cls(is_source, np.flatnonzero(is_source), codes, n_classes, ranks)

    def __len__(self) -> int:
        return len(self.is_source)

    @cached_property
    def source(self) -> Rows:
        """The numbers of the source documents."""
        return np.flatnonzero(self.is_source)

    @cached_property
    def target(self) -> Rows:
        """The numbers of the target documents."""
        return np.flatnonzero(~self.is_source)

    @property
    def source_codes(self) -> Codes:
        """The classes of the source documents."""
        return self.codes[: len(self.source)]

    @property
    def pseudo_labelled(self) -> Rows:
        """The numbers of the pseudo-labelled target documents, surest first."""
        return self.training[len(self.source) :]

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """The class of each training document, -1 for all others."""
        known = np.full(len(self), -1, np.int64)
        known[self.training] = self.codes
        return known

    def with_pseudo_labels(self, rows: Rows, codes: Codes) -> "TrainingSet":
        """Return the source with these pseudo-labelled target documents instead of earlier ones."""
        training = np.concatenate([self.source, rows])
        return replace(self, training=training, codes=np.concatenate([self.source_codes, codes]))

    def only(self, chosen: NDArray[np.bool_]) -> "TrainingSet":
        """Return the training set reduced to the ``chosen`` of its documents."""
        return replace(self, training=self.training[chosen], codes=self.codes[chosen])

    def groups(self) -> dict[str, Any]:
        """Return domain and class of each document, as a kernel takes them for its weights."""
        domains = np.where(self.is_source, 0, 1).tolist()
        return {
            "domains": domains,
            "classes": [None if code < 0 else code for code in self.known.tolist()],
        }
