"""The compiled inner loop of the transductive support vector machine."""

import numpy as np

from gramshift.ngrams.leaf import leaf


@leaf("int64(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64, int64)")
def ascend(gram, signs, most, weights, scores, tolerance, n_sweeps):
    """Maximise the machine's dual, weight by weight, in place; 0 <= weights <= most, scores = gram @ (signs * weights).

    It ends when no weight that could still move has a slope above the tolerance; returns the sweeps that it took.
    """
    n = np.uint64(len(signs))
    for sweep in range(n_sweeps):
        worst = 0.0
        for i in range(n):
            slope = 1.0 - signs[i] * scores[i]
            if (slope > 0 and weights[i] >= most[i]) or (slope < 0 and weights[i] <= 0):
                continue
            worst = max(worst, abs(slope))
            own = gram[i, i]
            if own <= 0 or abs(slope) <= 0.1 * tolerance:
                continue
            new = min(max(weights[i] + slope / own, 0.0), most[i])
            step = signs[i] * (new - weights[i])
            weights[i] = new
            for j in range(n):
                scores[j] += step * gram[i, j]
        if worst <= tolerance:
            return sweep + 1
    return n_sweeps
