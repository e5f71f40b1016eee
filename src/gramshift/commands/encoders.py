"""Encoders by name: ``--encoder wordllama``, and models in folders of the user.

Nothing is downloaded: a model that is not on this machine is refused.
"""

import math
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.command_options import ENCODERS
from gramshift.errors import InputError, MissingPackageError
from gramshift.kernels.encoding import check_vectors, without_surrogates
from gramshift.model.archive import read_header
from gramshift.runtime import Runtime
from gramshift.safe_reading import open_regular

WORDLLAMA = "wordllama"
PACKAGES = {WORDLLAMA: "gramshift[encoder]", "model2vec": "model2vec"}
PACKAGES["sentence-transformers"] = "sentence-transformers"
Encode = Callable[[list[str]], Any]
BYTES_TO_CHECK = 24  # of each number: copies in double precision
EQUAL = 1e-3  # by which vectors of equal texts may differ, relative to their largest number


def check_encoder_name(name: str) -> None:
    """Raise an error unless this names an encoder whose package and folder are there."""
    kind, colon, folder = name.partition(":")
    if kind not in PACKAGES or (kind == WORDLLAMA) == bool(colon):
        raise InputError(f"--encoder {name[:100]}: give {ENCODERS}")
    if find_spec(kind.replace("-", "_")) is None:
        package = PACKAGES[kind]
        raise MissingPackageError(
            f"--encoder {name} needs the package {kind}: pip install '{package}'", name=kind
        )
    if colon and not os.path.isdir(folder):
        fetch = f"hf download {folder or 'NAME'} --local-dir model"
        raise InputError(
            f"--encoder {name}: there is no folder {folder!r}, and Gramshift downloads nothing; "
            f"download a model with {fetch}, and give --encoder {kind}:model"
        )


@cache
def open_encoder(name: str) -> Encode:
    """Return the encoder of this name, which has it as its own."""
    check_encoder_name(name)
    kind, _, folder = name.partition(":")
    opens = {
        WORDLLAMA: _open_wordllama,
        "model2vec": _open_model2vec,
        "sentence-transformers": _open_sentence_transformer,
    }
    try:
        opened = opens[kind](folder)
    except Exception as error:  # whatever a foreign package raises
        reason = " ".join(str(error).split())
        raise InputError(f"--encoder {name}: {kind} cannot open this model: {reason}") from error

    def encode(texts: list[str]) -> Any:
        try:
            return opened(texts)
        except Exception as error:  # whatever a foreign package raises
            reason = " ".join(str(error).split())
            raise InputError(
                f"--encoder {name}: {kind} cannot encode these texts: {reason}"
            ) from error

    encode.__qualname__ = name  # model files record it
    return encode


def _open_wordllama(_: str) -> Encode:
    import wordllama

    folder = Path(wordllama.__file__).parent  # it looks for its own tokenizer in a cache alone
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True).embed  # type: ignore[no-any-return]


def _open_model2vec(folder: str) -> Encode:
    from model2vec import StaticModel

    return StaticModel.from_pretrained(folder).encode  # type: ignore[no-any-return]


def _open_sentence_transformer(folder: str) -> Encode:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(folder, local_files_only=True).encode  # type: ignore[no-any-return]


def vectors_of_texts(texts: list[str], vectors: NDArray[Any]) -> Encode:
    """Return an encoder that knows these texts alone; equal texts must have equal vectors."""
    known: dict[str, NDArray[Any]] = {}
    for text, row in zip(texts, vectors, strict=True):
        first = known.setdefault(without_surrogates(text), row)
        if not np.allclose(first, row, rtol=EQUAL, atol=EQUAL * float(np.abs(row).max())):
            raise InputError(
                f"--vectors has two vectors for one text, {text[:60]!r}: give the same one to "
                "equal texts, or put into the text column all that the vectors come from"
            )

    def encode(texts: list[str]) -> Any:
        return np.array([known[text] for text in texts])

    encode.__qualname__ = "--vectors"
    return encode


def read_vectors(name: str, n: int, memory: str | None) -> NDArray[Any]:
    """Read the vectors of the n documents of --vectors from a file of NumPy."""
    runtime = Runtime(memory_limit=memory)
    try:
        with open_regular(name, follow=True) as file:
            shape, _, dtype = read_header(file, os.fstat(file.fileno()).st_size, name)
            n_bytes = math.prod(shape) * (dtype.itemsize + BYTES_TO_CHECK)
            runtime.require(f"--vectors {name}", n_bytes, "give fewer or shorter vectors")
            file.seek(0)
            found = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no array of NumPy (.npy)"
        advice = "give two files that numpy.save has written"
        raise InputError(f"--vectors {name}: {reason}; {advice}") from None
    return check_vectors(found, n, name=f"--vectors {name}")


def load_with_encoder(path: str, encoder: str | None) -> Any:
    """Load a model; say what to type if it needs another encoder than the named one."""
    from gramshift.model.classifier import load
    from gramshift.model.saving import EncoderError

    try:
        return load(path, encoder=None if encoder is None else open_encoder(encoder))
    except EncoderError as error:
        known = error.name.partition(":")[0] in PACKAGES
        advice = f"give --encoder {error.name}" if known else f"{error.advice}, in Python"
        raise InputError(f"{error.fault}: {advice}") from None
