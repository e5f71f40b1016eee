"""The report and the summary of a classifier that was fitted in Python."""

import json
import re
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pytest
import sklearn

import gramshift as gs
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.run import classify
from sample_report import HOSTILE as ALL_HOSTILE
from small_demo import load_demo
from small_tables import write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
HOSTILE = ALL_HOSTILE[0]
IDS = [f"f{number}" for number in range(120)]


@pytest.fixture(scope="module")
def best():
    return gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


def payload(path):
    """What the script of a page reads."""
    page = path.read_text()
    (data,) = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(data), page


@pytest.mark.parametrize("method", ["best", "tkc"])
def test_python_and_the_command_tell_the_same(method, tmp_path):
    """One classifies the files of the texts that the other is given: diagnostics and pages do not differ."""
    write_csv(tmp_path / "s.csv", ["text", "label"], zip(*KITCHEN, strict=True))
    write_csv(tmp_path / "t.csv", ["id", "text"], zip(IDS, FILMS.texts, strict=True))
    options = ClassifyOptions(
        source=[str(tmp_path / "s.csv")], target=str(tmp_path / "t.csv"), report=str(tmp_path / "command.html"), method=method
    )
    result = classify(options, say=lambda _: None)
    clf = gs.TransductiveClassifier(preset="best" if method == "best" else "paper")
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    ours = clf.diagnostics_
    begun = [[one.partition(": check")[0] for one in several] for several in (ours.pop("warnings"), result["warnings"])]
    assert begun[0] == begun[1]  # what to do about it is not the same
    assert ours == result["diagnostics"]
    clf.report(tmp_path / "python.html", ids=IDS)
    ours, page = payload(tmp_path / "python.html")
    theirs, _ = payload(tmp_path / "command.html")
    commands = [one.pop("command").split(" ")[0] for one in (ours, theirs)]
    assert commands == ["corrections", "gramshift"]  # what to do next is not the same
    assert ours == theirs
    assert (result["sentence"] in page) == (method != "best")  # there headline and figures say the same


def test_ids_and_columns_of_the_user_are_on_the_page(best, tmp_path):
    more = pd.DataFrame({"title": [f"Film {number}" for number in range(120)], "year": range(1900, 2020)})
    best.report(tmp_path / "r.html", ids=more.index, source_ids=[f"k{row}" for row in range(120)], columns=more, title="Films")
    data, page = payload(tmp_path / "r.html")
    assert data["documents"][7]["id"] == "7"
    assert data["documents"][7]["more"] == [["title", "Film 7"], ["year", "1907"]]
    assert {source[0][0] for source in data["sources"]} == {"k"}
    assert "<h1>Films</h1>" in re.sub(r"<h1[^>]*>", "<h1>", page)
    best.report(tmp_path / "r.html", columns=pl.DataFrame({"note": [HOSTILE] * 120}))  # what was there is replaced
    data, page = payload(tmp_path / "r.html")
    assert data["documents"][0]["id"] == "1"
    assert data["documents"][0]["more"] == [["note", HOSTILE]]
    assert HOSTILE not in page


def test_gaps_in_y_are_reported_as_target(tmp_path):
    """Target documents among the labelled ones, as corrections make them."""
    y = [*KITCHEN.labels[:50], *[None] * 20, *KITCHEN.labels[70:]]
    clf = gs.TransductiveClassifier().fit(KITCHEN.texts, y, target=FILMS.texts[:40])
    clf.report(tmp_path / "r.html")
    data, _ = payload(tmp_path / "r.html")
    assert [one["text"] for one in data["documents"]] == [*KITCHEN.texts[50:70], *FILMS.texts[:40]]
    assert [data["classes"][one["label"]] for one in data["documents"]] == clf.transduction_.tolist()
    assert {source[2] for source in data["sources"]} <= {*KITCHEN.texts[:50], *KITCHEN.texts[70:]}


def test_what_cannot_be_reported_is_said(best, tmp_path):
    path = tmp_path / "r.html"
    with pytest.raises(ValueError, match="two target documents have the id 'a'; corrections need ids that differ"):
        best.report(path, ids=["a"] * 120)
    with pytest.raises(ValueError, match="there are 3 ids for 120 source documents"):
        best.report(path, source_ids=[1, 2, 3])
    with pytest.raises(ValueError, match=r"columns\['year'\] has 2 values for 120 target documents"):
        best.report(path, columns={"year": [1, 2]})
    with pytest.raises(ValueError, match="columns is a list; give a dict of lists, or a data frame"):
        best.report(path, columns=[1])
    best.save(tmp_path / "m.gramshift")
    with pytest.raises(ValueError, match="has not kept them all: fit it here"):
        gs.load(tmp_path / "m.gramshift").report(path)
    with pytest.raises(ValueError, match="fitted without any: give target"):
        gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels).report(path)
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        best.report(tmp_path / "no" / "r.html")


class Checker(HTMLParser):
    """The text of a fragment; every element that begins must end."""

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
    counts = [int((best.transduction_ == name).sum()) for name in ("negative", "positive")]
    assert re.search(
        rf"negative 50.% {counts[0] / 1.2:.0f}.% {counts[0]} positive 50.% {counts[1] / 1.2:.0f}.% {counts[1]}", words
    )


def test_before_a_fit_a_notebook_shows_scikit_learns_own():
    html = gs.TransductiveClassifier(alpha=3.0)._repr_html_()
    assert "gramshift-fit" not in html
    assert "sk-" in html
    with sklearn.config_context(display="text"):
        assert list(gs.TransductiveClassifier()._repr_mimebundle_()) == ["text/plain"]


def test_a_summary_does_not_wait_for_diagnostics():
    clf = gs.TransductiveClassifier(preset="paper").fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
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
