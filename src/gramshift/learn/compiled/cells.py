"""Leaves that convert cells of a kernel matrix to K-hat or K-tilde on the fly.

K-hat of row i and column j is values[i, j] * row_scale[i] * col_scale[j]; K-tilde is exp(-1 +
K-hat). Neither is ever stored in double precision.
"""

from math import exp, factorial

import numpy as np

from gramshift.compiling import compiled

TAYLOR = [
    exp(-1.0) / factorial(power) for power in range(18)
]  # of exp(-1 + x), right to rounding for x from -1 to 1
C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17 = TAYLOR
MAX_SERIES_ARGUMENT = 0.25  # up to here twelve terms do: the next is below 1.3e-16 of the sum
PIECE = 512  # cells that are transformed at once and stay in the first cache


def for_grams(signature: str) -> list[str]:
    """Return the signature for all types of a kernel matrix."""
    return [f"void({gram}[:, ::1], {signature})" for gram in ("int32", "int64", "float64")]


@compiled(
    *for_grams("float64[::1], float64[::1], int64, int64, int64, boolean, float64[::1]"),
    reorder=True,
)
def transform_cells(values, row_scale, col_scale, i, start, stop, adapt, cells):
    """cells[:stop - start] = K-tilde of row i, columns start to stop; K-hat if not ``adapt``.

    The power series is written out and cut in two, because the compiler then works on several cells
    at once; if all similarities are small, as most are, a shorter one is enough.
    """
    factor = row_scale[i]
    start, size = np.uint64(start), np.uint64(stop - start)
    above = 0
    for t in range(size):
        x = values[i, start + t] * (factor * col_scale[start + t])
        above += (x > MAX_SERIES_ARGUMENT) | (x < -MAX_SERIES_ARGUMENT)
        cells[t] = x
    if not adapt:
        return
    if above == 0:
        for t in range(size):
            x = cells[t]
            low = C0 + x * (C1 + x * (C2 + x * (C3 + x * (C4 + x * C5))))
            high = C6 + x * (C7 + x * (C8 + x * (C9 + x * (C10 + x * C11))))
            cube = x * x * x
            cells[t] = low + high * (cube * cube)
        return
    for t in range(size):
        x = cells[t]
        low = C0 + x * (
            C1 + x * (C2 + x * (C3 + x * (C4 + x * (C5 + x * (C6 + x * (C7 + x * C8))))))
        )
        high = C9 + x * (
            C10 + x * (C11 + x * (C12 + x * (C13 + x * (C14 + x * (C15 + x * (C16 + x * C17))))))
        )
        cube = x * x * x
        cells[t] = low + high * (cube * cube * cube)


@compiled(
    *for_grams("float64[::1], float64[::1], boolean, int64[::1], float64[:, ::1], float64[:, ::1]"),
    reorder=True,
)
def multiply_cells(values, row_scale, col_scale, adapt, rows, vectors, out):
    """out[a, c] = sum over all columns j of cell(rows[a], j) * vectors[c, j]."""
    cells = np.empty(PIECE)
    n = values.shape[1]
    for a in range(rows.size):
        for c in range(vectors.shape[0]):
            out[a, c] = 0.0
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            transform_cells(values, row_scale, col_scale, rows[a], start, stop, adapt, cells)
            first, size = (
                np.uint64(start),
                np.uint64(stop - start),
            )  # unsigned: no index is counted from the end
            for c in range(vectors.shape[0]):
                total = 0.0
                for t in range(size):
                    total += cells[t] * vectors[c, first + t]
                out[a, c] += total


@compiled(
    *for_grams("float64[::1], float64[::1], boolean, int64[::1], float64[:, ::1], float64[:, ::1]"),
    reorder=True,
)
def gather_cells(values, row_scale, col_scale, adapt, rows, weights, out):
    """out[c, j] = sum over a of weights[a, c] * cell(rows[a], j)."""
    cells = np.empty(PIECE)
    n = values.shape[1]
    out[:] = 0.0
    for a in range(rows.size):
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            transform_cells(values, row_scale, col_scale, rows[a], start, stop, adapt, cells)
            first, size = np.uint64(start), np.uint64(stop - start)
            for c in range(weights.shape[1]):
                weight = weights[a, c]
                for t in range(size):
                    out[c, first + t] += weight * cells[t]


@compiled(
    *for_grams("float64[::1], float64[::1], boolean, int64[::1], float32[:, ::1], float64[::1]"),
    reorder=True,
)
def fill_cells(values, row_scale, col_scale, adapt, rows, out, means):
    """out[a, j] = cell(rows[a], j) in single precision; if ``adapt``, minus the mean means[a]."""
    n = values.shape[1]
    cells = np.empty(n)
    for a in range(rows.size):
        transform_cells(values, row_scale, col_scale, rows[a], 0, n, adapt, cells)
        mean = 0.0
        if adapt:
            for j in range(n):
                mean += cells[j]
            mean /= n
        means[a] = mean
        for j in range(n):
            out[a, j] = cells[j] - mean


@compiled(*for_grams("float64[::1], float64[::1], int64[::1], float64, int64[::1]"))
def find_copies(values, scale, own, rows, least, first):
    """first[i] = the first document before i with nearly the same K-hat, else i.

    Nearly: at least ``least`` of the larger of own[i] and own[j].
    """
    for i in rows:
        first[i] = i
        for j in range(i):
            if values[i, j] * (scale[i] * scale[j]) >= least * max(own[i], own[j]):
                first[i] = j
                break


@compiled(*for_grams("float64[::1], int64[::1], float64, int64[::1]"))
def find_faults(values, scale, rows, tolerance, fault):
    """Store an impossible cell of ``rows`` in fault[:2], and the reason in fault[2].

    Reasons: 1 not finite, 2 not symmetric, 3 too large. Blocks of 64 columns keep the mirrored
    cells in the cache.
    """
    n = values.shape[0]
    for block in range(0, n, 64):
        for i in rows:
            for j in range(block, min(block + 64, i + 1)):
                value, mirror = np.float64(values[i, j]), np.float64(values[j, i])
                kind = 0
                if not (np.isfinite(value) and np.isfinite(mirror)):
                    kind = 1
                elif abs(value - mirror) > tolerance * max(abs(value), abs(mirror)):
                    kind = 2
                elif abs(value) * (scale[i] * scale[j]) > 1.0 + tolerance or (
                    scale[i] * scale[j] == 0 and value != 0
                ):
                    kind = 3
                if kind:
                    fault[0], fault[1], fault[2] = i, j, kind
                    return
