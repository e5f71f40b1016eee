"""Explanations against a version that goes through n-grams one by one."""

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
import naive
from conftest import ALPHABET, KINDS, PAIR_KINDS, examples
from gramshift.model.explanation import (
    COLOURS,
    NO_WORDS,
    Explanation,
    Span,
    cut_parts,
    mark_style,
    spread_scores,
)
from gramshift.model.ngram_model import at_origins
from gramshift.report.page import class_colours
from gramshift.text.steps import TextSteps, align
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
NEW = "A  great blender \N{EM DASH} I LOVE it,\n but the lid broke. Great!"


def fit(n=60, **options):
    given = {"preset": "paper", "ngram_range": (2, 4), "n_added": 20} | options
    return gs.TransductiveClassifier(**given).fit(
        SOURCE.texts[:n], SOURCE.labels[:n], target=FILMS.texts[:n]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adapt", [True, False])
def test_documents_add_what_their_similarity_is_worth(kind, adapt):
    clf = fit(20, kernel=kind, adapt=adapt)
    why, model = clf.explain(NEW), clf.result_.model
    values = naive.normalized_gram(
        kind, [naive.prepare(NEW)], list(map(naive.prepare, model.documents)), (2, 4)
    )[0]
    by_text = {
        text: (value, row)
        for text, value, row in zip(model.documents, values, model.coefficients, strict=True)
    }
    assert len(why.documents) == 40
    for one in why.documents:
        value, coefficients = by_text[one.text]
        assert one.similarity == pytest.approx(value, abs=1e-12)
        gain = exp(-1 + value) - exp(-1) if adapt else value
        np.testing.assert_allclose(
            list(one.shares.values()), coefficients * gain, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "words"}, {"preset": "best", "weighting": "idf", "n_added": None}]
)
def test_models_that_are_not_linear_mark_no_words_and_say_so(options):
    why = fit(20, **options).explain(NEW)
    assert (why.has_words, why.words, why.spans) == (False, [], [])
    assert why.text().splitlines()[1:4] == ["", NO_WORDS, ""]
    assert "most influential training documents:" in why.text()
    assert NO_WORDS in why.html()
    assert "<mark" not in why.html()
    assert "Use the default, best, for marked words." in NO_WORDS


@pytest.mark.filterwarnings("ignore:ngram_range")  # an empty text, compared with itself alone
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"adapt": False},
        {"bias": True},
        {"kernel": ["presence", gs.StringKernel("spectrum", ngram_range=(3, 3))]},
        *({"kernel": kind} for kind in PAIR_KINDS),
        {"kernel": gs.StringKernel(ngram_range=(2, 3)).gram},
    ],
)
def test_shares_add_up_to_the_score(options):
    clf = fit(**options)
    for text in (NEW, "", "zzzz", FILMS.texts[0], "ΣΑΣ great"):
        explanation = clf.explain(text)
        scores = clf.result_.model.score([text])[0]
        for column, label in enumerate(clf.classes_):
            itself = 0.0 if explanation.itself is None else explanation.itself[label]
            documents = (
                explanation.empty[label]
                + itself
                + sum(one.shares[label] for one in explanation.documents)
            )
            assert np.isclose(
                documents, explanation.score[label], rtol=0, atol=1e-12 * max(1, abs(scores).max())
            )
            assert np.isclose(scores[column], explanation.score[label], rtol=0, atol=1e-7)
        assert explanation.label == clf.predict([text])[0]


def test_an_empty_document_scores_what_it_says():
    clf = fit()
    explanation = clf.explain("")
    assert explanation.spans == []
    assert explanation.empty == explanation.score


def test_many_classes():
    labels = ["abc"[i % 3] for i in range(60)]
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(
        SOURCE.texts[:60], labels, target=FILMS.texts[:10]
    )
    explanation = clf.explain(NEW)
    for column, label in enumerate("abc"):
        total = explanation.empty[label] + sum(one.shares[label] for one in explanation.documents)
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
    "<script>alert(1)</script> &amp; \"' \N{RIGHT-TO-LEFT OVERRIDE}great\N{HEBREW LETTER ALEF} a"
    " </p><img src=x onerror=1>"
)


def test_html_is_escaped_and_keeps_every_character():
    clf = fit_linear()
    for text in (NEW, HOSTILE, "", "great"):
        reader = Reader()
        reader.feed(clf.explain(text).html())
        assert reader.text == text
        assert reader.tags <= {"figure", "figcaption", "p", "mark"}
    assert 'dir="auto"' in clf.explain(HOSTILE).html()


@pytest.mark.filterwarnings("ignore:fit got no target")
def test_marked_text_is_escaped_too():
    """The tag is what decides here, so it stands within a mark."""
    texts = ["<script>alert(1)</script> good", "<b>bad</b> & worse"] * 2
    page = (
        gs.TransductiveClassifier()
        .fit(texts, ["x", "y"] * 2)
        .explain("<script>alert(1)</script>")
        .html()
    )
    assert "<script>" not in page
    assert "&lt;script&gt;alert</mark>" in page


@pytest.mark.filterwarnings("ignore:fit got no target")
def test_labels_are_escaped_too():
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(
        ["good pan", "bad pan"], ["<b>", '"&']
    )
    page = clf.explain("good").html()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page or "&quot;&amp;" in page


def test_text_is_for_a_terminal():
    shown = fit_linear().explain(HOSTILE).text()
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in shown
    assert "words for" in shown


def test_a_terminal_gets_label_probability_score_words_and_documents():
    clf = fit(preset="best", n_added=None)
    why = clf.explain(NEW)
    lines = why.text(n=2).splitlines()
    sure = clf.predict_proba([NEW])[0].max()
    assert why.probability == pytest.approx(
        dict(zip(clf.classes_, clf.predict_proba([NEW])[0], strict=True))
    )
    score, empty = why.score[why.label], why.empty[why.label]
    assert (
        lines[0]
        == f"{why.label} ({sure:.0%}): score {score:+.3f} (an empty text scores {empty:+.3f})"
    )
    assert repr(why) == f"<Explanation: {lines[0]}>"
    for heading in (
        f"words for {why.label}:",
        f"words against {why.label}:",
        "most influential training documents:",
    ):
        after = lines[lines.index(heading) + 1 :][:2]
        assert all(line.startswith(("  +", "  -")) for line in after)
    great = sum(word.shares[why.label] for word in why.words if word.text.casefold() == "great")
    assert f"  {great:+.3f}  great (2 times)" in lines


def test_a_word_that_stands_twice_is_listed_once():
    one = Span(0, 5, "Great", "good", {"good": 0.25, "bad": -0.25})
    words = [
        one,
        replace(one, start=10, stop=15, text="great"),
        replace(one, start=20, stop=23, text="lid"),
    ]
    given_ = {
        "score": {"good": 1.0, "bad": -1.0},
        "empty": {"good": 0.0, "bad": 0.0},
        "probability": {"good": 0.9, "bad": 0.1},
    }
    lines = (
        Explanation("...", "good", spans=[], documents=[], words=words, **given_)
        .text()
        .splitlines()
    )
    assert lines == [
        "good (90%): score +1.000 (an empty text scores +0.000)",
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
    assert (known.label, known.probability[known.label]) == (
        clf.transduction_[5],
        clf.transduction_proba_[5].max(),
    )
    both = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4)).fit(
        SOURCE.texts[:20], SOURCE.labels[:20], target=[*FILMS.texts[:5], SOURCE.texts[3]]
    )
    copied = both.explain(SOURCE.texts[3])
    assert [one.number for one in copied.documents if one.text == SOURCE.texts[3]] == [
        3
    ]  # the copy in the source is another
    assert copied.documents[0].role == "source"


def test_words_are_whole_and_their_shares_are_those_of_their_characters():
    clf = fit_linear()
    why, (by_character,) = clf.explain(NEW), clf.result_.model.ngrams.spread([NEW])
    assert {word.text for word in why.words} & {"great", "LOVE", "broke", "lid"}
    for word in why.words:
        assert NEW[word.start : word.stop] == word.text
        assert not word.text[0].isalnum() or not NEW[max(0, word.start - 1) : word.start].isalnum()
        assert not word.text[-1].isalnum() or not NEW[word.stop : word.stop + 1].isalnum()
        np.testing.assert_allclose(
            list(word.shares.values()), by_character[word.start : word.stop].sum(axis=0), atol=1e-12
        )
    places = sorted((word.start, word.stop) for word in why.words)
    assert all(stop <= start for (_, stop), (start, _) in pairwise(places))


def test_a_page_marks_words_in_the_colour_of_their_class():
    why = fit_linear().explain(NEW)
    assert why._repr_html_() == why.html()
    assert why.html().count("<mark") == 5
    codes = {list(why.score).index(word.label) for word in why.words[:5]}
    for code, colour in enumerate(COLOURS[:3]):
        assert (colour in why.html()) == (code in codes)
        assert f"--c{code}: {colour};" in class_colours()
    assert len({mark_style(code, 0.5) for code in range(16)}) == 16


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=40))
def test_any_text_can_be_explained(text):
    explanation = CLASSIFIER.explain(text)
    total = explanation.empty["positive"] + sum(
        one.shares["positive"] for one in explanation.documents
    )
    assert np.isclose(total, explanation.score["positive"], atol=1e-10)


CLASSIFIER = fit(
    20, kernel=gs.StringKernel("intersection", ngram_range=(1, 3), unicode_form="NFKC")
)


def test_what_cannot_be_explained_is_an_error():
    with pytest.raises(TypeError, match="one document, a str, and not one of type list"):
        CLASSIFIER.explain([NEW])
    given_ = gs.TransductiveClassifier("precomputed", preset="paper").fit(
        np.eye(4), ["a", "b", None, None]
    )
    with pytest.raises(
        ValueError, match="this classifier was fitted on a kernel matrix; fit on texts"
    ):
        given_.explain(NEW)


@cache
def fit_linear(n_classes=2, **options):
    """With copies and an empty document; by n-grams of characters and by words."""
    labels = SOURCE.labels[:40] if n_classes == 2 else [i % n_classes for i in range(40)]
    source, target = (
        [*SOURCE.texts[:38], SOURCE.texts[1], ""],
        [*FILMS.texts[:20], FILMS.texts[2], SOURCE.texts[0]],
    )
    given = {"preset": "best", "ngram_range": (2, 4), "n_rounds": 3} | options
    return gs.TransductiveClassifier(**given).fit(source, labels, target=target)


def find_tokens(text, unit):
    """Return the characters or words of a prepared text, and their places in the original."""
    one = align(text, TextSteps())
    if unit == "character":
        return list(zip(one.text, one.starts, one.stops, strict=True))
    words = [
        (word, one.starts[start], one.stops[stop - 1])
        for start, stop, word in naive.words_at(one.text)
    ]
    n_opening = len(naive.words_with_opening(one.text)) - len(words)
    return words + [("«" + word, start, stop) for word, start, stop in words[:n_opening]]


def find_places(tokens, ngram_range):
    """Where each n-gram of these tokens stands."""
    places = {}
    for n in range(ngram_range[0], ngram_range[1] + 1):
        for at in range(len(tokens) - n + 1):
            places.setdefault(tuple(token for token, *_ in tokens[at : at + n]), []).append(at)
    return places


@cache
def find_ngrams(documents, unit, ngram_range):
    return [set(find_places(find_tokens(one, unit), ngram_range)) for one in documents]


@cache
def weigh(ngram, documents, unit, ngram_range, classes):
    """What an n-gram weighs in the preset "best"."""
    return naive.ngram_weight(
        ngram, find_ngrams(documents, unit, ngram_range), {"idf": 2, "classes": 1}, None, classes
    )


def spread_naively(clf, text, own=-1):
    """Return what characters add, n-gram by n-gram, through documents other than ``own``."""
    model = clf.result_.model
    documents, kernels = tuple(model.documents), model.kernel_list.kernels
    classes = tuple(model.reference.groups["classes"])
    result = np.zeros((len(text), len(clf.classes_)))
    for kernel in kernels:
        options = documents, kernel.unit, kernel.ngram_range
        tokens, sets = find_tokens(text, kernel.unit), find_ngrams(*options)
        places = find_places(tokens, kernel.ngram_range)
        sizes = [sum(weigh(gram, *options, classes) for gram in one) for one in (places, *sets)]
        for row, theirs in enumerate(sets):
            for gram in theirs & set(places):
                weight = weigh(gram, *options, classes)
                if row == own or weight == 0:
                    continue
                each = (
                    weight
                    / sqrt(sizes[0] * sizes[row + 1])
                    / len(kernels)
                    / len(places[gram])
                    / len(gram)
                )
                for _, start, stop in (
                    token for at in places[gram] for token in tokens[at : at + len(gram)]
                ):
                    result[start:stop] += each * model.coefficients[row] / (stop - start)
    return result


@given(
    st.text(alphabet="aB \t\n\0éE\u0301Σİﬁ😀\ud83d", max_size=20),
    st.sampled_from([None, "NFC", "NFKD"]),
)
def test_shares_go_to_where_characters_come_from(text, form):
    aligned = align(text, TextSteps(unicode_form=form))
    values = np.random.default_rng(1).normal(size=(len(aligned.text), 2))
    expected = np.zeros((len(text), 2))
    for value, start, stop in zip(values, aligned.starts, aligned.stops, strict=True):
        expected[start:stop] += value / (stop - start)
    np.testing.assert_allclose(at_origins(values, aligned, len(text)), expected, rtol=0, atol=1e-12)


@given(st.text(alphabet=ALPHABET + "Good lid!, t.", max_size=30))
@examples(15)
def test_characters_of_a_linear_model_are_those_of_the_way_through_documents(text):
    for clf in (fit_linear(), fit_linear(7), fit_linear(3, bias=True, kernel="words")):
        model, explanation = clf.result_.model, clf.explain(text)
        (found,) = model.ngrams.spread([text])
        np.testing.assert_allclose(found, spread_naively(clf, text), rtol=0, atol=1e-12)
        for column, label in enumerate(clf.classes_):
            total = explanation.empty[label] + sum(span.shares[label] for span in explanation.spans)
            assert np.isclose(total, clf.result_.model.score([text])[0, column], rtol=0, atol=1e-12)
            assert np.isclose(explanation.score[label], total, rtol=0, atol=1e-12)
            assert explanation.empty[label] == model.intercepts[column]


@pytest.mark.parametrize(
    "options", [{}, {"n_classes": 7}, {"n_classes": 3, "bias": True, "kernel": "words"}]
)
def test_a_linear_model_explains_as_other_models_do(options):
    clf = fit_linear(**options)
    explanation, texts = clf.explain(NEW), clf.result_.model.documents
    similarity, by_character = clf.result_.model.describe([NEW]).gram[0], spread_naively(clf, NEW)
    assert len(explanation.documents) == len(texts) == 62
    for one in explanation.documents:
        place = one.number + (40 if one.role == "target" else 0)
        assert one.text == texts[place]
        assert np.isclose(one.similarity, similarity[place], rtol=0, atol=1e-12)
        expected = clf.result_.model.coefficients[place] * similarity[place]
        np.testing.assert_allclose(list(one.shares.values()), expected, rtol=0, atol=1e-12)
    for label in clf.classes_:
        total = explanation.empty[label] + sum(one.shares[label] for one in explanation.documents)
        assert np.isclose(total, explanation.score[label], rtol=0, atol=1e-12)
    for span in explanation.spans:
        added = by_character[span.start : span.stop].sum(axis=0)
        np.testing.assert_allclose(list(span.shares.values()), added, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"n_classes": 7}, {"n_classes": 3, "bias": True, "kernel": "words"}]
)
@pytest.mark.parametrize("block", [1, 5, 64])
def test_what_a_document_taught_about_itself_is_left_out(options, block):
    """Of documents of the fit, in the training set or not, and of others."""
    clf = fit_linear(**options)
    texts, own, told = clf.result_.model.documents, [*range(50), -1, -1, -1], []
    given_ = [*texts[:50], NEW, "", texts[55]]
    found = list(
        spread_scores(
            clf.result_.model,
            given_,
            own=own,
            block=block,
            progress=lambda *step: told.append(step),
        )
    )
    assert len(found) == 53
    for one, text, number in list(zip(found, given_, own, strict=True))[::6]:
        np.testing.assert_allclose(one, spread_naively(clf, text, number), rtol=0, atol=1e-12)
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
    shares = list(spread_scores(loaded.result_.model, [NEW, ""], own=[-1, -1]))
    np.testing.assert_allclose(shares[0], clf.result_.model.ngrams.spread([NEW])[0], rtol=0, atol=0)
    assert shares[1].shape == (0, 2)


def test_html_of_a_long_text_shows_its_beginning():
    text = "q" * 100_000 + "good" * 10
    words = [Span(0, 4, "qqqq", "a", {"a": 1.0}), Span(99_999, 100_003, "qgoo", "a", {"a": 1.0})]
    explanation = Explanation(
        text,
        "a",
        {"a": 1.0},
        {"a": 0.0},
        spans=[],
        documents=[],
        probability={"a": 1.0},
        words=words,
    )
    page = explanation.html()
    assert "good" not in page
    assert page.count("q") == 100_000
    assert page.count("<mark") == 1
    assert "40 more characters are not shown" in page


def test_texts_are_explained_as_many_at_a_time_as_memory_is_told_of():
    model = fit(preset="best", n_added=None).result_.model
    texts = [*FILMS.texts[:9], "", NEW * 3, FILMS.texts[9]]
    own = [*range(60, 69), -1, -1, 69]
    whole, parts = (
        list(spread_scores(model, texts, own=own)),
        list(spread_scores(model, texts, own=own, together=100)),
    )
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
