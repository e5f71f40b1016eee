"""The target ``checkpoint``: folders of finished pieces, damaged, or forged with checksums that fit; then the run goes on."""

import json
import os
import shutil
import warnings
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.made_up import sentence
from fuzz.models import DTYPES, FLOATS, VALUES, WHOLE, change_array, change_value, draw_path
from fuzz.mutation import Step, apply_steps, draw_steps
from fuzz.targets import Case, Target, Wrong, may_refuse
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.checkpoint import ALIGNED, HEAD, PIECE
from gramshift.runtime.resources import Runtime

RUNS = [*["gram", "normalised"] * 4, "fit"]  # the last one takes longer
WORDS = ["{", "}", '"', "[" * 5000, ": ", ", ", "null", "\0", "\xff", "1e999", "NaN", '"format": 1', '"gramshift"']
SHAPES = ["less", "twice", "flat", "more", "none", "zeros", "scaled", "turned", "reversed", "zero-column"]
Files = dict[str, bytes]


def _texts() -> tuple[list[str], list[str], list[str]]:
    rng = Random("checkpoints")
    labels = ["pos" if place % 2 else "neg" for place in range(8)]
    return [sentence(rng, good=one == "pos") for one in labels], labels, [sentence(rng, good=True) for _ in range(6)]


def go_on(run: str, folder: Path) -> NDArray[Any]:
    """Do the work of a run, with what its folder has."""
    texts, labels, target = _texts()
    if run in ("gram", "normalised"):
        kernel = StringKernel(ngram_range=(2, 3), normalize=run == "normalised", n_jobs=1)
        return kernel.compute(texts, runtime=Runtime(1, "1 GiB", tile=(3, 3), tiles_in_file=2, resume=folder))
    options: dict[str, Any] = {"ngram_range": (2, 3), "n_added": 2}
    fitted = TransductiveClassifier(preset="paper", n_jobs=1, **options).fit(texts, labels, target=target, resume=folder)
    return np.asarray(fitted.transduction_proba_)


class Checkpoints(Target):
    """Folders of finished pieces."""

    name = "checkpoint"

    def __init__(self) -> None:
        self._files: dict[str, Files] = {}
        self._results: dict[str, NDArray[Any]] = {}

    def prepare(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for run in dict.fromkeys(RUNS):
                kept = folder / run
                self._results[run] = go_on(run, kept)
                self._files[run] = {path.name: path.read_bytes() for path in sorted(kept.iterdir()) if path.name != "lock"}

    def draw(self, rng: Random) -> Case:
        run = rng.choice(RUNS)
        steps = [self._draw_step(rng, self._files[run]) for _ in range(rng.choice([1, 1, 2, 3]))]
        return {"run": run, "steps": steps}

    def _draw_step(self, rng: Random, files: Files) -> Step:
        piece = rng.choice([name for name in files if name.endswith(PIECE)])
        roll = rng.random()
        if roll < 0.2:
            return ["bytes", rng.choice(list(files)), draw_steps(rng, WORDS, most=2)]
        if roll < 0.3:
            return ["head", HEAD, draw_path(rng, json.loads(files[HEAD])), rng.choice(VALUES)]
        if roll < 0.35:
            return [
                "file",
                rng.choice([piece, piece, HEAD]),
                rng.choice(["drop", "empty", "folder", "link", "nowhere", "pipe", "copy"]),
            ]
        return self._forge(rng, files, piece)

    def _forge(self, rng: Random, files: Files, piece: str) -> Step:
        arrays, roll = unpack(files[piece]), rng.random()
        key = rng.choice(list(arrays))
        if roll < 0.4:
            values = FLOATS if arrays[key].dtype.kind == "f" else WHOLE
            return ["array", piece, key, "set", rng.randrange(10**6), rng.choice(values)]
        if roll < 0.6:
            return ["array", piece, key, rng.choice(SHAPES)]
        if roll < 0.75:
            return ["array", piece, key, "dtype", rng.choice([one for one in DTYPES if one != "<c16"])]
        described = [[key, array.dtype.str, list(array.shape)] for key, array in arrays.items()]
        return [
            "described",
            piece,
            draw_path(rng, described),
            rng.choice([*VALUES, -1, "|O", "<m8[ns]", 10**12, [10**6, 10**6]]),
        ]

    def run(self, case: Case, folder: Path) -> None:
        kept = folder / "kept"
        if kept.is_symlink() or kept.exists():
            shutil.rmtree(kept)
        kept.mkdir()
        files = dict(self._files[case["run"]])
        for step in case["steps"]:
            change_files(files, step)
        for name, data in files.items():
            (kept / name).write_bytes(data)
        for step in case["steps"]:
            if step[0] == "file":
                _change_entry(kept, step[1], step[2])
        forged = any(step[0] in ("array", "described") for step in case["steps"])
        with may_refuse(*(() if forged else (str(kept),))):  # what is done with forged numbers knows no folder
            result = go_on(case["run"], kept)
        expected = self._results[case["run"]]
        if result.shape != expected.shape or result.dtype != expected.dtype:
            raise Wrong("a result has another shape or type", f"{result.dtype} {result.shape}")
        if not np.isfinite(result).all() or (result < 0).any():
            raise Wrong("a result has numbers that cannot be", repr(result)[:400])
        if not forged and result.tobytes() != expected.tobytes():
            raise Wrong("a result has other bits", repr(result)[:400])


def change_files(files: Files, step: Step) -> None:
    """Change the contents of a file; forged pieces have checksums that fit."""
    what, name, *more = step
    if name not in files:
        return
    if what == "bytes":
        files[name] = apply_steps(files[name], more[0])
    elif what == "head":
        try:
            head = json.loads(files[name])
        except (ValueError, RecursionError):  # damaged by a step before
            return
        files[name] = json.dumps(change_value(head, more[0], more[1])).encode()
    elif what in ("array", "described"):
        try:
            arrays = unpack(files[name])
        except (ValueError, KeyError, TypeError, OverflowError, MemoryError, RecursionError):
            return
        described = None
        if what == "array" and more[0] in arrays:
            arrays[more[0]] = change_array(arrays[more[0]], more[1], [*more[2:], False])
        elif what == "described":
            described = [[key, array.dtype.str, list(array.shape)] for key, array in arrays.items()]
            described = change_value(described, more[0], more[1])
        try:
            files[name] = pack(arrays, described, name.removesuffix(PIECE), json.loads(files[HEAD]))
        except (ValueError, RecursionError):  # the run is not known any more
            return


def _change_entry(folder: Path, name: str, how: str) -> None:
    """Put something else where a file of ours is expected."""
    path = folder / name
    if not path.is_file():
        return
    data = path.read_bytes()
    if how != "copy":
        path.unlink()
    if how == "empty":
        path.touch()
    elif how == "folder":
        path.mkdir()
    elif how == "link":
        (folder.parent / "elsewhere").write_bytes(data)
        path.symlink_to(folder.parent / "elsewhere")
    elif how == "nowhere":
        path.symlink_to(folder.parent / "nowhere")
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "copy":
        (folder / f"copy-{name}").write_bytes(data)


def unpack(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a piece that is whole."""
    place = ALIGNED + int.from_bytes(data[:8], "little")
    arrays = {}
    for key, dtype, shape in json.loads(data[ALIGNED:place]):
        place += -place % ALIGNED
        size = np.dtype(dtype).itemsize * int(np.prod(shape))
        arrays[key] = np.frombuffer(data[place : place + size], dtype).reshape(shape)
        place += size
    return arrays


def pack(arrays: dict[str, NDArray[Any]], described: Any, name: str, run: Any) -> bytes:
    """A piece whose checksum fits its run; ``described`` is what it says of its arrays, if that is not so."""
    if described is None:
        described = [[key, array.dtype.str, list(array.shape)] for key, array in arrays.items()]
    head = json.dumps(described).encode()
    parts = [len(head).to_bytes(8, "little"), head, *(np.ascontiguousarray(array).tobytes() for array in arrays.values())]
    body = b"".join(part + bytes(-len(part) % ALIGNED) for part in parts)
    start = zlib.crc32(name.encode(), zlib.crc32(json.dumps(run, sort_keys=True).encode()))
    return body + zlib.crc32(body, start).to_bytes(4, "little")


TARGET = Checkpoints()
