"""Cases of a comparison: labelled source documents, a target, and a method's answers.

True labels of target documents are used for scoring only.
"""

import time
import warnings
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

from gramshift.errors import FitWarning, GramshiftError, InputError
from gramshift.memory import release_freed_memory
from gramshift.methods import METHODS

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Pair = tuple[tuple[str, ...], str]
"""Names of the source domains and of the target domain."""
N_DIGITS = 6  # of a probability, in memory as in a file


@dataclass(frozen=True)
class LabelledTexts:
    """Texts of one domain and the codes of their classes."""

    texts: list[str]
    codes: Codes

    def digest(self, rows: Codes) -> str:
        """Return a digest of some of the texts and their classes."""
        digest = sha256()
        for row in rows.tolist():
            text = self.texts[row].encode("utf-8", "surrogatepass")
            digest.update(f"{self.codes[row]} {len(text)} ".encode() + text)
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class Case:
    """Documents of one or more source domains to learn from, and of a target domain to label."""

    source: tuple[str, ...]
    target: str
    source_rows: tuple[Codes, ...]
    target_rows: Codes
    repeat: int = 0

    @property
    def setting(self) -> str:
        """A name that all repeats of the case share."""
        return f"{' + '.join(self.source)} > {self.target}"

    @property
    def pair(self) -> Pair:
        """The domains, which identify the setting whatever characters their names contain."""
        return self.source, self.target


@dataclass(frozen=True)
class MethodAnswers:
    """A method's answers for the target documents of a case, with their cost."""

    method: str
    codes: Codes
    probabilities: Floats
    seconds: float
    memory: float | None
    """Peak bytes beyond the memory used before; None if the system does not report it."""


@dataclass(frozen=True)
class LabelledDomains:
    """Domains by name, and the classes of all domains that the codes refer to."""

    domains: Mapping[str, LabelledTexts]
    classes: list[Any]

    def sources(self, case: Case) -> list[tuple[LabelledTexts, Codes]]:
        """Return the source domains of a case, each with the rows that the case uses."""
        rows = zip(case.source, case.source_rows, strict=True)
        return [(self.domains[name], some) for name, some in rows]

    def truth(self, case: Case) -> Codes:
        """Return the true classes of the target documents, for scoring only."""
        return self.domains[case.target].codes[case.target_rows]

    def fingerprint(self, case: Case) -> str:
        """Return a digest of all documents and classes of a case."""
        parts = [*self.sources(case), (self.domains[case.target], case.target_rows)]
        digests = "".join(domain.digest(rows) for domain, rows in parts)
        return sha256(digests.encode()).hexdigest()[:16]


def make_cases(
    data: LabelledDomains, pairs: Sequence[Pair], *, repeats: int, seed: int
) -> list[Case]:
    """Return a case for each pair with all documents, or with ``repeats`` random halves of them.

    Halves keep the class proportions, and all pairs that share a domain share its halves.
    """
    rows: dict[tuple[str, int], Codes] = {}
    for number, (name, domain) in enumerate(data.domains.items()):
        rows[name, 0] = np.arange(len(domain.texts))
        for repeat in range(repeats):
            generator = np.random.default_rng([seed, repeat, number])
            rows[name, repeat] = draw_half(domain.codes, generator)
    cases = []
    for sources, target in pairs:
        for repeat in range(max(1, repeats)):
            source_rows = tuple(rows[name, repeat] for name in sources)
            cases.append(Case(sources, target, source_rows, rows[target, repeat], repeat))
    return cases


def check_cases(data: LabelledDomains, cases: Sequence[Case], methods: Sequence[str]) -> None:
    """Raise an error if a method cannot learn from a case, before any method starts."""
    for case in cases:
        codes = [domain.codes[rows] for domain, rows in data.sources(case)]
        n_classes = len(np.unique(np.concatenate(codes)))
        if n_classes < 2:
            raise InputError(
                f"{case.setting}: all source documents have one label; there is nothing to learn"
            )
        for name in methods:
            if n_classes != 2 and getattr(METHODS[name].make(), "two_classes", False):
                raise InputError(
                    f"{name} is defined for two classes; "
                    f"{case.setting} has {n_classes}: leave it out"
                )


def find_faults(data: LabelledDomains, cases: Sequence[Case]) -> list[str]:
    """Return warnings of likely mistakes: labels missing in the source, texts in both domains."""
    faults = []
    for case in cases:
        if case.repeat:
            continue
        sources = data.sources(case)
        known = {code for domain, rows in sources for code in domain.codes[rows].tolist()}
        truth = data.truth(case).tolist()
        if not known & set(truth):
            raise InputError(
                f"{case.setting}: no label of the target is one of the source; "
                f"{_names(data, truth)} there, {_names(data, known)} here"
            )
        missed = [code for code in truth if code not in known]
        if missed:
            faults.append(
                f"{case.setting}: {len(missed)} target documents have labels that the source "
                f"lacks ({_names(data, missed)}); all methods miss them"
            )
        texts = {domain.texts[row] for domain, rows in sources for row in rows.tolist()}
        target = data.domains[case.target].texts
        copies = sum(target[row] in texts for row in case.target_rows.tolist())
        if copies:
            faults.append(
                f"{case.setting}: {copies} of {len(truth)} target documents are also in the "
                "source, word for word"
            )
    return faults


def _names(data: LabelledDomains, codes: Any) -> str:
    return ", ".join(sorted({str(data.classes[code]) for code in codes})[:5])


def warm_up(methods: Sequence[str]) -> None:
    """Let each method label a few texts, so that imports and compiled code are loaded."""
    texts = ["a good pan", "a bad pan", "good knives", "bad knives"] * 6
    codes = np.arange(24, dtype=np.intp) % 2
    for method in methods:
        with suppress(GramshiftError, ValueError):  # some methods need more texts
            _ = fit_method(method, texts, codes, texts[:8]).transduction_proba_


def draw_half(codes: Codes, generator: np.random.Generator) -> Codes:
    """Return the sorted rows of a random half of each class, rounded up."""
    chosen = []
    for code in np.unique(codes).tolist():
        of_class = np.flatnonzero(codes == code)
        chosen.append(generator.choice(of_class, (len(of_class) + 1) // 2, replace=False))
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.intp)


def every_pair(names: Sequence[str]) -> list[Pair]:
    """Return all pairs of a source domain and another target domain."""
    return [((source,), target) for source, target in permutations(names, 2)]


def answer(data: LabelledDomains, case: Case, method: str, **options: Any) -> MethodAnswers:
    """Return a method's labels and probabilities for the target; it gets no true target label."""
    sources = data.sources(case)
    texts = [domain.texts[row] for domain, rows in sources for row in rows.tolist()]
    codes = np.concatenate([domain.codes[rows] for domain, rows in sources])
    target = [data.domains[case.target].texts[row] for row in case.target_rows.tolist()]
    begun = time.perf_counter()
    with peak_memory() as used:
        classifier = fit_method(method, texts, codes, target, **options)
        labels = np.asarray(classifier.transduction_, np.intp)
        known = classifier.transduction_proba_
    seconds = time.perf_counter() - begun
    probabilities = np.zeros((len(target), len(data.classes)))
    probabilities[:, np.unique(codes)] = np.round(known, N_DIGITS)
    return MethodAnswers(method, labels, probabilities, seconds, used[0])


def fit_method(
    method: str,
    texts: list[str],
    codes: Codes,
    target: list[str],
    *,
    source_only: bool = False,
    **options: Any,
) -> Any:
    """Fit a method on labelled source texts and unlabelled target texts.

    With ``source_only`` the method's own classifier is fitted, without adaptation.
    """
    classifier = METHODS[method].make(source_only=source_only, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # the comparison counts mistakes instead
        return classifier.fit(texts, codes, target=target)


CLEAR_REFS = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")


@contextmanager
def peak_memory() -> Iterator[list[float | None]]:
    """Measure the peak memory of this process beyond the memory used before, on Linux only."""
    used: list[float | None] = [None]
    release_freed_memory()  # memory that was freed would be used again without being counted
    try:
        CLEAR_REFS.write_text("5")  # resets the recorded peak
        before = psutil.Process().memory_info().rss
    except OSError:
        before = None
    yield used
    if before is not None:
        used[0] = max(0.0, 1024.0 * _peak_kib() - before)


def _peak_kib() -> int:
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1])
