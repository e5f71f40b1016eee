"""``gramshift classify --landmarks``: files that are read part by part, runs that are stopped and go on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gramshift as gs
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
COMMON = ["--method", "tkc", "--ngrams", "3-5", "--landmarks", "60"]
SCRIPT = """
import os, signal, sys
from gramshift.runtime import pieces
from gramshift.model import describers
from gramshift.runtime import budget as estimates
estimates.PIECE_CELLS = 64 * 64  # four pieces
left, made = {left}, 0
put, encode = pieces.StoredPieces.put, describers.Encoder.__call__

def put_or_die(self, number, arrays):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    put(self, number, arrays)

def count(self, documents):
    global made
    made += 1
    return encode(self, documents)

pieces.StoredPieces.put, describers.Encoder.__call__ = put_or_die, count
from gramshift.commands.main import app
app(sys.argv[1:], standalone_mode=False)
print("made", made)
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, demo in (("source", KITCHEN), ("target", FILMS)):
        rows = [
            {"id": f"{name}-{i}", "text": text, "label" if name == "source" else "truth": label}
            for i, (text, label) in enumerate(zip(demo.texts, demo.labels, strict=True))
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["classify", "source.jsonl", "--target", "target.jsonl", *COMMON]


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_it_is_the_classifier_with_landmarks(gramshift, files):
    answer = gramshift(*files, "--output", "out.jsonl", "--truth", "truth", "--save", "out.model", "--json")
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), landmarks=60, n_added=60)
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    rows = read("out.jsonl")
    assert [row["label"] for row in rows] == clf.transduction_.tolist()
    np.testing.assert_allclose([row["p_positive"] for row in rows], clf.transduction_proba_[:, 1], atol=1e-6)
    assert [row["text"] for row in rows] == FILMS.texts
    found = json.loads(answer.out)
    assert found["scores"]["accuracy"] == np.mean(clf.transduction_ == np.array(FILMS.labels))
    assert gs.load("out.model").predict(FILMS.texts[:5]).tolist() == clf.transduction_[:5].tolist()
    words = gramshift("info", "out.model").out
    assert "holds         the texts of 60 landmarks" in words


def test_gaps_of_one_file_are_filled(gramshift, files):
    rows = read("source.jsonl")
    for row in rows[::3]:
        row["label"] = None
    Path("gaps.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    gramshift("classify", "gaps.jsonl", *COMMON, "--output", "out.jsonl")
    found = read("out.jsonl")
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), landmarks=60, n_added=20)
    known = [row for row in rows if row["label"] is not None]
    clf.fit([row["text"] for row in known], [row["label"] for row in known], target=[row["text"] for row in rows[::3]])
    assert [row["label"] for row in found[::3]] == clf.transduction_.tolist()
    assert [row["label"] for row in found[1::3]] == [row["label"] for row in rows[1::3]]


def test_corrections_and_a_page(gramshift, files):
    Path("right.csv").write_text("id,label\ntarget-3,positive\ntarget-4,negative\n")
    gramshift(*files, "--output", "out.jsonl", "--corrections", "right.csv", "--report", "page.html")
    rows = read("out.jsonl")
    assert [(rows[i]["label"], rows[i]["confidence"]) for i in (3, 4)] == [("positive", 1), ("negative", 1)]
    page = Path("page.html").read_text()
    assert "Documents were compared with 60 landmarks" in page


def run(left, *arguments):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT.format(left=left), *arguments, "--jobs", "1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_killed_at_any_moment_it_goes_on(files):
    """Kill -9 after one piece, after another one, then to the end: the same file as without any of that."""
    assert run(99, *files, "--output", "whole.jsonl").returncode == 0
    for _ in range(2):
        killed = run(1, *files, "--output", "out.jsonl", "--resume", "kept")
        assert killed.returncode == -9
        assert not os.path.exists("out.jsonl")
    damaged = "kept/landmarks-1.piece"
    os.truncate(damaged, os.path.getsize(damaged) // 2)
    last = run(99, *files, "--output", "out.jsonl", "--resume", "kept")
    assert last.returncode == 0, last.stderr
    assert "kept: 2 finished pieces were there already" in last.stderr
    assert f"{damaged} is damaged" in last.stderr.replace(os.path.realpath("kept"), "kept")
    assert last.stdout.splitlines()[-1] == "made 3"  # of four; one was whole
    assert Path("out.jsonl").read_text() == Path("whole.jsonl").read_text()


def test_a_folder_of_another_run_is_refused(gramshift, files):
    gramshift(*files, "--output", "out.jsonl", "--resume", "kept")
    other = gramshift(*files[:-1], "61", "--output", "other.jsonl", "--resume", "kept")
    assert other.code == 2
    assert "landmarks" in other.err
    assert "60" in other.err
    ranged = gramshift(*files, "--ngrams", "3-6", "--output", "other.jsonl", "--resume", "kept")
    assert "ngram_range of kernel 1 is [3, 5] there and [3, 6] here" in ranged.err
    assert "were there already" not in ranged.err
    exact = gramshift(*files[:-2], "--output", "other.jsonl", "--resume", "kept")
    assert "similarities to landmarks" in exact.err
    assert not os.path.exists("other.jsonl")


def test_an_exact_run_goes_on_too(gramshift, files):
    exact = files[:-2]
    gramshift(*exact, "--output", "whole.jsonl")
    gramshift(*exact, "--output", "out.jsonl", "--resume", "kept")
    gramshift(*exact, "--output", "again.jsonl", "--resume", "kept")
    assert Path("whole.jsonl").read_text() == Path("out.jsonl").read_text() == Path("again.jsonl").read_text()
    assert [name for name in os.listdir("kept") if name.endswith(".piece")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--landmarks", "none"], "--landmarks none: give a number of documents such as 2000, or auto"),
        (["--landmarks", "0"], "--landmarks 0: give a number"),
        (["--method", "sfa"], "--landmarks goes with"),
        (["--target", "-"], "which standard input cannot"),
        (["--engine", "ray"], "--engine ray: there are threads, dask"),
        (["--scheduler", "tcp://1.2.3.4:5"], "is for Dask; add --engine dask"),
        (["--memory", "lots"], "--memory lots: give a number of bytes or a size"),
        (["--memory", "100MB"], "60 landmarks need about"),
        (["--resume", "nowhere/kept"], "no such folder"),
    ],
)
def test_wrong_options_are_refused_before_any_work(gramshift, files, arguments, words):
    answer = gramshift(*files, "--output", "out.jsonl", *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") <= 2
    assert not os.path.exists("out.jsonl")


def test_dask_that_is_not_there_is_noticed_before_any_work(gramshift, files, monkeypatch):
    for package, words in {"cryptography": "cryptography to close workers", "distributed": "dask and distributed"}.items():
        monkeypatch.setitem(sys.modules, package, None)
        answer = gramshift(*files, "--output", "out.jsonl", "--engine", "dask")
        assert answer.code == 2
        assert answer.err.startswith(f"gramshift: --engine dask needs {words}")
        assert answer.err.endswith(": pip install 'gramshift[dask]'\n")


def test_what_does_not_fit_is_refused_with_what_would(gramshift, files):
    answer = gramshift(*files[:-2], "--output", "out.jsonl", "--memory", "200MB")
    assert answer.code == 2
    assert "do not fit into 190.7 MiB, the memory limit: exactly about" in answer.err
    assert "on disk (--resume DIR) about" in answer.err
    assert "with landmarks (--landmarks 2000) about" in answer.err


def test_auto_takes_as_many_as_memory_allows(gramshift, files):
    answer = gramshift(*files[:-1], "auto", "--output", "out.jsonl")
    assert "120 source and 120 target documents, 240 landmarks: about" in answer.err


def test_copies_among_landmarks_are_no_fault(gramshift, tmp_path, monkeypatch):
    """A handful of texts, again and again, with a plain kernel."""
    monkeypatch.chdir(tmp_path)
    Path("source.csv").write_text("text,label\n" + "good pan,a\nbad pot,b\nfine pan,a\n" * 60)
    Path("target.csv").write_text("text\n" + "good film\nbad film\n" * 50)
    for method in ("plain", "tkc"):
        found = {}
        for name, more in {"exact": [], "few": ["--landmarks", "60"], "all": ["--landmarks", "280"]}.items():
            answer = gramshift(
                "classify", "source.csv", "--target", "target.csv", "--ngrams", "2-4", "--method", method,
                "--output", "out.csv", "--force", *more,
            )  # fmt: skip
            assert answer.code == 0, answer.err
            found[name] = [row.split(",")[1] for row in Path("out.csv").read_text().splitlines()[1:]]
        assert found["all"] == found["exact"]
        assert len(set(found["few"][::2])) == len(set(found["few"][1::2])) == 1  # copies have one label


def test_a_rival_is_told_to_leave_out_what_it_cannot_have(gramshift, files):
    answer = gramshift(*files[:-2], "--output", "out.jsonl", "--method", "kda", "--resume", "kept")
    assert (answer.code, "leave it out" in answer.err) == (2, True)
