"""Sentiment-sensitive thesaurus: documents are expanded with related words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from gramshift.baselines import require
from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.english import Word, tag_text
from gramshift.baselines.word_features import binary, fit_logistic, tabulate
from gramshift.errors import InputError

N_COLUMNS = 80_000
MIN_SHARED_SENTENCES = 2  # of two elements; fewer count as 0
N_DOCUMENTS_AT_A_TIME = 256  # as dense columns
COMPARED_PARTS = "na"  # nouns and adjectives; verbs and adverbs add "be", "just" and their pairs


def document_elements(sentences: Iterable[Sequence[Word]]) -> set[str]:
    """Return lemmas and pairs of neighbouring lemmas, without punctuation."""
    found: set[str] = set()
    for sentence in sentences:
        lemmas = [word.lemma for word in sentence if any(map(str.isalnum, word.lemma))]
        found.update(_with_pairs(lemmas))
    return found


def sentence_elements(sentence: Sequence[Word]) -> list[str]:
    """Return the distinct nouns and adjectives of a sentence, and pairs of neighbours."""
    compared = (word.lemma for word in sentence if word.part and word.part in COMPARED_PARTS)
    return _with_pairs(list(dict.fromkeys(compared)))


def _with_pairs(lemmas: list[str]) -> list[str]:
    return lemmas + [f"{one} {other}" for one, other in pairwise(lemmas)]


def mark(documents: Iterable[Iterable[str]], columns: Iterable[str]) -> Any:
    """Return a sparse matrix with 1 where a document has the element of a column."""
    return tabulate((dict.fromkeys(elements, 1.0) for elements in documents), columns)


def count_together(
    sentences: Sequence[Sequence[str]],
    codes: Codes,
    n_classes: int,
    *,
    n_entries: int,
    n_columns: int = N_COLUMNS,
) -> tuple[list[str], Any]:
    """Return the most frequent elements, and the number of sentences each shares with each column.

    Columns are elements, first in any sentence, then in the sentences of each class (the sentiment
    elements); ``codes`` is -1 for an unknown class. Counts below MIN_SHARED_SENTENCES are set to 0,
    and only the ``n_columns`` columns with the largest sums are kept.
    """
    frequency = Counter(element for elements in sentences for element in elements)
    known = sorted(
        (e for e, count in frequency.items() if count >= MIN_SHARED_SENTENCES),
        key=lambda e: (-frequency[e], e),
    )
    entries = known[:n_entries]
    marked = mark(sentences, known)
    parts = [marked] + [marked[codes == code] for code in range(n_classes)]
    counts = sparse.hstack(
        [_without_itself(part[:, : len(entries)].T @ part) for part in parts]
    ).tocsr()
    counts.data[counts.data < MIN_SHARED_SENTENCES] = 0
    counts.eliminate_zeros()
    totals = np.asarray(counts.sum(axis=0)).ravel()
    kept = np.sort(np.argsort(-totals, kind="stable")[: min(n_columns, np.count_nonzero(totals))])
    return entries, counts[:, kept]


def _without_itself(counts: Any) -> Any:
    cells = counts.tocoo()
    other = cells.row != cells.col
    return sparse.csr_matrix(
        (cells.data[other], (cells.row[other], cells.col[other])), shape=cells.shape
    )


def weigh_counts(counts: Any) -> Any:
    """Return positive pointwise mutual information, discounted for small counts.

    The discount is that of Pantel and Ravichandran.
    """
    cells = counts.tocoo()
    total = cells.data.sum()
    of_row = np.bincount(cells.row, cells.data, minlength=cells.shape[0])[cells.row]
    of_column = np.bincount(cells.col, cells.data, minlength=cells.shape[1])[cells.col]
    smaller = np.minimum(of_row, of_column)
    information = np.log2(cells.data * total / (of_row * of_column))
    information *= cells.data / (cells.data + 1) * smaller / (smaller + 1)
    weights = sparse.csr_matrix(
        (np.maximum(information, 0), (cells.row, cells.col)), shape=cells.shape
    )
    weights.eliminate_zeros()
    return weights


def shares_of_rows(weights: Any) -> Any:
    """Divide each weight by the sum of its row; empty rows stay empty."""
    totals = np.asarray(weights.sum(axis=1)).ravel()
    return (sparse.diags(1 / np.where(totals > 0, totals, 1)) @ weights).tocsr()


def sum_relatedness(
    marked: Any, shares: Any, *, at_once: int = N_DOCUMENTS_AT_A_TIME
) -> Iterator[Floats]:
    """Yield for each document and entry u the sum of tau(v, u) over the document's entries v.

    tau(v, u) is the share of u's weight in columns where v has weight. The sum is a product of
    three sparse matrices, so that the large matrix of all tau is never computed. Blocks have a row
    for each of ``at_once`` documents.
    """
    columns = (marked @ binary(shares)).tocsr()
    for first in range(0, marked.shape[0], at_once):
        yield np.asarray(shares @ columns[first : first + at_once].toarray().T).T


def expand(sums: Iterable[Floats], n_entries: int, n_expand: int) -> Any:
    """Return for each document its most related entries with value 1 / rank.

    ``sums`` are blocks of rows with the relatedness of each document to each entry; of equally
    related entries the more frequent one comes first.
    """
    values: list[Floats] = []
    indices: list[Codes] = []
    ends = [0]
    for block in sums:
        for row in block:
            best = _largest(row, n_expand)
            values.append(1 / np.arange(1, len(best) + 1))
            indices.append(best)
            ends.append(ends[-1] + len(best))
    shape = (len(ends) - 1, n_entries)
    data = np.concatenate([*values, np.zeros(0)])
    places = np.concatenate([*indices, np.zeros(0, np.intp)])
    result = sparse.csr_matrix((data, places, np.array(ends, np.intp)), shape=shape)
    result.sort_indices()
    return result


def _largest(row: Floats, n: int) -> Codes:
    """Return the indices of the n largest positive values, largest first."""
    places = np.flatnonzero(row > 0)
    if len(places) > n:
        bound = np.partition(row[places], len(places) - n)[len(places) - n]
        places = places[row[places] >= bound]
    return places[np.argsort(-row[places], kind="stable")][:n]


def gather_sentences(
    source: list[str], codes: Codes, target: list[str]
) -> tuple[list[list[str]], Codes]:
    """Return the elements of all sentences, and the class of each (-1 in target documents)."""
    tagged = [tag_text(text) for text in source + target]
    of_documents = np.concatenate([codes, np.full(len(target), -1)])
    sentences = [sentence_elements(sentence) for document in tagged for sentence in document]
    return sentences, np.repeat(of_documents, [len(document) for document in tagged])


class SST(Baseline):
    """Sentiment-sensitive thesaurus of Bollegala, Weir and Carroll, for English texts.

    Nouns, adjectives and their pairs are compared by the elements they share sentences with, in
    source and target; in source sentences together with the class of the document. Each document
    gets the elements most related to its own words as additional features of a logistic regression
    on lemmas and pairs of lemmas. Needs HanTa: ``pip install 'gramshift[baselines]'``.

    Parameters
    ----------
    n_expand : int
        Number of related entries added to a document, with values 1, 1/2, 1/3 and so on.
    n_entries : int
        Number of words and pairs in the thesaurus: the most frequent ones.
    C : float
        Inverse regularisation of the logistic regression.
    adapt : bool
        False to train on the lemmas of the source alone.

    Examples
    --------
    >>> from gramshift.baselines import SST
    >>> source = ["A great pan.", "It broke at once.", "Great knives!", "The knife broke."]
    >>> target = ["A great film.", "The disc broke."]
    >>> clf = SST().fit(source, ["good", "bad", "good", "bad"], target=target)
    >>> clf.transduction_.tolist()
    ['good', 'bad']
    """

    def __init__(
        self, *, n_expand: int = 1000, n_entries: int = 10_000, C: float = 1.0, adapt: bool = True
    ) -> None:
        self.n_expand = n_expand
        self.n_entries = n_entries
        self.C = C
        self.adapt = adapt

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require("SST", ("HanTa",))

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words = sorted(set().union(*(document_elements(tag_text(text)) for text in source)))
        if not words:
            raise InputError(
                f"the {len(source)} documents have no word at all; this method compares words"
            )
        state: State = {"words": words, "entries": []}
        if self.adapt:
            sentences, of_sentences = gather_sentences(source, codes, target)
            state["entries"], counts = count_together(
                sentences, of_sentences, n_classes, n_entries=self.n_entries
            )
            state["shares"] = shares_of_rows(weigh_counts(counts))
        return state | {"linear": fit_logistic(self._describe(state, source), codes, C=self.C)}

    def _describe(self, state: State, texts: list[str]) -> Any:
        """Return the words of each text and its expansion, as a sparse matrix."""
        documents = [document_elements(tag_text(text)) for text in texts]
        features = mark(documents, state["words"])
        entries = state["entries"]
        if not entries:
            return features
        sums = sum_relatedness(mark(documents, entries), state["shares"])
        return sparse.hstack([features, expand(sums, len(entries), self.n_expand)]).tocsr()
