"""A second published benchmark: the 20 pairs of five Amazon domains of Li and others (AAAI 2018), ours beside theirs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.errors import InputError
from gramshift.evaluate.cases import Corpus, Domain, check_cases, make_cases
from gramshift.evaluate.comparison import Comparison, Plan, Progress
from gramshift.evaluate.kept import Kept
from gramshift.methods import BEST, METHODS, parse_names

DOMAINS = {"B": "books", "D": "dvd", "E": "electronics", "K": "kitchen", "V": "video"}
CLASSES = ("negative", "positive")
N_REVIEWS = 3000  # of each class and domain
METHOD = "HATN"
"""Hierarchical attention transfer network: pre-trained word vectors, trained on a GPU."""
PAIRS = [(source, target) for source in DOMAINS for target in DOMAINS if source != target]
_FIGURES = "87.70 86.20 87.08 87.35 88.02 86.78 87.00 88.97 83.62 83.87 90.12 83.45 84.83 84.73 89.08 84.03 87.48 87.60 85.85 86.02"
PUBLISHED = {
    f"{source}-{target}": float(one)
    for (source, target), one in zip(PAIRS, _FIGURES.split(), strict=True)
}
"""The accuracy of HATN by pair, in the order of its table."""


def parse_pairs(value: str) -> list[tuple[str, str]]:
    """Read pairs: "all", or names such as "B-D,K-V"; each once, in the order of the table."""
    named = {f"{source}-{target}": (source, target) for source, target in PAIRS}
    return [named[name] for name in parse_names("setting", value, named, {"all": list(named)})]


def load_amazon5(data: Path, letters: str, say: Callable[[str], None]) -> Corpus:
    """Read the reviews of some domains, one a line, from DIR/raw_data/DOMAIN/review_positive and review_negative."""
    folder = data / "raw_data" if (data / "raw_data").is_dir() else data
    domains = {}
    for letter in letters:
        texts: list[str] = []
        codes: list[int] = []
        for code, name in enumerate(CLASSES):
            path = folder / DOMAINS[letter] / f"review_{name}"
            if not path.is_file():
                wanted = f"{data}/raw_data/DOMAIN/review_positive and review_negative for {', '.join(DOMAINS.values())}"
                raise InputError(
                    f"{path}: no such file; --benchmark amazon5 reads {wanted}, one review a line"
                )
            content = path.read_bytes()
            lines = [
                line for line in content.decode("utf-8", "replace").split("\n") if line.strip()
            ]
            if not lines:
                raise InputError(f"{path} has no review; it should have one a line")
            if len(lines) != N_REVIEWS:
                say(f"{path} has {len(lines)} reviews; the published figures are for {N_REVIEWS}")
            texts += lines
            codes += [code] * len(lines)
        domains[letter] = Domain(texts, np.array(codes, np.intp))
    return Corpus(domains, list(CLASSES))


def run_amazon5(
    data: Path,
    pairs: list[tuple[str, str]],
    methods: list[str],
    *,
    kept: Kept,
    source_only: bool = False,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Comparison:
    """Run methods on pairs: the whole source is labelled, the whole target is to be labelled."""
    for name in methods:
        METHODS[name].check()
    letters = "".join(letter for letter in DOMAINS if any(letter in pair for pair in pairs))
    corpus = load_amazon5(data, letters, say)
    cases = make_cases(corpus, [((source,), target) for source, target in pairs], repeats=0, seed=0)
    check_cases(corpus, cases, methods)
    reference = BEST if BEST in methods else methods[0]
    return Plan(corpus, cases, methods, reference, source_only=source_only).run(
        kept=kept, n_jobs=n_jobs, progress=progress
    )


def beside_published(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """A line per pair with the published figure and ours, and the means; a heading first."""
    rows = {(row["setting"], row["method"]): 100 * row["accuracy"] for row in found.rows}
    names = [case.setting.replace(" > ", "-") for case in found.cases]
    lines = [
        [name, f"{PUBLISHED[name]:.2f}", *(_cell(rows, name, method) for method in found.methods)]
        for name in names
    ]
    summary = {line["method"]: line for line in found.summary}
    means = [
        f"{100 * summary[name]['accuracy']:.2f} ({_reach(summary[name])})" for name in found.methods
    ]
    mean = np.mean([PUBLISHED[name] for name in names])
    return ["", f"{METHOD}, published", *(METHODS[name].title for name in found.methods)], [
        *lines,
        ["mean", f"{mean:.2f}", *means],
    ]


def _cell(rows: dict[tuple[str, str], Any], name: str, method: str) -> str:
    ours = rows[name.replace("-", " > "), method]
    return f"{ours:.2f} ({ours - PUBLISHED[name]:+.2f})"


def _reach(line: dict[str, Any]) -> str:
    return f"{100 * line['low']:.1f} to {100 * line['high']:.1f}"
