import os
import signal
from functools import partial

import numpy as np
import pytest

import gramshift as gs
from conftest import KINDS, PAIR_KINDS
from gramshift.grams.filling import make_tile, name_tile
from gramshift.grams.gram import compute_gram
from gramshift.grams.plan import fit_workers
from gramshift.kernels.kernel import CountingKernel, Job, Plan
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighting import Weighting, as_powers
from gramshift.ngrams.index import run_serially
from gramshift.runtime.cluster import ROOM
from gramshift.runtime.resources import Runtime, check_engine, on_engine
from gramshift.text.encode import encode

RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcd é"), size)) for size in RNG.integers(0, 120, 45)]
OTHERS = TEXTS[30:] + ["".join(RNG.choice(list("abcd é"), 60)) for _ in range(10)]
CASES = [(kind, False) for kind in KINDS + PAIR_KINDS] + [("presence", True)]


IDF = Weighting(as_powers("idf"), None, None)


def compute(others, kind, weighted, *, normalize, out=None, **resources):
    given = {"kind": kind, "ngram_range": (2, 4), "weighting": IDF if weighted else None, "normalize": normalize}
    return compute_gram(TEXTS, others, runtime=Runtime(2, **resources), out=out, **given)


def make_kernel(others, kind, weighted, normalize):
    texts, n_cols = encode(TEXTS if others is None else [*others, *TEXTS]), None if others is None else len(others)
    given = (texts, n_cols, (2, 4), normalize, KERNELS[kind].defaults, run_serially, lambda n_bytes: None)
    kernel = KERNELS[kind].make_ready(Job(*given, IDF if weighted else None))
    kernel.begin(run_serially)
    return kernel


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("others", [None, OTHERS], ids=["symmetric", "rectangular"])
@pytest.mark.parametrize(("kind", "weighted"), CASES)
def test_a_tile_apart_has_the_bits_of_the_gram(kind, weighted, others, normalize):
    kernel, gram = make_kernel(others, kind, weighted, normalize), compute(others, kind, weighted, normalize=normalize)
    for rows, cols in [(slice(7, 19), slice(0, 19)), (slice(20, 45), slice(3, 9)), (slice(44, 45), slice(0, 1))]:
        tile = make_tile(kernel, gram.dtype, normalize, (rows, cols))
        assert tile.dtype == gram.dtype
        assert tile.tobytes() == gram[rows, cols].tobytes()
    assert name_tile((slice(20, 45), slice(3, 9))) == "tile-rows-20-45-cols-3-9"


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("others", [None, OTHERS], ids=["symmetric", "rectangular"])
@pytest.mark.parametrize(("kind", "weighted"), CASES)
def test_workers_give_the_same_bits_as_threads(kind, weighted, others, normalize, cluster, tmp_path):
    expected = compute(others, kind, weighted, normalize=normalize)
    calls = []
    with_workers = {"cluster": cluster, "tile": (16, 20), "progress": lambda *call: calls.append(call)}
    result = compute(others, kind, weighted, normalize=normalize, **with_workers)
    assert result.dtype == expected.dtype
    assert result.tobytes() == expected.tobytes()
    n_tiles = calls[-1][2]
    assert [call for call in calls if call[0] == "gram"] == [("gram", done, n_tiles) for done in range(n_tiles + 1)]
    if normalize:
        mapped = compute(others, kind, weighted, normalize=True, out=tmp_path / "gram.npy", **with_workers)
        assert isinstance(mapped, np.memmap)
        assert mapped.tobytes() == expected.tobytes()


def test_a_worker_killed_in_the_middle_changes_no_bit(cluster):
    expected = compute(None, "presence", False, normalize=True)
    victims = list(cluster.client.run(os.getpid).values())[:1]

    def kill(stage, done, total):
        if stage == "gram" and done == 5:
            os.kill(victims.pop(), signal.SIGKILL)

    result = compute(None, "presence", False, normalize=True, cluster=cluster, tile=(4, 8), progress=kill)
    assert victims == []
    assert result.tobytes() == expected.tobytes()


class SmallCluster:
    def __init__(self, memory_limit):
        self.memory_limit = memory_limit

    def room(self, shared):
        return int(ROOM * self.memory_limit) - shared


class LargeKernel:
    nbytes = 6 * 10**6


def test_tiles_are_made_to_fit_workers_or_refused_with_the_numbers():
    fit = partial(
        fit_workers, kernel=LargeKernel(), plan=Plan(1024, 1000, 2, row_bytes=CountingKernel.BYTES_PER_ROW), what="a gram"
    )
    assert fit(SmallCluster(10**9)).height == 1024
    assert fit(SmallCluster(20 * 10**6)).height == 128
    with pytest.raises(
        MemoryError,
        match=r"^a gram needs workers with 9.6 MiB, for the index and a tile, but the smallest may use 8.6 MiB: give each",
    ):
        fit(SmallCluster(9 * 10**6))


@pytest.mark.cluster
def test_the_kernel_as_users_see_it():
    kernel = gs.StringKernel(ngram_range=(2, 3), n_jobs=1, memory_limit="1 GB")
    assert np.array_equal(kernel.gram(TEXTS, engine="dask"), kernel.gram(TEXTS))


def test_wrong_engines_are_refused():
    kernel = gs.StringKernel()
    with pytest.raises(ValueError, match="engine='spark': must be one of 'threads', 'dask'"):
        kernel.gram(TEXTS, engine="spark")
    with pytest.raises(ValueError, match="scheduler='tcp://a:1' is for engine='dask', not for engine='threads'"):
        kernel.gram(TEXTS, scheduler="tcp://a:1")
    with pytest.raises(TypeError, match="scheduler=8786: give the address of a Dask scheduler"):
        check_engine("dask", 8786)
    with on_engine(Runtime()) as runtime:
        assert runtime.cluster is None
