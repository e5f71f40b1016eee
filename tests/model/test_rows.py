"""Embeddings of the user's as rows of numbers."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

import gramshift as gs
from altered_files import rewrite
from gramshift.errors import FitWarning
from gramshift.model.archive import ModelFileError, read_archive, write_archive

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(2, 8))


def draw(n, shift=0.0):
    """Rows about two centres, and their labels; another domain is shifted."""
    labels = np.arange(n) % 2
    return CENTRES[labels] + RNG.normal(scale=0.7, size=(n, 8)) + shift, labels


SOURCE, LABELS = draw(80)
TARGET, TRUTH = draw(60, 0.3)


def fit(source=SOURCE, target=TARGET, **options):
    return gs.TransductiveClassifier(**{"kernel": "rows"} | options).fit(
        source, LABELS, target=target
    )


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_rows_are_compared_by_their_cosine(preset):
    """The same as a callable that gives it, and as the gram of all documents."""
    mine, called = fit(preset=preset), fit(preset=preset, kernel=cosine_similarity)
    assert mine.transduction_score_ == pytest.approx(called.transduction_score_, abs=1e-8)
    gram = cosine_similarity(np.vstack([SOURCE, TARGET]))
    given = gs.TransductiveClassifier(kernel="precomputed", preset=preset).fit(
        gram, [*LABELS, *[None] * 60]
    )
    assert mine.transduction_score_ == pytest.approx(given.transduction_score_, abs=1e-8)
    assert np.mean(mine.transduction_ == TRUTH) > 0.8


def test_the_scale_of_a_row_does_not_matter():
    factors = 10.0 ** RNG.integers(-200, 200, size=(60, 1))
    assert fit(target=TARGET * factors).transduction_score_ == pytest.approx(
        fit().transduction_score_, abs=1e-8
    )


def test_a_row_of_zeros_is_like_no_other():
    clf = fit(target=np.vstack([TARGET, np.zeros(8)]))
    assert np.isfinite(clf.transduction_score_).all()
    assert np.isfinite(clf.predict_proba(np.zeros((1, 8)))).all()


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_a_model_of_rows_can_be_saved(tmp_path, preset):
    clf, (new, _) = fit(preset=preset), draw(30, 0.3)
    clf.save(tmp_path / "m.gramshift")
    loaded = gs.load(tmp_path / "m.gramshift")
    assert np.array_equal(loaded.predict_proba(new), clf.predict_proba(new))
    assert (
        loaded.predict(TARGET).tolist()
        == clf.transduction_.tolist()
        == clf.predict(TARGET).tolist()
    )
    assert loaded.n_features_in_ == 8
    assert loaded.diagnostics_ == clf.diagnostics_
    with pytest.raises(
        ValueError, match="X has 3 features, but TransductiveClassifier is expecting 8"
    ):
        loaded.predict(new[:, :3])
    loaded.save(tmp_path / "again.gramshift")
    names = zipfile.ZipFile(tmp_path / "m.gramshift").namelist()
    assert "rows.npy" in names
    first, second = (zipfile.ZipFile(tmp_path / f"{name}.gramshift") for name in ("m", "again"))
    assert all(first.read(name) == second.read(name) for name in names if name.endswith(".npy"))


def test_files_whose_rows_do_not_fit_are_refused(tmp_path):
    fit().save(tmp_path / "m.gramshift")

    whole, head = gs.load(tmp_path / "m.gramshift").result_, read_archive(tmp_path / "m.gramshift")
    for rows in (
        whole.model.documents[:-1],
        whole.model.documents.ravel(),
        np.full((140, 8), np.nan),
        np.zeros((140, 0)),
    ):
        write_archive(tmp_path / "wrong.gramshift", head[0], head[1] | {"rows": rows})
        with pytest.raises(ModelFileError):
            gs.load(tmp_path / "wrong.gramshift")
    for kernel in ("presence", "precomputed"):
        rewrite(
            tmp_path / "m.gramshift",
            lambda head, kernel=kernel: head["settings"].update(kernel=kernel),
        )
        with pytest.raises(ModelFileError):
            gs.load(tmp_path / "m.gramshift")


def test_rows_need_no_texts_but_a_frame_can_show_them():
    clf, texts = fit(), [f"text {number}" for number in range(60)]
    assert "text" not in clf.to_frame()
    assert clf.to_frame(texts=pd.Series(texts))["text"].tolist() == texts
    assert (
        gs.plot.map(clf, ax=Figure().subplots()).get_title() == "Documents by the kernel of the fit"
    )
    with pytest.raises(ValueError, match="a report shows texts"):
        clf.report("r.html")


def test_what_is_no_rows_of_numbers_is_refused():
    with pytest.raises(TypeError, match="kernel='rows' takes rows of numbers, such as embeddings"):
        gs.TransductiveClassifier(kernel="rows").fit(["a", "b"], [0, 1], target=["c"])
    with pytest.raises(
        ValueError, match="X has 3 features, but TransductiveClassifier is expecting 8"
    ):
        fit(target=TARGET[:, :3])
    with pytest.raises(ValueError, match="kernel='rows' cannot stand in a list"):
        fit(kernel=["rows", cosine_similarity])
    with pytest.raises(ValueError, match="NaN"):
        fit(target=np.full((60, 8), np.nan))
    for use in (fit().predict, fit().decision_function):
        with pytest.raises(TypeError, match=r"takes rows of numbers, .* and not texts"):
            use(["a", "b"])


@pytest.mark.parametrize(
    ("gamma", "words"),
    [(1e-4, "finds nearly all documents equal"), (1e4, "finds hardly any documents alike")],
)
def test_a_kernel_of_the_wrong_scale_is_noticed(gamma, words):
    with pytest.warns(FitWarning, match=f"{words}.*change its scale, such as gamma"):
        clf = fit(kernel=lambda A, B: rbf_kernel(A, B, gamma=gamma))
    assert any(words in one for one in clf.diagnostics_["warnings"])


def test_a_kernel_of_a_good_scale_is_not(recwarn):
    for kernel in ("rows", cosine_similarity, lambda A, B: rbf_kernel(A, B, gamma=0.1)):
        fit(kernel=kernel)
    assert [str(one.message) for one in recwarn] == []


def test_parameters_are_plain_json(tmp_path):
    fit().save(tmp_path / "m.gramshift")
    head = json.loads(zipfile.ZipFile(tmp_path / "m.gramshift").read("model.json"))
    assert head["parameters"]["kernel"] == head["settings"]["kernel"] == "rows"


def test_rows_of_numbers_have_no_words_that_decided():
    clf = fit()
    for given in (TARGET[0], "a text"):
        with pytest.raises(
            gs.GramshiftError, match="this classifier was fitted on rows of numbers"
        ):
            clf.explain(given)
