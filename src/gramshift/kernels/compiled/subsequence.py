"""Leaves of the subsequence kernel: documents share sequences of characters, with gaps.

A *match* is a pair of positions (k, j) of equal characters. A[n] of a match is the weight of all
shared sequences of n characters that end there: decay to the power of their gaps in both documents.
A[1] is 1. A[n + 1] of (k, j) is the sum of decay ** (k - 1 - k' + j - 1 - j') * A[n] of (k', j')
over all matches (k', j') before it in both documents. All terms are positive, so no digits are
lost. Rows k are processed one by one. ``columns`` holds for every j the sum over the rows so far,
divided by decay ** (rows since the last rescaling), so a row changes only the columns that match.
"""

import numpy as np

from gramshift.compiling import compiled

LANES = 8  # lengths that are summed side by side, so that no addition waits for the one before


@compiled(
    "void(float64[::1], int32[::1], int64, float64, float64, float64, float64[::1], float64[::1])",
    reorder=True,
)
def add_row(columns, following, match, decay, held, gain, carry, totals):
    """Add one row to ``columns``, for LANES lengths; it matches j = match, following[match], ...

    Columns are multiplied by ``held`` before they are used, and what is added to them by ``gain``.
    carry[m] is A of match m for the first of the lengths; it is set to that of the length after the
    last one. ``totals`` grow by the A of all matches.
    """
    one, lanes = np.uint64(1), np.uint64(LANES)
    p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = 0.0
    t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = 0.0
    at = m = np.uint64(0)
    while match >= 0:
        end = np.uint64(match) * lanes
        while at < end:
            p0 = p0 * decay + columns[at]
            p1 = p1 * decay + columns[at + one]
            p2 = p2 * decay + columns[at + np.uint64(2)]
            p3 = p3 * decay + columns[at + np.uint64(3)]
            p4 = p4 * decay + columns[at + np.uint64(4)]
            p5 = p5 * decay + columns[at + np.uint64(5)]
            p6 = p6 * decay + columns[at + np.uint64(6)]
            p7 = p7 * decay + columns[at + np.uint64(7)]
            at += lanes
        a0, a1, a2, a3 = carry[m], held * p0, held * p1, held * p2
        a4, a5, a6, a7 = held * p3, held * p4, held * p5, held * p6
        carry[m] = held * p7
        t0, t1, t2, t3, t4, t5, t6, t7 = (
            t0 + a0,
            t1 + a1,
            t2 + a2,
            t3 + a3,
            t4 + a4,
            t5 + a5,
            t6 + a6,
            t7 + a7,
        )
        c0, c1, c2, c3 = (
            columns[at],
            columns[at + one],
            columns[at + np.uint64(2)],
            columns[at + np.uint64(3)],
        )
        c4, c5, c6 = (
            columns[at + np.uint64(4)],
            columns[at + np.uint64(5)],
            columns[at + np.uint64(6)],
        )
        c7 = columns[at + np.uint64(7)]
        p0, p1, p2, p3 = p0 * decay + c0, p1 * decay + c1, p2 * decay + c2, p3 * decay + c3
        p4, p5, p6, p7 = p4 * decay + c4, p5 * decay + c5, p6 * decay + c6, p7 * decay + c7
        columns[at], columns[at + one] = c0 + a0 * gain, c1 + a1 * gain
        columns[at + np.uint64(2)], columns[at + np.uint64(3)] = c2 + a2 * gain, c3 + a3 * gain
        columns[at + np.uint64(4)], columns[at + np.uint64(5)] = c4 + a4 * gain, c5 + a5 * gain
        columns[at + np.uint64(6)], columns[at + np.uint64(7)] = c6 + a6 * gain, c7 + a7 * gain
        at += lanes
        m += one
        match = np.int64(following[match])
    totals[0] += t0
    totals[1] += t1
    totals[2] += t2
    totals[3] += t3
    totals[4] += t4
    totals[5] += t5
    totals[6] += t6
    totals[7] += t7


@compiled("boolean(uint32[::1], int64, int64, int64, int64)")
def comes_after(codes, a, a_end, b, b_end):
    """Return True if a text is longer than the other, or as long and later in the alphabet.

    A pair of documents is thus always compared in the same order.
    """
    if a_end - a != b_end - b:
        return a_end - a > b_end - b
    for k in range(a_end - a):
        if codes[a + k] != codes[b + k]:
            return codes[a + k] > codes[b + k]
    return True


@compiled(
    "void(uint32[::1], int64, int64, int64, int64, float64, float64[::1], int32[::1],"
    " int32[::1], float64[::1], float64[:, ::1], float64[:, ::1])"
)
def sum_lengths(codes, s, s_end, t, t_end, decay, powers, first, following, carry, columns, totals):
    """Set totals[n // LANES, n % LANES] to the sum of A[n + 1] over all matches.

    ``first`` is -1 everywhere, before and after.
    """
    size = t_end - t
    for g in range(totals.shape[0]):
        for lane in range(LANES):
            totals[g, lane] = 0.0
        for k in range(size * LANES):
            columns[g, k] = 0.0
    for j in range(size - 1, -1, -1):
        following[j] = first[codes[t + j]]
        first[codes[t + j]] = j
    power = 0
    for k in range(s, s_end):
        if power + 1 == powers.size:
            for g in range(totals.shape[0]):
                for p in range(size * LANES):
                    columns[g, p] *= powers[power]
            power = 0
        match = np.int64(first[codes[k]])
        if match >= 0:
            n_matches, j = 0, match
            while j >= 0:
                carry[n_matches] = 1.0
                n_matches += 1
                j = np.int64(following[j])
            for g in range(totals.shape[0]):
                add_row(
                    columns[g],
                    following,
                    match,
                    decay,
                    powers[power],
                    1.0 / powers[power + 1],
                    carry,
                    totals[g],
                )
        power += 1
    for j in range(size):
        first[codes[t + j]] = -1


@compiled(
    "void(uint32[::1], int64[::1], int64, int64, int64, int64, int64, int64, float64,"
    " float64[::1], float64, float64[::1])"
)
def compare_document(codes, bounds, n_chars, doc, col0, col1, lo, hi, decay, powers, factor, out):
    """Compare a document with others.

    out[j] = factor * sum over n from lo to hi of decay ** (2 (n - lo)) * (sum of all A[n])
    """
    longest, n_groups = bounds[doc + 1] - bounds[doc], (hi + LANES - 1) // LANES
    first, following = np.full(n_chars + 1, -1, np.int32), np.empty(longest, np.int32)
    carry, columns, totals = (
        np.empty(longest),
        np.empty((n_groups, longest * LANES)),
        np.empty((n_groups, LANES)),
    )
    for col in range(col0, col1):
        s, s_end, t, t_end = bounds[doc], bounds[doc + 1], bounds[col], bounds[col + 1]
        out[col - col0] = 0.0
        if min(s_end - s, t_end - t) < lo:
            continue
        if not comes_after(codes, s, s_end, t, t_end):
            s, s_end, t, t_end = t, t_end, s, s_end
        sum_lengths(
            codes, s, s_end, t, t_end, decay, powers, first, following, carry, columns, totals
        )
        value = 0.0
        for n in range(hi, lo - 1, -1):
            value = value * (decay * decay) + totals[(n - 1) // LANES, (n - 1) % LANES]
        out[col - col0] = factor * value
