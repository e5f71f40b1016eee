"""Methods and rivals in cells of the benchmark robust: their answers, pooled over draws, and how stable these are."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from bench.corpus import CorpusError, Texts
from bench.machine import say, timed
from bench.robust_cells import Cell, Labelled, Sets, take
from gramshift.methods import METHODS

VIEWS: tuple[dict[str, Any], ...] = (
    {"analyzer": "word", "ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
)
STEPS = 4
FOLDS = 5


class Tfidf:
    """The source alone is learnt from; the target is only labelled."""

    def fit(self, X: Texts, y: Any, *, target: Texts) -> Self:
        """Learn and label, as our own classifiers do."""
        source, found = vectorise(X, target)
        return self._keep(learn(source, y), found)

    def _keep(self, model: Any, found: Any) -> Self:
        self.classes_ = model.classes_
        self.transduction_proba_ = model.predict_proba(found)
        self.transduction_ = self.classes_[self.transduction_proba_.argmax(axis=1)]
        return self


class BalancedTfidf(Tfidf):
    """The same with self-training in four steps: of each class, by its share of the source, the surest documents join."""

    def fit(self, X: Texts, y: Any, *, target: Texts) -> Self:
        """Learn, let documents join that are labelled by the model before, learn again."""
        source, found = vectorise(X, target)
        model = learn(source, y)
        shares = np.array([np.mean(y == label) for label in model.classes_])
        for step in range(1, STEPS + 1):
            rows, codes = surest(model.predict_proba(found), np.round(step / (STEPS + 1) * len(target) * shares).astype(int))
            model = learn(sparse.vstack([source, found[rows]]).tocsr(), np.concatenate([y, model.classes_[codes]]))
        return self._keep(model, found)


def surest(probabilities: Any, quotas: Any) -> tuple[Any, Any]:
    """Choose rows and classes of the documents that join: of those given to a class the surest, no more than its quota."""
    codes = probabilities.argmax(axis=1)
    chosen = []
    for code, quota in enumerate(quotas):
        given = np.flatnonzero(codes == code)
        chosen.append(given[np.argsort(-probabilities[given, code], kind="stable")][:quota])
    rows = np.concatenate(chosen)
    return rows, codes[rows]


def learn(source: Any, y: Any) -> Any:
    """Fit logistic regression on one core: vectors are short, and threads that wait for each other take ten times as long."""
    with threadpool_limits(1):
        return LogisticRegression(C=10, max_iter=1000).fit(source, y)


def vectorise(X: Texts, target: Texts) -> tuple[Any, Any]:
    """Put the tf-idf of words and of characters side by side, with what the source alone has."""
    return _vectorise(tuple(X), tuple(target))


@lru_cache(maxsize=8)  # both rivals of a cell take the same draws
def _vectorise(X: tuple[str, ...], target: tuple[str, ...]) -> tuple[Any, Any]:
    both = [one_view(X, target, view) for view in VIEWS]
    source, found = (sparse.hstack(parts).tocsr() for parts in zip(*both, strict=True))
    return source, found


def one_view(X: Sequence[str], target: Sequence[str], view: dict[str, Any]) -> tuple[Any, Any]:
    """Count what two documents have at least, or one where nothing else is left."""
    vectoriser = TfidfVectorizer(sublinear_tf=True, min_df=2, **view)
    try:
        source = vectoriser.fit_transform(X)
    except ValueError:
        vectoriser.set_params(min_df=1)
        source = vectoriser.fit_transform(X)
    return source, vectoriser.transform(target)


def learn_own_labels(texts: Texts, labels: Any) -> Any:
    """Find which documents are labelled rightly by what others of the same domain teach with their true labels.

    None where a class has fewer documents than there are folds, or all documents have one class.
    """
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) == 1 or counts.min() < FOLDS:
        return None
    right = np.zeros(len(texts), bool)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(labels, labels):
        model = Tfidf().fit([texts[i] for i in train], labels[train], target=[texts[i] for i in test])
        right[test] = model.transduction_ == labels[test]
    return right


RIVALS: dict[str, Any] = {"tfidf": Tfidf, "tfidf balanced": BalancedTfidf}


BEST, UNADAPTED, OWN_LABELS = "best", "unadapted", "own labels"
NAMES = ("plain", "paper", *RIVALS, BEST)
PAPER_ADDED, PAPER_FROM = 0.5, 2000
"""Of a smaller target the paper's 1000 documents are most or all: then half of it joins."""
EXPECTED = ("value", "low", "high")
DIGITS = 5  # of a confidence, whether it was kept or not
PRIORS_UP_TO = 2000
"""With no more documents on either side, best is also fitted with the source's proportions and with the true ones."""

Draw = tuple[Labelled, Labelled]
Draws = Sequence[Draw]


@dataclass(frozen=True)
class Answers:
    """Whether each target document got its label, how sure the method was of it, and the seconds of all fits."""

    right: Any
    confidence: Any
    seconds: float
    told: list[dict[str, Any]] = field(default_factory=list)
    """What best says of itself, and which labels of its other fits are right, for each draw; it is not kept in the file."""

    @property
    def accuracy(self) -> float:
        """Return the share of right labels in percent."""
        return 100 * float(np.mean(self.right))


class Kept:
    """Answers in a JSON file by cell and method, to be had again while the documents of the cell are the same.

    Answers made by another state of the source are taken too, as that is what the file is for, and counted: delete the file
    if plain, paper or a rival was changed.
    """

    def __init__(self, path: str | None, source: str) -> None:
        self.path = None if path is None else Path(path)
        self.source = source
        self.n_reused = self.n_older = 0
        self._entries = self._read()

    def ask(self, cell: str, method: str, documents: str, make: Callable[[], Answers | None]) -> Answers | None:
        """Return the answers that are kept, else those that are made now, and then kept; None if there can be none."""
        key = f"{cell} | {method}"
        entry = self._entries.get(key)
        if entry is None or entry["documents"] != documents:
            entry = {"documents": documents, "source": self.source} | pack(make())
            self._entries[key] = entry
            self._write(key)
        else:
            self.n_reused += 1
            self.n_older += entry["source"] != self.source
        return unpack(entry)

    def _read(self) -> dict[str, Any]:
        if self.path is None or not self.path.exists():
            return {}
        try:
            entries = json.loads(self.path.read_text("utf-8"))
            assert all(entry.keys() >= {"documents", "source", "right"} for entry in entries.values())
        except (OSError, ValueError, AttributeError, TypeError, AssertionError):
            raise CorpusError(f"--rivals {self.path}: this is no file that robust has written; name another") from None
        return dict(entries)

    def _write(self, key: str) -> None:
        """Put one entry into the file, beside what another run may have written meanwhile; a killed run leaves it whole."""
        if self.path is not None:
            entries = self._read() | {key: self._entries[key]}
            part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
            part.write_text(json.dumps(entries), "utf-8")
            part.replace(self.path)


def pack(answers: Answers | None) -> dict[str, Any]:
    """Make an entry of the file."""
    if answers is None:
        return {"right": None}
    right = "".join("01"[int(one)] for one in answers.right)
    confidence = None if answers.confidence is None else answers.confidence.tolist()
    return {"accuracy": answers.accuracy, "right": right, "confidence": confidence, "seconds": answers.seconds}


def unpack(entry: dict[str, Any]) -> Answers | None:
    """Read the answers of an entry."""
    if entry["right"] is None:
        return None
    right = np.array([one == "1" for one in entry["right"]])
    confidence = None if entry["confidence"] is None else np.array(entry["confidence"])
    return Answers(right, confidence, entry["seconds"])


def ask_all(cell: Cell, sets: Sets, kept: Kept, *, own_from: int) -> dict[str, Answers]:
    """Get the answers of all methods, and of what learns from the target's own labels if it has ``own_from`` documents."""
    draws = [cell.draw(sets, repeat) for repeat in range(cell.repeats)]
    documents = fingerprint(draws)
    found: dict[str, Answers] = {}
    for name in NAMES:
        fresh = partial(ask, name, draws)
        answers = fresh() if name == BEST else kept.ask(cell.name, name, documents, fresh)
        assert answers is not None, "every method labels"
        say(f"{cell.name}, {name}: {answers.accuracy:.1f} ({answers.seconds:.0f} s)")
        found[name] = answers
    if len(draws[0][1][0]) >= own_from:
        own = kept.ask(cell.name, OWN_LABELS, documents, partial(ask_own_labels, *draws[0][1]))
        found |= {} if own is None else {OWN_LABELS: own}
    return found


def fingerprint(draws: Draws) -> str:
    """Make a name for these very documents and labels."""
    parts = [(texts, labels.tolist()) for draw in draws for texts, labels in draw]
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def ask(name: str, draws: Draws) -> Answers:
    """Fit a method on every draw; true labels of the target are not handed to it."""
    right, confidence, told, seconds = [], [], [], 0.0
    for i, ((X, y), (target, truth)) in enumerate(draws):
        took, classifier = timed(partial(make(name, len(target)).fit, X, y, target=target))
        seconds += took
        right.append(np.asarray(classifier.transduction_) == truth)
        confidence.append(np.round(classifier.transduction_proba_.max(axis=1), DIGITS))
        if name == BEST:
            told.append(what_is_told(classifier, truth))
            if i == 0 and max(len(X), len(target)) <= PRIORS_UP_TO:
                told[-1]["right"] |= refit(draws[i])
    return Answers(np.concatenate(right), np.concatenate(confidence), round(seconds, 2), told)


def make(name: str, n_target: int) -> Any:
    """Make an unfitted method, by its name in the tables."""
    if name in RIVALS:
        return RIVALS[name]()
    if name == "paper":
        return METHODS["tkc"].make(**({"n_added": PAPER_ADDED} if n_target < PAPER_FROM else {}))
    return METHODS[name].make()


def ask_own_labels(texts: list[str], labels: Any) -> Answers | None:
    """Get the ceiling: cross-validated on the target's own labels, which no method sees."""
    seconds, right = timed(lambda: learn_own_labels(texts, labels))
    return None if right is None else Answers(right, None, round(seconds, 2))


def refit(draw: Draw) -> dict[str, Any]:
    """Fit best again with the source's and with the true class proportions, and return which labels are then right."""
    (_, y), (_, truth) = draw
    priors: dict[str, Any] = {"source": "source", "true": true_prior(y, truth)}
    return {name: label(draw, class_prior=prior) == truth for name, prior in priors.items()}


def label(draw: Draw, random_labels: Sequence[str | None] | None = None, **options: Any) -> Any:
    """Fit best, and return the label of each target document."""
    (X, y), (target, _) = draw
    more = {} if random_labels is None else {"random_labels": random_labels}
    return np.asarray(METHODS[BEST].make(**options).fit(X, y, target=target, **more).transduction_)


def true_prior(y: Any, truth: Any) -> dict[str, float]:
    """Count the proportions of the source's classes in the target; 0 for a class that it does not have."""
    return {name: float(np.mean(truth == name)) for name in np.unique(y).tolist()}


def what_is_told(classifier: Any, truth: Any) -> dict[str, Any]:
    """Gather what best says of itself, where it does, beside what is true; of unadapted labels it is told which are right."""
    told: dict[str, Any] = {"accuracy": 100 * float(np.mean(np.asarray(classifier.transduction_) == truth)), "right": {}}
    names = ("expected_accuracy_", "class_prior_", "unadapted_transduction_")
    expected, prior, unadapted = (getattr(classifier, name, None) for name in names)
    if expected is not None and expected["value"] is not None:
        told["expected"] = {name: 100 * float(expected[name]) for name in EXPECTED}
    if prior is not None:
        told["class_prior"] = prior | {"true": true_prior(truth, truth)}
    if unadapted is not None:
        told["right"][UNADAPTED] = np.asarray(unadapted) == truth
    return told


N_LABELS = (0, 25, 50, 100)
SEEDS, SHUFFLES, LEFT_OUT = 3, 3, 5
CHANGES = ("source shuffled", "target shuffled", "one left out")


def choose(cells: Sequence[Cell], n: int, least: int) -> list[Cell]:
    """Choose up to two cells of each family: the first of equal sizes and the first of changed proportions, if it has both.

    Targets have ``least`` documents or more.
    """
    chosen = []
    for family in dict.fromkeys(cell.family for cell in cells):
        large = [cell for cell in cells if cell.family == family and cell.n_target is not None and cell.n_target >= least]
        usual = [cell for cell in large if not cell.words and cell.n_source == cell.n_target]
        changed = [cell for cell in large if cell.words]
        chosen += [*usual[:1], *changed, *usual[1:]][:n]
    return chosen


def try_labels(cell: Cell, sets: Sets) -> dict[str, Any]:
    """Measure the accuracy with so many random labels, the mean of some draws of them, and with the true proportions."""
    draw = cell.draw(sets, 0)
    (_, y), (_, truth) = draw
    found = {
        str(n): float(np.mean([score_unlabelled(draw, n, seed) for seed in range(SEEDS if n else 1)]))
        for n in N_LABELS
        if n < len(truth)
    }
    true = 100 * float(np.mean(label(draw, class_prior=true_prior(y, truth)) == truth))
    return {"cell": cell.name, "family": cell.family, "accuracy": found, "true": true}


def score_unlabelled(draw: Draw, n: int, seed: int) -> float:
    """Fit with the labels of so many random target documents; the accuracy of all others in percent."""
    truth = draw[1][1]
    order = np.random.default_rng(seed).permutation(len(truth))  # fewer labels are among more
    known: list[str | None] = [None] * len(truth)
    for row in order[:n]:
        known[row] = str(truth[row])
    found = label(draw, random_labels=known if n else None)
    return 100 * float(np.mean((found == truth)[order[n:]]))


def try_shuffled(cell: Cell, sets: Sets) -> dict[str, Any]:
    """Count the labels that change with the order of the source, with that of the target, and without a source document."""
    source, target = cell.draw(sets, 0)
    before, rng = label((source, target)), np.random.default_rng(0)
    of_source, of_target = np.arange(len(source[0])), np.arange(len(target[0]))

    def count(rows: Any, target_rows: Any) -> int:
        return int(np.sum(label((take(source, rows), take(target, target_rows))) != before[target_rows]))

    counts = (
        [count(rng.permutation(of_source), of_target) for _ in range(SHUFFLES)],
        [count(of_source, rng.permutation(of_target)) for _ in range(SHUFFLES)],
        [count(np.delete(of_source, row), of_target) for row in rng.choice(of_source, LEFT_OUT, replace=False)],
    )
    changed = {name: float(np.mean(several)) for name, several in zip(CHANGES, counts, strict=True)}
    return {"cell": cell.name, "family": cell.family, "documents": len(before), "changed": changed}


TRIALS: dict[str, Any] = {"labels": (2, try_labels), "shuffled": (1, try_shuffled)}
"""For each part of the benchmark beside the matrix, how many cells of a family it takes, and what it does with one."""
