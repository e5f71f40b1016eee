"""The old name of ``gramshift.runtime.files``, until its importers are moved."""

from gramshift.runtime.files import UNDER_WAY as UNDER_WAY
from gramshift.runtime.files import Replacing as Replacing
from gramshift.runtime.files import npy_file as npy_file
from gramshift.runtime.files import replaced_file as replaced_file
