"""What the preset "best" was chosen by: variants of the classifier on development data, none of which is in the paper's tables.

The target is a sample of the video reviews (copies taken out), the source one or several of the four domains. Labels of the
target are looked at here, to score; those of the four domains are only ever source labels.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import gramshift as gs
from bench.corpus import ROOT, CorpusError, Texts
from bench.machine import describe_machine, describe_versions, say
from bench.table import table
from gramshift.data.demo import load_demo
from gramshift.data.reviews import load_sentiment
from gramshift.model.settings import PRESETS

N_TARGET = 2000
SETTINGS = (("B", 0), ("E", 1), ("K", 2), ("D", 3))
"""Sources, and the seed of the sample of the target."""
GROWING: dict[str, Any] = {"preset": "best", "class_prior": "source"}
CHARACTERS = GROWING | {"kernel": "presence"}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper's plain": {"preset": "paper", "adapt": False, "n_rounds": 1},
    "paper's tkc": {"preset": "paper"},
    "plain, idf 2": {"preset": "paper", "adapt": False, "n_rounds": 1, "alpha": 1.0, "weighting": "idf"},
    "growing by source shares, no weights": CHARACTERS | {"weighting": "none"},
    "growing, idf 1": CHARACTERS | {"weighting": {"idf": 1}},
    "growing, idf 2": CHARACTERS | {"weighting": {"idf": 2}},
    "growing, idf 2, consistency 0.25": CHARACTERS | {"weighting": {"idf": 2, "consistency": 0.25}},
    "growing, idf 2, adapted": CHARACTERS | {"weighting": {"idf": 2}, "adapt": True},
    "growing, idf 2, classes 1": CHARACTERS,
    "growing, idf 2, classes 2": CHARACTERS | {"weighting": {"idf": 2, "classes": 2}},
    "growing, 3-6-grams": CHARACTERS | {"ngram_range": (3, 6)},
    "growing, words alone": GROWING | {"kernel": "words"},
    "growing, words too": GROWING,
    "growing to 0.75, words too": GROWING | {"n_added": (0.25, 0.5, 0.75)},
    "best: estimated shares": {"preset": "best"},
}
SHARES = {
    "paper's tkc": {"preset": "paper"},
    "source shares": {"preset": "best", "class_prior": "source"},
    "best: estimated shares": {"preset": "best"},
}


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Accuracies of all variants; ``texts`` are not used."""
    data = load_demo_data() if smoke else load_data()
    settings = [(*one, "V") for one in (SETTINGS[:1] if smoke else SETTINGS)]
    result: dict[str, Any] = {
        "benchmark": "experiments",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "best": PRESETS["best"],
        "balanced": measure(data, settings, VARIANTS, [0.5]),
        "unbalanced": measure(data, settings, SHARES, [0.2, 0.8]),
    }
    return result


def measure(data: dict[str, Any], settings: Any, variants: dict[str, Any], shares: list[float]) -> list[dict[str, Any]]:
    """A row per share of positive documents in the target, setting (sources, seed, target) and variant."""
    rows = []
    for share in shares:
        for sources, seed, letter in settings:
            source = [data[letter] for letter in sources]
            X, y = [text for texts, _ in source for text in texts], np.concatenate([codes for _, codes in source])
            target, truth = sample(*data[letter], seed=seed, share=share)
            for name, options in variants.items():
                begun = time.perf_counter()
                clf = gs.TransductiveClassifier(**options).fit(X, y, target=gs.Target(target))
                accuracy = 100 * float(np.mean(clf.transduction_ == truth))
                seconds = time.perf_counter() - begun
                say(f"{sources}-{letter}, {share:.0%} positive, {name}: {accuracy:.1f} ({seconds:.0f} s)")
                row = {"setting": f"{sources}-{letter}", "share": share, "variant": name, "accuracy": round(accuracy, 2)}
                rows.append(row | {"seconds": round(seconds, 1)})
    return rows


def sample(texts: Texts, codes: Any, *, seed: int, share: float) -> tuple[Texts, Any]:
    """A target with this share of positive documents, positive ones first."""
    rng, n = np.random.default_rng(seed), min(N_TARGET, len(texts) * 3 // 5)
    n_positive = round(share * n)
    rows = [rng.permutation(np.flatnonzero(codes == code))[:size] for code, size in ((1, n_positive), (0, n - n_positive))]
    chosen = np.concatenate(rows)
    return [texts[i] for i in chosen], codes[chosen]


def load_data() -> dict[str, Any]:
    """Texts and codes by letter; V is the video domain, each text once."""
    folder = Path(os.environ.get("GRAMSHIFT_DATA") or ROOT.parent / "shared" / "data")
    sentiment = load_sentiment(folder)
    data: dict[str, Any] = {
        letter: (domain.texts("title+text"), np.array(domain.codes)) for letter, domain in sentiment.domains.items()
    }
    found: dict[str, int] = {}
    for name, code in (("positive", 1), ("negative", 0)):
        path = folder / "development" / "video" / f"{name}.txt"
        if not path.is_file():
            raise CorpusError(f"{path} is not there; experiments need the development data")
        for line in path.read_text(errors="replace").splitlines():
            found.setdefault(line, code)
    return data | {"V": (list(found), np.array(list(found.values())))}


def load_demo_data() -> dict[str, Any]:
    """The demo corpus, to see that everything runs."""
    demo = {letter: load_demo(name) for letter, name in (("B", "kitchen"), ("V", "films"))}
    return {letter: (one.texts, np.array([int(label == "positive") for label in one.labels])) for letter, one in demo.items()}


def show(result: dict[str, Any]) -> str:
    """A table with the means, and one for each share of targets that are not balanced."""
    return "\n\n".join(show_part(result, part) for part in ("balanced", "unbalanced"))


def show_part(result: dict[str, Any], part: str) -> str:
    """A table for each share of positive documents."""
    shares = dict.fromkeys(row["share"] for row in result[part])
    return "\n\n".join(
        _show(f"{share:.0%} positive", [row for row in result[part] if row["share"] == share]) for share in shares
    )


def _show(title: str, rows: list[dict[str, Any]]) -> str:
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["variant"] for row in rows):
        found = {row["setting"]: row["accuracy"] for row in rows if row["variant"] == name}
        lines.append((name, *(f"{found[setting]:.1f}" for setting in settings), f"{np.mean(list(found.values())):.2f}"))
    return table(title, [*settings, "mean"], lines)
