"""Labels that a person has given to target documents: checked, learnt from, in their places."""

import re
import warnings

import numpy as np
import pytest

import gramshift as gs
from gramshift.errors import FitWarning
from gramshift.kernels.corpus import Corpus
from gramshift.model.corrections import lower_wrong_classes
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
N = len(FILMS.texts)


def correct(labels):
    """Return a list of corrections from labels by place."""
    return [labels.get(place) for place in range(N)]


def fit(corrections=None, **more):
    clf = gs.TransductiveClassifier(
        **{name: more.pop(name) for name in ("preset", "ngram_range") if name in more}
    )
    return clf.fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts, corrections=corrections, **more
    )


@pytest.fixture(scope="module")
def plain():
    return fit()


@pytest.fixture(scope="module")
def wrong(plain):
    """Corrections of every label of the last ten documents."""
    other = {"negative": "positive", "positive": "negative"}
    return {place: other[plain.transduction_[place]] for place in range(N - 10, N)}


@pytest.fixture(scope="module")
def corrected(wrong):
    return fit(correct(wrong))


def test_corrected_documents_keep_their_places(plain, corrected, wrong):
    is_corrected = np.isin(np.arange(N), list(wrong))
    assert np.array_equal(corrected.corrected_, is_corrected)
    assert corrected.transduction_[is_corrected].tolist() == list(wrong.values())
    assert np.array_equal(corrected.transduction_proba_[is_corrected].max(axis=1), np.ones(10))
    scores = corrected.transduction_score_[is_corrected]
    assert corrected.classes_[scores.argmax(axis=1)].tolist() == list(wrong.values())
    frame = corrected.to_frame()
    assert frame["text"].tolist() == FILMS.texts
    assert frame["label"].tolist() == corrected.transduction_.tolist()
    assert frame["confidence"].to_numpy()[is_corrected].tolist() == [1.0] * 10
    assert frame["unadapted_label"].to_numpy()[is_corrected].tolist() == list(wrong.values())
    assert np.array_equal(corrected.uncorrected_transduction_, plain.transduction_)
    assert plain.uncorrected_transduction_ is None
    assert not plain.corrected_.any()


def test_they_are_learnt_from_as_labelled_documents():
    """Few and confirmed ones change no class proportion: the fit is one on more labelled texts."""
    known = {0: "positive", 1: "negative"}
    clf = fit(correct(known))
    y = [*KITCHEN.labels, *known.values(), *[None] * (N - 2)]
    other = gs.TransductiveClassifier().fit(KITCHEN.texts + FILMS.texts, y)
    assert np.array_equal(clf.transduction_proba_[2:], other.transduction_proba_)
    assert np.array_equal(clf.labeled_iter_, other.labeled_iter_)


def test_corrected_gaps_of_x_keep_their_places_too():
    y = [*KITCHEN.labels[:100], *[None] * 20]
    corrections = ["positive", *[None] * 18, "negative", *correct({5: "positive"})]
    clf = gs.TransductiveClassifier()
    clf.fit(KITCHEN.texts, y, target=FILMS.texts, corrections=corrections)
    assert clf.transduction_[[0, 19, 25]].tolist() == ["positive", "negative", "positive"]
    assert clf.to_frame()["text"].tolist() == KITCHEN.texts[100:] + FILMS.texts


def test_checks_that_failed_show_in_diagnostics(plain, corrected, wrong):
    warnings = corrected.diagnostics_["warnings"]
    assert any("checked labels" in words and "were wrong" in words for words in warnings)
    expected = [clf.expected_accuracy_["value"] for clf in (plain, corrected)]
    assert expected[1] <= expected[0]
    with pytest.warns(FitWarning, match="its proportion was lowered"):
        fit(correct(wrong))


def test_a_correction_may_be_a_new_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        clf = fit(correct(dict.fromkeys(range(12), "mixed")))
    assert clf.classes_.tolist() == ["mixed", "negative", "positive"]
    assert set(clf.transduction_[:12]) == {"mixed"}
    assert set(clf.uncorrected_transduction_) == {"negative", "positive"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["negativ"] * 12, "'negativ' for 12 documents, .* a new one; did you mean negative\\?$"),
        (
            ["mixed"],
            "'mixed' for 1 document, which is no class of the source: it becomes a new one$",
        ),
    ],
)
def test_a_new_class_that_may_be_a_slip_is_a_warning(given, words):
    with pytest.warns(FitWarning, match=words):
        fit(correct(dict(enumerate(given))), preset="paper", ngram_range=(3, 4))


def test_a_correction_of_another_type_is_an_error_before_the_fit():
    with pytest.raises(TypeError, match="y with corrections mixes labels of different types"):
        fit(correct({0: 3}))


def test_issues_do_not_doubt_corrections(corrected, wrong):
    places = {one.number for one in corrected.issues_ if one.role == "target"}
    doubtful = [one for one in corrected.issues_ if one.issue == "doubtful label"]
    assert all(one.role == "source" and one.number < 120 for one in doubtful)
    assert max(places, default=0) < N
    assert len(corrected.issues_.label_quality) == 120


def test_explanations_and_issues_name_documents_by_their_origins():
    origins = [("pans.csv", str(n)) for n in range(120)] + [
        ("films.csv", f"f{n}") for n in range(N)
    ]
    clf = fit(correct({3: "positive"}), preset="paper", ngram_range=(3, 4), origins=origins)
    names = {one.name for one in clf.explain(FILMS.texts[3]).documents}
    assert names <= {" ".join(one) for one in origins}
    with pytest.raises(ValueError, match=r"origins has 1 entries for 240 documents; give a pair"):
        fit(origins=origins[:1])


def test_a_corpus_holds_all_documents(corrected, wrong):
    corpus = Corpus(KITCHEN.texts + FILMS.texts)
    y = [*KITCHEN.labels, *[None] * N]
    clf = gs.TransductiveClassifier().fit(corpus, y, corrections=correct(wrong))
    assert np.array_equal(clf.transduction_proba_, corrected.transduction_proba_)
    assert clf.diagnostics_ == corrected.diagnostics_
    fewer = gs.TransductiveClassifier().fit(corpus, y, unlabelled=20)
    other = gs.TransductiveClassifier()
    other.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:100], unlabelled=FILMS.texts[100:])
    assert np.array_equal(fewer.transduction_proba_, other.transduction_proba_)
    with pytest.raises(ValueError, match="a Corpus holds the target too"):
        gs.TransductiveClassifier().fit(corpus, y, target=FILMS.texts)
    with pytest.raises(
        ValueError, match="unlabelled=121: some of these last documents have labels"
    ):
        gs.TransductiveClassifier().fit(corpus, y, unlabelled=121)
    with pytest.raises(ValueError, match="choose another kernel"):
        gs.TransductiveClassifier("rows", preset="paper").fit(corpus, y)


def test_weights_and_domains_go_with_corrections(wrong):
    weights, domains = [2.0] * 60 + [1.0] * 60, ["a"] * 60 + ["b"] * 60
    clf = fit(correct({0: "positive"}), sample_weight=weights, domains=domains)
    assert [one["domain"] for one in clf.sources_] == ["a", "b", "target"]


def test_a_saved_classifier_keeps_its_corrections(corrected, tmp_path):
    corrected.save(tmp_path / "model")
    loaded = gs.load(tmp_path / "model")
    assert np.array_equal(loaded.transduction_, corrected.transduction_)
    assert np.array_equal(loaded.transduction_proba_, corrected.transduction_proba_)
    assert np.array_equal(loaded.corrected_, corrected.corrected_)


def test_corrected_documents_are_not_drawn_again(corrected, wrong):
    for how in ("random", "doubtful"):
        assert not set(corrected.sample(N - 10, how=how).tolist()) & set(wrong)
    with pytest.raises(ValueError, match=f"n={N}: give a number from 1 to {N - 10}"):
        corrected.sample(N)


@pytest.mark.parametrize(
    ("corrections", "message"),
    [
        (["positive"], f"corrections has 1 labels for {N} target documents; give one for each"),
        ("positive", "corrections is not a list of labels"),
        (["positive"] * N, "corrections has a label for every target document"),
    ],
)
def test_corrections_that_cannot_be_are_an_error(corrections, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        fit(corrections)


def test_a_document_is_not_both_corrected_and_random():
    random = correct(dict.fromkeys(range(10), "positive"))
    with pytest.raises(ValueError, match="target document 9 has a label in corrections and in"):
        fit(correct({9: "positive"}), random_labels=random)


def test_the_estimate_counts_what_joins():
    clf = gs.TransductiveClassifier()
    some = clf.estimate(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    corrections = correct({0: "positive"})
    more = clf.estimate(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts, corrections=corrections, n_explained=50
    )
    assert (some.n_added, more.n_added) == (108, 107)
    assert more.n_bytes > some.n_bytes
    assert more.seconds > some.seconds
    small = gs.TransductiveClassifier(memory_limit="1 MB")
    with pytest.raises(MemoryError, match="allow more memory"):
        small.estimate(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


def lower(labels, confidence, known, **prior):
    return lower_wrong_classes(prior, labels, np.array(confidence), known)


def test_a_class_is_lowered_whose_checked_labels_were_wrong():
    """Ten of twelve labels "a" with 90 % confidence: 10.8 are expected to be right, and 2 are."""
    known = [*"aa", *"b" * 10, *"b" * 6, *[None] * 6]
    prior, lines = lower([*"a" * 12, *"b" * 12], [0.9] * 24, known, a=0.6, b=0.4)
    assert lines == ["10 of 12 checked labels 'a' were wrong, so that its proportion was lowered"]
    lowered = 0.6 * (2 + 1) / (10.8 + 1)
    assert prior == pytest.approx({"a": lowered / (lowered + 0.4), "b": 0.4 / (lowered + 0.4)})


@pytest.mark.parametrize(
    ("n_right", "n_wrong", "confidence"),
    [
        (0, 0, 0.9),  # nothing was checked
        (12, 0, 0.9),
        (6, 6, 0.9),  # far fewer than expected, but not most
        (5, 7, 0.55),  # most, but no fewer than chance explains
        (0, 1, 0.8),
        (0, 2, 0.6),
    ],
)
def test_no_class_is_lowered_without_need(n_right, n_wrong, confidence):
    n = n_right + n_wrong
    known = [*"a" * n_right, *"b" * n_wrong, None, None]
    prior, lines = lower([*"a" * (n + 1), "b"], [confidence] * (n + 2), known, a=0.7, b=0.3)
    assert lines == []
    assert prior == pytest.approx({"a": 0.7, "b": 0.3})


@pytest.mark.parametrize("n_wrong", [2, 5, 9])
def test_one_class_of_three_is_lowered_by_the_labels_that_were_wrong(n_wrong):
    """The other classes keep their ratio; the more labels were wrong, the less is left."""
    known = [*"a" * n_wrong, *[None] * (9 - n_wrong), *"a" * 9]
    prior, lines = lower([*"c" * 9, *"a" * 9], [0.95] * 18, known, a=0.2, b=0.3, c=0.5)
    assert len(lines) == 1
    assert f"{n_wrong} of {n_wrong} checked labels 'c' were wrong" in lines[0]
    left = 0.5 / (0.95 * n_wrong + 1)
    total = 0.5 + left
    assert prior == pytest.approx({"a": 0.2 / total, "b": 0.3 / total, "c": left / total})
