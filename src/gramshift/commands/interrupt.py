"""Ctrl-C: one line and exit code 130 within two seconds, whatever is under way."""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CODE = 130
GRACE = 0.5  # seconds in which Python may end in order: it cannot while a library computes


def stop_while_loading() -> None:
    """Let Ctrl-C just end the process until a command begins: nothing has been done."""

    def stop(*_: object) -> None:
        os.write(2, b"gramshift: interrupted; nothing was done\n")
        os._exit(CODE)

    signal.signal(signal.SIGINT, stop)


@contextmanager
def stopping_soon(words: str) -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt as usual; if that takes longer than GRACE, the process says ``words`` and ends.

    The system's signal handler writes a byte into a pipe at once, even while Python's own has to wait; a thread reads it.
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
            if byte[0] == signal.SIGINT and not ended.wait(GRACE):
                _end(words)

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


def _end(words: str) -> None:
    files = sys.modules.get("gramshift.runtime.files")
    for partial in list(files.UNFINISHED) if files is not None else ():
        shutil.rmtree(partial, ignore_errors=True) if partial.is_dir() else partial.unlink(missing_ok=True)
    shown = f"gramshift: {words}\n"
    if os.isatty(2):
        shown = f"\n\x1b[?25h{shown}"  # the cursor, which a progress bar hides
    os.write(2, shown.encode())
    os._exit(CODE)
