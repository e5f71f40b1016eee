"""The answers of every method in a cell of the benchmark robust, pooled over its draws; rivals can be kept in a file."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import CorpusError
from bench.machine import say, timed
from bench.robust_cells import Cell, Labelled, Sets
from bench.robust_rivals import RIVALS, learn_own_labels
from gramshift.methods import METHODS

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
