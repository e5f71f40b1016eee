from dataclasses import replace

import psutil
import pytest

from gramshift.memory import (
    BASE_BYTES,
    Work,
    check_memory,
    estimate,
    free_memory,
    in_words,
    parse_bytes,
    size_in_words,
)

WORK = Work(n_source=2000, n_target=2000, n_characters=3_000_000, n_lengths=4, jobs=2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("2 GiB", 2 * 2**30),
        ("2g", 2 * 10**9),
        ("1.5MB", 1_500_000),
        (" 3 KiB ", 3072),
        (2.5e6, 2_500_000),
        (1e16, 10**16),
    ],
)
def test_sizes_are_read_in_all_usual_ways(value, expected):
    assert parse_bytes(value) == expected


@pytest.mark.parametrize("value", ["much", "2 XB", "-1", -5, 0, True, "", "1 2", None, 2**63])
def test_other_sizes_are_refused(value):
    with pytest.raises(ValueError, match=r"memory_limit=.*'500 MB' or '2 GiB'"):
        parse_bytes(value)


def test_sizes_in_words():
    assert size_in_words(512) == "512 bytes"
    assert size_in_words(8 * 8000 * 8000) == "488.3 MiB"
    assert size_in_words(80e9) == "74.5 GiB"
    assert size_in_words(3e15) == "2728.5 TiB"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (89, "89 s"), (95, "2 minutes"), (3600, "60 minutes"), (9000, "2.5 hours")],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


def test_free_memory_is_at_most_that_of_the_machine():
    assert 0 < free_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_limit_counts(tmp_path, version):
    files = [tmp_path / name for name in ("limit", "usage", "stat")]
    stat = "anon 5\ninactive_file 50000\n"
    if version == 1:
        stat = stat.replace("inactive", "total_inactive")
    for file, text in zip(files, ["300000\n", "200000\n", stat], strict=True):
        file.write_text(text)
    assert free_memory([tuple(map(str, files))]) == 150_000


def test_a_container_without_a_limit_is_no_limit(tmp_path):
    (tmp_path / "limit").write_text("max\n")
    nothing = str(tmp_path / "nothing")
    assert free_memory([(str(tmp_path / "limit"), nothing, nothing)]) > 10_000_000


@pytest.mark.parametrize("linear", [True, False])
def test_every_document_has_room_for_the_longest_label(linear):
    work = replace(WORK, n_source=10_000, n_target=10_000)
    usual, long = (
        estimate(replace(work, label_characters=n), linear=linear).n_bytes for n in (20, 1000)
    )
    assert long - usual > 2 * 4 * 900 * work.n_target


@pytest.mark.parametrize("linear", [True, False])
def test_a_report_with_a_long_text_takes_what_that_text_takes(linear):
    """Texts are explained one by one, at up to 320 bytes a character."""
    work = replace(WORK, n_source=20, n_target=20, n_explained=20, longest=1_000_000)
    assert estimate(work, linear=linear).n_bytes >= BASE_BYTES + 320 * 10**6
    longer = estimate(replace(work, longest=3_000_000), linear=linear)
    assert longer.n_bytes >= BASE_BYTES + 3 * 320 * 10**6


def test_a_linear_fit_takes_memory_in_proportion_to_its_documents():
    one, ten = (
        estimate(replace(WORK, n_source=n, n_target=n, n_characters=800 * n), linear=True)
        for n in (10**6, 10**7)
    )
    assert 9 < ten.n_bytes / one.n_bytes <= 10


def test_every_class_after_the_second_takes_as_much_time():
    few, more, many = (
        estimate(replace(WORK, n_classes=n), linear=True).seconds for n in (2, 20, 200)
    )
    assert many - few == pytest.approx(11 * (more - few))
    assert more > few


def test_a_run_that_fits_is_let_through():
    needs = check_memory(WORK, 10**9, linear=False, way="--fit-on {}")
    assert needs == estimate(WORK, linear=False)


@pytest.mark.parametrize("linear", [True, False])
def test_a_sample_that_is_offered_fits(linear):
    options = {"linear": linear, "way": "--fit-on {}"}
    work, limit = replace(WORK, n_target=998_000, n_characters=800_000_000), 3 * 10**9
    with pytest.raises(MemoryError, match=r"take a sample of the target: --fit-on \d+$") as error:
        check_memory(work, limit, **options)
    sample = int(str(error.value).rsplit(" ", 1)[1])
    smaller = replace(WORK, n_target=sample, n_characters=800 * (sample + 2000))
    assert 0.8 * limit < check_memory(smaller, limit, **options).n_bytes <= limit
    with pytest.raises(MemoryError, match=r"allow more memory$"):
        check_memory(work, 10**8, **options)
