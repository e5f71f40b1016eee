"""Measurements that need a process of their own: ``python -m bench.child TASK ARGUMENTS``, texts on stdin, JSON on stdout.

Nothing but the standard library is imported at the top, because a task may time imports.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.linear_child import LINEAR_TASKS

ROOT = Path(__file__).resolve().parent.parent
LATER_CALLS = 3


def run_child(task: str, *arguments: str, texts: list[str], here: bool = False) -> dict[str, Any]:
    """Run one task in a fresh process and return what it reports; its stderr is ours.

    With ``here`` it runs in this process, where figures do not matter and only time would be lost.
    """
    if here:
        return TASKS[task](texts, *arguments)
    command = [sys.executable, "-m", "bench.child", task, *arguments]
    done = subprocess.run(command, input=json.dumps(texts), stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def cold(texts: list[str], kind: str) -> dict[str, float]:
    """Seconds until the class is there, for the first gram, and for a gram once all is warm."""
    begun = time.perf_counter()
    import gramshift

    kernel = gramshift.StringKernel(kind, ngram_range=(5, 8))
    imported = time.perf_counter()
    kernel.gram(texts)
    called = time.perf_counter()
    later = []
    for _ in range(LATER_CALLS):
        start = time.perf_counter()
        kernel.gram(texts)
        later.append(time.perf_counter() - start)
    return {
        "import_s": imported - begun,
        "first_call_s": called - imported,
        "later_call_s": min(later),
        "extra_s": called - begun - min(later),
    }


def touch(texts: list[str]) -> dict[str, float]:
    """Seconds that a fresh process pays for the memory of a gram alone: filling an array of its size, less filling it again."""
    import numpy as np

    array = np.empty((len(texts), len(texts)), np.int64)
    times = []
    for value in (1, 2):
        start = time.perf_counter()
        array.fill(value)
        times.append(time.perf_counter() - start)
    return {"touch_s": times[0] - times[1]}


def memory(texts: list[str], contestant: str, kind: str) -> dict[str, float]:
    """The most memory this process ever held, with the texts, the libraries and one gram."""
    if contestant == "gramshift":
        import gramshift

        gram = gramshift.StringKernel(kind, ngram_range=(5, 8)).gram(texts)
    else:
        from bench.rivals import GRAMS

        gram = GRAMS[kind](texts)
    return {"peak_mb": peak_bytes() / 1e6, "gram_mb": gram.nbytes / 1e6}


def algebra(texts: list[str], contestant: str, path: str) -> dict[str, float]:
    """The most memory this process ever held, with the gram of that file and one training on it; and beyond the gram."""
    import numpy as np

    gram = np.load(path)
    if contestant == "gramshift":
        from bench.classifier import fit_labels, labels_with_gaps, make_classifier

        fit_labels(make_classifier(len(gram), kernel="precomputed"), gram, labels_with_gaps(len(gram)))
    else:
        from bench.rivals import algorithm_1, label_reviews

        algorithm_1(gram, *label_reviews(len(gram)))
    peak = peak_bytes()
    return {"peak_mb": peak / 1e6, "gram_mb": gram.nbytes / 1e6, "beyond_mb": (peak - gram.nbytes) / 1e6}


def reproduce(texts: list[str]) -> dict[str, float]:
    """Seconds and peak memory of ``gramshift reproduce`` on the data set, reading and writing included, without plots."""
    import tempfile

    import gramshift.commands.main  # noqa: F401  first, as on the command line
    from bench.corpus import find_data
    from gramshift.evaluate.protocol import GROUPS
    from gramshift.evaluate.reproduce import reproduce as run

    methods, kernels = ["plain", "adapted", "tkc"], ["presence", "intersection"]
    with tempfile.TemporaryDirectory(prefix="gramshift-bench-") as folder:
        begun = time.perf_counter()
        run(find_data(None), Path(folder), settings=GROUPS["all"], methods=methods, kernels=kernels)
        return {"seconds": time.perf_counter() - begun, "peak_mb": peak_bytes() / 1e6}


def settings(texts: list[str]) -> dict[str, float]:
    """The same without files, for made-up texts."""
    import numpy as np

    import gramshift
    from gramshift.evaluate.experiment import Documents, run_settings
    from gramshift.evaluate.protocol import GROUPS

    begun = time.perf_counter()
    codes = (np.arange(len(texts)) * 8 // len(texts) + 1) % 2
    for kind in ("presence", "intersection"):
        gram = gramshift.StringKernel(kind).gram(texts)
        for _ in run_settings(gram, Documents("BDEK", codes), GROUPS["all"], ["plain", "adapted", "tkc"]):
            pass
    return {"seconds": time.perf_counter() - begun, "peak_mb": peak_bytes() / 1e6}


def held(reviews: Any, n: int, setting: str) -> tuple[list[str], Any, list[str]]:
    """Source texts, their labels and target texts in memory."""
    from bench.grown import grow

    source, target = grow(reviews, n, setting)
    return source.first(len(source)), source.labels, target.first(len(target))


def peak_bytes() -> int:
    """The peak of resident memory since this program was loaded.

    On Linux ru_maxrss will not do: it survives exec and so includes the peak of the process that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "cold": cold,
    "touch": touch,
    "memory": memory,
    "algebra": algebra,
    "reproduce": reproduce,
    "settings": settings,
    **LINEAR_TASKS,
}

if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    print(json.dumps(TASKS[name](json.load(sys.stdin), *rest)))
