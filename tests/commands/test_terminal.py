"""Control characters of files do not reach a terminal; closed standard files are no bugs."""

import errno
import io
import json
import os
import subprocess
import sys

import pytest

import gramshift as gs
from small_demo import load_demo

ESC = "\x1b]0;pwned\x07\x1b[31m\x9b2J\x7f\u202e"
LABELS = [f"POS{ESC}\nforged line [red]", f"NEG{ESC}"]
TEXT, ID, LABEL, DOMAIN = (f"{name}{ESC}" for name in ("te xt", "i", "la bel", "do main"))
SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
RUN = "from gramshift.commands.entry import run; run()"


def write(path, reviews):
    rows = [
        {
            ID: f"{number}{ESC}",
            TEXT: f"{text} {ESC}",
            LABEL: LABELS[number % 2],
            DOMAIN: f"d{number // 2 % 2}{ESC}",
        }
        for number, text in enumerate(reviews.texts[:40])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A model and two tables with control characters in labels, ids, texts and all names."""
    folder = tmp_path_factory.mktemp("hostile") / f"folder{ESC}".replace("/", "")
    folder.mkdir()
    source, target = (
        write(folder / f"source{ESC}.jsonl", SOURCE),
        write(folder / f"target{ESC}.jsonl", FILMS),
    )
    model = folder / f"model{ESC}.gramshift"
    texts = [f"{text} {ESC}" for text in SOURCE.texts[:40]]
    gs.TransductiveClassifier(preset="paper", ngram_range=(3, 4), n_added=5).fit(
        texts, [LABELS[number % 2] for number in range(40)], target=FILMS.texts[:20]
    ).save(model)
    return folder, source, target, model


def columns(*names):
    return [
        part
        for name in names
        for part in (f"--{name}", {"text": TEXT, "label": LABEL, "id": ID, "domain": DOMAIN}[name])
    ]


COMMANDS = {
    "info": lambda folder, source, target, model: ("info", model),
    "explain": lambda folder, source, target, model: (
        "explain",
        "--model",
        model,
        f"a great {ESC} pan \ud800",
    ),
    "explain as JSON": lambda folder, source, target, model: (
        "explain",
        "--model",
        model,
        "--json",
        f"a great {ESC} \ud800",
    ),
    "predict": lambda folder, source, target, model: (
        *(
            "predict",
            "--model",
            model,
            "--input",
            target,
            *columns("text"),
            "--output",
            folder / "o.jsonl",
            "--force",
        ),
    ),
    "classify": lambda folder, source, target, model: (
        *(
            "classify",
            source,
            "--target",
            target,
            *columns("text", "label", "id"),
            "--method",
            "plain",
        ),
        *(
            "--truth",
            LABEL,
            "--ngrams",
            "3-4",
            "--output",
            folder / "c.jsonl",
            "--report",
            folder / "c.html",
            "--force",
        ),
    ),
    "compare": lambda folder, source, target, model: (
        *(
            "compare",
            "--data",
            source,
            "--domain",
            DOMAIN,
            "--methods",
            "plain,tfidf",
            *columns("text", "label"),
        ),
        *("--output", folder / "compared", "--force", "--no-plot"),
    ),
}
FAULTS = {
    "no such model": lambda folder, source, target, model: ("info", f"{model}x"),
    "no such column": lambda folder, source, target, model: (
        *(
            "predict",
            "--model",
            model,
            "--input",
            target,
            "--text",
            f"x{ESC}",
            "--output",
            folder / "new",
        ),
    ),
    "no such data": lambda folder, source, target, model: (
        "reproduce",
        "--data",
        folder,
        "--output",
        folder / "results",
    ),
}


def assert_harmless(answer):
    """Require that all characters are printable, except for the ends of lines."""
    found = {char for char in answer.out + answer.err if char != "\n" and not char.isprintable()}
    assert found == set()
    assert not any(line.startswith("forged") for line in (answer.out + answer.err).splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_control_characters(gramshift, hostile, name):
    answer = gramshift(*COMMANDS[name](*hostile))
    assert answer.code == 0, answer.err
    assert answer.out or answer.err
    assert_harmless(answer)
    if name.endswith("JSON"):
        assert json.loads(answer.out)


@pytest.mark.parametrize("name", FAULTS)
def test_no_error_prints_control_characters(gramshift, hostile, name):
    answer = gramshift(*FAULTS[name](*hostile))
    assert answer.code == 2
    assert "gramshift: " in answer.err
    assert_harmless(answer)


def test_values_come_back_from_json_as_they_were(gramshift, hostile):
    given = f"a great {ESC} \ud800 pan"
    (one,) = json.loads(gramshift("explain", "--model", hostile[3], "--json", given).out)
    assert one["text"] == given
    assert set(one["score"]) == set(LABELS)


def test_a_bug_is_reported_without_control_characters(gramshift, hostile, monkeypatch):
    def fail(*_):
        raise LookupError(f"odd {ESC}")

    monkeypatch.setattr(os.path, "getsize", fail)
    answer = gramshift("info", hostile[3])
    assert answer.code == 1
    assert "this is a bug of Gramshift's" in answer.err
    assert "LookupError: odd" in answer.err
    assert "Traceback (most recent call last)" in answer.err
    assert_harmless(answer)


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    gs.TransductiveClassifier(preset="paper", ngram_range=(3, 4), n_added=5).fit(
        SOURCE.texts[:60], SOURCE.labels[:60], target=FILMS.texts[:20]
    ).save(folder / "m.gramshift")
    (folder / "t.csv").write_text("text\na great pan\na bad pan\n")
    return folder


PREDICT = ("predict", "--model", "m.gramshift", "--input", "t.csv", "--force")


@pytest.fixture
def output(plain_model, monkeypatch):
    monkeypatch.chdir(plain_model)
    path = plain_model / "o.csv"
    path.unlink(missing_ok=True)
    return path


def test_labels_are_written_where_all_standard_files_are_closed(output):
    """In a process of its own, where other files would take the places of the closed ones."""
    command = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c", RUN]
    result = subprocess.run([*command, *PREDICT, "--output", "o.csv"], timeout=300, check=False)
    assert result.returncode == 0
    assert output.read_text().startswith("text,label,confidence")
    assert len(output.read_text().splitlines()) == 3


def test_labels_are_written_where_messages_go_to_a_full_disk(gramshift, output, monkeypatch):
    class FullDisk(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", FullDisk())
    assert gramshift(*PREDICT, "--output", "o.csv").code == 0
    assert len(output.read_text().splitlines()) == 3


def test_messages_never_go_where_data_goes(gramshift, output, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    answer = gramshift(*PREDICT, "--output", "-")
    assert answer.code == 0
    rows = [line.split(",")[0] for line in answer.out.splitlines()]
    assert rows == ["text", "a great pan", "a bad pan"]
    answer = gramshift("info", "none.gramshift")
    assert (answer.code, answer.out) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "stream", "words"),
    [
        (
            ("predict", "--model", "m.gramshift", "--input", "-", "--format", "csv"),
            "stdin",
            "standard input is closed",
        ),
        ((*PREDICT, "--output", "-"), "stdout", "standard output is closed"),
        (("info", "m.gramshift"), "stdout", "standard output is closed"),
    ],
)
def test_a_closed_file_that_is_needed_is_named(
    gramshift, output, monkeypatch, arguments, stream, words
):
    monkeypatch.setattr(sys, stream, None)
    answer = gramshift(*arguments)
    assert answer.code == 2
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("json_or_words", [["--json"], []])
def test_an_encoding_of_standard_output_that_lacks_characters(
    gramshift, output, monkeypatch, encoding, json_or_words
):
    given = "süß \N{SNOWMAN} pan"
    shown = io.BytesIO()
    stream = io.TextIOWrapper(shown, encoding=encoding, errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    assert gramshift("explain", "--model", "m.gramshift", *json_or_words, given).code == 0
    stream.flush()
    if json_or_words:
        assert json.loads(shown.getvalue())[0]["text"] == given
        assert ("süß".encode() in shown.getvalue()) is (encoding == "utf-8")


def test_a_full_disk_behind_standard_output_is_reported(output):
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-c", RUN, "info", "m.gramshift"]
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False
        )
    assert result.returncode == 1
    assert result.stderr == "gramshift: No space left on device\n"


CLASSIFY = ("classify", "s.csv", "--target", "t.csv", "--method", "tfidf")


@pytest.fixture
def tables(output):
    """The folder of the model, with a source, and labels and the kernel of an earlier test gone."""
    rows = [f"a great pan {n},good\na bad pan {n},bad\n" for n in range(10)]
    (output.parent / "s.csv").write_text("text,label\n" + "".join(rows))
    return output.parent


@pytest.mark.parametrize(
    ("options", "heading"),
    [
        ((), "text,label,confidence"),
        (("--output", "-"), "text,label,confidence"),
        (("--json",), "{"),
        (("--output", "o.csv", "--json"), "{"),
        (("--output", "o.csv"), ""),
        (("--dry-run",), "20 source and 2 target documents"),
    ],
)
def test_classify_prints_labels_or_json_or_a_summary(gramshift, tables, options, heading):
    answer = gramshift(*CLASSIFY, *options)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[0].startswith(heading)
    has_labels = heading.startswith("text")
    assert ("Result: 2 documents labelled" in answer.err) == has_labels
    assert ("Result: 2 documents labelled" in answer.out) == (options == ("--output", "o.csv"))
    if heading == "{":
        assert json.loads(answer.out)["labels"] == {"bad": 1, "good": 1}
    if has_labels:
        assert answer.out.count("\n") == 3


@pytest.mark.parametrize("more", [("--report", "r.html"), ("--save", "new.gramshift")])
def test_a_report_or_a_model_is_enough(gramshift, tables, more):
    answer = gramshift("classify", "s.csv", "--target", "t.csv", *more, "--force")
    assert answer.code == 0, answer.err
    assert (tables / more[1]).exists()
    assert "Result: 2 documents labelled" in answer.out
    assert "text,label" not in answer.out


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ((*PREDICT, "--output", "o.csv"), "Result: 2 documents labelled"),
        (
            ("sample", "t.csv", "--random", "1", "-o", "d.csv", "--force"),
            "Result: 1 of 2 documents",
        ),
        (
            ("kernel", "t.csv", "-o", "k.npy", "--ngrams", "2", "--force"),
            "wrote k.npy: int64, 3 x 3",
        ),
        (
            (
                "compare",
                "s.csv",
                "--target",
                "s2.csv",
                "--methods",
                "tfidf",
                "--force",
                "--no-plot",
            ),
            "1 result; comparison has comparison.md",
        ),
        ((*CLASSIFY, "--output", "o.csv", "--force"), "Result: 2 documents labelled"),
    ],
)
def test_a_summary_is_on_stdout_unless_it_is_not_wanted_there(gramshift, tables, typed, printed):
    (tables / "s2.csv").write_text((tables / "s.csv").read_text().replace("pan", "knife"))
    answer = gramshift(*typed)
    assert answer.code == 0, answer.err
    has_table = typed[0] == "compare"  # which has stdout to itself
    assert (printed in answer.out, printed in answer.err) == (not has_table, has_table)
    quiet = gramshift(*typed, "--force" if typed[0] == "predict" else "-q", "-q")
    assert (quiet.code, quiet.err) == (0, "")
    assert printed not in quiet.out
    assert quiet.out == "" or has_table


def test_a_quiet_run_still_warns(gramshift, tables):
    rows = "".join(f"a great film {n},\n" for n in range(60))
    (tables / "films.csv").write_text("text,label\n" + rows)
    (tables / "more.csv").write_text("text,label\n" + "a good lid,Good\n" * 9)
    run = "classify s.csv more.csv --target films.csv --method plain -o o.csv -q"
    answer = gramshift(*run.split())
    assert (answer.code, answer.out) == (0, "")
    assert "films.csv already has a 'label' column" in answer.err
    assert "Warning: no target document was labelled 'Good', 'bad'" in answer.err
    assert "Warning: the labels 'Good' and 'good' differ only by case" in answer.err
    assert "documents labelled" not in answer.err
