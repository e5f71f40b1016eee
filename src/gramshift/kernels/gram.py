"""Computing a gram: index, plan, then every tile once."""

import logging
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.kernel import Job, Kernel
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.index import MAX_CHARS
from gramshift.runtime.memory import give_back, human, in_words
from gramshift.runtime.replacing import npy_file
from gramshift.runtime.resources import Runtime
from gramshift.text.encode import Encoded, encode

Tile = tuple[slice, slice]
log = logging.getLogger("gramshift")
MIRROR_COLUMNS = 128  # that are transposed within the cache
ANNOUNCED_SECONDS = 20.0  # a kernel matrix that takes longer is announced before it is computed


def compute_gram(
    texts: Sequence[str],
    others: Sequence[str] | None = None,
    *,
    runtime: Runtime,
    kind: str,
    ngram_range: tuple[int, int],
    parameters: Mapping[str, Any] | None = None,
    weighting: Weighting | None = None,
    normalize: bool = False,
    out: str | os.PathLike[str] | None = None,
) -> NDArray[Any]:
    """The gram of prepared texts with each other or with ``others``: int64 counts, else float64 if normalised or no counts.

    ``parameters`` are those that only this kind of kernel has; weights of n-grams come from the documents of the columns.
    With ``out`` the gram is written tile by tile into that .npy file and comes back as a read-only memory map.
    """
    begun, runtime = time.perf_counter(), runtime.pinned()
    shape = len(texts), len(texts if others is None else others)
    what = f"a kernel matrix of {shape[0]} x {shape[1]} documents"
    advice = "raise the limit, or compare fewer documents at a time"
    if out is None:
        advice = "raise memory_limit, write it to disk with out='gram.npy', or compare with fewer documents: gram(docs, others)"
    in_memory = 8 * shape[0] * shape[1] if out is None else 0
    runtime.require(what, in_memory, advice)
    dtype = np.int64 if KERNELS[kind].counts and weighting is None and not normalize else np.float64
    if 0 in shape:
        return _empty_gram(shape, dtype, out)
    encoded = encode([*others, *texts] if others is not None else texts)
    ngram_range = clip_range(encoded, kind, ngram_range)
    estimated = KERNELS[kind].estimate(encoded, ngram_range)
    runtime.require(f"{what}, with its index (estimated),", in_memory + estimated, advice)

    run = partial(runtime.run, stage=KERNELS[kind].stage)

    def check_size(n_bytes: int) -> None:
        runtime.require(f"{what}, with its index,", in_memory + n_bytes, advice)

    n_cols = None if others is None else shape[1]
    parameters = KERNELS[kind].defaults if parameters is None else parameters
    kernel = KERNELS[kind].make_ready(Job(encoded, n_cols, ngram_range, normalize, parameters, run, check_size, weighting))
    del encoded
    give_back()
    n_threads = runtime.n_threads
    plan = kernel.plan(runtime.memory - in_memory - kernel.nbytes, n_threads)
    if runtime.tile is not None:
        plan = replace(plan, height=runtime.tile[0], width=runtime.tile[1])
    runtime.require(f"{what}, with its index,", in_memory + kernel.nbytes + plan.nbytes, advice)
    seconds = kernel.seconds / n_threads
    if 0 < seconds >= ANNOUNCED_SECONDS:
        threads = "1 thread" if n_threads == 1 else f"{n_threads} threads"
        log.warning("gramshift: %s by %s will take roughly %s on %s", what, kind, in_words(seconds), threads)
    kernel.begin(run)

    target: AbstractContextManager[NDArray[Any]]
    target = npy_file(out, shape, dtype) if out is not None else nullcontext(np.empty(shape, dtype))
    with target as gram:
        work = list(tiles(*kernel.shape, plan.height, plan.width, symmetric=kernel.symmetric))
        fill = partial(_fill_tile, kernel, np.asarray(gram), normalize)
        runtime.run(fill, work, stage="gram", n_threads=plan.n_threads)
    size, seconds = human(8 * shape[0] * shape[1]), time.perf_counter() - begun
    log.info("%s %s: %s in %d tiles, %.2f s", what, kind, size, len(work), seconds)
    return gram if out is None else np.load(out, mmap_mode="r")


def _empty_gram(shape: tuple[int, int], dtype: Any, out: str | os.PathLike[str] | None) -> NDArray[Any]:
    gram = np.empty(shape, dtype)
    if out is not None:
        with npy_file(out, shape, gram.dtype):
            pass
    return gram


def tiles(n_rows: int, n_cols: int, height: int, width: int, *, symmetric: bool = False) -> Iterator[Tile]:
    """Return rectangles that cover every cell once; of a symmetric gram the lower triangle, with the diagonal in whole squares.

    The costliest come first (the lowest strips of a triangle), so that threads finish together.
    """
    for start in reversed(range(0, n_rows, height)):
        stop = min(start + height, n_rows)
        end = stop if symmetric else n_cols
        last = start if symmetric else n_cols - 1  # the last tile of a strip may not begin inside its diagonal square
        edges = [*range(0, last + 1, width), end]
        for left, right in pairwise(edges):
            yield slice(start, stop), slice(left, right)


def _fill_tile(kernel: Kernel, gram: NDArray[Any], normalize: bool, tile: Tile) -> None:
    """Fill one tile of the gram, and its mirror image in a symmetric one."""
    rows, cols = tile
    raw = gram.view(kernel.dtype)
    kernel.fill(rows, cols, raw)
    if normalize:
        kernel.normalize(rows, cols, raw)
    if kernel.symmetric:
        for left in range(cols.start, min(cols.stop, rows.start), MIRROR_COLUMNS):
            right = min(left + MIRROR_COLUMNS, cols.stop, rows.start)
            gram[left:right, rows] = gram[rows, left:right].T


def most_shared(longest: int, kind: str, ngram_range: tuple[int, int]) -> int:
    """A bound of what two documents of so many characters can count."""
    return (longest**2 if kind == "spectrum" else longest) * (ngram_range[1] - ngram_range[0] + 1)


def clip_range(encoded: Encoded, kind: str, ngram_range: tuple[int, int]) -> tuple[int, int]:
    """No n-gram is longer than the longest document; also refuse what would not fit into the counters."""
    if encoded.codes.size > MAX_CHARS:
        raise InputError(f"the documents have {encoded.codes.size} characters; one kernel matrix can hold {MAX_CHARS} at most")
    lo, hi = ngram_range
    longest = int(encoded.lengths.max(initial=0))
    if most_shared(longest, kind, (lo, min(hi, longest))) >= 2**63:
        raise InputError(f"a document of {longest} characters has too many n-grams for exact 64-bit counts; cut it up")
    if encoded.n_docs and longest < lo:
        message = f"ngram_range={ngram_range}: no document has {lo} characters (the longest has {longest})"
        message += ", the kernel matrix is all zeros"
        warnings.warn(message, UserWarning, stacklevel=_depth_of_the_user())
        return lo, lo
    return lo, max(lo, min(hi, longest))


def _depth_of_the_user() -> int:
    """The ``stacklevel`` with which a warning of our caller's points to the line that called the package."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gramshift":
        depth, frame = depth + 1, frame.f_back
    return depth
