"""What a round of training knows of the documents: which are source, and the classes of those that it learns from."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Labelling:
    """The documents of a fit as one round knows them, by their numbers.

    ``training`` are the documents that the round learns from: those of the source in order, then target documents that have
    joined, surest first or, of a fit that was loaded, by number. ``codes`` are their classes, numbers below ``n_classes``.
    """

    is_source: NDArray[np.bool_]
    training: Rows
    codes: Codes
    n_classes: int
    ranks: NDArray[np.intp] | None = None
    """The place of each document in an order of their texts; None for the order in which they were given."""

    @classmethod
    def of_source(
        cls,
        is_source: NDArray[np.bool_],
        codes: Codes,
        n_classes: int,
        ranks: NDArray[np.intp] | None = None,
    ) -> "Labelling":
        """The labelling of a first round: the classes of the source documents are known, and no others."""
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
    def joined(self) -> Rows:
        """The numbers of the target documents that have joined the training set, surest first."""
        return self.training[len(self.source) :]

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """The class of each document, -1 where none is known."""
        known = np.full(len(self), -1, np.int64)
        known[self.training] = self.codes
        return known

    def join(self, rows: Rows, codes: Codes) -> "Labelling":
        """The source with these target documents and classes, in place of those that had joined before."""
        training = np.concatenate([self.source, rows])
        return replace(self, training=training, codes=np.concatenate([self.source_codes, codes]))

    def only(self, chosen: NDArray[np.bool_]) -> "Labelling":
        """The same documents with the classes of some training documents forgotten; ``chosen`` are those that stay."""
        return replace(self, training=self.training[chosen], codes=self.codes[chosen])

    def groups(self) -> dict[str, Any]:
        """The domain and the class of each document, as a kernel takes them for its weights."""
        domains = np.where(self.is_source, 0, 1).tolist()
        return {
            "domains": domains,
            "classes": [None if code < 0 else code for code in self.known.tolist()],
        }
