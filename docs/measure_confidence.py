"""Print the table of confidence in docs/reproducing.md: how many labels are right.

Covers the paper's twelve settings with one source. Run python docs/measure_confidence.py DATA,
where DATA is the folder written by gramshift fetch sentiment; it takes about two minutes and 1 GB.
"""

import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import gramshift as gs
from gramshift.datasets.reviews import load_sentiment
from gramshift.evaluate.protocol import SINGLE
from gramshift.methods import METHODS, STAGES

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def measure(data: Path) -> dict[str, list[tuple[Any, Any]]]:
    """Return for each stage the confidence of every label and whether it is right."""
    domains = load_sentiment(data).domains
    found = defaultdict(list)
    for setting in SINGLE:
        source, target = domains[setting.source], domains[setting.target]
        texts = source.texts("title+text") + target.texts("title+text")
        gram = gs.StringKernel().gram(texts)
        labels = [*source.codes, *[None] * len(target.codes)]
        for name in STAGES:
            classifier = METHODS[name].make(kernel="precomputed").fit(gram, labels)
            right = classifier.transduction_ == np.array(target.codes)
            found[name].append((classifier.transduction_proba_.max(axis=1), right))
        print(setting.name, file=sys.stderr)
    return found


def tabulate(found: dict[str, list[tuple[Any, Any]]]) -> str:
    """Return a Markdown table: the share of labels at each confidence, and how many are right."""
    pooled = {
        name: [np.concatenate(part) for part in zip(*pairs, strict=True)]
        for name, pairs in found.items()
    }
    heading = "| confidence |" + "".join(f" {name}: answers | right |" for name in pooled)
    lines = [heading, "|---" * (1 + 2 * len(pooled)) + "|"]
    for low, high in pairwise(LEVELS):
        cells = ""
        for confidence, right in pooled.values():
            inside = (confidence >= low) & ((confidence < high) | (high == LEVELS[-1]))
            accuracy = f"{right[inside].mean():.0%}" if inside.any() else "-"
            cells += f" {inside.mean():.0%} | {accuracy} |"
        lines.append(f"| {low:.0%} to {high:.0%} |{cells}")
    means = "".join(
        f" {confidence.mean():.0%} sure | {right.mean():.0%} |"
        for confidence, right in pooled.values()
    )
    return "\n".join([*lines, f"| all |{means}"])


if __name__ == "__main__":
    print(tabulate(measure(Path(sys.argv[1]))))
