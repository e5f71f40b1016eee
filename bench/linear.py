"""The preset "best" against scikit-learn and the preset "paper", as documents grow."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import numpy as np

import gramshift
from bench.child import run_child
from bench.corpus import (
    NGRAM_RANGE,
    ROOT,
    CorpusError,
    Reviews,
    Texts,
    alternate,
    grow,
    load_reviews,
    write_documents,
    write_parts,
)
from bench.machine import Row, peak_bytes, say
from bench.rivals import MismatchError

RIVAL_SETTING, PAIR_SETTING, GROWN_SETTING = "BDE-K", "E-K", "BD-EK"
SIZES = (10_000, 20_000, 50_000, 100_000, 200_000)
RANGES = (NGRAM_RANGE, (1, 8))
CLASSES = (2, 5, 20)
TIE_TOLERANCE = 1e-6  # of the largest score: rounding decides within it
MAX_SCORE_DIFFERENCE = 1e-6
MODEL_DOCS, MODEL_DOCS_LARGE = 4000, 100_000
N_FILES = 40
LIMIT_MB = 3000
POLL_SECONDS = 0.05  # between two measurements of a process

Section = dict[str, list[Row]]
"""Tables by name."""


@dataclass(frozen=True)
class Plan:
    """The amounts to measure."""

    reviews: Reviews
    smoke: bool
    repeat: int
    docs: int
    largest: int
    sampled: int

    def child(self, task: str, *, own: bool = False, **arguments: Any) -> Row:
        """Run a task in a process of its own; with ``smoke`` only if ``own`` is given."""
        return run_child(task, here=self.smoke and not own, smoke=self.smoke, **arguments)


def run(
    texts: Texts,
    *,
    smoke: bool,
    repeat: int,
    docs: int | None,
    only: Sequence[str] | None = None,
    largest: int | None = None,
    million: bool = False,
) -> Row:
    """Measure all sections, or some; ``docs`` is the number of real reviews."""
    largest = largest or (400 if smoke else SIZES[-1])
    sampled = 1_000_000 if million else min(largest, 2000 if smoke else 100_000)
    few = 1 if smoke else min(repeat, 3)
    plan = Plan(
        load_reviews(smoke=smoke), smoke, few, docs or (120 if smoke else 8000), largest, sampled
    )
    result: Row = {"repeat": few, "tables": {}, "failed": {}}
    for name in SECTIONS if only is None else [name for name in SECTIONS if name in only]:
        try:
            result["tables"] |= SECTIONS[name](plan)
        except (MismatchError, CorpusError, subprocess.CalledProcessError) as error:
            # the other sections, which may take hours, run all the same
            say(f"{name}: {error}")
            result["failed"][name] = str(error)
    return result


def race_rival(plan: Plan) -> Section:
    """Time scikit-learn and the preset from texts to probabilities, each in its own process."""
    title = f"reviews, {RIVAL_SETTING}"
    costs, answers = [], []
    for n in [plan.docs] if plan.smoke else [plan.docs // 4, plan.docs // 2, plan.docs]:
        say(f"rival: scikit-learn, {n} reviews")
        theirs = plan.child("real_rival", setting=RIVAL_SETTING, n=n)
        say(f"rival: gramshift, {n} reviews")
        found = plan.child(
            "fit", own=True, setting=RIVAL_SETTING, n=n, repeat=plan.repeat, answers=True
        )
        ours = found["best"]
        costs.append(
            {
                title: n,
                "scikit-learn (s)": theirs["seconds"],
                "of its CPU": theirs["cpu_s"],
                "ours (s)": ours["seconds"],
                "of our CPUs": ours["cpu_s"],
                "ratio": theirs["seconds"] / ours["seconds"],
                "scikit-learn (MB)": theirs["peak_mb"],
                "ours (MB)": ours["peak_mb"],
                "share": ours["peak_mb"] / theirs["peak_mb"],
            }
        )
        answers.append({title: n} | compare(found, theirs))
    return {"rival": costs, "rival_answers": answers}


def compare(ours: Row, theirs: Row) -> Row:
    """Return the distance of two answers; labels may differ where scores are tied to rounding."""
    scores, others = (np.array(one["scores"]) for one in (ours, theirs))
    off = float(np.abs(scores - others).max())
    differ = np.array(ours["codes"]) != np.array(theirs["codes"])
    ordered = np.sort(others, axis=1)
    tied = ordered[:, -1] - ordered[:, -2] <= TIE_TOLERANCE * np.abs(others).max()
    if (differ & ~tied).any():
        raise MismatchError(
            f"gramshift and scikit-learn give {int((differ & ~tied).sum())} other labels; "
            f"scores are off by {off:.1e}"
        )
    probabilities = np.abs(
        np.array(ours["probabilities"]) - np.array(theirs["probabilities"])
    ).max()
    return {
        "scores off": off,
        "probabilities off": float(probabilities),
        "ties": int(differ.sum()),
    }


def race_paper(plan: Plan) -> Section:
    """Fit both presets on real reviews of two and four domains, and on grown documents."""
    rows = []
    for setting, n, grown in (
        (PAIR_SETTING, plan.docs // 2, False),
        (RIVAL_SETTING, plan.docs, False),
        (GROWN_SETTING, 2 * plan.docs, True),
    ):
        words = f"{n:,} of {setting}{', grown' if grown else ''}"
        say(f"paper: {words}")
        found = plan.child(
            "fit", setting=setting, n=n, grown=grown, repeat=plan.repeat, presets=["paper", "best"]
        )
        paper, best = found["paper"], found["best"]
        rows.append(
            {
                "documents": words,
                "paper (s)": paper["seconds"],
                "best (s)": best["seconds"],
                "CPUs of paper": paper["cpu_s"],
                "CPUs of best": best["cpu_s"],
                "ratio": best["seconds"] / paper["seconds"],
            }
        )
    return {"paper": rows}


def grow_documents(plan: Plan) -> Section:
    """Fit growing numbers of documents for two ranges of n-grams, each in its own process."""
    sizes = [size for size in SIZES if size <= plan.largest]
    sizes = sizes if len(sizes) > 1 else [plan.largest // 2, plan.largest]
    rows = []
    for lengths in RANGES:
        for n in sizes:
            name = f"{n:,} of {GROWN_SETTING}, {lengths[0]} to {lengths[1]}"
            runs = []
            for _ in range(plan.repeat):
                say(f"growth: {name}")
                found = plan.child(
                    "fit", setting=GROWN_SETTING, n=n, grown=True, ngram_range=lengths
                )
                runs.append(found["best"])
            best = min(runs, key=lambda one: float(one["seconds"]))
            peak_mb = max(one["peak_mb"] for one in runs)
            rows.append(
                {
                    "documents, n-grams": name,
                    "seconds": best["seconds"],
                    "of CPUs": best["cpu_s"],
                    "ms/document": 1000 * best["seconds"] / n,
                    "peak MB": peak_mb,
                    "KB/document": 1000 * peak_mb / n,
                }
            )
    return {"growth": rows}


def race_predict(plan: Plan) -> Section:
    """Predict on one core by a small and a large model, and by CountVectorizer."""
    many = min(MODEL_DOCS_LARGE, plan.largest)
    few = min(MODEL_DOCS, many // 2)
    n, title = min(4000, plan.docs // 2), "one core, documents of the fit"
    rows: list[Row] = []
    scores = []
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        path = str(Path(folder) / "model.gramshift")
        for size in (few, many):
            say(f"predict: a model of {size} documents")
            model_mb = plan.child("keep_model", n=size, path=path)["model_mb"]
            say(f"predict: {n} reviews")
            found = plan.child("predict", path=path, n=n, repeat=plan.repeat)
            scores.append(found["scores"])
            rows.append(
                {
                    title: f"ours, {size:,}",
                    "reviews/s": found["per_second"],
                    "peak MB": found["peak_mb"],
                    "model MB": model_mb,
                    "loading (s)": found["load_s"],
                }
            )
    say(f"predict: scikit-learn, {n} reviews")
    theirs = plan.child("predict_rival", n=few, n_predicted=n)
    off = float(np.abs(np.array(scores[0]) - np.array(theirs["scores"])).max())
    if off > MAX_SCORE_DIFFERENCE:
        raise MismatchError(f"gramshift and scikit-learn give scores that are {off:.1e} apart")
    rows[0] |= {"ratio": rows[0]["reviews/s"] / theirs["per_second"], "scores off": off}
    rows.append({title: f"scikit-learn, {few:,}", "reviews/s": theirs["per_second"]})
    return {"predict": rows}


def race_workers(plan: Plan) -> Section:
    """Label grown documents from files into files by one Dask worker and by two, in turns."""
    n, n_files = plan.largest, 4 if plan.smoke else N_FILES
    times: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        model, inputs = folder / "model.gramshift", folder / "parts"
        plan.child("keep_model", n=200 if plan.smoke else MODEL_DOCS, path=str(model))
        say(f"workers: {n} documents into {n_files} files")
        write_parts(inputs, grow(plan.reviews, "EK", n, seed=2), n, n_files)
        for _ in range(plan.repeat):
            for k, several in times.items():
                say(f"workers: {k}, {n} documents")
                output = folder / f"labels-{k}"
                output.mkdir(exist_ok=True)
                command = ["predict", "--model", model, "--input", inputs / "*.jsonl"]
                command += ["--output", f"{output}{os.sep}", "--force"]
                found = run_command(*command, "--engine", "dask", "--jobs", k)
                several.append(found["seconds"])
        one, two = (read_labels(folder / f"labels-{k}") for k in times)
        if len(one) != n_files or one != two:
            raise MismatchError("one Dask worker and two have written different labels")
    title = f"Dask workers, {n:,} documents"
    return {
        "workers": [
            {title: k, "seconds": min(several), "documents/s": n / min(several)}
            for k, several in times.items()
        ]
    }


def read_labels(folder: Path) -> dict[str, bytes]:
    """Return the labels written for each input, without the records of the run."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}


def classify_by_sample(plan: Plan) -> Section:
    """Run ``gramshift classify --fit-on`` on grown documents."""
    n = plan.sampled
    n_fit_on, n_source = max(100, n // 20), max(100, n // 50)
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        source, target = Path(name) / "source.jsonl", Path(name) / "target.jsonl"
        say(f"sample: {n} documents into a file")
        write_documents(source, grow(plan.reviews, "BD", n_source), alternate(n_source))
        write_documents(target, grow(plan.reviews, "EK", n, seed=1))
        say(f"sample: {n_fit_on} of them for the fit, then labels for all")
        command = ["classify", source, "--target", target, "--fit-on", n_fit_on]
        command += ["--memory", f"{LIMIT_MB} MB", "--output", Path(name) / "labels.jsonl"]
        found = run_command(*command)
    title = f"classify --fit-on {n_fit_on:,} --memory {LIMIT_MB:,} MB"
    row = {title: f"{n:,} documents", "seconds": found["seconds"], "peak MB": found["peak_mb"]}
    return {"sample": [row]}


def run_command(
    *arguments: object, home: Path | None = None, stages: Path | None = None
) -> dict[str, float]:
    """Run ``gramshift`` of this tree or of ``home`` in a process; raise an error if it fails.

    The CPU seconds of its stages are written to the file ``stages``, if one is given.
    """
    home = home or Path(gramshift.__file__).parents[1]
    start = "from gramshift.commands.entry import run; run()"
    if stages is not None:
        start = f"from bench.stages import main; main({str(stages)!r})"
    command = [sys.executable, "-P", "-c", start, *map(str, arguments)]
    peak = 0
    path = os.pathsep.join(filter(None, [str(home), str(ROOT), os.environ.get("PYTHONPATH")]))
    with TemporaryFile() as errors:
        begun = time.perf_counter()
        with subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": path},
        ) as process:
            while process.poll() is None:
                peak = max(peak, peak_bytes(process.pid))
                time.sleep(POLL_SECONDS)
            seconds = time.perf_counter() - begun
        if process.returncode:
            errors.seek(0)
            sys.stderr.write(errors.read().decode(errors="replace"))
            raise subprocess.CalledProcessError(process.returncode, command)
    return {"seconds": seconds, "peak_mb": peak / 1e6}


def race_classes(plan: Plan) -> Section:
    """Fit documents in 2, 5 and 20 classes; lengths differ, so time is per character."""
    rows: list[Row] = []
    for n_classes in CLASSES:
        say(f"classes: {n_classes}, {plan.docs} documents")
        found = plan.child("classes", n=plan.docs, n_classes=n_classes, repeat=plan.repeat)
        ns = found["ns_per_character"]
        rows.append(
            {
                f"classes, {plan.docs:,} documents": n_classes,
                "seconds": found["seconds"],
                "of CPUs": found["cpu_s"],
                "ns/character": ns,
                "ratio to 2": ns / rows[0]["ns/character"] if rows else 1.0,
                "peak MB": found["peak_mb"],
                "accuracy (%)": found["accuracy_percent"],
            }
        )
    return {"classes": rows}


SECTIONS: dict[str, Callable[[Plan], Section]] = {
    "rival": race_rival,
    "paper": race_paper,
    "growth": grow_documents,
    "predict": race_predict,
    "workers": race_workers,
    "sample": classify_by_sample,
    "classes": race_classes,
}
