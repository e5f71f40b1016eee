"""The leaf that turns counts and other values into similarities between 0 and 1."""

import numpy as np

from gramshift.leaf import leaf


@leaf(*(f"void({of}[::1], {of}[::1], int64, int64, int64, int64, {of}[:, ::1])" for of in ("int64", "float64")))
def normalize_tile(row_values, col_values, row0, row1, col0, col1, gram):
    """Replace gram[i, j] by the float64 gram[i, j] / sqrt(row_values[i] * col_values[j]); a zero self-kernel gives zero."""
    floats = gram.view(np.float64)
    for i in range(row0, row1):
        row_value = np.float64(row_values[i])
        for j in range(col0, col1):
            scale = row_value * np.float64(col_values[j])
            floats[i, j] = gram[i, j] / np.sqrt(scale) if scale > 0 else 0.0
