"""A second published benchmark: 20 pairs of five Amazon domains of Li and others (AAAI 2018)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from gramshift.errors import InputError
from gramshift.evaluate.cases import LabelledDomains, LabelledTexts, check_cases, make_cases
from gramshift.evaluate.comparison_run import Comparison, ComparisonPlan
from gramshift.evaluate.result_store import ResultStore
from gramshift.methods import BEST, METHODS, parse_names
from gramshift.parallel import Progress

DOMAINS = {"B": "books", "D": "dvd", "E": "electronics", "K": "kitchen", "V": "video"}
CLASSES = ("negative", "positive")
N_REVIEWS = 3000  # of each class and domain
METHOD = "HATN"  # hierarchical attention transfer network, with pre-trained word vectors
PAIRS = [(source, target) for source in DOMAINS for target in DOMAINS if source != target]
_FIGURES = (
    "87.70 86.20 87.08 87.35 88.02 86.78 87.00 88.97 83.62 83.87 "
    "90.12 83.45 84.83 84.73 89.08 84.03 87.48 87.60 85.85 86.02"
)
PUBLISHED = {
    f"{source}-{target}": float(one)
    for (source, target), one in zip(PAIRS, _FIGURES.split(), strict=True)
}
"""The published accuracy of HATN for each pair, in the order of its table."""


def parse_pairs(value: str) -> list[tuple[str, str]]:
    """Return the pairs named by "all" or by names such as "B-D,K-V", in the order of the table."""
    named = {f"{source}-{target}": (source, target) for source, target in PAIRS}
    return [named[name] for name in parse_names("setting", value, named, {"all": list(named)})]


def load_amazon5(data: Path, letters: str, say: Callable[[str], None]) -> LabelledDomains:
    """Read the reviews of some domains.

    They are in DIR/raw_data/DOMAIN/review_positive and review_negative, one on each line.
    """
    folder = data / "raw_data" if (data / "raw_data").is_dir() else data
    domains = {}
    for letter in letters:
        texts: list[str] = []
        codes: list[int] = []
        for code, name in enumerate(CLASSES):
            path = folder / DOMAINS[letter] / f"review_{name}"
            if not path.is_file():
                raise InputError(
                    f"{path}: no such file; --benchmark amazon5 reads {data}/raw_data/DOMAIN/"
                    f"review_positive and review_negative for {', '.join(DOMAINS.values())}, "
                    "one review on each line"
                )
            content = path.read_bytes().decode("utf-8", "replace")
            lines = [line for line in content.split("\n") if line.strip()]
            if not lines:
                raise InputError(f"{path} has no review; it should have one on each line")
            if len(lines) != N_REVIEWS:
                say(f"{path} has {len(lines)} reviews; the published figures are for {N_REVIEWS}")
            texts += lines
            codes += [code] * len(lines)
        domains[letter] = LabelledTexts(texts, np.array(codes, np.intp))
    return LabelledDomains(domains, list(CLASSES))


def run_amazon5(
    data: Path,
    pairs: list[tuple[str, str]],
    methods: list[str],
    *,
    kept: ResultStore,
    source_only: bool = False,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Comparison:
    """Run methods on pairs of domains: all source reviews are labelled, no target review is."""
    for name in methods:
        METHODS[name].check()
    letters = "".join(letter for letter in DOMAINS if any(letter in pair for pair in pairs))
    reviews = load_amazon5(data, letters, say)
    cases = make_cases(
        reviews, [((source,), target) for source, target in pairs], repeats=0, seed=0
    )
    check_cases(reviews, cases, methods)
    reference = BEST if BEST in methods else methods[0]
    plan = ComparisonPlan(reviews, cases, methods, reference, source_only=source_only)
    return plan.run(kept=kept, n_jobs=n_jobs, progress=progress)


def with_published(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return a heading, and lines with the published figure and ours for each pair."""
    accuracy = {(row["setting"], row["method"]): 100 * row["accuracy"] for row in found.rows}
    lines = []
    figures = []
    for case in found.cases:
        name = f"{case.source[0]}-{case.target}"
        published = PUBLISHED[name]
        ours = [accuracy[case.setting, method] for method in found.methods]
        cells = [f"{one:.2f} ({one - published:+.2f})" for one in ours]
        lines.append([name, f"{published:.2f}", *cells])
        figures.append(published)
    means = ["mean", f"{np.mean(figures):.2f}"]
    for line in found.summary:
        interval = f"{100 * line['low']:.1f} to {100 * line['high']:.1f}"
        means.append(f"{100 * line['accuracy']:.2f} ({interval})")
    heading = ["", f"{METHOD}, published", *(METHODS[name].title for name in found.methods)]
    return heading, [*lines, means]
