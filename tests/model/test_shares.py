"""Shares of many documents at once against a version that goes through n-grams one by one."""

from collections import Counter
from math import e, expm1, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramshift as gs
import naive
from conftest import KINDS, texts
from gramshift.model import explain as shares
from gramshift.model.explain import decisive_spans
from gramshift.model.fitted import Model
from gramshift.model.ngram_model import at_origins
from gramshift.model.similarities import Reference, Similarities
from gramshift.text.steps import TextSteps, align
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")


def naive_by_character(text, documents, coefficients, ngram_range, kind, adapt, weigh=lambda gram: 1):
    """Of texts as they are, without any steps before; ``weigh`` says what an n-gram counts beside what the kind says."""

    def ngrams(one):
        lengths = range(ngram_range[0], ngram_range[1] + 1)
        return Counter(one[i : i + n] for n in lengths for i in range(len(one) - n + 1))

    def kernel(a, b):
        together = {"presence": lambda x, y: 1, "intersection": min, "spectrum": lambda x, y: x * y}[kind]
        return {g: together(a[g], b[g]) * weigh(g) for g in a if g in b}

    mine, result = ngrams(text), np.zeros((len(text), coefficients.shape[1]))
    for document, worth in zip(documents, coefficients, strict=True):
        theirs = ngrams(document)
        common = kernel(mine, theirs)
        if not any(common.values()):
            continue
        norm = sqrt(sum(kernel(mine, mine).values()) * sum(kernel(theirs, theirs).values()))
        s = sum(common.values()) / norm
        gain = expm1(s) / e if adapt else s
        for gram, value in common.items():
            for place in range(len(text) - len(gram) + 1):
                if text[place : place + len(gram)] == gram:
                    each = gain * value / norm / s / mine[gram] / len(gram)
                    result[place : place + len(gram)] += each * worth
    return result


@pytest.mark.filterwarnings("ignore:ngram_range")  # n-grams that are longer than any document
@given(
    texts, texts, st.sampled_from([(1, 1), (1, 3), (2, 5), (3, 12)]), st.sampled_from(KINDS), st.booleans(), st.integers(1, 3)
)
@pytest.mark.slow
def test_shares_are_those_of_the_naive_version(documents, new, ngram_range, kind, adapt, block):
    kernel = gs.StringKernel(kind, ngram_range=ngram_range, strip=False, lowercase=False, collapse_whitespace=False)
    coefficients = np.random.default_rng(0).normal(size=(len(documents), 3))
    model = Model(Similarities([kernel]), Reference(documents), adapt, coefficients, np.zeros(3))
    found = list(shares.find_shares(model, new, cells=3 * len(documents), block=block))
    assert len(found) == len(new)
    for text, one in zip(new, found, strict=True):
        expected = naive_by_character(text, documents, coefficients, ngram_range, kind, adapt)
        np.testing.assert_allclose(one.by_character, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.slow
def test_many_documents_get_what_explain_gives_each(n_jobs):
    kernels = ["presence", gs.StringKernel("spectrum", ngram_range=(3, 3), unicode_form="NFKC")]
    clf = gs.TransductiveClassifier(kernels, preset="paper", ngram_range=(2, 4), n_added=20, n_jobs=n_jobs)
    clf.fit(SOURCE.texts[:30], SOURCE.labels[:30], target=FILMS.texts[:30])
    new = [*FILMS.texts[:35], "", "  a\n\tGREAT film  ", "\ufb01lm \ud83d\ude00", "x"]
    told = []
    tell = lambda *args: told.append(args)  # noqa: E731
    found = list(shares.find_shares(clf._fit.model, new, progress=tell, cells=60 * 25, block=7))
    assert told[-1] == ("explain", len(new), len(new))
    for text, one in zip(new, found, strict=True):
        why = clf.explain(text)
        assert [(span.start, span.stop, span.label) for span in why.spans] == [
            (start, stop, clf.classes_[code]) for start, stop, code in decisive_spans(one.by_character)
        ]
        for span in why.spans:
            mine = one.by_character[span.start : span.stop].sum(axis=0)
            np.testing.assert_allclose(mine, list(span.shares.values()), rtol=0, atol=1e-9)


@given(st.text(alphabet="aB \t\n\0éE\u0301Σİﬁ😀\ud83d", max_size=20), st.sampled_from([None, "NFC", "NFKD"]))
def test_shares_go_to_where_characters_come_from(text, form):
    aligned = align(text, TextSteps(unicode_form=form))
    values = np.random.default_rng(1).normal(size=(len(aligned.text), 2))
    expected = np.zeros((len(text), 2))
    for value, start, stop in zip(values, aligned.starts, aligned.stops, strict=True):
        expected[start:stop] += value / (stop - start)
    np.testing.assert_allclose(at_origins(values, aligned, len(text)), expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:ngram_range")
@given(texts, texts, st.sampled_from([(1, 2), (2, 5)]), st.booleans(), st.data())
@pytest.mark.slow
def test_weights_of_ngrams_are_in_the_shares(documents, new, ngram_range, adapt, data):
    powers = {"idf": 2, "classes": 1}
    classes = data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=len(documents), max_size=len(documents)))
    steps = {"strip": False, "lowercase": False, "collapse_whitespace": False}
    kernel = gs.StringKernel(ngram_range=ngram_range, weighting=powers, **steps)
    coefficients = np.random.default_rng(0).normal(size=(len(documents), 2))
    model = Model(Similarities([kernel]), Reference(documents, {"classes": classes}), adapt, coefficients, np.zeros(2))
    sets = [set(naive.ngrams(one, ngram_range)) for one in documents]

    def weigh(gram):
        return naive.ngram_weight(gram, sets, powers, None, classes)

    for text, share in zip(new, shares.find_shares(model, new), strict=True):
        expected = naive_by_character(text, documents, coefficients, ngram_range, "presence", adapt, weigh)
        np.testing.assert_allclose(share.by_character, expected, atol=1e-12)


def test_shares_of_words_lie_on_their_characters():
    kernel = gs.StringKernel(ngram_range=(1, 1), unit="word")
    model = Model(
        Similarities([kernel]), Reference(["good pan", "Bad, bad knife"]), False, np.array([[1.0], [-3.0]]), np.zeros(1)
    )
    (share,) = shares.find_shares(model, ["A  GOOD (bad) day"])
    good, bad = 1 / np.sqrt(4 * 2), -3 / np.sqrt(4 * 2)  # four words here, two different ones there
    expected = np.zeros(17)
    expected[3:7], expected[9:12] = good / 4, bad / 3
    np.testing.assert_allclose(share.by_character[:, 0], expected)


def test_what_a_document_shares_with_itself_can_be_left_out():
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 4), n_added=20).fit(
        SOURCE.texts[:15], SOURCE.labels[:15], target=FILMS.texts[:15]
    )
    model = clf._fit.model
    found = shares.find_shares(model, FILMS.texts[:3], own=[15, 16, 17])
    for row, (text, one) in enumerate(zip(FILMS.texts[:3], found, strict=True), start=15):
        others = [i for i in range(30) if i != row]
        known = Reference([model.documents[i] for i in others])
        without = Model(model.similarities, known, True, model.coefficients[others], model.intercepts)
        (expected,) = shares.find_shares(without, [text])
        np.testing.assert_allclose(one.by_character, expected.by_character, rtol=0, atol=1e-9)
