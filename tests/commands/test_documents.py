"""Commands in the documents: every ```console block is run, top to bottom, in one folder, and its output compared."""

import doctest
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # "..." for what differs from machine to machine
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if "```console\n" in page.read_text()]


def examples(text):
    """Commands and what they print; "> " goes on with the command of the line before."""
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            more = next((n for n, line in enumerate(lines[1:], start=1) if not line.startswith("> ")), len(lines))
            yield "\n".join([lines[0], *(line[2:] for line in lines[1:more])]), "\n".join(lines[more:]) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_documents_run(page, gramshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    found = list(examples(page.read_text()))
    assert found
    for command, expected in found:
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] == "gramshift":
            answer = gramshift(*words[1:])
            printed = answer.out + answer.err
        else:
            result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
            printed = result.stdout + result.stderr
        same = doctest.OutputChecker().check_output(expected, printed or "\n", FLAGS)
        assert same, f"{page.name}: $ {command}\nprints\n{printed}\nbut the page has\n{expected}"
