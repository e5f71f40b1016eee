"""``gramshift predict`` on many files: into a folder, resumed, at URLs, and with bad files."""

import json
import os
import signal
import sys
import weakref
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import fsspec
import numpy as np
import pytest

import gramshift as gs
from gramshift.commands.label import many_files
from gramshift.commands.label.one_file import label_table
from gramshift.commands.label.records import check_finished, write_record
from gramshift.commands.outputs import FileJob
from gramshift.commands.predict import predict
from gramshift.errors import MissingPackageError
from gramshift.files import identify, replaced_file
from gramshift.tables.columns import find_columns
from gramshift.tables.table import Table, TablePart, TableStyle
from small_demo import load_demo
from small_tables import die_in_a_fork, write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.gramshift"
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 4), n_added=20).fit(
        KITCHEN.texts[:60], KITCHEN.labels[:60], target=FILMS.texts[:60]
    )
    clf.save(path)
    return str(path)


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Three files of three formats in parts/, which is in the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "parts"
    folder.mkdir()
    write_csv(folder / "a.csv", ["id", "text"], enumerate(FILMS.texts[:30]))
    (folder / "b.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in FILMS.texts[30:70])
    )
    write_csv(folder / "c.tsv", ["text"], [[text] for text in FILMS.texts[70:80]])
    return folder


def contents(folder):
    return {
        path.name: path.read_bytes() for path in sorted(Path(folder).iterdir()) if path.is_file()
    }


@pytest.fixture
def expected(parts, model):
    """Return the labels of each file by itself."""
    for path in sorted(parts.iterdir()):
        predict(model, str(path), f"alone-{path.name}")
    return {path.name: Path(f"alone-{path.name}").read_bytes() for path in sorted(parts.iterdir())}


@pytest.mark.parametrize(
    "inputs",
    [
        ["parts/*.*"],
        ["parts"],
        ["parts/a.csv", "parts/b.jsonl", "parts/c.tsv"],
        ["parts/*.csv", "parts"],
    ],
)
def test_each_file_becomes_one_of_its_name_in_the_folder(gramshift, model, expected, inputs):
    answer = gramshift(
        "predict", "--model", model, "--input", *inputs, "--output", "labels/", "--json"
    )
    assert answer.code == 0, answer.err
    assert contents("labels") == expected
    found = json.loads(answer.out)
    assert [(one["output"], one["n"], one["kept"]) for one in found["files"]] == [
        ("labels/a.csv", 30, False),
        ("labels/b.jsonl", 40, False),
        ("labels/c.tsv", 10, False),
    ]
    assert (found["n"], found["bad"], sum(found["labels"].values())) == (80, [], 80)
    assert [path for path in Path("labels").iterdir() if path.name.endswith(".partial")] == []


def test_a_folder_that_is_there_takes_a_single_file_too(gramshift, model, expected):
    Path("labels").mkdir()
    assert (
        gramshift("predict", "--model", model, "--input", "parts/a.csv", "--output", "labels").code
        == 0
    )
    assert contents("labels") == {"a.csv": expected["a.csv"]}


def test_several_files_make_the_folder_that_is_named(gramshift, model, expected):
    answer = gramshift(
        "predict", "--model", model, "-i", "parts/a.csv", "-i", "parts/c.tsv", "-o", "labels"
    )
    assert "Result: 40 documents labelled in 2 files" in answer.out
    assert sorted(contents("labels")) == ["a.csv", "c.tsv"]


def test_records_that_are_a_link_are_refused(gramshift, model, parts):
    os.makedirs("labels")
    os.makedirs("elsewhere")
    Path("elsewhere/a.csv.json").write_text("precious")
    os.symlink("../elsewhere", "labels/.gramshift")
    answer = gramshift("predict", "--model", model, "--input", "parts", "--output", "labels/")
    assert answer.code == 2
    assert "labels/.gramshift is a link; it should be a folder of ours" in answer.err
    assert [path.name for path in Path("elsewhere").iterdir()] == ["a.csv.json"]
    assert Path("elsewhere/a.csv.json").read_text() == "precious"


def test_finished_files_stay_and_missing_ones_are_done(gramshift, model, expected, parts):
    run = ["predict", "--model", model, "--input", "parts", "--output", "labels/"]
    gramshift(*run)
    os.unlink("labels/b.jsonl")
    times = {path.name: path.stat().st_mtime_ns for path in Path("labels").iterdir()}
    os.utime("parts/a.csv", ns=(1, 1))  # another time, the same content
    answer = gramshift(*run, "--json")
    assert answer.code == 0, answer.err
    assert "labels/: 2 of 3 files were finished already" in answer.err
    found = json.loads(answer.out)
    assert [one["kept"] for one in found["files"]] == [True, False, True]
    assert found["n"] == 80
    assert contents("labels") == expected
    assert all(
        times[name] == Path("labels", name).stat().st_mtime_ns for name in ("a.csv", "c.tsv")
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: ["--abstain-below", "0.6"], "it was made with another --abstain-below"),
        (lambda: ["--text", "text"], "it was made with another --text"),
        (lambda: ["--model", "other.gramshift"], "it was made with another model"),
        (
            lambda: Path("parts/a.csv").write_text("text\nanother one\n") and [],
            "parts/a.csv has changed since it was made",
        ),
        (
            lambda: Path("labels/a.csv").write_text("mine") and [],
            "it is not as this command wrote it",
        ),
        (
            lambda: os.unlink("labels/.gramshift/a.csv.json") or [],
            "it is not as this command wrote it",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:fit got no target")
def test_what_was_made_of_something_else_is_refused_and_replaced_by_force(
    gramshift, model, expected, change, words
):
    gs.TransductiveClassifier(preset="paper", ngram_range=(2, 3)).fit(
        KITCHEN.texts[:60], KITCHEN.labels[:60]
    ).save("other.gramshift")
    run = ["predict", "--model", model, "--input", "parts", "--output", "labels/"]
    gramshift(*run)
    more = change()
    before = contents("labels")
    answer = gramshift(*run, *more)
    assert answer.code == 2
    assert answer.err.startswith(f"gramshift: labels/a.csv exists, and {words}; choose another")
    assert "--force" in answer.err
    assert contents("labels") == before
    assert gramshift(*run, *more, "--force").code == 0
    assert gramshift(*run, *more).code == 0  # now it is of these
    if more == [] and "parts" not in words:
        assert contents("labels") == expected


FOUND = {"n": 2, "labels": {"no": 1, "yes": 1}, "abstained": 0, "confidence": 1.5}
UNUSABLE = {
    "empty": b"",
    "nested": b"{" * 100_000,
    "a list": b"[]",
    "no text": b"\xff\xfe\x00",
    "incomplete": b'{"run": 3}',
    "negative counts": {"found": FOUND | {"n": -1}},
    "counts as text": {"found": FOUND | {"labels": {"no": "2"}}},
    "counts that do not add up": {"found": FOUND | {"n": 3}},
    "confidence that is no number": {"found": FOUND | {"confidence": float("nan")}},
    "labels in a list": {"found": FOUND | {"labels": [2]}},
    "another output": {"output": {"size": 1}},
    "output without a size": {"output": {}},
    "output that is a number": {"output": 3},
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_record_that_cannot_be_used_is_no_record(parts, name):
    Path("labels.csv").write_text("text,label\na,no\nb,yes\n")
    job = FileJob("parts/a.csv", f"{parts.parent}/labels.csv", "parts/a.csv")
    key = {"model": "a digest"}
    output = identify(job.output, digest=True)
    write_record(job, key, identify(job.input, digest=True), output, FOUND)
    assert check_finished(job, key) == (FOUND, "")
    content = UNUSABLE[name]
    if isinstance(content, dict):
        content = json.dumps(json.loads(Path(job.record).read_text()) | content).encode()
    Path(job.record).write_bytes(content)
    assert check_finished(job, key) == (None, "it is not as this command wrote it")


def test_bad_files_are_named_and_the_others_done(gramshift, model, expected, parts):
    (parts / "d.jsonl").write_text('{"text": "fine"}\n{"text": \n')
    (parts / "e.csv").write_text("one,two\n1,2\n")
    (parts / "f.csv").write_bytes(b"text\ncaf\xe9\n")
    (parts / "g.parquet").write_bytes(b"PAR1 no more")
    (parts / "h.csv").symlink_to("nowhere")
    answer = gramshift(
        "predict",
        "--model",
        model,
        "--input",
        "parts",
        "--output",
        "labels/",
        "--json",
    )
    assert answer.code == 2
    assert contents("labels") == expected
    lines = answer.err.splitlines()
    assert lines[0].startswith("parts/d.jsonl, line 2 is not JSON")
    assert lines[1].startswith("parts/e.csv has the columns one, two, none of them a usual name")
    assert lines[2].startswith("parts/f.csv, line 2: the byte 0xe9 is not utf-8")
    assert lines[3].startswith("parts/g.parquet is not a parquet file")
    assert lines[4] == "parts/h.csv: No such file or directory"
    assert lines[5].startswith(
        "gramshift: 5 of 8 files could not be labelled: parts/d.jsonl, parts/e.csv, parts/f.csv, "
    )
    assert len(lines) == 6
    found = json.loads(answer.out)
    assert [one["input"] for one in found["bad"]] == [
        f"parts/{name}" for name in ("d.jsonl", "e.csv", "f.csv", "g.parquet", "h.csv")
    ]
    assert found["n"] == 80
    assert sorted(os.listdir("labels/.gramshift")) == ["a.csv.json", "b.jsonl.json", "c.tsv.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--input", "none/*.csv", "--output", "labels/"],
            "--input none/*.csv: no file has a name like this",
        ),
        (
            ["--input", "empty", "--output", "labels/"],
            "empty has no tables, such as .csv or .jsonl files",
        ),
        (
            ["--input", "parts"],
            "3 files are to be labelled, which cannot all go to standard output; give --output",
        ),
        (
            ["--input", "parts", "--output", "x.csv"],
            "but --output x.csv is the name of one file; give --output a folder",
        ),
        (
            ["--input", "parts", "--output", "run.sh"],
            "but --output run.sh is a file; give --output a folder",
        ),
        (
            ["--input", "parts", "more", "--output", "labels/"],
            "parts/a.csv and more/a.csv would both become labels/a.csv",
        ),
        (
            ["--input", "parts", "--output", "parts/"],
            "--output parts/: parts/a.csv would be lost; choose another folder",
        ),
        (["--input", "parts", "--output", "no/labels/"], "there is no folder"),
        (
            ["--input", "-", "--output", "labels/"],
            "standard input has no name that a file in a folder could have",
        ),
        (
            ["--input", "parts", "-", "--output", "labels/"],
            "give it by itself, and --output a file",
        ),
        (["--input", "parts", "--output", "labels/", "--abstain-below", "2"], "--abstain-below 2"),
        (
            ["--input", "parts", "--output", "labels/", "--engine", "ray"],
            "--engine ray: there are threads, dask",
        ),
        (
            ["--input", "parts", "--output", "labels/", "--scheduler", "tcp://x:1"],
            "is for Dask; add --engine dask",
        ),
        (
            ["--input", "parts/a.csv", "--output", "x.csv", "--engine", "dask"],
            "--engine dask gives each worker a file",
        ),
        (
            ["--input", "parts", "--output", "labels/", "--model", "run.sh"],
            "run.sh is not a Gramshift model, or not a whole one",
        ),
        (["--input", "odd/*.csv", "--output", "labels/"], "odd/b.csv is a pipe or a device"),
        (["--input", "odd", "--output", "labels/"], "odd/b.csv is a pipe or a device"),
        (
            ["--input", "nope://x/*.csv", "--output", "labels/"],
            "nope://x/*.csv cannot be reached: Protocol not known: nope",
        ),
        (
            ["--input", "memory://none.csv", "--output", "labels/"],
            "memory://none.csv: there is no such file",
        ),
    ],
)
def test_mistakes_are_one_line_before_any_work(gramshift, model, parts, tmp_path, arguments, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_SUCCESS").touch()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.csv").write_text("text\nx\n")
    (tmp_path / "run.sh").touch()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "a.csv").write_text("text\nx\n")
    (tmp_path / "odd" / "b.csv").symlink_to(os.devnull)
    before = sorted(tmp_path.rglob("*"))
    answer = gramshift("predict", "--model", model, *arguments)
    assert answer.code == 2
    assert words in answer.err
    if "none.csv" not in words:  # a file that is not there is a bad file among others
        assert len(answer.err.splitlines()) == 1
        assert sorted(tmp_path.rglob("*")) == before


def test_names_without_an_end_and_texts_in_folders(gramshift, model, parts):
    """Label files as Spark writes them, and a folder of .txt files, which is one table."""
    (parts.parent / "spark").mkdir()
    for number in range(2):
        (parts.parent / "spark" / f"part-{number}").write_text(
            json.dumps({"text": FILMS.texts[number]}) + "\n"
        )
    (parts.parent / "spark" / "_SUCCESS").touch()
    answer = gramshift(
        "predict", "--model", model, "--input", "spark", "--format", "jsonl", "--output", "labels/"
    )
    assert answer.code == 0, answer.err
    assert sorted(contents("labels")) == ["part-0.jsonl", "part-1.jsonl"]
    (parts.parent / "notes").mkdir()
    (parts.parent / "notes" / "one.txt").write_text("a good film")
    assert gramshift("predict", "--model", model, "--input", "notes", "--output", "more/").code == 0
    assert Path("more/notes.csv").read_text().splitlines()[0].startswith("id,label,")
    (parts.parent / "notes" / "one.txt").write_text("a bad film.")
    assert (
        "notes has changed since"
        in gramshift("predict", "--model", model, "--input", "notes", "--output", "more/").err
    )


def test_killed_at_the_worst_moment_it_goes_on(model, expected, read_rows):
    """Kill it twice after a record is written and before the file appears."""

    def label_until(left):
        write = many_files.write_record

        def write_and_die(*arguments):
            nonlocal left
            write(*arguments)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        many_files.write_record = write_and_die  # in the fork alone
        predict(model, "parts", "labels/")

    read_rows(7)
    for left, code, n_there in ((2, -9, 1), (1, -9, 1), (9, 0, 3)):
        assert die_in_a_fork(partial(label_until, left)) == code
        whole = {
            name: content
            for name, content in contents("labels").items()
            if not name.endswith(".partial")
        }
        assert whole == dict(list(expected.items())[:n_there])


def test_ctrl_c_leaves_finished_files_and_no_half_ones(model, expected, read_rows):
    read_rows(5)

    def stop(stage, done, total):
        if Path("labels/a.csv").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict(model, ["parts/a.csv", "parts/b.jsonl"], "labels/", progress=stop)
    assert contents("labels") == {"a.csv": expected["a.csv"]}


def test_progress_goes_over_all_files(model, parts, read_rows):
    read_rows(5)
    calls = []
    predict(model, "parts", "labels/", progress=lambda *call: calls.append(call))
    assert {stage for stage, _, _ in calls} == {"labelling"}
    assert len({total for _, _, total in calls}) == 1
    done = [one for _, one, _ in calls]
    assert done == sorted(done)
    assert done[-1] == calls[0][2]


def test_a_file_that_changes_while_it_is_read_is_no_finished_one(model, parts):
    def change(stage, done, total):
        with open("parts/a.csv", "a") as file:
            file.write("99,more\n")

    result = predict(model, ["parts/a.csv"], "labels/", progress=change, say=lambda words: None)
    assert result["files"] == []
    assert "parts/a.csv was changed while it was read" in result["bad"][0]["error"]
    assert contents("labels") == {}


def test_no_more_than_two_parts_are_ever_held(read_rows):
    """A part is forgotten when the one after the next is read, whatever the size of a table."""
    alive, most, asked = [], 0, []

    def parts(size):
        nonlocal most
        asked.append(size)
        for start in range(0, 10_000, size):
            part = TablePart([{"text": "x"}] * size, list(range(start, start + size)))
            alive.append(weakref.ref(part))
            most = max(most, sum(one() is not None for one in alive))
            yield part
            del part

    table = Table("table", ["text"], TableStyle("jsonl"), parts, lambda: (0, 0))
    classifier = SimpleNamespace(
        classes_=np.array(["no", "yes"]),
        predict_proba=lambda texts: np.tile([0.25, 0.75], (len(texts), 1)),
    )
    read_rows(50)
    with open(os.devnull, "wb") as file:
        found = label_table(
            classifier, table, find_columns(table), file, "x.jsonl", abstain_below=None
        )
    assert found == {
        "n": 10_000,
        "labels": {"no": 0, "yes": 10_000},
        "abstained": 0,
        "confidence": 7500.0,
        "renamed": None,
    }
    assert asked == [50]
    assert most <= 2


@pytest.fixture
def memory():
    """A file system in memory, as empty as it was."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_files_elsewhere_are_read_and_written_through_fsspec(
    gramshift, model, expected, parts, memory
):
    for path in parts.iterdir():
        memory.pipe_file(f"/bucket/parts/{path.name}", path.read_bytes())
    run = [
        "predict",
        "--model",
        model,
        "--input",
        "memory://bucket/parts/*",
        "--output",
        "memory://bucket/labels/",
    ]
    answer = gramshift(*run)
    assert answer.code == 0, answer.err
    found = {
        name.rpartition("/")[2]: memory.cat_file(name)
        for name in memory.find("/bucket/labels")
        if ".gramshift" not in name
    }
    assert found == expected
    memory.rm("/bucket/labels/b.jsonl")
    assert "2 of 3 files were finished already" in gramshift(*run).err
    memory.pipe_file("/bucket/parts/a.csv", b"text\nanother\n")
    assert "memory://bucket/parts/a.csv has changed since it was made" in gramshift(
        *run
    ).err.replace("///", "//").replace("//b", "//b")
    assert [name for name in memory.find("/bucket") if name.endswith(".partial")] == []


def test_one_file_elsewhere_and_one_here(gramshift, model, expected, memory):
    memory.pipe_file("/a.csv", Path("parts/a.csv").read_bytes())
    assert (
        gramshift(
            "predict", "--model", model, "--input", "memory://a.csv", "--output", "here.csv"
        ).code
        == 0
    )
    assert Path("here.csv").read_bytes() == expected["a.csv"]
    url = f"file://{Path('there.csv').absolute()}"
    run = ["predict", "--model", model, "--input", "parts/a.csv", "--output", url]
    assert gramshift(*run).code == 0
    assert Path("there.csv").read_bytes() == expected["a.csv"]
    again = gramshift(*run)
    assert (again.code, f"{url} exists; choose another --output" in again.err) == (2, True)
    assert gramshift(*run, "--force").code == 0


def test_without_fsspec_a_url_says_what_to_install(gramshift, model, parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    answer = gramshift(
        "predict", "--model", model, "--input", "s3://bucket/parts/*.jsonl", "--output", "labels/"
    )
    assert answer.code == 2
    assert answer.err.startswith(
        "gramshift: s3://bucket/parts/*.jsonl: files at a URL are read and written through fsspec"
    )
    assert answer.err.endswith("pip install fsspec\n")
    with pytest.raises(MissingPackageError), replaced_file("s3://bucket/x"):
        pass
