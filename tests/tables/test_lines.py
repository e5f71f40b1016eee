import io
import sys

import pytest

from gramshift.tables.opening import read_lines


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one", ["one"]),
        (b"one\n\ntwo\n", ["one", "", "two"]),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", ["one", "two"]),
        ("a\u2028b\x0cc\nd".encode(), ["a\u2028b\x0cc", "d"]),
    ],
)
def test_lines_are_documents(tmp_path, data, lines):
    (tmp_path / "in.txt").write_bytes(data)
    assert read_lines(str(tmp_path / "in.txt")) == lines


def test_standard_input(monkeypatch):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"one\ntwo\n")))
    )
    assert read_lines("-") == ["one", "two"]


@pytest.mark.parametrize("n_before", [1, 10_000])
def test_a_wrong_byte_is_named_with_its_line(tmp_path, n_before):
    """Whichever of the pieces it is in that a file is read in."""
    path = tmp_path / "in.txt"
    path.write_bytes(b"fine\n" * n_before + b"caf\xe9\n")
    with pytest.raises(
        ValueError,
        match=rf"in.txt, line {n_before + 1}: the byte 0xe9 is not utf-8; .* --encoding, .*",
    ):
        read_lines(str(path))
    assert read_lines(str(path), encoding="windows-1252")[-1] == "café"


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf_8", "UTF8", "utf-8-sig", "shift_jis"]
)
def test_other_encodings(tmp_path, encoding):
    path = tmp_path / "in.txt"
    path.write_bytes("good film\nbad pan\n".encode(encoding))
    assert read_lines(str(path), encoding=encoding) == ["good film", "bad pan"]


def test_an_unknown_encoding(tmp_path):
    (tmp_path / "in.txt").write_text("one")
    with pytest.raises(ValueError, match=r"encoding 'utf-9' is not known"):
        read_lines(str(tmp_path / "in.txt"), encoding="utf-9")
