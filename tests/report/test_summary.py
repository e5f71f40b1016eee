"""The summary of a fitted classifier in a notebook."""

import re
from html.parser import HTMLParser

import pytest
import sklearn

import gramshift as gs
from sample_report import HOSTILE as ALL_HOSTILE
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
HOSTILE = ALL_HOSTILE[0]


@pytest.fixture(scope="module")
def best():
    return gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


class Checker(HTMLParser):
    """The text of a fragment, in which every element must be closed."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read_summary(classifier):
    html = classifier._repr_mimebundle_()["text/html"]
    assert html == classifier._repr_html_()
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    return " ".join(" ".join(checker.words).split())


def test_a_notebook_shows_what_was_found(best):
    words = read_summary(best)
    assert "120 target documents, labelled from 120 source documents" in words
    expected = best.expected_accuracy_
    assert f"Expected accuracy {100 * expected['value']:.0f} %" in words.replace("\u202f", " ")
    assert f"Can these labels be used? {best.diagnostics_['verdict']}" in words
    random = gs.TransductiveClassifier().fit(
        KITCHEN.texts,
        KITCHEN.labels,
        target=FILMS.texts,
        random_labels=[*FILMS.labels[:20], *[None] * 100],
    )
    by = r"[\d.]+ % of labels right (.*), by 20 random labels and the estimate together Can"
    assert re.search(by, read_summary(random).replace("\u202f", " "))
    for name in ("negative", "positive"):
        count = int((best.transduction_ == name).sum())
        assert re.search(rf"{name} 50.% {count / 1.2:.0f}.% {count}\b", words)


def test_before_a_fit_a_notebook_shows_scikit_learns_own():
    html = gs.TransductiveClassifier(alpha=3.0)._repr_html_()
    assert "gramshift-fit" not in html
    assert "sk-" in html
    with sklearn.config_context(display="text"):
        assert list(gs.TransductiveClassifier()._repr_mimebundle_()) == ["text/plain"]


def test_a_summary_does_not_wait_for_diagnostics():
    clf = gs.TransductiveClassifier(preset="paper").fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    assert "diagnostics_ says whether adapting helped" in read_summary(clf)
    assert not hasattr(clf, "_diagnosis")
    assert "Learnt from 120 documents, without a target" in read_summary(
        gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels)
    )


def test_labels_in_a_summary_may_be_hostile():
    hostile = {"class_prior": {HOSTILE: 0.5, "\ud800<b>": 0.5}}
    labels = [HOSTILE if label == "positive" else "\ud800<b>" for label in KITCHEN.labels]
    clf = gs.TransductiveClassifier(**hostile).fit(KITCHEN.texts, labels, target=FILMS.texts)
    html = clf._repr_html_()
    assert HOSTILE not in html
    html.encode()


def test_an_explanation_is_short_as_text_and_whole_in_a_notebook(best):
    found = best.explain("This pan broke after a week, " * 30)
    assert len(repr(found)) < 150
    assert repr(found) == f"<Explanation: {found.headline()}>"
    assert found._repr_html_() == found.html()
