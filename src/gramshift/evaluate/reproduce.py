"""The paper's experiments, from a folder of data to a folder of results."""

import csv
import gzip
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.data.reviews import FIELDS, N_REVIEWS, Sentiment, digest, load_sentiment
from gramshift.errors import InputError
from gramshift.evaluate.experiment import PAPER, Documents, Outcome, run_on_texts, run_settings
from gramshift.evaluate.protocol import LETTERS, Setting
from gramshift.evaluate.results import Parts, differences, make_means, make_rows, make_tables, to_csv, to_markdown
from gramshift.learn.features import compact
from gramshift.methods import BEST, METHODS
from gramshift.model.saving import library_versions
from gramshift.model.settings import PLAIN, PRESETS, Settings
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.index import KINDS
from gramshift.runtime.replacing import Replacing

NGRAM_RANGE = PAPER.ngram_range
Report = Callable[[str, int, int], None]
Outcomes = dict[str, dict[str | None, list[Outcome]]]
"""Outcomes by setting, then by kernel; the kernel is None for methods that have their own, or none."""


def reproduce(
    data: Path,
    output: Path,
    *,
    settings: list[Setting],
    methods: list[str],
    kernels: list[str],
    fields: str = "title+text",
    source_only: bool = False,
    resume: bool = False,
    n_jobs: int | None = -1,
    progress: Report | None = None,
    say: Callable[[str], None] = lambda words: None,
    paper: Settings = PAPER,
    n_reviews: int = N_REVIEWS,
) -> dict[str, Any]:
    """Run, write results.json, results.csv, tables.md and predictions.csv.gz into ``output``, and return the results."""
    check_names(methods, kernels, fields)
    for name in methods:
        METHODS[name].check()
    stages, others = (
        [name for name in METHODS if name in methods and METHODS[name].is_stage is kind] for kind in (True, False)
    )
    if source_only and stages:
        stages = [PLAIN]  # that is what the stages of the paper are without adaptation
    begun = time.perf_counter()
    letters = "".join(letter for letter in LETTERS if any(letter in setting.letters for setting in settings))
    sentiment = load_sentiment(data, letters=letters, n_reviews=n_reviews)
    for note in sentiment.notes:
        if "differs" in note:
            say(note)
    odd = sum("differs" not in note for note in sentiment.notes)
    if odd:
        say(f"{odd} notes on encodings of the reviews will be in {output / 'results.json'}")
    output.mkdir(parents=True, exist_ok=True)
    digests = {letter: digest(domain.reviews) for letter, domain in sentiment.domains.items()}
    versions = library_versions()
    parameters = {"ngram_range": list(NGRAM_RANGE), "alpha": paper.alpha, "n_added": paper.n_added, "seed": None}
    key: dict[str, Any] = {"fields": fields, "parameters": parameters | {BEST: PRESETS[BEST]}, "versions": versions}
    key |= {"source_only": True} if source_only else {}
    parts = Parts(output / "parts", key, digests, {letter: len(domain.codes) for letter, domain in sentiment.domains.items()})
    documents = Documents(letters, np.concatenate([sentiment.domains[letter].codes for letter in letters]).astype(np.intp))
    texts = [text for letter in letters for text in sentiment.domains[letter].texts(fields)]
    outcomes: Outcomes = {setting.name: {} for setting in settings}
    done, total = 0, len(settings) * len(kernels)
    for kernel in kernels if stages else []:
        missing = []
        for setting in settings:
            found = parts.load(kernel, setting, stages) if resume else None
            if found is None:
                missing.append(setting)
            else:
                outcomes[setting.name][kernel] = found
        done += len(settings) - len(missing)
        if missing:
            gram = compact(StringKernel(kernel, ngram_range=NGRAM_RANGE, n_jobs=n_jobs).gram(texts, progress=progress))
            for several in run_settings(gram, documents, missing, stages, n_jobs=n_jobs, paper=paper):
                outcomes[several[0].setting.name][kernel] = several
                parts.save(kernel, several[0].setting, several)
                done += 1
                if progress is not None:
                    progress("settings", done, total)
            del gram
    if others:
        found_all = _run_others(
            texts, documents, settings, others, parts, source_only=source_only, resume=resume, n_jobs=n_jobs, progress=progress
        )
        for setting in settings:
            outcomes[setting.name][None] = [found_all[name, setting] for name in others]
    rows = []
    for setting in settings:
        codes = documents.codes[documents.rows(setting.target)]
        rows += make_rows(outcomes[setting.name], codes, fields=fields, source_only=source_only)
    truth = {letter: np.array(sentiment.domains[letter].codes, np.intp) for letter in letters}
    result = {
        "rows": rows,
        "means": make_means(outcomes, truth),
        "data": digests,
        "parameters": parameters | ({BEST: PRESETS[BEST]} if any(METHODS[name].is_best for name in others) else {}),
        "versions": versions,
        "notes": sentiment.notes,
        "seconds": round(time.perf_counter() - begun, 2),
    }
    write_results(output, result, outcomes, sentiment, fields)
    return result | {"outcomes": outcomes, "codes": documents.codes, "documents": documents, "texts": texts}


def _run_others(
    texts: list[str],
    documents: Documents,
    settings: list[Setting],
    methods: list[str],
    parts: Parts,
    *,
    source_only: bool,
    resume: bool,
    n_jobs: int | None,
    progress: Report | None,
) -> dict[tuple[str, Setting], Outcome]:
    """All of them on all settings; what an earlier run found is taken from its parts."""
    found: dict[tuple[str, Setting], Outcome] = {}
    tasks = [(name, setting) for name in methods for setting in settings]
    for name, setting in tasks if resume else []:
        kept = parts.load(None, setting, [name])
        if kept is not None:
            found[name, setting] = kept[0]
    left = [task for task in tasks if task not in found]
    for outcome in run_on_texts(texts, documents, left, source_only=source_only, n_jobs=n_jobs):
        found[outcome.method, outcome.setting] = outcome
        parts.save(None, outcome.setting, [outcome])
        if progress is not None:
            progress("others", len(found), len(tasks))
    return found


def check_names(methods: list[str], kernels: list[str], fields: str) -> None:
    """Raise an error if a method, a kernel or the fields of reviews are not known."""
    check_choice("method", methods, tuple(METHODS))
    check_choice("kernel", kernels, tuple(KINDS))
    check_choice("fields", [fields], FIELDS)


def check_choice(what: str, given: list[str], allowed: tuple[str, ...]) -> None:
    unknown = [name for name in given if name not in allowed]
    if unknown or not given:
        shown = f"{what} {unknown[0]!r} is not known" if unknown else f"no {what} is named"
        raise InputError(f"{shown}; there are {', '.join(allowed)}")


def write_results(output: Path, result: dict[str, Any], outcomes: Outcomes, sentiment: Sentiment, fields: str) -> None:
    """All files together or not at all."""
    files = {
        "results.json": json.dumps(result, indent=1, ensure_ascii=False),
        "results.csv": to_csv(result["rows"]),
        "tables.md": to_markdown(
            make_tables(result["rows"], fields=fields, mean_rows=result["means"]), differences(result["rows"])
        ),
    }
    contents = {name: text.encode() for name, text in files.items()}
    contents["predictions.csv.gz"] = gzip.compress(predictions(outcomes, sentiment, fields).encode(), compresslevel=1, mtime=0)
    with Replacing() as written:
        for name, data in contents.items():
            with written.open(output / name, follow=False) as file:
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
