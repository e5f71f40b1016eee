import pickle

import pytest
from hypothesis import given
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

import naive
from conftest import KINDS, PAIR_KINDS, examples, ngram_ranges, texts
from gramshift import StringKernel

TEXTS = ["Good film", "good  FILM!", "bad film", "bad pan", "good pan", "a bad, bad pan"]
LABELS = ["+", "+", "-", "-", "+", "-"]


@pytest.mark.filterwarnings("ignore:ngram_range")
@pytest.mark.parametrize("kind", KINDS)
@given(texts=texts, others=texts, ngram_range=ngram_ranges)
@examples(60)
def test_the_gram_is_the_naive_one(kind, texts, others, ngram_range):
    kernel = StringKernel(kind, ngram_range=ngram_range)
    rows, columns = (
        [naive.prepare(text) for text in texts],
        [naive.prepare(text) for text in others],
    )
    assert kernel.gram(texts).tolist() == naive.gram(kind, rows, rows, ngram_range)
    assert kernel.gram(texts, others).tolist() == naive.gram(kind, rows, columns, ngram_range)
    normalized = kernel.gram(texts, others, normalize=True)
    assert normalized.tolist() == naive.normalized_gram(kind, rows, columns, ngram_range)
    assert kernel.gram(texts, texts).tobytes() == kernel.gram(texts).tobytes()


@pytest.mark.parametrize("kind", ["presence", *PAIR_KINDS])
@pytest.mark.parametrize(
    ("step", "off", "on", "pair"),
    [
        ("lowercase", False, True, ["AB", "ab"]),
        ("strip", False, True, [" ab", "ab"]),
        ("collapse_whitespace", False, True, ["a \n b", "a b"]),
        ("unicode_form", None, "NFC", ["é", "e\u0301"]),
    ],
)
def test_each_text_step_has_a_switch(kind, step, off, on, pair):
    options = {"ngram_range": (1, 2), "normalize": True}
    assert StringKernel(kind, **options, **{step: off}).gram(pair)[0, 1] != 1
    assert StringKernel(kind, **options, **{step: on}).gram(pair)[0, 1] == 1


def test_as_the_kernel_of_a_support_vector_machine():
    kernel = StringKernel(ngram_range=(2, 4), normalize=True)
    direct = SVC(kernel=kernel).fit(TEXTS, LABELS)
    matrix = SVC(kernel="precomputed").fit(kernel.gram(TEXTS), LABELS)
    new = ["good bad film", "pan"]
    assert (
        direct.decision_function(new) == matrix.decision_function(kernel.gram(new, TEXTS))
    ).all()
    assert direct.predict(TEXTS).tolist() == LABELS


def test_as_a_transformer_in_a_pipeline():
    pipeline = make_pipeline(
        StringKernel(ngram_range=(2, 4), normalize=True), SVC(kernel="precomputed")
    )
    assert pipeline.fit(TEXTS, LABELS).predict(TEXTS).tolist() == LABELS
    assert cross_val_score(pipeline, TEXTS * 2, LABELS * 2, cv=2).mean() == 1
    search = GridSearchCV(
        pipeline, {"stringkernel__kind": KINDS, "stringkernel__ngram_range": [(2, 2), (2, 4)]}, cv=2
    )
    assert search.fit(TEXTS, LABELS).best_params_["stringkernel__kind"] in KINDS


@pytest.mark.parametrize("kind", KINDS + PAIR_KINDS)
def test_fit_transform_and_transform_agree(kind):
    kernel = StringKernel(kind, ngram_range=(1, 3))
    assert (kernel.fit_transform(TEXTS) == kernel.transform(TEXTS)).all()
    assert kernel.transform(["good"]).shape == (1, len(TEXTS))
    assert kernel.get_feature_names_out().tolist() == [f"document{i}" for i in range(len(TEXTS))]


def test_it_can_be_cloned_and_pickled():
    kernel = StringKernel("spectrum", ngram_range=(1, 3), lowercase=False).fit(TEXTS)
    assert clone(kernel).get_params() == kernel.get_params()
    assert (pickle.loads(pickle.dumps(kernel)).transform(TEXTS) == kernel.transform(TEXTS)).all()
    assert repr(kernel) == "StringKernel(kind='spectrum', lowercase=False, ngram_range=(1, 3))"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "presense"}, "'presense': must be one of 'presence', 'intersection'"),
        ({"kind": "subsequence", "decay": 0}, "decay=0: give a number from 1e-06 to 1"),
        ({"kind": "subsequence", "decay": 1.1}, "decay=1.1: give"),
        ({"kind": "subsequence", "decay": True}, "decay=True: give"),
        ({"kind": "subsequence", "decay": float("nan")}, "decay=nan: give"),
        ({"kind": "subsequence", "decay": "0.5"}, "decay='0.5': give"),
        ({"kind": "subsequence", "sigma": 2}, "sigma=2: kind='subsequence' .* kind='local_rank'"),
        ({"kind": "local_rank", "max_offset": 0}, "max_offset=0: give .* from 1"),
        ({"kind": "local_rank", "max_offset": 2.5}, "max_offset=2.5: give a whole number"),
        ({"kind": "local_rank", "sigma": 0}, "sigma=0: give a number above 0"),
        ({"kind": "local_rank", "sigma": float("inf")}, "sigma=inf: give"),
        ({"kind": "presence", "decay": 0.4}, "decay=0.4: kind='presence' .* leave it out"),
        ({"ngram_range": (8, 5)}, r"did you mean \(5, 8\)"),
        ({"unicode_form": "utf8"}, "unicode_form='utf8'"),
        ({"memory_limit": "lots"}, "memory_limit='lots'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        StringKernel(**options).gram(TEXTS)


def test_wrong_documents_are_named():
    with pytest.raises(TypeError, match=r"documents\[1\] is None"):
        StringKernel().gram(["a", None])
    with pytest.raises(TypeError, match=r"others is a single str"):
        StringKernel().gram(["a"], "b")
    with pytest.raises(TypeError, match="single str"):
        StringKernel().fit("a text")


def test_transform_before_fit():
    with pytest.raises(ValueError, match="not fitted"):
        StringKernel().transform(TEXTS)


def test_parameters_as_scikit_learn_has_them():
    kernel = StringKernel("spectrum")
    assert kernel.set_params(ngram_range=(1, 2)) is kernel
    assert kernel.ngram_range == (1, 2)
    with pytest.raises(ValueError, match="Invalid parameter 'ngrams' for estimator StringKernel"):
        kernel.set_params(ngrams=(1, 2))
    assert SVC(kernel=kernel).get_params()["kernel__kind"] == "spectrum"
    assert get_tags(kernel).input_tags.string
