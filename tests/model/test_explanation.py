"""Explanations against a version that goes through n-grams one by one."""

from collections import Counter
from html.parser import HTMLParser
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramshift as gs
from gramshift.data.demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
NEW = "A  great blender \N{EM DASH} I LOVE it,\n but the lid broke. Great!"


def fit(n=60, **options):
    given = {"ngram_range": (2, 4), "n_added": 20} | options
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
    clf = gs.TransductiveClassifier(ngram_range=(2, 4)).fit(SOURCE.texts[:60], labels, target=FILMS.texts[:10])
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


def test_marked_text_is_escaped_too():
    """The tag is what decides here, so it stands within a mark."""
    texts = ["<script>alert(1)</script> good", "<b>bad</b> & worse"]
    page = gs.TransductiveClassifier(ngram_range=(2, 4)).fit(texts, ["x", "y"]).explain("<script>alert(1)</script>").html()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</mark>" in page


def test_labels_are_escaped_too():
    clf = gs.TransductiveClassifier(ngram_range=(2, 4)).fit(["good pan", "bad pan"], ["<b>", '"&'])
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


def test_what_cannot_be_explained_is_an_error():
    clf = fit()
    with pytest.raises(TypeError, match="one document as a str, not a list"):
        clf.explain([NEW])
    other = gs.TransductiveClassifier(kernel=gs.StringKernel(ngram_range=(2, 3)).gram).fit(SOURCE.texts, SOURCE.labels)
    with pytest.raises(ValueError, match="needs string kernels"):
        other.explain(NEW)
