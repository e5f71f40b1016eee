"""Safe reading of our own files: regular files only, JSON that is not deep."""

import os

import pytest

from conftest import posix
from gramshift.errors import InputError
from gramshift.safe_reading import (
    NotJSONError,
    NotRegularError,
    open_regular,
    parse_json,
    read_json,
    read_regular,
)


@posix
def test_only_regular_files_are_opened_and_links_only_where_users_name_files(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "file", most=5) == b"12345"
    assert read_regular(tmp_path / "link", most=5, follow=True) == b"12345"
    with pytest.raises(InputError, match="file has more than 4 bytes"):
        read_regular(tmp_path / "file", most=4)
    for name, kind in {"link": "a link", "pipe": "a pipe"}.items():
        with pytest.raises(NotRegularError, match=f"{name} is {kind}; .* a regular file"):
            open_regular(tmp_path / name)
    for name in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(NotRegularError, match="it should be a regular file"):
            open_regular(name, follow=True)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")


def test_a_file_that_is_replaced_while_it_is_opened_is_refused(tmp_path, monkeypatch):
    path, system_open = tmp_path / "file", os.open
    path.write_bytes(b"old")

    def replace_and_open(*arguments):
        path.rename(tmp_path / "before")
        path.symlink_to("/dev/zero")
        return system_open(*arguments)

    monkeypatch.setattr(os, "open", replace_and_open)
    with pytest.raises(NotRegularError, match="file was replaced while it was opened"):
        open_regular(path)


def test_json_that_is_deep_or_invalid_is_an_error(tmp_path):
    assert parse_json(b'{"a": [[1]]}', deepest=3) == {"a": [[1]]}
    for data in (b'{"a": [[[1]]]}', b"[" * 10**6, b'{"a":' * 10**5, b"[" * 100 + b"]" * 100):
        with pytest.raises(NotJSONError, match="nested"):
            parse_json(data, deepest=3)
    for data in (b"", b"\xff", b"{", b"1" * 10_000):
        with pytest.raises(NotJSONError, match="not JSON"):
            parse_json(data)
    (tmp_path / "x.json").write_bytes(b"{")
    with pytest.raises(InputError, match=r"x\.json cannot be read: it is not JSON"):
        read_json(tmp_path / "x.json")
