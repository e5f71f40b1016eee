"""String kernels as one would write them on a blackboard; slow, and easy to believe."""

from collections import Counter
from math import sqrt


def prepare(text):
    return " ".join(text.lower().split())


def ngrams(text, ngram_range):
    lo, hi = ngram_range
    return Counter(text[i : i + n] for n in range(lo, hi + 1) for i in range(len(text) - n + 1))


def kernel(kind, a, b):
    if kind == "presence":
        return sum(1 for gram in a if gram in b)
    if kind == "intersection":
        return sum((a & b).values())
    return sum(count * b[gram] for gram, count in a.items())


def gram(kind, texts, others, ngram_range):
    """Of texts as they are, without any text steps."""
    rows, columns = [ngrams(text, ngram_range) for text in texts], [ngrams(text, ngram_range) for text in others]
    return [[kernel(kind, row, column) for column in columns] for row in rows]


def normalized_gram(kind, texts, others, ngram_range):
    counts = gram(kind, texts, others, ngram_range)
    row_self = [gram(kind, [text], [text], ngram_range)[0][0] for text in texts]
    col_self = [gram(kind, [text], [text], ngram_range)[0][0] for text in others]
    return [
        [value / sqrt(r * c) if r and c else 0.0 for value, c in zip(row, col_self, strict=True)]
        for row, r in zip(counts, row_self, strict=True)
    ]
