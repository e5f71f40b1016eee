"""Accuracy on the development reviews: python -m bench.development sst ke-meta

From each of the four domains to 1000 good and 1000 bad reviews of videos, each text once.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from bench.corpus import CorpusError, find_data
from bench.machine import Row, say, table
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
    domains, rows = load_sentiment(folder).domains, []
    for name in args.methods:
        row: Row = {"accuracy": METHODS[name].title}
        start = time.perf_counter()
        for letter, domain in domains.items():
            clf = METHODS[name].make(source_only=args.source_only)
            clf.fit(domain.texts("title+text"), domain.codes, target=target)
            row[f"{letter}>V"] = 100 * np.mean(clf.transduction_ == np.array(truth))
            say(f"{name}: {letter}>V {row[f'{letter}>V']:.2f}")
        row["mean"] = np.mean(list(row.values())[1:])
        rows.append(row | {"seconds": time.perf_counter() - start})
    print(table(rows))


if __name__ == "__main__":
    main()
