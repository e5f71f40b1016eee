"""Documents as points in two dimensions: the two directions in which a kernel sees them differ most."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import eigsh

from gramshift.learn.features import adapted_kernel, exponential
from gramshift.learn.linear import LinearFeatures
from gramshift.model.fitted import Model
from gramshift.report.contents import Map

Floats = NDArray[np.float64]
PER_KIND = 500  # points of source and of target documents
DIRECTLY = 100  # documents whose components are worked out at once


def draw_maps(
    model: Model,
    labels: Sequence[str],
    is_source: NDArray[np.bool_],
    *,
    per_kind: int = PER_KIND,
    features: LinearFeatures | None = None,
) -> tuple[Map | None, Map | None]:
    """Place all documents of the fit, or a sample, by the plain and by the adapted kernel; the second only if it was used.

    ``features`` are the documents as a linear fit saw them, if they are still there.
    """
    rows = choose_rows(is_source, per_kind)
    if model.similarities is None or len(rows) < 3:
        return None, None
    kinds, names = ["source" if is_source[row] else "target" for row in rows], [labels[row] for row in rows]

    def make(kernel: Floats) -> Map:
        x, y = principal_components(kernel).T.tolist()
        return Map(x, y, kinds, names)

    if features is not None:
        return make(np.vstack(list(features.rows(rows, rows)))), None
    some = model.documents[rows] if isinstance(model.documents, np.ndarray) else [model.documents[row] for row in rows]
    similarity = model.similarities.describe(some, model.reference, adapt=False).gram
    after = make(adapted_kernel(exponential(similarity))) if model.adapt else None
    return make(similarity[:, rows]), after


def choose_rows(is_source: NDArray[np.bool_], per_kind: int) -> NDArray[np.intp]:
    """Choose up to ``per_kind`` source and as many target documents, the same ones every time."""
    chosen = []
    for wanted in (is_source, ~is_source):
        rows = np.flatnonzero(wanted)
        chosen.append(np.random.default_rng(0).permutation(rows)[:per_kind])
    return np.sort(np.concatenate(chosen))


def principal_components(kernel: Floats) -> Floats:
    """Return the first two components, a column each; the side on which the farthest document lies is positive."""
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    n = len(centred)
    if n > DIRECTLY:  # step by step, from the same beginning every time
        values, vectors = eigsh(centred, k=2, v0=np.random.default_rng(0).normal(size=n))
    else:
        values, vectors = linalg.eigh(centred, subset_by_index=[n - 2, n - 1])
    components = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1]
    farthest = components[np.abs(components).argmax(axis=0), [0, 1]]
    result: Floats = components * np.where(farthest < 0, -1.0, 1.0)
    return result
