"""Leaves that list documents by n-gram, each below the shorter ones that it begins with, and put the lists in order.

A document that has *great* has *grea* too. So each n-gram lists the documents that no longer one brings along; where several
longer ones bring the same document along, it is taken away again, once for each but the first. These lists stand feature after
feature at first: the first ``added[f]`` documents from ``starts[f]`` on are added, all others up to ``starts[f + 1]`` are
taken away, and ``up[f]`` is how far on the parent stands, 0 if there is none. Then they are put in the order that
:mod:`.lists` tells of.
"""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.lists import find_lists
from gramshift.ngrams.leaves.runs import sort_pairs

FEW = 16  # one document in so many, or more: they are found sooner by looking through all than by sorting
IN_BLOCK = 1 << 13  # features, or more where a tree has more
LONG = 256  # documents, from which on it does not matter where a loop ends


@leaf("void(int64[:, ::1], int32[::1], int32[::1])")
def nest_runs(runs, parents, smallest):
    """parents[r] = the smallest run around run r; smallest[i] = the smallest one around position i; -1 where there is none."""
    waiting, n_waiting = np.empty(runs.shape[0], np.int64), 0  # runs whose parent may still come
    smallest[:] = -1
    for r in range(runs.shape[0]):
        begin, edge = runs[r, 0], runs[r, 1]
        while n_waiting > 0 and runs[waiting[n_waiting - 1], 0] >= begin:
            n_waiting -= 1
            child = waiting[n_waiting]
            parents[child] = r
            smallest[runs[child, 1] : edge] = r
            edge = runs[child, 0]
        smallest[begin:edge] = r
        parents[r] = -1
        waiting[n_waiting] = r
        n_waiting += 1


@leaf("void(uint32[::1], int64, uint32[::1])")
def sort_by_document(docs, n_docs, order):
    """Write the numbers of all positions document by document, those of one ascending."""
    places = np.zeros(n_docs + 1, np.int64)
    for i in range(docs.size):
        places[np.int64(docs[i]) + 1] += 1
    for d in range(n_docs):
        places[d + 1] += places[d]
    for i in range(docs.size):
        order[places[docs[i]]] = i
        places[docs[i]] += 1


@leaf(
    "void(uint32[::1], uint32[::1], int64[:, ::1], int32[::1], int32[::1], int32[::1], int32[::1])"
)
def find_meetings(order, docs, runs, parents, smallest, meetings, sizes):
    """meetings[k] = the smallest run around a position and the one before it of the same document, -1 if there is none.

    Counted once for each position, and once less for each meeting, sizes[r] is the number of documents of run r.
    """
    sizes[:] = 0
    for k in range(order.size):
        i = order[k]
        r = smallest[i]
        meetings[k] = -1
        if r < 0:
            continue
        sizes[r] += 1
        if k > 0 and docs[order[k - 1]] == docs[i]:
            before = order[k - 1]
            while r >= 0 and runs[r, 0] > before:
                r = parents[r]
            meetings[k] = r
            if r >= 0:
                sizes[r] -= 1
    for r in range(runs.shape[0]):
        if parents[r] >= 0:
            sizes[parents[r]] += sizes[r]


@leaf(
    "void(uint32[::1], int64[:, ::1], int32[::1], int32[::1], int64, int32[::1], uint32[::1], int64[::1])"
)
def find_shared_runs(docs, runs, parents, sizes, lo, shared, longest, unshared):
    """shared[r] = the smallest run of several documents around run r, itself or another; longest[r] = its n-gram's length.

    What stands in a single document adds to its unshared n-grams.
    """
    for back in range(runs.shape[0]):
        r = runs.shape[0] - 1 - back
        parent = parents[r]
        longest[r] = runs[r, 2] + (np.int64(longest[parent]) if parent >= 0 else lo - 1)
        if sizes[r] > 1:
            shared[r] = r
        else:
            shared[r] = shared[parent] if parent >= 0 else -1
            unshared[docs[runs[r, 0]]] += runs[r, 2]


@leaf("void(uint32[::1], uint32[::1], int32[::1], int32[::1], int32[::1], int64[::1], uint32[::1])")
def collect_entries(order, docs, smallest, meetings, shared, ends, entries):
    """Write the entries of each run, in the order of their documents: 2 d adds document d, 2 d + 1 takes it away.

    ends[r] is where those of run r begin, and where they end when all are written.
    """
    for k in range(order.size):
        for sign in range(2):
            r = smallest[order[k]] if sign == 0 else meetings[k]
            if r >= 0 and shared[r] >= 0:
                r = shared[r]
                entries[ends[r]] = 2 * np.int64(docs[order[k]]) + sign
                ends[r] += 1


@leaf("int64(int32[::1], int32[::1], int32[::1], int64[::1])")
def count_entries(smallest, meetings, shared, ends):
    """ends[r] = where the entries of run r begin, if they stand one after another; return how many there are."""
    ends[:] = 0
    for k in range(smallest.size):
        for r in (smallest[k], meetings[k]):
            if r >= 0 and shared[r] >= 0:
                ends[shared[r]] += 1
    total = 0
    for r in range(ends.size):
        ends[r], total = total, total + ends[r]
    return total


@leaf("UniTuple(int64, 2)(uint32[::1], int64, int64, uint32[::1], int64)")
def settle(entries, first, last, docs, at):
    """Write the documents that are added in the end from place ``at`` on, then those taken away.

    Return the place after the former and the place after the latter.
    """
    added = at
    for sign in range(2):
        k = first
        while k < last:
            doc, total = entries[k] // 2, 0
            while k < last and entries[k] // 2 == doc:
                total += 1 - 2 * np.int64(entries[k] % 2)
                k += 1
            for _ in range(total if sign == 0 else -total):
                docs[at] = doc
                at += 1
        if sign == 0:
            added = at
    return added, at


@leaf("int64(uint32[::1], int64, int64, int64, int32, int32[::1], uint32[::1], int64)")
def list_all(docs, begin, end, size, stamp, seen, members, at):
    """Write all documents of a run from place ``at`` on, ascending; return the place after them."""
    stop = at
    for i in range(begin, end):
        if seen[docs[i]] != stamp:
            seen[docs[i]] = stamp
            members[stop] = docs[i]
            stop += 1
    if size * FEW < seen.size:
        sort_pairs(members, at, np.empty(0, np.uint32), size)
        return stop
    for doc in range(seen.size):
        if seen[doc] == stamp:
            members[at] = doc
            at += 1
    return stop


@leaf(
    "void(uint32[::1], uint32[::1], int64[:, ::1], int32[::1], int32[::1], uint32[::1], int64[::1], uint32[::1],"
    " int32[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1])"
)
def list_nested(
    docs, positions, runs, parents, run_sizes, run_longest, ends, entries,
    seen, starts, added, up, sizes, times, places, longest, listed,
):  # fmt: skip
    """Write every feature that two documents share, one after another.

    A feature that would take away more documents than it has lists all of them instead, and those in it stand alone.
    """
    waiting, parent_of, n_waiting = (
        np.empty(runs.shape[0], np.int64),
        np.empty(runs.shape[0], np.int64),
        0,
    )
    f = at = np.int64(0)
    for r in range(runs.shape[0]):
        size = np.int64(run_sizes[r])
        if size < 2:
            continue
        starts[f], sizes[f], times[f], places[f], longest[f] = (
            at,
            size,
            runs[r, 2],
            positions[runs[r, 0]],
            run_longest[r],
        )
        stop, end = settle(entries, ends[r - 1] if r > 0 else 0, ends[r], listed, at)
        alone = end - at > size
        if alone:
            stop = end = list_all(docs, runs[r, 0], runs[r, 1], size, np.int32(f), seen, listed, at)
        added[f], at = stop - at, end
        while n_waiting > 0 and parent_of[n_waiting - 1] == r:
            n_waiting -= 1
            up[waiting[n_waiting]] = 0 if alone else f - waiting[n_waiting]
        up[f] = 0
        if parents[r] >= 0:
            waiting[n_waiting], parent_of[n_waiting] = f, parents[r]
            n_waiting += 1
        f += 1
    starts[f] = at


@leaf("int64(uint32[::1], int64[::1])")
def cut_blocks(up, ends):
    """Write where blocks of trees end; return how many there are."""
    n_blocks, begin, reach = 0, 0, 0
    for f in range(up.size):
        reach = max(reach, f + np.int64(up[f]))
        if reach == f and (f + 1 - begin >= IN_BLOCK or f + 1 == up.size):
            begin = ends[n_blocks] = f + 1
            n_blocks += 1
    return n_blocks


@leaf(
    "void(int64[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1],"
    " int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1])"
)
def order_lists(starts, added, docs, up, ends, list_ends, list_starts, owners, parents, new_docs):
    """Write the lists of each block by their lengths; list_ends = where those that add and those that take away end."""
    n_lists = at = begin = np.int64(0)
    buckets = np.empty(LONG + 1, np.int64)
    for b in range(ends.size):
        for f in range(begin, ends[b]):
            parents[f] = f - begin + up[f] if up[f] else ends[b] - begin
        for sign in range(2):
            buckets[:] = 0
            for f in range(begin, ends[b]):
                size = np.int64(added[f]) if sign == 0 else starts[f + 1] - starts[f] - added[f]
                if size > 0:
                    buckets[min(size, LONG)] += 1
            total = n_lists
            for length in range(LONG + 1):
                buckets[length], total = total, total + buckets[length]
            for f in range(begin, ends[b]):
                size = np.int64(added[f]) if sign == 0 else starts[f + 1] - starts[f] - added[f]
                if size > 0:
                    k = buckets[min(size, LONG)]
                    buckets[min(size, LONG)] += 1
                    owners[k], list_starts[k] = (
                        f - begin,
                        starts[f] + (0 if sign == 0 else added[f]),
                    )
            for k in range(n_lists, total):
                f, old = begin + owners[k], list_starts[k]
                size = np.int64(added[f]) if sign == 0 else starts[f + 1] - starts[f] - added[f]
                list_starts[k] = at
                for i in range(size):
                    new_docs[at + i] = docs[old + i]
                at += size
            n_lists = total
            list_ends[b, sign] = n_lists
        begin = ends[b]
    list_starts[n_lists] = at


@leaf("int64(int64[::1], int64, int64, int32[::1], uint32[::1], int64, uint32[::1], int64)")
def settle_stack(stack, begin, end, totals, docs, at, added, f):
    """Write the documents that are added in the end from place ``at`` on, then those taken away; return the place after them.

    ``totals`` are 0 before and after.
    """
    start = at
    for k in range(begin, end):
        totals[stack[k] >> 1] += 1 - 2 * (stack[k] & 1)
    for k in range(begin, end):
        number = stack[k] >> 1
        if totals[number] > 0:
            docs[at] = number
            totals[number] = 0
            at += 1
    added[f] = at - start
    for k in range(begin, end):
        number = stack[k] >> 1
        while totals[number] < 0:
            docs[at] = number
            totals[number] += 1
            at += 1
    return at


@leaf(
    "int64(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], float64[::1], int32[::1],"
    " float64[::1], int32[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], float64[::1])"
)
def narrow_lists(
    ends, list_ends, starts, docs, owners, parents, weights, numbers,
    own, totals, new_starts, added, new_docs, up, new_weights,
):  # fmt: skip
    """Write the features that weigh something and that two documents or more with a number have; return how many there are.

    What one weighs for a single document is added to ``own``. The lists of others are handed on to their parents, on a stack:
    there 2 d adds document d, and 2 d + 1 takes it away. ``totals`` are 0 before and after.
    """
    begin = first = at = f_new = np.int64(0)
    for b in range(ends.size):
        n, middle, last = ends[b] - begin, list_ends[b, 0], list_ends[b, 1]
        adding, taking, kept = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        find_lists(first, middle, last, owners, adding, taking)
        sizes, sums = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int64)
        stack, top = np.empty(starts[last] - starts[first] + 1, np.int64), 0
        bottoms, waiting, n_waiting = np.empty(n, np.int64), np.empty(n, np.int32), 0
        for f in range(n):
            bottom, handed_on, total = top, top, sums[f]
            while n_waiting > 0 and waiting[n_waiting - 1] == f:
                n_waiting -= 1
                bottom = bottoms[n_waiting]
            if adding[f] >= 0:
                for p in range(np.uint64(starts[adding[f]]), np.uint64(starts[adding[f] + 1])):
                    number = np.int64(numbers[docs[p]])
                    stack[top] = 2 * number
                    if number >= 0:
                        total += number
                        top += 1
            n_added = top - handed_on
            if taking[f] >= 0:
                for p in range(starts[taking[f]], starts[taking[f] + 1]):
                    number = np.int64(numbers[docs[p]])
                    if number >= 0:
                        stack[top] = 2 * number + 1
                        total -= number
                        top += 1
            size = sizes[f] + 2 * n_added - (top - handed_on)
            sizes[parents[begin + f]] += size
            sums[parents[begin + f]] += total
            kept[f] = -1
            if size > 1 and weights[begin + f] != 0.0:
                kept[f], new_starts[f_new], new_weights[f_new] = f_new, at, weights[begin + f]
                if bottom == handed_on:  # nothing to settle
                    for k in range(bottom, top):
                        new_docs[at + k - bottom] = stack[k] >> 1
                    added[f_new] = n_added
                    at += top - bottom
                else:
                    at = settle_stack(stack, bottom, top, totals, new_docs, at, added, f_new)
                f_new += 1
                top = bottom
            else:
                if size == 1:  # the sum of a single number is that number
                    own[total] += weights[begin + f]
                if parents[begin + f] < n:
                    bottoms[n_waiting], waiting[n_waiting] = bottom, parents[begin + f]
                    n_waiting += 1
                else:
                    top = bottom
        for back in range(n):  # from now on waiting[f] is the nearest ancestor that is kept
            f = n - 1 - back
            parent = np.int64(parents[begin + f])
            waiting[f] = (
                -1 if parent == n else kept[parent] if kept[parent] >= 0 else waiting[parent]
            )
            if kept[f] >= 0:
                up[kept[f]] = waiting[f] - kept[f] if waiting[f] >= 0 else 0
        begin, first = ends[b], last
    new_starts[f_new] = at
    return f_new
