"""A trie of the n-grams of a model, in which the n-grams of new documents are looked up."""

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from secrets import randbits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.compiled import trie as loops
from gramshift.ngrams.compiled.sorting import radix_sort
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, block_width, run_serially
from gramshift.text.encode import Encoded

MAX_NODES = 2**32 - 1
CHUNK_CHARACTERS = 1 << 16  # that a thread looks up at a time, at least
N_CODE_POINTS = 0x110000
DAMAGED = "a table of n-grams is damaged"

Array = NDArray[Any]
Floats = NDArray[np.float64]
FAULTS = {
    loops.BAD_ROOT: "the first node is not the empty n-gram",
    loops.BAD_ORDER: "a node does not follow its parent and smaller characters",
    loops.BAD_CHARACTER: "a character is not in the alphabet",
    loops.BAD_FEATURE: "a feature does not exist",
    loops.TOO_DEEP: "an n-gram is longer than the range says",
    loops.TOO_SHORT: "an n-gram that counts is shorter than the range says",
}


@dataclass(frozen=True)
class Slots(HoldsArrays):
    """A hash table of nodes.

    Nodes of ``root`` characters, of ``bits`` bits each, are in ``tops``, deeper ones in
    ``children``, by their parent and last character.
    """

    root: int
    bits: int
    tops: NDArray[np.uint64]
    children: NDArray[np.uint64]
    factor: np.uint64


@dataclass(frozen=True)
class NGramTable(HoldsArrays):
    """A trie of n-grams, whose node i is the n-gram of its parent and one more character.

    Nodes are in the order of a dictionary; the first is the empty n-gram. Character c is the code
    point ``alphabet[c - 1]``. A node has the number of its feature, or -1; n-grams of one feature
    have the same value.
    """

    parents: NDArray[np.uint32]
    characters: NDArray[np.uint32]
    features: NDArray[np.int32]
    alphabet: NDArray[np.uint32]
    ngram_range: tuple[int, int]
    n_features: int

    @classmethod
    def from_arrays(
        cls,
        parents: Array,
        characters: Array,
        features: Array,
        alphabet: Array,
        ngram_range: tuple[int, int],
        n_features: int,
    ) -> "NGramTable":
        """Return a table of arrays from an untrusted file, or raise a ValueError."""
        _check_shapes(parents, characters, features, alphabet, ngram_range, n_features)
        parents, characters, features, alphabet = map(
            np.ascontiguousarray, (parents, characters, features, alphabet)
        )
        limits = (min(length, MAX_NODES) for length in ngram_range)
        fault = loops.check_trie(parents, characters, features, alphabet.size, n_features, *limits)
        if fault != loops.NO_FAULT:
            raise ValueError(f"{DAMAGED}: {FAULTS[fault]}")
        return cls(
            parents, characters, features, alphabet, (ngram_range[0], ngram_range[1]), n_features
        )

    @property
    def n_ngrams(self) -> int:
        """The number of n-grams that have a feature."""
        return int(np.count_nonzero(self.features >= 0))

    @cached_property
    def slots(self) -> Slots:
        """The nodes as a hash table; built when it is needed, and never saved."""
        bits = max(1, self.alphabet.size.bit_length())
        root = min(self.ngram_range[0], 64 // bits)
        depths = np.empty(self.parents.size, np.uint8)
        loops.find_depths(self.parents, depths)
        n_tops, n_below = np.count_nonzero(depths == root), np.count_nonzero(depths > root)
        tops, children = (np.zeros((2 * n + 2, 2), np.uint64) for n in (n_tops, n_below))
        factor = np.uint64(randbits(64) | 1)
        nodes = (self.parents, self.characters, self.features, depths)
        loops.fill_slots(*nodes, root, bits, factor, tops, children)
        return Slots(root, bits, tops, children, factor)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def sum_values(
        self,
        texts: Encoded,
        values: Floats,
        *,
        run: Run = run_serially,
        chunk: int = CHUNK_CHARACTERS,
    ) -> Floats:
        """Return for every document the sum of the values of its distinct n-grams.

        ``values`` has a row per feature. The texts are encoded with this table's alphabet as the
        known one. The sum of a document does not depend on other documents.
        """
        values, out = (
            np.ascontiguousarray(values, np.float64),
            np.zeros((texts.n_docs, values.shape[1])),
        )

        def work(docs: tuple[int, int]) -> None:
            loops.sum_documents(*self._walk(texts, docs), values, out)

        self._check(texts, values)
        run(work, _cut(texts, chunk))
        return out

    def spread_values(
        self,
        texts: Encoded,
        weights: Floats,
        coefficients: Floats,
        less: Floats | None = None,
        *,
        run: Run = run_serially,
        chunk: int = CHUNK_CHARACTERS,
    ) -> Floats:
        """Return the contribution of each character, one document after another.

        Each distinct n-gram of feature f adds weights[f] * (coefficients[f] - less[d]) to document
        d, divided evenly among its places there, and then among its characters. Texts are encoded
        as for :meth:`sum_values`.
        """
        coefficients = np.ascontiguousarray(coefficients, np.float64)
        less = (
            np.zeros((texts.n_docs, coefficients.shape[1]))
            if less is None
            else np.ascontiguousarray(less, np.float64)
        )
        weights = np.ascontiguousarray(weights, np.float64)
        out = np.zeros((texts.codes.size, coefficients.shape[1]))

        def work(docs: tuple[int, int]) -> None:
            loops.spread_documents(*self._walk(texts, docs), weights, coefficients, less, out)

        self._check(texts, coefficients, weights)
        if less.shape != (texts.n_docs, coefficients.shape[1]):
            raise ValueError(
                f"less has the shape {less.shape}; it must be "
                f"{(texts.n_docs, coefficients.shape[1])}"
            )
        run(work, _cut(texts, chunk))
        return out

    def ngram_text(self, node: int) -> str:
        """Return the characters of a node."""
        points = []
        while node:
            points.append(chr(self.alphabet[self.characters[node] - 1]))
            node = int(self.parents[node])
        return "".join(reversed(points))

    def _walk(self, texts: Encoded, docs: tuple[int, int]) -> tuple[Any, ...]:
        slots = self.slots
        return (
            texts.codes, texts.bounds, *docs, slots.tops, slots.children, slots.factor, slots.root,
            slots.bits, self.alphabet.size, min(self.ngram_range[1], MAX_NODES),
        )  # fmt: skip

    def _check(self, texts: Encoded, *by_feature: Floats) -> None:
        """Check what compiled code does not check; build the slots before threads need them."""
        if any(len(values) != self.n_features for values in by_feature):
            raise ValueError(
                f"values for {[len(values) for values in by_feature]} features; the table has "
                f"{self.n_features}"
            )
        if not np.array_equal(texts.alphabet[: self.alphabet.size], self.alphabet):
            raise ValueError(
                "texts must be encoded with the alphabet of the table as the known one"
            )
        assert self.slots


def build_table(
    texts: Encoded,
    places: Array,
    longest: Array,
    times: Array,
    ngram_range: tuple[int, int],
) -> NGramTable:
    """Build the trie of features, given as in :class:`.feature_lists.FeatureLists`.

    No n-gram belongs to two features. The nodes do not depend on the order of features, or on
    which of the places of an n-gram is given.
    """
    places, longest, times = (
        np.ascontiguousarray(a, t)
        for a, t in ((places, np.uint32), (longest, np.int64), (times, np.int64))
    )
    bits = max(1, texts.n_chars.bit_length())
    width = block_width(texts)
    order = np.arange(places.size, dtype=np.uint32)
    for skip in range((int(longest.max(initial=1)) - 1) // width * width, -1, -width):
        keys = np.empty(order.size, np.uint64)
        size = min(width, int(longest.max(initial=1)) - skip)
        loops.pack_features(texts.codes, places, longest, order, skip, size, bits, keys)
        _, order = radix_sort(keys, order, bits * size)
    features = (texts.codes, places, longest, times, order)
    no_ids = np.empty(0, np.uint32)
    n_nodes = loops.grow_trie(*features, no_ids, no_ids, np.empty(0, np.int32))
    if n_nodes > MAX_NODES:
        raise ValueError(
            f"the documents have {n_nodes} n-grams that count; one table can hold {MAX_NODES}"
        )
    parents, characters = np.zeros(n_nodes, np.uint32), np.zeros(n_nodes, np.uint32)
    numbers = np.full(n_nodes, -1, np.int32)
    loops.grow_trie(*features, parents, characters, numbers)
    used = np.zeros(texts.n_chars + 1, np.bool_)
    used[characters[1:]] = True
    alphabet = texts.alphabet[used[1:]]
    renumbered = np.cumsum(used, dtype=np.uint32)
    return NGramTable(parents, renumbered[characters], numbers, alphabet, ngram_range, places.size)


def _cut(texts: Encoded, chunk: int) -> list[tuple[int, int]]:
    """Return ranges (first, last) of documents with about ``chunk`` characters each."""
    cuts = np.unique(
        np.searchsorted(texts.bounds, np.arange(0, texts.codes.size + chunk, chunk)).clip(
            0, texts.n_docs
        )
    )
    return [
        (first, last) for first, last in pairwise([*cuts.tolist(), texts.n_docs]) if first < last
    ]


def _check_shapes(
    parents: Array,
    characters: Array,
    features: Array,
    alphabet: Array,
    ngram_range: tuple[int, int],
    n_features: int,
) -> None:
    arrays = {
        "parents": parents,
        "characters": characters,
        "features": features,
        "alphabet": alphabet,
    }
    for name, array in arrays.items():
        dtype = np.dtype(np.int32 if name == "features" else np.uint32)
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
            raise ValueError(f"{DAMAGED}: {name} is not a list of {dtype}")
    if not 1 <= parents.size == characters.size == features.size <= MAX_NODES:
        raise ValueError(
            f"{DAMAGED}: it has no nodes, or different numbers of parents, characters and features"
        )
    if alphabet.max(initial=0) >= N_CODE_POINTS or np.unique(alphabet).size != alphabet.size:
        raise ValueError(
            f"{DAMAGED}: its alphabet has a character twice, or one that does not exist"
        )
    if len(ngram_range) != 2 or not all(
        type(number) is int for number in (*ngram_range, n_features)
    ):
        raise ValueError(f"{DAMAGED}: its range is {ngram_range}, and it has {n_features} features")
    if not 1 <= ngram_range[0] <= ngram_range[1] or not 0 <= n_features < 2**31:
        raise ValueError(f"{DAMAGED}: its range is {ngram_range}, and it has {n_features} features")
