"""Label a target that is too large to fit on: fit on a sample of it, then predict all of it.

    python examples/sample_large_target.py

The target is read in chunks, so that only the sample and one chunk are in memory. The command
`gramshift classify source.csv --target target.csv --fit-on 100000` does this for files.
"""

from collections.abc import Iterator

import numpy as np

import gramshift as gs
from gramshift.datasets.demo import load_demo

N_SAMPLED = 200
CHUNK_SIZE = 100


def read_chunks(texts: list[str]) -> Iterator[list[str]]:
    """Yield the target in chunks; replace this by a reader of your own data."""
    for start in range(0, len(texts), CHUNK_SIZE):
        yield texts[start : start + CHUNK_SIZE]


def draw_sample(chunks: Iterator[list[str]], n: int, seed: int = 0) -> list[str]:
    """Draw n texts, each with the same chance, in one pass (reservoir sampling)."""
    rng = np.random.default_rng(seed)
    sample: list[str] = []
    n_seen = 0
    for chunk in chunks:
        for text in chunk:
            n_seen += 1
            if len(sample) < n:
                sample.append(text)
            elif (place := rng.integers(n_seen)) < n:
                sample[place] = text
    return sample


if __name__ == "__main__":
    source, target = load_demo("kitchen"), load_demo("films")
    sample = draw_sample(read_chunks(target.texts), N_SAMPLED)
    classifier = gs.TransductiveClassifier().fit(source.texts, source.labels, target=sample)
    labels = np.concatenate([classifier.predict(chunk) for chunk in read_chunks(target.texts)])
    for name, count in zip(*np.unique(labels, return_counts=True), strict=True):
        print(f"{name}: {count}")
