"""Accuracy on the development reviews, the only ones on which anything is chosen: python -m bench.development sst ke-meta

From each of the four domains to 1000 good and 1000 bad reviews of videos, each text once.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from bench.corpus import CorpusError, find_data
from gramshift.data.reviews import load_sentiment
from gramshift.methods import METHODS

N_OF_A_CLASS = 1000
FILES = ("positive.txt", "negative.txt")


def read_development(folder: Path) -> tuple[list[str], list[int]]:
    """A review per line; the first so many different ones of each class."""
    texts: list[str] = []
    codes: list[int] = []
    for code, name in zip((1, 0), FILES, strict=True):
        lines = (folder / name).read_text("utf-8", errors="replace").split("\n")
        chosen = [line for line in dict.fromkeys(lines) if line.strip()][:N_OF_A_CLASS]
        texts += chosen
        codes += [code] * len(chosen)
    return texts, codes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.development", description=__doc__)
    parser.add_argument("methods", nargs="+", choices=METHODS, metavar="METHOD", help=", ".join(METHODS))
    parser.add_argument("--source-only", action="store_true", help="each method's own classifier without adaptation")
    parser.add_argument("--data", metavar="DIR", help="folder with sorted_data_acl and development/video")
    args = parser.parse_args()
    try:
        folder = find_data(args.data)
        target, truth = read_development(folder.parent / "development" / "video")
    except (CorpusError, OSError) as error:
        parser.error(str(error))
    domains = load_sentiment(folder).domains
    print(f"{'':30}" + "".join(f"{letter + '>V':>8}" for letter in domains) + f"{'mean':>8}{'seconds':>9}")
    for name in args.methods:
        start = time.perf_counter()
        right = []
        for domain in domains.values():
            clf = METHODS[name].make(source_only=args.source_only).fit(domain.texts("title+text"), domain.codes, target=target)
            right.append(100 * np.mean(clf.transduction_ == np.array(truth)))
        cells = "".join(f"{value:8.2f}" for value in [*right, np.mean(right)])
        print(f"{METHODS[name].title:30}{cells}{time.perf_counter() - start:9.0f}", flush=True)


if __name__ == "__main__":
    main()
