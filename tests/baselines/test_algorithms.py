"""Each step of each baseline, against a case worked out by hand or a literal version."""

from itertools import combinations

import numpy as np
import pytest
from scipy import linalg, optimize, sparse
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC

import gramshift as gs
from gramshift.baselines import coral, dci, projecting, tradaboost, tsvm
from gramshift.baselines import tradaboost as topics
from gramshift.baselines import word_features as words
from gramshift.baselines.projecting import join, rescale
from gramshift.baselines.word_features import largest, mutual_information
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def matrix(rows):
    return sparse.csr_matrix(np.array(rows, float))


def test_words_pairs_and_weights():
    found, counts = words.find_words(["A b a", "b c"])
    assert found == ["a", "a b", "b", "b a", "b c", "c"]
    assert counts.toarray().tolist() == [[2, 1, 1, 1, 0, 0], [0, 0, 1, 0, 1, 1]]
    assert words.find_words(["a b", "b c"], longest=1, least=2)[0] == ["b"]
    assert words.count_words(["c c x"], found).toarray().tolist() == [[0, 0, 0, 0, 0, 2]]
    theirs = TfidfVectorizer(token_pattern=words.TOKEN, ngram_range=(1, 2), sublinear_tf=True).fit(
        ["A b a", "b c"]
    )
    ours = words.weigh(counts, words.inverse_frequency(counts))
    np.testing.assert_allclose(ours.toarray(), theirs.transform(["A b a", "b c"]).toarray())
    with pytest.raises(ValueError, match="no word at all"):
        words.find_words(["", "!"])
    with pytest.raises(ValueError, match="no word is in 2 of the 2 documents"):
        words.find_words(["a", "b"], least=2)


def test_information_in_bits():
    codes = np.array([1, 1, 0, 0])
    present = matrix(
        [[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]]
    )  # tells all, nothing, never occurs
    np.testing.assert_allclose(mutual_information(present, codes), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(
        mutual_information(present, codes, absence=False), [0.5, 0, 0], atol=1e-12
    )
    chance = np.random.default_rng(0)
    present, codes = (chance.random((40, 5)) < 0.3).astype(float), chance.integers(0, 3, 40)
    for column, found in enumerate(mutual_information(matrix(present), codes)):
        x, total = present[:, column], 0.0
        for value in (0, 1):
            for code in range(3):
                joint = np.mean((x == value) & (codes == code))
                if joint:
                    total += joint * np.log2(joint / (np.mean(x == value) * np.mean(codes == code)))
        assert np.isclose(found, total)
    assert largest(np.array([1.0, 3, 3, 2]), 2).tolist() == [1, 2]


def test_sfa_takes_words_that_both_domains_use_alike_as_the_bridge():
    #           alike  alike  source  target  rare
    source = [[1, 0, 1, 0, 1], [1, 1, 1, 0, 0], [0, 1, 1, 0, 0]]
    target = [[1, 1, 0, 1, 0], [1, 0, 1, 1, 0], [0, 1, 0, 1, 0]]
    assert projecting.choose_bridge(matrix(source + target), 3, 2, 1).tolist() == [
        0,
        1,
    ]  # word 2 stands in both, but not alike
    assert projecting.choose_bridge(matrix(source + target), 3, 2, 2).tolist() == [0, 1]
    assert projecting.choose_bridge(matrix(source + target), 3, 5, 2).tolist() == [
        0,
        1,
    ]  # no other stands in 2 of both
    assert projecting.choose_bridge(matrix(source + target), 3, 5, 1).tolist() == [0, 1, 2]


def test_sfa_clusters_words_by_the_bridge_that_they_share():
    # words 0 and 1 occur with bridge word 4, words 2 and 3 with bridge word 5: two clusters
    present = matrix(
        [[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1], [0, 0, 0, 1, 0, 1]]
    )
    projection = projecting.align(present, np.array([4, 5]), 2)
    expected = np.zeros((6, 6))
    expected[:2, :2] = expected[2:4, 2:4] = 0.5
    np.testing.assert_allclose(projection @ projection.T, expected, atol=1e-12)


def test_sfa_directions_are_the_eigenvectors_of_the_whole_graph():
    chance = np.random.default_rng(1)
    present = (chance.random((60, 12)) < 0.4).astype(float)
    bridge, n = np.array([1, 4, 7, 9]), 3
    specific = [word for word in range(12) if word not in bridge]
    graph = np.zeros((12, 12))
    for i in specific:
        for j in bridge:
            graph[i, j] = graph[j, i] = np.sum(present[:, i] * present[:, j])
    degree = graph.sum(axis=1)
    _, vectors = np.linalg.eigh(graph / np.sqrt(np.outer(degree, degree)))
    theirs = vectors[specific][:, -n:] * np.sqrt(
        2
    )  # half of an eigenvector's length lies on either side
    ours = projecting.align(matrix(present), bridge, n)
    assert (ours[bridge] == 0).all()
    np.testing.assert_allclose(ours[specific] @ ours[specific].T, theirs @ theirs.T, atol=1e-9)


def test_coral_gives_the_source_the_covariances_of_the_target():
    chance = np.random.default_rng(2)
    source, target = (chance.normal(size=(200, 4)) @ chance.normal(size=(4, 4)) for _ in range(2))
    aligned = coral.recolour(source, target, 1e-9)
    np.testing.assert_allclose(np.cov(aligned.T), np.cov(target.T), rtol=1e-5, atol=1e-6)
    expected = (
        source
        @ linalg.inv(linalg.sqrtm(np.cov(source.T) + np.eye(4)))
        @ linalg.sqrtm(np.cov(target.T) + np.eye(4))
    )
    np.testing.assert_allclose(coral.recolour(source, target, 1.0), expected, rtol=1e-7)
    # by hand: variances 2 and 8, each with 1 added: 3 and 9
    np.testing.assert_allclose(
        coral.recolour(np.array([[1.0], [3]]), np.array([[2.0], [6]]), 1.0), np.sqrt([[3], [27]])
    )


def test_coral_weighs_words_and_scores_new_texts_as_they_are():
    clf = gs.baselines.CORAL(n_words=30).fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    vocabulary = clf._state["words"]
    assert len(vocabulary) == 30
    features = TfidfVectorizer(
        token_pattern=words.TOKEN, vocabulary=vocabulary, sublinear_tf=True
    ).fit(KITCHEN.texts)
    source, target = (features.transform(texts).toarray() for texts in (KITCHEN.texts, FILMS.texts))
    codes = np.array([["negative", "positive"].index(label) for label in KITCHEN.labels])
    machine = LinearSVC(C=0.1, max_iter=20000, random_state=0).fit(
        coral.recolour(source, target, 0.01), codes
    )
    np.testing.assert_allclose(
        clf.transduction_score_[:, 1], machine.decision_function(target), atol=1e-6
    )


def test_scl_pivots_are_frequent_in_both_domains():
    source = [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    target = [[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1], [0, 1, 0, 1]]
    present, codes = matrix(source + target), np.array([1, 1, 0, 0])
    assert projecting.choose_pivots(present, 4, None, 1, 1).tolist() == [0]
    assert projecting.choose_pivots(present, 4, codes, 1, 1).tolist() == [
        1
    ]  # word 2 tells nothing of the codes, 1 all
    assert projecting.choose_pivots(present, 4, codes, 9, 2).tolist() == [0, 1]


def modified_huber(margin):
    return max(0.0, 1 - margin) ** 2 if margin >= -1 else -4 * margin


def test_scl_predictors_minimise_the_modified_huber_loss():
    chance = np.random.default_rng(3)
    features = (chance.random((30, 8)) < 0.4).astype(float)
    signs = np.where(chance.random((30, 3)) < 0.3, 1.0, -1.0)
    features[3:10], signs[3:10] = features[2], signs[2]  # many agree, on either side ...
    features[10:18], signs[10:18] = -features[2], -signs[2]
    features[0], signs[0] = (
        features[2] * 2,
        -signs[2],
    )  # ... and one far out does not: there the loss is a straight line
    extended = np.hstack([features, np.ones((30, 1))])
    ours = extended.T @ projecting.predict_pivots(
        features @ features.T, signs, penalty=0.05, tolerance=1e-12
    )
    assert (signs * (extended @ ours) < -1).any()
    for column in range(3):

        def loss(weights, column=column):
            margins = signs[:, column] * (extended @ weights)
            return (
                np.mean([modified_huber(margin) for margin in margins])
                + 0.05 / 2 * weights @ weights
            )

        best = optimize.minimize(loss, np.zeros(9), tol=1e-12)
        np.testing.assert_allclose(ours[:, column], best.x, atol=1e-4)


def test_scl_directions_are_the_singular_vectors_of_the_predictors():
    chance = np.random.default_rng(4)
    present, pivots = (chance.random((50, 10)) < 0.4).astype(float), np.array([2, 5, 6])
    others = [word for word in range(10) if word not in pivots]
    features = present[:, others]
    weights = features.T @ projecting.predict_pivots(
        features @ features.T, np.where(present[:, pivots] > 0, 1.0, -1.0)
    )
    left, _, _ = np.linalg.svd(weights, full_matrices=False)
    ours = projecting.correspond(matrix(present), pivots, 2)
    assert (ours[pivots] == 0).all()  # a pivot must not predict itself
    np.testing.assert_allclose(
        ours[others] @ ours[others].T, left[:, :2] @ left[:, :2].T, atol=1e-8
    )


def test_dci_pivots_tell_of_labels_and_are_alike_in_both_domains():
    codes = np.array([1, 1, 0, 0])
    source = matrix(
        [[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]]
    )  # words 0 and 1 tell all, word 2 nothing
    target = matrix([[0, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]])  # word 0 is half as frequent here
    assert dci.choose_pivots(source, target, codes, 1, 1).tolist() == [1]
    assert dci.choose_pivots(source, target, codes, 2, 1).tolist() == [0, 1]
    assert dci.choose_pivots(source, target, codes, 3, 2).tolist() == [1, 2]


def test_dci_profiles_by_hand():
    # documents: {a p}, {a p}, {b q}, {p q}; words a b p q, pivots p q; the fifth word never occurs
    present = matrix([[1, 0, 1, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 1, 0]])
    root = np.sqrt
    cosines = np.array(
        [
            [2 / root(2 * 3) - root(2 * 3) / 4, 0 - root(2 * 2) / 4],
            [0 - root(1 * 3) / 4, 1 / root(1 * 2) - root(1 * 2) / 4],
            [1 - root(3 * 3) / 4, 1 / root(3 * 2) - root(3 * 2) / 4],
            [1 / root(2 * 3) - root(2 * 3) / 4, 1 - root(2 * 2) / 4],
        ]
    )
    standard = (cosines - cosines.mean(axis=0)) / cosines.std(axis=0)
    expected = standard / np.linalg.norm(standard, axis=1, keepdims=True)
    np.testing.assert_allclose(
        dci.describe_words(present, np.array([2, 3])), [*expected, [0, 0]], atol=1e-12
    )


def test_dci_profiles_of_pivots_are_the_mean_of_both_domains():
    clf = gs.baselines.DCI(n_pivots=20).fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    vocabulary = words.find_words(KITCHEN.texts + FILMS.texts, longest=1)[0]
    parts = [
        dci.without_rare(words.count_words(texts, vocabulary))
        for texts in (KITCHEN.texts, FILMS.texts)
    ]
    codes = np.array([clf.classes_.tolist().index(label) for label in KITCHEN.labels])
    pivots = dci.choose_pivots(*map(words.binary, parts), codes, 20, 2)
    ours, theirs = (
        dci.describe_words(words.weigh(part, words.inverse_frequency(part)), pivots)
        for part in parts
    )
    found = dict(zip(clf._state["words"], clf._state["profiles"], strict=True))
    common = [
        word
        for word, n in zip(vocabulary, words.document_frequency(parts[1]), strict=True)
        if n >= 3
    ]
    assert list(found) == common  # new documents are of the target
    for row, word in enumerate(vocabulary):
        if word in found:
            np.testing.assert_allclose(
                found[word], (ours[row] + theirs[row]) / 2 if row in pivots else theirs[row]
            )


def test_dci_profiles_are_cosines_of_weights_by_loops():
    chance = np.random.default_rng(9)
    weights = chance.random((12, 6)) * (chance.random((12, 6)) < 0.5)
    weights[:3] = np.eye(6)[:3] + 0.5  # no word is without documents
    pivots, profile = np.array([1, 4]), np.zeros((6, 2))
    for i in range(6):
        for column, j in enumerate(pivots):
            dot = sum(row[i] * row[j] for row in weights)
            lengths = [np.sqrt(sum(row[k] ** 2 for row in weights)) for k in (i, j)]
            shares = [np.mean([row[k] > 0 for row in weights]) for k in (i, j)]
            profile[i, column] = dot / (lengths[0] * lengths[1]) - np.sqrt(shares[0] * shares[1])
    standard = (profile - profile.mean(axis=0)) / profile.std(axis=0)
    expected = standard / np.linalg.norm(standard, axis=1, keepdims=True)
    np.testing.assert_allclose(
        dci.describe_words(sparse.csr_matrix(weights), pivots), expected, atol=1e-12
    )


def test_dci_leaves_out_words_of_few_documents_of_their_domain():
    counts = matrix([[1, 2, 0], [3, 1, 0], [1, 0, 0]])
    assert dci.without_rare(counts).toarray().tolist() == [[1, 0, 0], [3, 0, 0], [1, 0, 0]]
    assert dci.without_rare(counts[:1]).toarray().tolist() == [[1, 2, 0]]  # none has three


def test_dci_standardises_new_documents_with_the_target():
    clf = gs.baselines.DCI(n_pivots=20).fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    state = clf._state
    counts = words.count_words(FILMS.texts, state["words"])
    rows = words.weigh(counts, state["inverse"]) @ state["profiles"]
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(rows.mean(axis=0), state["means"])
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    np.testing.assert_allclose(
        words.score(standard, state["linear"]), clf.transduction_score_, atol=1e-9
    )


def test_tsvm_machine_is_the_support_vector_machine():
    chance = np.random.default_rng(5)
    features = chance.normal(size=(60, 5))
    signs = np.where(features[:, 0] + chance.normal(size=60) > 0, 1.0, -1.0)
    penalties = np.where(chance.random(60) < 0.5, 0.3, 2.0)
    gram = features @ features.T
    weights, threshold = tsvm.Machine(gram).solve(signs, penalties)
    theirs = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(gram, signs, sample_weight=penalties)
    np.testing.assert_allclose(
        gram @ weights + threshold, theirs.decision_function(gram), atol=5e-3
    )
    assert abs(weights.sum()) < 1e-9
    assert (signs * weights <= penalties + 1e-12).all()


def test_tsvm_machine_goes_on_from_the_solution_before():
    chance = np.random.default_rng(8)
    features = chance.normal(size=(40, 3))
    gram, signs = features @ features.T, np.where(features[:, 0] > 0, 1.0, -1.0)
    machine = tsvm.Machine(gram)
    for step in range(6):  # other signs and other bounds, some of them far lower
        penalties = 2.0 ** chance.integers(-8, 3, 40)
        signs[chance.integers(0, 40, 5)] *= -1
        going_on = gram @ machine.solve(signs, penalties)[0]
        anew = gram @ tsvm.Machine(gram).solve(signs, penalties)[0]
        np.testing.assert_allclose(going_on, anew, atol=1e-2, err_msg=str(step))


def test_tsvm_swaps_pairs_that_are_both_on_the_wrong_side():
    assigned, scores = np.array([1.0, 1, -1, -1]), np.array([-0.5, 0.9, 0.8, -2])
    assert tsvm.swap(assigned, scores)  # slacks 1.5 and 1.8, together more than 2
    assert assigned.tolist() == [-1, 1, 1, -1]
    assert not tsvm.swap(assigned, scores)
    nearly = np.array([1.0, -1])
    assert not tsvm.swap(nearly, np.array([0.5, 0.5]))  # 0.5 and 1.5: not more than 2
    assert tsvm.label_by_share(np.array([0.1, 3, 2, -1]), 2).tolist() == [-1, 1, 1, -1]


def hinge_objective(gram, signs, penalties):
    weights, threshold = tsvm.Machine(gram).solve(signs, penalties)
    scores = gram @ weights
    return weights @ scores / 2 + penalties @ np.maximum(0, 1 - signs * (scores + threshold))


def test_tsvm_finds_the_labels_with_the_smallest_loss():
    """Of two clouds with a labelled point each, all labels with the right share are compared."""
    chance = np.random.default_rng(6)
    clouds = np.vstack([chance.normal(size=(4, 2)) * 0.5 + centre for centre in ([0, 2], [0, -2])])
    points = np.vstack([[[1.5, 1.2], [-1.5, -1.2]], clouds])
    gram, signs = points @ points.T, np.array([1.0, -1.0])
    _, _, assigned = tsvm.fit_transductive(gram, signs, 1.0, 1.0)
    losses = {}
    for chosen in combinations(range(8), 4):
        labels = np.where(np.isin(np.arange(8), chosen), 1.0, -1.0)
        losses[tuple(labels)] = hinge_objective(gram, np.concatenate([signs, labels]), np.ones(10))
    assert tuple(assigned) == min(losses, key=losses.get)


@pytest.mark.parametrize("kept", [20, 40])
def test_tsvm_keeps_the_share_of_the_source(kept):
    positive = [
        text
        for text, label in zip(KITCHEN.texts, KITCHEN.labels, strict=True)
        if label == "positive"
    ][:kept]
    negative = [
        text
        for text, label in zip(KITCHEN.texts, KITCHEN.labels, strict=True)
        if label == "negative"
    ][:40]
    clf = gs.baselines.TransductiveSVM().fit(
        positive + negative, [1] * kept + [0] * 40, target=FILMS.texts
    )
    assert int(clf.assigned_.sum()) == round(kept / (kept + 40) * len(FILMS.texts))


def naive_tradaboost(X, y, n, rounds):
    """Algorithm 1 of the paper with logistic regression, word for word."""
    w, beta = np.ones(len(y)), 1 / (1 + np.sqrt(2 * np.log(n) / rounds))
    hypotheses, betas = [], []
    for _ in range(rounds):
        p = w / w.sum()
        h = LogisticRegression(max_iter=5000).fit(X, y, sample_weight=p * len(y))
        wrong = np.abs(h.predict(X) - y)
        error = np.sum(w[n:] * wrong[n:]) / np.sum(w[n:])
        error = min(max(error, 1e-3), 0.499)
        beta_t = error / (1 - error)
        w = np.concatenate([w[:n] * beta ** wrong[:n], w[n:] * beta_t ** -wrong[n:].astype(float)])
        hypotheses.append(h)
        betas.append(beta_t)
    first = int(np.ceil(rounds / 2)) - 1
    return hypotheses[first:], betas[first:]


@pytest.mark.parametrize("rounds", [1, 4, 5])
def test_tradaboost_is_the_algorithm_line_by_line(rounds):
    chance = np.random.default_rng(7)
    X = chance.normal(size=(80, 6))
    y = (X[:, 0] + chance.normal(size=80) > 0).astype(int)
    y[60:] = (X[60:, 1] + 0.5 * chance.normal(size=20) > 0).astype(
        int
    )  # the target has another rule
    state = tradaboost.boost(sparse.csr_matrix(X), y, 60, rounds, 1.0)
    hypotheses, betas = naive_tradaboost(X, y, 60, rounds)
    np.testing.assert_allclose(state["votes"], -np.log(betas), atol=1e-3)
    new = chance.normal(size=(30, 6))
    by_hand = []
    for x in new:
        left = np.prod(
            [beta ** -h.predict([x])[0] for h, beta in zip(hypotheses, betas, strict=True)]
        )
        right = np.prod([beta**-0.5 for beta in betas])
        by_hand.append(int(left >= right))
    votes = ((words.score(new, state["linear"]) > 0) - 0.5) @ state["votes"]
    assert (votes >= -1e-12).astype(int).tolist() == by_hand


def test_tradaboost_takes_the_surest_of_each_class():
    codes = np.array([1, 1, 1, 0])
    known = tradaboost.surest_by_share(np.array([0.3, -2, 5, 0.1, 1, -0.2, 4, 2]), codes, 0.5)
    assert known.tolist() == [-1, 0, 1, -1, -1, -1, 1, 1]


def test_tradaboost_with_true_labels_of_some_target_documents():
    given = [label if i % 6 == 0 else None for i, label in enumerate(FILMS.labels)]
    clf = gs.baselines.TrAdaBoost(n_rounds=4)
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts, target_labels=given)
    assert clf.scored_.tolist() == [label is None for label in given]
    other = [label and ("positive" if label == "negative" else "negative") for label in given]
    against = gs.baselines.TrAdaBoost(n_rounds=4)
    against.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts, target_labels=other)
    with_gaps = gs.baselines.TrAdaBoost(n_rounds=4)
    with_gaps.fit(
        KITCHEN.texts + FILMS.texts[:6],
        KITCHEN.labels + [None] * 6,
        target=FILMS.texts[6:],
        target_labels=given[6:],
    )
    assert with_gaps.scored_[:6].all()
    assert with_gaps.scored_[6:].tolist() == clf.scored_[6:].tolist()
    truth = np.array(FILMS.labels)
    assert np.mean(clf.transduction_ == truth) > np.mean(against.transduction_ == truth)
    with pytest.raises(ValueError, match="gaps only; leave it out"):
        clf.fit(
            KITCHEN.texts,
            KITCHEN.labels,
            target=FILMS.texts,
            target_labels=[None] * len(FILMS.texts),
        )
    with pytest.raises(ValueError, match="'good', which y does not have"):
        clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:2], target_labels=["good", None])
    with pytest.raises(ValueError, match="1 label for 2 documents"):
        clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:2], target_labels=["positive"])
    with pytest.raises(ValueError, match="target_labels are those of the documents in target="):
        clf.fit(KITCHEN.texts, KITCHEN.labels, target_labels=["positive"])


@pytest.mark.slow
def test_topics_are_shared_as_the_model_that_found_them_would():
    _, counts = words.find_words(KITCHEN.texts + FILMS.texts, longest=1, least=3)
    model = LatentDirichletAllocation(
        4, learning_method="online", batch_size=256, random_state=0
    ).fit(counts)
    found = topics.fit_topics(counts, 4, 0)
    np.testing.assert_allclose(found, model.components_)
    np.testing.assert_allclose(topics.share_topics(counts[:9], found), model.transform(counts[:9]))


def test_tfidf_is_what_scikit_learn_gives():
    features = TfidfVectorizer(token_pattern=words.TOKEN, ngram_range=(1, 2), sublinear_tf=True)
    theirs = make_pipeline(features, LogisticRegression(max_iter=5000)).fit(
        KITCHEN.texts, KITCHEN.labels
    )
    ours = gs.baselines.TfidfLogistic().fit(KITCHEN.texts, KITCHEN.labels)
    np.testing.assert_allclose(
        ours.decision_function(FILMS.texts), theirs.decision_function(FILMS.texts), atol=1e-4
    )


@pytest.mark.filterwarnings("ignore:fit got no target")
def test_kernel_discriminant_scores_as_ridge_with_an_intercept():
    ours = (
        gs.baselines.KernelDiscriminant(ngram_range=(3, 5))
        .fit(KITCHEN.texts, KITCHEN.labels)
        .decision_function(FILMS.texts)
    )
    ridge = gs.TransductiveClassifier(
        preset="paper", ngram_range=(3, 5), adapt=False, n_rounds=1, bias=True
    )
    theirs = ridge.fit(KITCHEN.texts, KITCHEN.labels).decision_function(FILMS.texts)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.999999
    with pytest.raises(ValueError, match="give texts and a string kernel"):
        gs.baselines.KernelDiscriminant("precomputed").fit([[1, 0], [0, 1]], [0, 1])


def test_projected_features_are_gamma_times_as_long_as_the_words():
    present, projection = matrix([[1, 1, 0, 0], [1, 1, 1, 1]]), np.array([[3.0], [0], [0], [1]])
    scaled = rescale(present, projection, 0.5)
    lengths = np.abs(present @ scaled).mean(), (np.sqrt(2) + 2) / 2
    assert np.isclose(lengths[0], 0.5 * lengths[1])
    assert join(present, scaled).shape == (2, 5)


def test_self_training_is_that_of_scikit_learn():
    features = TfidfVectorizer(
        token_pattern=words.TOKEN, ngram_range=(1, 2), sublinear_tf=True, min_df=2
    )
    rows = features.fit_transform(KITCHEN.texts + FILMS.texts)
    codes = [["negative", "positive"].index(label) for label in KITCHEN.labels] + [-1] * len(
        FILMS.texts
    )
    theirs = SelfTrainingClassifier(LogisticRegression(C=30.0, max_iter=5000), threshold=0.6).fit(
        rows, codes
    )
    ours = gs.baselines.SelfTraining(C=30.0, threshold=0.6).fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    expected = theirs.decision_function(rows[len(KITCHEN.texts) :])
    np.testing.assert_allclose(ours.transduction_score_[:, 1], expected, atol=1e-3)
    without = gs.baselines.SelfTraining(C=30.0, adapt=False).fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    assert np.abs(ours.transduction_score_ - without.transduction_score_).max() > 0.1
