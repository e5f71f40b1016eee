import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
WORKER = os.environ.get("PYTEST_XDIST_WORKER")

if WORKER and hasattr(os, "sched_setaffinity"):
    # before NumPy is imported: one core, and so one thread of BLAS, per worker and its children
    CORES = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {CORES[int(WORKER.removeprefix("gw")) % len(CORES)]})

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("fast", settings.get_profile("default"), max_examples=20)
settings.load_profile("default")


def examples(n):
    """Return settings for n examples, of which the profile "fast" takes a fifth."""
    return settings(max_examples=max(1, n * settings.default.max_examples // 100))


posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
KINDS = ["presence", "intersection", "spectrum"]
PAIR_KINDS = ["subsequence", "local_rank"]

# Few characters, so that texts share n-grams, and all kinds that are easily confused: white space,
# NUL, upper and lower case, an accented letter as one code point and as two, right-to-left, astral,
# lone surrogates.
ALPHABET = "aab  \t\n\0éEe\u0301שΣ😀𝒳\ud83d\ude00"
texts = st.lists(st.text(alphabet=ALPHABET, max_size=25), min_size=1, max_size=8)
ngram_ranges = st.tuples(st.integers(1, 12), st.integers(0, 25)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)

BY_FIXTURE = {
    "data_folder": "data",
    "browser": "browser",
    "firefox": "browser",
    "cluster": "cluster",
    "scheduler": "cluster",
}


def pytest_configure(config):
    """Compile all loops once, before workers would do so in parallel."""
    if not WORKER and config.getoption("numprocesses", None):
        import gramshift

        folder = Path(gramshift.__file__).parent
        for path in sorted(folder.glob("*/compiled/[a-z]*.py")):
            import_module(".".join(path.relative_to(folder.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items):
    """Mark tests by the fixtures that they use, and those of modules that start processes."""
    for item in items:
        for fixture, marker in BY_FIXTURE.items():
            if fixture in item.fixturenames:
                item.add_marker(marker)
        if hasattr(item.module, "subprocess"):
            item.add_marker("process")


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def gramshift(monkeypatch, capfd):
    """The command in this process: gramshift("classify", ...) gives exit code, stdout, stderr."""

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
    """Let SIGINT raise KeyboardInterrupt, also in a background job, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_folder():
    """The folder with the reviews of the paper, named by GRAMSHIFT_DATA."""
    folder = Path(os.environ.get("GRAMSHIFT_DATA", TESTS.parent / ".." / "shared" / "data"))
    if not (folder / "sorted_data_acl").is_dir():
        pytest.fail(f"no sorted_data_acl in {folder}: set GRAMSHIFT_DATA, or run make test")
    return folder


@pytest.fixture(scope="session")
def cluster():
    """A Dask client of two workers for all tests of a process.

    Tests kill workers, so Dask may neither retry a task for long nor give up a worker that
    restarts.
    """
    import dask
    import distributed

    from cluster_tasks import dask_keys
    from gramshift.commands.label.workers import open_workers

    assert distributed  # its import sets the configuration that is changed here
    patience = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    with (
        dask.config.set(patience),
        open_workers(None, n_workers=2, memory_limit=600 * 10**6) as client,
        dask.config.set(dask_keys(client)),  # for tests that connect to it by its address
    ):
        yield client
