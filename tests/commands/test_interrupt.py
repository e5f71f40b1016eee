"""Ctrl-C while a library computes, and while the command is being loaded."""

import os
import signal
import socket
import subprocess
import sys
import time

SCRIPT = """
import hashlib, os, signal, sys, threading, time
from gramshift.commands.interrupt import exiting_soon
from gramshift.files import replaced_file
with exiting_soon("interrupted; nothing was written"), replaced_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    {work}
"""


def interrupt(tmp_path, work):
    command = [sys.executable, "-c", SCRIPT.format(work=work), str(tmp_path / "out")]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_a_library_that_computes_is_not_waited_for(tmp_path):
    """Like a product of large matrices, this keeps Python's own handler waiting."""
    result = interrupt(tmp_path, "hashlib.pbkdf2_hmac('sha256', b'x', b'y', 2_000_000_000)")
    assert (result.returncode, result.stdout, result.stderr) == (
        130,
        "",
        "gramshift: interrupted; nothing was written\n",
    )
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
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stderr) == (130, "gramshift: interrupted; nothing was done\n")


def test_handlers_are_put_back():
    from gramshift.commands.interrupt import exiting_soon

    before = signal.getsignal(signal.SIGINT)
    with exiting_soon("x"):
        pass
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_a_server_that_says_no_more_is_not_waited_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/data.tar.gz"
        script = "from gramshift.commands.main import main; main()"
        command = [
            sys.executable,
            "-c",
            script,
            "fetch",
            "sentiment",
            "--output",
            str(tmp_path),
            "--url",
            url,
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = listening.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 50)
                while not list(tmp_path.glob(".fetching-*/*.tar.gz")):
                    time.sleep(0.01)
                process.send_signal(signal.SIGINT)
                _, words = process.communicate(timeout=20)  # it would wait for a minute
    assert process.returncode == 130
    assert words.splitlines()[-1] == "gramshift: interrupted; nothing was written"
    assert os.listdir(tmp_path) == []
