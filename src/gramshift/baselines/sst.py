"""Sentiment sensitive thesaurus: documents are expanded with words that are used like theirs."""

from typing import Any

import numpy as np
from scipy import sparse

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.checks import check_count, check_flag, check_number, require
from gramshift.baselines.tagging import tag_text
from gramshift.baselines.thesaurus import (
    count_together,
    document_elements,
    expand,
    mark,
    sentence_elements,
    shares_of_rows,
    sum_relatedness,
    weigh_counts,
)
from gramshift.baselines.word_features import fit_logistic, score
from gramshift.errors import InputError


def gather_sentences(source: list[str], codes: Codes, target: list[str]) -> tuple[list[list[str]], Codes]:
    """Return the elements of all sentences, and the class of each: that of its source document, -1 in target documents."""
    tagged = [tag_text(text) for text in source + target]
    of_documents = np.concatenate([codes, np.full(len(target), -1)])
    sentences = [sentence_elements(sentence) for document in tagged for sentence in document]
    return sentences, np.repeat(of_documents, [len(document) for document in tagged])


class SST(Baseline):
    """Sentiment sensitive thesaurus of Bollegala, Weir and Carroll, for English texts.

    Nouns, adjectives and their pairs are compared by what they stand with in sentences of source and target; in source
    sentences the class of the document is part of that. Each document gets those that are most related to its own words as
    further features, in training and afterwards, and a logistic regression on lemmas and pairs of lemmas decides. Needs
    HanTa: ``pip install 'gramshift[baselines]'``.

    Parameters
    ----------
    n_expand : int
        How many related entries a document gets, with values 1, 1/2, 1/3 and so on.
    n_entries : int
        How many words and pairs the thesaurus has: the most frequent ones.
    C : float
        Inverse of the penalty of the logistic regression.
    adapt : bool
        False for the logistic regression without thesaurus.

    Examples
    --------
    >>> from gramshift.baselines import SST
    >>> source = ["A great pan.", "It broke at once.", "Great knives!", "The knife broke."]
    >>> clf = SST().fit(source, ["good", "bad", "good", "bad"], target=["A great film.", "The disc broke."])
    >>> clf.transduction_.tolist()
    ['good', 'bad']
    """

    def __init__(self, *, n_expand: int = 1000, n_entries: int = 10_000, C: float = 1.0, adapt: bool = True) -> None:
        self.n_expand = n_expand
        self.n_entries = n_entries
        self.C = C
        self.adapt = adapt

    def _check_parameters(self) -> None:
        check_count("n_expand", self.n_expand)
        check_count("n_entries", self.n_entries)
        check_number("C", self.C)
        check_flag("adapt", self.adapt)
        require("SST", ("HanTa",))

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words = sorted(set().union(*(document_elements(tag_text(text)) for text in source)))
        if not words:
            raise InputError(f"the {len(source)} documents have no word at all; this method compares words")
        state: State = {"words": words, "entries": []}
        if self.adapt:
            state |= self._relate(source, codes, target, n_classes)
        coefficients, intercepts = fit_logistic(self._describe(state, source), codes, C=self.C)
        return state | {"coefficients": coefficients, "intercepts": intercepts}

    def _relate(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        """Make the thesaurus."""
        sentences, of_sentences = gather_sentences(source, codes, target)
        entries, counts = count_together(sentences, of_sentences, n_classes, n_entries=self.n_entries)
        shares = shares_of_rows(weigh_counts(counts))
        arrays = {"shares": shares.data, "share_columns": shares.indices, "share_ends": shares.indptr}
        return {"entries": entries, "n_columns": shares.shape[1], **arrays}

    def _describe(self, state: State, texts: list[str]) -> Any:
        """Mark which words each text has, and with what it is expanded."""
        documents = [document_elements(tag_text(text)) for text in texts]
        features = mark(documents, {word: place for place, word in enumerate(state["words"])})
        entries = {entry: place for place, entry in enumerate(state["entries"])}
        if not entries:
            return features
        cells = (state["shares"], state["share_columns"], state["share_ends"])
        shares = sparse.csr_matrix(cells, shape=(len(entries), state["n_columns"]))
        shares.check_format()  # of a file that was altered, say
        sums = sum_relatedness(mark(documents, entries), shares)
        return sparse.hstack([features, expand(sums, len(entries), self.n_expand)]).tocsr()

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        return score(self._describe(state, texts), (state["coefficients"], state["intercepts"]))
