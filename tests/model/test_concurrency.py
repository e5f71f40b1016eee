"""Calls from several threads, forks and joblib workers must be safe and give the same bits."""

import itertools
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
from joblib import Parallel, delayed

from gramshift import StringKernel, TransductiveClassifier, load

RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcdef "), 300)) for _ in range(150)]
KERNEL = StringKernel("intersection", ngram_range=(2, 5), n_jobs=2)
EXPECTED = KERNEL.gram(TEXTS).tobytes()


def compute(part):
    return StringKernel("intersection", ngram_range=(2, 5), n_jobs=2).gram(
        TEXTS[part:] + TEXTS[:part]
    )


def turned(part):
    gram = np.frombuffer(EXPECTED, np.int64).reshape(150, 150)
    return np.roll(gram, (-part, -part), (0, 1)).tobytes()


def test_from_several_threads_at_once():
    with ThreadPoolExecutor(6) as pool:
        grams = list(pool.map(compute, range(12)))
    assert [gram.tobytes() for gram in grams] == [turned(part) for part in range(12)]


def test_predict_beside_the_first_probabilities_has_the_same_bits():
    """Labels shape the weights of n-grams in the preset best: probabilities must not change them
    under a prediction.
    """
    labels = ["good" if text.count("a") > 42 else "bad" for text in TEXTS[:75]]
    clf = TransductiveClassifier(preset="best", ngram_range=(2, 4), n_jobs=1).fit(
        TEXTS[:75], labels, target=TEXTS[75:]
    )
    new = [text[::-1] for text in TEXTS[:20]]
    expected = clf.decision_function(new).tobytes()
    found = []
    with ThreadPoolExecutor(2) as pool:
        sure = pool.submit(clf.predict_proba, new)
        while not found or not sure.done():
            found.append(clf.decision_function(new).tobytes())
    assert set(found) == {expected}
    assert (clf.predict_proba(new) == sure.result()).all()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_from_joblib_workers(backend):
    grams = Parallel(n_jobs=2, backend=backend)(delayed(compute)(part) for part in range(4))
    assert [gram.tobytes() for gram in grams] == [turned(part) for part in range(4)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_from_a_forked_child_while_threads_run():
    """In a process of its own: a child that hangs must not hang the suite."""
    script = textwrap.dedent("""
        import os, sys, warnings
        from concurrent.futures import ThreadPoolExecutor
        from gramshift import StringKernel
        # Python warns of forks beside threads, which is the point here
        warnings.simplefilter("ignore", DeprecationWarning)
        texts = [f"document number {i} of them all" for i in range(200)]
        expected = StringKernel(n_jobs=2).gram(texts).tobytes()
        with ThreadPoolExecutor(2) as pool:
            busy = [pool.submit(StringKernel(n_jobs=2).gram, texts) for _ in range(20)]
            child = os.fork()
            if child == 0:
                os._exit(0 if StringKernel(n_jobs=2).gram(texts).tobytes() == expected else 1)
            _, status = os.waitpid(child, 0)
            assert all(future.result().tobytes() == expected for future in busy)
        sys.exit(os.waitstatus_to_exitcode(status))
    """)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_ctrl_c_ends_a_long_run(tmp_path):
    """The signal comes when the gram has begun; the process ends by itself, without the file and
    without a traceback.
    """
    script = textwrap.dedent("""
        import os, signal, sys
        from gramshift import StringKernel
        texts = ["".join(chr(97 + (i * j * j + j) % 26) for j in range(400)) for i in range(1500)]
        def progress(stage, done, total):
            if stage == "gram" and done == 0:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            kernel = StringKernel(ngram_range=(1, 8), n_jobs=2)
            kernel.gram(texts, out=sys.argv[1], progress=progress)
        except KeyboardInterrupt:
            sys.exit(7)
    """)
    result = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "gram.npy")], timeout=120, check=False
    )
    assert result.returncode == 7
    assert os.listdir(tmp_path) == []


class Work:
    """All that users do with fits, on objects that threads share and on their own; each returns
    what it found as bytes.
    """

    ways: ClassVar = {
        "best": {"preset": "best", "ngram_range": (2, 4)},
        "paper": {"preset": "paper", "ngram_range": (2, 4), "n_added": 10},
    }

    def __init__(self, folder):
        self.folder, self.count = folder, itertools.count()
        self.source, self.target, self.new = (
            [text[:120] for text in TEXTS[a:b]] for a, b in ((0, 30), (30, 60), (60, 66))
        )
        self.labels = ["good" if text.count("a") % 2 else "bad" for text in self.source]
        self.shared = {
            name: self.make(name) for name in self.ways
        }  # nobody has asked them anything yet

    def make(self, name):
        return TransductiveClassifier(**self.ways[name], n_jobs=2).fit(
            self.source, self.labels, target=self.target
        )

    def fit(self, name):
        found = self.make(name)
        return found.transduction_score_.tobytes() + found.transduction_proba_.tobytes()

    def predict(self, name):
        return (
            self.shared[name].decision_function(self.new).tobytes()
            + str(self.shared[name].predict(self.new)).encode()
        )

    def predict_proba(self, name):
        return self.shared[name].predict_proba(self.new).tobytes()

    def explain(self, name):
        return repr(self.shared[name].explain(self.new[0])).encode()

    def save(self, name):
        path = self.folder / f"{next(self.count)}.gramshift"
        self.shared[name].save(path, overwrite=True)
        return load(path).predict_proba(self.new).tobytes()

    def gram(self, name):
        return KERNEL.gram(self.source, self.new).tobytes()


@pytest.mark.slow
def test_all_at_once_is_what_it_is_one_after_another(tmp_path):
    """Threads that are changed as often as Python can: every call on shared and on own objects has
    the bits of a lone one.
    """
    alone, together = Work(tmp_path), Work(tmp_path)
    calls = [
        (call, name)
        for call in ("predict", "predict_proba", "explain", "save", "gram", "fit")
        for name in Work.ways
    ]
    expected = {call: getattr(alone, call[0])(call[1]) for call in calls}
    order = [calls[place] for _ in range(3) for place in RNG.permutation(len(calls))]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda call: getattr(together, call[0])(call[1]), order))
    finally:
        sys.setswitchinterval(before)
    assert [call for call, one in zip(order, found, strict=True) if one != expected[call]] == []


@pytest.mark.parametrize("repeat", range(3))
def test_the_first_calls_of_all_kinds_at_once_agree(tmp_path, repeat):
    """What is found at the first call and kept must not be seen half made: eight threads begin
    together.
    """
    work, barrier = Work(tmp_path), threading.Barrier(8)

    def ask(number):
        barrier.wait(60)
        return (work.predict_proba if number % 2 else work.predict)("best")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert set(found[::2]) == {work.predict("best")}
    assert set(found[1::2]) == {work.predict_proba("best")}
