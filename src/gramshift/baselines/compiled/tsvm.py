"""The compiled inner loop of the transductive support vector machine."""

import numpy as np

from gramshift.compiling import compiled


@compiled(
    "float64(float64[:, ::1], float64[::1], float64[::1], float64[::1], "
    "float64[::1], float64, int64)"
)
def solve_pairs(gram, signs, most, weights, scores, tolerance, n_steps):
    """Solve the dual problem by pairs of weights, in place, and return the threshold.

    0 <= weights <= most, and signs @ weights stays 0; scores = gram @ (signs * weights). Each step
    changes the weight that violates its margin most and its best partner, until no two violations
    differ by the tolerance.
    """
    n = np.uint64(len(signs))
    highest, lowest = 0.0, 0.0
    for _ in range(n_steps):
        i, highest = np.uint64(0), -np.inf
        for t in range(n):
            can_rise = weights[t] < most[t] if signs[t] > 0 else weights[t] > 0
            if can_rise and signs[t] - scores[t] > highest:
                i, highest = t, signs[t] - scores[t]
        j, lowest, gain = i, np.inf, 0.0
        for t in range(n):
            can_fall = weights[t] > 0 if signs[t] > 0 else weights[t] < most[t]
            if can_fall:
                gap = highest - (signs[t] - scores[t])
                lowest = min(lowest, signs[t] - scores[t])
                if gap > 0:
                    bend = max(gram[i, i] + gram[t, t] - 2 * gram[i, t], 1e-12)
                    if gap * gap / bend > gain:
                        j, gain = t, gap * gap / bend
        if highest - lowest <= tolerance or j == i:
            break
        step = (highest - (signs[j] - scores[j])) / max(
            gram[i, i] + gram[j, j] - 2 * gram[i, j], 1e-12
        )
        step = min(step, most[i] - weights[i] if signs[i] > 0 else weights[i])
        step = min(step, weights[j] if signs[j] > 0 else most[j] - weights[j])
        weights[i] += signs[i] * step
        weights[j] -= signs[j] * step
        for t in range(n):
            scores[t] += step * (gram[i, t] - gram[j, t])
    return (highest + lowest) / 2
