"""A mistake is one line on stderr and exit code 2 before any work, and leaves no file."""

import os
import re
import resource
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager

import pytest

from small_tables import write_csv

OPTIONS = ("--target", "films.csv", "--output", "labels.csv", "--method", "tkc", "--ngrams", "3-5")
RUN = ("classify", "pans.csv", *OPTIONS)
STAGES = ["reading", "index", "gram", "training", "reference"]


def changed(*options, source="pans.csv", without=()):
    """RUN with other values; an option that is there already is replaced."""
    arguments = dict(zip(OPTIONS[::2], OPTIONS[1::2], strict=True)) | dict(
        zip(options[::2], options[1::2], strict=True)
    )
    return [
        "classify",
        source,
        *(
            part
            for name, value in arguments.items()
            if name not in without
            for part in (name, value)
        ),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["classify", *OPTIONS], "no source: name the labelled files"),
        (
            ["classify", "pans.csv", "knives.csv", "-o", "x.csv"],
            "no --target: name the file to label",
        ),
        (
            ["classify", "pans.csv", "-o", "x.csv"],
            "every row of pans.csv has a label; name the documents",
        ),
        (changed(source="nothing.csv"), "nothing.csv: No such file or directory"),
        (
            changed("--target", "k*.csv"),
            "--target k*.csv: there is no such file; name one file, or add --fit-on 100000",
        ),
        (
            changed("--target", "pans.csv"),
            "--target pans.csv is also a source; leave --target out if",
        ),
        (
            ["classify", "pans.csv", "pans.csv", "--target", "films.csv", "-o", "x.csv"],
            "pans.csv is named twice",
        ),
        (
            changed("--output", "films.csv"),
            "--output films.csv is also an input, which would be lost",
        ),
        (
            changed("--output", "old.csv"),
            "old.csv exists; choose another --output or replace it with --force",
        ),
        (changed("--output", "here"), "--output here is a folder; give the name of a file in it"),
        (changed("--output", "no/labels.csv"), "--output no/labels.csv: there is no folder"),
        (
            changed("--output", "labels.docx"),
            "the format .docx is not known; say which it is with another --output",
        ),
        (changed("--output", "pipe.csv"), "--output pipe.csv is not an ordinary file"),
        (changed("--save", "labels.csv"), "are both labels.csv; give them different names"),
        (changed("--report", "-"), "--report cannot go to standard output"),
        (
            changed("--truth", "label"),
            "--truth label: films.csv has no such column; it has the columns id, text",
        ),
        (
            changed("--method", "tkk"),
            "--method tkk: there are plain, adapted, tkc, best.*; did you mean tkc",
        ),
        (
            changed("--kernel", "presense"),
            "--kernel presense: there are presence, intersection, spectrum; did you mean presence?",
        ),
        (changed("--ngrams", "8-5"), "--ngrams 8-5: .* did you mean 5-8"),
        (changed("--ngrams", "3-" + "9" * 5000), "--ngrams 3-9{58}: give two lengths such as 5-8"),
        (
            changed("--memory", "9" * 400),
            "--memory 9{60}: give a number of bytes or a size such as",
        ),
        (
            changed("--fit-on", "9" * 5000),
            "--fit-on 9{60}: give a number of target documents such as 100000",
        ),
        (changed("--ngrams", ""), "--ngrams : give two lengths such as 5-8"),
        (
            changed("--added", "lots"),
            "--added lots: give a number of documents such as 1000, or a share such as 0.5",
        ),
        (changed("--added", "1.5"), "--added 1.5"),
        (changed("--abstain-below", "70"), "--abstain-below 70: give a confidence between 0 and 1"),
        (changed("--jobs", "0"), "--jobs 0: give a number of threads"),
        (
            changed("--memory", "1 MB"),
            "MiB of memory and .* but the memory limit is 976.6 KiB: allow more memory",
        ),
        (changed("--memory", "much"), "--memory much: give a number of bytes or a size"),
        (changed("--engine", "dask"), "--engine dask .* goes with --fit-on"),
        (
            changed(source="gaps.csv"),
            "gaps.csv: the column 'label' is empty; a source needs labels",
        ),
        (
            changed(source="own.csv"),
            "every one of 30 documents has a label of its own in 'label' of own.csv",
        ),
        (changed("--corrections", "films.csv"), "the column label: films.csv has no such column"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(gramshift, folder, arguments, message):
    files = {
        "old.csv": "old",
        "gaps.csv": "text,label\na,\nb,\n",
        "own.csv": "text,label\n" + "".join(f"a,{n}\n" for n in range(30)),
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    (folder / "here").mkdir()
    os.mkfifo(folder / "pipe.csv")
    before = sorted(os.listdir())
    answer = gramshift(*arguments)
    assert answer.code == 2, answer
    lines = answer.err.splitlines()
    assert lines[-1].startswith("gramshift: ")
    assert len(lines) == 1
    assert message in answer.err or re.search(message, answer.err), answer.err
    assert answer.out == ""
    assert sorted(os.listdir()) == before
    assert (folder / "old.csv").read_text() == "old"


def test_a_folder_that_one_may_not_write_into(gramshift, folder, monkeypatch):
    """Root may write everywhere, so the system's answer is made up."""
    monkeypatch.setattr("gramshift.commands.outputs.os.access", lambda *_: False)
    answer = gramshift(*RUN)
    assert answer.code == 2
    assert "--output labels.csv: you may not write into" in answer.err


def test_an_input_that_one_may_not_read(gramshift, folder, monkeypatch):
    def refuse(self, *_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("gramshift.tables.table.Path.open", refuse)
    answer = gramshift(*RUN)
    assert (answer.code, answer.err) == (2, "gramshift: pans.csv: Permission denied\n")


def test_a_full_disk_is_not_the_users_mistake_and_leaves_nothing(gramshift, folder):
    """A limit on the size of files stands for the disk; the caches of leaves are filled before."""
    gramshift(*RUN)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    command = [
        sys.executable,
        "-c",
        "from gramshift.commands.main import main; main()",
        *RUN,
        "--force",
    ]
    (folder / "labels.csv").write_text("old")
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limit,
        env=environment,
    )
    assert result.returncode == 1, result.stderr
    assert result.stderr.splitlines()[-1] == "gramshift: labels.csv: File too large"
    assert (folder / "labels.csv").read_text() == "old"
    assert not [name for name in os.listdir() if "partial" in name]


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_at_any_stage_leaves_nothing(gramshift, folder, monkeypatch, stage):
    reached = []

    @contextmanager
    def interrupting(plan=(), *, quiet):
        def report(name, done, total):
            reached.append(name)
            if name == stage:
                raise KeyboardInterrupt

        yield report

    monkeypatch.setattr("gramshift.commands.parser.progress_bar", interrupting)
    before = sorted(os.listdir())
    answer = gramshift(*RUN, "--save", "m.gramshift")
    assert answer.code == 130
    assert reached[-1] == stage
    assert answer.err.splitlines()[-1] == "gramshift: interrupted; no file is half written"
    assert sorted(os.listdir()) == before


def test_an_interrupt_while_writing_leaves_the_old_file(gramshift, folder, monkeypatch):
    from gramshift.tables.writing import DelimitedWriter

    def interrupted(*_):
        raise KeyboardInterrupt

    (folder / "labels.csv").write_text("old")
    monkeypatch.setattr(DelimitedWriter, "write", interrupted)
    assert gramshift(*RUN, "--force").code == 130
    assert (folder / "labels.csv").read_text() == "old"
    assert not [name for name in os.listdir() if "partial" in name]


def test_a_fault_of_ours_is_no_mistake_of_the_users(gramshift, folder, monkeypatch):
    """A traceback follows a line that asks for a report, and the exit code is 1."""

    def fault(*_, **__):
        raise ValueError("oops")

    monkeypatch.setattr("gramshift.commands.classify.run.read_inputs", fault)
    answer = gramshift(*RUN)
    line, begin, *_, last = answer.err.splitlines()
    assert answer.code == 1
    assert line.startswith(
        "gramshift: this is a bug of Gramshift's and not your mistake; please report it"
    )
    assert begin == "Traceback (most recent call last):"
    assert last == "ValueError: oops"


def test_the_traceback_of_a_mistake_is_shown_if_asked_for(gramshift, folder, monkeypatch):
    monkeypatch.setenv("GRAMSHIFT_TRACEBACK", "1")
    answer = gramshift(*changed("--method", "magic"))
    lines = answer.err.splitlines()
    assert answer.code == 2
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("gramshift: --method magic: there are plain, adapted")


def test_a_label_that_the_encoding_of_the_output_lacks(gramshift, folder):
    for label in ("gut", "плохо"):
        (folder / "kinds" / label).mkdir(parents=True)
        (folder / "kinds" / label / "1.txt").write_bytes("süß".encode("latin-1"))
    (folder / "films.csv").write_bytes("text\ncafé\nfilm\n".encode("latin-1"))
    answer = gramshift(*changed("--encoding", "latin-1", source="kinds"))
    assert answer.code == 2
    assert answer.err == "gramshift: labels.csv would be latin-1, which lacks 'п' of a label\n"


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_too(gramshift, folder):
    write_csv(folder / "films.csv", ["text"], [("a",), ("b",)])
    write_csv(folder / "pans.csv", ["text", "label"], [("c", "x"), ("d", "y"), ("e", "x")])
    answer = gramshift(*RUN)
    assert answer.code == 0
    assert "Warning: ngram_range=(3, 5): no document has 3 characters" in answer.err
    assert "UserWarning" not in answer.err


def test_warnings_that_python_raises_are_one_line(gramshift, folder):
    """As with PYTHONWARNINGS=error: no text has as many characters as the n-grams are to have."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = gramshift(*changed("--ngrams", "9000"))
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith(
        "gramshift: ngram_range=(9000, 9000): no document has 9000 characters"
    )
    assert "Traceback" not in answer.err


def test_an_address_space_that_is_too_small_for_the_libraries(gramshift, folder, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (700_000_000, -1))
    answer = gramshift(*RUN)
    assert (answer.code, answer.out) == (2, "")
    assert re.search(r"needs 953\.7 MiB .* may have 667\.6 MiB.* ulimit -v\n$", answer.err)
