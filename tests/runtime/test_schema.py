"""What the door lets in: values as declared, regular files, JSON that is not deep, and nothing else."""

import os

import numpy as np
import pytest

from gramshift.errors import InputError
from gramshift.runtime.door import NotJSONError, NotRegularError, open_regular, parse_json, read_json, read_regular
from gramshift.runtime.schema import (
    Anything,
    Array,
    Flag,
    Listed,
    Number,
    Plain,
    Record,
    SchemaError,
    Text,
    check_names,
)


@pytest.mark.parametrize(
    ("member", "good", "bad", "message"),
    [
        (Array("<f8", ("n", 2)), np.zeros((3, 2)), np.zeros((4, 2)), r"has shape \(4, 2\) where \(3, 2\) fits the rest"),
        (Array("<i8", ("n",)), np.zeros(3, int), np.zeros(3), "values of type float64, but should have <i8"),
        (Array(("<i4", "<i8"), ("n",)), np.zeros(3, "i4"), [0, 0, 0], "values of type list, but should have <i4 or <i8"),
        (Array("<f8", ("n",)), np.zeros(3), np.array([0, np.nan, 0]), "not finite"),
        (Array("<f8", ("n",)), np.full(3, 1e60), np.full(3, 1.1e60), "they must be from -1e.60 to 1e.60"),
        (Array("<i8", ("n",), low=0, below="n"), np.arange(3), np.arange(3) + 1, "from 1 to 3; they must be from 0 to 2"),
        (Array("<i8", ("n",), rising="strictly"), np.array([1, 2, 9]), np.array([1, 1, 9]), "not in order"),
        (Array("<i8", ("n",), low=-9e18, most=9e18, rising="strictly"), np.arange(3), np.array([2**62, -(2**62), 0]), "order"),
        (Array("<i8", ("n",), low=0, most="n", rising="ends"), np.array([1, 1, 3]), np.array([1, 1, 2]), "not end where"),
        (Array("<i8", ("n",), low=0, most="n", rising="ends"), np.array([0, 3, 3]), np.array([2, 1, 3]), "not in order"),
        (Text(3), "abc", "abcd", "at most 3 characters"),
        (Number(0, 5), 4.5, 5.5, "x has 5.5 where a number from 0 to 5 is due"),
        (Number(0, 5, whole=True), 4, 4.0, "a whole number"),
        (Number(), 10**59, 10**400, "where a number"),
        (Number(), 1, True, "x has True where"),
        (Flag(), True, 1, "neither true nor false"),
        (Plain(), {"a": [1.5, None, {"b": "c"}]}, {"a": [1.5, {"b": float("inf")}]}, "x has a number that is not finite"),
        (Listed(Number(), "n"), [1, 2, 3], [1, 2], "not a list of 3 values"),
        (Listed(Number(), most=2), [1, 2], [1, 2, 3], "not a list of at most 2 values"),
        (Record({"a": Flag()}, {"b": Flag()}), {"a": True, "b": None}, {"b": True}, "x lacks a"),
        (Record({"a": Flag()}), {"a": True}, {"a": True, "c": 1}, "has 'c', which nobody knows"),
        (Record({"a": Flag()}, others=Number()), {"a": True, "c": 1}, {"a": True, "c": "1"}, "x has '1' where a number"),
        (Record({}, others=Anything(), most=1), {"a": []}, {"a": 1, "b": 2}, "not a record"),
    ],
)
def test_each_declaration_takes_what_it_should_and_nothing_else(member, good, bad, message):
    member.check("x", good, {"n": 3})
    with pytest.raises(SchemaError, match=message):
        member.check("x", bad, {"n": 3})


def test_the_first_member_decides_a_size_and_zeros_are_counted():
    which, values = Array("<i8", ("all",), zeros="none", others="some"), Array("<f8", ("some",))
    which.check("which", np.array([0, 1, 2, 0]), sizes := {})
    values.check("values", np.zeros(2), sizes)
    assert sizes == {"all": 4, "none": 2, "some": 2}
    with pytest.raises(SchemaError, match=r"values has shape \(3,\) where \(2,\) fits"):
        values.check("values", np.zeros(3), sizes)
    with pytest.raises(SchemaError, match="it lacks 'values' and holds 'other'"):
        check_names(["which", "values"], ["which", "other"])


def test_only_regular_files_are_opened_and_links_only_where_users_name_files(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "file", most=5) == read_regular(tmp_path / "link", most=5, follow=True) == b"12345"
    with pytest.raises(InputError, match="file has more than 4 bytes"):
        read_regular(tmp_path / "file", most=4)
    for name, kind in {"link": "a link", "pipe": "a pipe"}.items():
        with pytest.raises(NotRegularError, match=f"{name} is {kind}; it should be a regular file"):
            open_regular(tmp_path / name)
    for name in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(NotRegularError, match="it should be a regular file"):
            open_regular(name, follow=True)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")


def test_json_that_is_deep_or_none_is_an_error(tmp_path):
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
