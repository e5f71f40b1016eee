"""Label spreading, against loops and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.semi_supervised import LabelSpreading

import gramshift as gs
from conftest import ALPHABET, examples
from gramshift.baselines.spreading import nth_largest
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
SHORT = {"ngram_range": (1, 2)}


def naive_spreading(texts, codes, n_classes, n_neighbours, spread):
    """Amounts of classes by turns, link by link, until nothing changes; and each document's share of the classes."""
    gram = gs.StringKernel("presence", **SHORT).gram(texts, normalize=True)
    n = len(texts)
    ranked = [sorted((gram[i, j] for j in range(n) if j != i), reverse=True) for i in range(n)]
    least = [one[min(n_neighbours, n - 1) - 1] if n_neighbours < n else 0 for one in ranked]
    linked = [[i != j and 0 < gram[i, j] >= min(least[i], least[j]) for j in range(n)] for i in range(n)]
    degrees = [sum(gram[i, j] for j in range(n) if linked[i][j]) for i in range(n)]
    amounts = [[0.0] * n_classes for _ in range(n)]
    for _ in range(100):
        after = []
        for i in range(n):
            row = []
            for c in range(n_classes):
                taken = sum(gram[i, j] / (degrees[i] * degrees[j]) ** 0.5 * amounts[j][c] for j in range(n) if linked[i][j])
                row.append(spread * taken + (1 - spread) * (i < len(codes) and codes[i] == c))
            after.append(row)
        amounts = after
    return [[one / sum(row) - 1 / n_classes if sum(row) else 0 for one in row] for row in amounts]


@given(st.lists(st.text(alphabet=ALPHABET, min_size=1, max_size=12), min_size=5, max_size=9, unique=True), st.integers(1, 9))
@examples(40)
def test_amounts_agree_with_their_neighbours(texts, n_neighbours):
    """Target documents, found by the linear system and taken from neighbours, have what turns of spreading end with."""
    texts = list(dict.fromkeys(" ".join(text.split()).lower() or "." for text in texts))
    if len(texts) < 4:
        return
    clf = gs.baselines.StringSpreading(**SHORT, n_neighbours=n_neighbours, spread=0.5).fit(
        texts[:3], [0, 1, 2], target=texts[3:]
    )
    expected = naive_spreading(texts, [0, 1, 2], 3, n_neighbours, 0.5)[3:]
    np.testing.assert_allclose(clf.transduction_score_, expected, atol=1e-7)


def test_with_all_links_it_is_that_of_scikit_learn():
    source, labels, target = KITCHEN.texts[:60], KITCHEN.labels[:60], FILMS.texts[:40]
    gram = gs.StringKernel("presence", ngram_range=(3, 5)).gram(source + target, normalize=True)
    codes = [["negative", "positive"].index(label) for label in labels]
    theirs = LabelSpreading(kernel=lambda X, Y: gram, alpha=0.3, max_iter=500, tol=1e-12).fit(gram, [*codes, *[-1] * 40])
    clf = gs.baselines.StringSpreading(ngram_range=(3, 5), n_neighbours=1000, spread=0.3).fit(source, labels, target=target)
    np.testing.assert_allclose(clf.transduction_score_ + 0.5, theirs.label_distributions_[60:], atol=1e-9)


def test_labels_run_through_the_target():
    """From a source of two texts to texts that share nothing with them but through others."""
    target = ["aabb", "bbcc", "ccdd", "zzyy", "yyxx", "xxww"]
    clf = gs.baselines.StringSpreading(ngram_range=(2, 2)).fit(["aaa", "zzz"], ["first", "last"], target=target)
    assert clf.transduction_.tolist() == ["first"] * 3 + ["last"] * 3
    assert clf.predict(["dddd", "wwww"]).tolist() == ["first", "last"]
    alone = gs.baselines.StringSpreading(ngram_range=(2, 2), adapt=False).fit(["aaa", "zzz"], ["first", "last"], target=target)
    np.testing.assert_allclose(alone.decision_function(["dddd", "wwww"]), 0)
    np.testing.assert_allclose(nth_largest(np.array([[0.1, 0.5, 0.3], [0, 0.2, 0]]), 2), [0.3, 0], atol=1e-300)


def test_a_target_document_that_is_a_source_document_too_takes_its_label():
    clf = gs.baselines.StringSpreading(**SHORT).fit(["ab", "cd"], [0, 1], target=["ab", "cd", "cd"])
    assert clf.transduction_.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [{"kernel": "words"}, {"kernel": ["presence"]}, {"n_neighbours": 0}, {"spread": 1.0}, {"ngram_range": (2, 1)}],
    ids=str,
)
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        gs.baselines.StringSpreading(**wrong).fit(["a", "b"], [0, 1], target=["c"])
