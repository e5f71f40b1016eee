"""Computing a gram: index, plan, then every tile once."""

import logging
import os
import time
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.engine.memory import free_memory, give_back, human, parse_bytes
from gramshift.engine.plan import Plan, plan_tiles, require
from gramshift.engine.storage import npy_file
from gramshift.engine.threads import Progress, count_threads, run_threads
from gramshift.engine.tiles import tiles
from gramshift.kernels.shared import SharedNGrams
from gramshift.kernels.weighted import WeightedNGrams
from gramshift.kernels.weighting import Weighting, weigh_ngrams
from gramshift.ngrams.incidence import build_incidence
from gramshift.ngrams.index import MAX_CHARS, build_index, estimate_index
from gramshift.text.encode import Encoded, encode

log = logging.getLogger("gramshift")
MIRROR = 128  # a piece that is transposed within the cache


def compute_gram(
    texts: Sequence[str],
    others: Sequence[str] | None = None,
    *,
    kind: str,
    ngram_range: tuple[int, int],
    weighting: Weighting | None = None,
    normalize: bool = False,
    out: str | os.PathLike[str] | None = None,
    memory_limit: int | float | str | None = None,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """The gram of prepared texts with each other or with ``others``: int64 counts, or float64 if normalised or weighted.

    Weights of n-grams come from the documents of the columns. With ``out`` it is written tile by tile into that .npy file and
    comes back as a read-only memory map.
    """
    begun, n_threads = time.perf_counter(), count_threads(n_jobs)
    limit = free_memory() if memory_limit is None else parse_bytes(memory_limit)
    shape = len(texts), len(texts if others is None else others)
    what = f"a gram of {shape[0]} x {shape[1]} documents"
    advice = "raise the limit, or compare fewer documents at a time"
    if out is None:
        advice = "raise memory_limit, write it to disk with out='gram.npy', or compare with fewer documents: gram(docs, others)"
    in_memory = 8 * shape[0] * shape[1] if out is None else 0
    require(what, in_memory, limit, advice)
    if 0 in shape:
        return _empty_gram(shape, normalize or weighting is not None, out)
    encoded = encode([*others, *texts] if others is not None else texts)
    ngram_range = clip_range(encoded, kind, ngram_range)
    require(f"{what}, with its index (estimated),", in_memory + estimate_index(encoded, kind, ngram_range), limit, advice)

    run = partial(run_threads, n_threads=n_threads, stage="index", progress=progress)
    n_cols = None if others is None else shape[1]

    def check_size(n_bytes: int) -> None:
        require(f"{what}, with its index,", in_memory + n_bytes, limit, advice)

    kernel: SharedNGrams | WeightedNGrams
    if weighting is None:
        index = build_index(encoded, kind=kind, ngram_range=ngram_range, n_cols=n_cols, run=run, check_size=check_size)
        kernel = SharedNGrams(index)
    else:
        incidence = build_incidence(encoded, ngram_range=ngram_range, run=run, check_size=check_size)
        kernel = weigh_ngrams(incidence, weighting, n_cols=n_cols)
    del encoded
    give_back()
    plan = plan_tiles(*shape, n_threads=n_threads, budget=limit - in_memory - kernel.nbytes)
    require(f"{what}, with its index,", in_memory + kernel.nbytes + plan.nbytes, limit, advice)

    target: AbstractContextManager[NDArray[Any]]
    dtype = np.float64 if normalize else kernel.dtype
    target = npy_file(out, shape, dtype) if out is not None else nullcontext(np.empty(shape, dtype))
    with target as gram:
        n_tiles = fill_gram(kernel, np.asarray(gram), plan, normalize=normalize, progress=progress)
    log.info("%s %s: %s in %d tiles, %.2f s", what, kind, human(8 * shape[0] * shape[1]), n_tiles, time.perf_counter() - begun)
    return gram if out is None else np.load(out, mmap_mode="r")


def _empty_gram(shape: tuple[int, int], floats: bool, out: str | os.PathLike[str] | None) -> NDArray[Any]:
    gram = np.empty(shape, np.float64 if floats else np.int64)
    if out is not None:
        with npy_file(out, shape, gram.dtype):
            pass
    return gram


def fill_gram(
    kernel: SharedNGrams | WeightedNGrams,
    gram: NDArray[Any],
    plan: Plan,
    *,
    normalize: bool = False,
    progress: Progress | None = None,
) -> int:
    """Every tile once, on threads; return how many there are."""
    work = list(tiles(*kernel.shape, plan.height, plan.width, symmetric=kernel.symmetric))
    fill = partial(_fill_tile, kernel, gram, normalize)
    run_threads(fill, work, n_threads=plan.n_threads, stage="gram", progress=progress)
    return len(work)


def _fill_tile(kernel: SharedNGrams | WeightedNGrams, gram: NDArray[Any], normalize: bool, tile: tuple[slice, slice]) -> None:
    """Fill one tile of the gram, and its mirror image in a symmetric one."""
    rows, cols = tile
    kernel.fill(rows, cols, gram.view(kernel.dtype))
    if normalize:
        kernel.normalize(rows, cols, gram.view(kernel.dtype))
    if kernel.symmetric:
        for left in range(cols.start, min(cols.stop, rows.start), MIRROR):
            right = min(left + MIRROR, cols.stop, rows.start)
            gram[left:right, rows] = gram[rows, left:right].T


def clip_range(encoded: Encoded, kind: str, ngram_range: tuple[int, int]) -> tuple[int, int]:
    """No n-gram is longer than the longest document; also refuse what would not fit into the counters."""
    if encoded.codes.size > MAX_CHARS:
        raise ValueError(f"the documents have {encoded.codes.size} characters; one gram can hold {MAX_CHARS} at most")
    lo, hi = ngram_range
    longest = int(encoded.lengths.max(initial=0))
    if (longest**2 if kind == "spectrum" else longest) * (min(hi, longest) - lo + 1) >= 2**63:
        raise ValueError(f"a document of {longest} characters has too many n-grams for exact 64-bit counts; cut it up")
    if encoded.n_docs and longest < lo:
        message = (
            f"ngram_range={ngram_range}: no document has {lo} characters (the longest has {longest}), the gram is all zeros"
        )
        warnings.warn(message, UserWarning, stacklevel=4)
        return lo, lo
    return lo, max(lo, min(hi, longest))
