"""String kernels as one would write them on a blackboard; slow, and easy to believe."""

from collections import Counter
from math import log, sqrt


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


def ngram_weight(gram, others, powers, domains, classes):
    """``others`` are the sets of n-grams of the documents that give weights."""
    having = [gram in one for one in others]
    if sum(having) < 2 and ("consistency" in powers or "classes" in powers):
        return 0.0
    result = log(len(others) / max(1, sum(having))) ** powers.get("idf", 0)
    if "consistency" in powers:
        by_domain = [[has for has, d in zip(having, domains, strict=True) if d == domain] for domain in set(domains)]
        shares = [sum(one) / len(one) for one in by_domain]
        result *= (min(shares) / max(shares)) ** powers["consistency"]
    if "classes" in powers:
        known, best = [(has, c) for has, c in zip(having, classes, strict=True) if c is not None], 0.0
        for c in {c for _, c in known}:
            inside, outside = [has for has, d in known if d == c], [has for has, d in known if d != c]
            if inside and outside:
                half = len(known) / 2
                best = max(best, abs(log((sum(inside) * half / len(inside) + 1) / (sum(outside) * half / len(outside) + 1))))
        result *= best ** powers["classes"] if best >= 0.2 else 0.0
    return result


def weighted_gram(texts, others, ngram_range, powers, *, domains, classes):
    rows, columns = [set(ngrams(text, ngram_range)) for text in texts], [set(ngrams(text, ngram_range)) for text in others]
    weights = {gram: ngram_weight(gram, columns, powers, domains, classes) for gram in set().union(*columns)}
    return [[sum(weights[gram] for gram in row & column) for column in columns] for row in rows]


def weighted_self(text, others, ngram_range, powers, *, domains, classes):
    """k(text, text) with the weights that others give, n-grams included that none of them has."""
    columns = [set(ngrams(other, ngram_range)) for other in others]
    return sum(ngram_weight(gram, columns, powers, domains, classes) for gram in set(ngrams(text, ngram_range)))
