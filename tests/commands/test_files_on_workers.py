"""``predict`` and ``classify --fit-on`` with Dask workers."""

import json
import os
import signal
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import gramshift as gs
from gramshift.commands.label.many_files import label_on_worker, load_shared
from gramshift.commands.label.one_file import LabelOptions
from gramshift.commands.outputs import FileJob
from gramshift.commands.predict import predict
from small_demo import load_demo
from small_tables import write_csv

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
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    for number in range(12):
        write_csv(
            tmp_path / "parts" / f"p{number:02d}.csv",
            ["text"],
            [[text] for text in FILMS.texts[10 * number :][:10]],
        )
    return tmp_path


def contents(folder):
    return {
        path.name: path.read_bytes() for path in sorted(Path(folder).iterdir()) if path.is_file()
    }


def quietly(words):
    pass


def test_the_bytes_are_those_of_a_run_without_workers(cluster, gramshift, model, parts):
    run = ["predict", "--model", model, "--input", "parts", "--output"]
    gramshift(*run, "here/")
    answer = gramshift(
        *run, "there/", "--engine", "dask", "--scheduler", cluster.scheduler.address, "--json"
    )
    assert answer.code == 0, answer.err
    assert contents("there") == contents("here")
    assert json.loads(answer.out)["n"] == 120
    again = gramshift(*run, "there/")  # who has written them does not matter
    assert "there/: 12 of 12 files were finished already" in again.err


def test_progress_counts_the_files_of_workers(cluster, model, parts):
    told = []
    predict(
        model,
        "parts",
        "labels/",
        engine="dask",
        scheduler=cluster.scheduler.address,
        progress=lambda *call: told.append(call),
        say=quietly,
    )
    assert told == [("labelling", done, 12) for done in range(13)]


def test_a_lost_worker_changes_nothing_but_time(cluster, model, parts):
    victims = list(cluster.run(os.getpid).values())[:1]

    def kill(stage, done, total):
        if done == 1 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    result = predict(
        model,
        "parts",
        "labels/",
        engine="dask",
        scheduler=cluster.scheduler.address,
        progress=kill,
        say=quietly,
    )
    assert victims == []
    predict(model, "parts", "here/", say=quietly)
    assert {
        name: data for name, data in contents("labels").items() if not name.endswith(".partial")
    } == contents("here")
    assert result["bad"] == []
    assert [one["n"] for one in result["files"]] == [10] * 12


def test_a_bad_file_is_named_as_the_user_knows_it_and_the_others_are_done(
    cluster, gramshift, model, parts
):
    Path("parts/p03.csv").write_text('text\n"never closed\n')
    answer = gramshift(
        "predict",
        "--model",
        model,
        "--input",
        "parts",
        "--output",
        "labels/",
        "--engine",
        "dask",
        "--scheduler",
        cluster.scheduler.address,
    )
    assert answer.code == 2
    lines = answer.err.splitlines()
    assert lines[0] == "parts/p03.csv, line 2: a quote opens here and never closes"
    assert lines[-1].startswith("gramshift: 1 of 12 files could not be labelled: parts/p03.csv; ")
    assert len(contents("labels")) == 11


def test_a_model_is_refused_before_any_work(gramshift, model, parts):
    gs.TransductiveClassifier(kernel="rows").fit(np.eye(8), [0, 1] * 4, target=np.eye(8)).save(
        "rows.gramshift"
    )
    Path("cut.gramshift").write_bytes(Path(model).read_bytes()[:-100])
    for name, words in {
        "rows": "was fitted on rows of numbers",
        "cut": "is not a Gramshift model, or not a whole one",
    }.items():
        run = [
            "predict",
            "--model",
            f"{name}.gramshift",
            "--input",
            "parts",
            "--output",
            "labels/",
            "--engine",
            "dask",
        ]
        answer = gramshift(*run)
        assert answer.code == 2
        assert answer.err.startswith(f"gramshift: {name}.gramshift {words}")
        assert not Path("labels").exists()


def test_the_second_half_of_a_run_with_a_sample(cluster, gramshift, parts):
    write_csv(
        parts / "source.csv", ["text", "label"], zip(KITCHEN.texts, KITCHEN.labels, strict=True)
    )
    run = [
        "classify",
        "source.csv",
        "--target",
        "parts",
        "--ngrams",
        "3-4",
        "--fit-on",
        "40",
        "--output",
    ]
    gramshift(*run, "here/")
    answer = gramshift(*run, "there/", "--engine", "dask", "--scheduler", cluster.scheduler.address)
    assert answer.code == 0, answer.err
    assert contents("there") == contents("here")


def test_a_worker_loads_a_model_once_and_checks_it(model, parts):
    data = Path(model).read_bytes()
    key = {"model": sha256(data).hexdigest()}
    Path("labels").mkdir()
    job = FileJob(
        os.path.abspath("parts/p00.csv"), os.path.abspath("labels/p00.csv"), "parts/p00.csv"
    )
    label = partial(label_on_worker, options=LabelOptions(), job=job)
    found = label(model, key)
    assert found["n"] == 10
    loaded = load_shared(model, key["model"])
    assert label(data, key)["labels"] == found["labels"]
    assert load_shared(data, key["model"]) is loaded
    with pytest.raises(gs.GramshiftError, match="model was changed while files were labelled"):
        label(data + b"x", {"model": sha256(b"another").hexdigest()})
    far = FileJob(job.input, "/nowhere/labels/p00.csv", job.shown)
    with pytest.raises(gs.GramshiftError, match="does not see the folder /nowhere/labels"):
        label_on_worker(data, key, LabelOptions(), far)
