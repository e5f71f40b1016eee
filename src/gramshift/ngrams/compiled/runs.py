"""Leaves that turn sorted positions into features (sets of documents that share n-grams).

A *run* is a range of sorted positions that agree on their first characters: the occurrences of one
n-gram. A longer n-gram with the same run (the shorter one is always followed by the same
characters) is not a feature of its own but adds 1 to the ``times`` of the run.
"""

import numpy as np

from gramshift.compiling import compiled

PRESENCE, INTERSECTION, SPECTRUM = 0, 1, 2


@compiled("int64(uint32[::1], int64)")
def smallest(counts, size):
    """Return the smallest of counts[:size]."""
    least = np.int64(counts[0])
    for k in range(1, size):
        least = min(least, np.int64(counts[k]))
    return least


@compiled("int64(int32[::1], int64, int64[:, ::1])")
def find_runs(common, lo, runs):
    """Write (begin, end, times) of every run of two or more positions; return how many there are.

    Positions from begin to end share ``shared`` characters, and at most ``outside`` characters with
    their neighbours: for all lengths between, the run is the same. A stack holds the runs that have
    not ended yet, each inside the one before.
    """
    n = common.size
    begins, levels = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    depth = n_runs = 0
    for i in range(1, n + 1):
        here = common[i] if i < n and common[i] >= lo else 0
        begin = i - 1
        while depth > 0 and levels[depth - 1] > here:
            depth -= 1
            begin, shared = begins[depth], levels[depth]
            outside = max(here, levels[depth - 1] if depth > 0 else 0, lo - 1)
            runs[n_runs, 0], runs[n_runs, 1], runs[n_runs, 2] = begin, i, shared - outside
            n_runs += 1
        if here > 0 and (depth == 0 or levels[depth - 1] < here):
            begins[depth], levels[depth] = begin, here
            depth += 1
    return n_runs


@compiled("void(uint32[::1], int64[::1], uint32[::1], int32[::1], int64, int64, int64[::1])")
def count_unshared(docs, bounds, positions, common, lo, hi, self_values):
    """Add the n-grams that occur once in all texts to the self-kernel of their document."""
    n = positions.size
    for i in range(n):
        shared = max(common[i], common[i + 1] if i + 1 < n else 0, lo - 1)
        available = min(hi, bounds[np.int64(docs[i]) + 1] - positions[i])
        self_values[docs[i]] += max(available - shared, 0)


@compiled("int64(uint32[::1], int64, int64, uint32[::1], int64, uint32[::1], int32[::1])")
def tally(docs, begin, end, members, first, counts, slot):
    """Write the distinct documents of a run to members[first:] and their frequencies to ``counts``.

    Return how many documents there are. ``slot`` is -1 everywhere, before and after.
    """
    size = 0
    for i in range(begin, end):
        doc = docs[i]
        if slot[doc] < 0:
            slot[doc] = size
            members[first + size] = doc
            counts[size] = 0
            size += 1
        counts[slot[doc]] += 1
    for k in range(size):
        slot[members[first + k]] = -1
    return size


@compiled("void(int64, int64, uint32[::1], int64, uint32[::1], int64, int64[::1])")
def add_to_self_values(kind, weight, members, first, counts, size, self_values):
    """Add the value of a run of ``weight`` n-grams to the self-kernel of each of its documents."""
    for k in range(size):
        count = np.int64(counts[k]) if kind != PRESENCE else 1
        self_values[members[first + k]] += weight * (count * count if kind == SPECTRUM else count)


@compiled("int64(int64, uint32[::1], int64, uint32[::1], int64)")
def keep_above(level, members, end, counts, size):
    """Copy the last ``size`` members that count more than ``level`` to ``end``; count them."""
    kept = 0
    for k in range(size):
        if counts[k] > level:
            members[end + kept], counts[kept] = members[end - size + k], counts[k]
            kept += 1
    return kept


@compiled("void(uint32[::1], int64, uint32[::1], int64)")
def sort_pairs(docs, first, counts, size):
    """Sort docs[first:first + size] and, unless it is empty, counts[:size] along with it.

    Shellsort is fast for the short lists that most n-grams have, and for long ones.
    """
    gap = 1
    while gap < size // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, size):
            doc = docs[first + k]
            count = counts[k] if counts.size else 0
            j = k - gap
            while j >= 0 and docs[first + j] > doc:
                docs[first + j + gap] = docs[first + j]
                if counts.size:
                    counts[j + gap] = counts[j]
                j -= gap
            docs[first + j + gap] = doc
            if counts.size:
                counts[j + gap] = count
        gap //= 3


@compiled("int64(uint32[::1], int64, uint32[::1], int64, int64)")
def columns_first(members, first, counts, size, n_cols):
    """Move documents that are columns to the front of members[first:first + size]; count them."""
    n_front = 0
    for k in range(size):
        doc, count = members[first + k], counts[k]
        if doc < n_cols:
            members[first + k], counts[k] = members[first + n_front], counts[n_front]
            members[first + n_front], counts[n_front] = doc, count
            n_front += 1
    return n_front


@compiled(
    "void(uint32[::1], int64[:, ::1], int64, int64, int64, int64, int32[::1], uint32[::1],"
    " int64[::1],"
    " int64[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], int64[::1])"
)
def collect(
    docs, runs, kind, n_cols, first_row, dense_at, slot, counts, self_values,
    starts, n_columns, times, members, member_counts, sizes,
):  # fmt: skip
    """Write every feature that some row shares with an earlier column.

    ``sizes`` is set to the numbers of features and of members written.
    """
    f = n_members = 0
    for run in range(runs.shape[0]):
        weight = runs[run, 2]
        size = tally(docs, runs[run, 0], runs[run, 1], members, n_members, counts, slot)
        add_to_self_values(kind, weight, members, n_members, counts, size, self_values)
        level = 0
        while size > 1:
            n_front = size
            if first_row > 0:
                n_front = columns_first(members, n_members, counts, size, n_cols)
                if n_front in (0, size):
                    break
            if n_front < dense_at:
                sort_pairs(members, n_members, counts, n_front)
            starts[f], n_columns[f], times[f] = n_members, n_front, weight
            f += 1
            if kind == SPECTRUM:
                for k in range(size):
                    member_counts[n_members + k] = counts[k]
            n_members += size
            if kind != INTERSECTION:
                break
            # the intersection is a sum of sets: documents with 1, 2, ... occurrences or more
            step = smallest(counts, size) - level
            times[f - 1] *= step
            level += step
            size = keep_above(level, members, n_members, counts, size)
    starts[f] = n_members
    sizes[0], sizes[1] = f, n_members


@compiled(
    "void(uint32[::1], int32[::1], uint32[::1], int64[::1], int64, int64, int64, int64[::1],"
    " uint64[::1])"
)
def number_shard(positions, common, doc_of, bounds, lo, hi, offset, key_bounds, keys):
    """Write a key for every n-gram that starts at one of the positions: its number and its place.

    Numbers begin at ``offset``. An n-gram has the number of the first sorted position where it
    occurs, with a separate range of numbers for each length. The keys of a document are ordered by
    length, then by place.
    """
    n = positions.size
    leader = np.zeros(hi - lo + 1, np.int64)
    for i in range(n):
        for length in range(max(lo, common[i] + 1), hi + 1):
            leader[length - lo] = i
        doc = np.int64(doc_of[positions[i]])
        size, place = bounds[doc + 1] - bounds[doc], positions[i] - bounds[doc]
        at = key_bounds[doc] + place
        for length in range(lo, min(hi, size - place) + 1):
            number = offset + (length - lo) * n + leader[length - lo]
            keys[at] = (np.uint64(number) << np.uint64(32)) | np.uint64(place)
            at += size - length + 1
