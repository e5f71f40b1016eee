"""Which documents a person should label next."""

import numpy as np
import pytest

import gramshift as gs
from gramshift.errors import InputError
from gramshift.model.documents_to_label import (
    N_CANDIDATES,
    choose_doubtful,
    choose_random,
    compare_rows,
    compare_texts,
)
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


@pytest.fixture(scope="module")
def fitted():
    return gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


def test_every_document_has_the_same_chance():
    counts = np.zeros(10)
    for seed in range(600):
        drawn = choose_random(10, 3, seed)
        assert len(set(drawn.tolist())) == 3
        counts[drawn] += 1
    assert np.abs(counts - 180).max() < 50  # 4.5 standard errors
    assert choose_random(10, 3, 7).tolist() == choose_random(10, 5, 7).tolist()[:3]


def test_copies_of_a_doubtful_document_are_not_asked_again():
    texts = [
        "the plot is thin",
        "the plot is thin",
        "the plot is thin",
        "a bright red umbrella",
        "zzz qqq xxx",
    ]
    confidence = np.array([0.5, 0.51, 0.52, 0.6, 0.7])
    assert choose_doubtful(confidence, 3, compare_texts(texts)).tolist() == [0, 3, 4]


def test_of_documents_that_share_nothing_the_least_sure_come_first():
    confidence = np.array([0.9, 0.5, 0.7, 0.6, 0.8])
    assert choose_doubtful(confidence, 3, lambda rows: np.eye(len(rows))).tolist() == [1, 3, 2]


def test_sure_documents_are_not_looked_at_however_unlike():
    n, confidence = 2, np.linspace(0.5, 1, 50)
    seen = []

    def compare(rows):
        seen.extend(rows.tolist())
        return np.ones((len(rows), len(rows)))

    assert len(choose_doubtful(confidence, n, compare)) == n
    assert seen == list(range(N_CANDIDATES * n))


def test_rows_of_numbers_are_compared_by_their_direction():
    rows = np.array([[1.0, 0], [5, 0], [0, 2], [0, 0]])
    assert compare_rows(rows)(np.arange(4)).tolist() == [
        [1, 1, 0, 0],
        [1, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 0],
    ]


def test_a_classifier_chooses_among_its_target(fitted):
    sure = fitted.transduction_proba_.max(axis=1)
    chosen = fitted.sample(10)
    assert len(set(chosen.tolist())) == 10
    assert chosen[0] == sure.argmin()
    assert sure[chosen].max() <= np.sort(sure)[N_CANDIDATES * 10]
    assert (
        fitted.sample(10, how="random", random_state=3).tolist()
        == choose_random(120, 10, 3).tolist()
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 0}, "n=0: give a number from 1 to 120"),
        ({"n": 500}, "n=500"),
        ({"n": 5, "how": "odd"}, "how='odd': give"),
    ],
)
def test_what_cannot_be_drawn_is_refused(fitted, given, message):
    with pytest.raises(InputError, match=message):
        fitted.sample(**given)


def test_a_model_without_texts_is_given_them(fitted, tmp_path):
    fitted.save(tmp_path / "m.gramshift")
    loaded = gs.load(tmp_path / "m.gramshift")
    with pytest.raises(InputError, match="give texts="):
        loaded.sample(10)
    assert loaded.sample(10, texts=FILMS.texts).tolist() == fitted.sample(10).tolist()
    assert loaded.sample(4, how="random").tolist() == fitted.sample(4, how="random").tolist()
