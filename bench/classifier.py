"""The classifier against Algorithm 1 in NumPy: same process, kernel matrix and labels.

Ours also computes probabilities.
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gramshift as gs
from bench.child import run_child
from bench.corpus import NGRAM_RANGE, Texts, normalise, spread
from bench.machine import least_and_median, machine_lines, say, table, timed
from bench.rivals import GRAMS, MismatchError, algorithm_1, label_reviews

SIZES = (2000, 4000, 8000)
MAX_SCORE_DIFFERENCE = 1e-6


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Measure everything."""
    few = 1 if smoke else min(repeat, 3)
    say("the gram of all documents")
    gram = gs.StringKernel(ngram_range=NGRAM_RANGE).gram(texts)
    result: dict[str, Any] = {
        "documents": len(texts),
        "source_documents": label_reviews(len(texts))[1],
        "ngram_range": NGRAM_RANGE,
        "repeat": few,
        "algebra": race(gram, few),
        "memory": weigh(gram),
    }
    del gram
    result["growth"] = grow(texts, smoke=smoke)
    result["whole"] = race_whole(texts, result["algebra"]["numpy_s"], few)
    return result


def labels_with_gaps(n: int) -> list[Any]:
    """Return the classes of the source, and None for the target."""
    codes, n_source = label_reviews(n)
    return [*codes[:n_source].tolist(), *[None] * (n - n_source)]


def make_classifier(n: int, **options: Any) -> gs.TransductiveClassifier:
    """Return the classifier of the paper; of few documents half of the target is added."""
    return gs.TransductiveClassifier(
        preset="paper",
        ngram_range=NGRAM_RANGE,
        n_added=min(1000, (n - label_reviews(n)[1]) // 2),
        **options,
    )


def race(gram: Any, repeat: int) -> dict[str, Any]:
    """Time both in turns, from a kernel matrix to the labels of the second round."""
    codes, n_source = label_reviews(len(gram))
    times: dict[str, list[float]] = {"numpy": [], "gramshift": []}
    classifier = make_classifier(len(gram), kernel="precomputed")
    labels, off, same = labels_with_gaps(len(gram)), 0.0, True
    for _ in range(repeat):
        say(f"algebra: NumPy, {len(gram)} documents")
        took, theirs = timed(partial(algorithm_1, gram, codes, n_source))
        times["numpy"].append(took)
        say(f"algebra: gramshift, {len(gram)} documents")
        took, _ = timed(partial(classifier.fit, gram, labels))
        times["gramshift"].append(took)
        ours = classifier.transduction_score_[:, 1]
        off = max(off, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
        same = same and bool(((theirs > 0) == (classifier.transduction_ == 1)).all())
    if not same or off > MAX_SCORE_DIFFERENCE:
        raise MismatchError(
            f"the two classifiers differ: labels equal {same}, "
            f"scores off by {off:.1e} of the largest"
        )
    figures = {name: least_and_median(values) for name, values in times.items()}
    return {
        "numpy_s": figures["numpy"]["min_s"],
        "numpy_median_s": figures["numpy"]["median_s"],
        "gramshift_s": figures["gramshift"]["min_s"],
        "gramshift_median_s": figures["gramshift"]["median_s"],
        "ratio": figures["numpy"]["min_s"] / figures["gramshift"]["min_s"],
        "ratio_median": figures["numpy"]["median_s"] / figures["gramshift"]["median_s"],
        "same_labels": same,
        "largest_difference": off,
        "accuracy_percent": 100 * float((classifier.transduction_ == codes[n_source:]).mean()),
    }


def weigh(gram: Any) -> list[dict[str, Any]]:
    """Measure the peak memory of a process, with the kernel matrix and beyond it."""
    rows = []
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        path = Path(folder) / "gram.npy"
        np.save(path, gram)
        for contestant in ("NumPy", "gramshift"):
            say(f"memory: {contestant}")
            rows.append(
                {"contestant": contestant}
                | run_child("algebra", contestant=contestant, path=str(path))
            )
    return rows


def grow(texts: Texts, *, smoke: bool) -> list[dict[str, Any]]:
    """Time whole fits of growing size."""
    rows = []
    for size in (
        [len(texts) // 2, len(texts)] if smoke else [size for size in SIZES if size <= len(texts)]
    ):
        say(f"growth: {size} documents")
        sample, codes = spread(texts, size), labels_with_gaps(size)
        classifier = make_classifier(size)
        took, _ = timed(partial(classifier.fit, sample, codes))
        rows.append({"documents": size, "fit_s": took})
    return rows


def race_whole(texts: Texts, algebra_s: float, repeat: int) -> dict[str, Any]:
    """Time fits from texts; the rival's time is that of its matrix plus its algebra."""
    say("whole fit: CountVectorizer and its product")
    gram_s, gram = timed(partial(GRAMS["presence"], normalise(texts)))
    del gram
    times, codes = [], labels_with_gaps(len(texts))
    for _ in range(repeat):
        say("whole fit: gramshift")
        times.append(timed(partial(make_classifier(len(texts)).fit, texts, codes))[0])
    rival_s = gram_s + algebra_s
    ours = least_and_median(times)
    return {
        "rival_s": rival_s,
        "gramshift_s": ours["min_s"],
        "gramshift_median_s": ours["median_s"],
        "ratio": rival_s / ours["min_s"],
    }


def show(result: dict[str, Any]) -> str:
    """Show all tables, one below the other."""
    n, n_source = result["documents"], result["source_documents"]
    head = (
        f"{machine_lines(result)}\ntexts     {n_source} source and {n - n_source} target documents"
    )
    return "\n\n".join((head, show_race(result), show_memory(result), show_growth(result)))


def show_race(result: dict[str, Any]) -> str:
    """Show seconds against NumPy."""
    algebra, whole = result["algebra"], result["whole"]
    columns = (
        "rival",
        "ours, min",
        "ours, median",
        "ratio of least",
        "same labels",
        "scores off by",
    )
    keys = (
        "numpy_s",
        "gramshift_s",
        "gramshift_median_s",
        "ratio",
        "same_labels",
        "largest_difference",
    )
    rows = [
        ["from a given gram", *(algebra[key] for key in keys)],
        [
            "from texts",
            whole["rival_s"],
            whole["gramshift_s"],
            whole["gramshift_median_s"],
            whole["ratio"],
            None,
            None,
        ],
    ]
    return table("two rounds (s)", columns, rows)


def show_memory(result: dict[str, Any]) -> str:
    """Show megabytes of a process."""
    rows = [[row["contestant"], row["peak_mb"], row["beyond_mb"]] for row in result["memory"]]
    return table("peak memory", ("MB", "beyond the gram"), rows)


def show_growth(result: dict[str, Any]) -> str:
    """Show seconds by number of documents."""
    rows = [[row["documents"], row["fit_s"]] for row in result["growth"]]
    return table("documents", ("fit (s)",), rows)
