"""Labels that may be wrong, by what classifiers that have not seen them say of their documents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import Logits, fit_offsets
from gramshift.learn.labelling import Codes

Floats = NDArray[np.float64]
SURE = 0.8  # a class as likely as this is likely enough, however clear its documents are on average


@dataclass(frozen=True)
class LabelDoubts:
    """For each labelled document how likely its label is, the likeliest class, and whether the label is to be doubted."""

    quality: Floats
    """The probability of the label by classifiers that did not learn from it; the lower, the more doubtful."""
    likeliest: Codes
    is_doubtful: NDArray[np.bool_]


def doubt_labels(held_out: Floats, codes: Codes) -> LabelDoubts:
    """Rank labels by held-out scores, a row per document.

    A label is doubted where another class is likelier, and at least as likely as it is on average for documents that have it,
    or 80 %: the rule of confident learning (Northcutt, Jiang and Chuang, 2021). It asks less of classes that are hard to tell.
    """
    rows = np.arange(len(codes))
    probabilities = Logits(*fit_offsets(held_out, codes)).probabilities(held_out)
    quality, likeliest = probabilities[rows, codes], probabilities.argmax(axis=1)
    counts = np.bincount(codes, minlength=held_out.shape[1])
    usual = np.bincount(codes, weights=quality, minlength=held_out.shape[1]) / np.maximum(counts, 1)
    is_doubtful = (likeliest != codes) & (probabilities[rows, likeliest] >= np.minimum(usual, SURE)[likeliest])
    return LabelDoubts(quality, likeliest, is_doubtful)
