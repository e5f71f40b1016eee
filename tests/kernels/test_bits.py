import numpy as np

from gramshift.kernels.compiled.bits import (
    BLOCK,
    CAPACITY,
    PLANES,
    WORDS,
    add_transposed,
    count_rows,
    read_counts,
)


def test_running_counts_are_sums_of_bits():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**63, (50, WORDS), dtype=np.uint64) | rng.integers(
        0, 2, (50, WORDS), dtype=np.uint64
    ) << np.uint64(63)
    rows = rng.integers(0, 50, CAPACITY).astype(np.uint32)
    rows.sort()
    planes, low, high = (
        np.zeros(PLANES * WORDS, np.uint64),
        np.zeros(BLOCK // 8, np.uint64),
        np.zeros(BLOCK // 8, np.uint64),
    )
    assert count_rows(bits, rows, 0, CAPACITY, 50, planes) == CAPACITY
    read_counts(planes, PLANES, low, high)
    counts = low.view(np.uint8).astype(int) + 256 * high.view(np.uint8).astype(int)
    expected = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[rows].sum(
        axis=0, dtype=int
    )
    assert counts.tolist() == expected.tolist()


def test_counting_stops_at_the_bound():
    bits, planes = np.zeros((40, WORDS), np.uint64), np.zeros(PLANES * WORDS, np.uint64)
    rows = np.repeat(np.arange(40, dtype=np.uint32), 16)
    assert count_rows(bits, rows, 0, rows.size, 25, planes) == 25 * 16
    assert count_rows(bits, rows, 16, 16 * 3 + 15, 40, planes) == 16 * 3


def test_adding_a_transposed_part():
    rng = np.random.default_rng(0)
    part, out = rng.integers(0, 9, (70, 45)), np.ones((60, 100), np.int64)
    add_transposed(part, 5, 20, out)
    expected = np.ones((60, 100), np.int64)
    expected[5:50, 20:90] += part.T
    assert (out == expected).all()
