"""``gramshift classify --preset best`` from files to a page: time, memory, how often texts are sorted; beside a commit."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gramshift
from bench.corpus import ROOT, Texts
from bench.grown import load_reviews, take, write_documents
from bench.machine import describe_machine, describe_versions, say, source_state
from bench.rivals import MismatchError
from bench.table import machine_lines, table

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "learn", "model", "commands", "report")
AGAINST = "ed6bd3f"  # before texts were prepared once for everything
CHILD = Path(__file__).with_name("classify_child.py")
WARM = 60  # documents of the first run, which compiles
FASTER, TIMES = 3, 3
COUNTED = ("prepared", "sorted", "encoded")


def run(texts: Texts, *, smoke: bool, repeat: int, docs: int | None, against: str | None = None) -> dict[str, Any]:
    """Both in turns, each once before to compile; ``texts`` are not used, ``docs`` is the number of documents."""
    n, few, source = docs or (120 if smoke else 4000), 1 if smoke else min(repeat, 3), source_state(FOLDERS)
    against = against or (None if smoke else AGAINST)
    reviews = load_reviews(smoke=smoke)
    result: dict[str, Any] = {
        "benchmark": "classify",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": source,
        "documents": n,
        "repeat": few,
        "against": against,
    }
    with (
        TemporaryDirectory(prefix="gramshift-bench-") as name,
        nullcontext() if against is None else check_out(against) as tree,
    ):
        folder, homes = Path(name), {"this": Path(gramshift.__file__).parent}
        if tree is not None:
            homes["against"] = tree / "src" / "gramshift"
        for letter, part, size in (
            ("E", "source", n),
            ("K", "target", n),
            ("E", "warm-source", WARM),
            ("K", "warm-target", WARM),
        ):
            documents, codes = take(reviews, letter, size // 2)
            write_documents(folder / f"{part}.jsonl", documents, codes if "source" in part else None)
        for home in homes.values():
            say(f"once to compile, {WARM} documents: {home}")
            classify(folder, home, "warm-", WARM)
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in homes}
        for _ in range(few):
            for which, several in runs.items():
                say(f"{n} documents, {'this tree' if which == 'this' else against}")
                several.append(classify(folder, homes[which], "", n))
    result |= {which: sum_up(several) for which, several in runs.items()}
    if against is not None:
        result["ratio"], result["ratio_cpu"] = (result["against"][key] / result["this"][key] for key in ("seconds", "cpu_s"))
        pairs = zip(result["this"].pop("labels"), result["against"].pop("labels"), strict=True)
        result["other_labels"] = sum(ours != theirs for ours, theirs in pairs)
        result["against"]["commit"] = against
    result["this"].pop("labels", None)
    result["goals"] = judge(result)
    result["source_changed"] = source_state(FOLDERS) != source
    return result


@contextmanager
def check_out(revision: str) -> Iterator[Path]:
    """Another commit in a work tree of its own, for the time being."""
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        path = Path(name) / "tree"
        git("worktree", "add", "--detach", "--quiet", str(path), revision)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], stdout=sys.stderr, check=True)


def classify(folder: Path, home: Path, prefix: str, n: int) -> dict[str, Any]:
    """One run of the command by the gramshift of that folder, from its files to a page, and what it counted."""
    names = {name: folder / name for name in ("labels.jsonl", "page.html", "report.json")}
    command = [sys.executable, "-P", str(CHILD), str(names["report.json"]), "--preset", "best", "--force"]
    command += [str(folder / f"{prefix}source.jsonl"), "--target", str(folder / f"{prefix}target.jsonl")]
    command += [
        "--text",
        "text",
        "--label",
        "label",
        "--output",
        str(names["labels.jsonl"]),
        "--report",
        str(names["page.html"]),
    ]
    environment = os.environ | {"PYTHONPATH": str(home.parent)}
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - begun
    if done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        done.check_returncode()
    found = json.loads(names["report.json"].read_text())
    if Path(found["home"]).resolve() != home.resolve():
        raise MismatchError(f"{found['home']} ran instead of {home}")
    rows = [json.loads(line) for line in names["labels.jsonl"].read_text().splitlines()]
    ours = [name for name in rows[0] if name not in ("id", "text")]
    return {
        "seconds": seconds,
        "cpu_s": found["cpu_s"],
        "peak_mb": found["peak_mb"],
        "times": {name: sum(found["counts"].get(name, [])) / n for name in COUNTED},
        "calls": {name: sum(size >= n / 2 for size in found["counts"].get(name, [])) for name in COUNTED},
        "missing": found["missing"],
        "page_mb": names["page.html"].stat().st_size / 1e6,
        "labels": [row[ours[0]] for row in rows],
    }


def sum_up(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The fastest run, with the least time of processors and the largest peak of all."""
    best = min(runs, key=lambda one: one["seconds"])
    most = {"peak_mb": max(one["peak_mb"] for one in runs), "cpu_s": min(one["cpu_s"] for one in runs)}
    return best | most | {"all_seconds": [one["seconds"] for one in runs]}


def judge(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What was to be reached."""
    ours, goals = result["this"], []
    for name in ("prepared", "sorted"):
        value = ours["times"][name]
        words = f"all texts are {name} {value:.2f} times (at most {TIMES})"
        goals.append({"value": value, "reached": value <= TIMES, "words": words})
    if result.get("against"):
        theirs = result["against"]
        faster = (
            f"{result['ratio']:.2f} times as fast as {theirs['commit']}, {result['ratio_cpu']:.2f} by CPU (at least {FASTER})"
        )
        goals.append({"value": result["ratio"], "reached": result["ratio"] >= FASTER, "words": faster})
        memory = f"peak memory is {ours['peak_mb']:.0f} MB (at most {theirs['peak_mb']:.0f}, as there)"
        goals.append({"value": ours["peak_mb"], "reached": ours["peak_mb"] <= theirs["peak_mb"], "words": memory})
    return goals


def show(result: dict[str, Any]) -> str:
    """A line for each of both, and the goals."""
    rows = []
    for which in ("this", "against"):
        one = result.get(which)
        if one:
            name = one.get("commit", "this tree")
            figures = map(one["times"].get, COUNTED)
            rows.append([name, one["seconds"], one["cpu_s"], one["peak_mb"], *figures, one["page_mb"]])
    columns = ("seconds", "of CPUs", "peak MB", *(f"times {kind}" for kind in COUNTED), "page MB")
    lines = [f"{'reached' if goal['reached'] else 'missed '}  {goal['words']}" for goal in result["goals"]]
    if "other_labels" in result:
        lines.append(f"{result['other_labels']} labels of {result['documents'] // 2} differ")
    found = table(f"files to page, {result['documents']} documents", columns, rows)
    return "\n\n".join([machine_lines(result), found, "\n".join(lines)])
