from dataclasses import replace

import pytest

from gramshift.runtime.budget import BASE, Work, check_memory, estimate, in_words

SIZES = {
    "n_source": 2000,
    "n_target": 2000,
    "n_characters": 3_000_000,
    "n_lengths": 4,
    "jobs": 2,
}


def test_what_fits_is_let_through():
    assert check_memory(Work(**SIZES), 10**9, linear=False, way="--sample {}") == estimate(Work(**SIZES), linear=False)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (95, "2 minutes"), (3600, "60 minutes"), (9000, "2.5 hours")]
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


@pytest.mark.parametrize("linear", [True, False])
def test_long_labels_are_seen(linear):
    """Arrays have room for the longest label in every row, and there are some of them."""
    work = Work(n_source=10_000, n_target=10_000, n_characters=10**6, n_lengths=3)
    usual, long = (estimate(replace(work, label_characters=n), linear=linear).n_bytes for n in (20, 1000))
    assert long - usual > 2 * 4 * 900 * work.n_target


@pytest.mark.parametrize("linear", [True, False])
def test_a_page_with_a_long_text_takes_what_that_text_takes(linear):
    """Twenty texts of a megabyte took 2 GB more than was told; each is explained by itself, at up to 320 bytes a character."""
    short = Work(**SIZES | {"n_source": 20, "n_characters": 2_000_000, "n_explained": 2000}, longest=1000)
    long = replace(short, n_target=20, n_explained=20, longest=1_000_000)
    without = replace(long, n_explained=0, longest=0)
    assert estimate(long, linear=linear).n_bytes >= max(BASE + 320 * 10**6, estimate(without, linear=linear).n_bytes)
    assert estimate(replace(long, longest=3_000_000), linear=linear).n_bytes >= BASE + 3 * 320 * 10**6


def test_a_linear_fit_grows_in_line_with_its_documents():
    one, ten = (
        estimate(Work(**SIZES | {"n_source": n, "n_target": n, "n_characters": 800 * n}), linear=True) for n in (10**6, 10**7)
    )
    assert 9 < ten.n_bytes / one.n_bytes <= 10
    assert 10 < ten.seconds / one.seconds < 25, "training takes more steps, too"


@pytest.mark.parametrize("linear", [True, False])
def test_a_sample_that_is_offered_fits(linear):
    work = Work(**SIZES | {"n_target": 998_000, "n_characters": 800_000_000})
    with pytest.raises(MemoryError, match=r"take a sample of the target: --sample \d+$") as refused:
        check_memory(work, 3 * 10**9, linear=linear, way="--sample {}")
    sample = int(str(refused.value).rsplit(" ", 1)[1])
    smaller = Work(**SIZES | {"n_target": sample, "n_characters": 800 * (sample + 2000)})
    assert 0.8 * 3 * 10**9 < check_memory(smaller, 3 * 10**9, linear=linear, way="--sample {}").n_bytes <= 3 * 10**9
    with pytest.raises(MemoryError, match=r"allow more memory$"):
        check_memory(work, 10**8, linear=linear, way="--sample {}")
