"""The preset "best", line by line, with loops; texts and labels in, labels and scores of the target out."""

import re
from math import exp, log, sqrt

import numpy as np

from naive import ngrams, prepare


def words(text):
    return re.findall(r'[^\s.,;:!?()"]+|[!?]', text)


def weight(gram, sets, classes, idf, by_class, n_source=None):
    """log(N / df) ** idf * (largest |log of odds| over classes) ** by_class; classes are None where unknown.

    With n_source also times the share of documents that have it in source or target, the smaller over the larger.
    """
    having = [gram in one for one in sets]
    if by_class and sum(having) < 2:
        return 0.0
    result = log(len(sets) / max(1, sum(having))) ** idf
    if n_source is not None:
        in_domains = sum(having[:n_source]) / n_source, sum(having[n_source:]) / (len(sets) - n_source)
        result *= min(in_domains) / max(in_domains)
    if by_class:
        known = [(has, c) for has, c in zip(having, classes, strict=True) if c is not None]
        best = 0.0
        for c in {c for _, c in known}:
            inside, outside = [has for has, d in known if d == c], [has for has, d in known if d != c]
            if inside and outside:
                half = len(known) / 2
                best = max(best, abs(log((sum(inside) * half / len(inside) + 1) / (sum(outside) * half / len(outside) + 1))))
        result *= best**by_class if best >= 0.2 else 0.0
    return result


def similarity(sets, classes, **powers):
    weights = {gram: weight(gram, sets, classes, **powers) for gram in set().union(*sets)}
    raw = [[sum(weights[gram] for gram in a & b) for b in sets] for a in sets]
    n = range(len(sets))
    return [[raw[i][j] / sqrt(raw[i][i] * raw[j][j]) if raw[i][i] and raw[j][j] else 0.0 for j in n] for i in n]


def train(views, classes, rows, n_classes, alpha, **powers):
    """Scores of all documents by ridge regression on ``rows``, which have classes; others have None."""
    grams = [similarity(sets, classes, **powers) for sets in views]
    k = np.mean(grams, axis=0)
    system = k[np.ix_(rows, rows)] + alpha * np.eye(len(rows))
    targets = np.array([[1.0 if classes[i] == c else -1.0 for c in range(n_classes)] for i in rows])
    return k[:, rows] @ np.linalg.solve(system, targets)


def softmax(row, steepness, offsets):
    parts = [exp(steepness * score + offset) for score, offset in zip(row, offsets, strict=True)]
    return [part / sum(parts) for part in parts]


def em(probabilities, before):
    shares = list(before)
    for _ in range(3000):
        weighted = [[(p / b) ** 0.6 * s for p, s, b in zip(row, shares, before, strict=True)] for row in probabilities]
        counts = [sum(row[c] / sum(row) for row in weighted) for c in range(len(shares))]
        shares = [(count + 5 * b) / (len(weighted) + 5) for count, b in zip(counts, before, strict=True)]
    return shares


def best(source, labels, target, *, ngram_range, alpha, added, idf, by_class, fit_offsets, noticeable=0.1):
    """labels are class numbers; ``added`` has the share of the target that joins after each round."""
    texts = [prepare(text) for text in [*source, *target]]
    views = [
        [set(ngrams(text, ngram_range)) for text in texts],
        [{tuple(words(text)[i : i + n]) for n in (1, 2) for i in range(len(words(text)) - n + 1)} for text in texts],
    ]
    m, n, n_classes = len(source), len(target), max(labels) + 1
    options = {"n_classes": n_classes, "alpha": alpha, "idf": idf, "by_class": by_class}
    classes = [*labels, *[None] * n]
    scores = train(views, classes, list(range(m)), **options)[m:]

    across = train(views, classes, list(range(m)), **options, n_source=m)[m:]
    fold = [sum(labels[j] == labels[i] for j in range(i)) % 2 for i in range(m)]
    held_out = np.empty((m, n_classes))
    for number in (0, 1):
        kept = [i for i in range(m) if fold[i] != number]
        known = [labels[i] if i in kept else None for i in range(m)] + [None] * n
        part = train(views, known, kept, **options, n_source=m)
        for i in range(m):
            if fold[i] == number:
                held_out[i] = part[i]
    before = [labels.count(c) / m for c in range(n_classes)]
    steepness, offsets = fit_offsets(held_out, np.array(labels))
    shares = em([softmax(row, steepness, offsets) for row in across], before)
    if all(abs(share - b) <= noticeable for share, b in zip(shares, before, strict=True)):
        shares = before

    for share in added:
        count = max(1, round(share * n))
        quota = [int(count * s + 1e-9) for s in shares]
        for c in sorted(range(n_classes), key=lambda c: quota[c] - count * shares[c])[: count - sum(quota)]:
            quota[c] += 1
        classes = [*labels, *[None] * n]
        for _, i, c in sorted((-scores[i][c], i, c) for i in range(n) for c in range(n_classes)):
            if quota[c] and classes[m + i] is None:
                classes[m + i] = c
                quota[c] -= 1
        scores = train(views, classes, [i for i in range(m + n) if classes[i] is not None], **options)[m:]
    return scores.argmax(axis=1), scores, shares
