"""What dataclasses of arrays have in common."""

import numpy as np


class HoldsArrays:
    """Knows how much memory its arrays take."""

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
