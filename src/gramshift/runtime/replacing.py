"""The old name of a part of ``gramshift.runtime.files``, until its importers are moved."""

from gramshift.runtime.files import UNFINISHED, Replacing, npy_file, replaced_file

UNDER_WAY = UNFINISHED
__all__ = ["UNDER_WAY", "Replacing", "npy_file", "replaced_file"]
