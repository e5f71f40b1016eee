"""``gramshift classify --fit-on``: fit on a sample of the target, then label all of it."""

import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest

import gramshift as gs
from gramshift.commands.classify import large_target
from gramshift.commands.classify.large_target import SEED
from gramshift.commands.classify.options import gather_options
from gramshift.commands.classify.reservoir import Reservoir
from gramshift.commands.classify.run import classify
from gramshift.commands.label import many_files, one_file
from small_demo import load_demo
from small_tables import die_in_a_fork, read_csv, write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
RUN = ["source.csv", "--method", "tkc", "--ngrams", "3-4", "--fit-on", "40", "--jobs", "1"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(
        tmp_path / "source.csv", ["text", "label"], zip(KITCHEN.texts, KITCHEN.labels, strict=True)
    )
    write_csv(tmp_path / "target.csv", ["id", "text"], enumerate(FILMS.texts))
    Path("parts").mkdir()
    for number in range(3):
        rows = list(enumerate(FILMS.texts))[40 * number : 40 * number + 40]
        write_csv(tmp_path / "parts" / f"p{number}.csv", ["id", "text"], rows)
    return tmp_path


def options(**more):
    return gather_options(
        {
            "source": ["source.csv"],
            "target": "target.csv",
            "method": "tkc",
            "ngrams": "3-4",
            "fit_on": "40",
            "jobs": 1,
        }
        | more
    )


def draw(size):
    reservoir = Reservoir(size, SEED)
    reservoir.add(FILMS.texts)
    return reservoir.take()[1]


def quietly(words):
    pass


def test_it_is_the_fit_of_python_with_that_sample(gramshift, files):
    answer = gramshift(
        "classify",
        *RUN,
        "--target",
        "target.csv",
        "--output",
        "out.csv",
        "--save",
        "m.gramshift",
        "--json",
    )
    assert answer.code == 0, answer.err
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 4), n_added=20)
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=draw(40))
    rows = read_csv(files / "out.csv")
    assert [row["text"] for row in rows] == FILMS.texts
    assert [row["label"] for row in rows] == clf.predict(FILMS.texts).tolist()
    assert [float(row["p_positive"]) for row in rows] == pytest.approx(
        clf.predict_proba(FILMS.texts)[:, 1].tolist(), abs=1e-6
    )
    found = json.loads(answer.out)
    assert (found["n_source"], found["n_target"], found["n_fit_on"]) == (120, 120, 40)
    assert sum(found["labels"].values()) == 120
    assert sum(found["fit_on_labels"].values()) == 40
    assert found["sentence"].endswith("learnt from 40 of them")
    assert "120 source and 40 of 120 target documents: about" in answer.err
    kept = gs.load("m.gramshift")
    assert kept.result_.model.documents[120:] == draw(40)
    assert (
        gramshift(
            "predict", "--model", "m.gramshift", "--input", "target.csv", "--output", "again.csv"
        ).code
        == 0
    )
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


@pytest.mark.parametrize("n", ["120", "1000000"])
def test_a_sample_of_all_writes_what_a_run_without_one_does(files, n, read_rows):
    read_rows(7)
    classify(options(output="all.csv", fit_on=None), say=quietly)
    classify(options(output="out.csv", fit_on=n), say=quietly)
    left_out = ("plain_label", "issue")
    whole = [
        {name: value for name, value in row.items() if name not in left_out}
        for row in read_csv(Path("all.csv"))
    ]
    assert (
        read_csv(Path("out.csv")) == whole
    )  # a sample says nothing of plain and of problems in what it leaves out


@pytest.mark.parametrize(
    "target",
    [["parts/*.csv"], ["parts"], ["parts/p0.csv", "parts/p1.csv", "parts/p2.csv"]],
    ids=lambda names: names[-1],
)
def test_several_targets_are_one_target_in_several_files(gramshift, files, target):
    gramshift("classify", *RUN, "--target", "target.csv", "--output", "out.csv")
    answer = gramshift(
        "classify",
        *RUN,
        *(word for name in target for word in ("--target", name)),
        "--output",
        "labels/",
    )
    assert answer.code == 0, answer.err
    whole = Path("out.csv").read_text().splitlines()
    parts = [Path(f"labels/p{number}.csv").read_text().splitlines() for number in range(3)]
    assert [line for part in parts for line in part[1:]] == whole[1:]


@pytest.mark.parametrize(
    "more", [{"method": "best"}, {"method": "plain"}, {"method": "tkc"}], ids=str
)
def test_other_methods(files, more, read_rows):
    read_rows(50)
    result = classify(options(output="out.csv", save="m.gramshift", **more), say=quietly)
    read_rows(7)
    again = classify(options(output="again.csv", **more), say=quietly)
    assert result["labels"] == again["labels"]
    assert Path("out.csv").read_bytes() == Path("again.csv").read_bytes()
    texts = draw(40)
    assert (
        gs.load("m.gramshift").transduction_.tolist()
        == gs.load("m.gramshift").predict(texts).tolist()
    )


def test_killed_among_the_labels_it_leaves_whole_files_and_predict_goes_on(gramshift, files):
    """Kill it after the second of three files is written and before it appears."""
    classify(options(target=["parts"], output="whole/"), say=quietly)
    run = options(target=["parts"], output="labels/", save="m.gramshift")

    def die():
        write, left = many_files.write_record, 2

        def write_and_die(*arguments):
            nonlocal left
            write(*arguments)
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        many_files.write_record = write_and_die  # in the fork alone
        classify(run, say=quietly)

    assert die_in_a_fork(die) == -9
    assert [path.name for path in Path("labels").glob("*.csv")] == ["p0.csv"]
    answer = gramshift(
        "predict", "--model", "m.gramshift", "--input", "parts", "--output", "labels/"
    )
    assert answer.code == 0, answer.err
    assert "labels/: 1 of 3 files were finished already" in answer.err
    for name in ("p0.csv", "p1.csv", "p2.csv"):
        assert Path("labels", name).read_bytes() == Path("whole", name).read_bytes()


def test_killed_within_one_file_it_leaves_none(files, read_rows):
    read_rows(20)

    def die():
        classify(options(output="out.csv", save="m.gramshift"), say=quietly, progress=kill_late)

    def kill_late(stage, done, total):
        if stage == "labelling" and 2 * done > total:
            os.kill(os.getpid(), signal.SIGKILL)

    assert die_in_a_fork(die) == -9
    assert not Path("out.csv").exists()
    assert not Path("m.gramshift").exists()


def test_a_folder_of_labels_is_not_replaced_unasked(gramshift, files):
    run = ["classify", *RUN, "--target", "parts", "--output", "labels/"]
    assert gramshift(*run).code == 0
    other = gramshift(*run)
    assert other.code == 2
    assert other.err.count("\n") == 1  # before anything is read
    assert "labels/p0.csv exists, and a new fit would label it" in other.err
    assert gramshift(*run, "--force").code == 0


def test_the_target_is_read_part_by_part(files, monkeypatch, read_rows):
    """Read it once to draw and once to label, never more than MAX_ROWS rows at a time."""
    asked, most, open_table = [], 0, large_target.open_table

    class Watched:
        def __init__(self, opened):
            self.opened = opened

        def __enter__(self):
            table = self.opened.__enter__()
            read = table.parts

            def parts(size):
                nonlocal most
                asked.append(size)
                for part in read(size):
                    most = max(most, len(part.rows))
                    yield part

            object.__setattr__(table, "parts", parts)
            return table

        def __exit__(self, *about):
            return self.opened.__exit__(*about)

    for module in (large_target, one_file):
        monkeypatch.setattr(
            module, "open_table", lambda *given, **more: Watched(open_table(*given, **more))
        )
    read_rows(9)
    classify(options(output="out.csv"), say=quietly)
    assert asked == [9, 9]
    assert most == 9


def test_a_dry_run_tells_and_stops(gramshift, files):
    answer = gramshift("classify", *RUN, "--target", "parts", "--dry-run", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n_target"] == 120


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--fit-on", "0"], "--fit-on 0: give a number of target documents such as 100000"),
        (["--fit-on", "0.5"], "--fit-on 0.5: give a number"),
        (["--report", "x.html"], "--report is for runs that have the whole target in view"),
        (["--truth", "label"], "--truth is for runs"),
        (["--corrections", "x.csv"], "--corrections is for runs"),
        (["--target", "-"], "which standard input cannot"),
        (["--target", "none/*.csv"], "--target none/*.csv: no file has a name like this"),
        (["--target", "source.csv"], "--target source.csv is also a source"),
        (
            ["--target", "parts", "--output", "x.csv"],
            "4 files are to be labelled, but --output x.csv is the name of one file",
        ),
        (["--method", "tfidf"], "--fit-on goes with plain, adapted, tkc, best"),
        (["--engine", "dask"], "--engine dask gives each worker a file of its own"),
        (["--save", "-"], "--save cannot go to standard output"),
        (["--save", "target.csv"], "--save target.csv is also an input"),
        (["--output", "source.csv"], "--output source.csv is also an input"),
        (["--memory", "100MB"], "but the memory limit is 95.4 MiB: allow more memory"),
    ],
)
def test_wrong_options_are_refused_before_any_work(gramshift, files, more, words):
    answer = gramshift("classify", *RUN, "--target", "target.csv", "--output", "out.csv", *more)
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert not Path("out.csv").exists()


def test_missing_packages_for_dask_are_reported_before_any_work(gramshift, files, monkeypatch):
    run = ["classify", *RUN, "--target", "target.csv", "--output", "out/", "--engine", "dask"]
    for package in ("cryptography", "distributed"):
        monkeypatch.setitem(sys.modules, package, None)
        answer = gramshift(*run)
        assert (answer.code, answer.out) == (2, "")
        assert re.search("--engine dask needs .*gramshift\\[dask\\]'\n$", answer.err)
        assert not Path("out").exists()


def test_several_targets_or_none_need_more(gramshift, files):
    answer = gramshift(
        "classify",
        "source.csv",
        "--target",
        "parts/p0.csv",
        "--target",
        "parts/p1.csv",
        "--output",
        "x",
    )
    assert (answer.code, "goes with --fit-on 100000 alone" in answer.err) == (2, True)
    answer = gramshift("classify", "source.csv", "--fit-on", "3", "--output", "x.csv")
    assert (answer.code, "--fit-on draws from the target; name it with --target" in answer.err) == (
        2,
        True,
    )
    answer = gramshift(
        "classify", "source.csv", "--target", "target.csv", "--fit-on", "3", "--save", "x"
    )
    assert (answer.code, "name where it goes with --output" in answer.err) == (2, True)


def test_a_bad_target_is_named_before_the_fit(gramshift, files):
    Path("parts/p3.jsonl").write_text('{"text": 3}\n')
    answer = gramshift("classify", *RUN, "--target", "parts", "--output", "labels/")
    assert (answer.code, answer.err) == (
        2,
        "gramshift: parts/p3.jsonl, line 1: 'text' is 3 (int); a text is a string in quotes\n",
    )
    assert not Path("labels").exists()
