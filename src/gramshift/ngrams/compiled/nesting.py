"""Leaves that list the documents of n-grams, each n-gram below the shorter one it begins with.

A document that has *great* has *grea* too. Each n-gram therefore lists only the documents that no
longer n-gram brings along. Where several longer ones bring the same document, it is taken away
again, once for each but the first. For the n-grams of one and two letters of these documents::

    number    0   1   2   3   4     5     6     7
    text      ab  ab  ac  ac  abac  abac  abac  a

    ab   adds 0 1 4 5 6
    ac   adds 2 3 4 5 6
    a    adds 7, takes away 4 5 6, which both ab and ac bring along

An *entry* is a document with a sign, in one number: 2 d adds document d, 2 d + 1 takes it away.

At first the lists are in the order of their features: ``starts[f]`` is where the documents of
feature f begin, the first ``added[f]`` of them are added, the others are taken away, and its parent
is feature ``f + up[f]`` (``up[f]`` is 0 for a feature without a parent). `order_lists` then brings
them into the order described in :mod:`.lists`.
"""

import numpy as np

from gramshift.compiling import compiled
from gramshift.ngrams.compiled.lists import find_lists
from gramshift.ngrams.compiled.runs import sort_pairs

SORTED_SHARE = 16  # up to one document in 16 is found by sorting, more by looking at all documents
BLOCK_FEATURES = 1 << 13  # features of a block, more if a tree has more
MAX_LENGTH_CLASS = 256  # lists with this many documents or more are not ordered by length
ADDED, TAKEN = 0, 1  # the two lists of a feature, and the last bit of an entry


@compiled("void(int64[:, ::1], int32[::1], int32[::1])")
def nest_runs(runs, parents, smallest):
    """Find the smallest run around each run r, parents[r], and around each position, smallest[i].

    Both are -1 where there is none. Runs come in the order of their ends, inner ones first.
    """
    pending, n_pending = np.empty(runs.shape[0], np.int64), 0  # runs whose parent may still come
    smallest[:] = -1
    for r in range(runs.shape[0]):
        begin, edge = runs[r, 0], runs[r, 1]
        while n_pending > 0 and runs[pending[n_pending - 1], 0] >= begin:
            n_pending -= 1
            child = pending[n_pending]
            parents[child] = r
            smallest[runs[child, 1] : edge] = r
            edge = runs[child, 0]
        smallest[begin:edge] = r
        parents[r] = -1
        pending[n_pending] = r
        n_pending += 1


@compiled("void(uint32[::1], int64, uint32[::1])")
def sort_by_document(docs, n_docs, order):
    """Write the numbers of all positions document by document, ascending within a document."""
    places = np.zeros(n_docs + 1, np.int64)
    for i in range(docs.size):
        places[np.int64(docs[i]) + 1] += 1
    for d in range(n_docs):
        places[d + 1] += places[d]
    for i in range(docs.size):
        order[places[docs[i]]] = i
        places[docs[i]] += 1


@compiled(
    "void(uint32[::1], uint32[::1], int64[:, ::1], int32[::1], int32[::1], int32[::1], int32[::1])"
)
def find_meetings(order, docs, runs, parents, smallest, meetings, sizes):
    """Find where a document would be counted twice, and count the documents of each run.

    meetings[k] is the smallest run around position order[k] and the position before it of the same
    document, -1 if there is none. A position counts once in its smallest run, and a meeting takes
    one away; summed over all runs inside, that is sizes[r], the number of documents of run r.
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


@compiled(
    "void(uint32[::1], int64[:, ::1], int32[::1], int32[::1], int64,"
    " int32[::1], uint32[::1], int64[::1])"
)
def find_shared_runs(docs, runs, parents, sizes, lo, shared, longest, unshared):
    """Find the smallest run of several documents around each run r (or r itself), shared[r].

    longest[r] is the length of the longest n-gram of run r. The n-grams of runs within a single
    document are added to its ``unshared`` ones.
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


@compiled("int64(int32[::1], int32[::1], int32[::1], int64[::1])")
def count_entries(smallest, meetings, shared, ends):
    """Set ends[r] to where the entries of run r begin; return the number of all entries."""
    ends[:] = 0
    for k in range(smallest.size):
        for r in (smallest[k], meetings[k]):
            if r >= 0 and shared[r] >= 0:
                ends[shared[r]] += 1
    total = 0
    for r in range(ends.size):
        ends[r], total = total, total + ends[r]
    return total


@compiled(
    "void(uint32[::1], uint32[::1], int32[::1], int32[::1], int32[::1], int64[::1], uint32[::1])"
)
def collect_entries(order, docs, smallest, meetings, shared, ends, entries):
    """Write the entries of each run in the order of their documents.

    ends[r] is where those of run r begin, and afterwards where they end.
    """
    for k in range(order.size):
        for sign in range(2):
            r = smallest[order[k]] if sign == ADDED else meetings[k]
            if r >= 0 and shared[r] >= 0:
                r = shared[r]
                entries[ends[r]] = 2 * np.int64(docs[order[k]]) + sign
                ends[r] += 1


@compiled("UniTuple(int64, 2)(uint32[::1], int64, int64, uint32[::1], int64)")
def cancel_sorted(entries, first, last, docs, at):
    """Write the documents that remain when the entries of a run, sorted by document, cancel out.

    The added ones come first, from place ``at`` on, then those taken away; return both ends.
    """
    added_end = at
    for sign in range(2):
        k = first
        while k < last:
            doc, total = entries[k] // 2, 0
            while k < last and entries[k] // 2 == doc:
                total += 1 - 2 * np.int64(entries[k] % 2)
                k += 1
            for _ in range(total if sign == ADDED else -total):
                docs[at] = doc
                at += 1
        if sign == ADDED:
            added_end = at
    return added_end, at


@compiled("int64(uint32[::1], int64, int64, int64, int32, int32[::1], uint32[::1], int64)")
def list_all(docs, begin, end, size, stamp, seen, members, at):
    """Write all documents of a run from place ``at`` on, ascending; return the place after them."""
    stop = at
    for i in range(begin, end):
        if seen[docs[i]] != stamp:
            seen[docs[i]] = stamp
            members[stop] = docs[i]
            stop += 1
    if size * SORTED_SHARE < seen.size:
        sort_pairs(members, at, np.empty(0, np.uint32), size)
        return stop
    for doc in range(seen.size):
        if seen[doc] == stamp:
            members[at] = doc
            at += 1
    return stop


@compiled(
    "void(uint32[::1], uint32[::1], int64[:, ::1], int32[::1], int32[::1], uint32[::1],"
    " int64[::1], uint32[::1], int32[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " uint32[::1], uint32[::1], uint32[::1], uint32[::1])"
)
def list_nested(
    docs, positions, runs, parents, run_sizes, run_longest, ends, entries,
    seen, starts, added, up, sizes, times, places, longest, listed,
):  # fmt: skip
    """Write every run of two documents or more as a feature with its lists.

    A feature that would take away more documents than it has lists all of them instead, and the
    features inside it lose their parent. The numbers of the features, f, skip runs of one document.
    """
    pending, pending_parents = np.empty(runs.shape[0], np.int64), np.empty(runs.shape[0], np.int64)
    n_pending = 0  # features whose parent is still to come
    f = at = np.int64(0)
    for r in range(runs.shape[0]):
        size = np.int64(run_sizes[r])
        if size < 2:
            continue
        starts[f], sizes[f], times[f] = at, size, runs[r, 2]
        places[f], longest[f] = positions[runs[r, 0]], run_longest[r]
        added_end, end = cancel_sorted(entries, ends[r - 1] if r > 0 else 0, ends[r], listed, at)
        lists_all = end - at > size
        if lists_all:
            end = list_all(docs, runs[r, 0], runs[r, 1], size, np.int32(f), seen, listed, at)
            added_end = end
        added[f] = added_end - at
        at = end
        while n_pending > 0 and pending_parents[n_pending - 1] == r:
            n_pending -= 1
            up[pending[n_pending]] = 0 if lists_all else f - pending[n_pending]
        up[f] = 0
        if parents[r] >= 0:
            pending[n_pending], pending_parents[n_pending] = f, parents[r]
            n_pending += 1
        f += 1
    starts[f] = at


@compiled("int64(uint32[::1], int64[::1])")
def cut_blocks(up, ends):
    """Write where blocks of whole trees end; return how many blocks there are."""
    n_blocks, begin, last_parent = 0, 0, 0
    for f in range(up.size):
        last_parent = max(last_parent, f + np.int64(up[f]))
        if last_parent == f and (f + 1 - begin >= BLOCK_FEATURES or f + 1 == up.size):
            begin = ends[n_blocks] = f + 1
            n_blocks += 1
    return n_blocks


@compiled("int64(int64[::1], uint32[::1], int64, int64)")
def count_listed(starts, added, f, sign):
    """Return how many documents feature f adds, or takes away."""
    return np.int64(added[f]) if sign == ADDED else starts[f + 1] - starts[f] - added[f]


@compiled("int64(int64[::1], uint32[::1], int64, int64, int64, int64, uint32[::1])")
def sort_owners(starts, added, begin, end, sign, first, owners):
    """Write the features of a block that have a list of this sign, ordered by its length.

    They go to ``owners`` from ``first`` on, numbered within the block; return where they end.
    """
    next_place = np.zeros(MAX_LENGTH_CLASS + 1, np.int64)
    for f in range(begin, end):
        size = count_listed(starts, added, f, sign)
        if size > 0:
            next_place[min(size, MAX_LENGTH_CLASS)] += 1
    last = first
    for length in range(MAX_LENGTH_CLASS + 1):
        next_place[length], last = last, last + next_place[length]
    for f in range(begin, end):
        size = count_listed(starts, added, f, sign)
        if size > 0:
            length = min(size, MAX_LENGTH_CLASS)
            owners[next_place[length]] = f - begin
            next_place[length] += 1
    return last


@compiled(
    "void(int64[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1],"
    " int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1])"
)
def order_lists(
    starts, added, docs, up, ends,
    list_ends, list_starts, owners, parents, new_docs,
):  # fmt: skip
    """Write the lists of each block by length: first those that add, then those that take away.

    list_ends[b] is where the two kinds of lists of block b end.
    """
    n_lists = at = begin = np.int64(0)
    for b in range(ends.size):
        for f in range(begin, ends[b]):
            parents[f] = f - begin + up[f] if up[f] else ends[b] - begin
        for sign in range(2):
            first = n_lists
            n_lists = sort_owners(starts, added, begin, ends[b], sign, first, owners)
            list_ends[b, sign] = n_lists
            for k in range(first, n_lists):
                f = begin + owners[k]
                old = starts[f] + (0 if sign == ADDED else added[f])
                size = count_listed(starts, added, f, sign)
                list_starts[k] = at
                for i in range(size):
                    new_docs[at + i] = docs[old + i]
                at += size
        begin = ends[b]
    list_starts[n_lists] = at


@compiled("UniTuple(int64, 2)(uint32[::1], uint64, uint64, int32[::1], int64, int64[::1], int64)")
def push_entries(docs, start, stop, numbers, sign, stack, top):
    """Push the chosen documents of a list with a sign; return the top and the sum of numbers."""
    total = np.int64(0)
    for p in range(start, stop):
        number = np.int64(numbers[docs[p]])
        stack[top] = 2 * number + sign  # overwritten if there is no number
        if number >= 0:
            total += number
            top += 1
    return top, total


@compiled("int64(int64[::1], int64, int64, int32[::1], uint32[::1], int64, uint32[::1], int64)")
def cancel_on_stack(stack, bottom, top, totals, docs, at, added, f):
    """Write the documents that remain when entries cancel out; return the place after them.

    The added ones come first, from place ``at`` on; ``added[f]`` is set to their number.
    ``totals`` has a zero for each document, before and after.
    """
    start = at
    for k in range(bottom, top):
        totals[stack[k] >> 1] += 1 - 2 * (stack[k] & 1)
    for k in range(bottom, top):
        number = stack[k] >> 1
        if totals[number] > 0:
            docs[at] = number
            totals[number] = 0
            at += 1
    added[f] = at - start
    for k in range(bottom, top):
        number = stack[k] >> 1
        while totals[number] < 0:
            docs[at] = number
            totals[number] += 1
            at += 1
    return at


@compiled("void(uint32[::1], int64, int64, int32[::1], uint32[::1])")
def link_kept(parents, begin, n, new_numbers, up):
    """Link each kept feature of a block of n to its nearest ancestor that is kept.

    new_numbers[f] is the new number of feature f, -1 if it is dropped; ``up`` is by new numbers.
    """
    kept_above = np.empty(n, np.int32)  # the new number of the nearest kept ancestor
    for back in range(n):
        f = n - 1 - back  # parents come before their children
        parent = np.int64(parents[begin + f])
        if parent == n:
            kept_above[f] = -1
        else:
            kept_above[f] = new_numbers[parent] if new_numbers[parent] >= 0 else kept_above[parent]
        if new_numbers[f] >= 0:
            up[new_numbers[f]] = kept_above[f] - new_numbers[f] if kept_above[f] >= 0 else 0


@compiled(
    "int64(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " float64[::1], int32[::1], float64[::1], int32[::1],"
    " int64[::1], uint32[::1], uint32[::1], uint32[::1], float64[::1])"
)
def narrow_lists(
    ends, list_ends, starts, docs, owners, parents, weights, numbers, own, totals,
    new_starts, added, new_docs, up, new_weights,
):  # fmt: skip
    """Keep the features with a weight that two chosen documents or more have; return their number.

    numbers[d] is the new number of document d, -1 if it is not chosen. A dropped feature hands its
    entries on to its parent, on a stack; if one chosen document has it, its weight is added to
    that document's ``own`` value. In the example above, with documents 0, 2 and 7 chosen, *ab* and
    *ac* are dropped, and *a* adds all three.

    The stack holds the entries of dropped features whose parent is still to come, each above those
    of the features before it. When a parent comes, its children's entries are the topmost ones.
    ``totals`` has a zero for each chosen document, before and after.
    """
    begin = first_list = at = n_kept = np.int64(0)
    for b in range(ends.size):
        n, middle, last_list = ends[b] - begin, list_ends[b, ADDED], list_ends[b, TAKEN]
        adding, taking = np.empty(n, np.int32), np.empty(n, np.int32)
        find_lists(first_list, middle, last_list, owners, adding, taking)
        sizes = np.zeros(n + 1, np.int32)  # chosen documents of each feature, children included
        sums = np.zeros(n + 1, np.int64)  # the sum of their numbers
        stack, top = np.empty(starts[last_list] - starts[first_list] + 1, np.int64), np.int64(0)
        pending_parents, pending_bottoms = np.empty(n, np.int32), np.empty(n, np.int64)
        n_pending = 0  # dropped features whose parent is still to come
        new_numbers = np.full(n, -1, np.int32)
        for f in range(n):
            total = sums[f]
            bottom = own_bottom = top
            while n_pending > 0 and pending_parents[n_pending - 1] == f:
                n_pending -= 1
                bottom = pending_bottoms[n_pending]
            k = adding[f]
            if k >= 0:
                top, added_total = push_entries(
                    docs, starts[k], starts[k + 1], numbers, ADDED, stack, top
                )
                total += added_total
            n_added = top - own_bottom
            k = taking[f]
            if k >= 0:
                top, taken_total = push_entries(
                    docs, starts[k], starts[k + 1], numbers, TAKEN, stack, top
                )
                total -= taken_total
            n_taken = top - own_bottom - n_added
            size = sizes[f] + n_added - n_taken
            sizes[parents[begin + f]] += size
            sums[parents[begin + f]] += total
            weight = weights[begin + f]
            if size > 1 and weight != 0.0:
                new_numbers[f] = n_kept
                new_starts[n_kept], new_weights[n_kept] = at, weight
                if bottom == own_bottom:  # no child has handed on anything that could cancel out
                    for i in range(bottom, top):
                        new_docs[at + i - bottom] = stack[i] >> 1
                    added[n_kept] = n_added
                    at += top - bottom
                else:
                    at = cancel_on_stack(stack, bottom, top, totals, new_docs, at, added, n_kept)
                n_kept += 1
                top = bottom
                continue
            if size == 1:  # the sum of a single number is that number
                own[total] += weight
            if parents[begin + f] < n:
                pending_parents[n_pending], pending_bottoms[n_pending] = parents[begin + f], bottom
                n_pending += 1
            else:
                top = bottom
        link_kept(parents, begin, n, new_numbers, up)
        begin, first_list = ends[b], last_list
    new_starts[n_kept] = at
    return n_kept
