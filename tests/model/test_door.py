"""Altered model files whose checksums fit: each is refused, or is a model that works."""

import io
import json
import os
import random
import re
import shutil
import socket
import struct
import warnings
import zipfile
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

import gramshift as gs
from altered_files import read_members, write_members
from conftest import posix
from gramshift.commands.info import describe_model
from gramshift.errors import InputError, MemoryLimitError
from gramshift.learn.features import KernelFeatures
from gramshift.model import fit
from gramshift.model.archive import HEAD, ModelFileError
from gramshift.model.model_schema import MAX_CLASSES, MAX_NGRAM_LENGTH
from gramshift.model.saving import labels_to_json
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
SOURCE, LABELS, TARGET = (
    KITCHEN.texts[:12] + KITCHEN.texts[-12:],
    KITCHEN.labels[:12] + KITCHEN.labels[-12:],
    FILMS.texts[:9],
)
NEW = ["a great blender, i love it", "", "\ud800 lone \N{GRINNING FACE}", *SOURCE[:2], TARGET[0]]
SHORT = {"ngram_range": (2, 3)}


def own(**options):
    """Return a fitted classifier of three classes, or of two if asked for.

    With three classes no array has a shape that would fit another.
    """
    labels = LABELS if options.pop("two", False) else [place % 3 for place in range(len(SOURCE))]
    clf = gs.TransductiveClassifier(**{"preset": "paper", "n_added": 4} | SHORT | options)
    return clf.fit(SOURCE, labels, target=TARGET)


def encode(texts):
    """Count letters: an encoder."""
    return np.array([[text.lower().count(one) for one in "aeinst"] for text in texts], np.float32)


def load(path):
    return gs.load(path, encoder=encode)


def given_gram():
    gram = gs.StringKernel(normalize=True, **SHORT).gram(SOURCE + TARGET)
    return gs.TransductiveClassifier("precomputed", preset="paper", n_added=4).fit(
        gram, LABELS + [None] * len(TARGET)
    )


def given_rows():
    rows = np.random.default_rng(0).normal(size=(len(SOURCE) + len(TARGET), 5))
    labels = [place % 3 for place in range(len(SOURCE))]
    return gs.TransductiveClassifier("rows", n_added=4, n_rounds=2).fit(
        rows, labels + [None] * len(TARGET)
    )


BEST = {"preset": "best", "n_added": None, "n_rounds": 2}


def own_with_vectors():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit, "encoder_weight", lambda *_: 0.1)
        return own(encoder=encode, **BEST)


OURS = {
    "texts": own,
    "two classes": lambda: own(two=True),
    "several kernels": lambda: own(
        kernel=["intersection", gs.StringKernel("spectrum", **SHORT)], bias=True
    ),
    "weights": lambda: own(weighting="idf", adapt=False),
    "pairs": lambda: own(kernel=gs.StringKernel("local_rank", **SHORT)),
    "words": lambda: own(kernel="words"),
    "ngrams": lambda: own(**BEST),
    "two classes of ngrams": lambda: own(two=True, **BEST),
    "ngrams and texts": lambda: own(**BEST),
    "vectors and texts": own_with_vectors,
    "precomputed": given_gram,
    "rows": given_rows,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a function of the name of a model: its path, head and arrays, made once."""
    folder, found = tmp_path_factory.mktemp("models"), {}

    def get(name):
        if name not in found:
            path = folder / f"{name}.gramshift"
            OURS[name]().save(path, texts=name.endswith("and texts"))
            found[name] = path, *parse(path)
        return found[name]

    return get


def parse(path):
    members = read_members(path)
    head = json.loads(members.pop(HEAD))
    return head, {
        name.removesuffix(".npy"): np.load(io.BytesIO(data)) for name, data in members.items()
    }


def build(path, head, arrays):
    """Write a file whose checksums fit, whatever it holds."""
    members = {HEAD: json.dumps(head).encode()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.lib.format.write_array(
            buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False
        )
        members[f"{name}.npy"] = buffer.getvalue()
    return write_members(path, members)


def other_shapes(array):
    yield from (
        array[:-1],
        array[:0],
        array[None],
        array[..., None],
        np.concatenate([array, array]),
    )
    if array.ndim == 2:
        yield from (array.T, array[:, :-1], array[:, :1], array.ravel())


def other_types(array):
    for dtype in ("<f8", "<i8", "<u4", "|u1", "<f4", ">f8", "<U3"):
        if np.dtype(dtype) != array.dtype:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield array.astype(dtype)


def other_values(array):
    if not array.size:
        return
    if array.dtype.kind == "f":
        values = [np.nan, np.inf, -1.0, 0.0, 1e308, 5e-324, 1e59, -1e59, 1e-59]
    else:
        least, largest = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        values = [
            one
            for one in (least, -2, -1, 0, 1, 255, largest // 2, largest)
            if least <= one <= largest
        ]
    for value in values:
        yield np.full_like(array, value)
        changed = array.copy()
        changed.reshape(-1)[array.size // 2] = value
        yield changed
    yield array.reshape(-1)[::-1].reshape(array.shape)


MAX_HEADS = 300  # of each kind of model
VALUES = [
    None, True, 0, -1, 3, 1.5, 1e59, float("nan"), 2**63, 10**30, "a", "a" + " a" * 10**4,
    "\x1b[2J\ud800", "words", "precomputed", [], {}, [[]], [1, 10**9], ["a", "a"], {"idf": 1e308},
]  # fmt: skip


def altered_heads(value, path=()):
    """Yield heads with one entry replaced, left out or added, each with the path of the entry.

    Of lists only the first and the last entry are altered.
    """
    if isinstance(value, dict):
        for key in value.keys() - {"versions"}:
            yield (*path, key), {one: value[one] for one in value if one != key}
            for inner, other in altered_heads(value[key], (*path, key)):
                yield inner, {**value, key: other}
        yield path, {**value, "evil": 1}
    elif isinstance(value, list):
        for place in sorted({0, len(value) - 1}) if value else ():
            before, after = value[:place], value[place + 1 :]
            yield (*path, place), before + after
            yield (*path, place), [*before, value[place], *value[place:]]
            if len(path) < 4:
                for inner, other in altered_heads(value[place], (*path, place)):
                    yield inner, [*before, other, *after]
        yield path, value[::-1]
    if path:
        for other in VALUES:
            if (other, type(other)) != (value, type(value)):
                yield path, other


def works(clf):
    """Assert that a loaded model answers with finite numbers of the right shape, unwarned."""
    n, k = len(NEW), len(clf.classes_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "ngram_range=.*: no document has")  # of an altered range
        new, has_texts = NEW, True
        if isinstance(clf.kernel, str) and clf.kernel in ("rows", "precomputed"):
            is_rows, has_texts = clf.kernel == "rows", False
            new = np.full((n, clf.n_features_in_ if is_rows else len(clf.labeled_iter_)), 0.5)
        probabilities = clf.predict_proba(new)
        assert probabilities.shape == (n, k)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        scores = clf.decision_function(new)
        assert scores.shape == ((n,) if k == 2 else (n, k))
        assert np.isfinite(scores).all()
        assert set(clf.predict(new)) <= set(clf.classes_)
        assert np.isfinite(clf.transduction_proba_).all()
        with suppress(InputError):  # not every kernel has explanations and n-grams
            assert not has_texts or clf.explain(NEW[0]).given == NEW[0]
            assert set(clf.strongest_ngrams(5)) == set(clf.classes_)
    return True


def is_refused(path, *, again=False):
    """Return True if a file is refused; else it must work, be described, and be saved again."""
    clf, message = None, ""
    try:
        clf = load(path)
    except ModelFileError as error:
        message = str(error)
    if clf is None:
        assert str(path) in message
        assert "\n" not in message
        return True
    assert works(clf)
    json.dumps(describe_model(str(path)), default=str, allow_nan=False)
    if again:
        clf.save(path, overwrite=True)
        assert works(load(path))
    return False


def altered_types(array):
    """Yield arrays that must be refused: of another type or shape."""
    for other in (*other_shapes(array), *other_types(array)):
        if (other.shape, other.dtype) != (array.shape, array.dtype):
            yield other


REPRESENTATIVE = ("vectors and texts", "rows")  # together they have every array and entry


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_each_array_altered_in_some_ways_is_refused_or_harmless(files, name, tmp_path):
    _, head, arrays = files(name)
    assert not is_refused(build(tmp_path / "unaltered", head, arrays), again=True)
    path, draw = tmp_path / "altered", random.Random(name)
    for member, array in arrays.items():
        for other in draw.sample(list(altered_types(array)), 3):
            assert is_refused(build(path, head, arrays | {member: other})), (member, other.shape)
        values = list(other_values(array))
        for other in draw.sample(values, min(3, len(values))):
            refused = is_refused(build(path, head, arrays | {member: other}))
            assert refused or np.isfinite(other).all(), member
        assert is_refused(build(path, head, {one: arrays[one] for one in arrays if one != member}))
        assert is_refused(build(path, head, arrays | {f"{member}_9": array}))


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_each_entry_of_a_head_altered_in_some_ways_is_refused_or_harmless(files, name, tmp_path):
    _, head, arrays = files(name)
    by_path = {}
    for path, other in altered_heads(head):
        by_path.setdefault(path, []).append(other)
    assert {path[0] for path in by_path if path} == head.keys() - {"versions"}
    draw, refused = random.Random(name), Counter()
    for path in sorted(by_path, key=str):
        other = draw.choice(by_path[path])
        refused[is_refused(build(tmp_path / "altered", other, arrays))] += 1
    assert refused[True] > refused[False] > 0


@pytest.mark.altered
def test_representative_files_have_every_array(files):
    """New kinds of arrays must be altered by default, too."""
    kinds = [{re.sub(r"_\d$", "", one) for one in files(name)[2]} for name in OURS]
    assert set.union(*kinds) == set.union(
        *(kinds[list(OURS).index(name)] for name in REPRESENTATIVE)
    )


@pytest.mark.altered
@pytest.mark.parametrize("name", OURS)
def test_arrays_of_any_other_shape_or_type_are_refused(files, name, tmp_path):
    _, head, arrays = files(name)
    assert not is_refused(build(tmp_path / "unaltered", head, arrays), again=True)
    path = tmp_path / "altered"
    for member, array in arrays.items():
        for other in altered_types(array):
            assert is_refused(build(path, head, arrays | {member: other})), (member, other.shape)
        assert is_refused(build(path, head, {one: arrays[one] for one in arrays if one != member}))
        assert is_refused(build(path, head, arrays | {f"{member}_9": array}))


@pytest.mark.altered
@pytest.mark.parametrize("name", OURS)
def test_arrays_of_other_values_are_refused_or_harmless(files, name, tmp_path):
    _, head, arrays = files(name)
    n_refused = n_tried = 0
    for member, array in arrays.items():
        for other in other_values(array):
            path = build(tmp_path / "altered", head, arrays | {member: other})
            refused = is_refused(path, again=n_tried % 20 == 0)
            assert refused or np.isfinite(other).all(), member
            n_tried, n_refused = n_tried + 1, n_refused + refused
    assert 0 < n_refused < n_tried


@pytest.mark.altered
@pytest.mark.parametrize("name", OURS)
def test_heads_with_other_entries_are_refused_or_harmless(files, name, tmp_path):
    _, head, arrays = files(name)
    heads = [other for _, other in altered_heads(head)]
    heads = random.Random(name).sample(heads, min(MAX_HEADS, len(heads)))
    n_refused = sum(
        is_refused(build(tmp_path / "altered", other, arrays), again=number % 20 == 0)
        for number, other in enumerate(heads)
    )
    assert len(heads) / 4 < n_refused < len(heads)


def refuse(path, message):
    with pytest.raises(ModelFileError, match=message):
        load(path)


@pytest.mark.parametrize("rows", [0, 32, 34, 10_000])
def test_coefficients_that_are_not_one_per_text_are_refused(files, tmp_path, rows):
    """Compiled code would read beyond them, in other memory of the process."""
    _, head, arrays = files("two classes")
    path = build(tmp_path / "hostile", head, arrays | {"coefficients": np.zeros((rows, 2))})
    refuse(path, rf"coefficients has shape \({rows}, 2\) where \(33, 2\) fits the rest")


def test_a_product_with_too_few_vectors_is_an_error():
    """Compiled code trusts that there are enough."""
    features = KernelFeatures(np.ones((3, 50)), np.ones(3), np.ones(50), True)
    with pytest.raises(ValueError, match="vectors of 20 numbers for descriptions of 50"):
        features.multiply(np.ones((20, 2)))


def write_many(path, n):
    """Add entries for one member to the directory of a model file, which stays small."""
    data = path.read_bytes()
    archive = zipfile.ZipFile(io.BytesIO(data))
    start, name = archive.start_dir, b"scores.npy"
    one = (
        b"PK\x01\x02"
        + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0)
        + name
    )
    listed = data[start : data.rindex(b"PK\x05\x06")] + one * n
    total = len(archive.infolist()) + n
    ends = b"PK\x06\x06" + struct.pack(
        "<QHHIIQQQQ", 44, 45, 45, 0, 0, total, total, len(listed), start
    )
    ends += b"PK\x06\x07" + struct.pack("<IQI", 0, start + len(listed), 1)
    ends += b"PK\x05\x06" + struct.pack(
        "<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, len(archive.comment)
    )
    path.write_bytes(data[:start] + listed + ends + archive.comment)


def test_a_member_many_times_is_refused_at_once(files, tmp_path):
    path = tmp_path / "many"
    shutil.copy(files("texts")[0], path)
    write_many(path, 100_000)
    refuse(path, "100010 members, and a model at most 1000")
    shutil.copy(files("texts")[0], path)
    write_many(path, 1)
    refuse(path, "it holds a member twice")


def test_ngrams_of_any_length_are_refused(files, tmp_path):
    """Comparing a repetitive text would not end."""
    _, head, arrays = files("texts")
    changed = {
        **head,
        **{part: {**head[part], "ngram_range": [1, 10**6]} for part in ("parameters", "settings")},
    }
    refuse(
        build(tmp_path / "hostile", changed, arrays),
        f"n-grams of a file have at most {MAX_NGRAM_LENGTH} characters",
    )


def test_ngrams_of_any_length_are_refused_for_the_next_fit_too(files, tmp_path):
    _, head, arrays = files("texts")
    changed = {**head, "parameters": {**head["parameters"], "ngram_range": [1, 10**6]}}
    refuse(
        build(tmp_path / "hostile", changed, arrays),
        f"n-grams of a file have at most {MAX_NGRAM_LENGTH} characters",
    )


def test_classes_that_are_not_finite_are_refused(files, tmp_path):
    _, head, arrays = files("texts")
    values = [*map(float, range(1, len(head["classes"]["values"]))), float("inf")]
    changed = {**head, "classes": {"dtype": "<f8", "values": values}}
    refuse(build(tmp_path / "hostile", changed, arrays), "its labels are not finite")


def test_classes_without_documents_are_refused(files, tmp_path):
    """A file of 5 MB could ask for 9 GiB to score 4096 texts."""
    _, head, arrays = files("texts")
    none = np.zeros(0, np.int64)
    for n, message in (
        (3, "classes without any document"),
        (MAX_CLASSES + 1, "classes are not a list of at most 5000 values"),
    ):
        changed = {**head, "classes": {"dtype": "<i8", "values": list(range(n))}, "history": []}
        empty = dict.fromkeys(("labeled_iter", "source_codes", "known_codes", "text_ends"), none)
        empty |= {name: np.zeros((0, n)) for name in ("coefficients", "scores", "held_out_scores")}
        hostile = arrays | empty | {"text_bytes": none.astype("u1"), "intercepts": np.zeros(n)}
        refuse(build(tmp_path / "hostile", changed | {"class_prior": None}, hostile), message)


def test_more_classes_than_a_file_may_have_are_not_saved():
    with pytest.raises(
        InputError, match=r"there are 5001 classes, .* at most 5000; save the labels"
    ):
        labels_to_json(np.arange(MAX_CLASSES + 1))


def test_what_could_not_be_loaded_again_is_not_saved(tmp_path):
    clf = gs.TransductiveClassifier(ngram_range=(3, MAX_NGRAM_LENGTH + 1))
    clf.fit(["a good pan", "a bad pan"], ["good", "bad"], target=["good film"])
    with pytest.raises(
        InputError, match=r"ngram_range=\(3, 1001\): n-grams of a file have at most 1000 characters"
    ):
        clf.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_kernel_that_is_given_only_by_half_is_refused(files, tmp_path):
    _, head, arrays = files("precomputed")
    changed = {**head, "parameters": {**head["parameters"], "kernel": "presence"}}
    refuse(
        build(tmp_path / "hostile", changed, arrays),
        "its parameters and its settings take different kinds of documents",
    )


@pytest.mark.parametrize("n", [1001, 23_000_000])
def test_labels_longer_than_those_of_a_fit_are_refused(files, tmp_path, n):
    """An array of them would fill the memory, and shortening them to print them takes time."""
    _, head, arrays = files("texts")
    classes = {"dtype": "<U1", "values": ["a", "b" * n, "c"]}
    path = build(tmp_path / "hostile", head | {"classes": classes}, arrays)
    refuse(path, "a label of more than 1000 characters")


def test_threads_and_memory_never_come_from_a_file(files, tmp_path):
    """A scheduler in a file is an unknown parameter."""
    clf = own(
        kernel=gs.StringKernel(n_jobs=1, memory_limit="1 GiB", **SHORT),
        n_jobs=1,
        memory_limit="2 GiB",
    )
    clf.save(tmp_path / "m")
    head, arrays = parse(tmp_path / "m")
    local = {"n_jobs", "memory_limit"}
    assert not local & {
        *head["parameters"],
        *head["settings"],
        *head["parameters"]["kernel"],
        *head["settings"]["kernel"],
    }
    hostile = {"n_jobs": 5000, "memory_limit": "1 KB"}
    for where in ("parameters", "settings"):
        kernel = {**head[where]["kernel"], "n_jobs": 5000, "memory_limit": "1 KB"}
        head[where] = {**head[where], "kernel": kernel} | (hostile if where == "parameters" else {})
    loaded = gs.load(build(tmp_path / "hostile", head, arrays))
    assert (loaded.n_jobs, loaded.memory_limit) == (-1, None)
    assert (loaded.kernel.n_jobs, loaded.kernel.memory_limit) == (-1, None)
    assert not local & set(describe_model(str(tmp_path / "hostile"))["parameters"])
    assert loaded.fit(SOURCE, LABELS, target=TARGET).predict(NEW[:1]).size == 1
    head["parameters"]["scheduler"] = "tcp://127.0.0.1:1"
    refuse(build(tmp_path / "hostile", head, arrays), "unexpected keyword argument 'scheduler'")


@pytest.mark.parametrize(
    ("member", "value"), [("coefficients", 1e308), ("intercepts", -1e308), ("scores", 1e200)]
)
def test_numbers_beyond_reason_are_refused(files, tmp_path, member, value):
    """Probabilities would be NaN."""
    _, head, arrays = files("texts")
    hostile = arrays | {member: np.full_like(arrays[member], value)}
    refuse(
        build(tmp_path / "hostile", head, hostile),
        f"{member} has values from .* they must be from -1e.60 to 1e.60",
    )
    refuse(
        build(tmp_path / "hostile", {**head, "steepness": 1e308}, arrays),
        "steepness is 1e.308, but must be a number",
    )


@pytest.mark.parametrize(
    "versions", [1, [], "x", {"gramshift": 1}, {"gramshift": "1" * 1000}, {"a": {}}]
)
def test_versions_are_names(files, tmp_path, versions):
    _, head, arrays = files("texts")
    refuse(build(tmp_path / "hostile", {**head, "versions": versions}, arrays), "versions")


def test_a_history_that_could_not_be_saved_again_is_refused(files, tmp_path):
    _, head, arrays = files("texts")
    for change in (
        {"seconds": float("nan")},
        {"seconds": None},
        {"labels": [None] * 3},
        {"changed": 1.5},
        {"added": None},
    ):
        step = {**head["history"][0], **change}
        refuse(
            build(tmp_path / "hostile", {**head, "history": [step]}, arrays),
            f"{next(iter(change))} is",
        )


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 10**6,
        b'{"a":' * 10**5,
        b'{"a":' * 30 + b"1" + b"}" * 30,
        b'{"a": ' + b"1" * 10**5 + b"}",
        b"\xff\xfe{\0}\0",
    ],
)
def test_a_head_that_is_deep_or_no_json_is_refused(files, tmp_path, text):
    members = read_members(files("texts")[0]) | {HEAD: text}
    refuse(
        write_members(tmp_path / "hostile", members),
        "nested|not JSON|does not call itself a Gramshift model",
    )


@posix
def test_only_regular_files_are_models(files, tmp_path):
    """A device could fill the memory; a pipe could wait forever."""
    (tmp_path / "link").symlink_to(files("texts")[0])
    assert load(tmp_path / "link").classes_.size == 3  # a user may name a link
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "s"))
        for path, kind in {
            "/dev/zero": "device",
            tmp_path / "pipe": "pipe",
            tmp_path / "to zero": "device",
            tmp_path / "s": "socket",
        }.items():
            with pytest.raises(
                InputError, match=f"{path} is a {kind}; it should be a regular file"
            ):
                load(path)
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_a_file_larger_than_the_memory_is_refused(tmp_path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(2**43)
    with pytest.raises(
        MemoryLimitError,
        match=r"large has 8\.0 TiB, and .* of memory are free; it is read as a whole",
    ):
        load(tmp_path / "large")
