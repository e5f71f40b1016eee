"""The kernels that look at every pair of documents, in the classifier."""

import numpy as np
import pytest

import gramshift as gs
from conftest import PAIR_KINDS
from naive_algorithm import transductive_kernel_algorithm
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET = SOURCE.texts[::3], SOURCE.labels[::3], FILMS.texts[::3]
NEW = ["a great blender, i love it", "broke after a day", "", "\ud800 lone \N{GRINNING FACE}"]
KERNELS = {
    "subsequence": gs.StringKernel("subsequence", ngram_range=(2, 3), decay=0.7),
    "local_rank": gs.StringKernel("local_rank", ngram_range=(3, 4), max_offset=50, sigma=0.5),
    "several": [
        "presence",
        gs.StringKernel("subsequence", ngram_range=(2, 2)),
        gs.StringKernel("local_rank", sigma=0.6),
    ],
}


def fit(kernel, **options):
    return gs.TransductiveClassifier(
        kernel, preset="paper", ngram_range=(3, 4), n_added=10, **options
    ).fit(X, Y, target=TARGET)


@pytest.mark.parametrize("kind", PAIR_KINDS)
def test_it_is_algorithm_1(kind):
    gram = gs.StringKernel(kind, ngram_range=(3, 4)).gram(X[:20] + TARGET[:12]).tolist()
    codes = [int(label == "positive") for label in Y[:20]]
    labels, scores = transductive_kernel_algorithm(gram, codes, 2, 5, 1e-5)
    clf = gs.TransductiveClassifier(kind, preset="paper", ngram_range=(3, 4), n_added=5).fit(
        X[:20], Y[:20], target=TARGET[:12]
    )
    assert clf.transduction_.tolist() == [["negative", "positive"][label] for label in labels]
    np.testing.assert_allclose(clf.transduction_score_, scores, atol=1e-6 * np.abs(scores).max())


@pytest.mark.parametrize("kind", PAIR_KINDS)
@pytest.mark.slow
def test_better_than_chance_on_the_demo_corpus(kind):
    """71 of 120 right would come about by chance once in forty times."""
    clf = gs.TransductiveClassifier(kind, preset="paper", ngram_range=(3, 4), n_added=40).fit(
        SOURCE.texts, SOURCE.labels, target=FILMS.texts
    )
    assert np.sum(clf.transduction_ == np.array(FILMS.labels)) > 71


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.slow
def test_everything_survives_saving(tmp_path, kernel):
    clf = fit(kernel)
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    assert repr(loaded) == repr(clf)
    assert (loaded.decision_function(NEW) == clf.decision_function(NEW)).all()
    assert (loaded.predict_proba(NEW) == clf.predict_proba(NEW)).all()
    assert (loaded.predict(TARGET) == clf.transduction_).all()


@pytest.mark.parametrize("kind", PAIR_KINDS)
@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.slow
def test_by_name_by_gram_and_by_function_it_is_the_same(kind, adapt):
    kernel = gs.StringKernel(kind, ngram_range=(3, 4))
    named, called = fit(kind, adapt=adapt), fit(kernel.gram, adapt=adapt)
    given = gs.TransductiveClassifier("precomputed", preset="paper", n_added=10, adapt=adapt)
    given.fit(kernel.gram(X + TARGET), [*Y, *[None] * len(TARGET)])
    for other in (called, given):
        np.testing.assert_allclose(
            other.transduction_score_, named.transduction_score_, rtol=1e-6, atol=1e-8
        )
    np.testing.assert_allclose(
        called.decision_function(NEW[:2]), named.decision_function(NEW[:2]), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_explanations_have_documents_and_no_words(kernel):
    why = fit(kernel, n_rounds=1).explain("a text")
    assert why.words == why.spans == []
    assert len(why.documents) == len(X) + len(TARGET)


@pytest.mark.parametrize("kind", PAIR_KINDS)
def test_copies_and_empty_documents(kind):
    texts, labels = ["great pan", "bad pan", "great pan", "", "a"], ["+", "-", "+", "-", "+"]
    clf = gs.TransductiveClassifier(kind, preset="paper", ngram_range=(2, 3)).fit(
        texts, labels, target=["great film", "", "bad disc", "great film"]
    )
    assert clf.transduction_[[0, 2, 3]].tolist() == ["+", "-", "+"]
    assert np.isfinite(clf.transduction_score_).all()
    assert np.isfinite(clf.predict_proba(["", "great", "a"])).all()
