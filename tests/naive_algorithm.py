"""Algorithm 1 of the paper, line by line, with loops over lists of lists; ridge regression."""

from math import exp, sqrt

import numpy as np


def transductive_kernel_algorithm(k, labels, n_classes, r, alpha, rounds=2):
    """Return labels and scores of the target.

    ``k`` is the raw kernel of source documents, then target documents; ``labels`` are class numbers
    of the source.
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


def ridge_scores(kernel, training, targets, alpha, bias=False):
    """Scores of all documents: the (bordered) system, solved and solved again for what is left.

    ``alpha`` is a number, or one for each document of the training set.
    """
    n, k = len(training), targets.shape[1]
    system = kernel[np.ix_(training, training)] + alpha * np.eye(n)
    if bias:
        system = np.block([[system, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        targets = np.vstack([targets, np.zeros((1, k))])
    solved = np.linalg.solve(system, targets)
    left = targets - system.astype(np.longdouble) @ solved
    solved = solved.astype(np.longdouble) + np.linalg.solve(system, left.astype(float))
    return (kernel[:, training] @ solved[:n] + (solved[n] if bias else 0)).astype(float)
