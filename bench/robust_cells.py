"""The cells of the benchmark robust: families of data sets, sizes and class proportions.

Labels of the four domains of reviews are used as source labels only, except in the family
"domains". A cell with a small target is drawn several times, so that every cell has some hundreds
of answers.
"""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from bench.corpus import ROOT, CorpusError, Texts
from gramshift.datasets.demo import load_demo
from gramshift.datasets.reviews import load_sentiment

Labelled = tuple[Texts, Any]
"""Texts, and an array with the label of each."""
Sets = Mapping[str, Labelled]
Shares = Mapping[str, float]

LETTERS = "BDEK"
SIZES = (50, 200, 1000)
CHINESE = ("books", "fruit", "hotels")
SHORT = ("tweets", "editorials")
SHORT_SIZES = ((None, None), (1000, 1000), (200, 1000), (1000, 200), (50, 1000), (200, 30))
DIALECTS = ("EGY", "GLF", "LAV", "MSA", "NOR")
RARE, RARE_IN_TARGET, RARE_OF_TWO = 0.014, 0.003, 0.02
FLIPPED = (1 / 3, 2 / 3)
FLIPPED_NEUTRAL = (0.1, 0.45)
REPEATS = ((50, 8), (300, 3))
"""Largest target, and the number of its draws; a larger one is drawn once."""
SLOW_SOURCE = 2000  # documents, with which rivals take minutes for each draw
SLOW_REPEATS = {8: 2, 3: 1, 1: 1}  # fewer draws instead


@dataclass(frozen=True)
class Cell:
    """Numbers of documents of a source and a target set; None for all, and for natural shares.

    If shares do not add up to 1, documents of all other classes make up the rest.
    """

    family: str
    source: str
    target: str
    n_source: int | None
    n_target: int | None
    source_shares: Shares | None = None
    target_shares: Shares | None = None
    words: str = ""
    """A description of its shares."""

    @property
    def name(self) -> str:
        """Return the unique name in tables and in the file of rivals."""
        sizes = "/".join("all" if n is None else str(n) for n in (self.n_source, self.n_target))
        special = f", {self.words}" if self.words else ""
        return f"{self.family}: {self.source}-{self.target} {sizes}{special}"

    @property
    def repeats(self) -> int:
        """Return the number of draws."""
        times = next(
            (
                times
                for most, times in REPEATS
                if self.n_target is not None and self.n_target <= most
            ),
            1,
        )
        return SLOW_REPEATS[times] if (self.n_source or 0) >= SLOW_SOURCE else times

    def draw(self, sets: Sets, repeat: int) -> tuple[Labelled, Labelled]:
        """Draw source and target, seeded by the name of the cell and the number of the draw."""
        seed = crc32(self.name.encode())
        source = draw(sets[self.source], self.n_source, self.source_shares, [seed, repeat, 0])
        return source, draw(sets[self.target], self.n_target, self.target_shares, [seed, repeat, 1])


def draw(labelled: Labelled, n: int | None, shares: Shares | None, seed: list[int]) -> Labelled:
    """Draw up to n documents in random order, with the given class shares if there are any."""
    texts, labels = labelled
    rng = np.random.default_rng(seed)
    n = len(texts) if n is None else n
    if shares is None:
        rows = rng.permutation(len(texts))[:n]
    else:
        ends = np.round(np.cumsum([0, *shares.values()]) * n).astype(int)
        chosen = []
        for label, size in zip(shares, np.diff(ends).tolist(), strict=True):
            of_class = rng.permutation(np.flatnonzero(labels == label))
            assert len(of_class) >= size, (
                f"{len(of_class)} documents of {label}, but {size} are needed"
            )
            chosen.append(of_class[:size])
        if ends[-1] < n:
            others = rng.permutation(np.flatnonzero(~np.isin(labels, list(shares))))[: n - ends[-1]]
            assert len(others) == n - ends[-1], (
                f"{len(others)} documents of other classes, but {n - ends[-1]} are needed"
            )
            chosen.append(others)
        rows = rng.permutation(np.concatenate(chosen))
    return take(labelled, rows)


def take(labelled: Labelled, rows: Any) -> Labelled:
    """Take the documents of some rows, in their order."""
    texts, labels = labelled
    return [texts[i] for i in rows], labels[rows]


def of_two(positive: float) -> Shares:
    """Make shares of two classes."""
    return {"positive": positive, "negative": 1 - positive}


def of_three(positive: float, neutral: float | None = None) -> Shares:
    """Return shares of three classes; by default the rest is divided equally."""
    neutral = (1 - positive) / 2 if neutral is None else neutral
    return {"positive": positive, "neutral": neutral, "negative": 1 - positive - neutral}


EVEN = of_two(0.5)


def video() -> Iterator[Cell]:
    """Make every pair of sizes with one source by turns; two of them with all four sources."""
    for i, n_source in enumerate((*SIZES, 2000)):
        for j, n_target in enumerate((30, 200, 1000, 2000)):
            everyone = n_source == n_target >= 1000
            for letter in LETTERS if everyone else LETTERS[(i + j) % 4]:
                yield Cell("video", letter, "V", n_source, n_target, EVEN, EVEN)


def video_skew() -> Iterator[Cell]:
    """Make targets that are not balanced, one without a class, and sources that are not."""
    for i, share in enumerate((0.05, 0.2, 0.35, 0.65, 0.8, 0.95, 1.0)):
        shares = of_two(share) if share < 1 else {"positive": 1.0}
        yield Cell(
            "video skew", LETTERS[i % 4], "V", 1000, 1000, EVEN, shares, f"{share:.0%} positive"
        )
    for letter, share in (("B", 0.9), ("E", 0.1)):
        yield Cell(
            "video skew",
            letter,
            "V",
            1000,
            1000,
            of_two(share),
            EVEN,
            f"source {share:.0%} positive",
        )


def chinese() -> Iterator[Cell]:
    """Make all pairs, some with other sizes, and targets that are not balanced."""
    for source, target in permutations(CHINESE, 2):
        yield Cell("chinese", source, target, 1000, 1000, EVEN, EVEN)
    sizes: tuple[tuple[str, str, int | None, int | None], ...] = (
        ("books", "hotels", 50, 1000),
        ("fruit", "books", 50, 200),
        ("fruit", "books", 200, 30),
        ("hotels", "fruit", 200, 200),
        ("fruit", "hotels", 200, 1000),
        ("hotels", "books", 1000, 30),
        ("books", "fruit", 1500, 200),
        ("books", "hotels", None, None),
        ("hotels", "fruit", None, None),
    )
    for source, target, n_source, n_target in sizes:
        yield Cell("chinese", source, target, n_source, n_target, EVEN, EVEN)
    for source, target, share in (
        ("hotels", "fruit", 0.05),
        ("books", "hotels", 0.2),
        ("fruit", "books", 0.8),
    ):
        yield Cell(
            "chinese", source, target, 1000, 1000, EVEN, of_two(share), f"{share:.0%} positive"
        )


def short() -> Iterator[Cell]:
    """Return cells of very short texts in two classes, with natural and changed shares."""
    yield from _short("short", EVEN, of_two, "")


def short_3() -> Iterator[Cell]:
    """Return cells of very short texts with a neutral class as well."""
    yield from _short("short 3", of_three(1 / 3), of_three, " 3")


def _short(family: str, even: Shares, shares: Any, suffix: str) -> Iterator[Cell]:
    for source, target in permutations([name + suffix for name in SHORT]):
        for n_source, n_target in SHORT_SIZES:
            yield Cell(family, source, target, n_source, n_target)
        for share in (0.2, 0.8):
            yield Cell(
                family, source, target, 1000, 1000, even, shares(share), f"{share:.0%} positive"
            )


def dialects() -> Iterator[Cell]:
    """Return cells of five classes: all sizes, the reverse, without a class, and unbalanced."""
    there, back = ("broadcasts", "other_broadcasts"), ("other_broadcasts", "broadcasts")
    for n_source in (*SIZES, 4000):
        for n_target in (30, 200, 1000, None):
            yield Cell("dialects", *there, n_source, n_target)
    yield Cell("dialects", *back, None, 2000)
    without = {name: 0.25 for name in DIALECTS if name != "MSA"}
    yield Cell("dialects", *there, 1000, 1000, None, without, "no MSA")
    most = {name: 0.6 if name == "EGY" else 0.1 for name in DIALECTS}
    yield Cell("dialects", *back, None, 1000, None, most, "60% EGY")


def domains() -> Iterator[Cell]:
    """Return cells that ask for the domain of a review, from positive to negative reviews."""
    sizes = ((50, 1000), (200, 200), (200, 30), (1000, 1000), (2000, 2000))
    for n_source, n_target in sizes:
        yield Cell("domains", "good", "bad", n_source, n_target)
    yield Cell(
        "domains",
        "good",
        "bad",
        1000,
        1000,
        None,
        {"B": 0.7, "D": 0.1, "E": 0.1, "K": 0.1},
        "70% B",
    )
    yield Cell("domains", "good", "bad", 1000, 1000, None, {"B": 0.5, "E": 0.5}, "B and E alone")


def categories() -> Iterator[Cell]:
    """Return cells of product categories, some rare, from positive to negative reviews."""
    there = ("good products", "bad products")
    for n_source, n_target in ((None, None), (1000, 1000), (200, 1000), (1000, 200)):
        yield Cell("categories", *there, n_source, n_target)
    yield Cell("categories", *there[::-1], 1000, 1000)
    rare = ({"hotels": RARE}, {"hotels": RARE_IN_TARGET})
    yield Cell(
        "categories", *there, 2000, 2000, *rare, f"hotels {RARE:.1%} and {RARE_IN_TARGET:.1%}"
    )
    two = {"books": RARE_OF_TWO, "phones": RARE_OF_TWO}
    yield Cell("categories", *there, 2000, 2000, two, two, f"books and phones {RARE_OF_TWO:.0%}")
    three = {"fruit": 0.4, "hotels": 0.4, "books": 0.2}
    yield Cell("categories", *there, 1000, 1000, three, three, "three classes")
    yield Cell("categories", "good ten", "bad ten", 2000, 2000)


def flip() -> Iterator[Cell]:
    """Return cells where the largest class of the source is the smallest of the target."""
    pairs = [
        ("B", "V"),
        ("books", "hotels"),
        ("tweets", "editorials"),
        ("E", "V"),
        ("fruit", "books"),
        ("editorials", "tweets"),
    ]
    for one, other in (FLIPPED, FLIPPED[::-1]):
        for source, target in pairs:
            yield Cell(
                "flip",
                source,
                target,
                1000,
                1000,
                of_two(one),
                of_two(other),
                f"positive {one:.0%} to {other:.0%}",
            )
    for one, other in (FLIPPED_NEUTRAL, FLIPPED_NEUTRAL[::-1]):
        shares = of_three((1 - one) / 2, one), of_three((1 - other) / 2, other)
        yield Cell(
            "flip",
            "tweets 3",
            "editorials 3",
            1000,
            1000,
            *shares,
            f"neutral {one:.0%} to {other:.0%}",
        )


FAMILIES: dict[str, Any] = {
    "video": video,
    "video skew": video_skew,
    "chinese": chinese,
    "short": short,
    "short 3": short_3,
    "dialects": dialects,
    "domains": domains,
    "categories": categories,
    "flip": flip,
}


def make_cells(only: Sequence[str] | None = None) -> list[Cell]:
    """Make all cells, or those of some families."""
    return [
        cell for name, make in FAMILIES.items() if only is None or name in only for cell in make()
    ]


def make_demo_cells() -> list[Cell]:
    """Make a few tiny cells of the demo corpus, to see that everything runs."""
    return [
        Cell("demo", "kitchen", "films", 100, 100, EVEN, EVEN),
        Cell("demo", "films", "kitchen", 60, 60, EVEN, of_two(0.8), "80% positive"),
        Cell("demo", "films", "kitchen", 50, 30),
    ]


def load_demo_sets() -> dict[str, Labelled]:
    """Load both domains of the demo corpus."""
    found = {name: load_demo(name) for name in ("kitchen", "films")}
    return {name: (one.texts, np.array(one.labels)) for name, one in found.items()}


def load_sets() -> dict[str, Labelled]:
    """Load every data set by its name."""
    data = Path(os.environ.get("GRAMSHIFT_DATA") or ROOT.parent / "shared" / "data")
    folder = data / "development"
    sets: dict[str, Labelled] = {
        letter: (
            domain.texts("title+text"),
            np.where(np.array(domain.codes) == 1, "positive", "negative"),
        )
        for letter, domain in load_sentiment(data).domains.items()
    }
    sets["V"] = read_lines(folder / "video")
    sets |= {name: read_csv(folder / "chinese" / f"{name}.csv") for name in CHINESE}
    for name in SHORT:
        texts, labels = sets[f"{name} 3"] = read_csv(folder / "short" / f"{name}.csv")
        sets[name] = take((texts, labels), np.flatnonzero(labels != "neutral"))
    sets |= {
        name: read_csv(folder / "dialects" / f"{name}.csv")
        for name in ("broadcasts", "other_broadcasts")
    }
    for name, label in (("good", "positive"), ("bad", "negative")):
        domain_texts, domain_labels = sets[name] = by_domain(sets, label)
        texts, labels = sets[f"{name} products"] = read_csv(folder / "categories" / f"{name}.csv")
        sets[f"{name} ten"] = [*texts, *domain_texts], np.concatenate([labels, domain_labels])
    return sets


def read_lines(folder: Path) -> Labelled:
    """Read a review per line, each text once, without empty lines."""
    found: dict[str, str] = {}
    for label in ("positive", "negative"):
        path = folder / f"{label}.txt"
        if not path.is_file():
            raise CorpusError(f"{path} is not there; robust needs the development data")
        for line in path.read_text(errors="replace").split("\n"):
            if line.strip():
                found.setdefault(line, label)
    return list(found), np.array(list(found.values()))


def read_csv(path: Path) -> Labelled:
    """Read the columns text and label."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise CorpusError(f"{error}; robust needs the development data") from None
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


def by_domain(sets: Sets, label: str) -> Labelled:
    """Return all reviews with one label; the letter of the domain becomes the label."""
    parts = [take(sets[letter], np.flatnonzero(sets[letter][1] == label))[0] for letter in LETTERS]
    return [text for part in parts for text in part], np.repeat(
        list(LETTERS), [len(part) for part in parts]
    )
