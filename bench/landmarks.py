"""What landmarks cost in accuracy: the paper's settings with landmarks and exactly. Target labels are used to score alone."""

from typing import Any

import numpy as np

import gramshift as gs
from bench.corpus import NGRAM_RANGE, Texts
from bench.grown import CODES, Reviews
from bench.machine import say, timed
from bench.rivals import MismatchError
from gramshift.evaluate.experiment import Documents, run_settings
from gramshift.evaluate.protocol import GROUPS, Setting, parse_settings
from gramshift.learn.landmark_ridge import CHOICES

COUNTS = (500, 1000, 2000, 4000)
AGAIN = parse_settings("E-B,DEK-B")  # with several seeds
SEEDS = range(5)
SMOKE = [Setting("B", "E")]
Row = dict[str, Any]


class Corpus:
    """The real reviews and the gram of all of them, made once; their numbers stand for them as documents."""

    def __init__(self, reviews: Reviews) -> None:
        self.texts: Texts = [text for letter in reviews for code in CODES for text in reviews[letter][code]]
        codes = [code for letter in reviews for code in CODES for _ in reviews[letter][code]]
        self.documents = Documents("".join(reviews), np.array(codes))
        self.gram = gs.StringKernel(ngram_range=NGRAM_RANGE).gram(self.texts)

    def kernel(self, numbers: list[str], others: list[str]) -> Any:
        """Counts that are known already; the classifier takes any function of two lists of documents."""
        return self.gram[np.ix_(np.array(numbers, int), np.array(others, int))]

    def fit(self, setting: Setting, *, from_texts: bool = False, **options: Any) -> gs.TransductiveClassifier:
        """As published but for landmarks."""
        rows = [self.documents.rows(letters) for letters in (setting.source, setting.target)]
        source, target = ([self.texts[i] if from_texts else str(i) for i in some] for some in rows)
        classifier = gs.TransductiveClassifier(kernel="presence" if from_texts else self.kernel, preset="paper", **options)
        return classifier.fit(source, self.documents.codes[rows[0]], target=target)

    def accuracy(self, setting: Setting, labels: Any) -> float:
        return 100 * float(np.mean(labels == self.documents.codes[self.documents.rows(setting.target)]))


def compare(reviews: Reviews, *, smoke: bool) -> dict[str, Any]:
    """Accuracy for each setting, exactly and for each number and choice of landmarks; for some with several seeds."""
    corpus = Corpus(reviews)
    settings, again = (SMOKE, SMOKE) if smoke else (GROUPS["all"], AGAIN)
    counts = tuple(n // 25 for n in COUNTS) if smoke else COUNTS
    say("accuracy: exact")
    outcomes = [one for several in run_settings(corpus.gram, corpus.documents, settings, ["tkc"]) for one in several]
    exact = {one.setting.name: corpus.accuracy(one.setting, one.scores > 0) for one in outcomes}
    check(corpus, settings[-1], counts[0])
    rows = [row for setting in settings for row in measure(corpus, setting, counts, [SEEDS[0]])]
    seeds = SEEDS[1:2] if smoke else SEEDS[1:]
    more = [row for setting in again for row in measure(corpus, setting, counts, seeds)]
    names = [setting.name for setting in again]
    return {"exact": exact, "landmarks": rows, "seeds": [row for row in rows if row["setting"] in names] + more}


def measure(corpus: Corpus, setting: Setting, counts: tuple[int, ...], seeds: Any) -> list[Row]:
    """A row for each number of landmarks, choice and seed."""
    rows = []
    n_documents = len(corpus.documents.rows(setting.letters))
    for n in counts:
        for choice in CHOICES:
            for seed in seeds if n < n_documents else seeds[:1]:  # all documents are the same for any seed
                options = {"landmarks": n, "landmark_choice": choice, "random_state": seed}
                took, classifier = timed(lambda options=options: corpus.fit(setting, **options))
                accuracy = corpus.accuracy(setting, classifier.transduction_)
                say(f"accuracy: {setting.name}, {n} landmarks, {choice}, seed {seed}: {accuracy:.2f} ({took:.1f} s)")
                rows.append({"setting": setting.name, "landmarks": n, "choice": choice, "seed": seed, "accuracy": accuracy})
    return rows


def check(corpus: Corpus, setting: Setting, n: int) -> None:
    """Texts must give what their numbers give."""
    for choice in CHOICES:
        say(f"accuracy: {setting.name} from texts, {choice}")
        by_number, by_text = (corpus.fit(setting, from_texts=by, landmarks=n, landmark_choice=choice) for by in (False, True))
        same = np.array_equal(by_number.landmarks_, by_text.landmarks_)
        if not same or not np.array_equal(by_number.transduction_, by_text.transduction_):
            raise MismatchError(f"{setting.name}, {choice}: labels from texts and from their gram differ")
