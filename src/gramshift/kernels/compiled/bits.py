"""Leaves that sum features stored as rows of bits.

For one document, the rows of bits of its features are added in all columns at once, in binary, by
carry-save adders: plane p holds bit p of 1024 running counts. One instruction (AND, XOR) thus
serves as many columns as a register has bits.
"""

import numpy as np

from gramshift.compiling import compiled
from gramshift.ngrams.compiled.layout import BLOCK

WORDS = BLOCK // 64
PLANES = 12
CAPACITY = 4080  # rows of bits that 12 planes can count: a multiple of 16 below 2**12
CACHED_ROWS = 4096  # rows of bits that stay in the cache while all documents of a tile use them

SPREAD = np.array(
    [sum(1 << 8 * bit for bit in range(8) if byte >> bit & 1) for byte in range(256)],
    dtype=np.uint64,
)


@compiled("int64(uint64[:, ::1], uint32[::1], int64, int64, int64, uint64[::1])")
def count_rows(bits, rows, start, stop, bound, planes):
    """Add the rows of bits rows[start:stop], ascending, to the running counts, sixteen at a time.

    Stop when the first of sixteen is not below ``bound``, and return how far this went.
    """
    g = start
    while g + 16 <= stop and rows[g] < bound:
        r0, r1, r2, r3 = rows[g], rows[g + 1], rows[g + 2], rows[g + 3]
        r4, r5, r6, r7 = rows[g + 4], rows[g + 5], rows[g + 6], rows[g + 7]
        r8, r9, r10, r11 = rows[g + 8], rows[g + 9], rows[g + 10], rows[g + 11]
        r12, r13, r14, r15 = rows[g + 12], rows[g + 13], rows[g + 14], rows[g + 15]
        for w in range(WORDS):
            x, y, s = bits[r0, w], bits[r1, w], planes[w]
            u = s ^ x
            a0, s = (s & x) | (u & y), u ^ y
            x, y = bits[r2, w], bits[r3, w]
            u = s ^ x
            a1, s = (s & x) | (u & y), u ^ y
            x, y = bits[r4, w], bits[r5, w]
            u = s ^ x
            a2, s = (s & x) | (u & y), u ^ y
            x, y = bits[r6, w], bits[r7, w]
            u = s ^ x
            a3, s = (s & x) | (u & y), u ^ y
            x, y = bits[r8, w], bits[r9, w]
            u = s ^ x
            a4, s = (s & x) | (u & y), u ^ y
            x, y = bits[r10, w], bits[r11, w]
            u = s ^ x
            a5, s = (s & x) | (u & y), u ^ y
            x, y = bits[r12, w], bits[r13, w]
            u = s ^ x
            a6, s = (s & x) | (u & y), u ^ y
            x, y = bits[r14, w], bits[r15, w]
            u = s ^ x
            a7, planes[w] = (s & x) | (u & y), u ^ y

            s = planes[WORDS + w]
            u = s ^ a0
            b0, s = (s & a0) | (u & a1), u ^ a1
            u = s ^ a2
            b1, s = (s & a2) | (u & a3), u ^ a3
            u = s ^ a4
            b2, s = (s & a4) | (u & a5), u ^ a5
            u = s ^ a6
            b3, planes[WORDS + w] = (s & a6) | (u & a7), u ^ a7

            s = planes[2 * WORDS + w]
            u = s ^ b0
            c0, s = (s & b0) | (u & b1), u ^ b1
            u = s ^ b2
            c1, planes[2 * WORDS + w] = (s & b2) | (u & b3), u ^ b3

            s = planes[3 * WORDS + w]
            u = s ^ c0
            carry, planes[3 * WORDS + w] = (s & c0) | (u & c1), u ^ c1

            s = planes[4 * WORDS + w]
            planes[4 * WORDS + w], carry = s ^ carry, s & carry
            s = planes[5 * WORDS + w]
            planes[5 * WORDS + w], carry = s ^ carry, s & carry
            s = planes[6 * WORDS + w]
            planes[6 * WORDS + w], carry = s ^ carry, s & carry
            s = planes[7 * WORDS + w]
            planes[7 * WORDS + w], carry = s ^ carry, s & carry
            s = planes[8 * WORDS + w]
            planes[8 * WORDS + w], carry = s ^ carry, s & carry
            s = planes[9 * WORDS + w]
            planes[9 * WORDS + w], carry = s ^ carry, s & carry
            s = planes[10 * WORDS + w]
            planes[10 * WORDS + w], carry = s ^ carry, s & carry
            planes[11 * WORDS + w] ^= carry
        g += 16
    return g


@compiled("void(uint64[::1], int64, uint64[::1], uint64[::1])")
def read_counts(planes, n_planes, low, high):
    """Write the low and the high eight bits of the running counts, eight documents per word."""
    for w in range(WORDS):
        for byte in range(8):
            shift = np.uint64(8 * byte)
            a = b = np.uint64(0)
            for p in range(min(n_planes, 8)):
                a |= SPREAD[np.uint8(planes[p * WORDS + w] >> shift)] << np.uint64(p)
            for p in range(8, n_planes):
                b |= SPREAD[np.uint8(planes[p * WORDS + w] >> shift)] << np.uint64(p - 8)
            low[8 * w + byte] = a
            high[8 * w + byte] = b


@compiled("void(uint64[::1], int64, uint64[::1], uint64[::1], int64, int64[::1])")
def add_counts(planes, n, low, high, skip, cells):
    """Add the running count of document ``skip + j``, at most n, to cells[j]."""
    n_planes = 0
    while n >> n_planes:
        n_planes += 1
    read_counts(planes, n_planes, low, high)
    a, b = low.view(np.uint8)[skip:], high.view(np.uint8)[skip:]
    if n_planes <= 8:
        for j in range(cells.size):
            cells[j] += np.int64(a[j])
    else:
        for j in range(cells.size):
            cells[j] += np.int64(a[j]) | (np.int64(b[j]) << 8)


@compiled(
    "void(int64[::1], uint32[::1], uint64[:, :, ::1], int64, int64, int64, int64, int64,"
    " int64, int64[:, ::1])"
)
def add_bits(bit_ptr, bit_ref, bits, row0, row1, col0, col1, top, left, out):
    """Add to out[row - top, doc - left] how often the row refers to bits that include ``doc``."""
    n_rows, zeros = row1 - row0, bits.shape[1] - 1
    planes = np.empty((n_rows, PLANES * WORDS), np.uint64)
    low, high = np.empty(BLOCK // 8, np.uint64), np.empty(BLOCK // 8, np.uint64)
    cursor = np.empty(n_rows, np.int64)
    tail = np.empty(16, np.uint32)
    longest = 0
    for i in range(n_rows):
        longest = max(longest, bit_ptr[row0 + i + 1] - bit_ptr[row0 + i])
    for block in range(col0 // BLOCK, (col1 + BLOCK - 1) // BLOCK):
        first, last = max(col0, block * BLOCK), min(col1, (block + 1) * BLOCK)
        for begun in range(0, longest, CAPACITY):
            for i in range(n_rows):
                cursor[i] = min(bit_ptr[row0 + i] + begun, bit_ptr[row0 + i + 1])
                for w in range(PLANES * WORDS):
                    planes[i, w] = 0
            for bound in range(CACHED_ROWS, zeros + CACHED_ROWS, CACHED_ROWS):
                for i in range(n_rows):
                    stop = min(bit_ptr[row0 + i] + begun + CAPACITY, bit_ptr[row0 + i + 1])
                    cursor[i] = count_rows(bits[block], bit_ref, cursor[i], stop, bound, planes[i])
            for i in range(n_rows):
                start = bit_ptr[row0 + i] + begun
                stop = min(start + CAPACITY, bit_ptr[row0 + i + 1])
                if stop > start:
                    for k in range(16):
                        tail[k] = bit_ref[cursor[i] + k] if cursor[i] + k < stop else zeros
                    count_rows(bits[block], tail, 0, 16, zeros + 1, planes[i])
                    add_counts(
                        planes[i],
                        stop - start,
                        low,
                        high,
                        first - block * BLOCK,
                        out[row0 + i - top, first - left : last - left],
                    )


@compiled("void(int64[:, ::1], int64, int64, int64[:, ::1])")
def add_transposed(part, row0, col0, out):
    """Add part[j, i] to out[row0 + i, col0 + j], in squares that stay in the cache."""
    side = 32
    for j0 in range(0, part.shape[0], side):
        for i0 in range(0, part.shape[1], side):
            for i in range(i0, min(i0 + side, part.shape[1])):
                for j in range(j0, min(j0 + side, part.shape[0])):
                    out[row0 + i, col0 + j] += part[j, i]
