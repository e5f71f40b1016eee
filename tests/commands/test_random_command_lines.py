"""Whatever is typed ends with exit code 0, 1 or 2 and an error in words, never a crash."""

import io
import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from conftest import examples
from gramshift import TransductiveClassifier
from gramshift.commands.main import BUG, app, main
from in_child import check_in_child
from small_tables import write_csv

pytestmark = [pytest.mark.process, pytest.mark.slow]
TEXTS = [
    "a good film, nice and good",
    "nice, really good",
    "a bad film, dull and bad",
    "dull, really bad",
] * 3
LABELS = ["pos", "pos", "neg", "neg"] * 3
WORKING = [
    "classify source.csv --target target.csv --output out.csv --method plain --ngrams 2-3",
    "classify source.jsonl --target target.csv --output out.jsonl --method tkc --ngrams 2",
    "classify gaps.csv --output out.csv --method tfidf",
    "classify source.csv --target target.csv --save out.gramshift --dry-run",
    "predict --model model.gramshift --input target.csv --output out.csv",
    "predict --model model.gramshift --input texts --output out.csv",
    "explain --model model.gramshift nice",
    "kernel lines.txt --output out.npy --ngrams 1-2",
    "info model.gramshift",
    "compare source.jsonl --target source.csv --methods plain,tfidf",
]
LEFT_OUT = {"--help", "--engine", "--scheduler"}  # would start workers
VALUES = [
    "", " ", "-", "--", "0", "-1", "1", "2", "0.5", "1.5", "1e400", "nan", "inf", "9" * 20,
    "9" * 400, "x", "é", "\x1b[31m", "\udcff", "=", "a=b", "pos=0.5,neg=0.5", "source", "auto",
    "none", "2-3", "3-2", "0-1", "2 GiB", "1 KiB", ".", "..", "/", "/dev/null", "~", "%s",
    "{}", "[a]", "*", "in/*", "text", "label", "id", "Text", "text,id", "plain", "tfidf,plain",
    "presence", "subsequence", "csv", "jsonl", "xlsx", "utf-16", "idna", "undefined", "base64",
    "source.csv", "target.csv", "gaps.csv", "source.jsonl", "lines.txt", "texts", "empty.csv",
    "header.csv", "binary.csv", "late.csv", "nowhere/x.csv", "model.gramshift",
    "broken.gramshift", "out.csv", "out.jsonl", "out.csv.gz", "out.npy", "out.html", "out.xyz",
    "new/out.csv",
]  # fmt: skip
OPTIONS = {  # of each command, and whether they take a value
    name: {
        option: not param.is_flag
        for param in command.params
        if param.param_type_name == "option"
        for option in param.opts
    }
    for name, command in get_command(app).commands.items()
}


@st.composite
def lines(draw):
    """Draw a command line that works, and insert, omit, double or replace words."""
    words = draw(st.sampled_from(WORKING)).split()
    options = OPTIONS[words[0]]
    for _ in range(draw(st.integers(0, 3))):
        option = draw(st.sampled_from(sorted(options.keys() - LEFT_OUT)))
        place = draw(st.integers(1, len(words)))
        words[place:place] = (
            [option, draw(st.sampled_from(VALUES))] if options[option] else [option]
        )
    if draw(st.booleans()):
        place = draw(st.integers(0, len(words) - 1))
        words[place : place + 1] = draw(
            st.sampled_from([[], [words[place]] * 2])
            | st.sampled_from(VALUES).map(lambda one: [one])
        )
    return words


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files that command lines name."""
    folder = tmp_path_factory.mktemp("files")
    rows = [[number, *row] for number, row in enumerate(zip(TEXTS, LABELS, strict=True))]
    write_csv(folder / "source.csv", ["id", "text", "label"], rows)
    write_csv(folder / "target.csv", ["id", "text"], [row[:2] for row in rows[:6]])
    write_csv(
        folder / "gaps.csv",
        ["id", "text", "label"],
        [*rows[:8], *([*row[:2], ""] for row in rows[8:])],
    )
    jsonl = "".join(f'{{"text": "{text} too", "label": "{label}"}}\n' for _, text, label in rows)
    (folder / "texts").mkdir()
    for name, text in {
        "source.jsonl": jsonl,
        "lines.txt": "\n".join(TEXTS),
        "texts/1.txt": TEXTS[0],
        "texts/2.txt": TEXTS[2],
        "empty.csv": "",
        "header.csv": "id,text\n",
        "late.csv": "id,text\n1,a\n2\n",
    }.items():
        (folder / name).write_text(text)
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    TransductiveClassifier(n_jobs=1).fit(TEXTS, LABELS, target=TEXTS[:6]).save(
        folder / "model.gramshift"
    )
    (folder / "broken.gramshift").write_bytes((folder / "model.gramshift").read_bytes()[:-100])
    return folder


def run(words, files, folder):
    """Run a command line in a copy of the files; return its exit code and its stderr."""
    shutil.copytree(files, folder)
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
        for _ in range(2)
    )
    typed = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"text\na\n")))
    code, before = 0, os.getcwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.object(sys, "argv", ["gramshift", *words]),
            mock.patch.object(sys, "stdin", typed),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            main()
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    err.flush()
    return code, err.buffer.getvalue().decode("utf-8", "replace")


@pytest.mark.parametrize("line", WORKING)
def test_lines_to_begin_with_work(line, files, tmp_path):
    code, told = run(line.split(), files, tmp_path / "here")
    assert code == 0, told


def test_whatever_is_typed_is_answered_in_words(files, tmp_path):
    def check_all(note):
        @examples(150)
        @given(lines())
        def check(words):
            note(words)
            code, told = run(words, files, tmp_path / "here")
            assert code in (0, 1, 2), told
            assert BUG not in told, told
            assert "Traceback" not in told, told
            assert not code or told.strip(), "it fails without a word"
            if "Usage: " not in told:  # a mistake in the line itself is shown as it was typed
                assert all(char.isprintable() or char in "\n\r\t" for char in told), repr(told)

        check()

    check_in_child(check_all)
