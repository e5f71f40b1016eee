import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gramshift.kernels.gram import tiles

sizes = st.integers(1, 12)


@given(sizes, sizes, sizes, sizes)
def test_every_cell_is_written_once(n, m, height, width):
    written = np.zeros((n, m), int)
    for rows, cols in tiles(n, m, height, width):
        written[rows, cols] += 1
    assert (written == 1).all()


@given(sizes, sizes, sizes)
def test_a_symmetric_gram_is_written_once_with_its_mirror_image(n, height, width):
    written = np.zeros((n, n), int)
    for rows, cols in tiles(n, n, height, width, symmetric=True):
        assert cols.stop <= rows.start or (cols.start <= rows.start and cols.stop == rows.stop)
        written[rows, cols] += 1
        written[cols.start : min(cols.stop, rows.start), rows] += 1
    assert (written == 1).all()


def test_nothing_to_cut():
    assert list(tiles(0, 0, 5, 5, symmetric=True)) == list(tiles(0, 3, 5, 5)) == []
