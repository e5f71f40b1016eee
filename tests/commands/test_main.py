"""What all commands have in common."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from gramshift import methods
from gramshift.commands.classify import options
from gramshift.commands.main import app
from gramshift.methods import METHODS
from gramshift.model.settings import PRESETS
from gramshift.ngrams.index import KINDS
from gramshift.tables.opening import READERS

COMMANDS = [one.name for one in app.registered_commands]


def test_the_commands():
    assert sorted(COMMANDS) == COMMANDS
    assert {
        "classify",
        "demo",
        "explain",
        "fetch",
        "info",
        "kernel",
        "predict",
        "reproduce",
    } <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_for_every_command(gramshift, command):
    answer = gramshift(command, "--help")
    assert answer.code == 0
    assert f"gramshift {command}" in answer.out.split("Example")[1]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_a_short_name(gramshift, command):
    assert gramshift(*command.split(), "-h") == gramshift(*command.split(), "--help")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_shows_no_types_of_python(gramshift, command):
    assert not re.findall(
        r"<(?:str|int|float|bool|path|list).*?>", gramshift(*command.split(), "-h").out
    )


@pytest.mark.parametrize("command", ["classify", "compare", "reproduce"])
def test_help_names_a_few_methods_and_where_the_others_are(gramshift, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    words = gramshift(command, "--help").out
    assert all(name in words for name in ("best", "tkc", "adapted", "plain", "tfidf", "Baselines"))
    assert "tr-tradaboost" not in words
    if command == "classify":
        typed = ("classify", "a.csv", "--target", "b.csv", "--method", "svm")
        assert "tr-tradaboost" in gramshift(*typed).err


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("compare a.csv b.csv", "gramshift compare books.csv --target kitchen.csv"),
        ("predict --model m.gramshift", "no --input: name the files to label"),
    ],
)
def test_missing_files_are_asked_for(gramshift, typed, advice):
    answer = gramshift(*shlex.split(typed))
    assert answer.code == 2
    assert advice in answer.err
    assert answer.err.count("\n") == 1


def test_a_file_is_not_explained_as_a_text(gramshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("text\na great pan\n")
    answer = gramshift("explain", "--model", "m.gramshift", "new.csv")
    assert answer.code == 2
    assert "new.csv is a file: gramshift explain --model m.gramshift --input new.csv" in answer.err


def test_version(gramshift):
    assert gramshift("--version").out == "gramshift 1.0.0\n"


def test_python_runs_the_package():
    result = subprocess.run(
        [sys.executable, "-m", "gramshift", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout == "gramshift 1.0.0\n"


@pytest.mark.parametrize("command", ["", "classify", "compare"])
def test_help_does_not_wait_for_libraries(command):
    """Import nothing that computes, which would take time."""
    script = """
import sys
sys.argv = ["gramshift", *sys.argv[1:], "--help"]
from gramshift.commands.main import main
try:
    main()
except SystemExit:
    pass
loaded = {"numpy", "numba", "sklearn", "scipy", "pyarrow", "jinja2"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run(
        [sys.executable, "-c", script, *command.split()],
        check=True,
        timeout=60,
        capture_output=True,
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gramshift cl", {"classify"}),
        ("gramshift classify a.csv --met", {"--method"}),
        ("gramshift classify --method t", {name for name in METHODS if name.startswith("t")}),
        ("gramshift classify --kernel in", {"intersection"}),
    ],
)
def test_the_shell_completes(words, expected):
    script = "from gramshift.commands.main import main; main()"
    environment = os.environ | {
        "_GRAMSHIFT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert set(result.stdout.split()) == expected


def test_there_is_one_list_of_each():
    """Compare the copies that the command line has of slow modules."""
    assert tuple(KINDS) == methods.KERNELS
    assert tuple(READERS) == methods.FORMATS
    assert tuple(PRESETS) == methods.PRESETS


def test_lengths():
    assert options.parse_ngrams("5-8") == (5, 8)
    assert options.parse_ngrams("4") == (4, 4)


@pytest.mark.parametrize("benchmark", ["paper", "amazon5"])
def test_reproduce_looks_for_its_data_first(gramshift, tmp_path, benchmark):
    answer = gramshift(
        "reproduce",
        "--benchmark",
        benchmark,
        "--data",
        tmp_path / "no",
        "--output",
        tmp_path / "results",
    )
    assert (answer.code, len(answer.err.splitlines())) == (2, 1), answer.err
    assert f"{tmp_path / 'no'}: no such folder" in answer.err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sample", "a.csv", "-o", "b.csv", "--random", "x"], "--random': 'x' is no whole number"),
        (["classify", "--jobs", "1.5"], "--jobs': '1.5' is no whole number; give one such as 20"),
        (
            ["predict", "-m", "m", "--abstain-below", "70x"],
            "--abstain-below': '70x' is no number; give one such as 0.7 or 70%",
        ),
    ],
)
def test_what_is_no_number_is_shown(gramshift, arguments, message):
    answer = gramshift(*arguments)
    assert answer.code == 2
    assert message in " ".join(answer.err.replace("\u2502", " ").split())
