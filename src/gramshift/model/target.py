"""A holder for target documents that scikit-learn's grid search leaves whole."""

from collections.abc import Iterator
from typing import Any


class Target:
    """Target documents as one object without a length.

    Grid search cuts every fit argument that has as many rows as X. ``gs.Target(texts)`` has none, so each fold sees all
    target documents: ``search.fit(X, y, target=gs.Target(texts))``.
    """

    def __init__(self, documents: Any) -> None:
        self.documents = list(documents) if isinstance(documents, Iterator) else documents  # read once, used in every fold

    def __repr__(self) -> str:
        return "Target(...)"
