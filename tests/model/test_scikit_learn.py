"""The classifier among scikit-learn's tools."""

import warnings
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import gramshift as gs
from gramshift.model.inputs import warn
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET = SOURCE.texts, SOURCE.labels, FILMS.texts
pytestmark = pytest.mark.filterwarnings(
    "ignore:fit got no target"
)  # scikit-learn's tools have none


def make(**options):
    return gs.TransductiveClassifier(
        **{"preset": "paper", "ngram_range": (3, 5), "n_added": 40} | options
    )


LEFT_OUT = {  # no check fails; one leaves itself out
    "check_array_api_input": "needs SCIPY_ARRAY_API in the environment before Python starts"
}


WEIGHTS = (
    "documents have weights in linear models of texts; with a function as kernel they are refused,"
    " and a weight of 0 always is"
)
REFUSED = dict.fromkeys(
    [
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_all_zero_sample_weights_error",
        "check_classifiers_one_label_sample_weights",
        "check_class_weight_classifiers",
    ],
    WEIGHTS,
)
ON_NUMBERS = gs.TransductiveClassifier(kernel=rbf_kernel)


def describe(value):
    """Return the same name in each process, without the address of a function."""
    if value is ON_NUMBERS:
        return "rbf"
    return "-".join(
        [getattr(value, "func", value).__name__, *map(str, getattr(value, "keywords", {}).values())]
    )


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning", "ignore:Can't test estimator"
)
@pytest.mark.parametrize(
    ("estimator", "check"), list(estimator_checks_generator(ON_NUMBERS)), ids=describe
)
@pytest.mark.slow
def test_all_checks_with_rows_of_numbers(estimator, check):
    """scikit-learn has no checks for texts: they run on numbers, with a kernel of these."""
    name = getattr(check, "func", check).__name__
    if name in LEFT_OUT:
        with pytest.raises(SkipTest):
            check(estimator)
    elif name in REFUSED:  # each fails for this reason and no other
        with pytest.raises((ValueError, AssertionError)) as caught:
            check(estimator)
        causes = f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
        assert "linear models" in causes or "sample_weight" in causes
    else:
        check(estimator)


def test_it_says_that_it_takes_texts():
    tags = sklearn.utils.get_tags(make())
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert sklearn.utils.get_tags(make(kernel="precomputed")).input_tags.pairwise
    assert sklearn.utils.get_tags(make()).estimator_type == "classifier"


def test_clone_and_parameters():
    clf = make(n_added=0.2, kernel=gs.StringKernel("spectrum"))
    copy = clone(clf)
    assert repr(copy) == repr(clf)
    assert copy.kernel is not clf.kernel
    assert copy.set_params(alpha=0.5, n_rounds=3).get_params()["alpha"] == 0.5
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        clf.set_params(beta=1)


def test_grid_search_sees_the_whole_target_in_every_fold():
    """The target has as many documents as X: scikit-learn would cut a plain list with the folds."""
    sizes = []

    class Spy(gs.TransductiveClassifier):
        def fit(self, X, y, *, target=None):
            super().fit(X, y, target=target)
            sizes.append(len(self.transduction_))
            return self

    search = GridSearchCV(
        Spy(preset="paper", ngram_range=(3, 5), n_added=40), {"adapt": [True, False]}, cv=2
    )
    search.fit(X, Y, target=gs.Target(TARGET))
    assert sizes == [120] * 5
    assert search.best_estimator_.transduction_.shape == (120,)


def test_cross_validation_and_pipelines():
    assert cross_val_score(make(), X, Y, cv=3).mean() > 0.5
    assert len(cross_val_predict(make(), X, Y, cv=3)) == 120
    shout = FunctionTransformer(lambda texts: [text.upper() for text in texts])
    pipeline = make_pipeline(shout, make()).fit(X, Y, transductiveclassifier__target=TARGET)
    assert (
        pipeline.predict(TARGET[:20]) == make().fit(X, Y, target=TARGET).transduction_[:20]
    ).all()


def test_a_warning_comes_once_in_a_search_and_not_once_per_fold():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(2):  # of the same X
            cross_val_score(make(), X, Y, cv=3)
            GridSearchCV(make(), {"alpha": [1e-5, 1e-2]}, cv=2, refit=False).fit(X, Y)
    assert len([one for one in found if "got no target" in str(one.message)]) == 4
    with pytest.warns(gs.FitWarning, match="got no target"):
        make().fit(X, Y)


def test_every_fold_fails_if_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", gs.FitWarning)
        with pytest.raises(ValueError, match="All the 3 fits failed"):
            cross_val_score(make(), X, Y, cv=3)


def test_warnings_of_two_classes_are_two():
    """A label may be a number, and be all that tells two warnings apart."""

    class Warned(gs.TransductiveClassifier):
        def fit(self, X, y):
            for label in (0, 1, 1):
                warn(f"no target document was labelled {label}", stacklevel=3)
            return super().fit(X, y)

    with pytest.warns(gs.FitWarning) as found:
        cross_val_score(Warned(preset="paper", ngram_range=(3, 5)), X, Y, cv=2)
    shown = [str(one.message) for one in found]
    assert [words[-1] for words in shown if words.startswith("no target")] == ["0", "1"]


def test_a_function_of_the_user_may_be_called_as_one_of_scikit_learn():
    def _fit_and_score():
        return make().fit(X, Y, target=TARGET)

    assert len(_fit_and_score().transduction_) == len(TARGET)


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        asked = make().set_fit_request(target=True)
        pipeline = make_pipeline(FunctionTransformer(None), asked).fit(
            X, Y, target=gs.Target(TARGET)
        )
        assert pipeline[-1].transduction_.shape == (120,)
        search = GridSearchCV(asked, {"alpha": [1e-5, 1e-2]}, cv=2).fit(
            X, Y, target=gs.Target(TARGET)
        )
        assert search.best_estimator_.transduction_.shape == (120,)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            GridSearchCV(make(), {"alpha": [1e-5]}, cv=2).fit(X, Y, target=gs.Target(TARGET))


def test_a_precomputed_gram_in_a_grid_search():
    gram = gs.StringKernel(ngram_range=(3, 5), normalize=True).gram(X)
    expected = GridSearchCV(make(adapt=False), {"alpha": [1e-5, 1]}, cv=3).fit(X, Y)
    found = GridSearchCV(make(kernel="precomputed", adapt=False), {"alpha": [1e-5, 1]}, cv=3).fit(
        gram, Y
    )
    assert (found.cv_results_["mean_test_score"] == expected.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    "make_column",
    [list, tuple, np.array, pd.Series, pl.Series, lambda values: np.array(values, object)],
)
def test_columns_of_every_sort(make_column):
    expected = make().fit(X, Y, target=TARGET)
    found = make().fit(make_column(X), make_column(Y), target=make_column(TARGET))
    assert (found.transduction_ == expected.transduction_).all()
    assert (found.predict(make_column(X)) == expected.predict(X)).all()


def test_a_column_vector_is_taken_with_a_warning():
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector"):
        clf = make().fit(X, np.array(Y)[:, None])
    assert clf.classes_.tolist() == ["negative", "positive"]


def test_rows_of_numbers_with_a_function_as_kernel():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(60, 4)), np.arange(60) % 2
    rows[:, 0] += 6 * codes
    clf = gs.TransductiveClassifier(preset="paper", kernel=rbf_kernel, n_added=10).fit(
        rows[:40], codes[:40], target=rows[40:]
    )
    assert (clf.transduction_ == codes[40:]).mean() > 0.8
    assert (clf.predict(rows[40:]) == clf.transduction_).all()
    with pytest.raises(ValueError, match="4 features"):
        clf.predict(rows[:, :3])
