"""What files bring along does not move the cursor; closed files and narrow encodings are no bugs."""

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
    """A folder, a model and two tables that try it everywhere: in labels, ids, texts, names of columns and of files."""
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
    """No character but an end of line that is not seen as what it is."""
    found = {char for char in answer.out + answer.err if char != "\n" and not char.isprintable()}
    assert found == set()
    assert not any(line.startswith("forged") for line in (answer.out + answer.err).splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_what_moves_the_cursor(gramshift, hostile, name):
    answer = gramshift(*COMMANDS[name](*hostile))
    assert answer.code == 0, answer.err
    assert answer.out or answer.err
    assert_harmless(answer)
    if name.endswith("JSON"):
        assert json.loads(answer.out)


@pytest.mark.parametrize("name", FAULTS)
def test_no_error_prints_what_moves_the_cursor(gramshift, hostile, name):
    answer = gramshift(*FAULTS[name](*hostile))
    assert answer.code == 2
    assert "gramshift: " in answer.err
    assert_harmless(answer)


def test_values_come_back_from_json_as_they_were(gramshift, hostile):
    given = f"a great {ESC} \ud800 pan"
    (one,) = json.loads(gramshift("explain", "--model", hostile[3], "--json", given).out)
    assert one["text"] == given
    assert set(one["score"]) == set(LABELS)


def test_a_bug_is_told_without_what_moves_the_cursor(gramshift, hostile, monkeypatch):
    def fail(*_):
        raise LookupError(f"odd {ESC}")

    monkeypatch.setattr(os.path, "getsize", fail)
    answer = gramshift("info", hostile[3])
    assert answer.code == 1
    assert "this is a bug of Gramshift's" in answer.err
    assert "LookupError: odd" in answer.err
    assert "Traceback (most recent call last)" in answer.err
    assert_harmless(answer)


def run_closed(*arguments, closed, cwd, env=None, **options):
    """The command in a process of its own that has some of its three files closed."""
    redirected = " ".join({0: "<&-", 1: ">&-", 2: "2>&-"}[number] for number in closed)
    command = [
        "sh",
        "-c",
        f'exec "$0" "$@" {redirected}',
        sys.executable,
        "-c",
        RUN,
        *map(str, arguments),
    ]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=cwd,
        env=env,
        **options,
    )


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    gs.TransductiveClassifier(preset="paper", ngram_range=(3, 4), n_added=5).fit(
        SOURCE.texts[:60], SOURCE.labels[:60], target=FILMS.texts[:20]
    ).save(folder / "m.gramshift")
    (folder / "t.csv").write_text("text\na great pan\na bad pan\n")
    return folder


PREDICT = ("predict", "--model", "m.gramshift", "--input", "t.csv", "--force")


@pytest.mark.parametrize("closed", [(2,), (0, 1, 2)])
def test_work_is_done_whatever_is_closed(plain_model, closed):
    output = plain_model / "o.csv"
    output.unlink(missing_ok=True)
    result = run_closed(*PREDICT, "--output", "o.csv", closed=closed, cwd=plain_model)
    assert (result.returncode, result.stdout) == (0, "")
    assert output.read_text().startswith("text,label,confidence")
    assert len(output.read_text().splitlines()) == 3


def test_work_is_done_where_words_go_to_a_full_disk(plain_model):
    output = plain_model / "o.csv"
    output.unlink(missing_ok=True)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", RUN, *PREDICT, "--output", "o.csv"]
        assert (
            subprocess.run(
                command, stderr=full, timeout=300, check=False, cwd=plain_model
            ).returncode
            == 0
        )
    assert len(output.read_text().splitlines()) == 3


def test_words_never_go_where_data_goes(plain_model):
    result = run_closed(*PREDICT, "--output", "-", closed=[2], cwd=plain_model)
    assert result.returncode == 0
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == [
        "text",
        "a great pan",
        "a bad pan",
    ]
    result = run_closed("info", "none.gramshift", closed=[2], cwd=plain_model)
    assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "closed", "words"),
    [
        (
            ("predict", "--model", "m.gramshift", "--input", "-", "--format", "csv"),
            0,
            "standard input is closed",
        ),
        ((*PREDICT, "--output", "-"), 1, "standard output is closed"),
        (("info", "m.gramshift"), 1, "standard output is closed"),
    ],
)
def test_what_is_closed_and_needed_is_named(plain_model, arguments, closed, words):
    result = run_closed(*arguments, closed=[closed], cwd=plain_model)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["ascii:strict", "utf-8:strict"])
def test_narrow_encodings_get_escapes(plain_model, encoding):
    env = os.environ | {"PYTHONIOENCODING": encoding}
    given = "a great \N{SNOWMAN} pan"
    result = run_closed(
        "explain", "--model", "m.gramshift", "--json", given, closed=[], cwd=plain_model, env=env
    )
    assert result.returncode == 0
    assert json.loads(result.stdout)[0]["text"] == given
    result = run_closed(
        "explain", "--model", "m.gramshift", given, closed=[], cwd=plain_model, env=env
    )
    assert result.returncode == 0


def test_a_full_disk_behind_standard_output_is_told(plain_model):
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-c", RUN, "info", "m.gramshift"]
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=plain_model, check=False
        )
    assert result.returncode == 1
    assert result.stderr == "gramshift: No space left on device\n"
