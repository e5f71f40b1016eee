"""The command line of the benchmarks: one subcommand each, results on stdout, words for people on stderr."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from subprocess import CalledProcessError
from typing import Any

from bench.corpus import CorpusError, load_corpus
from bench.rivals import MismatchError

BENCHMARKS = {
    "kernel": "grams of n-gram kernels against scikit-learn: time, memory, growth, distance from the machine",
    "pairs": "kernels that look at every pair of documents: pairs a second by length",
    "weighted": "grams with a weight per n-gram against scikit-learn",
    "experiments": 'what the preset "best" was chosen by: variants of the classifier on the development data (half an hour)',
    "robust": 'whether the preset "best" does harm: languages, sizes, class shares, beside plain, paper and two rivals (hours)',
    "unbalanced": 'the preset "best" on targets whose classes are not balanced',
    "ablations": 'the preset "best" without one of its parts, under the protocol of the paper (half an hour)',
    "reproduce": "all results of the paper's tables against the straightforward script on a part of them",
    "scale": "fits with landmarks: time and memory of up to 80,000 documents, accuracy beside the exact fit, a cost model",
    "estimates": "peak memory of fits beside what is told of it beforehand",
    "classifier": "the transductive classifier against Algorithm 1 in NumPy: time, memory, growth, share of each stage",
    "linear": 'the preset "best" against scikit-learn and "paper", by documents, classes and workers, predicting, a cost model',
    "classify": 'the command classify with the preset "best", from files to page, beside another commit',
    "faults": "a fault at every call of the system that writing makes: which file is there afterwards, and whether it is whole",
    "endurance": "10,000 predictions and 200 fits in one process: memory, open files and threads must stay as they are",
    "problems": "wrong labels of a source, flipped at random: how many of them the most doubtful tenth holds, beside cleanlab",
    "sample": "what 50 labels by hand are worth: of random documents, of the least sure, of doubtful ones that differ",
    "house": "the source itself: modules, names used twice, late imports, monkeypatches of the tests, before and now",
}
GROWING = ("scale", "linear", "classify")  # take or make as many documents as they are asked for
OWN = {  # options that not every benchmark has
    "linear": ("only", "largest", "million"),
    "classify": ("against",),
    "robust": ("only", "rivals"),
}


def at_least(least: int) -> Any:
    """A whole number not below ``least``, for argparse."""

    def parse(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value}: give {least} or more")
        return value

    parse.__name__ = "whole number"
    return parse


def make_parser() -> argparse.ArgumentParser:
    """All benchmarks take the same options, except those that read no texts."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--docs", type=at_least(20), metavar="N", help="an evenly spread sample of N documents (default: all)")
    common.add_argument("--data", metavar="DIR", help="folder with sorted_data_acl (default: GRAMSHIFT_DATA, ../shared/data)")
    common.add_argument("--repeat", type=at_least(1), metavar="K", help="timed runs of ours (default: 9, with --smoke 1)")
    common.add_argument("--smoke", action="store_true", help="300 made-up texts, no data needed, under 40 s")
    common.add_argument("--json", action="store_true", help="one JSON object on stdout instead of tables")
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="benchmark", required=True)
    for name, words in BENCHMARKS.items():
        if name not in ("house", "faults"):
            add_own(name, commands.add_parser(name, parents=[common], help=words, description=words))
    faults = commands.add_parser("faults", help=BENCHMARKS["faults"], description=BENCHMARKS["faults"])
    faults.add_argument("--smoke", action="store_true", help="each file, call and fault once, without those that take long")
    faults.add_argument("--strace", action="store_true", help="faults by strace, from outside, instead of from Python")
    faults.add_argument("--json", action="store_true", help="one JSON object on stdout instead of a table")
    house = commands.add_parser("house", help=BENCHMARKS["house"], description=BENCHMARKS["house"])
    house.add_argument("--commit", metavar="REV", help="count at this commit only (default: the working tree)")
    house.add_argument("--json", action="store_true", help="one JSON object on stdout instead of a table")
    return parser


def add_own(name: str, parser: argparse.ArgumentParser) -> None:
    """The options that one benchmark alone has."""
    if name == "linear":
        from bench.linear_goals import SECTIONS

        parser.add_argument("--only", type=some_of(SECTIONS), metavar="A,B", help=f"sections among {', '.join(SECTIONS)}")
        parser.add_argument("--largest", type=at_least(200), metavar="N", help="no more grown documents (default: 200000)")
        parser.add_argument("--million", action="store_true", help="a million documents in the section resume")
    if name == "robust":
        from bench.robust_cells import FAMILIES
        from bench.robust_trials import TRIALS

        words = f"families among {', '.join(FAMILIES)}; parts beside them: {', '.join(TRIALS)}"
        parser.add_argument("--only", type=some_of([*FAMILIES, *TRIALS]), metavar="A,B", help=words)
        parser.add_argument(
            "--rivals", metavar="FILE", help="JSON file that keeps answers of all methods but best for the next run"
        )
    if name == "classify":
        parser.add_argument("--against", metavar="REV", help="the commit to run beside (default: ed6bd3f, with --smoke none)")


def some_of(names: Sequence[str]) -> Any:
    """Some of these names with commas between them, for argparse."""

    def parse(text: str) -> list[str]:
        wrong = [one for one in text.split(",") if one not in names]
        if wrong:
            raise argparse.ArgumentTypeError(f"{', '.join(wrong)}: give some of {', '.join(names)}")
        return text.split(",")

    return parse


def run_house(args: argparse.Namespace) -> int:
    """Count the house; 1 if git does not know the commit."""
    from bench import house

    try:
        result = house.run(args.commit)
    except CalledProcessError as error:
        print(f"bench: {error.stderr.decode().strip()}", file=sys.stderr)
        return 1
    print(json.dumps(result, indent=2) if args.json else house.show(result))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; 0 if all is well, 1 if results differ or a child fails, 2 if the data cannot be had."""
    args = make_parser().parse_args(arguments)
    if args.benchmark == "house":
        return run_house(args)
    if args.benchmark == "faults":
        from bench import faults

        result = faults.run(smoke=args.smoke, strace=args.strace)
        print(json.dumps(result, indent=2) if args.json else faults.show(result))
        return 1 if result["failed"] else 0
    try:
        grows = args.benchmark in GROWING
        texts = load_corpus(args.data, docs=None if grows else args.docs, smoke=args.smoke)
    except CorpusError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if args.data:
        os.environ["GRAMSHIFT_DATA"] = os.path.abspath(args.data)  # for children
    benchmark = importlib.import_module(f"bench.{args.benchmark}")
    try:
        more = {"docs": args.docs} if grows else {}
        more |= {name: getattr(args, name) for name in OWN.get(args.benchmark, ())}
        result = benchmark.run(texts, smoke=args.smoke, repeat=args.repeat or (1 if args.smoke else 9), **more)
    except (MismatchError, CorpusError, CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result, indent=2) if args.json else benchmark.show(result))
    return 1 if result.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
