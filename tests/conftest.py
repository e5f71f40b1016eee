import inspect
import os
import signal
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
WORKER = os.environ.get("PYTEST_XDIST_WORKER")

if WORKER and hasattr(os, "sched_setaffinity"):
    # One core for each worker, and so one thread, of BLAS and of what a test starts too. Must come before NumPy.
    CORES = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {CORES[int(WORKER.removeprefix("gw")) % len(CORES)]})

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("fast", settings.get_profile("default"), max_examples=20)  # for make test-fast
settings.load_profile("default")


def examples(n):
    """Settings for so many examples, of which make test-fast takes a fifth."""
    return settings(max_examples=max(1, n * settings.default.max_examples // 100))


KINDS = ["presence", "intersection", "spectrum"]
PAIR_KINDS = ["subsequence", "local_rank"]

# Few characters, so that n-grams meet; of every sort that could be taken for another: white space, NUL, upper and lower
# case, a letter with its accent in one and in two, right-to-left, astral, and surrogates that stand alone.
ALPHABET = "aab  \t\n\0éEe\u0301שΣ😀𝒳\ud83d\ude00"
texts = st.lists(st.text(alphabet=ALPHABET, max_size=25), min_size=1, max_size=8)
ngram_ranges = st.tuples(st.integers(1, 12), st.integers(0, 25)).map(lambda pair: (pair[0], pair[0] + pair[1]))

BY_FIXTURE = {"data_folder": "data", "browser": "browser", "firefox": "browser", "cluster": "cluster", "scheduler": "cluster"}
BY_NAME = {"open_workers": "cluster", "subprocess": "process", "fork": "process", "Parallel": "process"}
APART = ("data", "browser", "cluster", "process")  # markers of tests that may start processes
LONG_FIRST = ("cluster", "slow", "data", "browser", "process")
WITH_CLUSTER = {
    "tests/commands/test_files_on_workers.py",
    "tests/runtime/test_workers.py",
}
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")

started: list[str] = []  # processes, by the event that told of them


def notice(event, arguments):
    """Keep the event of a process; the oldest NumPy that we allow asks lscpu when it is imported."""
    if event in STARTS and "lscpu" not in map(str, arguments):
        started.append(event)


sys.addaudithook(notice)


def pytest_configure(config):
    """Compile the leaves once, before workers would do so side by side."""
    if not WORKER and config.getoption("numprocesses", None):
        import gramshift

        folder = Path(gramshift.__file__).parent
        for path in sorted(folder.glob("*/leaves/[a-z]*.py")):
            import_module(".".join(path.relative_to(folder.parent).with_suffix("").parts))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give workers whole files, which share fixtures; those with a cluster together.

    The marker xdist_group would say so too, but pytest 9.2 does not let pytest-xdist 3.8 hand it on.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "cluster" if file in WITH_CLUSTER else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_collection_modifyitems(items):
    """Mark tests by what they use, and let files that take long come first, so that no worker waits for them in the end."""
    places = {}
    for item in items:
        names = names_used(item.function)
        found = {marker for name, marker in BY_FIXTURE.items() if name in item.fixturenames}
        found |= {marker for name, marker in BY_NAME.items() if name in names}
        for marker in found:
            item.add_marker(marker)
        markers = {marker.name for marker in item.iter_markers()}
        place = next((place for place, name in enumerate(LONG_FIRST) if name in markers), len(LONG_FIRST))
        places[item.path] = min(place, places.get(item.path, place))
    items.sort(key=lambda item: places[item.path])


@cache
def names_used(function):
    """The names in a test and in the functions of our tests that it calls."""
    names, left, seen = set(), [function], set()
    while left:
        one = inspect.unwrap(left.pop())
        code = getattr(one, "__code__", None)
        if code is None or code in seen or not code.co_filename.startswith(str(TESTS)):
            continue
        codes = [code]
        for part in codes:
            codes += [constant for constant in part.co_consts if inspect.iscode(constant)]
            names.update(part.co_names)
        seen.update(codes)
        left += [one.__globals__[name] for name in names if name in one.__globals__]
    return names


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that starts a process says so by its marker: `make test-fast` leaves it out."""
    before = len(started)
    result = yield
    if not any(marker.name in APART for marker in item.iter_markers()):
        assert started[before:] == [], "it starts processes: @pytest.mark.process"
    return result


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def gramshift(monkeypatch, capfd):
    """The command in this process: gramshift("classify", ...) -> exit code, stdout, stderr."""

    from gramshift.commands.main import main

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gramshift", *map(str, arguments)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return Answer(code, *capfd.readouterr())

    return run


@pytest.fixture(scope="session", autouse=True)
def sigint():
    """Let SIGINT raise KeyboardInterrupt here and in children, also where it is ignored: in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_folder():
    """The folder with the real data, from GRAMSHIFT_DATA or beside the repository."""
    folder = Path(os.environ.get("GRAMSHIFT_DATA", TESTS.parent / ".." / "shared" / "data"))
    if not (folder / "sorted_data_acl").is_dir():
        message = f"no sorted_data_acl in {folder}; set GRAMSHIFT_DATA"
        if os.environ.get("GRAMSHIFT_REQUIRE_DATA"):
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def cluster():
    """A Dask client of two workers for all tests; Dask gives a task up when it has killed its second worker.

    It would also give a worker up that is just being started again some seconds after it was lost before; many tests kill them.
    """
    import dask
    import distributed

    from cluster_tasks import dask_keys
    from gramshift.runtime.workers import open_workers

    assert distributed  # sets what Dask is configured with, so it must come before we change a part of that
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.deploy.lost-worker-timeout": "1 hour"}),
        open_workers(None, n_workers=2, memory_limit=600 * 10**6) as client,
        dask.config.set(dask_keys(client)),  # for tests that connect to it by its address
    ):
        yield client
