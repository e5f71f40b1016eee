"""Explanations against a version that goes through n-grams one by one."""

from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramshift as gs
from conftest import ALPHABET, examples
from gramshift.model.explain import cut_parts, find_shares, spread_scores
from gramshift.model.explanation import COLOURS, Explanation, Span
from gramshift.report.page import class_colours
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
        itself = 0.0 if explanation.itself is None else explanation.itself[label]
        documents = explanation.empty[label] + itself + sum(one.shares[label] for one in explanation.documents)
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
        place = one.number + (60 if one.role == "target" else 0)
        assert one.text == texts[place]
        assert one.label == [*SOURCE.labels[:60], *clf.transduction_][place]
        assert one.name == f"{one.role} {one.number}"
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
    assert "&lt;script&gt;alert</mark>" in page


@pytest.mark.filterwarnings("ignore:fit was given no target")
def test_labels_are_escaped_too():
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(["good pan", "bad pan"], ["<b>", '"&'])
    page = clf.explain("good").html()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page or "&quot;&amp;" in page


def test_text_is_for_a_terminal():
    shown = fit().explain(HOSTILE).text()
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in shown
    assert "words for" in shown


def test_a_terminal_gets_label_probability_score_words_and_documents():
    clf = fit()
    why = clf.explain(NEW)
    lines = why.text(n=2).splitlines()
    sure = clf.predict_proba([NEW])[0].max()
    assert why.probability == pytest.approx(dict(zip(clf.classes_, clf.predict_proba([NEW])[0], strict=True)))
    score, empty = why.score[why.label], why.empty[why.label]
    assert lines[0] == f"{why.label} ({sure:.0%}): score {score:+.3f} (an empty text scores {empty:+.3f})"
    assert repr(why) == f"<Explanation: {lines[0]}>"
    for heading in (f"words for {why.label}:", f"words against {why.label}:", "most influential training documents:"):
        after = lines[lines.index(heading) + 1 :][:2]
        assert all(line.startswith(("  +", "  -")) for line in after)
    great = sum(word.shares["positive"] for word in why.words if word.text.casefold() == "great")
    assert f"  {great:+.3f}  great (2 times)" in lines


def test_a_word_that_stands_twice_is_listed_once():
    one = Span(0, 5, "Great", "good", {"good": 0.25, "bad": -0.25})
    words = [one, replace(one, start=10, stop=15, text="great"), replace(one, start=20, stop=23, text="lid")]
    given_ = {"score": {"good": 1.0, "bad": -1.0}, "empty": {"good": 0.0, "bad": 0.0}, "probability": {}}
    lines = Explanation("...", "good", spans=[], documents=[], words=words, **given_).text().splitlines()
    assert lines == [
        "good: score +1.000 (an empty text scores +0.000)",
        "",
        "words for good:",
        "  +0.500  Great (2 times)",
        "  +0.250  lid",
    ]


@pytest.mark.parametrize("options", [{}, {"preset": "best", "n_added": None}])
def test_a_document_is_not_its_own_neighbour(options):
    clf = fit(**options)
    for role, text in (("target", FILMS.texts[5]), ("source", SOURCE.texts[5])):
        why = clf.explain(text)
        assert why.itself is not None
        assert len(why.documents) == 119
        assert not any(one.role == role and one.number == 5 for one in why.documents)
    known = clf.explain(FILMS.texts[5])
    assert (known.label, known.probability[known.label]) == (clf.transduction_[5], clf.transduction_proba_[5].max())
    both = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(
        SOURCE.texts[:20], SOURCE.labels[:20], target=[*FILMS.texts[:5], SOURCE.texts[3]]
    )
    copied = both.explain(SOURCE.texts[3])
    assert [one.number for one in copied.documents if one.text == SOURCE.texts[3]] == [3]  # the copy in the source is another
    assert copied.documents[0].role == "source"


def test_words_are_whole_and_their_shares_are_those_of_their_characters():
    clf = fit_linear()
    why, (by_character,) = clf.explain(NEW), clf._fit.model.ngrams.spread([NEW])
    assert {word.text for word in why.words} & {"great", "LOVE", "broke", "lid"}
    for word in why.words:
        assert NEW[word.start : word.stop] == word.text
        assert not word.text[0].isalnum() or not NEW[max(0, word.start - 1) : word.start].isalnum()
        assert not word.text[-1].isalnum() or not NEW[word.stop : word.stop + 1].isalnum()
        np.testing.assert_allclose(list(word.shares.values()), by_character[word.start : word.stop].sum(axis=0), atol=1e-12)
    places = sorted((word.start, word.stop) for word in why.words)
    assert all(stop <= start for (_, stop), (start, _) in pairwise(places))


def test_a_page_marks_words_in_the_colour_of_their_class():
    why = fit().explain(NEW)
    assert why._repr_html_() == why.html()
    assert why.html().count("<mark") == 5
    codes = {list(why.score).index(word.label) for word in why.words[:5]}
    for code, colour in enumerate(COLOURS[:3]):
        assert (colour in why.html()) == (code in codes)
        assert f"--c{code}: {colour};" in class_colours()


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
        place = one.number + (40 if one.role == "target" else 0)
        assert one.text == texts[place]
        assert np.isclose(one.similarity, shares.similarity[place], rtol=0, atol=1e-12)
        expected = clf._fit.model.coefficients[place] * shares.gain[place]
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
    assert "most influential training documents:" in expected.text()
    assert found.text() == expected.text().partition("\n\nmost influential training documents:")[0]
    assert "words for" in found.text()
    assert found.html() == expected.html()
    assert loaded.explain("").text().splitlines()[0] == clf.explain("").text().splitlines()[0]
    shares = list(spread_scores(loaded._fit.model, [NEW, ""], own=[-1, -1]))
    np.testing.assert_allclose(shares[0], clf._fit.model.ngrams.spread([NEW])[0], rtol=0, atol=0)
    assert shares[1].shape == (0, 2)


def test_html_of_a_long_text_shows_its_beginning():
    text = "q" * 100_000 + "good" * 10
    words = [Span(0, 4, "qqqq", "a", {"a": 1.0}), Span(99_999, 100_003, "qgoo", "a", {"a": 1.0})]
    explanation = Explanation(text, "a", {"a": 1.0}, {"a": 0.0}, spans=[], documents=[], probability={}, words=words)
    page = explanation.html()
    assert "good" not in page
    assert page.count("q") == 100_000
    assert page.count("<mark") == 1
    assert "40 more characters are not shown" in page


@pytest.mark.parametrize("preset", ["paper", "best"])
def test_texts_are_explained_as_many_at_a_time_as_memory_is_told_of(preset):
    clf = fit(preset=preset, n_added=None) if preset == "best" else fit()
    texts = [*FILMS.texts[:9], "", NEW * 3, FILMS.texts[9]]
    own = [*range(60, 69), -1, -1, 69]
    whole = list(spread_scores(clf._fit.model, texts, own=own))
    if preset == "best":
        parts = list(spread_scores(clf._fit.model, texts, own=own, together=100))
    else:
        parts = [one.by_character for one in find_shares(clf._fit.model, texts, own=own, together=100)]
    assert all(np.array_equal(first, second) for first, second in zip(whole, parts, strict=True))


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], []),
        ([5], [1]),
        ([0, 0, 0, 0], [3, 1]),
        ([4, 6, 1, 9, 1], [2, 2, 1]),
        ([30, 1, 30], [1, 1, 1]),
        ([10, 0, 1], [2, 1]),
    ],
)
def test_parts_have_few_texts_and_few_characters(lengths, expected):
    texts = ["x" * length for length in lengths]
    parts = list(cut_parts(texts, 3, 10))
    assert [part.stop - part.start for part in parts] == expected
    assert [text for part in parts for text in texts[part]] == texts
