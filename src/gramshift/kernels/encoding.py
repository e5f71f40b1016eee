"""Vectors of whole texts: an encoder of the user is called in batches, and its output checked."""

from collections.abc import Callable, Iterator, Sequence
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.runtime import Runtime

Encoder = Callable[[list[str]], Any]
"""Takes a list of texts and returns an array with a row of numbers for each."""
BATCH = 256  # texts of a call: few enough to be interrupted soon
MAX_NUMBER = 1e60  # squares of larger numbers could overflow
MAX_NAME = 200
N_COPIES = 4  # of the vectors that a fit makes at most
SENTENCES = ["The first one is good.", "Nobody came back in 1984!", "wo bleibt der zweite Zug?"]
# of a fingerprint, as other machines round otherwise
TOLERANCE = 1e-2  # relative to the largest number of a column
MIN_TOLERANCE = 1e-3  # relative to the largest number of all


def encode_texts(
    encoder: Encoder, texts: Sequence[str], runtime: Runtime | None = None, *, width: int = 0
) -> NDArray[Any]:
    """Return a vector for each text, in single or double precision.

    Equal texts are encoded once. An empty text has a vector of zeros, without being encoded.
    ``width`` is the number of columns, 0 if it is not known.
    """
    runtime = runtime or Runtime(1)
    numbers: dict[str, int] = {}
    for text in texts:
        if text.strip():
            numbers.setdefault(text, len(numbers))
    wanted = list(numbers)
    encoded = np.zeros((1, width or 1))
    for start in range(0, len(wanted), BATCH):
        runtime.report("encoding", start, len(wanted))
        batch = list(map(without_surrogates, wanted[start : start + BATCH]))
        vectors = check_vectors(encoder(batch), len(batch), width)
        if not start:
            width = vectors.shape[1]
            advice = "fit on fewer documents, or leave the encoder out"
            n_bytes = N_COPIES * vectors.itemsize * width * len(texts)
            runtime.require(f"the vectors of {len(texts)} texts", n_bytes, advice)
            encoded = np.zeros((len(wanted) + 1, width), vectors.dtype)
        encoded = encoded.astype(np.result_type(encoded, vectors), copy=False)
        encoded[start : start + len(batch)] = vectors
    if wanted:
        runtime.report("encoding", len(wanted), len(wanted))
    return encoded[[numbers.get(text, -1) for text in texts]]


def without_surrogates(text: str) -> str:
    """Return a text without lone surrogates, which encoders in other languages cannot take."""
    return text.encode("utf-8", "replace").decode()


def check_vectors(result: Any, n: int, width: int = 0, *, name: str = "encoder") -> NDArray[Any]:
    """Return the vectors of n texts as an array; raise an error if they are none.

    ``name`` is that of their origin.
    """
    wanted = f"({n}, {width or 'width'})"
    advice = f"it must give an array of shape {wanted} with finite numbers, a row for each text"
    reason = ""
    try:
        vectors = np.asarray(list(result) if isinstance(result, Iterator) else result)
    except Exception as error:  # whatever a foreign object raises
        vectors, reason = np.empty((), object), f" ({' '.join(str(error).split())[:200]})"
    if vectors.dtype.kind not in "biuf":
        raise InputError(
            f"{name} gave a {type(result).__name__} that is no array of numbers for {n} texts"
            f"{reason}: {advice}"
        )
    if vectors.ndim != 2 or len(vectors) != n or vectors.shape[1] != (width or vectors.shape[1]):
        raise InputError(f"{name} gave an array of shape {vectors.shape} for {n} texts: {advice}")
    if not vectors.shape[1]:
        raise InputError(f"{name} gave vectors without numbers for {n} texts: {advice}")
    is_wrong = ~(np.abs(vectors.astype(np.float64)) <= MAX_NUMBER)  # also where it is NaN
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        value = vectors[row, column]
        raise InputError(f"{name} gave {value} in row {row} for {n} texts: {advice}")
    return vectors.astype(np.float32 if vectors.dtype in (np.float16, np.float32) else np.float64)


def is_same(one: Encoder, other: Encoder) -> bool:
    """Return True for one object, or for one method, which is a new object at each access."""
    if isinstance(one, MethodType) and isinstance(other, MethodType):
        return one.__self__ is other.__self__ and one.__func__ is other.__func__
    return one is other


def name_encoder(encoder: Encoder) -> str:
    """Return the name of a function, or the class of another callable."""
    name = getattr(encoder, "__qualname__", type(encoder).__qualname__)
    return str(name)[:MAX_NAME]


def take_fingerprint(encoder: Encoder) -> NDArray[np.float64]:
    """Return the vectors of three fixed sentences."""
    return encode_texts(encoder, SENTENCES).astype(np.float64)


def is_alike(fingerprint: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True if two fingerprints are of one encoder, perhaps on other machines."""
    if fingerprint.shape != other.shape:
        return False
    sizes = np.abs(np.concatenate([fingerprint, other]))
    allowed = np.maximum(TOLERANCE * sizes.max(axis=0), MIN_TOLERANCE * sizes.max())
    return bool((np.abs(fingerprint - other) <= allowed).all())
