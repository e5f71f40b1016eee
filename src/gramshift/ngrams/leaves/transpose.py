"""Leaves that turn lists of documents by n-gram into lists of n-grams by document, and count."""

from gramshift.leaf import leaf


@leaf("void(int64[::1], uint32[::1], int64[::1], int64[:, ::1])")
def count_groups(starts, docs, groups, counts):
    """counts[g, f] += 1 for every document of group g that has feature f."""
    for f in range(starts.size - 1):
        for p in range(starts[f], starts[f + 1]):
            group = groups[docs[p]]
            if group >= 0:
                counts[group, f] += 1


@leaf("void(int64[::1], uint32[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1])")
def turn_round(starts, docs, times, cursors, features, places, n_before, unshared):
    """Write the features of every document from its cursor on and where it stands in each; take them off ``unshared``."""
    for f in range(starts.size - 1):
        for p in range(starts[f], starts[f + 1]):
            doc = docs[p]
            at = cursors[doc]
            features[at], places[at], n_before[at] = f, p, p - starts[f]
            cursors[doc] = at + 1
            unshared[doc] -= times[f]
