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
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dask
import distributed
import numpy as np
import psutil
import pytest

import cluster_tasks
import gramshift
from bench.machine import dask_keys
from gramshift.runtime import cluster as cluster_module
from gramshift.runtime.cluster import PER_THREAD, open_cluster
from gramshift.runtime.workers import Patience

PATH = os.pathsep.join([str(Path(gramshift.__file__).parents[1]), str(Path(cluster_tasks.__file__).parent)])
PATIENCE = 120  # seconds until a test gives up
PATIENT = Patience(connect=20, arrive=PATIENCE)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def wait_until(condition):
    for _ in range(PATIENCE * 20):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it took too long")


def pids(cluster):
    return list(cluster.client.run(os.getpid).values())


def test_results_come_in_order_and_progress_is_complete(cluster):
    calls = []
    results = cluster.run(partial(pow, 2), range(30), name="power", report=lambda *call: calls.append(call))
    assert results == [2**i for i in range(30)]
    assert calls == [(done, 30) for done in range(31)]
    assert cluster.run(len, [], name="nothing") == []


def test_what_the_workers_have(cluster):
    assert (cluster.n_workers, cluster.n_threads, cluster.memory_limit) == (2, 2, 600 * 10**6)
    assert cluster.room(100 * 10**6) == 260 * 10**6


def test_results_are_handed_over_as_they_come(cluster):
    assert cluster.run(partial(pow, 3), range(5), receive=lambda item, result: (item, result)) == [(i, 3**i) for i in range(5)]


def test_names_are_readable_and_few_tasks_are_sent_out_at_once(cluster, monkeypatch):
    submit, sent, received, most = cluster._submit, [], [], []

    def count(*arguments):
        future = submit(*arguments)
        sent.append(future.key)
        most.append(len(sent) - len(received))
        return future

    monkeypatch.setattr(cluster, "_submit", count)
    cluster.run(abs, range(40), name="part", receive=lambda *_: received.append(None))
    assert max(most) == PER_THREAD * cluster.n_threads
    assert [key.rpartition("-")[0] for key in sent] == [f"part-{number}" for number in range(40)]
    assert len(set(sent)) == 40
    sent.clear()
    cluster.run(abs, range(3), name=lambda item: f"item-{item}")
    assert [key.rpartition("-")[0] for key in sent] == ["item-0", "item-1", "item-2"]


def test_shared_and_kept_values_are_found_on_the_workers(cluster):
    shared = cluster.share(np.arange(3))
    kept = cluster.keep(partial(cluster_tasks.add, shared), range(4), name="kept")
    assert cluster.run(np.sum, kept) == [3, 6, 9, 12]
    assert cluster.run(np.sum, [(kept[0], kept[1]), [kept[2], kept[3]]]) == [9, 21]
    with pytest.raises(TypeError):  # elsewhere they are not found
        cluster.run(lambda item: shared, [1])


class Shrinking(cluster_module.Cluster):
    """Places for ten tasks until one is lost, then for one; the task 7 is lost once, with all that are not finished."""

    def __init__(self):
        self.places, self.lost = 10, False

    def _count_places(self):
        return self.places

    def _submit(self, function, item, name, number):
        is_done = number < 3 or self.lost
        future = SimpleNamespace(key=f"{number}-{self.lost}", status="finished" if is_done else "pending", number=number)
        future.add_done_callback = lambda tell: tell(future) if is_done or number == 7 else None
        return future

    def _result(self, future):
        if future.number == 7 and not self.lost:
            self.places, self.lost = 1, True
            raise cluster_module._Lost
        return future.number

    def _wait_for_one(self, under_way):
        found = under_way.take_settled(0.01)
        assert found is not None, "nothing is under way, and nobody would ever come"
        return found

    def _abandon(self, futures):
        pass


@pytest.mark.parametrize("in_order", [True, False])
def test_tasks_go_on_in_order_where_some_are_lost_and_places_too(in_order):
    received = []
    found = Shrinking().run(abs, range(40), receive=lambda item, result: received.append(item) or result, in_order=in_order)
    assert found == list(range(40))
    assert received == list(range(40)) or not in_order


@contextmanager
def forgiving(cluster):
    """Where all workers die at once, a task may be sent to the second before anyone knows that it is dead as well."""

    def allow(n, dask_scheduler):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, n
        return before

    before = cluster.client.run_on_scheduler(allow, 10)
    try:
        yield
    finally:
        cluster.client.run_on_scheduler(allow, before)


def test_values_are_found_on_their_workers_unless_they_were_lost(cluster):
    kept = cluster.keep(abs, range(8))
    assert cluster.run(abs, kept) == list(range(8))
    assert set(cluster.find(kept)) <= set(cluster.client.nthreads())
    cluster.client.cancel([kept[0].future])
    assert cluster.find(kept) == [""] * 8


def test_an_error_of_a_task_is_raised_and_no_other_is_started(cluster):
    done = []
    with pytest.raises(KeyError, match="three is refused"):
        cluster.run(cluster_tasks.refuse_three, range(1000), report=lambda *call: done.append(call))
    assert len(done) < 100
    with pytest.raises(KeyboardInterrupt):  # as if Ctrl-C came in between
        cluster.run(abs, range(1000), report=lambda n, total: signal.raise_signal(signal.SIGINT) if n == 7 else None)
    assert cluster.run(abs, [-1]) == [1]


def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path):
    marker = tmp_path / "died"
    function = partial(cluster_tasks.die_once, str(marker), cluster.share(np.arange(4)))
    results = cluster.run(function, range(20))
    assert marker.exists()
    assert np.array_equal(results, np.arange(4) + np.arange(20)[:, None])


def test_values_that_were_lost_with_every_worker_are_put_back(cluster):
    shared = cluster.share(10)
    kept = cluster.keep(partial(cluster_tasks.add, shared), range(3))
    assert cluster.run(partial(cluster_tasks.add, 1), kept) == [11, 12, 13]
    for pid in pids(cluster):
        os.kill(pid, signal.SIGKILL)
    assert cluster.run(partial(cluster_tasks.add, shared), range(5)) == [10, 11, 12, 13, 14]
    assert cluster.run(partial(cluster_tasks.add, 1), kept) == [11, 12, 13]


def test_running_out_of_memory_is_one_sentence(cluster):
    with pytest.raises(
        MemoryError,
        match=r"^workers died again and again over the task hog-0, most likely for want of memory \(the smallest may use "
        r"572.2 MiB\): give each worker more memory, or let the work come in smaller parts$",
    ) as caught:
        cluster.run(cluster_tasks.take_all_memory, [0], name="hog")
    assert caught.value.__suppress_context__
    wait_until(lambda: cluster.n_workers == 2)
    assert cluster.run(abs, [-1]) == [1]


def test_if_shared_values_are_lost_again_and_again_it_ends(cluster, monkeypatch):
    shared = cluster.share(0)

    def lose(future):
        raise cluster_module._Lost

    monkeypatch.setattr(cluster, "_result", lose)
    with pytest.raises(MemoryError, match="workers died again and again over the task part-0"):
        cluster.run(partial(cluster_tasks.add, shared), [1])


def test_nothing_is_left_behind(temporary):
    opened = open_cluster(n_workers=1, memory_limit="400 MB")
    (worker,) = pids(opened.__enter__())
    assert len(os.listdir(temporary)) == 1
    assert not opened.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    wait_until(lambda: not psutil.pid_exists(worker))
    assert os.listdir(temporary) == []


SCRIPT = """
import os, sys
from gramshift.runtime.cluster import open_cluster
import cluster_tasks
from functools import partial

if __name__ == "__main__" or sys.argv[1:] == ["unguarded"]:
    with open_cluster(n_workers=1, memory_limit="400 MB") as cluster:
        print(*cluster.client.run(os.getpid).values(), flush=True)
        cluster.run(partial(cluster_tasks.wait_for, "/no such file"), range(10))
"""


@contextmanager
def script(folder, *arguments):
    (folder / "script.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": PATH}
    command = [sys.executable, str(folder / "script.py"), *arguments]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path, temporary, how):
    with script(tmp_path) as process:
        worker = int(process.stdout.readline())
        # Ctrl-C in a terminal goes to the workers too
        os.killpg(process.pid, how) if how == signal.SIGINT else os.kill(process.pid, how)
        _, errors = process.communicate(timeout=PATIENCE)
        wait_until(lambda: not psutil.pid_exists(worker))
    if how == signal.SIGINT:
        assert errors.splitlines()[-1] == "KeyboardInterrupt"
        assert os.listdir(temporary) == []


def test_a_script_that_every_worker_would_run_again_is_told_so(tmp_path, temporary):
    with script(tmp_path, "unguarded") as process:
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "put the work of the script below a line: if __name__ == '__main__':" in errors.splitlines()[-1]
    assert os.listdir(temporary) == []


@contextmanager
def dask_process(*arguments, path=PATH):
    """A scheduler or a worker, as a user starts them."""
    environment = os.environ | {"PYTHONPATH": path}
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments, "--no-dashboard"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


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
    with dask_process("scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}") as process:
        wait_until(lambda: file.exists() and file.read_text().endswith("}"))
        yield process, json.loads(file.read_text())["address"]


def test_a_scheduler_with_an_address(scheduler, tmp_path):
    process, address = scheduler
    with (
        pytest.raises(ConnectionError, match=f"scheduler='{address}': it has no workers; start some with 'dask worker"),
        open_cluster(address, patience=replace(PATIENT, arrive=0.2)),
    ):
        pass

    other = tmp_path / "other"  # where a worker finds another version than ours
    (other / "gramshift-0.0.7.dist-info").mkdir(parents=True)
    (other / "gramshift-0.0.7.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: gramshift\nVersion: 0.0.7\n")
    refused = (
        rf"^every worker must have gramshift {gramshift.__version__}, as here, but worker tcp://\S+ has 0.0.7: pip install"
    )
    with worker_process(address, tmp_path), open_cluster(address, patience=PATIENT) as opened:
        assert opened.run(partial(pow, 2), range(4)) == [1, 2, 4, 8]
        with worker_process(address, tmp_path, path=os.pathsep.join([str(other), PATH])):
            wait_until(lambda: opened.n_workers == 2)
            with pytest.raises(ValueError, match=refused):
                opened.run(abs, range(100))
            with pytest.raises(ValueError, match=refused), open_cluster(address, patience=PATIENT):
                pass
        wait_until(lambda: opened.n_workers == 1)

        gone = f"^the Dask scheduler at {address} has gone away in the middle of the work: start it and try again$"
        with pytest.raises(ConnectionError, match=gone) as caught:
            opened.run(abs, range(1000), report=lambda n, total: process.kill() if n == 5 else None)
        assert caught.value.__suppress_context__


def test_without_any_worker_it_does_not_wait_for_ever(scheduler, tmp_path):
    _, address = scheduler
    patience = replace(PATIENT, deserted=0.5)
    with worker_process(address, tmp_path) as worker, open_cluster(address, patience=patience) as opened:
        worker.kill()
        with pytest.raises(ConnectionError, match=f"^the Dask scheduler at {address} has no workers left: start some"):
            opened.run(abs, range(4))


def test_wrong_addresses():
    for address in ("tcp://127.0.0.1:1", "127.0.0.1:1"):
        with (
            pytest.raises(ConnectionError, match=f"scheduler='{address}': no Dask scheduler answers there"),
            open_cluster(address, patience=Patience(connect=0.3)),
        ):
            pass
    for address in ("here", "http://127.0.0.1:1"):
        with (
            pytest.raises(ValueError, match=f"scheduler='{address}': give the address of a Dask scheduler"),
            open_cluster(address),
        ):
            pass


def test_workers_that_are_paused_for_want_of_memory_are_not_waited_for(scheduler, tmp_path):
    _, address = scheduler
    patience = replace(PATIENT, deserted=0.5)
    words = r"^all Dask workers are paused for want of memory \(the smallest may use 57.2 MiB"
    less_than_it_has = {"memory-limit": "60MB"}
    with worker_process(address, tmp_path, **less_than_it_has), open_cluster(address, patience=patience) as opened:
        wait_until(lambda: opened._find_statuses() == {"paused"})
        with pytest.raises(MemoryError, match=words):
            opened.run(abs, range(4))


def test_a_worker_has_a_least_size():
    with (
        pytest.raises(MemoryError, match=r"a Dask worker needs 286.1 MiB, but the memory limit is 95.4 MiB"),
        open_cluster(memory_limit="100 MB"),
    ):
        pass


def find_ports(cluster):
    """All ports that the cluster listens on: the scheduler in this process, and its workers."""
    processes = [psutil.Process(), *(psutil.Process(pid) for pid in pids(cluster))]
    found = [one for process in processes for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
    assert {one.laddr.ip for one in found} == {"127.0.0.1"}
    return sorted({one.laddr.port for one in found})


def test_nobody_without_our_certificates_reaches_workers_on_this_machine(cluster):
    """Any user of this machine can connect to a port, and a client of Dask can run what it likes."""
    others = distributed.Security.temporary()
    keys = [dict.fromkeys(dask_keys(cluster.client)), dask_keys(SimpleNamespace(security=others))]
    port, patience = cluster.address.rpartition(":")[2], Patience(connect=1, arrive=1)
    for scheme, wrong in [("tcp", keys[0]), ("tls", keys[0]), ("tls", keys[1])]:
        address = f"{scheme}://127.0.0.1:{port}"
        with pytest.raises((OSError, ValueError)), dask.config.set(wrong), open_cluster(address, patience=patience):
            pass
    assert cluster.run(abs, [-3]) == [3]


def test_no_port_of_workers_on_this_machine_talks_to_strangers(cluster):
    ports, context = find_ports(cluster), ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    assert len(ports) > cluster.n_workers
    for port in ports:
        for wrap in (lambda plain: plain, context.wrap_socket):  # Dask without TLS says who it is at once
            with (
                socket.create_connection(("127.0.0.1", port), timeout=0.3) as plain,
                suppress(OSError),
                wrap(plain) as stranger,
            ):
                assert stranger.recv(1) == b""


def test_what_is_computed_on_this_machine_is_shown_to_nobody(cluster):
    """Pages of Dask ask for no certificate."""
    for port in find_ports(cluster):
        for page in ("/info/main/workers.html", "/json/identity.json", "/json/counts.json", "/metrics", "/health", "/status"):
            with pytest.raises(OSError, match=r"404|[Cc]onnection|closed|reset"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=2)


def test_without_a_package_for_certificates_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with (
        pytest.raises(ModuleNotFoundError, match=r"needs cryptography .*: pip install 'gramshift\[dask\]'"),
        open_cluster(),
    ):
        pass


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ModuleNotFoundError, match=r"needs dask and distributed: pip install 'gramshift\[dask\]'"),
        open_cluster(),
    ):
        pass
