"""The preset "best", line by line, with loops, from texts to labels, scores and proportions.

Constants that were chosen on development data are those of the source code, like the preset's
parameters.
"""

from collections import defaultdict
from hashlib import blake2b
from math import exp, log, sqrt

import numpy as np

from gramshift.learn.class_proportions import (
    ERROR_TOLERANCE,
    EVIDENCE_POWER,
    GUARDED_ERROR,
    LEAN_BY_DOCUMENTS,
    LEAN_BY_DRIFT,
    MAX_DRIFT,
    MIN_ERROR,
    PRIOR_DOCUMENTS,
    SHRINKAGE,
)
from gramshift.learn.decisions import (
    MIN_SLOPE_DOCUMENTS,
    WEIGHT_FIRST_ROUND,
    WEIGHT_OWN_SCORE,
)
from gramshift.learn.rounds import MAX_GROWTH
from naive import ngrams, prepare, surprise, words_with_opening

TINY = 1e-9  # the least probability whose logarithm is asked for


def weight(gram, sets, classes, idf, by_class, n_source=None):
    """Return log(N / df) ** idf * (largest |log of odds| over classes) ** by_class.

    Unknown classes are None. With n_source the weight is multiplied by the smaller over the larger
    of the shares of source and target documents that have the n-gram.
    """
    having = [gram in one for one in sets]
    if by_class and sum(having) < 2:
        return 0.0
    result = log(len(sets) / max(1, sum(having))) ** idf
    if n_source is not None:
        in_domains = (
            sum(having[:n_source]) / n_source,
            sum(having[n_source:]) / (len(sets) - n_source),
        )
        result *= min(in_domains) / max(in_domains)
    if by_class:
        known = [(has, c) for has, c in zip(having, classes, strict=True) if c is not None]
        best = 0.0
        for c in {c for _, c in known}:
            inside, outside = (
                [has for has, d in known if d == c],
                [has for has, d in known if d != c],
            )
            if inside and outside:
                best = max(best, surprise(sum(inside), len(inside), sum(outside), len(outside)))
        result *= best**by_class if best >= 0.2 else 0.0
    return result


def similarity(sets, classes, **powers):
    weights = {gram: weight(gram, sets, classes, **powers) for gram in set().union(*sets)}
    raw = [[sum(weights[gram] for gram in a & b) for b in sets] for a in sets]
    n = range(len(sets))
    return [
        [raw[i][j] / sqrt(raw[i][i] * raw[j][j]) if raw[i][i] and raw[j][j] else 0.0 for j in n]
        for i in n
    ]


def train(views, classes, rows, n_classes, alpha, third=None, **powers):
    """Return scores of all documents by ridge regression on ``rows``, which have classes.

    ``third`` has the similarities of a third view and its weight, relative to the mean of others.

    The targets are +1 and -1 minus their mean, and a document similar to no other scores the mean.
    The classes of all other documents are None.
    """
    grams = [similarity(sets, classes, **powers) for sets in views]
    k = np.mean(grams, axis=0)
    if third is not None:
        matrix, share = third[0], third[1] / (1 + third[1])
        k = (1 - share) * k + share * matrix
    system = k[np.ix_(rows, rows)] + alpha * np.eye(len(rows))
    targets = np.array([[1.0 if classes[i] == c else -1.0 for c in range(n_classes)] for i in rows])
    mean = np.array([sum(column) / len(rows) for column in targets.T])
    return k[:, rows] @ np.linalg.solve(system, targets - mean) + mean


def by_halves(views, classes, rows, m, order, **options):
    """Return two-fold cross-validated scores of ``rows``; all others have the mean of both folds.

    ``order`` has the place of each document when all are sorted by their digests. One half has the
    first documents of each class among the m of the source, and the last ones of the target.
    """
    groups, fold = defaultdict(list), {}
    for i in sorted(rows, key=lambda i: order[i]):
        groups[classes[i], i < m].append(i)
    for (_, is_source), several in groups.items():
        for place, i in enumerate(several):
            is_late = 2 * place >= len(several)
            fold[i] = int(is_late if is_source else not is_late)
    result, taught = np.zeros((len(classes), options["n_classes"])), []
    for number in (0, 1):
        kept = [i for i in rows if fold[i] != number]
        if not kept:
            continue
        known = [classes[i] if i in kept else None for i in range(len(classes))]
        scores = train(views, known, kept, **options)
        taught.append(scores)
        for i in rows:
            if fold[i] == number:
                result[i] = scores[i]
    for i in range(len(classes)):
        if i not in fold:
            result[i] = sum(scores[i] for scores in taught) / len(taught)
    return result


def softmax(logits):
    parts = [exp(logit - max(logits)) for logit in logits]
    return [part / sum(parts) for part in parts]


def probabilities_of(scores, steepness, offsets):
    return [
        softmax([steepness * s + o for s, o in zip(row, offsets, strict=True)]) for row in scores
    ]


def middle(values):
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def drift(listed, n_source):
    """Return the drift of the frequencies of words and pairs of words.

    ``listed`` has the words of each document. A word that is always followed by the same one is
    the same n-gram as the pair of both.
    """
    counts, longer = defaultdict(lambda: defaultdict(int)), defaultdict(list)
    for doc, one in enumerate(listed):
        for n in (1, 2):
            for i in range(len(one) - n + 1):
                counts[tuple(one[i : i + n])][doc] += 1
    for gram, docs in counts.items():
        longer[gram[:-1]].append(docs)
    n_target, ratios, variances = len(listed) - n_source, [], []
    for gram, docs in counts.items():
        there = sum(doc < n_source for doc in docs)
        here = len(docs) - there
        if (
            docs in longer[gram]
            or there < max(5, 0.005 * n_source)
            or here < max(5, 0.005 * n_target)
        ):
            continue
        ratios.append(log((here + 0.5) / (n_target + 1)) - log((there + 0.5) / (n_source + 1)))
        variances.append(1 / (here + 0.5) + 1 / (there + 0.5))
    if not ratios:
        return MAX_DRIFT
    spread = 1.4826 * middle([abs(ratio - middle(ratios)) for ratio in ratios])
    return sqrt(max(0.0, spread**2 - middle(variances)))


def em(probabilities, before, imagined=PRIOR_DOCUMENTS, start=None, tolerance=1e-9):
    shares = list(before if start is None else start)
    for _ in range(3000):
        counts = [imagined * b for b in before]
        for row in probabilities:
            weighted = [p / b * s for p, b, s in zip(row, before, shares, strict=True)]
            for c, one in enumerate(weighted):
                counts[c] += one / sum(weighted)
        new = [count / (len(probabilities) + imagined) for count in counts]
        moved = max(abs(a - b) for a, b in zip(new, shares, strict=True))
        shares = new
        if moved < tolerance:
            break
    return shares


def temper(probabilities, before):
    """Evidence that counts less, because it comes from another domain."""
    return [
        [b * (p / b) ** EVIDENCE_POWER for p, b in zip(row, before, strict=True)]
        for row in probabilities
    ]


def errors_of(probabilities, counts, drift):
    """Return how much the share of a class changes with evidence that is too weak or too strong.

    ``counts`` are those of the source's classes. Evidence leans towards the source's share, or
    either way from there.
    """
    before = [count / sum(counts) for count in counts]
    estimated = em(probabilities, before)
    errors = []
    for c, count in enumerate(counts):
        lean = sqrt(
            (LEAN_BY_DRIFT * min(drift, MAX_DRIFT) ** 4) ** 2 + LEAN_BY_DOCUMENTS**2 / count
        )
        moved = estimated[c] - before[c]
        found = [MIN_ERROR]
        for sign in (-1, 1):
            if abs(moved) < MIN_ERROR or sign * moved < 0:
                leaning = [
                    [p * exp(sign * lean) if d == c else p for d, p in enumerate(row)]
                    for row in probabilities
                ]
                found.append(
                    abs(
                        em(leaning, before, start=estimated, tolerance=ERROR_TOLERANCE)[c]
                        - estimated[c]
                    )
                )
        errors.append(max(found))
    return errors


def limits_of(before, unadapted, errors):
    """Cap an uncertain class, of three or more, by its share of the unadapted labels."""
    guarded = [len(before) > 2 and error > GUARDED_ERROR for error in errors]
    return [
        max(b, u) if limited else 1.0
        for b, u, limited in zip(before, unadapted, guarded, strict=True)
    ]


def shrink(shares, before, errors, limits):
    """Shrink each difference from the source's share by a part of its error, up to the cap."""
    used = []
    for share, b, error, limit in zip(shares, before, errors, limits, strict=True):
        left = max(0.0, abs(share - b) - SHRINKAGE * error)
        used.append(min(limit, max(0.0, b + left if share > b else b - left)))
    return [one / sum(used) for one in used]


def estimate_again(shares, first, before):
    """Return the first estimate, moved half of the way back where later classifiers go back."""
    found = [
        (s + f) / 2 if abs(s - b) < abs(f - b) else f
        for s, f, b in zip(shares, first, before, strict=True)
    ]
    return [one / sum(found) for one in found]


def join(logits, n, shares):
    """(row, class) of n rows, the surest first, until each class has its share."""
    quota = [int(n * s + 1e-9) for s in shares]
    for c in sorted(range(len(shares)), key=lambda c: quota[c] - n * shares[c])[: n - sum(quota)]:
        quota[c] += 1
    joined = {}
    for _, i, c in sorted(
        (-logit, i, c) for i, row in enumerate(logits) for c, logit in enumerate(row)
    ):
        if quota[c] and i not in joined:
            joined[i] = c
            quota[c] -= 1
    return joined


def meet(logits, shares):
    """What to add to logits so that probabilities are on average these shares."""
    wanted = [max(share, 1e-6) for share in shares]
    wanted = [one / sum(wanted) for one in wanted]
    offsets = [0.0] * len(wanted)
    for _ in range(500):
        rows = [
            softmax([logit + offset for logit, offset in zip(row, offsets, strict=True)])
            for row in logits
        ]
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        offsets = [offset + log(w / m) for offset, w, m in zip(offsets, wanted, mean, strict=True)]
        if max(abs(w - m) for w, m in zip(wanted, mean, strict=True)) < 1e-7:
            break
    return np.array([offset - sum(offsets) / len(offsets) for offset in offsets])


def slope(scores, by_half):
    """Return the ratio of scores to those by half of the documents, between 1 and 2."""
    across = up = 0.0
    for column, half in zip(scores.T, by_half.T, strict=True):
        for score, one in zip(column, half, strict=True):
            across += (one - half.mean()) ** 2
            up += (one - half.mean()) * (score - column.mean())
    return min(2.0, max(1.0, up / across if across else 1.0))


def best(source, labels, target, *, ngram_range, third=None, **options):
    """Fit documents of which some share nothing with the source; these do not affect others.

    A document that is similar to itself in the third view does.
    """
    views = views_of([*source, *target], ngram_range)
    known = [set().union(*sets[: len(source)]) for sets in views]
    rows = [
        i
        for i in range(len(target))
        if any(sets[len(source) + i] & grams for sets, grams in zip(views, known, strict=True))
        or (third is not None and third[0][len(source) + i, len(source) + i])
    ]
    if third is not None:
        kept = [*range(len(source)), *(len(source) + i for i in rows)]
        third = third[0][np.ix_(kept, kept)], third[1]
    _, found, shares = best_of(
        source, labels, [target[i] for i in rows], ngram_range=ngram_range, third=third, **options
    )
    scores = np.full((len(target), found.shape[1]), np.nan)
    scores[rows] = found
    return scores, shares


def views_of(texts, ngram_range):
    """The n-grams of characters of each document, and its words and pairs of words."""
    texts = [prepare(text) for text in texts]
    listed = [words_with_opening(text) for text in texts]
    pairs = [
        {tuple(words[i : i + n]) for n in (1, 2) for i in range(len(words) - n + 1)}
        for words in listed
    ]
    return [[set(ngrams(text, ngram_range)) for text in texts], pairs]


def best_of(
    source, labels, target, *, ngram_range, alpha, added, idf, by_class, fit_offsets, third=None
):
    """Fit with class numbers; ``added`` has the share of the target that joins after each round."""
    texts, views = (
        [prepare(text) for text in [*source, *target]],
        views_of([*source, *target], ngram_range),
    )
    m, n, n_classes = len(source), len(target), max(labels) + 1
    options = {"n_classes": n_classes, "alpha": alpha, "idf": idf, "by_class": by_class}
    options["third"] = third
    before = [labels.count(c) / m for c in range(n_classes)]
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for text in [*source, *target]
    ]
    order = {i: place for place, i in enumerate(sorted(range(m + n), key=lambda i: digests[i]))}

    classes, rows = [*labels, *[None] * n], list(range(m))
    scores = train(views, classes, rows, **options)[m:]
    for number, share in enumerate(added, start=1):
        if number in (1, (len(added) + 2) // 2):
            halves = by_halves(views, classes, rows, m, order, **options)
            steepness, offsets = fit_offsets(halves[:m], np.array(labels))
            if number == 1:  # by n-grams that both domains have
                shared = options | {"third": None, "n_source": m}
                across = train(views, classes, rows, **shared)
                held_out = by_halves(views, classes, rows, m, order, **shared)
                probabilities = probabilities_of(
                    across[m:], *fit_offsets(held_out[:m], np.array(labels))
                )
            else:
                probabilities = probabilities_of(halves[m:], steepness, offsets)
            probabilities = temper(probabilities, before)
            estimated = em(probabilities, before)
            if number == 1:
                plain, first = probabilities_of(scores, steepness, offsets), estimated
                counts = [labels.count(c) for c in range(n_classes)]
                given = [row.index(max(row)) for row in plain]
                errors = errors_of(
                    probabilities, counts, drift([words_with_opening(text) for text in texts], m)
                )
                limits = limits_of(before, [given.count(c) / n for c in range(n_classes)], errors)
            else:
                estimated = estimate_again(estimated, first, before)
            shares = shrink(estimated, before, errors, limits)
        moved = [
            o + log(max(s, 1e-300) / b) for o, s, b in zip(offsets, shares, before, strict=True)
        ]
        logits = [
            [log(max(p, 1e-300)) for p in row] for row in probabilities_of(scores, steepness, moved)
        ]
        joined = join(logits, min(max(1, round(share * n)), MAX_GROWTH * len(rows)), shares)
        rows = [*range(m), *(m + i for i in joined)]
        classes = [*labels, *(joined.get(i) for i in range(n))]
        scores = train(views, classes, rows, **options)[m:]

    halves = by_halves(views, classes, rows, m, order, **options)
    steepness, offsets = fit_offsets(halves[:m], np.array(labels))
    if not added:
        scores = scores + (offsets - offsets.mean()) / steepness
        return scores.argmax(axis=1), scores, before
    others = [i for i in range(n) if i not in joined]
    larger = (
        slope(scores[others], halves[m:][others]) if len(others) >= MIN_SLOPE_DOCUMENTS else 1.0
    )
    steepness /= larger
    unseen = np.array([halves[m + i] * larger if i in joined else scores[i] for i in range(n)])
    of_first = np.array([[log(max(p, TINY)) for p in row] for row in plain]) / steepness
    scores = (
        WEIGHT_OWN_SCORE * scores + (1 - WEIGHT_OWN_SCORE) * unseen + WEIGHT_FIRST_ROUND * of_first
    )
    scores = scores + meet((steepness * scores).tolist(), shares) / steepness
    scores = np.array([[score - sum(row) / n_classes for score in row] for row in scores.tolist()])
    return scores.argmax(axis=1), scores, shares
