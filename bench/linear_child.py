"""Measurements of the benchmark ``linear`` that need a process of their own; ``bench.child`` runs them.

Nothing but the standard library is imported at the top, because threads of libraries are set before these are loaded.
"""

import os
import time
from collections.abc import Callable
from typing import Any

WARM = 60  # documents of a small fit, which loads compiled code
SETTING = "BD-EK"


def _peak_mb() -> float:
    from bench.child import peak_bytes

    return peak_bytes() / 1e6


def _make(preset: str = "best", **options: Any) -> Any:
    import gramshift

    return gramshift.TransductiveClassifier(preset=preset, **options)


def _warm_up(reviews: Any, preset: str = "best", **options: Any) -> None:
    from bench.child import held

    source, labels, target = held(reviews, WARM, SETTING)
    _make(preset, **options).fit(source, labels, target=target)


def _answers(codes: Any, scores: Any, probabilities: Any) -> dict[str, Any]:
    return {"codes": codes.tolist(), "scores": scores.tolist(), "probabilities": probabilities.tolist()}


def real_fit(texts: list[str], setting: str, n: str, repeat: str, smoke: str) -> dict[str, Any]:
    """From n real reviews to labels and probabilities by the preset "best"."""
    from bench.grown import load_reviews, split_setting

    reviews = load_reviews(smoke=bool(int(smoke)))
    source, codes, target = split_setting(reviews, setting, int(n))
    _warm_up(reviews)
    times, cpu = [], []
    classifier: Any = None
    for _ in range(int(repeat)):
        del classifier  # or two of them would be in memory at the peak, and one of the rival's
        begun, used = time.perf_counter(), time.process_time()
        classifier = _make().fit(source, codes, target=target)
        probabilities = classifier.transduction_proba_
        times.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - used)
    answers = _answers(classifier.transduction_, classifier.transduction_score_, probabilities)
    return {"seconds": min(times), "all_seconds": times, "cpu_s": min(cpu), "peak_mb": _peak_mb()} | answers


def real_rival(texts: list[str], setting: str, n: str, smoke: str) -> dict[str, Any]:
    """The same by scikit-learn and SciPy, once."""
    from bench.grown import load_reviews, split_setting
    from bench.linear_rivals import fit_best

    source, codes, target = split_setting(load_reviews(smoke=bool(int(smoke))), setting, int(n))
    begun, used = time.perf_counter(), time.process_time()
    found = fit_best(source, codes, target)
    figures = {"seconds": time.perf_counter() - begun, "cpu_s": time.process_time() - used, "peak_mb": _peak_mb()}
    return figures | _answers(found.codes, found.scores, found.probabilities)


def presets(texts: list[str], setting: str, n: str, grown: str, repeat: str, smoke: str) -> dict[str, Any]:
    """Both presets on the same documents, in turns, real ones or grown ones."""
    from bench.child import held
    from bench.grown import load_reviews, split_setting

    reviews = load_reviews(smoke=bool(int(smoke)))
    source, codes, target = (held if int(grown) else split_setting)(reviews, *_order(int(grown), setting, int(n)))
    times: dict[str, list[float]] = {"paper": [], "best": []}
    cpu: dict[str, list[float]] = {preset: [] for preset in times}
    for preset in times:
        _warm_up(reviews, preset)
    for _ in range(int(repeat)):
        for preset, several in times.items():
            begun, used = time.perf_counter(), time.process_time()
            _make(preset).fit(source, codes, target=target)
            several.append(time.perf_counter() - begun)
            cpu[preset].append(time.process_time() - used)
    seconds, of_cpu = ({preset: min(several) for preset, several in both.items()} for both in (times, cpu))
    return {"seconds": seconds, "cpu_s": of_cpu, "all_seconds": times}


def _order(grown: int, setting: str, n: int) -> tuple[Any, Any]:
    return (n, setting) if grown else (setting, n)


def grown_fit(texts: list[str], n: str, low: str, high: str, setting: str, smoke: str) -> dict[str, Any]:
    """Seconds and peak memory of a fit of grown documents, which are held."""
    from bench.child import held
    from bench.grown import load_reviews

    reviews, lengths = load_reviews(smoke=bool(int(smoke))), (int(low), int(high))
    _warm_up(reviews, ngram_range=lengths)
    source, labels, target = held(reviews, int(n), setting)
    begun, used = time.perf_counter(), time.process_time()
    _make(ngram_range=lengths).fit(source, labels, target=target)
    figures = {"seconds": time.perf_counter() - begun, "cpu_s": time.process_time() - used, "peak_mb": _peak_mb()}
    return figures | {"characters": sum(map(len, source)) + sum(map(len, target))}


def keep_model(texts: list[str], n: str, path: str, smoke: str) -> dict[str, Any]:
    """Fit n grown documents and keep the model in a file."""
    from bench.child import held
    from bench.grown import load_reviews

    source, labels, target = held(load_reviews(smoke=bool(int(smoke))), int(n), "B-D")
    begun = time.perf_counter()
    classifier = _make().fit(source, labels, target=target)
    seconds = time.perf_counter() - begun
    classifier.save(path)
    return {"seconds": seconds, "model_mb": os.path.getsize(path) / 1e6}


def predict(texts: list[str], path: str, n: str, repeat: str, pinned: str, smoke: str) -> dict[str, Any]:
    """Documents a second that a model labels on one core; they are real reviews of domains that it has not seen."""
    _use_one_core(bool(int(pinned)))
    import gramshift
    from bench.grown import load_reviews, take

    documents, _ = take(load_reviews(smoke=bool(int(smoke))), "EK", int(n))
    begun = time.perf_counter()
    model: Any = gramshift.load(path)
    loaded = time.perf_counter() - begun
    model.set_params(n_jobs=1)
    model.predict(documents[:20])
    times = []
    for _ in range(int(repeat)):
        begun = time.perf_counter()
        model.predict(documents)
        times.append(time.perf_counter() - begun)
    peak = _peak_mb()
    scores = model.decision_function(documents).tolist()
    each = len(documents) / min(times)
    return {"per_second": each, "all_seconds": times, "load_s": loaded, "peak_mb": peak, "scores": scores}


def predict_rival(texts: list[str], n: str, n_predicted: str, pinned: str, smoke: str) -> dict[str, Any]:
    """The same by CountVectorizer and a coefficient per n-gram, once; its model is that of the same documents."""
    _use_one_core(bool(int(pinned)))
    from bench.child import held
    from bench.grown import load_reviews, take
    from bench.linear_rivals import fit_best

    reviews = load_reviews(smoke=bool(int(smoke)))
    documents, _ = take(reviews, "EK", int(n_predicted))
    model = fit_best(*held(reviews, int(n), "B-D")).model.pruned()
    model.score(documents[:20])
    begun = time.perf_counter()
    scores = model.score(documents)
    seconds = time.perf_counter() - begun
    return {"per_second": len(documents) / seconds, "seconds": seconds, "scores": scores[:, 1].tolist()}


def classes(texts: list[str], n: str, n_classes: str, repeat: str, smoke: str) -> dict[str, Any]:
    """Seconds of a fit of grown documents in so many classes."""
    from bench.grown import load_reviews, themed

    reviews, half, k = load_reviews(smoke=bool(int(smoke))), int(n) // 2, int(n_classes)
    source, codes = themed(reviews, "BD", int(n) - half, k, seed=0)
    target, truth = themed(reviews, "EK", half, k, seed=1)
    _warm_up(reviews)
    times, cpu = [], []
    for _ in range(int(repeat)):
        begun, used = time.perf_counter(), time.process_time()
        classifier = _make().fit(source, codes, target=target)
        times.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - used)
    right = 100 * float((classifier.transduction_ == truth).mean())
    characters = sum(map(len, source)) + sum(map(len, target))
    figures = {"seconds": min(times), "all_seconds": times, "cpu_s": min(cpu), "peak_mb": _peak_mb()}
    return figures | {"characters": characters, "accuracy_percent": right}


def _use_one_core(pinned: bool) -> None:
    """One thread, whatever the libraries and the model would like; before libraries are loaded."""
    if not pinned:
        return
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


LINEAR_TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "real_fit": real_fit,
    "real_rival": real_rival,
    "presets": presets,
    "grown_fit": grown_fit,
    "keep_model": keep_model,
    "predict": predict,
    "predict_rival": predict_rival,
    "classes": classes,
}
