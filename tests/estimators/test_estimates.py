"""What a fit takes is estimated to within 30 % of what is then measured; of time the benchmark `scale` tells the same."""

import json
import os
import subprocess
import sys

import pytest

from gramshift.estimators.needs import Work, estimate_exact, estimate_landmarks

SCRIPT = """
import json, sys
import numpy as np
import gramshift as gs
from bench.grown import grow, load_reviews
n, options, resume = json.loads(sys.argv[1])
source, target = grow(load_reviews(smoke=False), n, "B-D")
clf = gs.TransductiveClassifier(n_jobs=2, **options)
if "landmarks" in options:
    clf.fit(source, source.labels, target=target, resume=resume)
    n_characters = sum(len(text) for each in (source, target) for part in each.parts() for text in part)
else:
    texts = [[text for part in each.parts() for text in part] for each in (source, target)]
    n_characters = sum(map(len, texts[0])) + sum(map(len, texts[1]))
    clf.fit(texts[0], source.labels, target=texts[1], resume=resume)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # of this program, not of who started it
print(json.dumps([int(peak.split()[1]) * 1024, n_characters]))
"""


def measure(data, n, options, resume=None):
    """The peak memory of a process that does nothing else, and the size of its work."""
    command = [sys.executable, "-c", SCRIPT, json.dumps([n, options, resume])]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "GRAMSHIFT_DATA": str(data)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, env=environment)
    peak, n_characters = json.loads(done.stdout.splitlines()[-1])
    return peak, Work(n // 2, n - n // 2, min(1000, n // 2), n_characters, 4, adapts=True, jobs=2)


@pytest.fixture(scope="module", autouse=True)
def _compiled(data_folder):
    """Compiling takes memory too, once per machine."""
    for options in ({"landmarks": 20}, {}):
        measure(data_folder, 60, options)


@pytest.mark.parametrize(("n", "n_landmarks"), [(12_000, 500), (4000, 2500)])
def test_memory_with_landmarks(data_folder, n, n_landmarks):
    peak, work = measure(data_folder, n, {"landmarks": n_landmarks})
    assert 0.7 <= estimate_landmarks(work, n_landmarks).n_bytes / peak <= 1.3


def test_memory_of_an_exact_fit(data_folder):
    peak, work = measure(data_folder, 5000, {})
    assert 0.7 <= estimate_exact(work).n_bytes / peak <= 1.3
