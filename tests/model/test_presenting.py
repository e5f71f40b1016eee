"""What a fitted classifier says of itself in Python: as the command does, and when it is asked."""

import logging
import pickle
import sys
import warnings
from dataclasses import replace

import nbformat
import numpy as np
import pandas as pd
import polars as pl
import pytest
from nbclient import NotebookClient
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import gramshift as gs
from gramshift.errors import FitWarning
from gramshift.evaluate.comparison_files import FILES
from gramshift.model import diagnosis
from gramshift.progress import in_notebook
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def fit(**options):
    return gs.TransductiveClassifier(**options).fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )


@pytest.fixture(scope="module")
def best():
    return fit()


@pytest.fixture(scope="module")
def paper():
    return fit(preset="paper", ngram_range=(3, 5))


def test_diagnostics_tell_what_there_is_to_know(best):
    found = best.diagnostics_
    names = [
        "class proportions moved",
        "separability",
        "agreement with unadapted",
        "drift of the class proportions",
        "verdict",
        "warnings",
    ]
    assert [name for name in found if name != "class proportions unknown"] == names
    same = np.mean(best.unadapted_transduction_ == best.transduction_)
    assert found["agreement with unadapted"]["value"] == pytest.approx(same, abs=1e-4)
    assert 0.5 <= found["separability"]["value"] <= 1
    assert f"about {100 * best.expected_accuracy_['value']:.0f} of 100 labels" in found["verdict"]


def test_diagnostics_are_worked_out_once_for_each_fit(monkeypatch):
    clf, calls = fit(), []
    real = diagnosis.separability
    monkeypatch.setattr(diagnosis, "separability", lambda *given: calls.append(1) or real(*given))
    first = clf.diagnostics_
    first["verdict"] = first["separability"]["value"] = (
        None  # what a user does to it does not matter
    )
    assert clf.diagnostics_["verdict"] is not None
    assert clf.diagnostics_["separability"]["value"] is not None
    assert len(calls) == 1
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:60])
    assert calls == [1]  # a fit does not wait for it
    assert " of 60) " in clf.diagnostics_["agreement with unadapted"]["sentence"]
    assert len(calls) == 2


def test_the_paper_is_set_beside_a_plain_fit(paper):
    plain = fit(preset="paper", ngram_range=(3, 5), adapt=False, n_rounds=1)
    same = int(np.sum(paper.transduction_ == plain.transduction_))
    assert f"({same} of 120) " in paper.diagnostics_["agreement with plain"]["sentence"]
    assert "agreement with plain" not in plain.diagnostics_


def test_what_is_not_kept_is_not_told(best, tmp_path):
    best.save(tmp_path / "m.gramshift")
    loaded = gs.load(tmp_path / "m.gramshift")
    assert (
        best.diagnostics_
        == {"separability": best.diagnostics_["separability"]} | loaded.diagnostics_
    )
    assert "separability" not in loaded.diagnostics_
    alone = gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels)
    assert alone.diagnostics_ == {"warnings": []}


def test_a_gram_that_is_given_has_diagnostics_without_documents():
    gram = gs.StringKernel(ngram_range=(3, 5)).gram([*KITCHEN.texts, *FILMS.texts], normalize=True)
    clf = gs.TransductiveClassifier(kernel="precomputed", preset="paper").fit(
        gram, [*KITCHEN.labels, *[None] * 120]
    )
    assert list(clf.diagnostics_) == ["drift of the class proportions", "warnings"]


def test_there_is_nothing_before_a_fit():
    clf = gs.TransductiveClassifier()
    assert not hasattr(clf, "diagnostics_")
    for ask in (clf.to_frame, lambda: clf.report("r.html"), lambda: gs.plot.confidence(clf)):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask()


def test_one_class_for_all_is_warned_of_at_the_users_line():
    labels, words = (
        ["good"] * 70 + ["bad"] * 50,
        {"good": "lovely lovely ", "bad": "dreadful dreadful "},
    )
    source = [words[label] + text for label, text in zip(labels, KITCHEN.texts, strict=True)]
    target = [words["good"] + text for text in FILMS.texts]
    with pytest.warns(FitWarning, match=r"one class dominates.*n_added") as caught:
        clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5)).fit(
            source, labels, target=target
        )
    assert set(clf.transduction_) == {"good"}
    assert [one.filename for one in caught] == [__file__] * len(caught)
    assert issubclass(FitWarning, UserWarning)
    assert clf.diagnostics_["warnings"] == [str(one.message) for one in caught]


def test_known_proportions_are_taken_as_such(best):
    """Given ones, and ones counted in random labels, if the fit uses class proportions."""
    given = gs.TransductiveClassifier(class_prior={"positive": 1.0, "negative": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # all labels are of one class, as they should be
        given.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    assert set(given.transduction_) == {"positive"}
    assert given.diagnostics_["warnings"] == []
    assert diagnosis.summarize(given.result_, None).prior_is_known
    assert not diagnosis.summarize(best.result_, None).prior_is_known
    for fitted, is_known in (
        (best.result_, True),
        (fit(preset="paper", ngram_range=(3, 5)).result_, False),
    ):
        summary = diagnosis.summarize(replace(fitted, random=tuple(range(20))), None)
        assert (summary.n_random, summary.prior_is_known) == (20, is_known)
        assert np.array_equal(summary.probabilities, fitted.probabilities)


def test_few_documents_and_good_fits_give_no_warning(best):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(preset="paper", ngram_range=(3, 5))
        gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=["good"] * 5)


def test_a_frame_has_a_row_for_each_target_document(best):
    frame = best.to_frame()
    assert list(frame) == [
        "text",
        "label",
        "confidence",
        "p_negative",
        "p_positive",
        "unadapted_label",
        "issue",
    ]
    assert frame["text"].tolist() == FILMS.texts
    assert frame["label"].tolist() == best.transduction_.tolist()
    assert np.array_equal(frame[["p_negative", "p_positive"]], best.transduction_proba_)
    assert frame["unadapted_label"].tolist() == best.unadapted_transduction_.tolist()
    assert np.array_equal(frame["confidence"], best.transduction_proba_.max(axis=1))
    found = {one.number: one.about for one in best.issues_ if one.role == "target"}
    assert frame["issue"].dropna().to_dict() == found
    assert frame.index.equals(pd.RangeIndex(120))


@pytest.mark.parametrize(
    "make",
    [list, pl.Series, lambda ids: pd.Index(ids, name="film")],
    ids=["list", "polars", "index"],
)
def test_rows_of_a_frame_are_called_by_the_users_ids(best, make):
    ids = [f"f{number}" for number in range(120)]
    frame = best.to_frame(ids=make(ids))
    assert frame.index.tolist() == ids
    assert frame.index.name == (
        "film" if isinstance(make(ids), pd.Index) else getattr(make(ids), "name", None)
    )


def test_targets_among_the_source_are_in_the_frame():
    y = [*KITCHEN.labels[:100], *[None] * 20]
    clf = gs.TransductiveClassifier().fit(KITCHEN.texts, y, target=FILMS.texts[:60])
    assert clf.to_frame()["text"].tolist() == [*KITCHEN.texts[100:], *FILMS.texts[:60]]


def test_texts_that_are_not_kept_can_be_given(best, tmp_path):
    best.save(tmp_path / "m.gramshift")
    loaded = gs.load(tmp_path / "m.gramshift")
    known = best.to_frame().drop(columns="issue")
    pd.testing.assert_frame_equal(loaded.to_frame(), known.drop(columns="text"))
    pd.testing.assert_frame_equal(loaded.to_frame(texts=FILMS.texts), known)
    with pytest.raises(
        ValueError,
        match="texts has 120 documents, which are not the 120 target documents of the fit",
    ):
        loaded.to_frame(texts=FILMS.texts[::-1])
    with pytest.raises(ValueError, match="there are 3 ids for 120 target documents"):
        loaded.to_frame(ids="abc")


def test_a_frame_without_pandas_says_what_to_install(best, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(gs.GramshiftError, match="to_frame needs pandas: pip install pandas"):
        best.to_frame()


def test_how_much_is_shown_is_no_part_of_a_fit(tmp_path, best):
    loud = fit(verbose=True)
    assert np.array_equal(loud.transduction_score_, best.transduction_score_)
    assert clone(loud).verbose is True
    loud.save(tmp_path / "m.gramshift")
    assert gs.load(tmp_path / "m.gramshift").verbose is False
    assert pickle.loads(pickle.dumps(loud)).diagnostics_ == best.diagnostics_
    with pytest.raises(ValueError, match="verbose='yes': give True or False"):
        fit(verbose="yes")


def test_rounds_are_logged_and_shown_where_no_line_can_be_drawn(capfd, caplog):
    assert not in_notebook()
    with caplog.at_level(logging.INFO, logger="gramshift"):
        clf = fit(verbose=True)
    rounds = [
        f"round {number} of 5: {sum(one['added'].values())} documents joined, "
        f"{one['changed']} label{'s' * (one['changed'] != 1)} changed, "
        for number, one in enumerate(clf.history_, start=1)
    ]
    shown = capfd.readouterr()
    assert shown.out == ""
    for lines in (caplog.messages, shown.err.splitlines()):
        assert len(lines) == 5
        assert all(line.startswith(one) for line, one in zip(lines, rounds, strict=True))
    fit()
    assert capfd.readouterr() == ("", "")


def test_a_callback_is_called_instead_of_showing_bars():
    told = []
    clf = gs.TransductiveClassifier(verbose=True)
    clf.fit(
        KITCHEN.texts,
        KITCHEN.labels,
        target=FILMS.texts,
        progress=lambda *given: told.append(given),
    )
    assert {stage for stage, _, _ in told} >= {"index", "rounds"}


def test_too_few_documents_to_adapt_to_are_told():
    clf = gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:30])
    found = clf.diagnostics_["not adapted"]
    assert (
        found["sentence"]
        == "Too few target documents to adapt to (30): these are the unadapted labels."
    )
    assert "not adapted" not in fit(preset="paper", n_rounds=1, ngram_range=(3, 5)).diagnostics_


def test_a_second_round_that_changes_nothing_is_told():
    n = len(FILMS.texts)
    with pytest.warns(
        FitWarning,
        match=f"second round changed no label, because all {n} target documents had pseudo-labels",
    ):
        clf = fit(preset="paper", ngram_range=(3, 5), n_added=n)
    assert clf.history_[1]["changed"] == 0
    assert any("changed no label" in words for words in clf.diagnostics_["warnings"])
    assert not any(
        "changed no label" in words
        for words in fit(preset="paper", ngram_range=(3, 5)).diagnostics_["warnings"]
    )


NOTEBOOK = """
from gramshift.progress import shown_progress
with shown_progress(True, None) as report:
    report("index", 0, 2)
    report("rounds", 1, 5)
    report("training", 1, 2)
print("shown" if report else "not shown")
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning"
)  # of Jupyter
def test_a_notebook_shows_one_line_which_is_gone_at_the_end():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert [one.text for one in outputs if one.output_type == "stream"] == ["shown\n"]
    assert not any("training" in str(one) for one in outputs)


def test_a_file_is_replaced_only_if_that_is_wanted(best, tmp_path):
    kernel = gs.StringKernel(ngram_range=(2, 3))
    found = gs.compare(
        KITCHEN.texts,
        KITCHEN.labels,
        target=FILMS.texts,
        target_labels=FILMS.labels,
        methods="tfidf",
    )
    writers = {
        "m.gramshift": best.save,
        "r.html": best.report,
        "k.npy": lambda path, **more: kernel.gram(["abc", "abd"], out=path, **more),
    }
    for number, name in enumerate(FILES):  # each in a folder without the others
        writers[f"{number}/{name}"] = lambda path, **more: found.save(path.parent, **more)
    for name, write in writers.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        with pytest.raises(gs.GramshiftError, match=f"{name} exists; .* overwrite=True"):
            write(path)
        assert path.read_text() == "mine"
        write(path, overwrite=np.True_)
        assert path.stat().st_size > 100
        with pytest.raises(ValueError, match="overwrite='no': give True or False"):
            write(path, overwrite="no")
