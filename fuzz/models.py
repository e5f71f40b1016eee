"""The target ``model``: files of our classifiers and of every baseline, changed within, with checksums that fit."""

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Collection
from contextlib import nullcontext, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from fuzz.made_up import sentence
from fuzz.mutation import Step, apply_steps, draw_steps
from fuzz.shrink import placed
from fuzz.targets import Case, Target, Wrong, may_refuse
from gramshift.commands.info import describe_model, in_words
from gramshift.errors import GramshiftError
from gramshift.methods import METHODS, RIVALS, load
from gramshift.model.archive import HEAD
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.string_kernel import StringKernel

NEW = ["a good film, sadly too long", "", "x", "the knife broke and I was so angry \ud800"]
VALUES: list[Any] = [
    0, 1, -1, 2, 3, 1.5, -0.5, 1e308, -1e308, 1e-308, float("nan"), float("inf"), 2**31, 2**32, 2**53, 2**62, 2**63,
    2**64, -(2**63), 10**18, "", "a", "x" * 1000, "\0", "\ud800", "presence", "spectrum", "intersection", "subsequence",
    "local_rank", "precomputed", "words", "best", "paper", "auto", "idf", "dask", "tcp://127.0.0.1:1", "NFC", "word",
    "character", True, False, None, [], {}, [[]], [1, 2], [1, 10**9], [5, 3], [0, 0], {"idf": 1}, {"idf": 1e308},
    {"classes": -1}, "ridge", "svm", "1 GiB", "source", "estimated",
    [["negative", 0.5], ["positive", 0.5]], "spread", "uniform", [0.5, 1.0], "\x1b[31m",
]  # fmt: skip
NAMES = ["x", "kernel", "n_jobs", "__class__", "adapt", "state", "arrays", "texts"]
FLOATS = [float("nan"), float("inf"), 1e308, -1e308, 1e300, 0.0, -1.0, 1e-308, 5e-324, 1e16]
WHOLE = [-1, 0, 1, 2, -2, 255, 2**31 - 1, 2**31, 2**32, 2**62, -(2**62), -(2**63), 2**63 - 1, 10**6]
DTYPES = ["<f8", "<i8", "<u1", "<f4", "<i4", "<u4", ">i8", "<U3", "|b1", "<c16"]
RAW = ["PK\1\2", "PK\3\4", "PK\5\6", "\0\0\0\0", "\xff\xff\xff\xff", "model.json", ".npy", "\x93NUMPY", "'shape': (", "descr"]
SLOW = ("ke-meta", "sst", "embeddings")  # to make, load or ask: drawn less often
FEW = 0.15
ASKS = {"info": 0.3, "explain": 0.2, "save": 0.1}  # beyond predictions, and how often
Arrays = dict[str, NDArray[Any]]


def make_models(folder: Path) -> dict[str, Path]:
    """Fit and save one model of every kind, on a few short texts."""
    rng = Random("models")
    labels = ["pos" if place % 2 else "neg" for place in range(16)]
    texts = [sentence(rng, good=label == "pos") for label in labels]
    target = [sentence(rng, good=rng.random() < 0.5) for _ in range(10)]
    made: dict[str, Callable[[], Any]] = {}

    def own(name: str, *, y: list[Any] = labels, **options: Any) -> None:
        made[name] = lambda: TransductiveClassifier(n_jobs=1, **options).fit(texts, y, target=target)

    paper: dict[str, Any] = {"preset": "paper", "ngram_range": (2, 3), "n_added": 4}
    own("tkc", **paper)
    own("intersection", **paper | {"kernel": "intersection"})
    own("spectrum", **paper | {"kernel": "spectrum", "adapt": False, "n_rounds": 1})
    own("subsequence", **paper | {"kernel": StringKernel("subsequence", ngram_range=(2, 3), n_jobs=1)})
    own("numbers", **paper, y=[place % 3 for place in range(16)])
    own("best", preset="best")
    own("best-words", preset="best", kernel="words")
    own("best-three", preset="best", y=[["a", "b", "c"][place % 3] for place in range(16)])
    gram = StringKernel(ngram_range=(2, 3), normalize=True, n_jobs=1).gram([*texts, *target])
    known = [*labels, *[None] * len(target)]
    made["precomputed"] = lambda: TransductiveClassifier(kernel="precomputed", preset="paper", n_added=4, n_jobs=1).fit(
        gram, known
    )
    for name in RIVALS:
        if METHODS[name].grouped and not METHODS[name].told and not name.endswith("-source"):
            made[name] = partial(_fit_rival, name, texts, labels, target)
    paths = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in made.items():
            paths[name] = folder / f"{name}.gramshift"
            fitted = make()
            fitted.save(paths[name])
            if name == "best":
                paths["best-texts"] = folder / "best-texts.gramshift"
                fitted.save(paths["best-texts"], texts=True)
    return paths


def _fit_rival(name: str, texts: list[str], labels: list[str], target: list[str]) -> Any:
    return METHODS[name].make().fit(texts, labels, target=target)


class Models(Target):
    """Model files."""

    name = "model"

    def __init__(self) -> None:
        self._heads: dict[str, dict[str, Any]] = {}
        self._arrays: dict[str, Arrays] = {}

    def prepare(self, folder: Path) -> None:
        (folder / "models").mkdir()
        for name, path in make_models(folder / "models").items():
            self._heads[name], self._arrays[name] = take_apart(path)

    def draw(self, rng: Random) -> Case:
        usual = [name for name in self._heads if name not in SLOW]
        name = rng.choice(list(self._heads)) if rng.random() < FEW else rng.choice(usual)
        asks = [ask for ask, chance in ASKS.items() if rng.random() < chance]
        if rng.random() < 0.1:
            return {"model": name, "steps": [], "raw": draw_steps(rng, RAW, tail=1500), "asks": asks}
        steps = [self._draw_step(rng, name) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        return {"model": name, "steps": steps, "raw": [], "asks": asks}

    def _draw_step(self, rng: Random, name: str) -> Step:
        arrays = self._arrays[name]
        if rng.random() < 0.5 or not arrays:
            path = draw_path(rng, self._heads[name])
            return [
                "head",
                path,
                *rng.choice([["set", rng.choice(VALUES)], ["set", rng.choice(VALUES)], ["change", rng.randrange(9)]]),
            ]
        chosen = rng.choice(list(arrays))
        roll = rng.random()
        if roll < 0.03:
            return ["member", chosen, rng.choice(["drop", "twice", "rename"])]
        if roll < 0.45:
            return [
                "array",
                chosen,
                "set",
                rng.randrange(10**6),
                rng.choice(FLOATS if arrays[chosen].dtype.kind == "f" else WHOLE),
            ]
        shape = rng.choice(
            ["less", "twice", "flat", "more", "none", "zeros", "sorted", "scaled", "turned", "reversed", "zero-column"]
        )
        if roll < 0.85:
            return ["array", chosen, shape]
        return ["array", chosen, "dtype", rng.choice(DTYPES), rng.random() < 0.5]

    def run(self, case: Case, folder: Path) -> None:
        path = folder / "in.gramshift"
        data = put_together(*change(self._heads[case["model"]], self._arrays[case["model"]], case["steps"]))
        path.write_bytes(apply_steps(data, case["raw"]))
        with may_refuse(str(path)):
            model = load(path)
        check_model(model, path, case["asks"])


def draw_path(rng: Random, value: Any) -> list[Any]:
    """A way into a plain value, down to a leaf in most cases."""
    path: list[Any] = []
    while isinstance(value, (dict, list)) and value and (not path or rng.random() < 0.9):
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        path.append(key)
        value = value[key]
    return path


def check_model(model: Any, path: Path, asks: Collection[str]) -> None:
    """What must hold for every model that was accepted."""
    if "info" in asks:
        found = describe_model(str(path))
        in_words(found)
        json.dumps(found)
    texts: Any = NEW
    if getattr(model, "kernel", None) == "precomputed":
        texts = np.zeros((2, len(model.labeled_iter_)))
    n, n_classes = len(texts), len(model.classes_)
    with may_refuse() if texts is not NEW else nullcontext():  # a gram that is not normalised says nothing of new documents
        probabilities, labels = model.predict_proba(texts), model.predict(texts)
    if probabilities.shape != (n, n_classes) or labels.shape != (n,):
        raise Wrong("probabilities or labels have a wrong shape", f"{probabilities.shape}, {labels.shape}")
    if not np.isfinite(probabilities).all() or (probabilities < 0).any():
        raise Wrong("probabilities are not numbers from 0 on", repr(probabilities))
    if not np.allclose(probabilities.sum(axis=1), 1):
        raise Wrong("probabilities do not add up to 1", repr(probabilities))
    if isinstance(model, TransductiveClassifier) and texts is NEW and "explain" in asks:
        with suppress(GramshiftError):  # some kernels cannot
            model.explain(NEW[0]).text()
    if "save" in asks:
        again = path.with_name("again.gramshift")
        model.save(again)
        if load(again).predict_proba(texts).tobytes() != probabilities.tobytes():
            raise Wrong("a model that is saved again predicts something else")


def take_apart(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The head and the arrays of a model file."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    head = json.loads(members.pop(HEAD))
    return head, {name.removesuffix(".npy"): np.load(io.BytesIO(data)) for name, data in members.items()}


def put_together(head: Any, arrays: Arrays, twice: list[str]) -> bytes:
    """A model file whose checksums fit."""
    members = {}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    if isinstance(head, dict):
        head = head | {"checksums": {name: sha256(data).hexdigest() for name, data in members.items()}}
    text = json.dumps(head).encode()
    whole = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        warnings.simplefilter("ignore")  # of names that stand twice
        for name, data in [(HEAD, text), *members.items(), *((f"{name}.npy", members[f"{name}.npy"]) for name in twice)]:
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.comment = sha256(text).hexdigest().encode()
    return whole.getvalue()


def change(head: Any, arrays: Arrays, steps: list[Step]) -> tuple[Any, Arrays, list[str]]:
    """Make the changes; one that finds its place gone is left out. The last are the arrays that stand in the file twice."""
    arrays, twice = dict(arrays), []
    for what, where, how, *more in steps:
        if what == "head":
            head = _change_head(head, where, how, more)
        elif where not in arrays:
            continue
        elif what == "array":
            arrays[where] = change_array(arrays[where], how, more)
            told = head.get("arrays") if isinstance(head, dict) else None
            if how == "dtype" and more[1] and isinstance(told, dict) and where in told:
                head = head | {"arrays": told | {where: more[0]}}
        elif how == "twice":
            twice.append(where)
        else:
            moved = arrays.pop(where)
            arrays |= {f"{where}x": moved} if how == "rename" else {}
    return head, arrays, [name for name in twice if name in arrays]


def _change_head(head: Any, path: list[Any], how: str, more: list[Any]) -> Any:
    return change_value(head, path, more[0]) if how == "set" else change_value(head, path, None, more[0])


def change_value(value: Any, path: list[Any], new: Any, how: int | None = None) -> Any:
    """A plain value with something new at a place, or with what stands there changed; as it was if there is no such place."""
    found = value
    for key in path:
        known = isinstance(found, dict) and isinstance(key, str) and key in found
        if not known and not (isinstance(found, list) and isinstance(key, int) and key < len(found)):
            return value
        found = found[key]
    return placed(value, path, new if how is None else _changed(found, how))


def _changed(value: Any, how: int) -> Any:
    """Something like a plain value, and not it."""
    if isinstance(value, bool) or value is None:
        return [not value, None, 0, "", [], {}, 1, "a", 2][how]
    if isinstance(value, (int, float)):
        return [value + 1, -value, value * 1000, value * 1e10, 0, float(value), str(value), value - 1, [value]][how]
    if isinstance(value, str):
        return [value + " ", value + "x", "", value * 2, value + "\0", value[:-1], " " * 1000, value.upper(), [value]][how]
    if isinstance(value, list):
        options = [value[1:], value * 2, value[::-1], value[:-1], [*value, None], value * 50, [], value[:1], [value]]
        return options[how]
    keys = list(value)
    return {key: value[key] for key in keys[how % max(1, len(keys)) + 1 :]} | (
        {NAMES[how % len(NAMES)]: how} if how % 2 else {}
    )


def change_array(array: NDArray[Any], how: str, more: list[Any]) -> NDArray[Any]:
    """The array with another value, shape or type; as it was if it has a type by now of which that cannot be made."""
    try:
        return _change_array(array, how, more)
    except (TypeError, ValueError):
        return array


def _change_array(array: NDArray[Any], how: str, more: list[Any]) -> NDArray[Any]:
    if how == "set" and array.size:
        changed = array.copy()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changed.reshape(-1)[more[0] % array.size] = np.array(more[1]).astype(array.dtype)
        return changed
    if how == "dtype":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return array.astype(more[0])
    changes: dict[str, Callable[[], NDArray[Any]]] = {
        "less": lambda: array[:-1],
        "twice": lambda: np.concatenate([array, array]),
        "flat": lambda: array.reshape(-1),
        "more": lambda: array[None],
        "none": lambda: array[:0],
        "zeros": lambda: np.zeros_like(array),
        "sorted": lambda: np.sort(array, axis=None).reshape(array.shape),
        "scaled": lambda: array * 1e300 if array.dtype.kind == "f" else array * 3,
        "turned": lambda: array.T,
        "reversed": lambda: array[::-1],
        "zero-column": lambda: array[..., :0],
    }
    with np.errstate(all="ignore"):
        return changes[how]() if array.ndim and how in changes else array


TARGET = Models()
