"""Leaves that grow a tree of n-grams from sorted positions: what two n-grams have in common is stored once.

A *node* is a run of positions, the occurrences of one n-gram, for all lengths from above its parent's depth to its own; an
*edge* leads from it by the next character to a longer n-gram: another node, or a text position where the n-gram stands alone.
"""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.layout import set_bits
from gramshift.ngrams.leaves.runs import INTERSECTION, PRESENCE, SPECTRUM, add_to_self_values, keep_above, tally
from gramshift.ngrams.leaves.sorting import SPREAD

ALONE = 0x80000000  # marks a text position among targets of edges; other targets are nodes
NOWHERE = 0xFFFFFFFF
START, STOP, STEP, ROW, NEXT, PLACE, DEPTH, FIRST_EDGE = range(8)  # columns of nodes, and the first five of items


@leaf(
    "int64(uint32[::1], int64[::1], uint32[::1], uint32[::1], int32[::1], int64[:, ::1], int64,"
    " uint32[:, ::1], uint32[:, ::1], uint32[::1])"
)
def grow(codes, bounds, docs, positions, common, runs, hi, nodes, edges, tops):
    """Make every run a node, and write its edges (character, target), the commonest first; return how many edges there are.

    Runs come with the inner ones first. tops[i] is the target for the n-gram of the smallest depth that begins to stand at
    positions[i], NOWHERE for later positions of its run. Places are counted with one separator after every document.
    """
    n_edges, sizes = 0, np.empty(edges.shape[0], np.int64)
    for i in range(positions.size):
        tops[i] = ALONE | (positions[i] + docs[i])
    for r in range(runs.shape[0]):
        begin, end = runs[r, 0], runs[r, 1]
        depth = np.int64(common[begin + 1 if tops[begin] & ALONE else runs[tops[begin], 1]])
        nodes[r, PLACE], nodes[r, DEPTH] = positions[begin] + docs[begin], depth
        nodes[r, FIRST_EDGE] = n_edges
        i = begin
        while i < end:
            target, place = tops[i], np.int64(positions[i])
            following = i + 1 if target & ALONE else runs[target, 1]
            if not target & ALONE or depth < min(hi, bounds[np.int64(docs[i]) + 1] - place):
                e = n_edges
                while e > nodes[r, FIRST_EDGE] and sizes[e - 1] < following - i:
                    edges[e, 0], edges[e, 1], sizes[e] = edges[e - 1, 0], edges[e - 1, 1], sizes[e - 1]
                    e -= 1
                edges[e, 0], edges[e, 1], sizes[e] = codes[place + depth], target, following - i
                n_edges += 1
            tops[i] = NOWHERE
            i = following
        tops[begin] = r
    return n_edges


@leaf(
    "void(uint32[::1], int64[:, ::1], int64, int64, int64, int32[::1], uint32[::1],"
    " uint32[:, ::1], uint32[:, ::1], uint32[::1], uint32[::1], int64[::1], int64[::1])"
)
def list_docs(docs, runs, kind, lo, dense_at, slot, counts, nodes, items, members, member_counts, self_values, sizes):
    """Write which documents every node has, as ranges of members; sizes = (items, members) written.

    A node counts ``STEP`` for each of its documents. What more it has are items, ``NEXT`` one after another (0: no more).
    Intersection has one for every number of occurrences at which documents drop out. Spectrum has counts, and if the node is
    dense an item with the counts beyond its step.
    """
    n_items = n_members = 0
    for r in range(runs.shape[0]):
        nodes[r, :PLACE] = 0
        size = tally(docs, runs[r, 0], runs[r, 1], members, n_members, counts, slot) if nodes[r, DEPTH] >= lo else 0
        weight = min(runs[r, 2], np.int64(nodes[r, DEPTH]) - lo + 1)
        add_to_self_values(kind, weight, members, n_members, counts, size, self_values)
        level, item = 0, nodes[r]
        while size > 0:
            step = np.int64(counts[:size].min()) - level if kind != PRESENCE else 1
            dense = size >= dense_at and (kind != SPECTRUM or level == 0)
            item[START], item[STOP], item[STEP], item[ROW] = n_members, n_members + size, step, dense
            if kind == SPECTRUM:
                for k in range(size):
                    member_counts[n_members + k] = counts[k] - level
            n_members += size
            level += step
            more = kind == INTERSECTION or (kind == SPECTRUM and dense)
            size = keep_above(level, members, n_members, counts, size) if more else 0
            if size:
                n_items += 1
                item[NEXT] = n_items
                item = items[n_items - 1]
                item[NEXT] = 0
    sizes[0], sizes[1] = n_items, n_members


@leaf("void(uint32[:, ::1], uint32[::1], uint64[:, :, ::1])")
def fill_rows(items, members, bits):
    """Set the bits of the documents of every dense item, or node, in its row."""
    for k in range(items.shape[0]):
        if items[k, ROW]:
            docs = members[items[k, START] : items[k, STOP]]
            set_bits(docs, docs.size, np.int64(items[k, ROW]) - 1, bits)


@leaf("void(uint64[::1], uint32[::1], uint64[::1], uint32[::1])")
def fill_table(keys, targets, table_keys, table_targets):
    """Open addressing in a table whose size is a power of two; no key is 0, which marks a free slot."""
    mask = np.uint64(table_keys.size - 1)
    for i in range(keys.size):
        at = (keys[i] * SPREAD >> np.uint64(32)) & mask
        while table_keys[at]:
            at = (at + np.uint64(1)) & mask
        table_keys[at], table_targets[at] = keys[i], targets[i]


@leaf("uint32(uint64[::1], uint32[::1], uint64)")
def find_top(table_keys, table_targets, key):
    """The target of a key, or NOWHERE."""
    mask = np.uint64(table_keys.size - 1)
    at = (key * SPREAD >> np.uint64(32)) & mask
    while table_keys[at] and table_keys[at] != key:
        at = (at + np.uint64(1)) & mask
    return table_targets[at]


@leaf("uint32(uint32[:, ::1], uint32[:, ::1], uint32, uint32)")
def find_child(nodes, edges, node, char):
    """Where the edge of a node with this character leads, or NOWHERE; edges of a node end where those of the next begin."""
    for e in range(nodes[node, FIRST_EDGE], nodes[node + np.uint32(1), FIRST_EDGE]):
        if edges[e, 0] == char:
            return edges[e, 1]
    return np.uint32(NOWHERE)
