"""Ctrl-C while a library computes, and while the command is being loaded."""

import os
import signal
import subprocess
import sys

SCRIPT = """
import hashlib, os, signal, sys, threading, time
from gramshift.commands.interrupt import stopping_soon
from gramshift.runtime.storage import replaced_file
with stopping_soon("interrupted; nothing was written"), replaced_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()  # here, where loading cannot delay the work
    {work}
"""


def interrupt(tmp_path, work):
    command = [sys.executable, "-c", SCRIPT.format(work=work), str(tmp_path / "out")]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_a_library_that_computes_is_not_waited_for(tmp_path):
    """Like a product of large matrices, this keeps Python's own handler waiting: for half an hour."""
    result = interrupt(tmp_path, "hashlib.pbkdf2_hmac('sha256', b'x', b'y', 2_000_000_000)")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "gramshift: interrupted; nothing was written\n")
    assert os.listdir(tmp_path) == []


def test_python_ends_in_order_where_it_can(tmp_path):
    result = interrupt(tmp_path, "time.sleep(1000)")
    assert result.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert os.listdir(tmp_path) == []


def test_it_can_be_interrupted_while_it_is_loaded():
    script = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from gramshift.commands.entry import run
run()
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (130, "gramshift: interrupted; nothing was done\n")


def test_handlers_are_put_back():
    from gramshift.commands.interrupt import stopping_soon

    before = signal.getsignal(signal.SIGINT)
    with stopping_soon("x"):
        pass
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1
