"""Checks of what users add to a fitted classifier: ids, texts of the target, files of documents."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, MissingPackageError
from gramshift.model.corrections import target_rows
from gramshift.model.documents_to_label import compare_rows, compare_texts
from gramshift.model.result import FitResult
from gramshift.terminal import count_in_words
from gramshift.text.documents import as_documents, as_list, digest_of


def target_texts(fit: FitResult) -> list[str] | None:
    """Return the texts of the target documents, corrected ones included; None if not kept."""
    documents = fit.model.documents
    if not isinstance(documents, list) or len(documents) != len(fit.training_set):
        return None
    return [documents[row] for row in target_rows(fit).tolist()]


def check_texts(fit: FitResult, texts: Any, n: int) -> list[str]:
    """Return the texts that a user gives for the n target documents, if they can be these."""
    given: list[str] = as_documents(texts, name="texts")
    known = [] if fit.is_of_rows else fit.target_digests[fit.wanted]
    found = []
    if known and len(given) == n:
        is_corrected = np.isin(target_rows(fit), fit.corrected)
        found = [digest_of(text) for text, one in zip(given, is_corrected, strict=True) if not one]
    if len(given) != n or found != known:
        raise InputError(
            f"texts has {len(given)} documents, which are not the {n} target documents of the fit,"
            " in order"
        )
    return given


def check_ids(ids: Any, n: int, kind: str) -> list[Any]:
    """Return one id for each document."""
    names = as_list(ids)
    if len(names) != n:
        raise InputError(
            f"there are {len(names)} ids for {count_in_words(n, f'{kind} document')};"
            " give one for each, in their order"
        )
    return names


def check_origins(origins: Any, n: int) -> list[tuple[str, str]] | None:
    """Return the file and the id of each document of a fit."""
    if origins is None:
        return None
    pairs = as_list(origins)
    if len(pairs) != n or not all(
        isinstance(one, (tuple, list)) and len(one) == 2 for one in pairs
    ):
        raise InputError(
            f"origins has {len(pairs)} entries for {count_in_words(n, 'document')}; give a pair of"
            " file and id for each document of X, target and unlabelled"
        )
    return [(str(file), str(id)) for file, id in pairs]


def comparer(
    fit: FitResult, texts: Any, places: NDArray[np.intp], n_jobs: int | None
) -> Callable[[NDArray[np.intp]], NDArray[np.float64]]:
    """Return a function that compares some of the target documents at these places."""
    if fit.is_of_rows:
        rows = target_rows(fit)[places]
        return compare_rows(np.asarray(fit.model.documents)[rows])
    n = len(target_rows(fit))
    known = target_texts(fit) if texts is None else check_texts(fit, texts, n)
    if known is None:
        raise InputError(
            "near copies are left out, and the texts of the target are not kept here;"
            " give texts=..."
        )
    return compare_texts([known[place] for place in places.tolist()], n_jobs)


def make_frame(columns: dict[str, Any], ids: Any, n: int) -> Any:
    """Return a pandas data frame of n target documents, with their ids as its index."""
    try:
        import pandas as pd  # an extra: nothing else here needs it
    except ModuleNotFoundError:
        raise MissingPackageError(
            "to_frame needs pandas: pip install pandas", name="pandas"
        ) from None
    index = None
    if ids is not None:
        index = pd.Index(check_ids(ids, n, "target"), name=getattr(ids, "name", None))
    return pd.DataFrame(columns, index=index)
