"""Maps of documents: the first two principal components of a kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import eigsh

from gramshift.learn.features import adapted_kernel, exponential
from gramshift.learn.linear import NGramFeatures
from gramshift.learn.training_set import Rows
from gramshift.model.result import FitResult
from gramshift.report.contents import DocumentMap

Floats = NDArray[np.float64]
MAX_POINTS = 500  # of source documents, and of target documents
MAX_DENSE = 100  # documents up to which all components are computed


def draw_maps(
    fit: FitResult, features: NGramFeatures | None, *, per_kind: int = MAX_POINTS
) -> tuple[DocumentMap | None, DocumentMap | None]:
    """Return maps of the documents by the plain and by the adapted kernel.

    A map shows at most ``per_kind`` source and as many target documents. ``features`` are those
    of ``evidence.last_features``. The second map is None if the fit did not adapt the kernel.
    """
    model, is_source = fit.model, fit.is_source
    rows = choose_rows(is_source, per_kind)
    if model.kernel_list is None or len(rows) < 3:
        return None, None
    kinds = ["source" if is_source[row] else "target" for row in rows]
    labels = [str(fit.all_labels[row]) for row in rows]

    def make_map(kernel: Floats) -> DocumentMap:
        x, y = principal_components(kernel).T.tolist()
        return DocumentMap(x, y, kinds, labels)

    if features is not None:
        narrowed = features.narrow(rows)
        return make_map(np.vstack(list(narrowed.rows(np.arange(len(rows)))))), None
    documents: Any = model.documents
    is_array = isinstance(documents, np.ndarray)
    chosen = documents[rows] if is_array else [documents[row] for row in rows]
    similarity = model.kernel_list.describe(chosen, model.reference, adapt=False).gram
    after = make_map(adapted_kernel(exponential(similarity))) if model.adapt else None
    return make_map(similarity[:, rows]), after


def choose_rows(is_source: NDArray[np.bool_], per_kind: int) -> Rows:
    """Choose up to ``per_kind`` source and as many target documents, the same ones every time."""
    chosen = []
    for is_wanted in (is_source, ~is_source):
        rows = np.flatnonzero(is_wanted)
        chosen.append(np.random.default_rng(0).permutation(rows)[:per_kind])
    return np.sort(np.concatenate(chosen))


def principal_components(kernel: Floats) -> Floats:
    """Return the first two kernel principal components, one per column.

    Their signs are chosen so that the value farthest from 0 is positive.
    """
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    n = len(centred)
    if n > MAX_DENSE:  # iterative, from a fixed start
        values, vectors = eigsh(centred, k=2, v0=np.random.default_rng(0).normal(size=n))
    else:
        values, vectors = linalg.eigh(centred, subset_by_index=[n - 2, n - 1])
    components = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1]
    farthest = components[np.abs(components).argmax(axis=0), [0, 1]]
    result: Floats = components * np.where(farthest < 0, -1.0, 1.0)
    return result
