"""Accuracy of the default with the vectors of several encoders, on development data.

Real vectors are looked up by text. The last columns are the weights that were chosen, relative to
the n-grams.
"""

import os
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from bench.corpus import ROOT, CorpusError, Texts
from bench.machine import Row, say
from bench.robust_cells import LETTERS, SHORT, Labelled, draw, load_demo_sets, load_sets, take
from gramshift import TransductiveClassifier
from gramshift.commands.encoders import WORDLLAMA, open_encoder
from gramshift.errors import MissingPackageError

Encoder = Callable[[Texts], Any]
MAX_DOCS = 2000  # of a domain
WIDTH = 256  # of random vectors
NAMES = ("books", "dvd", "electronics", "kitchen")
REVIEWS = dict(zip(LETTERS, NAMES, strict=True))


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Fit each pair of domains without vectors and with those of each encoder."""
    del texts, repeat  # the texts are others, and all runs give equal results
    encoders: dict[str, Encoder | None] = {"real": None, "WordLlama": None}
    if smoke:
        sets, pairs = load_demo_sets(), [("kitchen", "films")]
    else:
        sets, encoders["real"] = load_with_vectors()
        encoders["WordLlama"] = load_wordllama()
        short = [[f"{name}{suffix}" for name in SHORT] for suffix in ("", " 3")]
        pairs = [(letter, "V") for letter in LETTERS]
        pairs += [pair for names in short for pair in permutations(names, 2)]
    encoders["random"] = make_random()
    rows = []
    for source, target in pairs:
        say(f"{source} to {target}")
        one, other = (draw(sets[name], MAX_DOCS, None, [0]) for name in (source, target))
        rows.append({"accuracy": f"{source} to {target}"} | measure(one, other, encoders))
    return {"tables": {"accuracy": rows}}


def measure(source: Labelled, target: Labelled, encoders: Mapping[str, Encoder | None]) -> Row:
    """Return the accuracy with each encoder that there is, and of the real vectors alone."""
    fits = {
        name: TransductiveClassifier(encoder=encoder).fit(*source, target=target[0])
        for name, encoder in {"no vectors": None, **encoders}.items()
        if encoder is not None or name == "no vectors"
    }
    row: Row = dict.fromkeys(("no vectors", *encoders, "real alone"))
    row |= {name: percent(fit.transduction_ == target[1]) for name, fit in fits.items()}
    real = encoders["real"]
    if real is not None:
        alone = LogisticRegression(max_iter=1000).fit(real(source[0]), source[1])
        row["real alone"] = percent(alone.predict(real(target[0])) == target[1])
    weights = {f"weight, {name}": weight_of(fit) for name, fit in fits.items() if name in encoders}
    return row | weights


def percent(right: Any) -> float:
    """Return the percentage of right labels."""
    return float(100 * np.mean(right))


def weight_of(fit: TransductiveClassifier) -> float:
    """Return the weight of the vectors relative to the n-grams."""
    ngrams = fit.result_.model.ngrams
    assert ngrams is not None, "the default makes them"
    share = 0.0 if ngrams.vectors is None else ngrams.vectors.share
    return share / (1 - share)


def look_up(vectors: Mapping[str, Any]) -> Encoder:
    """Return an encoder that knows the vectors of some texts."""
    return lambda texts: np.array([vectors[text] for text in texts])


def make_random() -> Encoder:
    """Return an encoder of random vectors, always the same for a text."""
    vectors: dict[str, Any] = {}
    rng = np.random.default_rng(0)

    def encode(texts: Texts) -> Any:
        for text in texts:
            vectors.setdefault(text, rng.normal(size=WIDTH))
        return np.array([vectors[text] for text in texts])

    return encode


def load_wordllama() -> Encoder | None:
    """Load WordLlama, if it is installed."""
    try:
        return open_encoder(WORDLLAMA)
    except MissingPackageError as error:
        say(f"WordLlama is left out: {error}")
        return None


def load_with_vectors() -> tuple[dict[str, Labelled], Encoder]:
    """Load the documents that have vectors, and the encoder that knows them."""
    folder = Path(os.environ.get("GRAMSHIFT_DATA") or ROOT.parent / "shared" / "data")
    folder /= "development"
    sets, known = dict(load_sets()), dict[str, Any]()
    for letter, name in REVIEWS.items():
        sets[letter] = take(sets[letter], np.arange(0, len(sets[letter][0]), 2))
        known |= zip(sets[letter][0], read_vectors(folder, f"reviews-{name}"), strict=True)
    videos: Texts = []
    for label in ("positive", "negative"):
        lines = (folder / "video" / f"{label}.txt").read_text(errors="replace").split("\n")
        chosen = [lines[row] for row in read_vectors(folder, f"video-{label}-rows")]
        known |= zip(chosen, read_vectors(folder, f"video-{label}"), strict=True)
        videos += chosen
    labels = np.repeat(["positive", "negative"], len(videos) // 2)
    sets["V"] = videos, labels
    for name in SHORT:
        known |= zip(sets[f"{name} 3"][0], read_vectors(folder, f"short-{name}"), strict=True)
    return sets, look_up(known)


def read_vectors(folder: Path, name: str) -> Any:
    """Read an array of the development vectors."""
    try:
        return np.load(folder / "vectors" / f"{name}.npy")
    except OSError as error:
        raise CorpusError(f"{error}; encoder needs the development vectors") from None
