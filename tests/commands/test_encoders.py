"""--encoder: a real encoder, and others by name, of packages that are stood in for here."""

import json
import struct
import sys

import numpy as np
import pytest

import gramshift as gs
from gramshift.commands.encoders import open_encoder, vectors_of_texts
from gramshift.datasets.demo import load_demo
from gramshift.errors import InputError
from gramshift.model import fit
from small_tables import read_csv

ENCODER = """
def count(texts):
    return [[text.lower().count(one) for one in {letters!r}] for text in texts]

class Model:
    embed = encode = staticmethod(count)
"""
PACKAGES = {
    "wordllama": """
class WordLlama:
    @staticmethod
    def load(cache_dir, disable_download):
        assert disable_download and cache_dir.name == "wordllama"
        return Model
""",
    "model2vec": """
import pathlib
class StaticModel:
    @staticmethod
    def from_pretrained(folder):
        assert (pathlib.Path(folder) / "model").exists(), "it is empty"
        return Model
""",
    "sentence_transformers": """
def SentenceTransformer(folder, local_files_only):
    assert local_files_only
    return Model
""",
}
NPY = "{'descr': '<f8', 'fortran_order': False, 'shape': (70, %s)}"
CLASSIFY = ["classify", "pans.csv", "--target", "films.csv", "--ngrams", "2-4"]


@pytest.fixture
def packages(folder, monkeypatch, tmp_path_factory):
    """Return the working directory, where the packages of encoders can be imported."""
    site = tmp_path_factory.mktemp("site")
    for name, code in PACKAGES.items():
        (site / name).mkdir()
        letters = "aeinst" if name != "model2vec" else "aeiou"
        (site / name / "__init__.py").write_text(ENCODER.format(letters=letters) + code)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(fit, "encoder_weight", lambda *_: 0.1)
    open_encoder.cache_clear()
    (folder / "minilm").mkdir()
    (folder / "minilm" / "model").touch()
    (folder / "empty").mkdir()
    yield folder
    open_encoder.cache_clear()
    for name in PACKAGES:
        sys.modules.pop(name, None)


def test_a_real_encoder_joins_the_ngrams_and_goes_with_the_model(tmp_path):
    """WordLlama's wheel has its weights: nothing is downloaded."""
    encode = open_encoder("wordllama")
    great, wonderful, kettle = encode(["a great film", "a wonderful movie", "the kettle leaks"])
    assert great @ wonderful > 2 * abs(great @ kettle)
    kitchen, films = load_demo("kitchen"), load_demo("films")
    clf = gs.TransductiveClassifier(encoder=encode)
    clf.fit(kitchen.texts, kitchen.labels, target=films.texts)
    vectors = clf.result_.model.ngrams.vectors
    assert vectors.coefficients.shape == (256, 1)
    assert 0 < vectors.share < 0.5
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m", encoder=encode)
    new = ["a wonderful movie", "it leaked after a week", ""]
    assert (loaded.decision_function(new) == clf.decision_function(new)).all()


@pytest.mark.parametrize("name", ["wordllama", "model2vec:minilm", "sentence-transformers:minilm"])
def test_a_named_encoder_labels_as_in_python_and_goes_with_the_model(gramshift, packages, name):
    answer = gramshift(
        *CLASSIFY, "--encoder", name, "--output", "out.csv", "--save", "m", "--report", "r.html"
    )
    assert answer.code == 0, answer.err
    assert f"--output new-labels.csv --encoder {name}" in answer.out
    clf = gs.load("m", encoder=open_encoder(name))
    assert clf.transduction_.tolist() == [row["label"] for row in read_csv(packages / "out.csv")]
    assert clf.result_.model.ngrams.vectors.share > 0
    for command in (
        ["predict", "--model", "m", "--input", "knives.csv", "--output", "new.csv"],
        ["explain", "--model", "m", "a great pan"],
    ):
        refused = gramshift(*command)
        assert refused.code == 2
        assert f"give --encoder {name}" in refused.err
        answer = gramshift(*command, "--encoder", name)
        assert answer.code == 0, answer.err
    assert "vectors of the text: " in answer.out
    assert name in gramshift("info", "m").out
    answer = gramshift("explain", "--model", "m", "a pan", "--encoder", name, "--json")
    assert set(json.loads(answer.out)[0]["vectors"]) == {"negative", "positive"}


def test_another_encoder_is_refused_with_the_right_one(gramshift, packages):
    gramshift(*CLASSIFY, "--encoder", "wordllama", "--save", "m")
    answer = gramshift("explain", "--model", "m", "a pan", "--encoder", "model2vec:minilm")
    assert answer.code == 2
    assert "give --encoder wordllama" in answer.err
    answer = gramshift(
        "predict", "--model", "m", "--input", "films.csv", "--output", "x/", "--engine", "dask"
    )
    assert answer.code == 2


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["minilm"], "give wordllama, model2vec:FOLDER or sentence-transformers:FOLDER"),
        (["wordllama:minilm"], "give wordllama, model2vec:FOLDER"),
        (["model2vec"], "give wordllama, model2vec:FOLDER"),
        (["model2vec:org/some-model"], "hf download org/some-model --local-dir model"),
        (["model2vec:empty"], "model2vec cannot open this model: it is empty"),
        (["wordllama", "--method", "tkc"], "--encoder goes with best, not tkc"),
        (
            ["wordllama", "--fit-on", "9", "--engine", "dask"],
            "--encoder goes with --engine threads",
        ),
    ],
)
def test_encoders_that_cannot_be_used_are_refused(gramshift, packages, options, found):
    answer = gramshift(*CLASSIFY, "--output", "out.csv", "--encoder", *options)
    assert answer.code == 2
    assert found in " ".join(answer.err.split())
    assert not (packages / "out.csv").exists()


def test_vectors_of_files_label_as_the_encoder_that_made_them(gramshift, packages):
    """A row for each row of the source files, also of those without a label, and of the target."""
    rows = [row["text"] for row in read_csv(packages / "pans.csv")]
    (packages / "more.csv").write_text("text,label\nno label here,\na bad pan,negative\n")
    rows += ["no label here", "a bad pan"]
    encode = open_encoder("wordllama")
    np.save("source.npy", encode(rows))
    np.save("target.npy", encode([row["text"] for row in read_csv(packages / "films.csv")]))
    sources = [*CLASSIFY[:2], "more.csv", *CLASSIFY[2:]]
    answer = gramshift(*sources, "--encoder", "wordllama", "--output", "encoded.csv")
    assert answer.code == 0, answer.err
    options = ["--vectors", "source.npy", "target.npy", "--output", "out.csv", "--report", "r.html"]
    answer = gramshift(*sources, *options)
    assert answer.code == 0, answer.err
    assert (packages / "out.csv").read_text() == (packages / "encoded.csv").read_text()
    assert "--vectors source.npy target.npy" in answer.out


def test_files_of_other_vectors_are_refused(gramshift, packages):
    good, path = np.ones((70, 3)), packages / "source.npy"
    np.save("target.npy", np.ones((120, 3)))
    np.save("wide.npy", np.ones((120, 4)))
    options = [*CLASSIFY, "--output", "out.csv", "--vectors", "source.npy"]

    def refuse(words, *more):
        answer = gramshift(*options, *(more or ["target.npy"]))
        assert answer.code == 2
        assert words in " ".join(answer.err.split())

    refuse("No such file")
    path.write_text("1,2\n")
    refuse("no array of NumPy")
    np.save(path, np.array([{}]), allow_pickle=True)
    refuse("no array of NumPy")
    for header in ("(" * 900, "-" * 900 + "1", NPY % 10**13, NPY % True):
        path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode())
        refuse("no array of NumPy")
    path.write_bytes(b"PK\3\4")
    refuse("no array of NumPy")
    np.save(path, np.zeros((70, 1), np.uint8))
    content = path.read_bytes().replace(b"(70, 1), }" + b" " * 10, b"(70, 20000000000), }")
    with path.open("wb") as file:  # small numbers, which need eight times as much to be checked
        file.write(content[:-70])
        file.truncate(128 + 70 * 20_000_000_000)
    refuse("the memory limit is")
    for wrong in (good[:-1], good[0], good * np.nan, good.astype(str)):
        np.save(path, wrong)
        refuse("must give an array of shape (70, width)")
    np.save(path, good)
    refuse("--vectors source.npy needs 6.6 KiB", "target.npy", "--memory", "5 KiB")
    refuse("have 3 numbers, those of the target 4", "wide.npy")
    for option, value in {"save": "m", "encoder": "wordllama", "unlabelled": "knives.csv"}.items():
        refuse(f"--{option} does not go with --vectors", "target.npy", f"--{option}", value)
    refuse("--vectors goes with best", "target.npy", "--method", "tkc")


def test_a_missing_package_is_named(gramshift, folder, monkeypatch):
    monkeypatch.setattr("gramshift.commands.encoders.find_spec", lambda _: None)
    answer = gramshift(*CLASSIFY, "--output", "out.csv", "--encoder", "wordllama")
    assert answer.code == 2
    assert "pip install 'gramshift[encoder]'" in " ".join(answer.err.split())


def test_a_sample_of_the_target_is_enough(gramshift, packages):
    answer = gramshift(*CLASSIFY, "--encoder", "wordllama", "--fit-on", "60", "--output", "out.csv")
    assert answer.code == 0, answer.err
    assert len(read_csv(packages / "out.csv")) == 120


def test_equal_texts_need_equal_vectors():
    vectors = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.5]])
    with pytest.raises(InputError, match=r"two vectors for one text, 'a pan'.*text column"):
        vectors_of_texts(["a pan", "a lid", "a pan"], vectors)
    encode = vectors_of_texts(["a pan", "a lid"], vectors[:2])
    assert encode(["a lid"]).tolist() == [[3.0, 4.0]]


def test_an_encoder_that_fails_is_one_line(gramshift, packages, monkeypatch):
    module = __import__("wordllama")
    monkeypatch.setattr(module.Model, "embed", lambda texts: 1 / 0)
    answer = gramshift(*CLASSIFY, "--encoder", "wordllama", "--output", "out.csv")
    assert answer.code == 2
    assert "wordllama cannot encode these texts: division by zero" in answer.err
