"""Commands in the documents: each ```console block is run and its output compared.

The blocks of a page are run from top to bottom in one folder.
"""

import csv
import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = (
    doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
)  # "..." for what differs from machine to machine
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if "```console\n" in page.read_text()
]


def examples(text):
    """Yield commands and their output; "> " continues the command of the line before."""
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            more = next(
                (n for n, line in enumerate(lines[1:], start=1) if not line.startswith("> ")),
                len(lines),
            )
            yield (
                "\n".join([lines[0], *(line[2:] for line in lines[1:more])]),
                "\n".join(lines[more:]) + "\n",
            )


def read_labels(path, column="label"):
    with path.open(newline="") as file:
        return {row["id"]: row[column] for row in csv.DictReader(file)}


def check_fifty_labels(folder, page):
    """Check the claims of the tutorial on fifty random labels and their effect."""
    truth, drawn = read_labels(folder / "truth.csv"), read_labels(folder / "to-label.csv")
    before, after = (
        read_labels(folder / "scored.csv", "predicted_label"),
        read_labels(folder / "labels.csv"),
    )
    assert drawn == {one: truth[one] for one in drawn}
    assert {one: after[one] for one in drawn} == drawn
    others = sorted(truth.keys() - drawn.keys())
    n_right = sum(before[one] == label for one, label in drawn.items())
    was, now = (
        sum(labels[one] == truth[one] for one in others) / len(others) for labels in (before, after)
    )
    positive = sum(truth[one] == "positive" for one in others) / len(others)
    n_negative = list(drawn.values()).count("negative")
    assert now > max(was, positive) + 0.02, (
        "the step no longer helps: describe it, or take another example"
    )
    for words in (
        f"{n_negative} of the {len(drawn)} are negative",
        f"{n_right} of the {len(drawn)} labels of the first run were right",
        f"Of the {len(others)} other documents {100 * was:.0f} % were right before, and "
        f"{100 * now:.0f} % are now",
        f'Always saying "positive" would have {positive:.0%}'.replace("%", " %"),
    ):
        assert words in page, f"the tutorial should have: {words}"


CHECKS = {"tutorial.md": check_fifty_labels}  # of claims in the text of a page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_documents_run(page, gramshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", sys.stdout)  # in the order in which a terminal shows them
    found = list(examples(page.read_text()))
    assert found
    for command, expected in found:
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] == "gramshift":
            answer = gramshift(*words[1:])
            printed = answer.out
        else:
            result = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
            )
            printed = result.stdout + result.stderr
        same = doctest.OutputChecker().check_output(expected, printed or "\n", FLAGS)
        assert same, f"{page.name}: $ {command}\nprints\n{printed}\ninstead of\n{expected}"
    if page.name in CHECKS:
        CHECKS[page.name](tmp_path, " ".join(page.read_text().split()))
