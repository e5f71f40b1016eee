import numpy as np

from gramshift.learn.pseudo_labels import (
    choose_by_shares,
    choose_classes,
    one_versus_all,
    quotas,
    surest,
)


def test_targets_choice_and_ties():
    assert one_versus_all(np.array([0, 2]), 3).tolist() == [[1, -1, -1], [-1, -1, 1]]
    scores = np.array([[0.1, 0.9], [0.9, 0.1], [0.5, 0.5], [0.9, 0.9]])
    assert choose_classes(scores).tolist() == [1, 0, 0, 0]
    assert surest(scores, 3).tolist() == [0, 1, 3]
    assert surest(scores, 10).tolist() == [0, 1, 3, 2]


def test_documents_are_chosen_by_the_shares_of_classes():
    scores = np.array(
        [[-0.9, 0.9], [-0.5, 0.5], [-0.4, 0.4], [0.1, -0.1], [0.2, -0.2], [-0.3, 0.3]]
    )
    rows, codes = choose_by_shares(scores, 4, np.array([0.5, 0.5]))
    assert dict(zip(rows.tolist(), codes.tolist(), strict=True)) == {0: 1, 1: 1, 4: 0, 3: 0}
    # all of them: the least certain positive one becomes negative
    rows, codes = choose_by_shares(scores, 6, np.array([0.5, 0.5]))
    assert rows[codes == 1].tolist() == [0, 1, 2]
    assert rows[codes == 0].tolist() == [4, 3, 5]
    assert choose_by_shares(scores, 99, np.array([0.0, 1.0]))[1].tolist() == [1] * 6
    three = np.array([[0.9, 0.8, 0.0], [0.7, 0.1, 0.2], [0.6, 0.5, 0.4]])
    rows, codes = choose_by_shares(three, 3, np.full(3, 1 / 3))
    assert dict(zip(rows.tolist(), codes.tolist(), strict=True)) == {0: 0, 2: 1, 1: 2}


def test_quotas_add_up():
    assert quotas(10, np.array([0.25, 0.75])) == [3, 7]  # 2.5 and 7.5: the first gets what is left
    assert quotas(10, np.array([0.1, 0.2, 0.7])) == [1, 2, 7]
    assert quotas(1, np.array([0.4, 0.6])) == [0, 1]
    for n in range(20):
        assert sum(quotas(n, np.array([0.21, 0.33, 0.46]))) == n
