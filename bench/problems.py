"""Wrong labels of a source, found: 5 % of them are flipped at random, and the most doubtful tenth should hold half of these.

The labels of the target are not looked at. Beside it what cleanlab makes of a logistic regression on tf-idf of words, in five
parts, as its own guide does it; cleanlab itself is asked if it is installed.
"""

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import gramshift as gs
from bench.corpus import Texts
from bench.grown import load_reviews
from bench.machine import describe_machine, describe_versions
from bench.table import table
from gramshift.model.data_problems import DOUBTFUL

PAIRS = ("BD", "DE", "EK", "KB")
SEEDS = 3
FLIPPED, FIRST, GOAL = 0.05, 0.1, 0.5
MISSING = "cleanlab is not installed: labels are ranked by their probability, as it ranks them"


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Shares of the flipped labels that are found; ``texts`` are not used, and nothing is timed more than once."""
    reviews = load_reviews(smoke=smoke)
    rows = [measure(reviews, *pair, seed) for pair in (PAIRS[:1] if smoke else PAIRS) for seed in range(1 if smoke else SEEDS)]
    mean = {name: float(np.mean([row[name] for row in rows])) for name in ("ours", "cleanlab", "named", "right")}
    about = {"machine": describe_machine(), "versions": describe_versions(), "has_cleanlab": _cleanlab() is not None}
    reached = all(row["ours"] >= GOAL for row in rows)
    return {"benchmark": "problems", **about, "rows": rows, "mean": mean, "reached": reached, "failed": not (smoke or reached)}


def measure(reviews: dict[str, Any], source: str, target: str, seed: int) -> dict[str, Any]:
    """One fit with flipped labels: what its ranking and its list of doubtful labels hold of them."""
    texts = [text for code in (1, 0) for text in reviews[source][code]]
    truth = np.repeat([1, 0], [len(reviews[source][code]) for code in (1, 0)])
    flipped = np.random.default_rng(seed).permutation(len(texts))[: round(FLIPPED * len(texts))]
    labels = truth.copy()
    labels[flipped] = 1 - labels[flipped]
    clf = gs.TransductiveClassifier().fit(texts, labels, target=[text for code in (1, 0) for text in reviews[target][code]])
    begun = time.perf_counter()
    issues = clf.issues_
    seconds = time.perf_counter() - begun
    assert issues.label_quality is not None
    named = [one.number for one in issues if one.issue == DOUBTFUL]
    return {
        "source": source,
        "target": target,
        "seed": seed,
        "ours": share_found(issues.label_quality, flipped),
        "cleanlab": share_found(_rank_by_words(texts, labels), flipped),
        "listed": len(named),
        "named": float(np.mean(np.isin(flipped, named))),
        "right": float(np.mean(np.isin(named, flipped))) if named else 0.0,
        "seconds": seconds,
    }


def share_found(quality: NDArray[np.float64], flipped: NDArray[Any]) -> float:
    """The share of the flipped labels that is among the most doubtful tenth."""
    first = np.argsort(quality, kind="stable")[: round(FIRST * len(quality))]
    return float(np.mean(np.isin(flipped, first)))


def _rank_by_words(texts: list[str], labels: NDArray[Any]) -> NDArray[np.float64]:
    words = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2), LogisticRegression(C=10))
    probabilities = cross_val_predict(words, texts, labels, method="predict_proba")
    rank = _cleanlab()
    quality: NDArray[np.float64] = probabilities[np.arange(len(labels)), labels]
    return quality if rank is None else rank(labels, probabilities)


def _cleanlab() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return None
    return get_label_quality_scores


def show(result: dict[str, Any]) -> str:
    """A row per fit, then the means."""
    columns = ["first 10 %", "of cleanlab", "listed", "of the flipped", "of these flipped", "seconds"]
    names = ("ours", "cleanlab", "listed", "named", "right", "seconds")
    rows = [
        [f"{row['source']} -> {row['target']}, seed {row['seed']}", *(row[name] for name in names)] for row in result["rows"]
    ]
    rows.append(["mean", *(result["mean"].get(name) for name in names)])
    told = [] if result["has_cleanlab"] else [MISSING]
    goal = f"half of the flipped labels or more among the first 10 %: {'reached' if result['reached'] else 'NOT reached'}"
    return "\n".join([table("flipped labels found", columns, rows), *told, goal])
