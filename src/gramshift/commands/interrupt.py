"""Ctrl-C: one line and exit code 130 within two seconds, whatever is running."""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_CODE = 130
GRACE_SECONDS = 0.5  # for Python to end regularly, which it cannot while a library computes


def exit_while_loading() -> None:
    """Let Ctrl-C exit at once until a command begins: nothing has been done."""

    def stop(*_: object) -> None:
        os.write(2, b"gramshift: interrupted; nothing was done\n")
        os._exit(EXIT_CODE)

    signal.signal(signal.SIGINT, stop)


@contextmanager
def exiting_soon(words: str) -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt; if that takes too long, print the words and exit.

    The system's signal handler writes a byte into a pipe at once, even while Python's own has to
    wait; a thread reads it.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    ended = threading.Event()

    def watch() -> None:
        while byte := os.read(reading, 1):
            if byte[0] == signal.SIGINT and not ended.wait(GRACE_SECONDS):
                _exit(words)

    watcher = threading.Thread(target=watch, name="gramshift-interrupt", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGINT, handler)
        os.close(writing)
        watcher.join()
        os.close(reading)


def _exit(words: str) -> None:
    """Remove unfinished files, print the words and end the process."""
    files = sys.modules.get("gramshift.files")
    for path in list(files.UNFINISHED) if files is not None else ():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    line = f"gramshift: {words}\n"
    if os.isatty(2):
        line = f"\n\x1b[?25h{line}"  # shows the cursor, which a progress bar hides
    os.write(2, line.encode())
    os._exit(EXIT_CODE)
