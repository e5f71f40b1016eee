"""Drawing a sample from documents that come one after another."""

import numpy as np
import pytest

from gramshift.commands.classify.reservoir import BATCH_DOCUMENTS, Reservoir


def draw(n, size, seed, at_a_time=10_000):
    reservoir, numbers = Reservoir(size, seed), list(map(str, range(n)))
    for start in range(0, n, at_a_time):
        reservoir.add(numbers[start : start + at_a_time])
        assert len(reservoir.take()[0]) <= size  # no more is ever held
    assert reservoir.n_seen == n
    return reservoir.take()


@pytest.mark.parametrize(
    ("n", "size", "seed"),
    [
        (10, 4, 0),
        (BATCH_DOCUMENTS * 2 + 5, 1000, 7),
        (BATCH_DOCUMENTS + 3, BATCH_DOCUMENTS + 1, 1),
        (5, 9, 0),
        (0, 3, 0),
    ],
)
def test_a_sample_has_as_many_documents_as_asked_for_however_they_come(n, size, seed):
    rows, texts = draw(n, size, seed)
    assert texts == list(map(str, rows))
    assert rows == sorted(set(rows))
    assert len(rows) == min(n, size)
    assert (rows, texts) == draw(n, size, seed, at_a_time=7001)


def test_every_document_has_the_same_chance():
    counts = np.bincount(
        np.concatenate([draw(20, 5, seed)[0] for seed in range(400)]), minlength=20
    )
    assert counts.sum() == 2000
    assert np.abs(counts - 100).max() < 45  # five standard deviations


def test_the_seed_decides():
    assert draw(1000, 10, 0) == draw(1000, 10, 0) != draw(1000, 10, 1)
