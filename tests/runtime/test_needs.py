import re
from dataclasses import replace

import pytest

from gramshift.runtime.budget import (
    BASE,
    Work,
    check_exact,
    check_landmarks_fit,
    check_linear,
    estimate_exact,
    estimate_landmarks,
    estimate_linear,
    in_words,
    most_landmarks,
    piece_size,
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


WAYS = {"disk": "--resume DIR", "landmarks": "--landmarks {}"}


def test_what_fits_is_let_through():
    assert check_exact(Work(**SIZES), 10**9, may_use_disk=True, options=WAYS) == (estimate(**SIZES), False)


def test_with_a_folder_the_gram_goes_to_disk_if_it_must():
    large = Work(**SIZES | {"n_source": 1000, "n_target": 30_000})
    limit = (estimate_exact(large).n_bytes + estimate_exact(large, on_disk=True).n_bytes) // 2
    assert check_exact(large, limit, may_use_disk=True, options=WAYS) == (estimate_exact(large, on_disk=True), True)
    with pytest.raises(MemoryError, match="do not fit"):
        check_exact(large, limit, may_use_disk=False, options=WAYS)


def test_too_much_is_refused_with_what_each_way_takes():
    large = Work(**SIZES | {"n_source": 40_000, "n_target": 40_000, "n_characters": 72_000_000})
    with pytest.raises(MemoryError) as refused:
        check_exact(large, 2 * 10**9, may_use_disk=True, options=WAYS)
    words = str(refused.value)
    assert words.startswith("40000 source and 40000 target documents do not fit into 1.9 GiB, the memory limit: exactly about ")
    assert "GiB of memory and" in words
    assert "; exactly with the kernel matrix on disk (--resume DIR) about " in words
    assert "GiB of disk and" in words
    assert "; with landmarks (--landmarks 2000) about " in words
    fitting = most_landmarks(large, 5 * 10**8, 2000)
    assert 100 < fitting < 2000
    with pytest.raises(MemoryError, match=rf"; with landmarks \(--landmarks {fitting}\) about "):
        check_exact(large, 5 * 10**8, may_use_disk=True, options=WAYS)
    with pytest.raises(MemoryError, match=r"; with landmarks \(--landmarks 2000\) about "):  # not even one would fit
        check_exact(large, 10**8, may_use_disk=True, options=WAYS)


def test_landmarks_that_are_too_many_are_refused_with_how_many_fit():
    work = Work(**SIZES | {"n_target": 50_000})
    limit = 10**9
    fitting = most_landmarks(work, limit, 10_000)
    assert 100 < fitting < 10_000
    assert estimate_landmarks(work, fitting, memory=limit).n_bytes <= limit
    assert estimate_landmarks(work, fitting + 1, memory=limit).n_bytes > limit
    check_landmarks_fit(work, fitting, limit, cell_bytes=4, kept=False)
    with pytest.raises(MemoryError, match=rf"10000 landmarks need about .* the memory limit is 953.7 MiB: {fitting} would fit"):
        check_landmarks_fit(work, 10_000, limit, cell_bytes=4, kept=False)
    with pytest.raises(MemoryError, match="allow more memory"):
        check_landmarks_fit(work, 10_000, 10**8, cell_bytes=4, kept=False)


def test_pieces_that_are_too_large_for_memory_are_on_disk():
    work = Work(**SIZES)
    pieces = 4 * 4000 * 500
    assert estimate_landmarks(work, 500, memory=4 * pieces).disk == 0
    assert estimate_landmarks(work, 500, memory=4 * pieces - 4).disk == pieces


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (89, "89 s"), (95, "2 minutes"), (3600, "60 minutes"), (9000, "2.5 hours")]
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


@pytest.mark.parametrize("n_landmarks", [1, 60, 500, 2000, 5000, 20_000])
def test_pieces_have_as_many_documents_as_there_are_landmarks_to_be_sorted_again(n_landmarks):
    plain, again = piece_size(n_landmarks), piece_size(n_landmarks, again=True)
    assert 64 <= plain <= 8192
    assert min(n_landmarks, 8192) <= again <= 8192
    looked_up, sorted_ = (estimate_landmarks(Work(**SIZES), n_landmarks, cell_bytes=size) for size in (4, 8))
    assert sorted_.seconds > looked_up.seconds


@pytest.mark.parametrize("cell_bytes", [4, 8])
def test_what_is_offered_is_what_is_told_then(cell_bytes):
    work = Work(**SIZES | {"n_source": 20_000, "n_target": 20_000})
    told = check_landmarks_fit(work, 2000, 3 * 10**9, cell_bytes=cell_bytes, kept=False)
    with pytest.raises(MemoryError, match=re.escape(f"with landmarks (--landmarks 2000) {told}")):
        check_exact(work, 3 * 10**9, may_use_disk=False, options=WAYS, cell_bytes=cell_bytes)


@pytest.mark.parametrize("cell_bytes", [4, 8])
@pytest.mark.parametrize("n", [4000, 20_000, 200_000])
def test_no_more_landmarks_would_fit(n, cell_bytes):
    work = Work(**SIZES | {"n_target": n, "n_characters": 700 * (n + 2000)})
    for limit in range(400 * 10**6, 4 * 10**9, 150 * 10**6):
        found = most_landmarks(work, limit, 10_000, cell_bytes=cell_bytes)
        more = [*range(found + 1, min(10_000, work.n) + 1, 97)]
        needs = [estimate_landmarks(work, k, cell_bytes=cell_bytes, memory=limit).n_bytes for k in more]
        assert min(needs, default=limit + 1) > limit
        fits = estimate_landmarks(work, found, cell_bytes=cell_bytes, memory=limit).n_bytes <= limit
        assert fits or found == 1


def test_a_command_takes_longer_than_the_fit_alone():
    assert estimate(**SIZES, command=True).seconds > estimate(**SIZES).seconds + 1
    fit, command = (estimate_landmarks(Work(**SIZES, command=by), 500) for by in (False, True))
    assert command.seconds > fit.seconds + 1


@pytest.mark.parametrize("check", [estimate_linear, estimate_exact])
def test_long_labels_are_seen(check):
    """Arrays have room for the longest label in every row, and there are some of them."""
    work = Work(n_source=10_000, n_target=10_000, n_added=0, n_characters=10**6, n_lengths=3, adapts=False)
    usual, few, long = (check(replace(work, label_characters=n)).n_bytes for n in (0, 20, 1000))
    assert usual == few
    assert long - usual > 2 * 4 * 900 * work.n_target


@pytest.mark.parametrize("check", [estimate_linear, estimate_exact])
def test_a_page_with_a_long_text_takes_what_that_text_takes(check):
    """Twenty texts of a megabyte took 2 GB more than was told; each is explained by itself, at up to 320 bytes a character."""
    short = Work(**SIZES | {"n_source": 20, "n_characters": 2_000_000, "n_explained": 2000}, longest=1000)
    long = replace(short, n_target=20, n_added=10, n_explained=20, longest=1_000_000)
    without = replace(long, n_explained=0, longest=0)
    assert check(long).n_bytes >= max(BASE + 320 * 10**6, check(without).n_bytes)
    assert check(replace(long, longest=3_000_000)).n_bytes >= BASE + 3 * 320 * 10**6


def test_a_linear_fit_grows_in_line_with_its_documents():
    one, ten = (
        estimate_linear(Work(**SIZES | {"n_source": n, "n_target": n, "n_characters": 800 * n, "n_trainings": 10}))
        for n in (10**6, 10**7)
    )
    assert 9 < ten.n_bytes / one.n_bytes <= 10
    assert 10 < ten.seconds / one.seconds < 25, "training takes more steps, too"


def test_a_sample_that_is_offered_fits():
    work = Work(**SIZES | {"n_target": 998_000, "n_characters": 800_000_000, "n_trainings": 10})
    with pytest.raises(MemoryError, match=r"take a sample of the target: --sample \d+$") as refused:
        check_linear(work, 3 * 10**9, "--sample {}")
    sample = int(str(refused.value).rsplit(" ", 1)[1])
    smaller = Work(**SIZES | {"n_target": sample, "n_characters": 800 * (sample + 2000), "n_trainings": 10})
    assert 0.8 * 3 * 10**9 < check_linear(smaller, 3 * 10**9, "--sample {}").n_bytes <= 3 * 10**9
    with pytest.raises(MemoryError, match=r"allow more memory$"):
        check_linear(work, 5 * 10**8, "--sample {}")
