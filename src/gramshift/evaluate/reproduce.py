"""The paper's experiments, from a folder of data to a folder of results."""

import csv
import gzip
import io
import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.datasets.sentiment import FIELDS, Sentiment, digest, load_sentiment
from gramshift.engine.storage import replaced_file
from gramshift.estimators.presets import PRESETS
from gramshift.estimators.string_kernel import StringKernel
from gramshift.evaluate import experiment
from gramshift.evaluate.experiment import ALPHA, BEST, BEST_KERNEL, METHODS, Documents, Outcome, run_best, run_settings
from gramshift.evaluate.parts import Parts
from gramshift.evaluate.results import make_rows, to_csv
from gramshift.evaluate.settings import LETTERS, Setting
from gramshift.evaluate.tables import make_tables, to_markdown
from gramshift.learn.described import compact
from gramshift.ngrams.index import KINDS

NGRAM_RANGE = (5, 8)
LIBRARIES = ("gramshift", "numpy", "scipy", "scikit-learn", "numba")
Report = Callable[[str, int, int], None]
Outcomes = dict[str, dict[str, list[Outcome]]]
"""By setting, then by kernel."""


def reproduce(
    data: Path,
    output: Path,
    *,
    settings: list[Setting],
    methods: list[str],
    kernels: list[str],
    fields: str = "title+text",
    preset: str = "paper",
    resume: bool = False,
    n_jobs: int | None = -1,
    progress: Report | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> dict[str, Any]:
    """Run, write results.json, results.csv, tables.md and predictions.csv.gz into ``output``, and return the results.

    With the preset "best" the classifier's own comes beside the paper's methods.
    """
    check_choice("preset", [preset], tuple(PRESETS))
    check_choice("method", methods, METHODS)
    check_choice("kernel", kernels, tuple(KINDS))
    check_choice("fields", [fields], FIELDS)
    methods = [name for name in METHODS if name in methods]
    begun = time.perf_counter()
    letters = "".join(letter for letter in LETTERS if any(letter in setting.letters for setting in settings))
    sentiment = load_sentiment(data, letters=letters)
    for note in sentiment.notes:
        if "differs" in note:
            say(note)
    odd = sum("differs" not in note for note in sentiment.notes)
    if odd:
        say(f"{odd} notes on encodings and control characters of the reviews will be in {output / 'results.json'}")
    output.mkdir(parents=True, exist_ok=True)
    digests = {letter: digest(domain.reviews) for letter, domain in sentiment.domains.items()}
    versions = {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}
    parameters = {"ngram_range": list(NGRAM_RANGE), "alpha": ALPHA, "n_added": experiment.N_ADDED, "seed": None}
    key = {"fields": fields, "parameters": parameters, "versions": versions}
    parts = Parts(output / "parts", key, digests)
    ours = Parts(output / "parts", key | {"parameters": json.loads(json.dumps(PRESETS[BEST]))}, digests)
    documents = Documents(letters, np.concatenate([sentiment.domains[letter].codes for letter in letters]).astype(np.intp))
    texts = [text for letter in letters for text in sentiment.domains[letter].texts(fields)]
    outcomes: Outcomes = {setting.name: {} for setting in settings}
    done, total = 0, len(settings) * (len(kernels) + (preset == BEST))
    for kernel in kernels:
        missing = []
        for setting in settings:
            found = parts.load(kernel, setting, methods) if resume else None
            if found is None:
                missing.append(setting)
            else:
                outcomes[setting.name][kernel] = found
        done += len(settings) - len(missing)
        if missing:
            gram = compact(StringKernel(kernel, ngram_range=NGRAM_RANGE, n_jobs=n_jobs).gram(texts, progress=progress))
            for several in run_settings(gram, documents, missing, methods, n_jobs=n_jobs):
                outcomes[several[0].setting.name][kernel] = several
                parts.save(kernel, several[0].setting, several)
                done += 1
                if progress is not None:
                    progress("settings", done, total)
            del gram
    for setting in settings if preset == BEST else []:
        known = ours.load(BEST_KERNEL, setting, [BEST]) if resume else None
        several = known or [run_best(texts, documents, setting, n_jobs=n_jobs)]
        outcomes[setting.name][BEST_KERNEL] = several
        if known is None:
            ours.save(BEST_KERNEL, setting, several)
        done += 1
        if progress is not None:
            progress("settings", done, total)
    rows = []
    for setting in settings:
        rows += make_rows(outcomes[setting.name], documents.codes[documents.rows(setting.target)], fields=fields)
    result = {
        "rows": rows,
        "data": digests,
        "parameters": parameters | ({BEST: PRESETS[BEST]} if preset == BEST else {}),
        "versions": versions,
        "notes": sentiment.notes,
        "seconds": round(time.perf_counter() - begun, 2),
    }
    write_results(output, result, outcomes, sentiment, fields)
    return result | {"outcomes": outcomes, "codes": documents.codes, "documents": documents, "texts": texts}


def check_choice(what: str, given: list[str], allowed: tuple[str, ...]) -> None:
    unknown = [name for name in given if name not in allowed]
    if unknown or not given:
        shown = f"{what} {unknown[0]!r} is not known" if unknown else f"no {what} is named"
        raise ValueError(f"{shown}; there are {', '.join(allowed)}")


def write_results(output: Path, result: dict[str, Any], outcomes: Outcomes, sentiment: Sentiment, fields: str) -> None:
    """Each file at once or not at all."""
    files = {
        "results.json": json.dumps(result, indent=1, ensure_ascii=False),
        "results.csv": to_csv(result["rows"]),
        "tables.md": to_markdown(make_tables(result["rows"], fields=fields)),
    }
    contents = {name: text.encode() for name, text in files.items()}
    contents["predictions.csv.gz"] = gzip.compress(predictions(outcomes, sentiment, fields).encode(), compresslevel=1, mtime=0)
    for name, data in contents.items():
        with replaced_file(output / name) as file:
            file.write(data)


def predictions(outcomes: Outcomes, sentiment: Sentiment, fields: str) -> str:
    """A line per target document, method and kernel, so that anyone can count again."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["setting", "kernel", "method", "fields", "review", "true", "predicted", "score"])
    names = ("negative", "positive")
    for by_kernel in outcomes.values():
        for kernel, several in by_kernel.items():
            for one in several:
                codes = sentiment.domains[one.setting.target].codes
                for review, (code, score) in enumerate(zip(codes, one.scores.tolist(), strict=True)):
                    found = names[score > 0]
                    writer.writerow([one.setting.name, kernel, one.method, fields, review, names[code], found, f"{score:.6f}"])
    return out.getvalue()
