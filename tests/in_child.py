"""Random inputs in a child process, where a crash of compiled code is a failure with its input."""

import os
import signal
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

from small_tables import die_in_a_fork

SECONDS = 250  # of all inputs together: more is a hang


def check_in_child(check):
    """Run check(note) in a fork; it calls note(case) with each input before that is used."""
    with TemporaryDirectory() as folder:
        noted, failed = Path(folder, "noted"), Path(folder, "failed")

        def work():
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            try:
                check(lambda case: noted.write_text(repr(case), errors="backslashreplace"))
            except BaseException:
                failed.write_text(traceback.format_exc(), errors="backslashreplace")
                os._exit(1)

        ended = die_in_a_fork(work)
        if ended:
            words = (
                failed.read_text()
                if failed.exists()
                else f"ended with {ended} on {noted.read_text()}"
            )
            raise AssertionError(words)
