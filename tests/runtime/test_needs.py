import pytest

from gramshift.runtime.budget import (
    Work,
    check_memory,
    estimate_exact,
    estimate_linear,
    in_words,
)

SIZES = {
    "n_source": 2000,
    "n_target": 2000,
    "n_added": 1000,
    "n_characters": 3_000_000,
    "n_lengths": 4,
    "adapts": True,
    "n_explained": 0,
    "jobs": 2,
}


def estimate(**sizes):
    return estimate_exact(Work(**sizes))


@pytest.mark.parametrize("name", ["n_source", "n_target", "n_characters", "n_lengths"])
def test_more_of_anything_needs_more(name):
    small, large = estimate(**SIZES), estimate(**SIZES | {name: 3 * SIZES[name]})
    assert large.n_bytes > small.n_bytes
    assert large.seconds > small.seconds


def test_what_is_left_out_needs_less():
    assert (
        estimate(**SIZES | {"adapts": False}).seconds
        < estimate(**SIZES).seconds
        < estimate(**SIZES | {"n_explained": 2000}).seconds
    )
    assert estimate(**SIZES).n_bytes < estimate(**SIZES | {"n_explained": 2000}).n_bytes
    assert estimate(**SIZES | {"jobs": 1}).seconds > estimate(**SIZES).seconds


def test_what_fits_is_let_through():
    assert check_memory(Work(**SIZES), 10**9, linear=False, way="--sample {}") == estimate(**SIZES)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (95, "2 minutes"), (3600, "60 minutes"), (9000, "2.5 hours")]
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


def test_a_command_takes_longer_than_the_fit_alone():
    assert estimate(**SIZES, command=True).seconds > estimate(**SIZES).seconds + 1


@pytest.mark.parametrize("name", ["n_source", "n_target", "n_characters", "n_lengths", "n_trainings", "n_classes"])
def test_more_of_anything_needs_more_of_a_linear_fit_too(name):
    sizes = SIZES | {"n_characters": 90_000_000, "n_trainings": 10, "n_classes": 5}
    small, large = (estimate_linear(Work(**sizes | {name: times * sizes[name]})) for times in (1, 3))
    assert (large.n_bytes, large.seconds) > (small.n_bytes, small.seconds)


def test_a_linear_fit_grows_in_line_with_its_documents():
    one, ten = (
        estimate_linear(Work(**SIZES | {"n_source": n, "n_target": n, "n_characters": 800 * n, "n_trainings": 10}))
        for n in (10**6, 10**7)
    )
    assert 9 < ten.n_bytes / one.n_bytes <= 10
    assert 10 < ten.seconds / one.seconds < 25, "training takes more steps, too"


@pytest.mark.parametrize("linear", [True, False])
def test_a_sample_that_is_offered_fits(linear):
    work = Work(**SIZES | {"n_target": 998_000, "n_characters": 800_000_000, "n_trainings": 10})
    with pytest.raises(MemoryError, match=r"take a sample of the target: --sample \d+$") as refused:
        check_memory(work, 3 * 10**9, linear=linear, way="--sample {}")
    sample = int(str(refused.value).rsplit(" ", 1)[1])
    smaller = Work(**SIZES | {"n_target": sample, "n_characters": 800 * (sample + 2000), "n_trainings": 10})
    assert 0.8 * 3 * 10**9 < check_memory(smaller, 3 * 10**9, linear=linear, way="--sample {}").n_bytes <= 3 * 10**9
    with pytest.raises(MemoryError, match=r"allow more memory$"):
        check_memory(work, 10**8, linear=linear, way="--sample {}")
