"""The classifier against Algorithm 1 in NumPy: same process, kernel matrix and labels.

Ours also computes probabilities.
"""

from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gramshift as gs
from bench.child import run_child
from bench.corpus import NGRAM_RANGE, Texts, normalise, spread
from bench.machine import Row, say, timed
from bench.rivals import MismatchError, algorithm_1, kernel_matrix, label_reviews

SIZES = (2000, 4000, 8000)
MAX_SCORE_DIFFERENCE = 1e-6


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Measure everything."""
    n, few = len(texts), 1 if smoke else min(repeat, 3)
    n_source = label_reviews(n)[1]
    say("the gram of all documents")
    gram = gs.StringKernel(ngram_range=NGRAM_RANGE).gram(texts)
    algebra = race(gram, few)
    memory = weigh(gram)
    del gram
    sizes = [n // 2, n] if smoke else [size for size in SIZES if size <= n]
    return {
        "texts": f"{n_source} source and {n - n_source} target documents",
        "repeat": few,
        "tables": {
            "two rounds": [algebra, race_whole(texts, algebra["rival"], few)],
            "memory": memory,
            "growth": [grow(spread(texts, size)) for size in sizes],
        },
    }


def labels_with_gaps(n: int) -> list[Any]:
    """Return the classes of the source, and None for the target."""
    codes, n_source = label_reviews(n)
    return [*codes[:n_source].tolist(), *[None] * (n - n_source)]


def make_classifier(n: int, **options: Any) -> gs.TransductiveClassifier:
    """Return the classifier of the paper; of few documents half of the target is added."""
    n_added = min(1000, (n - label_reviews(n)[1]) // 2)
    return gs.TransductiveClassifier(
        preset="paper", ngram_range=NGRAM_RANGE, n_added=n_added, **options
    )


def race(gram: Any, repeat: int) -> Row:
    """Time both in turns, from a kernel matrix to the labels of the second round."""
    codes, n_source = label_reviews(len(gram))
    classifier = make_classifier(len(gram), kernel="precomputed")
    labels = labels_with_gaps(len(gram))
    rival_times, times, off = [], [], 0.0
    for _ in range(repeat):
        say(f"algebra: NumPy, {len(gram)} documents")
        took, theirs = timed(partial(algorithm_1, gram, codes, n_source))
        rival_times.append(took)
        say(f"algebra: gramshift, {len(gram)} documents")
        times.append(timed(partial(classifier.fit, gram, labels))[0])
        ours = classifier.transduction_score_[:, 1]
        off = max(off, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
        n_other = int(((theirs > 0) != (classifier.transduction_ == 1)).sum())
        if n_other or off > MAX_SCORE_DIFFERENCE:
            raise MismatchError(
                f"the two classifiers differ: {n_other} other labels, "
                f"scores off by {off:.1e} of the largest"
            )
    figures = compare_times("from a given gram", min(rival_times), times)
    return figures | {"same labels": True, "scores off by": off}


def compare_times(name: str, rival_s: float, times: list[float]) -> dict[str, Any]:
    """Return a row with the figures of both."""
    return {
        "two rounds (s)": name,
        "rival": rival_s,
        "ours, min": min(times),
        "ours, median": median(times),
        "ratio of least": rival_s / min(times),
    }


def race_whole(texts: Texts, algebra_s: float, repeat: int) -> Row:
    """Time fits from texts; the rival's time is that of its matrix plus its algebra."""
    say("whole fit: CountVectorizer and its product")
    gram_s, gram = timed(partial(kernel_matrix, "presence", normalise(texts)))
    del gram
    times, labels = [], labels_with_gaps(len(texts))
    for _ in range(repeat):
        say("whole fit: gramshift")
        times.append(timed(partial(make_classifier(len(texts)).fit, texts, labels))[0])
    return compare_times("from texts", gram_s + algebra_s, times)


def weigh(gram: Any) -> list[Row]:
    """Measure the peak memory of a process, with the kernel matrix and beyond it."""
    rows = []
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        path = Path(folder) / "gram.npy"
        np.save(path, gram)
        for contestant in ("NumPy", "gramshift"):
            say(f"memory: {contestant}")
            found = run_child("algebra", contestant=contestant, path=str(path))
            rows.append({"peak memory": contestant} | found)
    return rows


def grow(sample: Texts) -> Row:
    """Time a whole fit."""
    n = len(sample)
    say(f"growth: {n} documents")
    took, _ = timed(partial(make_classifier(n).fit, sample, labels_with_gaps(n)))
    return {"documents": n, "fit (s)": took}
