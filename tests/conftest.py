import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("default")

KINDS = ["presence", "intersection", "spectrum"]
PAIR_KINDS = ["subsequence", "local_rank"]

# Few characters, so that n-grams meet; of every sort that could be taken for another: white space, NUL, upper and lower
# case, a letter with its accent in one and in two, right-to-left, astral, and surrogates that stand alone.
ALPHABET = "aab  \t\n\0éEe\u0301שΣ😀𝒳\ud83d\ude00"
texts = st.lists(st.text(alphabet=ALPHABET, max_size=25), min_size=1, max_size=8)
ngram_ranges = st.tuples(st.integers(1, 12), st.integers(0, 25)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@pytest.fixture(scope="session")
def data_folder():
    """The folder with the real data, from GRAMSHIFT_DATA or beside the repository."""
    folder = Path(os.environ.get("GRAMSHIFT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
    if not (folder / "sorted_data_acl").is_dir():
        message = f"no sorted_data_acl in {folder}; set GRAMSHIFT_DATA"
        if os.environ.get("GRAMSHIFT_REQUIRE_DATA"):
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="module")
def cluster():
    """Two workers for all tests of a module; Dask gives a task up when it has killed its second worker."""
    import dask
    import distributed

    from gramshift.runtime.cluster import open_cluster

    assert distributed  # sets what Dask is configured with, so it must come before we change a part of that
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        open_cluster(n_workers=2, memory_limit="500 MB") as opened,
    ):
        yield opened
