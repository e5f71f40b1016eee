"""What a report says of a fit, against plain versions."""

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

import gramshift as gs
from gramshift.model.explanation import NO_WORDS, spread_scores
from gramshift.report.contents import ShownAsItIs, SourceDocuments, TargetDocuments
from gramshift.report.gather import find_nearest, gather_contents, list_issues, strongest_spans
from gramshift.report.page import render_page
from gramshift.text.words import split_words
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
SOURCE, LABELS, TARGET = KITCHEN.texts[:40], KITCHEN.labels[:40], [*FILMS.texts[:30], "", "zzz", FILMS.texts[0]]
IDS = [f"f{number}" for number in range(len(TARGET))]
OPTIONS = {"preset": "paper", "ngram_range": (3, 4), "n_added": 10}


def fit(target=TARGET, source=SOURCE, labels=LABELS, **options):
    return gs.TransductiveClassifier(**OPTIONS | options).fit(source, labels, target=target)


def collect(classifier, plain=None, **changes):
    """The contents of a report; each change goes where it belongs."""
    target = {"ids": IDS, "texts": TARGET}
    source = {"ids": [f"k{number}" for number in range(len(SOURCE))], "texts": SOURCE, "labels": LABELS}
    shown = {"title": "t", "sentence": "s", "options": {}, "sources": [("kitchen", 40)]}
    rest = {}
    for name, value in changes.items():
        if name.startswith("source_"):
            source[name.removeprefix("source_")] = value
        else:
            kinds = ((TargetDocuments, target), (ShownAsItIs, shown))
            next((place for kind, place in kinds if name in kind.__dataclass_fields__), rest)[name] = value
    given = {"target": TargetDocuments(**target), "source": SourceDocuments(**source), "shown": ShownAsItIs(**shown)}
    return gather_contents(classifier, plain, **given, **rest)


@pytest.fixture(scope="module")
def fitted():
    return fit()


@pytest.fixture(scope="module")
def plain():
    return fit(adapt=False, n_rounds=1)


@pytest.fixture(scope="module")
def best():
    return gs.TransductiveClassifier(preset="best", ngram_range=(3, 4), n_rounds=5).fit(SOURCE, LABELS, target=TARGET)


@pytest.fixture(scope="module")
def contents(fitted, plain):
    return collect(fitted, plain, truth=[*FILMS.labels[:30], None, None, "positive"], created="now")


def test_labels_are_those_of_the_fit(contents, fitted, plain):
    for row, one in enumerate(contents.documents):
        assert (one.id, one.text) == (IDS[row], TARGET[row])
        assert one.label == fitted.transduction_[row]
        assert one.reference_label == plain.transduction_[row]
        assert one.probabilities == pytest.approx(fitted.transduction_proba_[row].tolist())
        assert one.confidence == max(one.probabilities)
        assert one.round == max(0, fitted.labeled_iter_[40 + row])
    assert sum(one.round == 1 for one in contents.documents) == 10
    assert [one.truth for one in contents.documents[28:]] == [*FILMS.labels[28:30], None, None, "positive"]
    assert (contents.n_source, contents.n_target, contents.classes) == (40, 33, ["negative", "positive"])


def naive_similarity(first, second):
    def ngrams(text):
        text = " ".join(text.lower().split())
        return {text[i : i + n] for n in (3, 4) for i in range(len(text) - n + 1)}

    a, b = ngrams(first), ngrams(second)
    return len(a & b) / sqrt(len(a) * len(b)) if a and b else 0.0


def test_neighbours_are_the_nearest_source_documents(contents):
    for one in contents.documents:
        values = [naive_similarity(one.text, text) for text in SOURCE]
        order = sorted((row for row in range(40) if values[row] > 0), key=lambda row: (-values[row], row))[:3]
        assert [near.id for near in one.neighbours] == [f"k{row}" for row in order]
        assert [near.text for near in one.neighbours] == [SOURCE[row] for row in order]
        assert [near.label for near in one.neighbours] == [LABELS[row] for row in order]
        assert [near.similarity for near in one.neighbours] == pytest.approx([values[row] for row in order])
    assert contents.documents[30].neighbours == []


@pytest.mark.filterwarnings("ignore:fit was given no target")
def test_equal_neighbours_come_in_order():
    others = ["xy", "abc", "xabc", "abc", "abc", "abc"]
    model = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 2), n_rounds=1).fit(others, [0, 1, 1, 1, 1, 1])._fit.model
    for cells in (6, 1000):  # one text at a time, and all
        found = find_nearest(model, ["abc", "xy", "q"], others, cells=cells)
        assert [[row for row, _ in near] for near in found] == [[1, 3, 4], [0], []]


def test_weighted_ngrams_are_weighed_as_in_the_fit(best, plain):
    """Neighbours and highlights of the preset "best", whose weights come from all documents of the fit."""
    found = collect(best, plain)
    similarity = best._fit.model.describe(TARGET).gram[:, :40]
    rows = [40 + row if row < 32 else 40 for row in range(33)]
    explained = spread_scores(best._fit.model, TARGET, own=rows)
    for one, values, by_character in zip(found.documents, similarity, explained, strict=True):
        order = sorted((row for row in range(40) if values[row] > 0), key=lambda row: (-values[row], row))[:3]
        assert [near.id for near in one.neighbours] == [f"k{row}" for row in order]
        assert [near.similarity for near in one.neighbours] == pytest.approx([values[row] for row in order])
        assert one.spans == [pytest.approx(span) for span in strongest_spans(one.text, by_character)]
        assert all(0 <= start < stop <= len(one.text) and 0 < strength <= 1 for start, stop, strength, _ in one.spans)
        assert all(a[1] <= b[0] for a, b in zip(one.spans, one.spans[1:], strict=False))
    assert found.documents[30].spans == []
    assert found.documents[0].spans
    assert found.model_parameters["weighting"] == "{'idf': 2, 'classes': 1}"
    assert "settings" not in found.model_parameters
    assert found.before is not None
    assert found.after is None  # nothing is adapted
    page = render_page(found)
    assert "best" in page
    strongest = best.strongest_ngrams(15, overlapping=False, counts=True)
    assert dict(zip(found.classes, found.strongest_ngrams, strict=True)) == strongest
    (text, _, in_source, in_target), *_ = strongest["negative"]
    having = [[f" {text} " in f" {' '.join(split_words(one.lower()))} " for one in some] for some in (SOURCE, TARGET)]
    assert (in_source, in_target) == tuple(map(sum, having))


@pytest.mark.parametrize(
    "options",
    [{}, {"preset": "best", "weighting": "idf", "n_rounds": 5}, {"classifier": SVC(kernel="precomputed")}],
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
    assert all(one.explained for one in found.documents)  # nothing to say of single ones
    assert NO_WORDS in render_page(found)


def test_only_the_least_sure_are_explained(best):
    contents = collect(best, max_explained=5)
    order = np.argsort([one.confidence for one in contents.documents], kind="stable")
    assert [row for row, one in enumerate(contents.documents) if one.explained] == sorted(order[:5].tolist())
    assert "The 5 least sure of 33 documents are explained; the others have no highlights." in contents.notes


def test_shares_and_history_have_names(contents, fitted, plain):
    assert contents.share_names == ["source", "plain", "round 1", "round 2"]
    assert contents.shares[0] == {name: count / len(LABELS) for name, count in sorted(Counter(LABELS).items())}
    for share, labels in ((contents.shares[1], plain.transduction_), (contents.shares[3], fitted.transduction_)):
        assert share == {name: count / 33 for name, count in sorted(Counter(labels.tolist()).items())}
    assert [step["changed"] for step in contents.history] == [step["changed"] for step in fitted.history_]


def test_numbers_as_labels_become_words():
    classifier = fit(labels=[int(label == "positive") for label in LABELS])
    contents = collect(classifier, source_labels=[int(label == "positive") for label in LABELS])
    assert contents.classes == ["0", "1"]
    assert {one.label for one in contents.documents} == {"0", "1"}
    assert set(contents.before.labels) == {"0", "1"}
    assert contents.documents[0].neighbours[0].label in ("0", "1")
    assert contents.history[0]["added"] == {"0": 0, "1": 0}


def test_corrected_documents_may_have_become_source(plain):
    given = {"f3": "positive", "f30": "negative"}
    rest = [text for name, text in zip(IDS, TARGET, strict=True) if name not in given]
    classifier = fit(target=rest, source=[*SOURCE, TARGET[3], TARGET[30]], labels=[*LABELS, *given.values()])
    contents = collect(classifier, plain, corrected=given, changes=[{"id": "f5", "before": "negative", "after": "positive"}])
    by_id = {one.id: one for one in contents.documents}
    assert [name for name in IDS if by_id[name].corrected] == ["f3", "f30"]
    assert [(by_id[name].label, by_id[name].confidence, by_id[name].round) for name in given] == [
        ("positive", 1, 0),
        ("negative", 1, 0),
    ]
    assert by_id["f3"].probabilities == [0, 1]
    found = iter(classifier.transduction_)
    assert all(by_id[name].label == next(found) for name in IDS if name not in given)
    assert by_id["f4"].reference_label == plain.transduction_[4]
    assert contents.changes[0]["id"] == "f5"
    with pytest.raises(TypeError, match="no label for 'f3'; give corrected as"):
        collect(classifier, corrected=frozenset(given))
    stayed = collect(fit(), corrected=frozenset(given))
    assert [one.id for one in stayed.documents if one.corrected] == ["f3", "f30"]


def test_what_does_not_fit_together_is_an_error(fitted):
    with pytest.raises(ValueError, match="these 2 texts are not the 33 target documents of the fit"):
        collect(fitted, ids=["a", "b"], texts=["x", "y"])
    other = gs.TransductiveClassifier(preset="paper", kernel=gs.StringKernel(ngram_range=(2, 3)).gram).fit(
        SOURCE, LABELS, target=TARGET
    )
    with pytest.raises(ValueError, match="needs string kernels"):
        collect(other)


def test_abstaining_is_marked(fitted):
    contents = collect(fitted, abstain_below=0.6)
    assert [one.abstained for one in contents.documents] == [one.confidence < 0.6 for one in contents.documents]


def test_progress_is_told(best):
    told = []
    collect(best, progress=lambda *args: told.append(args))
    assert told[0] == ("report", 0, 1)
    assert told[-1] == ("report", 1, 1)
    assert ("explain", 33, 33) in told
    assert ("compare", 33, 33) in told


@pytest.mark.parametrize("kernel", ["plain", "adapted"])
def test_maps_are_kernel_principal_components(contents, fitted, kernel):
    documents = [*SOURCE, *TARGET]
    similarity = np.array([[naive_similarity(a, b) for b in documents] for a in documents])
    described = np.exp(similarity - 1)
    found = contents.before if kernel == "plain" else contents.after
    expected = KernelPCA(2, kernel="precomputed").fit_transform(similarity if kernel == "plain" else described @ described.T)
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


def test_maps_of_many_documents_show_a_sample(fitted):
    contents = collect(fitted, per_kind=12)
    assert contents.before.kinds == ["source"] * 12 + ["target"] * 12
    assert contents.before == collect(fitted, per_kind=12).before
    assert "The maps show 12 source and 12 target documents, drawn at random." in contents.notes


def test_the_five_strongest_words_are_marked():
    text = "one two three four five six seven"
    by_character = np.zeros((len(text), 3))
    for place, word in enumerate(text.split()):
        start = text.index(word)
        by_character[start : start + len(word), place % 3] = (place + 1) / len(word)
    spans = strongest_spans(text, by_character)
    assert [text[start:stop] for start, stop, _, _ in spans] == ["three", "four", "five", "six", "seven"]
    assert [code for *_, code in spans] == [2, 0, 1, 2, 0]
    assert [round(7 * strength) for _, _, strength, _ in spans] == [3, 4, 5, 6, 7]
    assert strongest_spans(text, np.zeros((len(text), 2))) == []
    assert strongest_spans("", np.zeros((0, 2))) == []


def test_the_page_can_be_made(contents):
    assert "f32" in render_page(contents)


def test_problems_of_source_and_target_are_told_apart():
    clf = gs.TransductiveClassifier().fit([*KITCHEN.texts, ""], [*KITCHEN.labels, "positive"], target=[*FILMS.texts, ""])
    found = [(one.role, one.label) for one in list_issues(clf.issues_) if one.issue == "empty text"]
    assert found == [("source", "positive"), ("target", None)]
