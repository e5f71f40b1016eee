import pytest

from gramshift.tasks.needs import Needs, check_needs, estimate, in_words

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
    assert estimate(**SIZES | {"n_grams": 5}).seconds > estimate(**SIZES).seconds
    assert estimate(**SIZES | {"n_grams": 5}).n_bytes > estimate(**SIZES).n_bytes
    assert estimate(**SIZES | {"jobs": 1}).seconds > estimate(**SIZES).seconds


def test_too_much_is_refused():
    check_needs(Needs(10**9, 1), "2 GB")
    with pytest.raises(MemoryError, match=r"this run needs 1.9 GiB, but the memory limit is 953.7 MiB: take fewer documents"):
        check_needs(Needs(2 * 10**9, 1), "1 GB")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (95, "2 minutes"), (3600, "60 minutes"), (9000, "2.5 hours")]
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words
