"""What a fit takes is estimated to within 30 % of peaks that were measured on a machine of 2 cores."""

from dataclasses import replace

import pytest

from gramshift.runtime.budget import BASE, Work, estimate_exact, estimate_linear

SIZES = {"adapts": True, "jobs": 2}
OFF = 0.3  # how far an estimate may be off
MEASURED = [  # the kind of fit, its size, and the peak in bytes
    (estimate_linear, Work(1000, 1000, 1000, n_characters=1_957_175, n_lengths=6, n_trainings=10, **SIZES), 490_209_280),
    (estimate_linear, Work(8000, 8000, 8000, n_characters=16_143_535, n_lengths=6, n_trainings=10, **SIZES), 980_074_496),
    (estimate_exact, Work(2500, 2500, 1000, n_characters=5_084_236, n_lengths=4, **SIZES), 727_293_952),
]


@pytest.mark.parametrize(("estimate", "work", "peak"), MEASURED)
def test_estimates_are_near_what_was_measured(estimate, work, peak):
    assert abs(estimate(work).n_bytes / peak - 1) <= OFF


@pytest.mark.parametrize("estimate", [estimate_linear, estimate_exact])
def test_long_labels_are_seen(estimate):
    """Arrays have room for the longest label in every row, and there are some of them."""
    work = Work(n_source=10_000, n_target=10_000, n_added=0, n_characters=10**6, n_lengths=3, adapts=False)
    usual, few, long = (estimate(replace(work, label_characters=n)).n_bytes for n in (0, 20, 1000))
    assert usual == few
    assert long - usual > 2 * 4 * 900 * work.n_target


@pytest.mark.parametrize("estimate", [estimate_exact, estimate_linear])
def test_a_page_with_a_long_text_takes_what_that_text_takes(estimate):
    """Twenty texts of a megabyte took 2 GB more than was told; each is explained by itself, at up to 320 bytes a character."""
    short = Work(20, 2000, n_added=1000, n_characters=2_000_000, n_lengths=4, n_explained=2000, longest=1000, **SIZES)
    long = replace(short, n_target=20, n_added=10, n_explained=20, longest=1_000_000)
    without = replace(long, n_explained=0, longest=0)
    assert estimate(long).n_bytes >= max(BASE + 320 * 10**6, estimate(without).n_bytes)
    assert estimate(replace(long, longest=3_000_000)).n_bytes >= BASE + 3 * 320 * 10**6
