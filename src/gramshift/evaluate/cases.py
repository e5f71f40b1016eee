"""Cases of a comparison: labelled source documents, a target, and what a method answers. True labels are for counting only."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from gramshift.errors import GramshiftError, InputError
from gramshift.methods import METHODS
from gramshift.runtime.memory import give_back

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
DIGITS = 6  # of a probability, whether it is kept in a file or not


@dataclass(frozen=True)
class Domain:
    """Texts and the codes of their classes."""

    texts: list[str]
    codes: Codes

    def digest(self, rows: Codes) -> str:
        """Return a name for these documents and their classes."""
        told = sha256()
        for row in rows.tolist():
            text = self.texts[row].encode("utf-8", "surrogatepass")
            told.update(f"{self.codes[row]} {len(text)} ".encode() + text)
        return told.hexdigest()[:32]


@dataclass(frozen=True)
class Case:
    """Documents of one or more source domains to learn from, and those of a target domain to label."""

    source: tuple[str, ...]
    target: str
    source_rows: tuple[Codes, ...]
    target_rows: Codes
    repeat: int = 0

    @property
    def setting(self) -> str:
        """The name that it shares with its repeats."""
        return f"{' + '.join(self.source)} > {self.target}"

    @property
    def pair(self) -> tuple[tuple[str, ...], str]:
        """What tells its setting from all others, whatever the names of domains are."""
        return self.source, self.target


@dataclass(frozen=True)
class Answers:
    """What a method says of the target documents of a case, and what that took."""

    method: str
    codes: Codes
    probabilities: Floats
    seconds: float
    memory: float | None
    """Bytes beyond what the process had before, at the worst moment; None where the system does not tell."""


@dataclass(frozen=True)
class Corpus:
    """Domains by name, and the classes that codes stand for: all that occur, whether a source has them or not."""

    domains: Mapping[str, Domain]
    classes: list[Any]

    def truth(self, case: Case) -> Codes:
        """Return the true classes of the target documents, for whoever counts."""
        return self.domains[case.target].codes[case.target_rows]

    def fingerprint(self, case: Case) -> str:
        """Return a name for all documents and classes of a case."""
        parts = [*zip(case.source, case.source_rows, strict=True), (case.target, case.target_rows)]
        return sha256(
            "".join(self.domains[name].digest(rows) for name, rows in parts).encode()
        ).hexdigest()[:16]


def make_cases(
    corpus: Corpus, pairs: Sequence[tuple[tuple[str, ...], str]], *, repeats: int, seed: int
) -> list[Case]:
    """Make a case of each pair: all documents, or with ``repeats`` so many random halves of source and target each.

    Halves have the classes in the proportions of the whole, and are the same for all pairs that share a domain.
    """
    halves: dict[tuple[str, int], Codes] = {}
    for repeat in range(repeats):
        for number, (name, domain) in enumerate(corpus.domains.items()):
            halves[name, repeat] = draw_half(
                domain.codes, np.random.default_rng([seed, repeat, number])
            )
    whole = {name: np.arange(len(domain.texts)) for name, domain in corpus.domains.items()}

    def rows(name: str, repeat: int) -> Codes:
        return halves[name, repeat] if repeats else whole[name]

    return [
        Case(
            sources,
            target,
            tuple(rows(name, repeat) for name in sources),
            rows(target, repeat),
            repeat,
        )
        for sources, target in pairs
        for repeat in range(max(1, repeats))
    ]


def check_cases(corpus: Corpus, cases: Sequence[Case], methods: Sequence[str]) -> None:
    """Raise an error if a method could not learn from a case: before any of them begins."""
    for case in cases:
        codes = [
            corpus.domains[name].codes[rows]
            for name, rows in zip(case.source, case.source_rows, strict=True)
        ]
        n_classes = len(np.unique(np.concatenate(codes)))
        if n_classes < 2:
            raise InputError(
                f"{case.setting}: all source documents have one label; there is nothing to learn"
            )
        for name in methods:
            if n_classes != 2 and getattr(METHODS[name].make(), "two_classes", False):
                raise InputError(
                    f"{name} is defined for two classes; {case.setting} has {n_classes}: leave it out"
                )


def find_faults(corpus: Corpus, cases: Sequence[Case]) -> list[str]:
    """Tell what is likely a mistake in the documents: labels that the source lacks, texts that stand in both domains."""
    faults = []
    for case in cases:
        if case.repeat:
            continue
        parts = [
            (corpus.domains[name], rows)
            for name, rows in zip(case.source, case.source_rows, strict=True)
        ]
        known = {code for domain, rows in parts for code in domain.codes[rows].tolist()}
        truth = corpus.truth(case).tolist()
        if not known & set(truth):
            have = [
                ", ".join(sorted({str(corpus.classes[code]) for code in codes})[:5])
                for codes in (known, truth)
            ]
            raise InputError(
                f"{case.setting}: no label of the target is one of the source; {have[1]} there, {have[0]} here"
            )
        missed = [code for code in truth if code not in known]
        if missed:
            names = ", ".join(sorted({str(corpus.classes[code]) for code in missed})[:5])
            lacks = f"{len(missed)} target documents have labels that the source lacks ({names})"
            faults.append(f"{case.setting}: {lacks}; all methods miss them")
        texts = {domain.texts[row] for domain, rows in parts for row in rows.tolist()}
        copies = sum(
            corpus.domains[case.target].texts[row] in texts for row in case.target_rows.tolist()
        )
        if copies:
            faults.append(
                f"{case.setting}: {copies} of {len(truth)} target documents stand in the source too, word for word"
            )
    return faults


def warm_up(methods: Sequence[str]) -> None:
    """Let each method label a few texts, so that none pays in its first case for what is imported and compiled once."""
    texts, codes = (
        ["a good pan", "a bad pan", "good knives", "bad knives"] * 6,
        np.arange(24, dtype=np.intp) % 2,
    )
    for method in methods:
        with suppress(GramshiftError, ValueError):  # so few texts need not be enough
            _ = fit_method(method, texts, codes, texts[:8]).transduction_proba_


def draw_half(codes: Codes, generator: np.random.Generator) -> Codes:
    """Return the rows of a random half of each class, in order; of an odd number the larger half."""
    chosen = []
    for code in np.unique(codes).tolist():
        of_class = np.flatnonzero(codes == code)
        chosen.append(generator.choice(of_class, (len(of_class) + 1) // 2, replace=False))
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.intp)


def every_pair(names: Sequence[str]) -> list[tuple[tuple[str, ...], str]]:
    """Return each domain as the source of each other one."""
    return [((source,), target) for source, target in permutations(names, 2)]


def answer(corpus: Corpus, case: Case, method: str, **options: Any) -> Answers:
    """Let a method label the target of a case; no true label is handed to it."""
    chosen = [
        (corpus.domains[name], rows)
        for name, rows in zip(case.source, case.source_rows, strict=True)
    ]
    texts = [domain.texts[row] for domain, rows in chosen for row in rows.tolist()]
    codes = np.concatenate([domain.codes[rows] for domain, rows in chosen])
    target = [corpus.domains[case.target].texts[row] for row in case.target_rows.tolist()]
    known = np.unique(codes)
    begun = time.perf_counter()
    with peak_memory() as used:
        classifier = fit_method(method, texts, codes, target, **options)
        found, given = np.asarray(classifier.transduction_, np.intp), classifier.transduction_proba_
    probabilities = np.zeros((len(target), len(corpus.classes)))
    probabilities[:, known] = np.round(given, DIGITS)
    return Answers(method, found, probabilities, time.perf_counter() - begun, used[0])


def fit_method(
    method: str,
    texts: list[str],
    codes: Codes,
    target: list[str],
    *,
    calibrate: bool = True,
    source_only: bool = False,
    **options: Any,
) -> Any:
    """Fit a method on labelled texts and target texts; ``calibrate``: probabilities will be asked for.

    With ``source_only`` the method's own classifier is fitted, without adaptation.
    """
    classifier = METHODS[method].make(source_only=source_only, **options)
    if METHODS[
        method
    ].is_own:  # without warnings of labels that look wrong: here it is counted how many are
        return classifier._fit_with(
            texts, codes, target, classifier._runtime(), calibrate=calibrate
        )
    return classifier.fit(texts, codes, target=target)


CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@contextmanager
def peak_memory() -> Iterator[list[float | None]]:
    """Measure the memory that a process holds at most beyond what it held before; Linux tells, other systems do not."""
    used: list[float | None] = [None]
    give_back()  # else what was freed is used again without being counted
    try:
        CLEAR.write_text("5")  # the peak is counted from now on
        before = psutil.Process().memory_info().rss
    except OSError:
        before = None
    yield used
    if before is not None:
        used[0] = max(0.0, 1024.0 * _peak_kib() - before)


def _peak_kib() -> int:
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1])
