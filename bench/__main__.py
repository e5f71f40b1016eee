"""The command line of the benchmarks: results on stdout, progress on stderr."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Collection
from subprocess import CalledProcessError
from typing import Any

from bench.corpus import CorpusError, load_corpus
from bench.machine import describe, say, show, source_state
from bench.rivals import MismatchError
from gramshift.errors import InputError

BENCHMARKS = {
    "kernel": "grams of n-gram kernels against scikit-learn: time, memory, growth",
    "robust": "where the default does harm: languages, sizes, class proportions (takes hours)",
    "reproduce": "all results of the paper's tables against a straightforward script",
    "classifier": 'the preset "paper" against Algorithm 1 in NumPy: time, memory, growth',
    "linear": 'the default against scikit-learn and "paper", by documents, classes and workers',
    "encoder": "the default with vectors of a sentence encoder, static and random ones: accuracy",
    "classify": "the command classify, from files to report, alternating with another commit",
}
GROWING = ("linear", "classify")  # take as many documents as --docs asks for by themselves


def at_least(least: int) -> Any:
    """Return a parser of whole numbers not below ``least``, for argparse."""

    def parse(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value}: give {least} or more")
        return value

    parse.__name__ = "whole number"
    return parse


def make_parser() -> argparse.ArgumentParser:
    """Return the parser: all benchmarks share options, and some have more."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--docs",
        type=at_least(20),
        metavar="N",
        help="an evenly spread sample of N documents (default: all)",
    )
    common.add_argument(
        "--data",
        metavar="DIR",
        help="folder with sorted_data_acl (default: GRAMSHIFT_DATA, ../shared/data)",
    )
    common.add_argument(
        "--repeat",
        type=at_least(1),
        metavar="K",
        help="timed runs of ours (default: 9, with --smoke 1)",
    )
    common.add_argument(
        "--smoke", action="store_true", help="300 made-up texts, no data needed, under 40 s"
    )
    common.add_argument(
        "--json", action="store_true", help="one JSON object on stdout instead of tables"
    )
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="benchmark", required=True)
    for name, words in BENCHMARKS.items():
        add_own(name, commands.add_parser(name, parents=[common], help=words, description=words))
    return parser


def add_own(name: str, parser: argparse.ArgumentParser) -> None:
    """Add the options that one benchmark alone has."""
    if name == "linear":
        from bench.linear import SECTIONS

        parser.add_argument(
            "--only",
            type=some_of(SECTIONS),
            metavar="A,B",
            help=f"sections among {', '.join(SECTIONS)}",
        )
        parser.add_argument(
            "--largest",
            type=at_least(200),
            metavar="N",
            help="no more grown documents (default: 200000)",
        )
        parser.add_argument(
            "--million", action="store_true", help="a million documents in the section sample"
        )
    if name == "robust":
        from bench.robust import LABELS
        from bench.robust_cells import FAMILIES

        words = f"families among {', '.join(FAMILIES)}; {LABELS} for the part with random labels"
        parser.add_argument("--only", type=some_of([*FAMILIES, LABELS]), metavar="A,B", help=words)
        parser.add_argument(
            "--rivals",
            metavar="FILE",
            help="JSON file that keeps answers of all methods but best for the next run",
        )
    if name == "classify":
        parser.add_argument(
            "--against", metavar="REV", help="the commit to alternate with (default: none)"
        )


def some_of(names: Collection[str]) -> Any:
    """Return a parser of some of these names with commas between them, for argparse."""

    def parse(text: str) -> list[str]:
        wrong = [one for one in text.split(",") if one not in names]
        if wrong:
            raise argparse.ArgumentTypeError(f"{', '.join(wrong)}: give some of {', '.join(names)}")
        return text.split(",")

    return parse


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; return 0, 1 if results differ or a child fails, 2 without data."""
    options = vars(make_parser().parse_args(arguments))
    name, data, as_json = (options.pop(one) for one in ("benchmark", "data", "json"))
    docs = None if name in GROWING else options.pop("docs")
    options["repeat"] = options["repeat"] or (1 if options["smoke"] else 9)
    try:
        texts = load_corpus(data, docs=docs, smoke=options["smoke"])
    except (CorpusError, InputError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if data:
        os.environ["GRAMSHIFT_DATA"] = os.path.abspath(data)  # for children
    benchmark = importlib.import_module(f"bench.{name}")
    head = {"benchmark": name} | describe()
    try:
        result = head | benchmark.run(texts, **options)
    except (MismatchError, CorpusError, CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    result["source_changed"] = source_state() != result["source"]
    if result["source_changed"]:
        say(
            "gramshift's source was edited meanwhile: these figures mix two versions, measure again"
        )
    show_result = getattr(benchmark, "show", show)  # robust has a text of its own
    print(json.dumps(result, indent=2) if as_json else show_result(result))
    return 1 if result.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
