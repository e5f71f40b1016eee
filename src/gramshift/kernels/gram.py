"""The computation of a kernel matrix: prepare the kernel, plan tiles, fill every tile once."""

import logging
import math
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.files import replaced_file
from gramshift.kernels.kernel import Job, Kernel
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighting import Weighting
from gramshift.memory import in_words, release_freed_memory, size_in_words
from gramshift.ngrams.index import MAX_INDEX
from gramshift.runtime import Runtime
from gramshift.text.encode import Encoded, encode

Tile = tuple[slice, slice]
log = logging.getLogger("gramshift")
MIRROR_COLUMNS = 128  # transposed at a time, within the cache
ANNOUNCED_SECONDS = 20.0  # a kernel matrix that takes longer is announced before it is computed
ON_DISK_ADVICE = "raise the limit, or compare fewer documents at a time"
IN_MEMORY_ADVICE = (
    "raise memory_limit, write it to disk with out='gram.npy', or compare with fewer documents: "
    "gram(docs, others)"
)


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
    """Return the kernel matrix of prepared texts with each other or with ``others``.

    It has int64 counts, or float64 if it is normalised or the kernel does not count. ``parameters``
    are those that only this kind of kernel has. Weights of n-grams come from the documents of the
    columns. With ``out`` the matrix is written tile by tile into that .npy file and returned as a
    read-only memory map.
    """
    begun, runtime = time.perf_counter(), runtime.pinned()
    shape = len(texts), len(texts if others is None else others)
    title = f"a kernel matrix of {shape[0]} x {shape[1]} documents"
    in_memory = 8 * shape[0] * shape[1] if out is None else 0

    def require(n_bytes: int, contents: str = ", with its index,") -> None:
        advice = IN_MEMORY_ADVICE if out is None else ON_DISK_ADVICE
        runtime.require(title + contents, in_memory + n_bytes, advice)

    require(0, "")
    dtype = np.int64 if KERNELS[kind].counts and weighting is None and not normalize else np.float64
    if 0 in shape:
        with _open_target(out, shape, dtype) as gram:
            return gram if out is None else np.empty(shape, dtype)

    encoded = encode([*others, *texts] if others is not None else texts)
    ngram_range = clip_range(encoded, kind, ngram_range)
    require(KERNELS[kind].estimate(encoded, ngram_range), ", with its index (estimated),")
    n_cols = None if others is None else shape[1]
    parameters = KERNELS[kind].defaults if parameters is None else parameters
    run = partial(runtime.run, stage=KERNELS[kind].stage)
    kernel = KERNELS[kind].make_ready(
        Job(encoded, n_cols, ngram_range, normalize, parameters, run, require, weighting)
    )
    del encoded
    release_freed_memory()

    plan = kernel.plan(runtime.memory - in_memory - kernel.nbytes, runtime.n_threads)
    if runtime.tile is not None:
        plan = replace(plan, height=runtime.tile[0], width=runtime.tile[1])
    require(kernel.nbytes + plan.nbytes)
    _announce_time(f"{title} by {kind}", kernel.seconds / runtime.n_threads, runtime.n_threads)
    kernel.begin(run)
    with _open_target(out, shape, dtype) as gram:
        work = list(tiles(*kernel.shape, plan.height, plan.width, symmetric=kernel.symmetric))
        fill = partial(_fill_tile, kernel, np.asarray(gram), normalize)
        runtime.run(fill, work, stage="gram", n_threads=plan.n_threads)
    size = size_in_words(8 * shape[0] * shape[1])
    seconds = time.perf_counter() - begun
    log.debug("%s by %s: %s, %.2f s, tiles: %d", title, kind, size, seconds, len(work))
    return gram if out is None else np.load(out, mmap_mode="r")


def _open_target(
    out: str | os.PathLike[str] | None, shape: tuple[int, int], dtype: Any
) -> AbstractContextManager[NDArray[Any]]:
    """Return the matrix to fill, in memory or as a file that replaces ``out`` when it is whole."""
    return nullcontext(np.empty(shape, dtype)) if out is None else npy_file(out, shape, dtype)


@contextmanager
def npy_file(
    path: str | os.PathLike[str], shape: tuple[int, int], dtype: Any
) -> Iterator[NDArray[Any]]:
    """Open a memory-mapped .npy file that gets its name when it is complete.

    Its space is reserved first, so that a full disk is an error before any work.
    """
    with replaced_file(path) as file:
        head = {
            "descr": npy.dtype_to_descr(np.dtype(dtype)),
            "fortran_order": False,
            "shape": shape,
        }
        npy.write_array_header_1_0(file, head)
        file.flush()
        if 0 in shape:  # nothing to map
            yield np.empty(shape, dtype)
            return
        offset = file.tell()
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, offset + n_bytes)
        array = np.memmap(file, dtype, "r+", offset, shape)
        yield array
        array.flush()


def _announce_time(what: str, seconds: float, n_threads: int) -> None:
    """Log the estimated time of a long computation before it starts."""
    if 0 < seconds >= ANNOUNCED_SECONDS:
        threads = "1 thread" if n_threads == 1 else f"{n_threads} threads"
        log.warning("gramshift: %s will take roughly %s on %s", what, in_words(seconds), threads)


def tiles(
    n_rows: int, n_cols: int, height: int, width: int, *, symmetric: bool = False
) -> Iterator[Tile]:
    """Yield rectangles (rows, columns) that cover every cell once.

    Of a symmetric matrix they cover the lower triangle, with the diagonal in whole squares. The
    largest strips, at the bottom of the triangle, come first, so that threads finish together.
    """
    for start in reversed(range(0, n_rows, height)):
        stop = min(start + height, n_rows)
        end = stop if symmetric else n_cols
        # the last tile of a strip must not begin inside its diagonal square
        last = start if symmetric else n_cols - 1
        edges = [*range(0, last + 1, width), end]
        for left, right in pairwise(edges):
            yield slice(start, stop), slice(left, right)


def _fill_tile(kernel: Kernel, gram: NDArray[Any], normalize: bool, tile: Tile) -> None:
    """Fill one tile of the matrix, and its mirror image if the matrix is symmetric."""
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
    """Return an upper bound of the kernel of documents with up to ``longest`` characters."""
    return (longest**2 if kind == "spectrum" else longest) * (ngram_range[1] - ngram_range[0] + 1)


def clip_range(encoded: Encoded, kind: str, ngram_range: tuple[int, int]) -> tuple[int, int]:
    """Return the range, cut off at the length of the longest document.

    Raise an error if counts might not fit into 64 bits.
    """
    if encoded.codes.size > MAX_INDEX:
        raise InputError(
            f"the documents have {encoded.codes.size} characters; one kernel matrix can hold "
            f"{MAX_INDEX} at most"
        )
    lo, hi = ngram_range
    longest = int(encoded.lengths.max(initial=0))
    if most_shared(longest, kind, (lo, min(hi, longest))) >= 2**63:
        raise InputError(
            f"a document of {longest} characters has too many n-grams for exact 64-bit counts; "
            "cut it up"
        )
    if encoded.n_docs and longest < lo:
        message = f"ngram_range={ngram_range}: no document has {lo} characters "
        message += f"(the longest has {longest})"
        message += ", the kernel matrix is all zeros"
        warnings.warn(message, UserWarning, stacklevel=_depth_of_the_user())
        return lo, lo
    return lo, max(lo, min(hi, longest))


def _depth_of_the_user() -> int:
    """Return the ``stacklevel`` of a warning that shall point to the line of the user's code."""
    depth, frame = 1, sys._getframe(1)
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == "gramshift"
    ):
        depth, frame = depth + 1, frame.f_back
    return depth
