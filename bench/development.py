"""Accuracy on the development reviews: python -m bench.development sst ke-meta

From each of the four domains to 1000 good and 1000 bad reviews of videos, each text once.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from bench.corpus import CorpusError, find_data
from bench.robust_cells import read_lines
from gramshift.datasets.reviews import load_sentiment
from gramshift.methods import METHODS

N_OF_A_CLASS = 1000


def read_development(folder: Path) -> tuple[list[str], list[int]]:
    """Read the first 1000 different reviews of each class, good ones first."""
    texts, labels = read_lines(folder)
    rows = [
        row
        for label in ("positive", "negative")
        for row in np.flatnonzero(labels == label)[:N_OF_A_CLASS]
    ]
    return [texts[row] for row in rows], [int(labels[row] == "positive") for row in rows]


def main() -> None:
    """Print the accuracy of each method that is named."""
    parser = argparse.ArgumentParser(prog="python -m bench.development", description=__doc__)
    parser.add_argument(
        "methods", nargs="+", choices=METHODS, metavar="METHOD", help=", ".join(METHODS)
    )
    parser.add_argument(
        "--source-only", action="store_true", help="each method's own classifier without adaptation"
    )
    parser.add_argument(
        "--data", metavar="DIR", help="folder with sorted_data_acl and development/video"
    )
    args = parser.parse_args()
    try:
        folder = find_data(args.data)
        target, truth = read_development(folder.parent / "development" / "video")
    except (CorpusError, OSError) as error:
        parser.error(str(error))
    domains = load_sentiment(folder).domains
    print(
        f"{'':30}"
        + "".join(f"{letter + '>V':>8}" for letter in domains)
        + f"{'mean':>8}{'seconds':>9}"
    )
    for name in args.methods:
        start = time.perf_counter()
        right = []
        for domain in domains.values():
            clf = (
                METHODS[name]
                .make(source_only=args.source_only)
                .fit(domain.texts("title+text"), domain.codes, target=target)
            )
            right.append(100 * np.mean(clf.transduction_ == np.array(truth)))
        cells = "".join(f"{value:8.2f}" for value in [*right, np.mean(right)])
        print(f"{METHODS[name].title:30}{cells}{time.perf_counter() - start:9.0f}", flush=True)


if __name__ == "__main__":
    main()
