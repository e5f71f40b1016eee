"""Contents of reports, compared with naive versions."""

from collections import Counter
from math import sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

import gramshift as gs
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.run import classify
from gramshift.model.explanation import NO_WORDS, spread_scores
from gramshift.report import build, evidence
from gramshift.report.build import build_contents, write_report
from gramshift.report.contents import RunInfo
from gramshift.report.evidence import choose_highlights, find_nearest
from gramshift.report.page import render_page
from gramshift.text.words import split_words
from page_visits import read_payload
from sample_report import HOSTILE as ALL_HOSTILE
from small_demo import load_demo
from small_tables import write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
SOURCE, LABELS = KITCHEN.texts[:40], KITCHEN.labels[:40]
TARGET = [*FILMS.texts[:30], "", "zzz", FILMS.texts[0]]
IDS = [f"f{number}" for number in range(len(TARGET))]
SOURCE_IDS = [f"k{number}" for number in range(len(SOURCE))]
ALL_IDS = [f"f{number}" for number in range(120)]
OPTIONS = {"preset": "paper", "ngram_range": (3, 4), "n_added": 10}
HOSTILE = ALL_HOSTILE[0]


def fit(target=TARGET, source=SOURCE, labels=LABELS, **options):
    return gs.TransductiveClassifier(**OPTIONS | options).fit(source, labels, target=target)


def collect(classifier, **options):
    return build_contents(classifier, **{"ids": IDS, "source_ids": SOURCE_IDS} | options)


@pytest.fixture(scope="module")
def fitted():
    return fit()


@pytest.fixture(scope="module")
def plain():
    return fit(adapt=False, n_rounds=1)


@pytest.fixture(scope="module")
def best():
    return fit(preset="best", n_added=None, n_rounds=5)


@pytest.fixture(scope="module")
def best_of_all():
    return gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


@pytest.fixture(scope="module")
def contents(fitted):
    return collect(fitted, truth=[*FILMS.labels[:30], None, None, "positive"])


def test_labels_are_those_of_the_fit(contents, fitted, plain):
    for row, one in enumerate(contents.documents):
        assert (one.id, one.text) == (IDS[row], TARGET[row])
        assert one.label == fitted.transduction_[row]
        assert one.reference_label == plain.transduction_[row]
        assert one.probabilities == pytest.approx(fitted.transduction_proba_[row].tolist())
        assert one.confidence == max(one.probabilities)
        assert one.round == max(0, fitted.labeled_iter_[40 + row])
    assert sum(one.round == 1 for one in contents.documents) == 10
    truth = [one.truth for one in contents.documents[28:]]
    assert truth == [*FILMS.labels[28:30], None, None, "positive"]
    assert (contents.n_source, contents.classes) == (40, ["negative", "positive"])


def naive_similarity(first, second):
    def ngrams(text):
        text = " ".join(text.lower().split())
        return {text[i : i + n] for n in (3, 4) for i in range(len(text) - n + 1)}

    a, b = ngrams(first), ngrams(second)
    return len(a & b) / sqrt(len(a) * len(b)) if a and b else 0.0


def naive_nearest(values):
    """Return the rows of the three largest positive values."""
    rows = (row for row in range(40) if values[row] > 0)
    return sorted(rows, key=lambda row: (-values[row], row))[:3]


def test_neighbours_are_the_nearest_source_documents(contents):
    for one in contents.documents:
        values = [naive_similarity(one.text, text) for text in SOURCE]
        order = naive_nearest(values)
        assert [near.id for near in one.neighbours] == [f"k{row}" for row in order]
        assert [near.text for near in one.neighbours] == [SOURCE[row] for row in order]
        assert [near.label for near in one.neighbours] == [LABELS[row] for row in order]
        kernel_list = [near.similarity for near in one.neighbours]
        assert kernel_list == pytest.approx([values[row] for row in order])
    assert contents.documents[30].neighbours == []


@pytest.mark.filterwarnings("ignore:fit got no target")
def test_equally_similar_neighbours_keep_their_order():
    others = ["xy", "abc", "xabc", "abc", "abc", "abc"]
    classifier = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 2), n_rounds=1)
    model = classifier.fit(others, [0, 1, 1, 1, 1, 1]).result_.model
    for max_cells in (6, 1000):  # one text at a time, and all
        found = find_nearest(model, ["abc", "xy", "q"], others, max_cells=max_cells)
        assert [[row for row, _ in near] for near in found] == [[1, 3, 4], [0], []]


def test_a_linear_model_weighs_ngrams_as_in_the_fit():
    """Neighbours and highlights of the preset "best", whose weights depend on all documents."""
    target = FILMS.texts[:33]
    classifier = fit(target, preset="best", n_added=None, n_rounds=5)
    found = collect(classifier)
    model = classifier.result_.model
    similarity = model.describe(target).gram[:, :40]
    explained = spread_scores(model, target, own=list(range(40, 73)))
    for one, values, by_character in zip(found.documents, similarity, explained, strict=True):
        order = naive_nearest(values)
        assert [near.id for near in one.neighbours] == [f"k{row}" for row in order]
        kernel_list = [near.similarity for near in one.neighbours]
        assert kernel_list == pytest.approx([values[row] for row in order])
        expected = choose_highlights(one.text, by_character)
        assert one.spans == [pytest.approx(span) for span in expected]
        for start, stop, strength, _ in one.spans:
            assert 0 <= start < stop <= len(one.text)
            assert 0 < strength <= 1
        assert all(a[1] <= b[0] for a, b in zip(one.spans, one.spans[1:], strict=False))
    assert found.model_parameters["weighting"] == "{'idf': 2, 'classes': 1}"
    assert found.after is None  # nothing is adapted
    assert "best" in render_page(found)


def test_empty_documents_have_no_highlights(best):
    found = collect(best)
    assert found.documents[0].spans
    assert found.documents[30].spans == []


def test_ngrams_are_the_strongest_of_each_class(best):
    found = collect(best)
    strongest = best.strongest_ngrams(15, overlapping=False, counts=True)
    assert dict(zip(found.classes, found.strongest_ngrams, strict=True)) == strongest
    (text, _, in_source, in_target), *_ = strongest["negative"]
    having = [
        sum(f" {text} " in f" {' '.join(split_words(one.lower()))} " for one in some)
        for some in (SOURCE, TARGET)
    ]
    assert [in_source, in_target] == having


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "best", "weighting": "idf", "n_rounds": 5},
        {"classifier": SVC(kernel="precomputed")},
    ],
)
def test_models_without_a_coefficient_per_ngram_list_none(options):
    found = collect(fit(**options))
    assert found.strongest_ngrams == []
    assert "Strongest n-grams of each class" not in render_page(found)


@pytest.mark.parametrize("options", [{}, {"kernel": "subsequence"}])
def test_models_that_are_not_linear_mark_no_words_and_say_so(options):
    found = collect(fit(**options))
    assert found.notes[0] == NO_WORDS
    assert not any(one.spans for one in found.documents)
    assert all(one.explained for one in found.documents)  # one note for all of them
    assert NO_WORDS in render_page(found)


def test_only_the_least_sure_are_explained(best, monkeypatch):
    monkeypatch.setattr(evidence, "MAX_EXPLAINED", 5)
    found = collect(best)
    order = np.argsort([one.confidence for one in found.documents], kind="stable")
    explained = [row for row, one in enumerate(found.documents) if one.explained]
    assert explained == sorted(order[:5].tolist())
    assert any(note.startswith("The 5 least sure of 33 documents") for note in found.notes)


def test_shares_and_history_have_names(contents, fitted, plain, best):
    def proportions(labels):
        return {name: count / len(labels) for name, count in sorted(Counter(labels).items())}

    assert list(contents.shares) == ["source", "plain", "round 1", "round 2"]
    assert contents.shares["source"] == proportions(LABELS)
    assert contents.shares["plain"] == proportions(plain.transduction_.tolist())
    assert contents.shares["round 2"] == proportions(fitted.transduction_.tolist())
    assert list(collect(best).shares) == [
        "source",
        "unadapted",
        *map("round {}".format, range(2, 6)),
    ]
    changed = [step["changed"] for step in contents.history]
    assert changed == [step["changed"] for step in fitted.history_]


def test_labels_that_are_numbers_become_text():
    contents = collect(fit(labels=[int(label == "positive") for label in LABELS]))
    assert contents.classes == ["0", "1"]
    assert {one.label for one in contents.documents} == {"0", "1"}
    assert set(contents.before.labels) == {"0", "1"}
    assert contents.documents[0].neighbours[0].label in ("0", "1")
    assert contents.history[0]["added"] == {"0": 0, "1": 0}


def test_corrected_documents_have_the_labels_given(tmp_path):
    """Random labels and other corrections in one file, which a fit treats differently."""
    labels = FILMS.labels[:20]
    drawn = {name: ("random" if place % 2 else "chosen") for place, name in enumerate(ALL_IDS[:20])}
    write_csv(tmp_path / "s.csv", ["text", "label"], zip(*KITCHEN, strict=True))
    write_csv(tmp_path / "t.csv", ["id", "text"], zip(ALL_IDS, FILMS.texts, strict=True))
    rows = zip(drawn, labels, drawn.values(), strict=True)
    write_csv(tmp_path / "c.csv", ["id", "label", "drawn"], rows)
    options = ClassifyOptions(
        source=[str(tmp_path / "s.csv")],
        target=str(tmp_path / "t.csv"),
        corrections=[str(tmp_path / "c.csv")],
        report=str(tmp_path / "r.html"),
    )
    classify(options, say=lambda _: None)
    data = read_payload(tmp_path / "r.html")
    assert [one["text"] for one in data["documents"]] == FILMS.texts
    given = data["documents"][:20]
    assert [data["classes"][one["label"]] for one in given] == labels
    assert [max(one["probabilities"]) for one in given] == [1] * 20
    assert [one["drawn"] for one in given] == list(drawn.values())
    assert [one.get("corrected") for one in data["documents"]] == [*[True] * 20, *[None] * 100]
    assert not any("reference" in one for one in given), "a person's label is not compared"
    assert not {source[2] for source in data["sources"]} & set(FILMS.texts)


def test_documents_below_a_confidence_are_marked(fitted):
    contents = collect(fitted, abstain_below=0.6)
    marked = [one.abstained for one in contents.documents]
    assert marked == [one.confidence < 0.6 for one in contents.documents]


def test_facts_of_a_run_are_shown_as_they_are(fitted):
    run = RunInfo(command="gramshift x", sentence="A sentence.", warnings=["w"], diagnostics={})
    contents = collect(fitted, run=run)
    assert (contents.sentence, contents.warnings, contents.diagnostics) == (
        "A sentence.",
        ["w"],
        {},
    )
    assert "gramshift x" in render_page(contents)


def test_progress_is_reported(best):
    calls = []
    collect(best, progress=lambda *call: calls.append(call))
    assert calls[0] == ("report", 0, 1)
    assert calls[-1] == ("report", 1, 1)
    assert ("explain", 33, 33) in calls
    assert ("compare", 33, 33) in calls


@pytest.mark.parametrize("kernel", ["plain", "adapted"])
def test_maps_are_kernel_principal_components(contents, fitted, kernel):
    documents = [*SOURCE, *TARGET]
    similarity = np.array([[naive_similarity(a, b) for b in documents] for a in documents])
    described = np.exp(similarity - 1)
    found = contents.before if kernel == "plain" else contents.after
    gram = similarity if kernel == "plain" else described @ described.T
    expected = KernelPCA(2, kernel="precomputed").fit_transform(gram)
    for mine, theirs in zip((found.x, found.y), expected.T, strict=True):
        np.testing.assert_allclose(np.abs(mine), np.abs(theirs), atol=1e-6)
        assert max(mine, key=abs) > 0
    assert found.kinds == ["source"] * 40 + ["target"] * 33
    assert found.labels == LABELS + fitted.transduction_.tolist()


def test_a_plain_fit_has_no_map_after_adapting(plain):
    contents = collect(plain)
    assert contents.before is not None
    assert contents.after is None
    assert "After adapting" not in render_page(contents)


def test_maps_of_many_documents_show_a_sample(fitted, monkeypatch):
    monkeypatch.setattr(build, "MAX_POINTS", 12)
    contents = collect(fitted)
    assert contents.before.kinds == ["source"] * 12 + ["target"] * 12
    assert contents.before == collect(fitted).before
    assert any("12 source and 12 target documents" in note for note in contents.notes)


def test_the_five_strongest_words_are_highlighted():
    text = "one two three four five six seven"
    by_character = np.zeros((len(text), 3))
    for place, word in enumerate(text.split()):
        start = text.index(word)
        by_character[start : start + len(word), place % 3] = (place + 1) / len(word)
    spans = choose_highlights(text, by_character)
    words = [text[start:stop] for start, stop, _, _ in spans]
    assert words == ["three", "four", "five", "six", "seven"]
    assert [code for *_, code in spans] == [2, 0, 1, 2, 0]
    assert [round(7 * strength) for _, _, strength, _ in spans] == [3, 4, 5, 6, 7]
    assert choose_highlights(text, np.zeros((len(text), 2))) == []
    assert choose_highlights("", np.zeros((0, 2))) == []


@pytest.mark.parametrize("method", ["best", "tkc"])
def test_python_and_the_command_write_one_report(method, tmp_path):
    write_csv(tmp_path / "s.csv", ["text", "label"], zip(*KITCHEN, strict=True))
    write_csv(tmp_path / "t.csv", ["id", "text"], zip(ALL_IDS, FILMS.texts, strict=True))
    options = ClassifyOptions(
        source=[str(tmp_path / "s.csv")],
        target=str(tmp_path / "t.csv"),
        report=str(tmp_path / "command.html"),
        method=method,
    )
    result = classify(options, say=lambda _: None)
    clf = gs.TransductiveClassifier(preset="best" if method == "best" else "paper")
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    ours = clf.diagnostics_
    warnings = [ours.pop("warnings"), result["warnings"]]
    without_advice = [[one.partition(": check")[0] for one in several] for several in warnings]
    assert without_advice[0] == without_advice[1]
    assert ours == result["diagnostics"]
    clf.report(tmp_path / "python.html", ids=ALL_IDS)
    ours, theirs = (read_payload(tmp_path / name) for name in ("python.html", "command.html"))
    commands = [one.pop("command").split(" ")[0] for one in (ours, theirs)]
    assert commands == ["corrections", "gramshift"]
    assert ours == theirs
    page = (tmp_path / "python.html").read_text()
    assert (result["sentence"] in page) == (method != "best")  # there the headline says as much


def test_ids_and_columns_of_the_user_are_on_the_page(best_of_all, tmp_path):
    path = tmp_path / "r.html"
    titles = [f"Film {number}" for number in range(120)]
    more = pd.DataFrame({"title": titles, "year": range(1900, 2020)})
    source_ids = [f"k{row}" for row in range(120)]
    best_of_all.report(path, ids=more.index, source_ids=source_ids, columns=more, title="Films")
    data = read_payload(path)
    assert data["documents"][7]["id"] == "7"
    assert data["documents"][7]["more"] == [["title", "Film 7"], ["year", "1907"]]
    assert {source[0][0] for source in data["sources"]} == {"k"}
    assert "Films</h1>" in path.read_text()
    best_of_all.report(path, columns=pl.DataFrame({"note": [HOSTILE] * 120}), overwrite=True)
    data = read_payload(path)
    assert data["documents"][0]["id"] == "1"
    assert data["documents"][0]["more"] == [["note", HOSTILE]]
    assert HOSTILE not in path.read_text()


def test_a_report_can_go_to_an_open_file(fitted, tmp_path):
    with (tmp_path / "r.html").open("wb") as file:
        write_report(fitted, file, ids=IDS)
    assert [one["id"] for one in read_payload(tmp_path / "r.html")["documents"]] == IDS


def test_documents_without_a_label_in_y_are_reported_as_target(tmp_path):
    y = [*KITCHEN.labels[:50], *[None] * 20, *KITCHEN.labels[70:]]
    clf = gs.TransductiveClassifier().fit(KITCHEN.texts, y, target=FILMS.texts[:40])
    clf.report(tmp_path / "r.html")
    data = read_payload(tmp_path / "r.html")
    texts = [one["text"] for one in data["documents"]]
    assert texts == [*KITCHEN.texts[50:70], *FILMS.texts[:40]]
    labels = [data["classes"][one["label"]] for one in data["documents"]]
    assert labels == clf.transduction_.tolist()
    known = {*KITCHEN.texts[:50], *KITCHEN.texts[70:]}
    assert {source[2] for source in data["sources"]} <= known


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": ["a"] * 33}, "two target documents have the id 'a'"),
        ({"source_ids": [1, 2, 3]}, "3 ids for 40 source documents"),
        ({"columns": {"year": [1, 2]}}, r"columns\['year'\] has 2 values for 33 .* one for each"),
        ({"columns": [1]}, "columns is of type list; give a dict of lists, or a data frame"),
        ({"truth": [1]}, "truth has 1 labels for 33"),
    ],
)
def test_values_for_other_documents_are_an_error(fitted, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        write_report(fitted, tmp_path / "r.html", **options)
    assert not (tmp_path / "r.html").exists()


def test_a_report_needs_texts_a_target_and_string_kernels(best, tmp_path):
    path = tmp_path / "r.html"
    best.save(tmp_path / "m.gramshift")
    with pytest.raises(ValueError, match="has not kept them all: fit it here"):
        gs.load(tmp_path / "m.gramshift").report(path)
    with pytest.raises(ValueError, match="without any: give target"):
        gs.TransductiveClassifier().fit(SOURCE, LABELS).report(path)
    with pytest.raises(ValueError, match="needs string kernels: give kernel="):
        fit(kernel=gs.StringKernel(ngram_range=(2, 3)).gram, ngram_range=None).report(path)
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        best.report(tmp_path / "no" / "r.html")
