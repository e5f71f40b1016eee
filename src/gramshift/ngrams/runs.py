"""Leaves that turn sorted positions into features: sets of documents that share n-grams.

A *run* is a stretch of sorted positions that agree on their first ``length`` characters: the occurrences of one n-gram. A
longer n-gram with the same run (it always follows the shorter one) is no feature of its own, it adds to ``times``.
"""

import numpy as np

from gramshift.ngrams.leaf import leaf

PRESENCE, INTERSECTION, SPECTRUM = 0, 1, 2


@leaf("boolean(int32[::1], int64, int64, int64, int64)")
def is_new_run(common, begin, end, length, lo):
    """False if the run was there already one character earlier."""
    before = common[begin] if begin else 0
    after = common[end] if end < common.size else 0
    return end - begin > 1 and (length == lo or max(before, after) == length - 1)


@leaf("int64(int32[::1], int64, int64, int64[::1])")
def find_group(common, begin, lo, longest):
    """Where the positions that share their first ``lo`` characters with ``begin`` end, and what two of them share at most."""
    end = begin + 1
    longest[0] = 0
    while end < common.size and common[end] >= lo:
        longest[0] = max(longest[0], common[end])
        end += 1
    return end


@leaf("void(int32[::1], int64, int64, int64[::1])")
def measure_runs(common, lo, hi, sizes):
    """sizes = (number of runs, sum of their lengths): an upper bound for what :func:`collect` writes."""
    longest = np.zeros(1, np.int64)
    sizes[0] = sizes[1] = begin = 0
    while begin < common.size:
        end = find_group(common, begin, lo, longest)
        for length in range(lo, min(hi, longest[0]) + 1):
            first = begin
            for i in range(begin + 1, end + 1):
                if i == end or common[i] < length:
                    if is_new_run(common, first, i, length, lo):
                        sizes[0] += 1
                        sizes[1] += i - first
                    first = i
        begin = end


@leaf("void(uint32[::1], int64[::1], uint32[::1], int32[::1], int64, int64, int64[::1])")
def count_unshared(docs, bounds, positions, common, lo, hi, self_values):
    """Add n-grams that occur once in all the texts to the self-kernel of their document: they touch nothing else."""
    n = positions.size
    for i in range(n):
        shared = max(common[i], common[i + 1] if i + 1 < n else 0, lo - 1)
        available = min(hi, bounds[np.int64(docs[i]) + 1] - positions[i])
        self_values[docs[i]] += max(available - shared, 0)


@leaf("int64(uint32[::1], int64, int64, uint32[::1], int64, uint32[::1], int32[::1])")
def tally(docs, begin, end, members, first, counts, slot):
    """Write the distinct documents of a run to members[first:], their frequencies to counts; slot is -1 before and after."""
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


@leaf("void(uint32[::1], int64, uint32[::1], int64)")
def sort_pairs(docs, first, counts, size):
    """Sort docs[first:first + size] with counts[:size], if there are any: Shell's way, good for few and for many."""
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


@leaf("int64(uint32[::1], int64, uint32[::1], int64, int64)")
def columns_first(members, first, counts, size, n_cols):
    """Bring documents that are columns to the front of members[first:first + size]; return how many they are."""
    n_front = 0
    for k in range(size):
        doc, count = members[first + k], counts[k]
        if doc < n_cols:
            members[first + k], counts[k] = members[first + n_front], counts[n_front]
            members[first + n_front], counts[n_front] = doc, count
            n_front += 1
    return n_front


@leaf(
    "void(uint32[::1], int32[::1], int64, int64, int64, int64, int64, int64, int32[::1], uint32[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], int64[::1])"
)
def collect(
    docs, common, lo, hi, kind, n_cols, first_row, dense_at, slot, counts, self_values,
    starts, n_columns, times, members, member_counts, sizes,
):  # fmt: skip
    """Write every feature that some row shares with an earlier column; sizes = (features, members) written.

    Features with the same beginning are neighbours, because one document's n-grams then lie together in memory.
    """
    longest = np.zeros(1, np.int64)
    f = n_members = begin = 0
    while begin < common.size:
        end = find_group(common, begin, lo, longest)
        for length in range(lo, min(hi, longest[0]) + 1):
            first = begin
            shortest = hi
            for i in range(begin + 1, end + 1):
                if i < end and common[i] >= length:
                    shortest = min(shortest, common[i])
                    continue
                size = 0
                if is_new_run(common, first, i, length, lo):
                    weight = shortest - length + 1
                    size = tally(docs, first, i, members, n_members, counts, slot)
                    for k in range(size):
                        count = np.int64(counts[k]) if kind != PRESENCE else 1
                        self_values[members[n_members + k]] += weight * (count * count if kind == SPECTRUM else count)
                first = i
                shortest = hi
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
                    # all of them occur `step` times more often, then some drop out: one set for each number of occurrences
                    step = np.int64(counts[:size].min()) - level
                    times[f - 1] *= step
                    level += step
                    kept = 0
                    for k in range(size):
                        if counts[k] > level:
                            members[n_members + kept], counts[kept] = members[n_members - size + k], counts[k]
                            kept += 1
                    size = kept
        begin = end
    starts[f] = n_members
    sizes[0], sizes[1] = f, n_members
