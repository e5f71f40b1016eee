"""The command ``gramshift classify`` from files to labels and a report, stage by stage."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gramshift
from bench.corpus import ROOT, Texts, load_reviews, take, write_documents
from bench.linear import run_command
from bench.machine import say

LABELS, REPORT = OUTPUTS = ("labels", "report")
WARM_DOCS = 60  # of the first run, which compiles


def run(
    texts: Texts, *, smoke: bool, repeat: int, docs: int | None, against: str | None = None
) -> dict[str, Any]:
    """Run the command on ``docs`` documents, alternating with another commit if one is given."""
    n = docs or (120 if smoke else 4000)
    few = 1 if smoke else min(repeat, 3)
    reviews = load_reviews(smoke=smoke)
    with (
        TemporaryDirectory(prefix="gramshift-bench-") as name,
        check_out(against) if against else nullcontext() as tree,
    ):
        folder = Path(name)
        homes = {"this tree": Path(gramshift.__file__).parents[1]}
        if tree is not None:
            homes[str(against)] = tree / "src"
        for prefix, size in (("", n), ("warm-", WARM_DOCS)):
            write_documents(folder / f"{prefix}source.jsonl", *take(reviews, "E", size // 2))
            write_documents(folder / f"{prefix}target.jsonl", take(reviews, "K", size // 2)[0])
        for home in homes.values():
            say(f"once to compile, {WARM_DOCS} documents: {home}")
            classify(folder, home, "warm-")
        runs: dict[tuple[str, str], list[dict[str, Any]]] = {
            (output, which): [] for output in OUTPUTS for which in homes
        }
        for _ in range(few):
            for (output, which), several in runs.items():
                say(f"{n} documents, {output}, {which}")
                several.append(classify(folder, homes[which], "", output=output))
    rows = [
        {f"{n} documents, from files to": output, "code": which} | sum_up(several)
        for (output, which), several in runs.items()
    ]
    stages = show_stages({" ".join(key): several for key, several in runs.items()})
    result: dict[str, Any] = {"repeat": few, "tables": {"runs": rows, "stages": stages}}
    if against:
        labels = zip(*(runs[REPORT, which][0]["labels"] for which in homes), strict=True)
        n_other = sum(ours != theirs for ours, theirs in labels)
        result["notes"] = [f"{n_other} labels of {n // 2} differ"]
    return result


@contextmanager
def check_out(revision: str) -> Iterator[Path]:
    """Check another commit out in a temporary work tree."""
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        path = Path(name) / "tree"
        git("worktree", "add", "--detach", "--quiet", str(path), revision)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def git(*arguments: str) -> None:
    """Run git in this repository."""
    subprocess.run(["git", "-C", str(ROOT), *arguments], stdout=sys.stderr, check=True)


def classify(folder: Path, home: Path, prefix: str, *, output: str = REPORT) -> dict[str, Any]:
    """Run the command of that folder once, from files to labels, or to labels and a report."""
    labels, page, stages = folder / "labels.jsonl", folder / "page.html", folder / "stages.json"
    source, target = folder / f"{prefix}source.jsonl", folder / f"{prefix}target.jsonl"
    command = ["classify", source, "--target", target, "--text", "text", "--label", "label"]
    command += ["--output", labels, "--force"]
    command += ["--report", page] if output == REPORT else []
    found = run_command(*command, home=home, stages=stages)
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    name = next(name for name in rows[0] if name not in ("id", "text"))
    return found | {
        "stages": json.loads(stages.read_text()),
        "labels": [row[name] for row in rows],
    }


def sum_up(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Return the figures of the fastest run, with the largest peak of all."""
    best = min(runs, key=lambda one: one["seconds"])
    return {
        "seconds": best["seconds"],
        "of CPUs": sum(best["stages"].values()),
        "peak MB": max(one["peak_mb"] for one in runs),
    }


def show_stages(runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return a row of CPU seconds for each stage, of the fastest run of each kind."""
    best = {
        title: min(several, key=lambda one: one["seconds"])["stages"]
        for title, several in runs.items()
    }
    stages = dict.fromkeys(stage for found in best.values() for stage in found)
    return [
        {"CPU seconds": stage} | {title: found.get(stage, 0.0) for title, found in best.items()}
        for stage in stages
    ]
