"""The n-grams of landmarks, found once: documents that come later are encoded against them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.ngrams.index import KINDS, n_blocks
from gramshift.ngrams.leaves import runs, sorting, tree
from gramshift.ngrams.leaves.layout import BLOCK
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, SortedShard, block_width, run_serially
from gramshift.text.encode import Encoded

MAX_CHARS = 2**31 - 2
Array = NDArray[Any]


@dataclass(frozen=True)
class Lookup(HoldsArrays):
    """A tree of the n-grams of landmarks and, for every node, which landmarks have it; see :mod:`gramshift.ngrams.leaves.tree`.

    ``top_keys`` and ``top_targets`` find the n-grams of ``root`` characters by these characters in ``n_bits`` bits each.
    ``edges`` has one more than there are, where a node without any says that its own begin: walks look ahead there.
    ``codes`` are the landmarks' characters with a 0 after each landmark, ``docs`` says whose they are.
    """

    kind: str
    ngram_range: tuple[int, int]
    n_landmarks: int
    self_values: NDArray[np.int64]
    alphabet: NDArray[np.uint32]
    root: int
    n_bits: int
    top_keys: Array
    top_targets: Array
    nodes: Array
    edges: Array
    codes: Array
    docs: Array
    items: Array
    members: Array
    counts: Array
    bits: Array


@dataclass(frozen=True)
class _Branch:
    """What one shard of positions becomes; targets, edges, items and members are counted within it."""

    top_keys: Array
    top_targets: Array
    nodes: Array
    edges: Array
    items: Array
    members: Array
    counts: Array
    self_values: Array


def build_lookup(
    ngrams: SortedNGrams,
    *,
    kind: str,
    dense_at: int | None = None,
    run: Run = run_serially,
    check_size: Callable[[int], None] = lambda n_bytes: None,
) -> Lookup:
    """Index the n-grams of landmarks; what ``dense_at`` of them share is kept as bits too, which decides speed alone.

    ``check_size`` is told how many bytes the lookup will take before they are allocated, and may raise.
    """
    texts = ngrams.texts
    if texts.codes.size + texts.n_docs > MAX_CHARS:
        raise InputError(f"the landmarks have {texts.codes.size} characters; one lookup can hold {MAX_CHARS}: take fewer")
    if dense_at is None:
        dense_at = max(16, 8 * n_blocks(texts.n_docs))
    limits, root = ngrams.limits, min(ngrams.ngram_range[0], block_width(texts))

    def make_branch(shard: SortedShard) -> _Branch:
        return _make_branch(shard, texts, kind, limits, root, dense_at)

    return _join(ngrams.map(make_branch, run=run), ngrams, kind, root, check_size)


def _make_branch(shard: SortedShard, texts: Encoded, kind: str, limits: tuple[int, int], root: int, dense_at: int) -> _Branch:
    (lo, hi), positions, common = limits, shard.positions, shard.common
    docs, self_values = shard.docs(), np.zeros(texts.n_docs, np.int64)
    runs.count_unshared(docs, texts.bounds, positions, common, lo, hi, self_values)
    found = shard.runs(root)
    nodes, edges = np.empty((len(found), 8), np.uint32), np.empty((positions.size + len(found), 2), np.uint32)
    tops = np.empty(positions.size, np.uint32)
    n_edges = tree.grow(texts.codes, texts.bounds, docs, positions, common, found, hi, nodes, edges, tops)
    at = np.flatnonzero(tops != tree.NOWHERE)
    top_keys = np.empty(at.size, np.uint64)
    sorting.pack(texts.codes, docs[at], positions[at], texts.bounds, 0, root, texts.n_chars.bit_length(), top_keys)

    # occurrences bound the members; what is not written takes no memory
    n_members, largest = int((found[:, 1] - found[:, 0]).sum()), min(texts.n_docs, positions.size)
    n_items = {"presence": 0, "intersection": n_members, "spectrum": len(found)}[kind]
    items, sizes = np.empty((n_items, 5), np.uint32), np.zeros(2, np.int64)
    members = np.empty((2 if kind == "spectrum" else 1) * n_members + largest, np.uint32)
    counts = np.empty(members.size if kind == "spectrum" else 0, np.uint32)
    tree.list_docs(
        docs, found, KINDS[kind], lo, dense_at, np.full(texts.n_docs, -1, np.int32), np.empty(largest, np.uint32),
        nodes, items, members, counts, self_values, sizes,
    )  # fmt: skip
    i, m = sizes.tolist()
    return _Branch(
        top_keys, tops[at], nodes, edges[:n_edges].copy(), items[:i].copy(), members[:m].copy(), counts[:m].copy(), self_values
    )


def _join(
    branches: list[_Branch],
    ngrams: SortedNGrams,
    kind: str,
    root: int,
    check_size: Callable[[int], None],
) -> Lookup:
    """Make one tree of all branches: what they refer to moves by what stands before it."""
    texts = ngrams.texts
    sizes = np.array([[0, 0, 0, 0]] + [[len(b.nodes), len(b.edges), len(b.items), len(b.members)] for b in branches])
    n_tops = sum(len(branch.top_keys) for branch in branches)
    n_dense = sum(int(part[:, tree.ROW].sum()) for branch in branches for part in (branch.nodes, branch.items))
    n_slots, n_chars = 1 << (2 * n_tops + 1).bit_length(), texts.codes.size + texts.n_docs
    n_bytes = int(sizes.sum(axis=0) @ [32, 8, 20, 8 if kind == "spectrum" else 4])
    check_size(n_bytes + 12 * n_slots + 8 * n_chars + n_blocks(texts.n_docs) * (n_dense + 1) * BLOCK // 8)
    if sizes.sum(axis=0).max() >= tree.ALONE:
        raise InputError(f"the landmarks have {sizes[:, 3].sum()} shared n-grams; one lookup can hold {tree.ALONE}: take fewer")
    for branch, (n_nodes, n_edges, n_items, n_members) in zip(
        branches, np.cumsum(sizes, axis=0).astype(np.uint32), strict=False
    ):
        for targets in (branch.top_targets, branch.edges[:, 1]):
            targets[targets < tree.ALONE] += n_nodes
        branch.nodes[:, tree.FIRST_EDGE] += n_edges
        for part in (branch.nodes, branch.items):
            part[:, [tree.START, tree.STOP]] += n_members
            part[part[:, tree.NEXT] > 0, tree.NEXT] += n_items

    def join(name: str, empty: Array) -> Array:
        return np.concatenate([empty, *(getattr(branch, name) for branch in branches)])

    top_keys, top_targets = np.zeros(n_slots, np.uint64), np.full(n_slots, tree.NOWHERE, np.uint32)
    for branch in branches:
        tree.fill_table(branch.top_keys, branch.top_targets, top_keys, top_targets)
    no_ids, last = np.empty(0, np.uint32), np.zeros((1, 8), np.uint32)
    last[0, tree.FIRST_EDGE] = sizes[:, 1].sum()
    nodes = np.concatenate([*(branch.nodes for branch in branches), last])
    items, members = join("items", np.empty((0, 5), np.uint32)), join("members", no_ids)
    bits = np.zeros((n_blocks(texts.n_docs), n_dense + 1, BLOCK // 64), np.uint64)
    n_rows = 0
    for part in (nodes, items):
        dense = np.flatnonzero(part[:, tree.ROW])
        order = np.argsort(part[dense, tree.START].astype(np.int64) - part[dense, tree.STOP], kind="stable")
        part[dense[order], tree.ROW] = np.arange(n_rows + 1, n_rows + dense.size + 1)  # the commonest stand together
        n_rows += dense.size
        tree.fill_rows(part, members, bits)
    spaced, docs = (np.zeros(texts.codes.size + texts.n_docs, np.uint32) for _ in range(2))
    doc_of = texts.doc_of
    places = np.arange(texts.codes.size) + doc_of
    spaced[places], docs[places] = texts.codes, doc_of
    return Lookup(
        kind=kind,
        ngram_range=ngrams.ngram_range,
        n_landmarks=texts.n_docs,
        self_values=sum((branch.self_values for branch in branches), start=np.zeros(texts.n_docs, np.int64)),
        alphabet=texts.alphabet,
        root=root,
        n_bits=max(1, texts.n_chars.bit_length()),
        top_keys=top_keys,
        top_targets=top_targets,
        nodes=nodes,
        edges=np.concatenate([join("edges", np.empty((0, 2), np.uint32)), np.zeros((1, 2), np.uint32)]),
        codes=spaced,
        docs=docs,
        items=items,
        members=members,
        counts=join("counts", no_ids),
        bits=bits,
    )
