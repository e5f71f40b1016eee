import psutil
import pytest

from gramshift.runtime.memory import free_memory, human, parse_bytes


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


@pytest.mark.parametrize("value", ["much", "2 XB", "-1", -5, 0, True, "", "1 2", None])
def test_other_sizes_are_refused(value):
    with pytest.raises(ValueError, match=r"memory_limit=.*'500 MB' or '2 GiB'"):
        parse_bytes(value)


def test_sizes_in_words():
    assert human(512) == "512 bytes"
    assert human(8 * 8000 * 8000) == "488.3 MiB"
    assert human(80e9) == "74.5 GiB"
    assert human(3e15) == "2728.5 TiB"


def test_free_memory_is_at_most_what_the_machine_has():
    assert 0 < free_memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_limit_counts(tmp_path, version):
    files = [tmp_path / name for name in ("limit", "usage", "stat")]
    for file, text in zip(files, ["300000\n", "200000\n", "anon 5\ninactive_file 50000\n"], strict=True):
        file.write_text(text if version == 2 else text.replace("inactive", "total_inactive"))
    assert free_memory([tuple(map(str, files))]) == 150_000


def test_a_container_without_a_limit_is_no_limit(tmp_path):
    (tmp_path / "limit").write_text("max\n")
    assert free_memory([(str(tmp_path / "limit"), str(tmp_path / "no"), str(tmp_path / "no"))]) > 10_000_000
