"""Find evidence for labels: the words that count most, and the most similar source documents."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.corpus import Corpus
from gramshift.learn.linear import NGramFeatures
from gramshift.learn.training_set import Rows
from gramshift.model.explanation import spread_scores
from gramshift.model.feature_makers import NGramFeatureMaker
from gramshift.model.result import FitResult, KernelModel
from gramshift.model.word_spans import choose_words, rank_words
from gramshift.parallel import Progress
from gramshift.report.contents import Highlight
from gramshift.runtime import Runtime

MAX_EXPLAINED = 2000  # documents with highlights: about 10 s with as many source documents
MAX_CELLS = 1 << 24  # similarities in memory at a time
N_NEIGHBOURS = 3


def last_features(
    fit: FitResult, n_jobs: int | None, corpus: Corpus | None = None
) -> NGramFeatures | None:
    """Return the features of all documents in the last round; None if the fit is not linear.

    A ``corpus`` has the n-grams that the fit found in its documents.
    """
    kernel_list = fit.model.kernel_list
    if fit.model.ngrams is None or kernel_list is None:
        return None
    feature_maker = NGramFeatureMaker(
        kernel_list,
        corpus or Corpus(list(fit.model.documents)),
        alpha=fit.settings.alpha,
        bias=fit.settings.has_intercept,
        runtime=Runtime(n_jobs),
    )
    return feature_maker.features_for(fit.training_set)


def find_highlights(
    fit: FitResult, target: Rows, confidence: NDArray[np.float64], progress: Progress | None
) -> dict[int, list[Highlight]]:
    """Return the highlights of the least sure documents by row; none if the model is not linear."""
    if fit.model.ngrams is None:
        return {}
    texts = fit.model.documents
    rows = target[np.argsort(confidence, kind="stable")[:MAX_EXPLAINED]].tolist()
    first = {text: row for row, text in reversed(list(enumerate(texts)))}  # equal texts look equal
    chosen = [texts[row] for row in rows]
    spread = spread_scores(
        fit.model, chosen, own=[first[text] for text in chosen], progress=progress
    )
    return {
        row: choose_highlights(text, by_character)
        for row, text, by_character in zip(rows, chosen, spread, strict=True)
    }


def choose_highlights(text: str, by_character: NDArray[np.float64]) -> list[Highlight]:
    """Return the strongest words in the order of the text; the strongest has strength 1.

    ``by_character`` has what each character adds to the score of each class.
    """
    ranked = rank_words(text, by_character)
    return [
        (one.start, one.stop, one.strength / ranked[0].strength, one.code)
        for one in choose_words(ranked)
    ]


def find_neighbours(
    fit: FitResult,
    target: Rows,
    source: Rows,
    features: NGramFeatures | None,
    progress: Progress | None,
) -> Iterator[list[tuple[int, float]]]:
    """Yield for each target document the places of its neighbours in ``source``, and similarities.

    ``target`` and ``source`` are rows of the fit, ``features`` those of ``last_features``.
    """
    if features is not None:
        return _choose_nearest(features.rows(target, source), len(target), progress)
    documents = fit.model.documents
    texts, others = ([documents[row] for row in rows.tolist()] for rows in (target, source))
    return find_nearest(fit.model, texts, others, progress=progress)


def find_nearest(
    model: KernelModel,
    texts: Sequence[str],
    others: Sequence[str],
    *,
    progress: Progress | None = None,
    max_cells: int = MAX_CELLS,
) -> Iterator[list[tuple[int, float]]]:
    """Yield for each text the places in ``others`` of the most similar ones, with similarities.

    ``others`` are documents of the fit; among equally similar ones the first comes first.
    """
    step = max(1, max_cells // max(1, len(model.documents)))
    starts = range(0, len(texts), step)
    blocks = (model.compare(texts[start : start + step], others) for start in starts)
    return _choose_nearest(blocks, len(texts), progress)


def _choose_nearest(
    blocks: Iterable[NDArray[np.float64]], n_rows: int, progress: Progress | None
) -> Iterator[list[tuple[int, float]]]:
    """Yield the places and values of the largest similarities in each row of the blocks."""
    n_done = 0
    for block in blocks:
        for row in block:
            smallest = (
                np.partition(row, -N_NEIGHBOURS)[-N_NEIGHBOURS] if len(row) > N_NEIGHBOURS else 0
            )
            candidates = np.flatnonzero((row >= smallest) & (row > 0))
            nearest = candidates[np.argsort(-row[candidates], kind="stable")][:N_NEIGHBOURS]
            yield [(int(place), float(row[place])) for place in nearest]
        n_done += len(block)
        if progress is not None:
            progress("compare", n_done, n_rows)
