"""gramshift classify and predict with embeddings that the user has made."""

import json

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import gramshift as gs
from small_demo import load_demo
from small_tables import read_csv, write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
RUN = ("classify", "--source", "pans.csv", "knives.csv", "--target", "films.csv", "--embeddings", "v.npy")


@pytest.fixture
def vectors(folder):
    words = TfidfVectorizer().fit_transform([*KITCHEN.texts, *FILMS.texts])
    found = TruncatedSVD(20, random_state=0).fit_transform(words)
    np.save(folder / "v.npy", found)
    return found


@pytest.mark.parametrize("method", ["best", "tkc", "plain"])
def test_labels_are_those_of_python(gramshift, folder, vectors, method):
    answer = gramshift(*RUN, "--method", method, "--output", "labels.csv", "--save", "m.gramshift", "--json")
    assert answer.code == 0, answer.err
    options = {"best": {}, "tkc": {"preset": "paper"}, "plain": {"preset": "paper", "adapt": False, "n_rounds": 1}}[method]
    clf = gs.TransductiveClassifier("rows", **options).fit(vectors[:120], KITCHEN.labels, target=vectors[120:])
    rows = read_csv(folder / "labels.csv")
    assert [row["label"] for row in rows] == clf.transduction_.tolist()
    found = json.loads(answer.out)
    assert found["kernel"] == "rows"
    assert found["diagnostics"] | {"warnings": found["warnings"]} == clf.diagnostics_
    np.save(folder / "new.npy", vectors[120:])
    assert gramshift("predict", "-m", "m.gramshift", "-i", "films.csv", "-o", "p.csv", "--embeddings", "new.npy").code == 0
    assert [row["label"] for row in read_csv(folder / "p.csv")] == clf.transduction_.tolist()


def test_rows_of_documents_without_a_label_stand_in_the_file_too(gramshift, folder, vectors):
    gaps = [label if number % 3 else "" for number, label in enumerate(KITCHEN.labels)]
    write_csv(folder / "some.csv", ["text", "label"], zip(KITCHEN.texts, gaps, strict=True))
    np.save(folder / "some.npy", vectors[:120])
    answer = gramshift("classify", "--source", "some.csv", "--embeddings", "some.npy", "--output", "labels.csv")
    assert answer.code == 0, answer.err
    clf = gs.TransductiveClassifier("rows").fit(vectors[:120], [label or None for label in gaps])
    assert [row["label"] for row in read_csv(folder / "labels.csv")][::3] == clf.transduction_.tolist()
    np.save(folder / "both.npy", vectors)
    answer = gramshift("classify", "--source", "some.csv", "--target", "films.csv", "--embeddings", "both.npy", "-o", "l.csv")
    assert "40 rows without a label are left out" in answer.err
    known = [number for number, label in enumerate(gaps) if label]
    clf.fit(vectors[known], [gaps[number] for number in known], target=vectors[120:])
    assert [row["label"] for row in read_csv(folder / "l.csv")] == clf.transduction_.tolist()


def test_corrections_teach_by_their_rows(gramshift, folder, vectors):
    write_csv(folder / "c.csv", ["id", "label"], [["f3", "negative"], ["f5", "positive"]])
    answer = gramshift(*RUN, "--corrections", "c.csv", "--output", "labels.csv")
    assert "2 corrections" in answer.err
    rows = read_csv(folder / "labels.csv")
    assert (rows[3]["label"], rows[5]["label"], rows[3]["confidence"]) == ("negative", "positive", "1.0")


class Harmful:
    def __reduce__(self):
        return (print, ("it was run",))


def test_files_that_are_no_rows_of_numbers_are_refused(gramshift, folder, vectors, capfd):
    def refusal(array=None, **options):
        if array is not None:
            np.save(folder / "v.npy", array, **options)
        answer = gramshift(*RUN, "--output", "labels.csv")
        assert answer.code == 2
        assert not (folder / "labels.csv").exists()
        assert "it was run" not in answer.out + answer.err
        return answer.err.splitlines()[-1]

    each = "(70 in pans.csv, 50 in knives.csv, 120 in films.csv)"
    assert f"v.npy has 239 rows, and there are 240 documents {each}" in refusal(vectors[1:])
    assert "v.npy has shape (240,) and type float64" in refusal(vectors[:, 0])
    assert "v.npy has shape (240, 0)" in refusal(vectors[:, :0])
    assert "type <U4" in refusal(np.full((240, 2), "text"))
    assert "row 6 has a number that is not finite" in refusal(np.where(np.arange(240)[:, None] == 5, np.nan, vectors))
    assert "cannot be read as an array of numbers" in refusal(np.full((240, 2), Harmful(), object), allow_pickle=True)
    whole = (folder / "films.csv").read_bytes()
    (folder / "v.npy").write_bytes(whole)
    assert "v.npy is no .npy file; write it with numpy.save" in refusal()
    np.save(folder / "v.npy", vectors)
    (folder / "v.npy").write_bytes((folder / "v.npy").read_bytes()[:-100])
    assert "cannot be read as an array of numbers" in refusal()
    (folder / "v.npy").unlink()
    assert "v.npy: No such file" in refusal()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--report", "r.html"), "--report shows n-grams of texts"),
        (("--ngrams", "3-5"), "--ngrams is for texts"),
        (("--sample", "50"), "--sample is for texts"),
        (("--method", "tfidf"), "--embeddings goes with best, plain, adapted and tkc; tfidf looks at texts"),
        (("--method", "best-words"), "best-words looks at texts"),
        (("--method", "tkc", "--kernel", "spectrum"), "--kernel is for texts"),
    ],
)
def test_options_that_are_for_texts_are_refused(gramshift, folder, vectors, options, words):
    answer = gramshift(*RUN, "--output", "labels.csv", *options)
    assert answer.code == 2
    assert words in answer.err


def test_predict_wants_what_the_model_was_fitted_on(gramshift, folder, vectors):
    gramshift(*RUN, "--output", "labels.csv", "--save", "m.gramshift")
    predict = ("predict", "-m", "m.gramshift", "-i", "films.csv", "-o", "p.csv")
    answer = gramshift(*predict)
    assert answer.code == 2
    assert "m.gramshift was fitted on embeddings; give those of the new documents with --embeddings" in answer.err
    for rows in (vectors[121:], vectors[:130]):
        np.save(folder / "new.npy", rows)
        answer = gramshift(*predict, "--embeddings", "new.npy")
        assert answer.code == 2
        assert f"new.npy has {len(rows)} rows, and there are 120 documents (120 in films.csv)" in answer.err
    assert not (folder / "p.csv").exists()
    gramshift("classify", "--source", "pans.csv", "--target", "films.csv", "--save", "texts.gramshift")
    answer = gramshift("predict", "-m", "texts.gramshift", "-i", "films.csv", "-o", "p.csv", "--embeddings", "v.npy")
    assert "texts.gramshift was fitted on texts; leave --embeddings out" in answer.err
    assert "240 rows of numbers" in gramshift("info", "m.gramshift").out
