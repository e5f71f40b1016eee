"""What the door lets in: values as declared, regular files, JSON that is not deep, pieces that are as expected."""

import json
import os
import zlib

import numpy as np
import pytest

import gramshift as gs
from gramshift.errors import InputError
from gramshift.runtime.checkpoint import ALIGNED, Checkpoint
from gramshift.runtime.door import NotJSONError, NotRegularError, open_regular, parse_json, read_json, read_regular
from gramshift.runtime.schema import (
    Anything,
    Array,
    Flag,
    Listed,
    Nothing,
    Number,
    Plain,
    Record,
    SchemaError,
    Strings,
    Sum,
    Text,
    check_members,
)
from small_demo import load_demo

KEY = {"what": "test"}
KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


@pytest.mark.parametrize(
    ("member", "good", "bad", "message"),
    [
        (Array("<f8", ("n", 2)), np.zeros((3, 2)), np.zeros((4, 2)), r"has shape \(4, 2\) where \(3, 2\) fits the rest"),
        (Array("<f8", (Sum(("n", 1)),)), np.zeros(4), np.zeros(3), r"shape \(3,\) where \(4,\) fits"),
        (Array("<i8", ("n",)), np.zeros(3, int), np.zeros(3), "values of type float64, but should have <i8"),
        (Array(("<i4", "<i8"), ("n",)), np.zeros(3, "i4"), [0, 0, 0], "values of type list, but should have <i4 or <i8"),
        (Array("<f8", ("n",)), np.zeros(3), np.array([0, np.nan, 0]), "not finite"),
        (Array("<f8", ("n",)), np.full(3, 1e60), np.full(3, 1.1e60), "they must be from -1e.60 to 1e.60"),
        (Array("<i8", ("n",), low=0, below="n"), np.arange(3), np.arange(3) + 1, "from 1 to 3; they must be from 0 to 2"),
        (Array("<i8", ("n",), rising="strictly"), np.array([1, 2, 9]), np.array([1, 1, 9]), "not in order"),
        (Array("<i8", ("n",), low=-9e18, most=9e18, rising="strictly"), np.arange(3), np.array([2**62, -(2**62), 0]), "order"),
        (Array("<i8", ("n",), low=0, most="n", rising="ends"), np.array([1, 1, 3]), np.array([1, 1, 2]), "not end where"),
        (Array("<i8", ("n",), low=0, most="n", rising="ends"), np.array([0, 3, 3]), np.array([2, 1, 3]), "not in order"),
        (Strings("n"), ["a", "b", "c"], ["a", "b", "a"], "a string twice"),
        (Strings("n", most_words=2), ["a b", "b", "c"], ["a b c", "b", "c"], "more than 2 words"),
        (Strings("n"), ["a", "b", "c"], ["a", "b"], "has 2 strings where 3 fit"),
        (Strings("m"), ["a"], ["a", 1], "not a list of strings"),
        (Text(3), "abc", "abcd", "at most 3 characters"),
        (Number(0, 5), 4.5, 5.5, "x has 5.5 where a number from 0 to 5 is due"),
        (Number(0, 5, whole=True), 4, 4.0, "a whole number"),
        (Number(), 10**59, 10**400, "where a number"),
        (Number(), 1, True, "x has True where"),
        (Flag(), True, 1, "neither true nor false"),
        (Plain(), {"a": [1.5, None, {"b": "c"}]}, {"a": [1.5, {"b": float("inf")}]}, "x has a number that is not finite"),
        (Nothing(), None, 0, "where nothing is due"),
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
    members = {"which": Array("<i8", ("all",), zeros="none", others="some"), "values": Array("<f8", ("some",))}
    check_members(members, {"which": np.array([0, 1, 2, 0]), "values": np.zeros(2)}, sizes := {})
    assert sizes == {"all": 4, "none": 2, "some": 2}
    with pytest.raises(SchemaError, match=r"values has shape \(3,\) where \(2,\) fits"):
        check_members(members, {"which": np.array([0, 1, 2, 0]), "values": np.zeros(3)}, {})
    with pytest.raises(SchemaError, match="it lacks 'values' and holds 'other'"):
        check_members(members, {"which": np.zeros(1, int), "other": 1}, {})


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


@pytest.fixture
def kept(tmp_path):
    with Checkpoint.open(tmp_path / "kept", KEY) as checkpoint:
        yield checkpoint


EXPECTED = {"counts": Array("<i8", (2, 3), low=0, most=9), "scale": Array("<f8", (2,), low=0, most=1)}
RIGHT = {"counts": np.arange(6).reshape(2, 3), "scale": np.array([0.5, 1.0])}


@pytest.mark.parametrize(
    "change",
    [
        {"counts": np.zeros((1, 3), int)},
        {"counts": np.zeros((2, 4), int)},
        {"counts": np.zeros(6, int)},
        {"counts": np.array(7)},
        {"counts": np.zeros((2, 3), np.int32)},
        {"counts": np.zeros((2, 3))},
        {"counts": np.full((2, 3), "7")},
        {"counts": np.full((2, 3), -1)},
        {"counts": np.full((2, 3), 2**62)},
        {"scale": np.array([0.5, np.nan])},
        {"scale": np.array([0.5, 1.5])},
        {"more": np.zeros(1)},
    ],
)
def test_a_piece_that_is_not_as_expected_is_damaged_though_its_checksum_fits(kept, caplog, change):
    kept.save("a", **RIGHT)
    assert kept.load("a", EXPECTED).keys() == RIGHT.keys()
    kept.save("a", **RIGHT | change)
    assert kept.load("a") is not None
    assert kept.load("a", EXPECTED) is None
    assert (kept.redone, "a" in kept) == (1, False)
    assert "is damaged (" in caplog.text
    assert kept.load("a") is None


def write_piece(kept, name, head, body=bytes(64)):
    """A piece with any head, and a checksum that fits."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    data = np.array([len(text)], "<u8").tobytes().ljust(ALIGNED, b"\0") + text
    data += bytes(-len(data) % ALIGNED) + body
    (kept.folder / f"{name}.piece").write_bytes(data + zlib.crc32(data, kept._start(name)).to_bytes(4, "little"))


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 10**5, b"{}", b"\xff", [1], [[]], [["a", "<i8"]], [["a", "O", [1]]], [["a", "V8", [1]]], [["a", "<i8", [9]]],
        [["a", "<i8", [-1]]], [["a", "<i8", ["1"]]], [["a", "<i8", 1]], [["a", "<i8", [2**40, 2**40]]], [["a", "i8,i8", [1]]],
        [["a", "<M8[s]", [1]]], [[["a"], "<i8", [1]]], [["a", "<i8", [True]]], [["a", "<i8", [0, 2**62, 2**62]]],
        [["a", "x", [1]]], [["a", "<i3", [1]]], [["a", "<f5", [1]]], [["a", "<c7", [1]]], [["a", "|u0", [1]]],
        [["a", "<b9", [1]]], [["a", "<U999999999", [1]]], [["a", "<U0", [1]]],
    ],
)  # fmt: skip
def test_heads_of_pieces_that_we_never_write_are_damage(kept, head):
    """TypeError, KeyError and IndexError left the package, as faults of ours (D7)."""
    write_piece(kept, "a", [["a", "<i8", [8]]])
    assert kept.load("a")["a"].tolist() == [0] * 8
    write_piece(kept, "a", head)
    assert kept.load("a") is None
    assert kept.redone == 1


def test_pieces_that_are_no_regular_files_are_done_again(kept, tmp_path):
    """B14: a pipe was waited for; what a link leads to is somebody else's."""
    path = kept.folder / "a.piece"
    kept.save("b", value=np.zeros(3))
    (tmp_path / "elsewhere").write_bytes((kept.folder / "b.piece").read_bytes())
    for make in (
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to(tmp_path / "elsewhere"),
    ):
        make()
        assert kept.load("a") is None
        assert not os.path.lexists(path)
    assert (tmp_path / "elsewhere").exists()
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        kept.load("a")


@pytest.mark.parametrize("content", ["[" * 10**5, '{"a":' * 10**5, "9" * 5000, "[1]", ""])
def test_a_head_of_a_run_that_is_deep_is_refused(tmp_path, content):
    """D7: a RecursionError, told as a fault of ours."""
    Checkpoint.open(tmp_path / "kept", KEY).close()
    (tmp_path / "kept" / "run.json").write_text(content)
    with pytest.raises(InputError, match=r"run\.json cannot be read, so nobody knows what this folder holds"):
        Checkpoint.open(tmp_path / "kept", KEY)


def tamper(folder, prefix, change):
    """Change the first piece of a kind; its checksum fits again. Returns its name."""
    name = sorted(path.stem for path in folder.glob(f"{prefix}*.piece"))[0]
    kept = Checkpoint(folder, json.loads((folder / "run.json").read_text()), locked=False)
    kept.save(name, **change({key: array.copy() for key, array in kept.load(name).items()}))
    return name


TILES = {
    "one cell": lambda tile: tile[:1, :1],
    "fewer rows": lambda tile: tile[:-1],
    "other type": lambda tile: tile.astype("U3"),
    "floats": lambda tile: tile.astype("f4"),
    "below 0": lambda tile: -tile - 5,
    "far too many": lambda tile: tile * 0 + 2**62,
    "not finite": lambda tile: tile * np.nan,
}


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("change", TILES.values(), ids=TILES)
def test_tiles_that_no_gram_has_are_filled_again(tmp_path, caplog, normalize, change):
    """C14: one cell was spread over the tile, others changed labels silently."""
    kernel = gs.StringKernel(ngram_range=(2, 3), normalize=normalize)
    right = kernel.gram(KITCHEN.texts, resume=tmp_path / "kept")
    name = tamper(tmp_path / "kept", "tiles", lambda arrays: {key: change(tile) for key, tile in arrays.items()})
    assert kernel.gram(KITCHEN.texts, resume=tmp_path / "kept").tobytes() == right.tobytes()
    assert f"{name}.piece is damaged" in caplog.text
