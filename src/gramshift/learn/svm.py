"""scikit-learn's support vector machine on the same kernels, one versus all."""

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from gramshift.learn.features import Described, Rows
from gramshift.learn.ridge import Fitted, spread_weights

Floats = NDArray[np.float64]
FOLDS = 5


class MachineSolver:
    """Needs the kernel of the training documents as an array in double precision."""

    def __init__(self, documents: Described) -> None:
        self.documents = documents

    def solve(self, training: Rows, targets: Floats) -> Fitted:
        """Train on some documents."""
        weights, intercepts = _dual(self.documents.kernel(training), targets)
        return Fitted(spread_weights(self.documents, training, weights), intercepts)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each document scores by a fit without its fifth of the documents."""
        kernel, scores = self.documents.kernel(training), np.empty(targets.shape)
        codes = targets.argmax(axis=1)
        fold = np.empty(len(training), np.intp)
        for code in np.unique(codes):  # each class is spread over all folds
            fold[codes == code] = (np.arange(np.sum(codes == code)) + code) % FOLDS
        for number in np.unique(fold):
            held, kept = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            weights, intercepts = _dual(kernel[np.ix_(kept, kept)], targets[kept])
            scores[held] = kernel[np.ix_(held, kept)] @ weights + intercepts
        return scores


def _dual(kernel: Floats, targets: Floats) -> tuple[Floats, Floats]:
    weights, intercepts = np.zeros(targets.shape), np.zeros(targets.shape[1])
    for column, target in enumerate(targets.T):
        if (target == target[0]).all():  # nothing to part: the class is all or none of these documents
            intercepts[column] = target[0]
            continue
        machine = SVC(kernel="precomputed").fit(kernel, target)
        weights[machine.support_, column] = machine.dual_coef_[0]
        intercepts[column] = machine.intercept_[0]
    return weights, intercepts
