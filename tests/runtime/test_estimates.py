"""What a fit takes is estimated to within 30 % of what was measured: `python -m bench estimates`, whose figures stand here."""

import pytest

from bench.estimates import CASES, OFF
from gramshift.runtime.budget import BASE, Work, estimate_exact

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
