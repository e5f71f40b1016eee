"""Vectors from a sentence model: those of a naive mean, whatever stands beside a text; clear words where files are wrong."""

import copy
import pickle
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

import gramshift as gs
from altered_files import rewrite
from conftest import examples
from gramshift.baselines.embeddings import EmbeddingLogistic, SentenceVectors
from gramshift.methods import METHODS, parse_methods
from gramshift.model.archive import ModelFileError
from small_demo import load_demo
from small_model import DIMENSIONS, make_model, make_table, make_words, write_model, write_tokenizer

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
TEXTS = ["a great pan", "", "great", "zzzz unheard of", "the pan broke, the pan broke at once", " ", "\ud83d pan", "pan " * 400]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder, its words and their vectors."""
    folder = tmp_path_factory.mktemp("model")
    return folder, *make_model(folder, KITCHEN.texts + FILMS.texts)


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy that a test may spoil; no folder is named in the environment."""
    monkeypatch.delenv("GRAMSHIFT_EMBEDDINGS", raising=False)
    return shutil.copytree(made[0], tmp_path / "model")


def naive(text, words, table, most=256):
    """The mean over tokens, one by one, of length 1."""
    total, n = [0.0] * DIMENSIONS, 0
    for token in split_tokens(text)[:most]:
        place = words.index(token) if token in words else 0
        for i in range(DIMENSIONS):
            total[i] += float(table[place, i])
        n += 1
    length = sum(value * value for value in total) ** 0.5
    return [value / length for value in total] if n else total


def split_tokens(text):
    """Words and runs of other characters, as the tokenizer parts them."""
    return re.findall(r"\w+|[^\w\s]+", text.encode("utf-8", "replace").decode().lower())


def test_vectors_are_naive_means(made):
    folder, words, table = made
    found = SentenceVectors(folder).vectors(TEXTS)
    np.testing.assert_allclose(found, [naive(text, words, table) for text in TEXTS], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [bool(text.strip()) for text in TEXTS])


@given(st.lists(st.text(alphabet="pan great,é \t\ud83d😀", max_size=60), max_size=80))
@examples(30)
def test_a_vector_does_not_depend_on_the_other_texts(made, texts):
    folder, words, table = made
    together = SentenceVectors(folder).vectors(texts)
    one_by_one = [SentenceVectors(folder).vectors([text])[0] for text in texts[:5]]
    np.testing.assert_allclose(together[:5], np.reshape(one_by_one, (-1, DIMENSIONS)), atol=1e-6)
    np.testing.assert_allclose(together, np.reshape([naive(one, words, table) for one in texts], (-1, DIMENSIONS)), atol=1e-6)


def test_long_texts_are_cut_and_what_was_found_is_remembered(made):
    folder, words, table = made
    short = SentenceVectors(folder, max_tokens=2)
    np.testing.assert_allclose(short.vectors(["a great pan"])[0], naive("a great", words, table), atol=1e-6)
    asked = []
    compute = lambda texts: asked.append(texts) or np.zeros((len(texts), DIMENSIONS))  # noqa: E731
    short._opened = SimpleNamespace(compute=compute, n_dimensions=DIMENSIONS)
    assert short.vectors(["a great pan", "new", "new"]).shape == (3, DIMENSIONS)
    assert asked == [["new"]]


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_folders_as_they_are_exported(folder, made, kind):
    """The model in a folder of its own, three inputs, special tokens that count, 32 bits, and a vector of the model's own."""
    _, words, table = made
    (folder / "model.onnx").unlink()
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    write_model(folder / "onnx" / "model.onnx", table, inputs=inputs, output="token_embeddings", kind=kind)
    write_tokenizer(folder, words, special=True)
    total = table[1].astype(float) + table[2] + table[words.index("great")]
    np.testing.assert_allclose(SentenceVectors(folder).vectors(["great"])[0], total / np.linalg.norm(total), atol=1e-6)
    empty = table[1].astype(float) + table[2]
    np.testing.assert_allclose(SentenceVectors(folder).vectors([""])[0], empty / np.linalg.norm(empty), atol=1e-6)
    write_tokenizer(folder, words)
    write_model(folder / "onnx" / "model.onnx", table, output="sentence_embedding", pooled=True)
    found = SentenceVectors(folder).vectors(TEXTS)
    np.testing.assert_allclose(found, [naive(text, words, table) for text in TEXTS], atol=1e-6)


def test_what_is_missing_is_said(folder, monkeypatch, tmp_path):
    fit = lambda model: EmbeddingLogistic(model).fit(["a", "b"], [0, 1], target=["c"])  # noqa: E731
    with pytest.raises(
        gs.GramshiftError, match=r"no folder .* is named: give model=FOLDER, or set GRAMSHIFT_EMBEDDINGS=FOLDER"
    ):
        fit(None)
    with pytest.raises(gs.GramshiftError, match=r"model='/no/such' is no folder; name one with tokenizer.json and model.onnx"):
        fit("/no/such")
    monkeypatch.setenv("GRAMSHIFT_EMBEDDINGS", "/none")
    with pytest.raises(gs.GramshiftError, match="GRAMSHIFT_EMBEDDINGS='/none' is no folder"):
        fit(None)
    with pytest.raises(TypeError, match="model=7: give the path of a folder"):
        fit(7)
    with pytest.raises(gs.GramshiftError, match=r"has no tokenizer.json"):
        fit(tmp_path)
    (folder / "model.onnx").unlink()
    with pytest.raises(gs.GramshiftError, match=r"has neither model.onnx nor onnx/model.onnx; export the model to ONNX"):
        fit(folder)
    with pytest.raises(ValueError, match="max_tokens=0: give a whole number from 1 to 1000000"):
        SentenceVectors(folder, max_tokens=0)
    with pytest.raises(ModuleNotFoundError, match=r"needs no_such_package: pip install 'gramshift\[embeddings\]'"):
        replace(METHODS["embeddings"], needs=("no_such_package",)).make()


def spoil_tokenizer(folder):
    (folder / "tokenizer.json").write_text("{}")


def spoil_model(folder):
    (folder / "model.onnx").write_bytes(b"no model")


TABLE = make_table(3)
FAULTS = {
    "is no tokenizer": spoil_tokenizer,
    "is no model that onnxruntime can read": spoil_model,
    r"asks for input_ids, pixels; a sentence model takes": lambda folder: write_model(
        folder / "model.onnx", TABLE, inputs=("input_ids", "pixels")
    ),
    r"gives sentence_embedding of shape \(1, 1, 48\) for \(1, 1\) tokens; due is a row per text": lambda folder: write_model(
        folder / "model.onnx", TABLE, output="sentence_embedding"
    ),
    r"gives numbers that are not finite": lambda folder: write_model(folder / "model.onnx", TABLE * np.inf),
    r"fails on 1 tokens": lambda folder: write_model(folder / "model.onnx", TABLE[:0]),
}


@pytest.mark.parametrize("message", FAULTS)
def test_files_that_are_wrong(folder, message):
    FAULTS[message](folder)
    with pytest.raises(gs.GramshiftError, match=message) as caught:
        SentenceVectors(folder).vectors(["a"])
    assert "\n" not in str(caught.value)


def test_a_saved_model_names_no_path_and_knows_its_sentence_model(folder, tmp_path, monkeypatch):
    clf = EmbeddingLogistic(folder).fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    saved = tmp_path / "saved"
    clf.save(saved)
    assert str(folder).encode() not in saved.read_bytes()
    loaded = gs.load(saved)
    assert loaded.model is None
    assert loaded.transduction_.tolist() == clf.transduction_.tolist()
    with pytest.raises(gs.GramshiftError, match="no folder of a sentence model is named"):
        loaded.predict(["a pan"])
    expected = clf.predict_proba(FILMS.texts)
    np.testing.assert_allclose(loaded.set_params(model=folder).predict_proba(FILMS.texts), expected, atol=1e-9)
    monkeypatch.setenv("GRAMSHIFT_EMBEDDINGS", str(folder))
    np.testing.assert_allclose(gs.load(saved).predict_proba(FILMS.texts), expected, atol=1e-9)
    other = tmp_path / "other"
    make_model(other, KITCHEN.texts + FILMS.texts, seed=1)
    with pytest.raises(gs.GramshiftError, match="is not the sentence model of the fit: its files differ"):
        loaded.set_params(model=other).predict(["a pan"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda head: head["parameters"].update(model="/etc"), "it names files by model, which is up to whoever loads it"),
        (lambda head: head["state"].update(digest=7), "digest is not a string of at most 64 characters"),
        (lambda head: head["state"].pop("digest"), "digest"),
        (lambda head: head["arrays"].pop("coefficients"), "model"),
    ],
)
def test_a_file_that_names_a_folder_or_no_model_is_refused(folder, tmp_path, change, message):
    EmbeddingLogistic(folder).fit(KITCHEN.texts, KITCHEN.labels).save(tmp_path / "saved")
    rewrite(tmp_path / "saved", change)
    with pytest.raises(ModelFileError, match=message):
        gs.load(tmp_path / "saved")


def test_parts_of_a_large_model_are_told_apart_too(folder):
    before = SentenceVectors(folder).digest
    (folder / "model.onnx_data").write_bytes(b"numbers")
    assert SentenceVectors(folder).digest != before


@pytest.mark.slow
def test_vectors_beside_a_string_kernel(folder):
    vectors = SentenceVectors(folder)
    both = gs.TransductiveClassifier(["presence", vectors], preset="paper").fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    presence = gs.StringKernel("presence", ngram_range=both.get_params()["ngram_range"] or (5, 8), normalize=True)
    texts = [*KITCHEN.texts, *FILMS.texts]
    gram = (presence(texts, texts) + vectors(texts, texts)) / 2
    labels = [*KITCHEN.labels, *[None] * len(FILMS.texts)]
    given = gs.TransductiveClassifier("precomputed", preset="paper").fit(gram, labels)
    np.testing.assert_allclose(both.transduction_score_, given.transduction_score_, atol=1e-6)
    assert len(both.predict(["a pan", ""])) == 2
    best = gs.TransductiveClassifier(["words", vectors]).fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    assert len(best.predict(["a pan", ""])) == 2
    with pytest.raises(TypeError, match="is a function and cannot be saved"):
        both.save(folder / "saved")


def test_copies_open_the_model_for_themselves(folder):
    vectors = SentenceVectors(folder)
    expected = vectors(["a pan"], ["great", "a pan"])
    for other in (copy.deepcopy(vectors), pickle.loads(pickle.dumps(vectors))):
        np.testing.assert_allclose(other(["a pan"], ["great", "a pan"]), expected)
    assert str(folder) in repr(vectors)


def test_a_comparison_says_at_once_that_no_folder_is_named(monkeypatch):
    monkeypatch.delenv("GRAMSHIFT_EMBEDDINGS", raising=False)
    with pytest.raises(gs.GramshiftError, match="no folder of a sentence model is named"):
        gs.compare(KITCHEN.texts, KITCHEN.labels, target=None, methods="tfidf,embeddings")


def test_it_runs_beside_others(folder, monkeypatch):
    monkeypatch.setenv("GRAMSHIFT_EMBEDDINGS", str(folder))
    given = {"target": FILMS.texts, "target_labels": FILMS.labels}
    found = gs.compare(KITCHEN.texts, KITCHEN.labels, methods="tfidf,embeddings", **given)
    assert [line["method"] for line in found.summary] == ["tfidf", "embeddings"]


def test_it_runs_when_it_is_named_only():
    assert "embeddings" not in parse_methods("all")
    assert "embeddings" not in parse_methods("rivals")
    assert parse_methods("embeddings") == ["embeddings"]


def test_more_than_remembered(made):
    vectors = SentenceVectors(made[0], remembered=2)
    expected = vectors.vectors(TEXTS)
    for part in (TEXTS[:2], TEXTS[1:3], TEXTS):
        np.testing.assert_allclose(vectors.vectors(part), expected[[TEXTS.index(text) for text in part]], atol=1e-6)
    assert len(vectors._known) <= 2


def test_words_of_the_small_model():
    assert make_words(["b a", "a"])[3:] == ["a", "b"]
