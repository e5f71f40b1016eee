"""Errors that users can correct have our own class, and are the expected built-in error too."""

from functools import partial

import pytest

import gramshift as gs
from gramshift import errors
from gramshift.methods import METHODS

TEXTS = ["good film", "bad film", "good pan"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: gs.StringKernel("magic").gram(TEXTS), ValueError),
        (lambda: gs.StringKernel().gram("one text"), TypeError),
        (lambda: gs.StringKernel(memory_limit=10).gram(TEXTS), MemoryError),
        (lambda: gs.TransductiveClassifier(alpha=-1).fit(TEXTS, [0, 1, None]), ValueError),
        (lambda: gs.TransductiveClassifier().fit(TEXTS, [0, "a", None]), TypeError),
        (lambda: gs.baselines.SFA(C="much").fit(TEXTS, [0, 1, None]), ValueError),
        (lambda: gs.load(__file__), ValueError),
    ],
)
def test_an_error_that_users_can_mend_is_of_both_kinds(call, expected):
    with pytest.raises(gs.GramshiftError) as caught:
        call()
    assert isinstance(caught.value, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_does_with_few_short_texts_or_says_what_it_needs(method):
    source, target = ["good pan", "bad knife", "good pot", "bad spoon"], ["good film", "bad book"]
    fit = partial(METHODS[method].make().fit, source, ["p", "n", "p", "n"], target=target)
    if method.startswith(("sfa", "scl")):
        with pytest.raises(gs.GramshiftError, match="more documents"):
            fit()
    else:
        assert len(fit().transduction_) == 2


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setattr("gramshift.baselines.find_spec", lambda name: None)
    with pytest.raises(gs.GramshiftError) as caught:
        METHODS["sst"].make()
    assert isinstance(caught.value, ModuleNotFoundError)
    assert caught.value.name == "HanTa"


def test_every_class_is_ours_and_pythons():
    classes = [
        one
        for one in vars(errors).values()
        if isinstance(one, type)
        and one.__module__ == errors.__name__
        and one is not gs.GramshiftError
    ]
    classes.remove(errors.FitWarning)  # which stops nobody
    assert len(classes) == 4
    for one in classes:
        assert issubclass(one, gs.GramshiftError)
        assert len(one.__bases__) == 2
        assert one.__bases__[1].__module__ == "builtins"
