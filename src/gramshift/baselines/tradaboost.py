"""TrAdaBoost, and its variant with topics of documents (latent Dirichlet allocation)."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import psi
from sklearn.decomposition import LatentDirichletAllocation

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import binary, count_words, find_words, fit_logistic, score
from gramshift.errors import InputError
from gramshift.model.inputs import Target
from gramshift.model.labels import as_labels, is_missing
from gramshift.text.documents import as_documents


def fit_topics(counts: Any, n_topics: int, random_state: int) -> Floats:
    """Return the word weights of each topic."""
    model = LatentDirichletAllocation(
        n_topics, learning_method="online", batch_size=256, random_state=random_state
    )
    components: Floats = model.fit(counts).components_
    return components


def share_topics(counts: Any, topics: Floats) -> Floats:
    """Return the share of each topic in each document, for topics found before."""
    model = LatentDirichletAllocation(len(topics))
    model.components_ = topics
    model.doc_topic_prior_ = 1 / len(topics)
    model.n_features_in_ = topics.shape[1]
    model.exp_dirichlet_component_ = np.exp(psi(topics) - psi(topics.sum(axis=1, keepdims=True)))
    shares: Floats = model.transform(counts)
    return shares


MIN_ERROR = 1e-3  # weighted error on the target
MAX_ERROR = 0.499
MAX_FREQUENCY = 0.5  # share of documents; more frequent words are not used for topics


class TrAdaBoost(Baseline):
    """TrAdaBoost of Dai, Yang, Xue and Yu (ICML 2007), with logistic regression on words.

    As published it needs some target documents with their true labels: ``fit(X, y, target=texts,
    target_labels=labels)``, with None for unknown labels; ``scored_`` marks the unlabelled ones,
    which may be used for evaluation. Without ``target_labels`` it uses the most confident labels of
    a logistic regression on the source, with the source's class proportions. This mode is ours.

    Parameters
    ----------
    n_rounds : int
        Number of boosting rounds; the second half of them votes.
    pseudo_labelled : float
        Share of the target with pseudo-labels if there are no ``target_labels``.
    C : float
        Inverse regularisation of the logistic regression.
    adapt : bool
        False to train on the source alone.
    """

    two_classes = True
    largest: ClassVar = {"pseudo_labelled": 1.0}

    def __init__(
        self,
        *,
        n_rounds: int = 20,
        pseudo_labelled: float = 0.2,
        C: float = 0.1,
        adapt: bool = True,
    ) -> None:
        self.n_rounds = n_rounds
        self.pseudo_labelled = pseudo_labelled
        self.C = C
        self.adapt = adapt

    def fit(self, X: Any, y: Any, *, target: Any = None, target_labels: Any = None) -> Self:
        """Learn from X and y, with a label or None for each document of ``target``."""
        self._given: list[Any] | None = None
        if target_labels is not None:
            documents = target.documents if isinstance(target, Target) else target
            if documents is None:
                raise InputError("target_labels are those of the documents in target=; give both")
            n_documents = len(as_documents(documents, name="target"))
            self._given = as_labels(target_labels, n_documents=n_documents)
            if all(map(is_missing, self._given)):
                raise InputError(
                    "target_labels has gaps only; leave it out to learn from pseudo-labels"
                )
        return super().fit(X, y, target=target)

    def _train(self, classes: Any, source: list[str], codes: Codes, target: list[str]) -> None:
        names = classes.tolist()
        self._codes = np.full(len(target), -1)
        given = self._given or []
        for row, label in enumerate(given, start=len(target) - len(given)):
            if is_missing(label):
                continue
            if label not in names:
                raise InputError(
                    f"target_labels has {label!r}, which y does not have; it has {names}"
                )
            self._codes[row] = names.index(label)
        self.scored_ = self._codes < 0
        super()._train(classes, source, codes, target)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        state = self._learn_features(source, target)
        features = self._describe(state, source)
        first = fit_logistic(features, codes, C=self.C)
        if not self.adapt:
            return state | {"linear": first}
        theirs = self._describe(state, target)
        known = self._codes
        if self._given is None:
            known = surest_by_share(score(theirs, first)[:, 1], codes, self.pseudo_labelled)
        chosen = np.flatnonzero(known >= 0)
        together = sparse.vstack([features, theirs[chosen]], format="csr")
        labels = np.concatenate([codes, known[chosen]])
        return state | boost(together, labels, len(source), self.n_rounds, self.C)

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        guesses = super()._score_texts(state, texts)
        if "votes" not in state:
            return guesses
        second = ((guesses > 0) - 0.5) @ state["votes"]
        second = np.where(second == 0, np.finfo(float).tiny, second)  # a tie is the second class
        return np.column_stack([-second, second])

    def _learn_features(self, source: list[str], target: list[str]) -> State:
        return {"words": find_words(source + target, longest=1)[0]}

    def _describe(self, state: State, texts: list[str]) -> Any:
        return binary(count_words(texts, state["words"]))


class TopicTrAdaBoost(TrAdaBoost):
    """TR-TrAdaBoost of Huang, Rao, Xie, Wong and Wang (AAAI 2017): TrAdaBoost on words and topics.

    Latent Dirichlet allocation on source and target gives each document its shares of topics, which
    are features in addition to its words.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    random_state : int
        Seed of the topics.
    n_rounds, pseudo_labelled, C, adapt
        As in :class:`TrAdaBoost`.
    """

    def __init__(
        self,
        *,
        n_topics: int = 50,
        random_state: int = 0,
        n_rounds: int = 20,
        pseudo_labelled: float = 0.2,
        C: float = 0.1,
        adapt: bool = True,
    ) -> None:
        super().__init__(n_rounds=n_rounds, pseudo_labelled=pseudo_labelled, C=C, adapt=adapt)
        self.n_topics = n_topics
        self.random_state = random_state

    def _learn_features(self, source: list[str], target: list[str]) -> State:
        state = super()._learn_features(source, target)
        words, counts = find_words(source + target, longest=1, least=min(3, len(source)))
        frequency = np.bincount(counts.indices, minlength=len(words))
        kept = np.flatnonzero(frequency <= max(MAX_FREQUENCY * counts.shape[0], frequency.min()))
        topics = fit_topics(counts[:, kept], self.n_topics, self.random_state)
        return state | {"topic_words": [words[i] for i in kept], "topics": topics}

    def _describe(self, state: State, texts: list[str]) -> Any:
        shares = share_topics(count_words(texts, state["topic_words"]), state["topics"])
        words = super()._describe(state, texts)
        return sparse.hstack([words, sparse.csr_matrix(shares)], format="csr")


def surest_by_share(scores: Floats, codes: Codes, share: float) -> Codes:
    """Return classes of the highest and lowest scores, with the source's proportions.

    All others are -1.
    """
    n_second = round(share * len(scores) * float(np.mean(codes == 1)))
    n_first = round(share * len(scores)) - n_second
    order = np.argsort(-scores, kind="stable")
    known = np.full(len(scores), -1, np.intp)
    known[order[: max(n_second, 1)]] = 1
    known[order[-max(n_first, 1) :]] = 0
    return known


def boost(features: Any, codes: Codes, n_source: int, n_rounds: int, C: float) -> State:
    """Return the models of the second half of the rounds, and their votes.

    Source documents come first. A source document that a round labels incorrectly loses weight by
    a constant factor; such a target document gains weight, the more the smaller the round's error
    on the target. In each round the weights add up to the number of documents.
    """
    n = len(codes)
    weights = np.ones(n)
    loss_of_trust = 1 / (1 + np.sqrt(2 * np.log(n_source) / n_rounds))
    kept: list[tuple[Floats, float, float]] = []
    for _ in range(n_rounds):
        weights *= n / weights.sum()
        coefficients, intercepts = fit_logistic(features, codes, C=C, weights=weights)
        wrong = (score(features, (coefficients, intercepts))[:, 1] > 0) != (codes == 1)
        error = float(weights[n_source:] @ wrong[n_source:] / weights[n_source:].sum())
        error = min(max(error, MIN_ERROR), MAX_ERROR)
        ratio = error / (1 - error)
        weights[:n_source] *= loss_of_trust ** wrong[:n_source]
        weights[n_source:] *= ratio ** -wrong[n_source:].astype(float)
        kept.append((coefficients[:, 1], float(intercepts[1]), -float(np.log(ratio))))
    half = kept[max(-(-n_rounds // 2) - 1, 0) :]  # from round ceil(N / 2), counted from 1
    words, thresholds, votes = zip(*half, strict=True)
    return {"linear": (np.column_stack(words), np.array(thresholds)), "votes": np.array(votes)}
