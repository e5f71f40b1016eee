"""Explanations against a version that goes through n-grams one by one."""

from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramshift as gs
from conftest import ALPHABET, examples
from gramshift.model.explain import find_shares, spread_scores
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
NEW = "A  great blender \N{EM DASH} I LOVE it,\n but the lid broke. Great!"


def fit(n=60, **options):
    given = {"preset": "paper", "ngram_range": (2, 4), "n_added": 20} | options
    return gs.TransductiveClassifier(**given).fit(SOURCE.texts[:n], SOURCE.labels[:n], target=FILMS.texts[:n])


def naive_shares(text, documents, coefficients, low, high, kind, adapt):
    """{(n-gram): share} for one class: K-hat as a sum over n-grams, its part of exp(-1 + s) - exp(-1) in proportion."""

    def ngrams(one):
        prepared = " ".join(one.lower().split())
        return Counter(prepared[i : i + n] for n in range(low, high + 1) for i in range(len(prepared) - n + 1))

    def together(a, b):
        return {"presence": 1, "intersection": min(a, b), "spectrum": a * b}[kind]

    def part(a, b):
        return {g: together(a[g], b[g]) for g in a if g in b}

    mine, shares = ngrams(text), Counter()
    for document, coefficient in zip(documents, coefficients, strict=True):
        theirs = ngrams(document)
        norm = sqrt(sum(part(mine, mine).values()) * sum(part(theirs, theirs).values()))
        parts = {g: value / norm for g, value in part(mine, theirs).items()}
        s = sum(parts.values())
        for g, value in parts.items():
            shares[g] += coefficient * ((exp(-1 + s) - exp(-1)) * value / s if adapt else value)
    return shares


@pytest.mark.parametrize("kind", ["presence", "intersection", "spectrum"])
@pytest.mark.parametrize("adapt", [True, False])
def test_shares_are_those_of_the_n_grams(kind, adapt):
    clf = fit(20, kernel=kind, adapt=adapt)
    explanation = clf.explain(NEW)
    model = clf._fit.model
    naive = naive_shares(NEW, model.documents, model.coefficients[:, 1], 2, 4, kind, adapt)
    spans = sum(span.shares["positive"] for span in explanation.spans)
    assert np.isclose(spans, sum(naive.values()), atol=1e-12)
    prepared = " ".join(NEW.lower().split())
    by_character = np.zeros(len(prepared))
    for gram, share in naive.items():
        places = [i for i in range(len(prepared)) if prepared.startswith(gram, i)]
        for place in places:
            by_character[place : place + len(gram)] += share / len(places) / len(gram)
    first = explanation.spans[0]
    covered = len(" ".join(NEW[: first.stop].lower().split(" "))) - NEW[: first.stop].count("  ")
    assert np.isclose(first.shares["positive"], by_character[:covered].sum(), atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"adapt": False}, {"bias": True}, {"kernel": ["presence", gs.StringKernel("spectrum", ngram_range=(3, 3))]}]
)
@pytest.mark.parametrize("text", [NEW, "", "zzzz", FILMS.texts[0], "ΣΑΣ great"])
def test_shares_add_up_to_the_score(options, text):
    clf = fit(**options)
    explanation = clf.explain(text)
    scores = clf._score([text])[0]
    for column, label in enumerate(clf.classes_):
        spans = explanation.empty[label] + sum(span.shares[label] for span in explanation.spans)
        documents = explanation.empty[label] + sum(one.shares[label] for one in explanation.documents)
        assert np.isclose(spans, explanation.score[label], rtol=0, atol=1e-12 * max(1, abs(scores).max()))
        assert np.isclose(documents, explanation.score[label], rtol=0, atol=1e-12 * max(1, abs(scores).max()))
        assert np.isclose(scores[column], explanation.score[label], rtol=0, atol=1e-7)
    assert explanation.label == clf.predict([text])[0]


def test_an_empty_document_scores_what_it_says():
    clf = fit()
    explanation = clf.explain("")
    assert explanation.spans == []
    assert explanation.empty == explanation.score


def test_many_classes():
    labels = ["abc"[i % 3] for i in range(60)]
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(SOURCE.texts[:60], labels, target=FILMS.texts[:10])
    explanation = clf.explain(NEW)
    for column, label in enumerate("abc"):
        total = explanation.empty[label] + sum(span.shares[label] for span in explanation.spans)
        assert np.isclose(total, clf.decision_function([NEW])[0, column], atol=1e-10)


def test_documents_say_who_they_are():
    clf = fit()
    first, *rest = clf.explain(NEW).documents
    assert len(rest) == 119
    assert first.role in ("source", "target")
    texts = SOURCE.texts[:60] + FILMS.texts[:60]
    for one in (first, *rest):
        assert one.text == texts[one.number]
        assert one.role == ("source" if one.number < 60 else "target")
        assert one.label == [*SOURCE.labels[:60], *clf.transduction_][one.number]
    sizes = [abs(one.shares["positive"]) for one in (first, *rest)]
    assert sizes == sorted(sizes, reverse=True)


class Reader(HTMLParser):
    """Collects the text of the paragraph, and fails on any tag that we do not write."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.inside, self.tags = "", False, set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.inside = self.inside or tag == "p"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "p"

    def handle_data(self, data):
        self.text += data if self.inside else ""


HOSTILE = (
    "<script>alert(1)</script> &amp; \"' \N{RIGHT-TO-LEFT OVERRIDE}great\N{HEBREW LETTER ALEF} a </p><img src=x onerror=1>"
)


def test_html_is_escaped_and_keeps_every_character():
    clf = fit()
    for text in (NEW, HOSTILE, "", "great"):
        reader = Reader()
        reader.feed(clf.explain(text).html())
        assert reader.text == text
        assert reader.tags <= {"figure", "figcaption", "p", "mark"}
    assert 'dir="auto"' in clf.explain(HOSTILE).html()


@pytest.mark.filterwarnings("ignore:fit was given no target")
def test_marked_text_is_escaped_too():
    """The tag is what decides here, so it stands within a mark."""
    texts = ["<script>alert(1)</script> good", "<b>bad</b> & worse"]
    page = (
        gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4))
        .fit(texts, ["x", "y"])
        .explain("<script>alert(1)</script>")
        .html()
    )
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</mark>" in page


@pytest.mark.filterwarnings("ignore:fit was given no target")
def test_labels_are_escaped_too():
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(["good pan", "bad pan"], ["<b>", '"&'])
    page = clf.explain("good").html()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page or "&quot;&amp;" in page


def test_text_is_for_a_terminal():
    shown = fit().explain(HOSTILE).text()
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in shown
    assert "what counts for and against" in shown


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=40))
def test_any_text_can_be_explained(text):
    explanation = CLASSIFIER.explain(text)
    assert all(span.text == text[span.start : span.stop] for span in explanation.spans)
    total = explanation.empty["positive"] + sum(span.shares["positive"] for span in explanation.spans)
    assert np.isclose(total, explanation.score["positive"], atol=1e-10)


CLASSIFIER = fit(20, kernel=gs.StringKernel("intersection", ngram_range=(1, 3), unicode_form="NFKC"))


@pytest.mark.filterwarnings("ignore:fit was given no target")
def test_what_cannot_be_explained_is_an_error():
    clf = fit()
    with pytest.raises(TypeError, match="one document as a str, not a list"):
        clf.explain([NEW])
    other = gs.TransductiveClassifier(preset="paper", kernel=gs.StringKernel(ngram_range=(2, 3)).gram).fit(
        SOURCE.texts, SOURCE.labels
    )
    with pytest.raises(ValueError, match="needs string kernels"):
        other.explain(NEW)


@cache
def fit_linear(n_classes=2, **options):
    """With copies and an empty document; by n-grams of characters and by words."""
    labels = SOURCE.labels[:40] if n_classes == 2 else [i % n_classes for i in range(40)]
    source, target = [*SOURCE.texts[:38], SOURCE.texts[1], ""], [*FILMS.texts[:20], FILMS.texts[2], SOURCE.texts[0]]
    given = {"preset": "best", "ngram_range": (2, 4), "n_rounds": 3} | options
    return gs.TransductiveClassifier(**given).fit(source, labels, target=target)


def by_documents(clf, texts, own=None):
    """What characters add, through the similarity to each document of the fit."""
    model = clf._fit.model
    assert model.ngrams is not None
    return [one.by_character for one in find_shares(replace(model, ngrams=None), texts, own=own)]


@given(st.text(alphabet=ALPHABET + "Good lid!, t.", max_size=30))
@examples(15)
def test_characters_of_a_linear_model_are_those_of_the_way_through_documents(text):
    for clf in (fit_linear(), fit_linear(7), fit_linear(3, bias=True, kernel="words")):
        model, explanation = clf._fit.model, clf.explain(text)
        (expected,) = by_documents(clf, [text])
        (found,) = model.ngrams.spread([text])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        for column, label in enumerate(clf.classes_):
            total = explanation.empty[label] + sum(span.shares[label] for span in explanation.spans)
            assert np.isclose(total, clf._fit.model.score([text])[0, column], rtol=0, atol=1e-12)
            assert np.isclose(explanation.score[label], total, rtol=0, atol=1e-12)
            assert explanation.empty[label] == model.intercepts[column]


@pytest.mark.parametrize("options", [{}, {"n_classes": 7}, {"n_classes": 3, "bias": True, "kernel": "words"}])
def test_a_linear_model_explains_as_other_models_do(options):
    clf = fit_linear(**options)
    explanation, texts = clf.explain(NEW), clf._fit.model.documents
    (shares,) = find_shares(replace(clf._fit.model, ngrams=None), [NEW])
    assert len(explanation.documents) == len(texts) == 62
    for one in explanation.documents:
        assert one.text == texts[one.number]
        assert np.isclose(one.similarity, shares.similarity[one.number], rtol=0, atol=1e-12)
        expected = clf._fit.model.coefficients[one.number] * shares.gain[one.number]
        np.testing.assert_allclose(list(one.shares.values()), expected, rtol=0, atol=1e-12)
    for label in clf.classes_:
        total = explanation.empty[label] + sum(one.shares[label] for one in explanation.documents)
        assert np.isclose(total, explanation.score[label], rtol=0, atol=1e-12)
    for span in explanation.spans:
        added = shares.by_character[span.start : span.stop].sum(axis=0)
        np.testing.assert_allclose(list(span.shares.values()), added, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"n_classes": 7}, {"n_classes": 3, "bias": True, "kernel": "words"}])
@pytest.mark.parametrize("block", [1, 5, 64])
def test_what_a_document_taught_about_itself_is_left_out(options, block):
    """Documents of the fit, of source and target, in the training set or not; and others, which have no own part."""
    clf = fit_linear(**options)
    texts, own, told = clf._fit.model.documents, [*range(50), -1, -1, -1], []
    given_ = [*texts[:50], NEW, "", texts[55]]
    expected = by_documents(clf, given_, own)
    found = list(spread_scores(clf._fit.model, given_, own=own, block=block, progress=lambda *step: told.append(step)))
    assert len(found) == 53
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert told[-1] == ("explain", 53, 53)


def test_without_texts_there_are_no_neighbours(tmp_path):
    clf = fit_linear()
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    found, expected = loaded.explain(HOSTILE), clf.explain(HOSTILE)
    assert expected.documents
    assert found == replace(expected, documents=[])
    assert "through likeness with" in expected.text()
    assert found.text() == expected.text().partition("\n\nthrough likeness with:")[0]
    assert "what counts for and against" in found.text()
    assert found.html() == expected.html()
    assert loaded.explain("").text().splitlines()[0] == clf.explain("").text().splitlines()[0]
    shares = list(spread_scores(loaded._fit.model, [NEW, ""], own=[-1, -1]))
    np.testing.assert_allclose(shares[0], clf._fit.model.ngrams.spread([NEW])[0], rtol=0, atol=0)
    assert shares[1].shape == (0, 2)
