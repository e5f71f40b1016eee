"""Algorithm 1 of the paper, line by line, with loops; lists of lists in, a list of class numbers
out.
"""

from math import exp, sqrt

import numpy as np


def transductive_kernel_algorithm(k, labels, n_classes, r, alpha, rounds=2):
    """k: raw kernel of source then target documents; labels: class numbers of the source. Labels
    and scores of the target.
    """
    total, m = len(k), len(labels)
    n = total - m
    hat = [[k[i][j] / sqrt(k[i][i] * k[j][j]) for j in range(total)] for i in range(total)]
    tilde = [[exp(-1 + hat[i][j]) for j in range(total)] for i in range(total)]
    dots = [
        [sum(tilde[i][z] * tilde[j][z] for z in range(total)) for j in range(total)]
        for i in range(total)
    ]
    train, t = list(range(m)), list(labels)
    for s in range(1, rounds + 1):
        scores = [[0.0] * n_classes for _ in range(n)]
        for c in range(n_classes):
            targets = [1.0 if label == c else -1.0 for label in t]
            system = [[dots[i][j] + (alpha if i == j else 0.0) for j in train] for i in train]
            weights = np.linalg.solve(np.array(system), np.array(targets))
            for i in range(n):
                scores[i][c] = sum(dots[m + i][j] * w for j, w in zip(train, weights, strict=True))
        predicted = [max(range(n_classes), key=lambda c, i=i: scores[i][c]) for i in range(n)]
        confidence = [max(row) for row in scores]
        if s < rounds:
            keep = sorted(range(n), key=lambda i: -confidence[i])[:r]
            train = list(range(m)) + [m + i for i in keep]
            t = list(labels) + [predicted[i] for i in keep]
    return predicted, scores
