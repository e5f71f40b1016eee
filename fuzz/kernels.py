"""The target ``kernel``: grams of random texts against the naive kernels of the tests."""

import sys
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

from fuzz.made_up import ATOMS, HALVES
from fuzz.targets import Case, Target, Wrong
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.resources import Runtime

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import naive

ALPHABETS = ["ab", "aab  \t\n", "aab\0éEe\u0301שΣ", "a\U0001f600\U0001d4b3\ud83d\ude00b", "abcdefghij "]
COUNTING = ["presence", "intersection", "spectrum"]
POWERS = [{"idf": 1}, {"idf": 2.5}, {"consistency": 0.5}, {"classes": 1}, {"idf": 2, "consistency": 0.25, "classes": 0.5}]
PLAIN: dict[str, Any] = {"strip": False, "lowercase": False, "collapse_whitespace": False}


def draw_texts(rng: Random, longest: int) -> list[str]:
    """Texts of few characters, so that n-grams meet; some with whatever programs stumble over."""
    alphabet = rng.choice(ALPHABETS)

    def draw() -> str:
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(longest + 1)))
        return text + rng.choice([*ATOMS, *HALVES])[:20] if rng.random() < 0.1 else text

    return [draw() for _ in range(rng.randrange(1, 7))]


class Kernels(Target):
    """Similarities of texts."""

    name = "kernel"
    cut = cut_within = ("texts", "others")

    def draw(self, rng: Random) -> Case:
        kind = rng.choice([*COUNTING * 3, "weighted", "subsequence", "local_rank", "words"])
        low = rng.choice([1, 1, 2, 3, rng.randrange(1, 13)])
        longest = 8 if kind == "subsequence" else rng.choice([10, 25, 25, 60])
        return {
            "kind": kind,
            "form": rng.choice(["symmetric", "others", "normalised"]),
            "texts": draw_texts(rng, longest),
            "others": draw_texts(rng, longest),
            "range": [low, low + rng.choice([0, 1, 2, rng.randrange(26)])]
            if kind != "subsequence"
            else [low % 4 + 1, low % 4 + 2],
            "decay": rng.choice([0.5, 0.25, 1.0, 0.7]),
            "max_offset": rng.choice([1, 2, 7, 1000]),
            "powers": rng.choice(POWERS),
            "classes": [rng.choice([0, 1, 2, None]) for _ in range(6)],
            "tile": [rng.randrange(1, 8), rng.randrange(1, 8)] if rng.random() < 0.5 else None,
            "threads": 2 if rng.random() < 0.1 else 1,
        }

    def run(self, case: Case, folder: Path) -> None:
        kind, n_grams = case["kind"], (case["range"][0], case["range"][1])
        runtime = Runtime(case["threads"], "1 GiB", tile=tuple(case["tile"]) if case["tile"] else None)
        texts, others = case["texts"] or [""], case["others"] or [""]
        check = {"weighted": _check_weighted, "subsequence": _check_subsequence, "local_rank": _check_local_rank}
        check.get(kind, _check_counts)(case, n_grams, runtime, texts, others)


def _check_counts(case: Case, n_grams: tuple[int, int], runtime: Runtime, texts: list[str], others: list[str]) -> None:
    by_words = case["kind"] == "words"
    kind, unit = ("presence", "word") if by_words else (case["kind"], "character")
    kernel = StringKernel(kind, ngram_range=n_grams, unit=unit)
    rows: list[Any] = [naive.prepare(text) for text in texts]
    columns: list[Any] = [naive.prepare(text) for text in others]
    if by_words:
        rows, columns = ([_as_characters(naive.words(text)) for text in some] for some in (rows, columns))
    if case["form"] == "symmetric":
        _require(kernel.compute(texts, runtime=runtime), naive.gram(kind, rows, rows, n_grams), "a gram")
    elif case["form"] == "others":
        _require(kernel.compute(texts, others, runtime=runtime), naive.gram(kind, rows, columns, n_grams), "a gram with others")
    else:
        found = kernel.compute(texts, others, runtime=runtime, normalize=True)
        _require(found, naive.normalized_gram(kind, rows, columns, n_grams), "a normalised gram")


def _as_characters(words: list[str]) -> tuple[str, ...]:
    """N-grams of a tuple of words are slices of it, as those of a text are."""
    return tuple(words)


def _check_weighted(case: Case, n_grams: tuple[int, int], runtime: Runtime, texts: list[str], others: list[str]) -> None:
    kernel = StringKernel(ngram_range=n_grams, weighting=case["powers"], **PLAIN)
    classes = (case["classes"] * len(others))[: len(others)]
    groups = {"domains": [place % 2 for place in range(len(others))], "classes": classes}
    expected = naive.weighted_gram(texts, others, n_grams, case["powers"], **groups)
    _require(kernel.compute(texts, others, runtime=runtime, **groups), expected, "a weighted gram", 1e-12, 1e-12)


def _check_subsequence(case: Case, n_grams: tuple[int, int], runtime: Runtime, texts: list[str], others: list[str]) -> None:
    kernel = StringKernel("subsequence", ngram_range=n_grams, decay=case["decay"])
    rows, columns = ([naive.prepare(text) for text in some] for some in (texts, others))
    expected = [[naive.subsequence_by_recursion(a, b, n_grams, case["decay"]) for b in columns] for a in rows]
    _require(kernel.compute(texts, others, runtime=runtime), expected, "a gram of subsequences", 1e-12, 1e-290)


def _check_local_rank(case: Case, n_grams: tuple[int, int], runtime: Runtime, texts: list[str], others: list[str]) -> None:
    kernel = StringKernel("local_rank", ngram_range=n_grams, max_offset=case["max_offset"], sigma=0.6)
    rows, columns = ([naive.prepare(text) for text in some] for some in (texts, others))
    expected = [[naive.local_rank(a, b, n_grams, case["max_offset"], 0.6) for b in columns] for a in rows]
    _require(kernel.compute(texts, others, runtime=runtime), expected, "a gram of local ranks", 1e-15, 0.0)


def _require(found: Any, expected: list[list[Any]], what: str, relative: float = 0.0, absolute: float = 0.0) -> None:
    """Every cell is the naive one; counts and what is divided from them to the last bit."""
    for row, (ours, theirs) in enumerate(zip(found.tolist(), expected, strict=True)):
        for column, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != other and not (relative and isclose(one, other, rel_tol=relative, abs_tol=absolute)):
                raise Wrong(f"{what} is not the naive one", f"at {row}, {column}: {one!r} instead of {other!r}")


TARGET = Kernels()
