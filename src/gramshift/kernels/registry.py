"""The table of all string kernels, with their parameters and how to prepare them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

from gramshift.errors import InputError, InputTypeError
from gramshift.kernels.counting import SharedNGrams, prepare_weighted
from gramshift.kernels.kernel import Job, Kernel
from gramshift.kernels.weighting import Powers, as_powers
from gramshift.ngrams.index import KINDS, build_index, estimate_index
from gramshift.text.encode import Encoded

MIN_DECAY = 1e-6
MAX_OFFSET = 2**31 - 1
MAX_NGRAM_LENGTH = 2**31 - 1  # no document has more characters


@dataclass(frozen=True)
class Parameter:
    """A parameter that belongs to some kernels only."""

    default: Any
    accepts: Callable[[Any], bool]
    rule: str


@dataclass(frozen=True)
class Kind:
    """A kind of kernel."""

    estimate: Callable[[Encoded, tuple[int, int]], int]
    """Estimates the bytes that preparing the kernel takes."""
    prepare: Callable[[Job], Kernel]
    weigh: Callable[[Job], Kernel] | None = None
    """Prepares the kernel with weights of n-grams; None if it cannot have weights."""
    own: tuple[str, ...] = ()
    counts: bool = False
    """True if values are sums over shared n-grams, which are whole numbers without weights."""
    stage: str = "index"
    """The name of its preparation in a progress bar."""

    def make_ready(self, job: Job) -> Kernel:
        """Prepare the kernel for a job, with weights if the job has them."""
        if job.weighting is None:
            return self.prepare(job)
        assert self.weigh is not None, "check_weighting comes first"
        return self.weigh(job)

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each of its own parameters."""
        return {name: PARAMETERS[name].default for name in self.own}


def check_ngram_range(value: Any) -> tuple[int, int]:
    """Return (lo, hi) with 1 <= lo <= hi, or raise an error that says what to type instead."""
    rule = "give two whole numbers (lo, hi) with 1 <= lo <= hi, for example (5, 8)"
    try:
        lo, hi = value
    except (TypeError, ValueError):
        hint = f"; for one length only: ({value}, {value})" if isinstance(value, Integral) else ""
        raise InputError(f"ngram_range={value!r}: {rule}{hint}") from None
    if any(isinstance(n, bool) or not isinstance(n, Integral) for n in (lo, hi)):
        whole = all(
            isinstance(n, float) and n.is_integer() for n in (lo, hi) if not isinstance(n, Integral)
        )
        raise InputTypeError(
            f"ngram_range={value!r}: {rule}"
            + (f"; did you mean ({int(lo)}, {int(hi)})?" if whole else "")
        )
    if lo > hi >= 1:
        raise InputError(f"ngram_range={value!r}: {rule}; did you mean ({hi}, {lo})?")
    if lo < 1:
        raise InputError(f"ngram_range={value!r}: {rule}")
    if hi > MAX_NGRAM_LENGTH:
        raise InputError(
            f"ngram_range={value!r}: n-grams have at most {MAX_NGRAM_LENGTH} characters; give "
            f"({min(lo, MAX_NGRAM_LENGTH)}, "
            f"{MAX_NGRAM_LENGTH})"
        )
    return int(lo), int(hi)


def check_parameters(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kernel's own parameters.

    Raise an error if one is wrong, or if one of another kernel is not at its default.
    """
    for name, value in given.items():
        parameter = PARAMETERS[name]
        if name in KERNELS[kind].own:
            if (
                isinstance(value, bool)
                or not isinstance(value, Real)
                or not parameter.accepts(value)
            ):
                raise InputError(
                    f"{name}={value!r}: {parameter.rule}, for example {parameter.default}"
                )
        elif value != parameter.default:
            owner = next(other for other in KERNELS if name in KERNELS[other].own)
            raise InputError(
                f"{name}={value!r}: kind={kind!r} has no {name}; leave it out, or choose "
                f"kind={owner!r}"
            )
    return {name: given[name] for name in KERNELS[kind].own}


def check_weighting(kind: str, value: Any) -> Powers | None:
    """Return the powers of a user's ``weighting``; raise an error if this kernel cannot have it."""
    powers = as_powers(value)
    if powers is not None and KERNELS[kind].weigh is None:
        able = ", ".join(repr(name) for name, one in KERNELS.items() if one.weigh is not None)
        raise InputError(f"weighting={value!r}: only for kind={able}, not for {kind!r}")
    return powers


def _count(kind: str, weigh: Callable[[Job], Kernel] | None = None) -> Kind:
    def prepare(job: Job) -> Kernel:
        index = build_index(
            job.ngrams, kind=kind, n_cols=job.n_cols, run=job.run, check_size=job.check_size
        )
        return SharedNGrams.of_index(index)

    return Kind(
        lambda texts, ngram_range: estimate_index(texts, kind, ngram_range),
        prepare,
        weigh,
        counts=True,
    )


def _load(module: str, name: str) -> Callable[..., Any]:
    """Return a function whose module, with its compiled code, is imported at the first call."""

    def call(*arguments: Any) -> Any:
        from importlib import import_module

        return getattr(import_module(f"gramshift.{module}"), name)(*arguments)

    return call


PARAMETERS = {
    "decay": Parameter(
        0.5,
        lambda value: MIN_DECAY <= value <= 1,
        f"give a number from {MIN_DECAY:g} to 1",
    ),
    "max_offset": Parameter(
        1000,
        lambda value: isinstance(value, Integral) and 1 <= int(value) <= MAX_OFFSET,
        f"give a whole number of characters from 1 to {MAX_OFFSET}",
    ),
    "sigma": Parameter(1.0, lambda value: isfinite(value) and value > 0, "give a number above 0"),
}
KERNELS = {kind: _count(kind) for kind in KINDS} | {
    "presence": _count("presence", prepare_weighted),
    "subsequence": Kind(
        _load("kernels.subsequence", "estimate_subsequence"),
        _load("kernels.subsequence", "prepare_subsequence"),
        own=("decay",),
        stage="diagonal",
    ),
    "local_rank": Kind(
        _load("kernels.local_rank", "estimate_occurrences"),
        _load("kernels.local_rank", "prepare_local_rank"),
        own=("max_offset", "sigma"),
    ),
}
