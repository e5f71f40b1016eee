"""Work in a fork of this process, which ends there whatever becomes of it."""

import os
import warnings
from collections.abc import Callable


def fork(work: Callable[[], int], *, failed: int = 1) -> int:
    """Begin ``work`` in a child and return its process id; the child exits with what the work returns, or with ``failed``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        code = failed
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def wait_for(child: int) -> int:
    """How a child ended, as subprocess has it: its exit code, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
