import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import dask
import distributed
import numpy as np
import psutil
import pytest

import cluster_tasks
import gramshift
from cluster_tasks import dask_keys
from gramshift.commands.label import workers
from gramshift.commands.label.workers import find_statuses, open_workers, run_tasks

PATH = os.pathsep.join(
    [str(Path(gramshift.__file__).parents[1]), str(Path(cluster_tasks.__file__).parent)]
)
MAX_SECONDS = 120  # seconds until a test gives up


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 20)
    monkeypatch.setattr(workers, "ARRIVE_SECONDS", MAX_SECONDS)


def open_at(address):
    return open_workers(address, n_workers=1, memory_limit=0)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def wait_until(condition):
    for _ in range(MAX_SECONDS * 20):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it took too long")


def pids(cluster):
    return list(cluster.run(os.getpid).values())


def run(client, function, items, *arguments, receive=None):
    """Return the results by item, unless ``receive`` takes them."""
    found = {}
    receive = receive or found.__setitem__
    for one in run_tasks(client, function, arguments, items, name=lambda item: f"task {item}"):
        receive(*one)
    return found


def test_every_item_is_handed_over_with_its_result(cluster):
    assert run(cluster, pow, range(30), 2) == {i: 2**i for i in range(30)}
    assert run(cluster, pow, []) == {}
    shared = cluster.scatter(np.arange(3), broadcast=True)
    assert {
        item: value.tolist()
        for item, value in run(cluster, cluster_tasks.add, [5, 7], shared).items()
    } == {
        5: [5, 6, 7],
        7: [7, 8, 9],
    }


def test_an_error_of_a_task_is_raised_and_no_other_is_started(cluster):
    with pytest.raises(KeyError, match="three is refused"):
        run(cluster, cluster_tasks.refuse_three, range(100))
    done = []

    def stop(item, result):
        done.append(item)
        if len(done) == 7:
            signal.raise_signal(signal.SIGINT)  # as if Ctrl-C came in between

    with pytest.raises(KeyboardInterrupt):
        run(cluster, abs, range(100), receive=stop)
    assert len(done) == 7
    assert run(cluster, abs, [-1]) == {-1: 1}


def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path):
    marker, shared = tmp_path / "died", cluster.scatter(np.arange(4), broadcast=True)
    results = run(cluster, cluster_tasks.die_once, range(20), str(marker), shared)
    assert marker.exists()
    assert np.array_equal(
        [results[item] for item in range(20)], np.arange(4) + np.arange(20)[:, None]
    )


def test_running_out_of_memory_is_an_error_with_the_limit(cluster):
    with pytest.raises(
        MemoryError,
        match=r"task 0, .*\(the last may use 572.2 MiB\): give each worker more memory",
    ) as caught:
        run(cluster, cluster_tasks.take_all_memory, [0])
    assert caught.value.__suppress_context__
    wait_until(lambda: len(cluster.nthreads()) == 2)
    assert run(cluster, abs, [-1]) == {-1: 1}


@pytest.mark.cluster
def test_nothing_is_left_behind(temporary):
    opened = open_workers(None, n_workers=1, memory_limit=400 * 10**6)
    (worker,) = pids(opened.__enter__())
    assert len(os.listdir(temporary)) == 1
    assert not opened.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    wait_until(lambda: not psutil.pid_exists(worker))
    assert os.listdir(temporary) == []


SCRIPT = """
import os
from gramshift.commands.label.workers import open_workers, run_tasks
import cluster_tasks

if __name__ == "__main__":
    with open_workers(None, n_workers=1, memory_limit=400 * 10**6) as client:
        print(*client.run(os.getpid).values(), flush=True)
        list(run_tasks(client, cluster_tasks.wait_for, ("/no such file",), range(10), name=str))
"""


@contextmanager
def script(folder):
    (folder / "script.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": PATH}
    command = [sys.executable, str(folder / "script.py")]
    options = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "env": environment,
    }
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.cluster
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path, temporary, how):
    with script(tmp_path) as process:
        worker = int(process.stdout.readline())
        # Ctrl-C in a terminal goes to the workers too
        os.killpg(process.pid, how) if how == signal.SIGINT else os.kill(process.pid, how)
        _, errors = process.communicate(timeout=MAX_SECONDS)
        wait_until(lambda: not psutil.pid_exists(worker))
    if how == signal.SIGINT:
        assert errors.splitlines()[-1] == "KeyboardInterrupt"
        assert os.listdir(temporary) == []


@contextmanager
def dask_process(*arguments, path=PATH):
    """A scheduler or a worker, as a user starts them."""
    environment = os.environ | {"PYTHONPATH": path}
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(MAX_SECONDS)


def worker_process(address, folder, **options):
    options = {"nthreads": 1, "memory-limit": "400MB", "local-directory": folder, **options}
    return dask_process(
        "worker",
        address,
        "--no-nanny",
        *(f"--{name}={value}" for name, value in options.items() if name != "path"),
        path=options.get("path", PATH),
    )


@pytest.fixture
def scheduler(tmp_path, monkeypatch):
    file = tmp_path / "scheduler.json"
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # one that is killed leaves its folder there
    with dask_process(
        "scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}"
    ) as process:
        wait_until(lambda: file.exists() and file.read_text().endswith("}"))
        yield process, json.loads(file.read_text())["address"]


def test_a_scheduler_with_an_address(scheduler, tmp_path, monkeypatch):
    process, address = scheduler
    with monkeypatch.context() as patch:
        patch.setattr(workers, "ARRIVE_SECONDS", 0.2)
        with pytest.raises(
            ConnectionError,
            match=f"--scheduler {address}: it has no workers; start some with 'dask worker",
        ):
            open_at(address).__enter__()

    other = tmp_path / "other"  # where a worker finds another version than ours
    (other / "gramshift-0.0.7.dist-info").mkdir(parents=True)
    (other / "gramshift-0.0.7.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: gramshift\nVersion: 0.0.7\n"
    )
    version = gramshift.__version__
    refused = rf"gramshift {version}, as here, but worker tcp://\S+ has 0.0.7: pip install"
    with worker_process(address, tmp_path), open_at(address) as opened:
        assert run(opened, pow, range(4), 2) == {0: 1, 1: 2, 2: 4, 3: 8}
        with worker_process(address, tmp_path, path=os.pathsep.join([str(other), PATH])):
            wait_until(lambda: len(opened.nthreads()) == 2)
            with pytest.raises(ValueError, match=refused):
                run(opened, abs, range(100))
            with pytest.raises(ValueError, match=refused), open_at(address):
                pass
        wait_until(lambda: len(opened.nthreads()) == 1)

        gone = f"^the Dask scheduler at {address} has gone away in the middle of the work"
        with pytest.raises(ConnectionError, match=gone) as caught:
            run(opened, abs, range(100), receive=lambda item, result: process.kill())
        assert caught.value.__suppress_context__


def test_without_any_worker_it_does_not_wait_for_ever(scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "CHECK_SECONDS", 0.25)
    _, address = scheduler
    with worker_process(address, tmp_path) as worker, open_at(address) as opened:
        worker.kill()
        with pytest.raises(
            ConnectionError,
            match=f"^the Dask scheduler at {address} has no worker that can work: start",
        ):
            run(opened, abs, range(4))


def test_wrong_addresses(monkeypatch):
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.3)
    for address in ("tcp://127.0.0.1:1", "127.0.0.1:1"):
        with (
            pytest.raises(
                ConnectionError, match=f"--scheduler {address}: no Dask scheduler answers there"
            ),
            open_at(address),
        ):
            pass
    for address in ("here", "http://127.0.0.1:1"):
        with (
            pytest.raises(
                ValueError, match=f"--scheduler {address}: give the address of a Dask scheduler"
            ),
            open_at(address),
        ):
            pass


def test_workers_that_are_paused_for_want_of_memory_are_not_waited_for(
    scheduler, tmp_path, monkeypatch
):
    monkeypatch.setattr(workers, "CHECK_SECONDS", 0.25)
    _, address = scheduler
    words = (
        f"^the Dask scheduler at {address} has no worker that can work: .*paused for want of memory"
    )
    less_than_it_has = {"memory-limit": "60MB"}
    with worker_process(address, tmp_path, **less_than_it_has), open_at(address) as opened:
        wait_until(lambda: find_statuses(opened) == {"paused"})
        with pytest.raises(ConnectionError, match=words):
            run(opened, abs, range(4))


def test_a_worker_has_a_least_size():
    with (
        pytest.raises(
            MemoryError, match=r"a Dask worker needs 286.1 MiB, but the memory limit is 95.4 MiB"
        ),
        open_workers(None, n_workers=1, memory_limit=100 * 10**6),
    ):
        pass


def find_ports(cluster):
    """All ports that the cluster listens on: the scheduler in this process, and its workers."""
    processes = [psutil.Process(), *(psutil.Process(pid) for pid in pids(cluster))]
    found = [
        one
        for process in processes
        for one in process.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN
    ]
    assert {one.laddr.ip for one in found} == {"127.0.0.1"}
    return sorted({one.laddr.port for one in found})


def test_nobody_without_our_certificates_reaches_workers_on_this_machine(cluster, monkeypatch):
    """Any user of this machine can connect to a port, and a client can run any code."""
    others = distributed.Security.temporary()
    keys = [dict.fromkeys(dask_keys(cluster)), dask_keys(SimpleNamespace(security=others))]
    port = cluster.scheduler.address.rpartition(":")[2]
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(workers, "ARRIVE_SECONDS", 1)
    for scheme, wrong in [("tcp", keys[0]), ("tls", keys[0]), ("tls", keys[1])]:
        address = f"{scheme}://127.0.0.1:{port}"
        with (
            pytest.raises((OSError, ValueError)),
            dask.config.set(wrong),
            open_at(address),
        ):
            pass
    assert run(cluster, abs, [-3]) == {-3: 3}


def test_no_port_of_workers_on_this_machine_talks_to_strangers(cluster):
    ports, context = find_ports(cluster), ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    assert len(ports) > len(cluster.nthreads())
    for port in ports:
        for wrap in (
            lambda plain: plain,
            context.wrap_socket,
        ):  # Dask without TLS says who it is at once
            with (
                socket.create_connection(("127.0.0.1", port), timeout=0.3) as plain,
                suppress(OSError),
                wrap(plain) as stranger,
            ):
                assert stranger.recv(1) == b""


def test_no_pages_are_served_on_this_machine(cluster):
    """Pages of Dask ask for no certificate."""
    for port in find_ports(cluster):
        for page in (
            "/info/main/workers.html",
            "/json/identity.json",
            "/json/counts.json",
            "/metrics",
            "/health",
            "/status",
        ):
            with pytest.raises(OSError, match=r"404|[Cc]onnection|closed|reset"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=2)


def test_without_cryptography_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with (
        pytest.raises(
            ModuleNotFoundError, match=r"needs cryptography .*: pip install 'gramshift\[dask\]'"
        ),
        open_workers(None, n_workers=1, memory_limit=400 * 10**6),
    ):
        pass


def test_without_dask_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            ModuleNotFoundError,
            match=r"needs dask and distributed: pip install 'gramshift\[dask\]'",
        ),
        open_workers(None, n_workers=1, memory_limit=400 * 10**6),
    ):
        pass
