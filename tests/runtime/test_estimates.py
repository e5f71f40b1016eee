"""What a fit takes is estimated to within 30 % of what was measured: `python -m bench estimates`, whose figures stand here."""

from dataclasses import replace

import pytest

from bench.estimates import CASES, OFF
from gramshift.runtime.budget import BASE, Work, estimate_exact, estimate_landmarks, estimate_linear

SIZES = {"adapts": True, "jobs": 2}
MEASURED = [  # in the order of the cases: the size of the work, and the peak in bytes
    (Work(2000, 2000, n_added=1000, n_characters=4_040_691, n_lengths=4, **SIZES), 722_358_272),
    (Work(16_000, 16_000, n_added=1000, n_characters=32_165_204, n_lengths=4, **SIZES), 495_869_952),
    (Work(8000, 8000, n_added=8000, n_characters=16_143_535, n_lengths=6, n_trainings=10, **SIZES), 980_074_496),
    (Work(2500, 2500, n_added=1000, n_characters=5_084_236, n_lengths=4, **SIZES), 727_293_952),
    (Work(1000, 1000, n_added=1000, n_characters=1_957_175, n_lengths=6, n_trainings=10, **SIZES), 490_209_280),
    (Work(4000, 4000, n_added=1000, n_characters=8_087_829, n_lengths=4, **SIZES), 1_212_407_808),
]


@pytest.mark.parametrize(("case", "work", "peak"), [(case, *found) for case, found in zip(CASES, MEASURED, strict=True)])
def test_estimates_are_near_what_was_measured(case, work, peak):
    told = case.estimate(work)
    assert abs(told.n_bytes / peak - 1) <= OFF
    assert (told.disk > 0) == ("memory_limit" in case.options)


def test_the_gram_goes_to_disk_where_it_must():
    work = next(work for case, (work, _) in zip(CASES, MEASURED, strict=True) if case.resumes)
    assert estimate_exact(work).n_bytes > BASE + 700 * 10**6, "it would fit into memory"


@pytest.mark.parametrize("estimate", [estimate_linear, estimate_exact, lambda work: estimate_landmarks(work, 20)])
def test_long_labels_are_seen(estimate):
    """Arrays have room for the longest label in every row, and there are some of them."""
    work = Work(n_source=10_000, n_target=10_000, n_added=0, n_characters=10**6, n_lengths=3, adapts=False)
    usual, few, long = (estimate(replace(work, label_characters=n)).n_bytes for n in (0, 20, 1000))
    assert usual == few
    assert long - usual > 2 * 4 * 900 * work.n_target


@pytest.mark.parametrize("estimate", [estimate_exact, estimate_linear, lambda work: estimate_landmarks(work, 20)])
def test_a_page_with_a_long_text_takes_what_that_text_takes(estimate):
    """Twenty texts of a megabyte took 2 GB more than was told; each is explained by itself, at up to 320 bytes a character."""
    short = Work(20, 2000, n_added=1000, n_characters=2_000_000, n_lengths=4, n_explained=2000, longest=1000, **SIZES)
    long = replace(short, n_target=20, n_added=10, n_explained=20, longest=1_000_000)
    without = replace(long, n_explained=0, longest=0)
    assert estimate(long).n_bytes >= max(BASE + 320 * 10**6, estimate(without).n_bytes)
    assert estimate(replace(long, longest=3_000_000)).n_bytes >= BASE + 3 * 320 * 10**6
