import threading

import joblib
import pytest

from gramshift.parallel import count_threads, run_threads, thread_pool


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_results_are_in_order_and_progress_is_complete(n_threads):
    calls = []
    results = run_threads(
        lambda i: i * i, range(50), n_threads=n_threads, report=lambda *call: calls.append(call)
    )
    assert results == [i * i for i in range(50)]
    assert calls == [(done, 50) for done in range(51)]
    assert run_threads(len, [], n_threads=2) == []


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_is_raised_and_stops_the_rest(n_threads, error):
    done = []
    failed = threading.Event()

    def work(i):
        if i == 3:
            failed.set()
            raise error("stop")
        if i > 10:
            assert failed.wait(60)
        done.append(i)

    with pytest.raises(error, match="stop"):
        run_threads(work, range(10_000), n_threads=n_threads)
    assert len(done) < 5_000


def test_an_error_of_the_report_stops_the_rest():
    done = []

    def interrupt(n_done, total):
        if n_done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_threads(done.append, range(10_000), n_threads=3, report=interrupt)
    assert len(done) < 10_000


def test_progress_is_reported_from_the_calling_thread():
    threads = set()
    run_threads(str, range(20), n_threads=4, report=lambda *_: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


def test_numbers_of_threads():
    assert count_threads(3) == 3
    cores = joblib.cpu_count()
    assert count_threads(-1) == cores
    assert count_threads(-2) == max(1, cores - 1)
    assert count_threads(None) == 1
    for wrong in (0, "many", 1.5, True):
        with pytest.raises(ValueError, match=f"n_jobs={wrong!r}: give a number of threads"):
            count_threads(wrong)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 4, 5, 16, 17])
def test_a_pool_keeps_the_order(n_threads, n_items):
    """Run it twice, also in batches, where there is more work than threads."""
    with thread_pool(n_threads) as run:
        for _ in range(2):
            assert run(lambda i: i * i, range(n_items)) == [i * i for i in range(n_items)]


def test_a_pool_raises_errors_and_goes_on():
    def work(i):
        if i == 5:
            raise ValueError("the sixth")
        return i

    with thread_pool(2) as run:
        with pytest.raises(ValueError, match="the sixth"):
            run(work, range(20))
        assert run(abs, [-1, -2, -3]) == [1, 2, 3]
