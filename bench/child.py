"""Measurements in a process of their own: ``python -m bench.child TASK``, JSON in and out.

Only the standard library is imported at the top, because a task times imports, and others measure
the memory of one library without the others.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.machine import peak_bytes

ROOT = Path(__file__).resolve().parent.parent
LATER_CALLS = 3
WARM_DOCS, WARM_SETTING = 60, "BD-EK"  # a small fit that loads compiled code
PAPER_KERNELS = ["presence", "intersection"]


def run_child(task: str, *, here: bool = False, **arguments: Any) -> dict[str, Any]:
    """Run a function of this module in a fresh process, and return its report.

    With ``here`` it runs in this process, where figures do not matter and only time would be lost.
    """
    if here:
        return dict(globals()[task](**arguments))
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
        return {
            "seconds": min(self.seconds),
            "cpu_s": min(self.cpu),
            "peak_mb": peak_bytes() / 1e6,
        }


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
    return {
        "import": imported - begun,
        "first call": called - imported,
        "later call": least,
        "extra": called - begun - least,
    }


def memory(texts: list[str], contestant: str, kind: str) -> dict[str, float]:
    """Measure the peak of this process, with the texts, the libraries and one kernel matrix."""
    if contestant == "gramshift":
        import gramshift

        gram = gramshift.StringKernel(kind, ngram_range=(5, 8)).gram(texts)
    else:
        from bench.rivals import kernel_matrix

        gram = kernel_matrix(kind, texts)
    return {"MB": peak_bytes() / 1e6, "of which gram": gram.nbytes / 1e6}


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
    return {"MB": peak / 1e6, "beyond the gram": (peak - gram.nbytes) / 1e6}


def reproduce() -> dict[str, float]:
    """Run ``gramshift reproduce`` on the data set, reading and writing included, without plots."""
    import tempfile

    import gramshift.commands.main  # noqa: F401  first, as on the command line
    from bench.corpus import find_data
    from gramshift.evaluate.protocol import GROUPS
    from gramshift.evaluate.reproduce import reproduce as run
    from gramshift.methods import STAGES

    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="gramshift-bench-") as folder, watch:
        run(
            find_data(None),
            Path(folder),
            settings=GROUPS["all"],
            methods=STAGES,
            kernels=PAPER_KERNELS,
        )
    return watch.report()


def settings(texts: list[str]) -> dict[str, float]:
    """Run the stages of ``reproduce`` on made-up texts, without files."""
    import numpy as np

    import gramshift
    from gramshift.evaluate.paper_stages import run_stages
    from gramshift.evaluate.protocol import GROUPS
    from gramshift.evaluate.results import StackedReviews
    from gramshift.methods import STAGES

    documents = StackedReviews("BDEK", (np.arange(len(texts)) * 8 // len(texts) + 1) % 2)
    watch = Watch()
    with watch:
        for kind in PAPER_KERNELS:
            gram = gramshift.StringKernel(kind).gram(texts)
            list(run_stages(gram, documents, GROUPS["all"], STAGES))
    return watch.report()


def fit(
    setting: str,
    n: int,
    smoke: bool,
    *,
    repeat: int = 1,
    grown: bool = False,
    presets: Sequence[str] = ("best",),
    ngram_range: Sequence[int] | None = None,
    answers: bool = False,
) -> dict[str, Any]:
    """Fit presets on the same n documents, in turns, real ones or grown ones.

    Returns figures by preset, and with ``answers`` those of the last fit.
    """
    from bench.corpus import grow_setting, load_reviews, split_setting

    reviews = load_reviews(smoke=smoke)
    options = {} if ngram_range is None else {"ngram_range": tuple(ngram_range)}
    source, codes, target = (grow_setting if grown else split_setting)(reviews, setting, n)
    watches = {preset: Watch() for preset in presets}
    for preset in presets:
        _warm_up(reviews, preset, **options)
    classifier: Any = None
    for _ in range(repeat):
        for preset, watch in watches.items():
            classifier = None  # so that memory never holds two of them
            with watch:
                classifier = _make(preset, **options).fit(source, codes, target=target)
    result: dict[str, Any] = {preset: watch.report() for preset, watch in watches.items()}
    if answers:
        names = ("transduction_", "transduction_score_", "transduction_proba_")
        result |= _answers(*(getattr(classifier, name) for name in names))
    return result


def real_rival(setting: str, n: int, smoke: bool) -> dict[str, Any]:
    """Time a fit by scikit-learn and SciPy, once."""
    from bench.best_rival import fit_best
    from bench.corpus import load_reviews, split_setting

    (source, codes, target), watch = split_setting(load_reviews(smoke=smoke), setting, n), Watch()
    with watch:
        found = fit_best(source, codes, target)
    return watch.report() | _answers(found.codes, found.scores, found.probabilities)


def keep_model(n: int, path: str, smoke: bool) -> dict[str, Any]:
    """Fit n grown documents and keep the model in a file."""
    from bench.corpus import grow_setting, load_reviews

    source, labels, target = grow_setting(load_reviews(smoke=smoke), "B-D", n)
    _make().fit(source, labels, target=target).save(path, overwrite=True)
    return {"model_mb": os.path.getsize(path) / 1e6}


def predict(path: str, n: int, repeat: int, smoke: bool) -> dict[str, Any]:
    """Measure documents per second that a model labels on one core, on unseen domains."""
    from threadpoolctl import threadpool_limits

    import gramshift
    from bench.corpus import load_reviews, take

    documents, _ = take(load_reviews(smoke=smoke), "EK", n)
    loading, watch = Watch(), Watch()
    with loading:
        model: Any = gramshift.load(path)
    model.set_params(n_jobs=1)
    with threadpool_limits(1):
        model.predict(documents[:20])
        for _ in range(repeat):
            with watch:
                model.predict(documents)
    return {
        "per_second": n / min(watch.seconds),
        "peak_mb": watch.report()["peak_mb"],
        "load_s": loading.seconds[0],
        "scores": model.decision_function(documents).tolist(),
    }


def predict_rival(n: int, n_predicted: int, smoke: bool) -> dict[str, Any]:
    """Measure ``predict``, once, by CountVectorizer and a coefficient for each n-gram."""
    from threadpoolctl import threadpool_limits

    from bench.best_rival import fit_best
    from bench.corpus import grow_setting, load_reviews, take

    reviews, watch = load_reviews(smoke=smoke), Watch()
    documents, _ = take(reviews, "EK", n_predicted)
    model = fit_best(*grow_setting(reviews, "B-D", n)).model.pruned()
    with threadpool_limits(1):
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
    from bench.corpus import grow_setting

    source, labels, target = grow_setting(reviews, WARM_SETTING, WARM_DOCS)
    _make(preset, **options).fit(source, labels, target=target)


def _answers(codes: Any, scores: Any, probabilities: Any) -> dict[str, Any]:
    return {
        "codes": codes.tolist(),
        "scores": scores.tolist(),
        "probabilities": probabilities.tolist(),
    }


if __name__ == "__main__":
    print(json.dumps(run_child(sys.argv[1], here=True, **json.load(sys.stdin))))
