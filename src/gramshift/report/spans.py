"""From what every character adds to the few stretches of a text that decided."""

import numpy as np
from numpy.typing import NDArray

from gramshift.model.explain import stretches
from gramshift.report.contents import Span

MOST = 12  # stretches of one document
WEAK = 0.08  # of the strongest stretch: less is left out
GAP = 2  # characters between two stretches for the same class that are joined all the same


def strongest_spans(by_character: NDArray[np.float64]) -> list[Span]:
    """Stretches that speak for a class more than for the mean of all, in the order of the text.

    Weak ones are dropped first, so that what they cut apart can be joined. Strength is by character, beside the strongest.
    """
    if not by_character.size:
        return []
    ahead = by_character - by_character.mean(axis=1, keepdims=True)
    found = [(start, stop, float(ahead[start:stop, code].sum()), code) for start, stop, code in stretches(by_character)]
    least = WEAK * max((total for _, _, total, _ in found), default=0.0)
    joined: list[tuple[int, int, float, int]] = []
    for start, stop, total, code in found:
        if total <= least:
            continue
        if joined and joined[-1][3] == code and start - joined[-1][1] <= GAP:
            start, total = joined[-1][0], joined[-1][2] + total  # noqa: PLW2901
            joined.pop()
        joined.append((start, stop, total, code))
    kept = sorted(sorted(joined, key=lambda one: -one[2])[:MOST])
    strongest = max((total / (stop - start) for start, stop, total, _ in kept), default=1.0)
    return [(start, stop, total / (stop - start) / strongest, code) for start, stop, total, code in kept]
