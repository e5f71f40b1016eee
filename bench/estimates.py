"""Peak memory of fits beside what is told of it beforehand; of time the benchmark `scale` tells the same."""

import json
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from bench.child import run_child
from bench.corpus import Texts
from bench.machine import describe_machine, describe_versions, say
from bench.table import table
from gramshift.runtime.budget import BASE, Needs, Work, estimate_exact, estimate_landmarks, estimate_linear
from gramshift.runtime.memory import parse_bytes

OFF = 0.3  # how far an estimate may be off


@dataclass(frozen=True)
class Case:
    """One fit of so many documents."""

    n: int
    options: dict[str, Any] = field(default_factory=dict)
    resumes: bool = False

    def estimate(self, work: Work) -> Needs:
        """What is told of it."""
        if self.options.get("preset") == "best":
            return estimate_linear(work)
        if "landmarks" not in self.options:
            return estimate_exact(work, on_disk=self.resumes)
        limit = self.options.get("memory_limit")
        memory = BASE + parse_bytes(limit) if limit else None
        return estimate_landmarks(work, self.options["landmarks"], memory=memory)


CASES = (
    Case(4000, {"landmarks": 2500}),
    Case(32_000, {"landmarks": 1000, "memory_limit": "230 MB"}),  # on disk
    Case(16_000, {"preset": "best"}),
    Case(5000, {"preset": "paper"}),
    Case(2000, {"preset": "best"}),
    Case(8000, {"memory_limit": "700 MB"}, resumes=True),
)
SMOKE = (Case(200, {"landmarks": 20}), Case(200, {"preset": "paper"}, resumes=True))


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Measure all cases, each in a process of its own; ``texts`` are not used, and each is measured once."""
    say("a small fit first, because compiling takes memory too")
    measure(SMOKE[0], smoke=True, here=False)
    rows = [measure(case, smoke=smoke, here=smoke) for case in (SMOKE if smoke else CASES)]
    return {
        "benchmark": "estimates",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "rows": rows,
        "reached": all(row["reached"] for row in rows),
    }


def measure(case: Case, *, smoke: bool, here: bool) -> dict[str, Any]:
    """The peak of one fit, the size of its work, and the estimate beside it."""
    say(f"{case.n} documents, {case.options}{', resumed' if case.resumes else ''}")
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        arguments = (str(case.n), json.dumps(case.options), folder if case.resumes else "", str(int(smoke)))
        found = run_child("fit", *arguments, texts=[], here=here)
    told = case.estimate(Work(**found["work"]))
    ratio = told.n_bytes / found["peak"]
    return asdict(case) | found | {"told": told.n_bytes, "ratio": ratio, "reached": abs(ratio - 1) <= OFF}


def show(result: dict[str, Any]) -> str:
    """A table of peaks and estimates."""
    rows = [
        [
            " ".join([f"{row['n']} documents", *(f"{name}={value}" for name, value in row["options"].items())]),
            row["peak"] / 1e6,
            row["told"] / 1e6,
            row["ratio"],
            "yes" if row["reached"] else "NO",
        ]
        for row in result["rows"]
    ]
    return table("fit", ["peak MB", "told MB", "ratio", f"within {100 * OFF:.0f} %"], rows)
