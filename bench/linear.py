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
    CorpusError,
    Grown,
    Reviews,
    Texts,
    grow_lists,
    load_reviews,
    one_by_one,
    write_documents,
    write_parts,
)
from bench.machine import machine_lines, peak_bytes, say, table
from bench.rivals import MismatchError
from gramshift.commands.label.workers import open_workers
from gramshift.memory import free_memory

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

Row = dict[str, Any]


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
    result: Row = {"ngram_range": NGRAM_RANGE, "repeat": plan.repeat, "failed": {}}
    for name in SECTIONS if only is None else [name for name in SECTIONS if name in only]:
        try:
            result[name] = SECTIONS[name][0](plan)
        except (MismatchError, CorpusError, subprocess.CalledProcessError) as error:
            # the other sections, which may take hours, run all the same
            say(f"{name}: {error}")
            result["failed"][name] = str(error)
    return result


def show(result: Row) -> str:
    """Show all tables of the sections that ran, one below the other."""
    parts = [
        machine_lines(result),
        *(make(result[name]) for name, (_, make) in SECTIONS.items() if name in result),
    ]
    return "\n\n".join(
        [*parts, *(f"failed   {name}: {words}" for name, words in result["failed"].items())]
    )


def race_rival(plan: Plan) -> list[Row]:
    """Time scikit-learn and the preset from texts to probabilities, each in its own process."""
    rows = []
    for n in [plan.docs] if plan.smoke else [plan.docs // 4, plan.docs // 2, plan.docs]:
        say(f"rival: scikit-learn, {n} reviews")
        theirs = plan.child("real_rival", setting=RIVAL_SETTING, n=n)
        say(f"rival: gramshift, {n} reviews")
        ours = plan.child("real_fit", own=True, setting=RIVAL_SETTING, n=n, repeat=plan.repeat)
        row = {"documents": n, "setting": RIVAL_SETTING} | compare(ours, theirs)
        for name, one in (("sklearn", theirs), ("gramshift", ours)):
            row |= {
                f"{name}_s": one["seconds"],
                f"{name}_mb": one["peak_mb"],
                f"{name}_cpu_s": one["cpu_s"],
            }
        row |= {
            "ratio": theirs["seconds"] / ours["seconds"],
            "memory_share": ours["peak_mb"] / theirs["peak_mb"],
        }
        rows.append(row | {"all_seconds": ours["all_seconds"]})
    return rows


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
    return {"ties": int(differ.sum()), "scores_off": off, "probabilities_off": float(probabilities)}


def show_rival(rows: list[Row]) -> str:
    """Show seconds and megabytes, then how far the answers are apart."""
    title = f"reviews, {rows[0]['setting']}"
    columns = (
        "scikit-learn (s)",
        "of its CPU",
        "ours (s)",
        "of our CPUs",
        "ratio",
        "scikit-learn (MB)",
        "ours (MB)",
        "share",
    )
    seconds = ("sklearn_s", "sklearn_cpu_s", "gramshift_s", "gramshift_cpu_s", "ratio")
    keys = (*seconds, "sklearn_mb", "gramshift_mb", "memory_share")
    costs = table(title, columns, [[row["documents"], *map(row.get, keys)] for row in rows])
    apart = ("scores_off", "probabilities_off", "ties")
    answers = ("scores off", "probabilities off", "ties")
    return (
        costs
        + "\n\n"
        + table(title, answers, [[row["documents"], *map(row.get, apart)] for row in rows])
    )


def race_paper(plan: Plan) -> list[Row]:
    """Fit both presets on real reviews of two and four domains, and on grown documents."""
    rows = []
    for setting, n, grown in (
        (PAIR_SETTING, plan.docs // 2, False),
        (RIVAL_SETTING, plan.docs, False),
        (GROWN_SETTING, 2 * plan.docs, True),
    ):
        words = f"{n:,} of {setting}{', grown' if grown else ''}"
        say(f"paper: {words}")
        found = plan.child("presets", setting=setting, n=n, grown=grown, repeat=plan.repeat)
        rows.append(
            {"documents": words, "ratio": found["best"]["seconds"] / found["paper"]["seconds"]}
            | found
        )
    return rows


def show_paper(rows: list[Row]) -> str:
    """Show seconds of both presets."""
    figures = [
        [row[preset][kind] for kind in ("seconds", "cpu_s") for preset in ("paper", "best")]
        for row in rows
    ]
    lines = [
        [row["documents"], *several, row["ratio"]]
        for row, several in zip(rows, figures, strict=True)
    ]
    return table(
        "documents", ("paper (s)", "best (s)", "CPUs of paper", "CPUs of best", "ratio"), lines
    )


def grow(plan: Plan) -> list[Row]:
    """Fit growing numbers of documents for two ranges of n-grams, each in its own process."""
    sizes = [size for size in SIZES if size <= plan.largest]
    sizes = sizes if len(sizes) > 1 else [plan.largest // 2, plan.largest]
    rows = []
    for lengths in RANGES:
        for n in sizes:
            runs = []
            for _ in range(plan.repeat):
                say(f"growth: {n} documents, n-grams of {lengths[0]} to {lengths[1]}")
                runs.append(plan.child("grown_fit", setting=GROWN_SETTING, n=n, lengths=lengths))
            found = min(runs, key=lambda one: float(one["seconds"]))
            found["peak_mb"] = max(one["peak_mb"] for one in runs)
            rows.append({"documents": n, "setting": GROWN_SETTING, "ngram_range": lengths} | found)
    return rows


def show_growth(rows: list[Row]) -> str:
    """Show seconds and megabytes by documents and range."""
    lines = []
    for row in rows:
        n = row["documents"]
        name = f"{n:,} of {row['setting']}, {row['ngram_range'][0]} to {row['ngram_range'][1]}"
        per_document = 1000 * row["seconds"] / n
        lines.append(
            [
                name,
                row["seconds"],
                row["cpu_s"],
                per_document,
                row["peak_mb"],
                1000 * row["peak_mb"] / n,
            ]
        )
    return table(
        "documents, n-grams", ("seconds", "of CPUs", "ms/document", "peak MB", "KB/document"), lines
    )


def race_predict(plan: Plan) -> Row:
    """Predict on one core by a small and a large model, and by CountVectorizer."""
    many = min(MODEL_DOCS_LARGE, plan.largest)
    few = min(MODEL_DOCS, many // 2)
    n, pinned, rows = min(4000, plan.docs // 2), not plan.smoke, []
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        for size in (few, many):
            path = str(Path(folder) / f"{size}.gramshift")
            say(f"predict: a model of {size} documents")
            kept = plan.child("keep_model", n=size, path=path)
            say(f"predict: {n} reviews")
            rows.append(
                {"training": size}
                | kept
                | plan.child("predict", path=path, n=n, repeat=plan.repeat, pinned=pinned)
            )
    say(f"predict: scikit-learn, {n} reviews")
    theirs = plan.child("predict_rival", n=few, n_predicted=n, pinned=pinned)
    ours, _ = (np.array(row.pop("scores")) for row in rows)
    off = float(np.abs(ours - np.array(theirs.pop("scores"))).max())
    if off > MAX_SCORE_DIFFERENCE:
        raise MismatchError(f"gramshift and scikit-learn give scores that are {off:.1e} apart")
    ratio = rows[0]["per_second"] / theirs["per_second"]
    return {"documents": n, "models": rows, "sklearn": theirs, "ratio": ratio, "scores_off": off}


def show_predict(found: Row) -> str:
    """Show documents a second."""
    keys = ("per_second", "peak_mb", "model_mb", "load_s")
    lines = [[f"ours, {row['training']:,}", *map(row.get, keys)] for row in found["models"]]
    lines.append(
        [
            f"scikit-learn, {found['models'][0]['training']:,}",
            found["sklearn"]["per_second"],
            None,
            None,
            None,
        ]
    )
    columns = ("reviews/s", "peak MB", "model MB", "loading (s)")
    words = f"ratio {found['ratio']:.1f}, scores off by {found['scores_off']:.1e}"
    return f"{table('one core, documents of the fit', columns, lines)}\n{words}"


def race_workers(plan: Plan) -> Row:
    """Label grown documents from files into files by one Dask worker and by two, in turns."""
    n, n_files = plan.largest, 4 if plan.smoke else N_FILES
    times: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        model = folder / "model.gramshift"
        plan.child("keep_model", n=200 if plan.smoke else MODEL_DOCS, path=str(model))
        say(f"workers: {n} documents into {n_files} files")
        write_parts(folder / "parts", Grown(plan.reviews, "EK", n, seed=2), n_files)
        for number in range(plan.repeat):
            for k, several in times.items():
                say(f"workers: {k}, {n} documents")
                output = folder / f"labels-{number}-{k}"
                output.mkdir()
                files = [
                    "--input",
                    str(folder / "parts" / "*.jsonl"),
                    "--output",
                    f"{output}{os.sep}",
                    "--force",
                ]
                several.append(predict_on_workers(["--model", str(model), *files], k))
        written = [read_labels(folder / f"labels-0-{k}") for k in times]
        if len(written[0]) != n_files or written[0] != written[1]:
            raise MismatchError("one Dask worker and two have written different labels")
    seconds = {k: min(several) for k, several in times.items()}
    return {
        "documents": n,
        "seconds": seconds,
        "all_seconds": times,
        "ratio": seconds[1] / seconds[2],
    }


def predict_on_workers(arguments: list[str], n_workers: int) -> float:
    """Time a command on workers that have been started before."""
    with open_workers(None, n_workers=n_workers, memory_limit=free_memory() // n_workers) as client:
        client.run(load_compiled)
        command = [
            "predict",
            *arguments,
            "--engine",
            "dask",
            "--scheduler",
            client.scheduler.address,
        ]
        # the scheduler accepts no client without its certificates
        keys = client.security.get_tls_config_for_role("client")
        names = {"CA_FILE": "ca_file", "CLIENT__CERT": "cert", "CLIENT__KEY": "key"}
        return run_command(
            *command,
            **{f"DASK_DISTRIBUTED__COMM__TLS__{name}": keys[key] for name, key in names.items()},
        )["seconds"]


def load_compiled() -> None:
    """Fit and predict a little, so that a worker has loaded compiled code."""
    source, labels, target = grow_lists(load_reviews(smoke=True), 80, "B-D")
    gramshift.TransductiveClassifier(preset="best", n_jobs=1).fit(
        source, labels, target=target
    ).predict(source[:9])


def read_labels(folder: Path) -> dict[str, bytes]:
    """Return the labels written for each input, without the records of the run."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}


def show_workers(found: Row) -> str:
    """Show documents a second by workers."""
    lines = [[k, seconds, found["documents"] / seconds] for k, seconds in found["seconds"].items()]
    return table(
        f"Dask workers, {found['documents']:,} documents", ("seconds", "documents/s"), lines
    )


def classify_by_sample(plan: Plan) -> Row:
    """Run ``gramshift classify --sample`` on grown documents."""
    n, n_sampled, n_source = (
        plan.sampled,
        max(100, plan.sampled // 20),
        max(100, plan.sampled // 50),
    )
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        source = Grown(plan.reviews, "BD", n_source)
        say(f"sample: {n} documents into a file")
        write_documents(folder / "source.jsonl", one_by_one(source), source.labels)
        write_documents(folder / "target.jsonl", one_by_one(Grown(plan.reviews, "EK", n, seed=1)))
        say(f"sample: {n_sampled} of them for the fit, then labels for all")
        command = [
            "classify",
            str(folder / "source.jsonl"),
            "--target",
            str(folder / "target.jsonl"),
        ]
        command += [
            "--sample",
            str(n_sampled),
            "--memory",
            f"{LIMIT_MB} MB",
            "--output",
            str(folder / "labels.jsonl"),
        ]
        found = run_command(*command)
    return {
        "documents": n,
        "sample": n_sampled,
        "source_documents": n_source,
        "limit_mb": LIMIT_MB,
    } | found


def show_sample(found: Row) -> str:
    """Show seconds and megabytes of the command."""
    title = f"classify --sample {found['sample']:,} --memory {found['limit_mb']:,} MB"
    return table(
        title,
        ("seconds", "peak MB"),
        [[f"{found['documents']:,} documents", found["seconds"], found["peak_mb"]]],
    )


def run_command(*arguments: str, home: Path | None = None, **environment: str) -> dict[str, float]:
    """Run ``gramshift`` of this tree or of ``home`` in a process; raise an error if it fails."""
    home = home or Path(gramshift.__file__).parents[1]
    command, peak = (
        [sys.executable, "-P", "-c", "from gramshift.commands.entry import run; run()", *arguments],
        0,
    )
    path = os.pathsep.join(filter(None, [str(home), os.environ.get("PYTHONPATH")]))
    with TemporaryFile() as errors:
        begun = time.perf_counter()
        with subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | environment | {"PYTHONPATH": path},
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


def race_classes(plan: Plan) -> list[Row]:
    """Fit documents in 2, 5 and 20 classes; lengths differ, so time is per character."""
    rows: list[Row] = []
    for n_classes in CLASSES:
        say(f"classes: {n_classes}, {plan.docs} documents")
        found = plan.child("classes", n=plan.docs, n_classes=n_classes, repeat=plan.repeat)
        ratio = found["ns_per_character"] / (rows[0] if rows else found)["ns_per_character"]
        rows.append({"classes": n_classes, "documents": plan.docs, "ratio": ratio} | found)
    return rows


def show_classes(rows: list[Row]) -> str:
    """Show seconds by classes."""
    columns = ("seconds", "of CPUs", "ns/character", "ratio to 2", "peak MB", "accuracy (%)")
    keys = (
        "classes",
        "seconds",
        "cpu_s",
        "ns_per_character",
        "ratio",
        "peak_mb",
        "accuracy_percent",
    )
    return table(
        f"classes, {rows[0]['documents']:,} documents",
        columns,
        [[row[key] for key in keys] for row in rows],
    )


SECTIONS: dict[str, tuple[Callable[[Plan], Any], Callable[[Any], str]]] = {
    "rival": (race_rival, show_rival),
    "paper": (race_paper, show_paper),
    "growth": (grow, show_growth),
    "predict": (race_predict, show_predict),
    "workers": (race_workers, show_workers),
    "sample": (classify_by_sample, show_sample),
    "classes": (race_classes, show_classes),
}
