import dask
import distributed
import pytest

from gramshift.engine.cluster import open_cluster


@pytest.fixture(scope="module")
def cluster():
    """Two workers for all tests of a module; Dask gives a task up when it has killed its second worker."""
    assert distributed  # sets what Dask is configured with, so it must come before we change a part of that
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        open_cluster(n_workers=2, memory_limit="500 MB") as opened,
    ):
        yield opened
