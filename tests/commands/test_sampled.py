"""``gramshift classify --sample``: a fit with a sample of the target, then labels for all of it, and runs that are killed."""

import json
import os
import signal
from pathlib import Path

import pytest

import gramshift as gs
from gramshift.commands.classify.options import gather_options
from gramshift.commands.classify.sampling import classify_any
from gramshift.runtime.checkpoint import Checkpoint
from gramshift.text.corpus import sample_rows
from small_demo import load_demo
from small_tables import die_in_a_fork, read_csv, write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
RUN = ["source.csv", "--method", "tkc", "--ngrams", "3-4", "--sample", "40", "--jobs", "1"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "source.csv", ["text", "label"], zip(KITCHEN.texts, KITCHEN.labels, strict=True))
    write_csv(tmp_path / "target.csv", ["id", "text"], enumerate(FILMS.texts))
    Path("parts").mkdir()
    for number in range(3):
        rows = list(enumerate(FILMS.texts))[40 * number : 40 * number + 40]
        write_csv(tmp_path / "parts" / f"p{number}.csv", ["id", "text"], rows)
    return tmp_path


def options(**more):
    return gather_options(
        {"source": ["source.csv"], "target": "target.csv", "method": "tkc", "ngrams": "3-4", "sample": "40", "jobs": 1} | more
    )


def quietly(words):
    pass


def test_it_is_the_fit_of_python_with_that_sample(gramshift, files):
    answer = gramshift("classify", *RUN, "--target", "target.csv", "--output", "out.csv", "--save", "m.gramshift", "--json")
    assert answer.code == 0, answer.err
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 4), n_added=20)
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=gs.open_parts("target.csv"), sample=40)
    rows = read_csv(files / "out.csv")
    assert [row["text"] for row in rows] == FILMS.texts
    assert [row["label"] for row in rows] == clf.transduction_.tolist()
    assert [float(row["p_positive"]) for row in rows] == pytest.approx(clf.transduction_proba_[:, 1].tolist(), abs=1e-6)
    found = json.loads(answer.out)
    assert (found["n_source"], found["n_target"], found["n_sample"]) == (120, 120, 40)
    assert sum(found["labels"].values()) == 120
    assert sum(found["sample_labels"].values()) == 40
    assert found["sentence"].endswith("learnt from 40 of them")
    assert "120 source and 40 of 120 target documents: about" in answer.err
    kept = gs.load("m.gramshift")
    assert kept._fit.model.documents[120:] == [FILMS.texts[row] for row in sample_rows(120, 40, 0)]
    assert gramshift("predict", "--model", "m.gramshift", "--input", "target.csv", "--output", "again.csv").code == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


@pytest.mark.parametrize("sample", ["120", "1000000"])
def test_a_sample_of_all_writes_what_a_run_without_one_does(files, sample):
    classify_any(options(output="all.csv", sample=None), say=quietly)
    classify_any(options(output="out.csv", sample=sample), say=quietly, most_rows=7)
    left_out = ("plain_label", "issue")
    whole = [{name: value for name, value in row.items() if name not in left_out} for row in read_csv(Path("all.csv"))]
    assert read_csv(Path("out.csv")) == whole  # a sample says nothing of plain and of problems in what it leaves out


@pytest.mark.parametrize(
    "target", [["parts/*.csv"], ["parts"], ["parts/p0.csv", "parts/p1.csv", "parts/p2.csv"]], ids=lambda names: names[-1]
)
def test_several_targets_are_one_target_in_several_files(gramshift, files, target):
    gramshift("classify", *RUN, "--target", "target.csv", "--output", "out.csv")
    answer = gramshift("classify", *RUN, *(word for name in target for word in ("--target", name)), "--output", "labels/")
    assert answer.code == 0, answer.err
    whole = Path("out.csv").read_text().splitlines()
    parts = [Path(f"labels/p{number}.csv").read_text().splitlines() for number in range(3)]
    assert [line for part in parts for line in part[1:]] == whole[1:]


@pytest.mark.parametrize("more", [{"method": "best"}, {"landmarks": "50"}, {"method": "tfidf"}], ids=str)
def test_other_methods(files, more):
    result = classify_any(options(output="out.csv", resume="kept", save="m.gramshift", **more), say=quietly, most_rows=50)
    again = classify_any(options(output="again.csv", resume="kept", **more), say=quietly, most_rows=50)
    assert result["labels"] == again["labels"]
    assert Path("out.csv").read_bytes() == Path("again.csv").read_bytes()
    texts = [FILMS.texts[row] for row in sample_rows(120, 40, 0)]
    assert gs.load("m.gramshift").transduction_.tolist() == gs.load("m.gramshift").predict(texts).tolist()


def killed_after(left, **more):
    """The run until the piece after ``left`` is to be saved; 'model' until the model has been saved."""

    def work():
        n_left, save, fits = left, Checkpoint.save, gs.TransductiveClassifier.save

        def save_or_die(self, name, /, **arrays):
            nonlocal n_left
            if n_left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            n_left -= 1
            save(self, name, **arrays)

        def save_and_die(self, path):
            fits(self, path)
            os.kill(os.getpid(), signal.SIGKILL)

        if left == "model":
            gs.TransductiveClassifier.save = save_and_die  # in the fork alone
        else:
            Checkpoint.save = save_or_die
        classify_any(options(**more), say=quietly, most_rows=20)

    return work


def test_killed_in_the_fit_and_among_the_labels_it_goes_on(files):
    """Kill -9 within the gram, after the model was saved, among the labels, again there; then to the end: the same bytes."""
    classify_any(options(output="whole.csv"), say=quietly, most_rows=20)
    run = {"output": "out.csv", "resume": "kept"}
    assert die_in_a_fork(killed_after(1, **run)) == -9
    assert list(Path("kept", "fit").glob("tiles-*.piece")) != []
    assert die_in_a_fork(killed_after("model", **run)) == -9
    assert not Path("kept", "fit.json").exists()
    for n_left, n_there in ((2, 2), (1, 3)):
        assert die_in_a_fork(killed_after(n_left, **run)) == -9
        assert len(list(Path("kept").glob("labels-*.piece"))) == n_there
        assert not Path("out.csv").exists()
    said = []
    result = classify_any(options(**run), say=said.append, most_rows=20)
    assert said[0] == "kept: the fit and 3 finished parts were there already"
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert result["n"] == 120
    assert list(Path().glob(".*.partial")) == []  # what the dead have left


def test_pieces_that_were_damaged_are_made_again(files, caplog):
    classify_any(options(output="whole.csv", resume="kept"), say=quietly, most_rows=20)
    os.truncate("kept/labels-000001.piece", 70)
    said = []
    classify_any(options(output="out.csv", resume="kept"), say=said.append, most_rows=20)
    assert "labels-000001.piece is damaged" in caplog.text
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()
    story = json.loads(Path("kept/fit.json").read_text()) | {"story": {}}
    Path("kept/fit.json").write_text(json.dumps(story))
    classify_any(options(output="more.csv", resume="kept"), say=said.append, most_rows=30)  # other parts, too
    assert any("fit.json or model.gramshift beside it is damaged; the fit has to be done again" in words for words in said)
    assert Path("more.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_a_finished_command_can_be_given_again_with_its_model(gramshift, files):
    command = ["classify", *RUN, "--target", "parts/*.csv", "--output", "labels/", "--resume", "kept", "--save", "m.gramshift"]
    assert gramshift(*command).code == 0
    before = Path("m.gramshift").read_bytes()
    answer = gramshift(*command)
    assert (answer.code, Path("m.gramshift").read_bytes()) == (0, before), answer.err
    Path("m.gramshift").write_bytes(b"of another run")
    answer = gramshift(*command)
    assert (answer.code, Path("m.gramshift").read_bytes()) == (2, b"of another run")
    assert "m.gramshift exists; choose another --save or replace it with --force" in answer.err


def test_a_fit_that_was_damaged_is_not_replaced_unasked(gramshift, files):
    command = ["classify", *RUN, "--target", "parts/*.csv", "--output", "labels/", "--resume", "kept"]
    assert gramshift(*command).code == 0
    model = bytearray(Path("kept/model.gramshift").read_bytes())
    model[len(model) // 2] ^= 1
    Path("kept/model.gramshift").write_bytes(model)
    answer = gramshift(*command)
    assert answer.code == 2
    assert "is damaged; the fit has to be done again" in answer.err
    assert "would label it anew; choose another --output or replace it with --force" in answer.err
    assert gramshift(*command, "--force").code == 0


def test_a_folder_of_another_run_is_refused(gramshift, files):
    run = ["classify", *RUN, "--target", "target.csv", "--resume", "kept", "--output"]
    gramshift(*run, "out.csv")
    answer = gramshift(*run, "other.csv", "--sample", "41")
    assert (answer.code, '--sample is "40" there and "41" here' in answer.err) == (2, True)
    with open("target.csv", "a") as file:
        file.write("new,one more\n")
    answer = gramshift(*run, "other.csv")
    assert (answer.code, "size of target target.csv is" in answer.err) == (2, True)
    assert not Path("other.csv").exists()


def test_a_folder_of_labels_goes_on_with_the_same_fit_only(gramshift, files):
    run = ["classify", *RUN, "--target", "parts", "--output", "labels/"]
    assert gramshift(*run, "--resume", "kept").code == 0
    os.unlink("labels/p1.csv")
    again = gramshift(*run, "--resume", "kept")
    assert "labels/: 2 of 3 files were finished already" in again.err
    assert "120 documents labelled" in again.err
    other = gramshift(*run)
    assert other.code == 2
    assert other.err.count("\n") == 1  # before anything is read
    assert "labels/p0.csv exists, and a new fit would label it anew; give the --resume that it was made with" in other.err
    assert gramshift(*run, "--force").code == 0


def test_the_target_is_read_part_by_part(files, monkeypatch):
    """Once to draw and once to label, never more than so many rows at a time, and no column of it is kept."""
    from gramshift.commands.classify import sampling

    asked, most, open_table = [], 0, sampling.open_table

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

    monkeypatch.setattr(sampling, "open_table", lambda *given, **more: Watched(open_table(*given, **more)))
    classify_any(options(output="out.csv"), say=quietly, most_rows=9)
    assert asked == [9, 9]
    assert most == 9


def test_a_dry_run_tells_and_stops(gramshift, files):
    answer = gramshift("classify", *RUN, "--target", "parts", "--dry-run", "--resume", "kept", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n_target"] == 120
    assert not Path("kept").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--sample", "0"], "--sample 0: give a number of target documents such as 100000"),
        (["--sample", "0.5"], "--sample 0.5: give a number"),
        (["--report", "x.html"], "--report is for runs that have the whole target in view"),
        (["--truth", "label"], "--truth is for runs"),
        (["--corrections", "x.csv"], "--corrections is for runs"),
        (["--target", "-"], "which standard input cannot"),
        (["--target", "none/*.csv"], "--target none/*.csv: no file has a name like this"),
        (["--target", "source.csv"], "--target source.csv is also a source"),
        (["--target", "parts", "--output", "x.csv"], "4 files are to be labelled, but --output x.csv is the name of one file"),
        (["--engine", "dask"], "--engine dask gives each worker a file of its own"),
        (["--save", "-"], "--save cannot go to standard output"),
        (["--save", "target.csv"], "--save target.csv is also an input"),
        (["--output", "source.csv"], "--output source.csv is also an input"),
        (["--resume", "no/kept"], "no such folder"),
        (["--memory", "100MB"], "do not fit into"),
    ],
)
def test_wrong_options_are_refused_before_any_work(gramshift, files, more, words):
    answer = gramshift("classify", *RUN, "--target", "target.csv", "--output", "out.csv", *more)
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert not Path("out.csv").exists()


def test_several_targets_or_none_need_more(gramshift, files):
    answer = gramshift("classify", "source.csv", "--target", "parts/p0.csv", "--target", "parts/p1.csv", "--output", "x")
    assert (answer.code, "goes with --sample 100000 alone" in answer.err) == (2, True)
    answer = gramshift("classify", "source.csv", "--sample", "3", "--output", "x.csv")
    assert (answer.code, "--sample draws from the target; name it with --target" in answer.err) == (2, True)
    answer = gramshift("classify", "source.csv", "--target", "target.csv", "--sample", "3", "--save", "x")
    assert (answer.code, "name where it goes with --output" in answer.err) == (2, True)


def test_a_bad_target_is_named_before_the_fit(gramshift, files):
    Path("parts/p3.jsonl").write_text('{"text": 3}\n')
    answer = gramshift("classify", *RUN, "--target", "parts", "--output", "labels/")
    assert (answer.code, answer.err) == (
        2,
        "gramshift: parts/p3.jsonl, line 1: 'text' is 3 (int); a text is a string in quotes\n",
    )
    assert not Path("labels").exists()
