"""Leaves that sum features kept as short lists of documents, and divide tiles by self-values."""

import numpy as np

from gramshift.compiling import compiled
from gramshift.ngrams.compiled.layout import HEADER, first_at_least


@compiled(
    "void(int64[::1], uint64[::1], uint16[::1], uint32[::1], int64, int64, int64, int64,"
    " boolean, int64[:, ::1])"
)
def add_lists(row_ptr, list_ref, list_factor, list_docs, row0, row1, col0, col1, cut, out):
    """Add times * factor * count to out[row, doc] for every list of the row.

    ``cut`` is True if the tile does not have all columns.
    """
    for row in range(row0, row1):
        cells = out[row]
        for k in range(row_ptr[row], row_ptr[row + 1]):
            head, stop = list_ref[k] & np.uint64(0xFFFFFFFF), list_ref[k] >> np.uint64(32)
            times = np.int64(list_docs[head]) | (np.int64(list_docs[head + np.uint64(1)]) << 32)
            start = head + np.uint64(HEADER)
            if cut:
                width = 1 if times > 0 else 2
                start = np.uint64(
                    first_at_least(list_docs, np.int64(start), np.int64(stop), width, col0)
                )
                stop = np.uint64(
                    first_at_least(list_docs, np.int64(start), np.int64(stop), width, col1)
                )
            if list_factor.size:
                times *= np.int64(list_factor[k])
            if times > 0:
                for p in range(start, stop):
                    cells[list_docs[p]] += times
            else:
                for p in range(start, stop, np.uint64(2)):
                    cells[list_docs[p]] -= times * np.int64(list_docs[p + np.uint64(1)])


@compiled(
    *(
        f"void({of}[::1], {of}[::1], int64, int64, int64, int64, {of}[:, ::1])"
        for of in ("int64", "float64")
    )
)
def normalize_tile(row_values, col_values, row0, row1, col0, col1, gram):
    """Replace gram[i, j] by the float64 gram[i, j] / sqrt(row_values[i] * col_values[j]).

    If a self-kernel is 0, the result is 0.
    """
    floats = gram.view(np.float64)
    for i in range(row0, row1):
        row_value = np.float64(row_values[i])
        for j in range(col0, col1):
            scale = row_value * np.float64(col_values[j])
            floats[i, j] = gram[i, j] / np.sqrt(scale) if scale > 0 else 0.0
