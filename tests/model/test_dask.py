import os
import signal

import dask.bag
import numpy as np
import pytest

import gramshift as gs
from gramshift.runtime.resources import Runtime
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def fit(source=KITCHEN.texts, target=FILMS.texts, labels=KITCHEN.labels, *, runtime=None, **options):
    """With small pieces, so that there are several."""
    clf = gs.TransductiveClassifier(**{"preset": "paper", "ngram_range": (3, 5), "landmarks": 60} | options)
    given = {"piece_size": 64, "engine": clf.engine, "scheduler": clf.scheduler} | (runtime or {})
    return clf._fit_with(source, labels, target, Runtime(**given))


def assert_same(found, expected):
    np.testing.assert_allclose(found.transduction_score_, expected.transduction_score_, atol=1e-10)
    np.testing.assert_allclose(found.transduction_proba_, expected.transduction_proba_, atol=1e-10)
    assert found.transduction_.tolist() == expected.transduction_.tolist()


@pytest.mark.parametrize("way", [{}, {"adapt": False, "n_rounds": 1, "bias": True}])
def test_a_fit_with_landmarks_is_that_of_threads(cluster, way):
    assert_same(fit(engine="dask", scheduler=cluster.address, **way), fit(**way))


@pytest.mark.parametrize("stage", ["landmarks", "sums"])
def test_a_worker_killed_in_the_middle_changes_nothing_but_time(cluster, stage):
    victims = list(cluster.client.run(os.getpid).values())[:1]

    def kill(now, done, total):
        if now == stage and done == 1 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    found = fit(engine="dask", scheduler=cluster.address, runtime={"progress": kill})
    assert victims == []
    assert_same(found, fit())


def test_an_exact_fit_has_the_bits_of_threads(cluster):
    found, expected = (fit(landmarks=None, **way) for way in ({"engine": "dask", "scheduler": cluster.address}, {}))
    assert found.transduction_score_.tobytes() == expected.transduction_score_.tobytes()


def test_bags_are_read_by_partitions(cluster):
    bags = (dask.bag.from_sequence(texts, npartitions=3) for texts in (KITCHEN.texts, FILMS.texts))
    assert_same(fit(*bags, engine="dask", scheduler=cluster.address), fit())


def test_pieces_that_workers_made_are_kept_and_taken_up(cluster, tmp_path):
    class Stop(Exception):
        pass

    def stop(stage, done, total):
        if stage == "landmarks" and done == 2:
            raise Stop

    with pytest.raises(Stop):
        fit(engine="dask", scheduler=cluster.address, runtime={"resume": tmp_path / "kept", "progress": stop})
    calls = []
    runtime = {"resume": tmp_path / "kept", "progress": lambda *call: calls.append(call)}
    found = fit(engine="dask", scheduler=cluster.address, runtime=runtime)
    assert next(call for call in calls if call[0] == "landmarks")[1] >= 2
    assert_same(found, fit())
    assert len(list((tmp_path / "kept").glob("landmarks-*.piece"))) == 4


def test_a_piece_that_does_not_fit_a_worker_is_refused_with_the_numbers(cluster):
    words = r"a Dask worker that compares 10000000 documents with 60 needs 13.7 GiB, but .* fewer landmarks"
    with pytest.raises(MemoryError, match=words):
        fit(engine="dask", scheduler=cluster.address, runtime={"piece_size": 10**7})


def test_a_training_that_does_not_fit_a_worker_is_refused_with_the_numbers(cluster):
    texts = [f"{number:05d}" for number in range(2500)]
    words = r"a Dask worker that compares 1 documents with 2500 needs .* MiB, but .* fewer landmarks"
    with pytest.raises(MemoryError, match=words):
        fit(
            texts[:100],
            texts[100:],
            [0, 1] * 50,
            engine="dask",
            scheduler=cluster.address,
            landmarks=2500,
            runtime={"piece_size": 1},
        )


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_noticed_before_documents_are_read():
    class Unread:
        def __len__(self):
            return len(FILMS.texts)

        def parts(self):
            raise AssertionError("they are read")

    with pytest.raises(ConnectionError, match="no Dask scheduler answers there"):
        fit(target=Unread(), engine="dask", scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "ray"}, "engine='ray': must be one of 'threads', 'dask'"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "is for engine='dask'"),
        ({"engine": "dask", "landmarks": None, "preset": "best"}, "a linear model has none: leave it out"),
    ],
)
def test_wrong_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        fit(**options)
