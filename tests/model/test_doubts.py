"""Labels to doubt, by scores on paper and by flipped ones."""

import numpy as np

from gramshift.model.data_problems import doubt_labels


def test_the_label_that_scores_speak_against_is_the_most_doubtful():
    chance = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 40)
    scores = np.eye(3)[codes] + 0.15 * chance.normal(size=(120, 3))
    given = codes.copy()
    given[[3, 50, 90]] = [2, 0, 1]
    found = doubt_labels(scores, given)
    assert set(np.argsort(found.quality)[:3]) == {3, 50, 90}
    assert found.likeliest[[3, 50, 90]].tolist() == [0, 1, 2]
    assert found.is_doubtful[[3, 50, 90]].all()
    assert found.is_doubtful.sum() <= 6
    assert ((found.quality >= 0) & (found.quality <= 1)).all()


def test_a_class_that_is_hard_to_tell_is_not_doubted_as_a_whole():
    """Scores that say nothing give every label its share; nothing is likelier than usual."""
    codes = np.repeat([0, 1], [90, 10])
    found = doubt_labels(np.zeros((100, 2)), codes)
    assert found.quality[0] > 0.8
    assert found.quality[-1] < 0.2
    assert found.likeliest.tolist() == [0] * 100


def test_scores_of_one_kind_do_not_fail():
    found = doubt_labels(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0, 1]))
    assert not found.is_doubtful.any()
