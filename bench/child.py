"""Measurements in a process of their own: ``python -m bench.child TASK``, JSON in and out.

Only the standard library is imported at the top, because tasks time imports and limit threads
before libraries are loaded.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.machine import peak_bytes

ROOT = Path(__file__).resolve().parent.parent
LATER_CALLS = 3
WARM_DOCS, WARM_SETTING = 60, "BD-EK"  # a small fit that loads compiled code


def run_child(task: str, *, here: bool = False, **arguments: Any) -> dict[str, Any]:
    """Run one task in a fresh process, which shares our stderr, and return its report.

    With ``here`` it runs in this process, where figures do not matter and only time would be lost.
    """
    if here:
        return TASKS[task](**arguments)
    command = [sys.executable, "-m", "bench.child", task]
    done = subprocess.run(
        command,
        input=json.dumps(arguments),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


class Watch:
    """Seconds and processor seconds of several runs, and the peak of this process."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    def __enter__(self) -> None:
        self._begun, self._used = time.perf_counter(), time.process_time()

    def __exit__(self, *error: object) -> None:
        self.seconds.append(time.perf_counter() - self._begun)
        self.cpu.append(time.process_time() - self._used)

    def report(self) -> dict[str, Any]:
        """Return the figures of the fastest run, and the peak."""
        least = {"seconds": min(self.seconds), "cpu_s": min(self.cpu), "all_seconds": self.seconds}
        return least | {"peak_mb": peak_bytes() / 1e6}


def cold(texts: list[str]) -> dict[str, float]:
    """Time the import, the first kernel matrix, and one when caches are warm."""
    begun = time.perf_counter()
    import gramshift

    kernel = gramshift.StringKernel("presence", ngram_range=(5, 8))
    imported = time.perf_counter()
    kernel.gram(texts)
    called = time.perf_counter()
    later = Watch()
    for _ in range(LATER_CALLS):
        with later:
            kernel.gram(texts)
    least = min(later.seconds)
    first = {"import_s": imported - begun, "first_call_s": called - imported}
    return first | {"later_call_s": least, "extra_s": called - begun - least}


def memory(texts: list[str], contestant: str, kind: str) -> dict[str, float]:
    """Measure the peak of this process, with the texts, the libraries and one kernel matrix."""
    if contestant == "gramshift":
        import gramshift

        gram = gramshift.StringKernel(kind, ngram_range=(5, 8)).gram(texts)
    else:
        from bench.rivals import GRAMS

        gram = GRAMS[kind](texts)
    return {"peak_mb": peak_bytes() / 1e6, "gram_mb": gram.nbytes / 1e6}


def algebra(contestant: str, path: str) -> dict[str, float]:
    """Measure the peak memory of one training on a kernel matrix, and beyond the matrix."""
    import numpy as np

    gram = np.load(path)
    if contestant == "gramshift":
        from bench.classifier import labels_with_gaps, make_classifier

        classifier = make_classifier(len(gram), kernel="precomputed")
        classifier.fit(gram, labels_with_gaps(len(gram)))
    else:
        from bench.rivals import algorithm_1, label_reviews

        algorithm_1(gram, *label_reviews(len(gram)))
    peak = peak_bytes()
    return {
        "peak_mb": peak / 1e6,
        "gram_mb": gram.nbytes / 1e6,
        "beyond_mb": (peak - gram.nbytes) / 1e6,
    }


def reproduce() -> dict[str, float]:
    """Run ``gramshift reproduce`` on the data set, reading and writing included, without plots."""
    import tempfile

    import gramshift.commands.main  # noqa: F401  first, as on the command line
    from bench.corpus import find_data
    from gramshift.evaluate.protocol import GROUPS
    from gramshift.evaluate.reproduce import reproduce as run

    methods, kernels, watch = ["plain", "adapted", "tkc"], ["presence", "intersection"], Watch()
    with tempfile.TemporaryDirectory(prefix="gramshift-bench-") as folder, watch:
        run(find_data(None), Path(folder), settings=GROUPS["all"], methods=methods, kernels=kernels)
    return watch.report()


def settings(texts: list[str]) -> dict[str, float]:
    """Run the stages of ``reproduce`` on made-up texts, without files."""
    import numpy as np

    import gramshift
    from gramshift.evaluate.paper_stages import run_stages
    from gramshift.evaluate.protocol import GROUPS
    from gramshift.evaluate.results import StackedReviews

    codes, watch = (np.arange(len(texts)) * 8 // len(texts) + 1) % 2, Watch()
    with watch:
        for kind in ("presence", "intersection"):
            gram = gramshift.StringKernel(kind).gram(texts)
            for _ in run_stages(
                gram, StackedReviews("BDEK", codes), GROUPS["all"], ["plain", "adapted", "tkc"]
            ):
                pass
    return watch.report()


def real_fit(setting: str, n: int, repeat: int, smoke: bool) -> dict[str, Any]:
    """Go from n real reviews to labels and probabilities by the preset "best"."""
    from bench.corpus import load_reviews, split_setting

    reviews, watch = load_reviews(smoke=smoke), Watch()
    source, codes, target = split_setting(reviews, setting, n)
    _warm_up(reviews)
    classifier: Any = None
    for _ in range(repeat):
        classifier = None  # so that memory never holds two of them
        with watch:
            classifier = _make().fit(source, codes, target=target)
            probabilities = classifier.transduction_proba_
    return watch.report() | _answers(
        classifier.transduction_, classifier.transduction_score_, probabilities
    )


def real_rival(setting: str, n: int, smoke: bool) -> dict[str, Any]:
    """Time the fit of ``real_fit`` by scikit-learn and SciPy, once."""
    from bench.best_rival import fit_best
    from bench.corpus import load_reviews, split_setting

    (source, codes, target), watch = split_setting(load_reviews(smoke=smoke), setting, n), Watch()
    with watch:
        found = fit_best(source, codes, target)
    return watch.report() | _answers(found.codes, found.scores, found.probabilities)


def presets(setting: str, n: int, grown: bool, repeat: int, smoke: bool) -> dict[str, Any]:
    """Fit both presets on the same documents, in turns, real ones or grown ones."""
    from bench.corpus import grow_lists, load_reviews, split_setting

    reviews = load_reviews(smoke=smoke)
    source, codes, target = (
        grow_lists(reviews, n, setting) if grown else split_setting(reviews, setting, n)
    )
    watches = {"paper": Watch(), "best": Watch()}
    for preset in watches:
        _warm_up(reviews, preset)
    for _ in range(repeat):
        for preset, watch in watches.items():
            with watch:
                _make(preset).fit(source, codes, target=target)
    return {preset: watch.report() for preset, watch in watches.items()}


def grown_fit(setting: str, n: int, lengths: list[int], smoke: bool) -> dict[str, Any]:
    """Fit grown documents, which are held in memory."""
    from bench.corpus import grow_lists, load_reviews

    reviews, ngram_range, watch = load_reviews(smoke=smoke), tuple(lengths), Watch()
    _warm_up(reviews, ngram_range=ngram_range)
    source, labels, target = grow_lists(reviews, n, setting)
    with watch:
        _make(ngram_range=ngram_range).fit(source, labels, target=target)
    return watch.report()


def keep_model(n: int, path: str, smoke: bool) -> dict[str, Any]:
    """Fit n grown documents and keep the model in a file."""
    from bench.corpus import grow_lists, load_reviews

    source, labels, target = grow_lists(load_reviews(smoke=smoke), n, "B-D")
    _make().fit(source, labels, target=target).save(path)
    return {"model_mb": os.path.getsize(path) / 1e6}


def predict(path: str, n: int, repeat: int, pinned: bool, smoke: bool) -> dict[str, Any]:
    """Measure documents per second that a model labels on one core, on unseen domains."""
    _use_one_core(pinned)
    import gramshift
    from bench.corpus import load_reviews, take

    documents, _ = take(load_reviews(smoke=smoke), "EK", n)
    loading, watch = Watch(), Watch()
    with loading:
        model: Any = gramshift.load(path)
    model.set_params(n_jobs=1)
    model.predict(documents[:20])
    for _ in range(repeat):
        with watch:
            model.predict(documents)
    figures = watch.report() | {"per_second": n / min(watch.seconds), "load_s": loading.seconds[0]}
    return figures | {"scores": model.decision_function(documents).tolist()}


def predict_rival(n: int, n_predicted: int, pinned: bool, smoke: bool) -> dict[str, Any]:
    """Measure ``predict``, once, by CountVectorizer and a coefficient for each n-gram."""
    _use_one_core(pinned)
    from bench.best_rival import fit_best
    from bench.corpus import grow_lists, load_reviews, take

    reviews, watch = load_reviews(smoke=smoke), Watch()
    documents, _ = take(reviews, "EK", n_predicted)
    model = fit_best(*grow_lists(reviews, n, "B-D")).model.pruned()
    model.score(documents[:20])
    with watch:
        scores = model.score(documents)
    return {"per_second": n_predicted / watch.seconds[0], "scores": scores[:, 1].tolist()}


def classes(n: int, n_classes: int, repeat: int, smoke: bool) -> dict[str, Any]:
    """Fit grown documents in some number of classes."""
    from bench.corpus import load_reviews, themed

    reviews, half, watch = load_reviews(smoke=smoke), n // 2, Watch()
    source, codes = themed(reviews, "BD", n - half, n_classes, seed=0)
    target, truth = themed(reviews, "EK", half, n_classes, seed=1)
    _warm_up(reviews)
    for _ in range(repeat):
        with watch:
            classifier = _make().fit(source, codes, target=target)
    right = 100 * float((classifier.transduction_ == truth).mean())
    characters = sum(map(len, source)) + sum(map(len, target))
    return watch.report() | {
        "ns_per_character": 1e9 * min(watch.seconds) / characters,
        "accuracy_percent": right,
    }


def _make(preset: str = "best", **options: Any) -> Any:
    import gramshift

    return gramshift.TransductiveClassifier(preset=preset, **options)


def _warm_up(reviews: Any, preset: str = "best", **options: Any) -> None:
    from bench.corpus import grow_lists

    source, labels, target = grow_lists(reviews, WARM_DOCS, WARM_SETTING)
    _make(preset, **options).fit(source, labels, target=target)


def _answers(codes: Any, scores: Any, probabilities: Any) -> dict[str, Any]:
    return {
        "codes": codes.tolist(),
        "scores": scores.tolist(),
        "probabilities": probabilities.tolist(),
    }


def _use_one_core(pinned: bool) -> None:
    """Limit all libraries to one thread; call this before they are loaded."""
    if not pinned:
        return
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task
    for task in (
        cold,
        memory,
        algebra,
        reproduce,
        settings,
        real_fit,
        real_rival,
        presets,
        grown_fit,
        keep_model,
        predict,
        predict_rival,
        classes,
    )
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](**json.load(sys.stdin))))
