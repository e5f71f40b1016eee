"""Fuzzing: random inputs for everything that Gramshift reads. Results on stdout; exit code 1 if something was found.

Each target draws its inputs from the seed alone. What is found is shrunk and kept in a folder, to be run again with --again.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # children are forks, which threads do not survive; must come before NumPy
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others reserve addresses, which are limited here

from bench.table import table  # noqa: E402
from fuzz.loop import Finding, Tally, run_alone, run_target, to_json  # noqa: E402
from fuzz.shrink import shrink  # noqa: E402
from fuzz.targets import Case, Target  # noqa: E402

TARGETS = {
    "csv": "fuzz.delimited",
    "jsonl": "fuzz.jsonl",
    "parquet": "fuzz.parquet",
    "review": "fuzz.reviews",
    "model": "fuzz.models",
    "page": "fuzz.pages",
    "cli": "fuzz.command_lines",
    "kernel": "fuzz.kernels",
}
SECONDS = 20.0
MEMORY_FOLDER = Path("/dev/shm")


def make_parser() -> argparse.ArgumentParser:
    """The options; they are the same for every target."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=float, metavar="N", help=f"for each target (default: {SECONDS:g})")
    length.add_argument("--inputs", type=int, metavar="N", help="so many inputs for each target, however long they take")
    parser.add_argument("--target", choices=TARGETS, help="one of them alone (default: all in turn)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="what inputs are drawn from (default: 0)")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), metavar="DIR", help="where found inputs are kept")
    parser.add_argument("--again", type=Path, metavar="FILE", help="run a found input again, and nothing else")
    return parser


def load_target(name: str) -> Target:
    """Make a target; its module is imported only now."""
    made: Target = import_module(TARGETS[name]).TARGET
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the targets, or one found input; 1 if something is found."""
    args = make_parser().parse_args(arguments)
    if args.again is not None:
        return run_again(args.again)
    seconds = None if args.inputs is not None else args.seconds or SECONDS
    tallies = []
    for name in [args.target] if args.target else TARGETS:
        with working_folder() as folder:
            target = load_target(name)
            print(f"fuzz: {name} is prepared", file=sys.stderr)
            target.prepare(Path(folder))
            tally = run_target(target, Path(folder), seed=args.seed, seconds=seconds, inputs=args.inputs)
            tallies.append(tally)
            for finding in tally.findings.values():
                report(target, finding, args.seed, args.found, Path(folder))
        if tally.stopped:
            break
    print(show(tallies))
    return 1 if any(tally.findings for tally in tallies) else 0


def working_folder() -> "TemporaryDirectory[str]":
    """A temporary folder, in memory if there is such a place."""
    usable = MEMORY_FOLDER.is_dir() and os.access(MEMORY_FOLDER, os.W_OK)
    return TemporaryDirectory(prefix="gramshift-fuzz-", dir=MEMORY_FOLDER if usable else None)


def report(target: Target, finding: Finding, seed: int, kept: Path, folder: Path) -> None:
    """Shrink what was found, keep it, and say how to run it again."""

    def fails(case: Case) -> bool:
        found = run_alone(target, case, folder)
        return found is not None and found[0] == finding.kind

    finding.case = shrink(target, finding.case, fails)
    kept.mkdir(parents=True, exist_ok=True)
    name = sha256(f"{finding.target} {finding.kind}".encode()).hexdigest()[:8]
    path = kept / f"{finding.target}-{name}.json"
    path.write_text(json.dumps(to_json(finding, seed), indent=1) + "\n")
    often = "once" if finding.times == 1 else f"{finding.times} times"
    print(f"found in {finding.target}, {often}: {finding.kind}")
    print(f"  {finding.message.strip().splitlines()[-1][:300] if finding.message.strip() else ''}")
    print(f"  {json.dumps(finding.case)[:600]}")
    print(f"  python -m fuzz --again {path}")


def run_again(path: Path) -> int:
    """Run an input that was kept; 1 if it still leads to what must not happen."""
    kept = json.loads(path.read_text())
    target = load_target(kept["target"])
    with working_folder() as folder:
        target.prepare(Path(folder))
        found = run_alone(target, kept["case"], Path(folder))
    print("accepted or refused, as it should be" if found is None else f"found: {found[0]}\n{found[1]}")
    return 0 if found is None else 1


def show(tallies: Iterable[Tally]) -> str:
    """The table of all targets, with a line for the whole if there are several."""
    figures: list[list[Any]] = [
        [one.target, one.inputs, one.refused, one.accepted, one.n_found, one.seconds] for one in tallies
    ]
    if len(figures) > 1:
        figures.append(["all", *(sum(column) for column in list(zip(*figures, strict=True))[1:])])
    rows = [[*row, row[1] / row[-1] if row[-1] else None] for row in figures]
    return table("target", ["inputs", "refused", "accepted", "found", "seconds", "inputs/s"], rows)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stopped either way, it tells what it has done
    sys.exit(main())
