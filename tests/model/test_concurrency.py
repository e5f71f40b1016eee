"""Calls from several threads, forks and joblib workers must be safe and give the same bits."""

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed

from gramshift import StringKernel, TransductiveClassifier

RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcdef "), 300)) for _ in range(150)]
KERNEL = StringKernel("intersection", ngram_range=(2, 5), n_jobs=2)
EXPECTED = KERNEL.gram(TEXTS).tobytes()


def compute(part):
    return StringKernel("intersection", ngram_range=(2, 5), n_jobs=2).gram(TEXTS[part:] + TEXTS[:part])


def turned(part):
    gram = np.frombuffer(EXPECTED, np.int64).reshape(150, 150)
    return np.roll(gram, (-part, -part), (0, 1)).tobytes()


def test_from_several_threads_at_once():
    with ThreadPoolExecutor(6) as pool:
        grams = list(pool.map(compute, range(12)))
    assert [gram.tobytes() for gram in grams] == [turned(part) for part in range(12)]


def test_predict_beside_the_first_probabilities_has_the_same_bits():
    """Labels shape the weights of n-grams in the preset best: probabilities must not change them under a prediction."""
    labels = ["good" if text.count("a") > 42 else "bad" for text in TEXTS[:75]]
    clf = TransductiveClassifier(preset="best", ngram_range=(2, 4), n_jobs=1).fit(TEXTS[:75], labels, target=TEXTS[75:])
    new = [text[::-1] for text in TEXTS[:20]]
    expected = clf.decision_function(new).tobytes()
    found = []
    with ThreadPoolExecutor(2) as pool:
        sure = pool.submit(clf.predict_proba, new)
        while not found or not sure.done():
            found.append(clf.decision_function(new).tobytes())
    assert set(found) == {expected}
    assert (clf.predict_proba(new) == sure.result()).all()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
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
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads, which is the point here
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
    """The signal comes when the gram has begun; the process ends by itself, without the file and without a traceback."""
    script = textwrap.dedent("""
        import os, signal, sys
        from gramshift import StringKernel
        texts = ["".join(chr(97 + (i * j * j + j) % 26) for j in range(400)) for i in range(1500)]
        def progress(stage, done, total):
            if stage == "gram" and done == 0:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            StringKernel(ngram_range=(1, 8), n_jobs=2).gram(texts, out=sys.argv[1], progress=progress)
        except KeyboardInterrupt:
            sys.exit(7)
    """)
    result = subprocess.run([sys.executable, "-c", script, str(tmp_path / "gram.npy")], timeout=120, check=False)
    assert result.returncode == 7
    assert os.listdir(tmp_path) == []
