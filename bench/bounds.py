"""How near the two inner loops of a gram come to what one core can do on data that never leave its cache."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bench.corpus import NGRAM_RANGE, Texts
from bench.machine import seconds
from gramshift.grams.plan import cut
from gramshift.kernels.counting import SharedNGrams
from gramshift.kernels.leaves.bits import PLANES, WORDS, add_bits, count_rows
from gramshift.kernels.leaves.counting import add_lists
from gramshift.ngrams.index import NGramIndex, build_index
from gramshift.ngrams.leaves.layout import BLOCK, HEADER
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.text.encode import encode

HOT_ROWS = 256  # rows of 1024 bits: 32 KB
HOT_CELLS = 2048  # int64: 16 KB, a quarter of them incremented
Tiles = list[tuple[slice, slice]]


def measure_bounds(normalised: Texts, *, repeat: int, kind: str = "presence") -> dict[str, Any]:
    """Both loops, one thread, over a whole gram of the texts; best and achieved, and the share of the best in percent."""
    index = build_index(sort_ngrams(encode(normalised), NGRAM_RANGE), kind=kind)
    kernel = SharedNGrams(index)
    work = list(cut(kernel, kernel.plan(1 << 40, 1)))
    gram = np.zeros((index.n_rows, index.n_cols), np.int64)
    gram[:] = 1  # every page is there before the clock starts
    bits = min(seconds(lambda: run_bits(index, work, gram)) for _ in range(repeat))
    lists = min(seconds(lambda: run_lists(index, work, gram)) for _ in range(repeat))
    row_blocks, increments = count_row_blocks(index, work), count_increments(index)
    best_rate, best_ns = best_row_blocks(), best_increment() * 1e9
    rate, ns = row_blocks / bits, lists / max(1, increments) * 1e9
    return {
        "bits": {
            "row_blocks": row_blocks,
            "seconds": bits,
            "best_row_blocks_per_s": best_rate,
            "achieved_row_blocks_per_s": rate,
            "share_percent": 100 * rate / best_rate,
        },
        "lists": {
            "increments": increments,
            "increments_per_list": increments / max(1, index.list_ref.size),
            "seconds": lists,
            "best_ns_per_increment": best_ns,
            "achieved_ns_per_increment": ns,
            "share_percent": 100 * best_ns / ns if ns else 0.0,
        },
    }


def run_bits(index: NGramIndex, work: Tiles, gram: NDArray[np.int64]) -> None:
    """The rows of bits of all tiles."""
    for rows, cols in work:
        area = rows.start, rows.stop, cols.start, cols.stop
        add_bits(index.bit_ptr, index.bit_ref, index.bits, *area, 0, 0, gram)


def run_lists(index: NGramIndex, work: Tiles, gram: NDArray[np.int64]) -> None:
    """The lists of all tiles."""
    lists = index.list_ptr, index.list_ref, index.list_factor, index.list_docs
    for rows, cols in work:
        cut = cols.start > 0 or cols.stop < rows.stop
        add_lists(*lists, rows.start, rows.stop, cols.start, cols.stop, cut, gram)


def count_row_blocks(index: NGramIndex, work: Tiles) -> int:
    """A row of bits, 1024 columns wide, added for one document: how often that happens."""
    total = 0
    for rows, cols in work:
        n_blocks = -(-cols.stop // BLOCK) - cols.start // BLOCK
        total += n_blocks * int(index.bit_ptr[rows.stop] - index.bit_ptr[rows.start])
    return total


def count_increments(index: NGramIndex) -> int:
    """Cells that lists add to: a reference holds its start, with the header, in its low half and its stop in the high half."""
    starts, stops = index.list_ref & np.uint64(0xFFFFFFFF), index.list_ref >> np.uint64(32)
    return int((stops - starts).sum()) - HEADER * index.list_ref.size


def best_row_blocks() -> float:
    """Row blocks per second of the adder itself, on rows that stay in the cache."""
    bits = np.random.default_rng(0).integers(0, 1 << 63, (HOT_ROWS, WORDS), np.uint64)
    rows = np.tile(np.arange(HOT_ROWS, dtype=np.uint32), 64)
    planes = np.zeros(PLANES * WORDS, np.uint64)
    return rows.size / fastest(lambda: count_rows(bits, rows, 0, rows.size, HOT_ROWS, planes))


def best_increment() -> float:
    """Seconds for one increment, on cells that stay in the cache."""
    chosen = np.random.default_rng(0).choice(HOT_CELLS, HOT_CELLS // 4, replace=False)
    places, cells = np.sort(chosen).astype(np.uint32), np.zeros(HOT_CELLS, np.int64)
    return fastest(lambda: increment(places, cells, 100)) / (100 * places.size)


def fastest(function: Callable[[], Any]) -> float:
    """Seconds of the fastest of many short calls, half a second of them, so that other programs do not slow all of them."""
    end = time.perf_counter() + 0.5
    least = seconds(function)
    while time.perf_counter() < end:
        least = min(least, seconds(function))
    return least


@njit(nogil=True, error_model="numpy")
def increment(places, cells, rounds):  # type: ignore[no-untyped-def]
    """The loop of add_lists without lists."""
    for _ in range(rounds):
        for p in range(places.size):
            cells[places[p]] += 1
