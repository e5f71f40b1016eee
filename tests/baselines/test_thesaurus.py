"""Each step of the sentiment sensitive thesaurus, by hand and against double loops."""

import random
from collections import Counter
from itertools import permutations
from math import log2

import numpy as np
import pytest
from scipy import sparse

import gramshift as gs
from gramshift.baselines.english import Word, tag_text
from gramshift.baselines.sst import (
    count_together,
    document_elements,
    expand,
    gather_sentences,
    mark,
    sentence_elements,
    shares_of_rows,
    sum_relatedness,
    weigh_counts,
)

SENTENCE = [
    Word("the", "the", ""),
    Word("pans", "pan", "n"),
    Word("are", "be", "v"),
    Word("great", "great", "a"),
    Word("pans", "pan", "n"),
    Word("boston", "boston", "p"),
    Word("lids", "lid", "n"),
    Word(".", ".", ""),
]


def test_elements_of_sentences_and_of_documents():
    assert sentence_elements(SENTENCE) == ["pan", "great", "lid", "pan great", "great lid"]
    of_document = document_elements([SENTENCE[:4], SENTENCE[6:]])
    assert of_document == {"the", "pan", "be", "great", "lid", "the pan", "pan be", "be great"}


def naive_counts(sentences, codes, n_classes):
    """(element, other, class or -1) -> sentences."""
    counts = Counter()
    for elements, code in zip(sentences, codes, strict=True):
        for one, other in permutations(elements, 2):
            counts[one, other, -1] += 1
            if code >= 0:
                counts[one, other, code] += 1
    return {key: count for key, count in counts.items() if count >= 2}


@pytest.mark.parametrize("seed", range(5))
def test_counts_against_loops(seed):
    chance = random.Random(seed)
    sentences = [chance.sample("abcdefgh", chance.randint(0, 4)) for _ in range(60)] + [["z", "a"]]
    codes = np.array([chance.choice([-1, 0, 1, 2]) for _ in sentences])
    entries, counts = count_together(sentences, codes, 3, n_entries=5)
    frequency = Counter(element for elements in sentences for element in elements)
    assert entries == sorted(frequency, key=lambda e: (-frequency[e], e))[:5]
    naive = naive_counts(sentences, codes, 3)
    for place, entry in enumerate(entries):
        expected = sorted(count for (one, _, _), count in naive.items() if one == entry)
        assert sorted(counts[place].data.tolist()) == expected
    shared = {(other, code) for one, other, code in naive if one in entries}
    assert counts.shape == (5, len(shared))


def test_columns_past_the_cap_are_those_with_the_least():
    sentences = [["a", "b"]] * 5 + [["a", "c"]] * 3 + [["b", "d"]] * 2
    codes = np.full(len(sentences), -1)
    _, every = count_together(sentences, codes, 2, n_entries=9)
    _, some = count_together(sentences, codes, 2, n_entries=9, n_columns=2)
    assert every.sum(axis=0).tolist() == [[8, 7, 3, 2]]
    assert (some.toarray() == every.toarray()[:, :2]).all()


def test_weight_of_a_cell_by_hand():
    weights = weigh_counts(
        sparse.csr_matrix([[4.0, 2.0], [2.0, 8.0]])
    ).toarray()  # rows and columns sum to 6 and 10, all to 16
    np.testing.assert_allclose(
        weights,
        [
            [log2((4 / 16) / (6 / 16 * 6 / 16)) * 4 / 5 * 6 / 7, 0],  # 2 is less than chance
            [0, log2((8 / 16) / (10 / 16 * 10 / 16)) * 8 / 9 * 10 / 11],
        ],
    )


def naive_tau(weights, v, u):
    return sum(weights[u][w] for w in range(len(weights[u])) if weights[v][w] > 0) / sum(weights[u])


def test_relatedness_by_hand():
    shares = shares_of_rows(sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [4.0, 0.0, 0.0]]))
    (tau,) = sum_relatedness(sparse.csr_matrix(np.eye(3)), shares)  # documents of one entry each
    np.testing.assert_allclose(
        tau, [[1, 3 / 4, 1], [2 / 3, 1, 0], [1 / 3, 0, 1]]
    )  # tau(v, u) is not tau(u, v)
    (both,) = sum_relatedness(sparse.csr_matrix([[1.0, 1.0, 0.0]]), shares)
    np.testing.assert_allclose(both, [[1 + 2 / 3, 3 / 4 + 1, 1]])


@pytest.mark.parametrize("seed", range(5))
def test_relatedness_against_loops(seed):
    chance = np.random.default_rng(seed)
    weights = chance.random((6, 9)) * (chance.random((6, 9)) < 0.4)
    weights[:, 0] += 0.1
    documents = (chance.random((7, 6)) < 0.5).astype(float)
    shares = shares_of_rows(sparse.csr_matrix(weights))
    sums = np.vstack(list(sum_relatedness(sparse.csr_matrix(documents), shares, at_once=3)))
    naive = [
        [sum(naive_tau(weights, v, u) for v in range(6) if document[v]) for u in range(6)]
        for document in documents
    ]
    np.testing.assert_allclose(sums, naive)


def test_expansion_has_one_over_the_rank():
    scores = np.array([[0.5, 0.0, 2.0, 0.5, 0.7], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
    blocks = [scores[:2], scores[2:]]
    np.testing.assert_allclose(
        expand(blocks, 5, 3).toarray(),
        [[1 / 3, 0, 1, 0, 1 / 2], [0, 0, 0, 0, 0], [1, 1 / 2, 1 / 3, 0, 0]],
    )
    np.testing.assert_allclose(expand(blocks, 5, 10).toarray()[0], [1 / 3, 0, 1, 1 / 4, 1 / 2])


def test_marks():
    marked = mark([["b", "x", "b"], [], ["a", "b"]], ["a", "b"])
    assert marked.toarray().tolist() == [[0, 1], [0, 0], [1, 1]]


SOURCE = [
    f"{word} {thing}."
    for word in ("Excellent sturdy", "Awful flimsy")
    for thing in ("pan", "knife", "spoon", "pot") * 3
]
LABELS = ["good"] * 12 + ["bad"] * 12
BRIDGE = [
    "Excellent sturdy tasty soup.",
    "Awful flimsy stale soup.",
] * 6  # the company that tasty and stale keep
NEW = ["Tasty soup.", "Stale soup."] * 4


def test_words_of_the_target_are_understood_by_their_company():
    alone = gs.baselines.SST(adapt=False).fit(SOURCE, LABELS, target=BRIDGE + NEW)
    assert len(set(alone.transduction_[12:])) == 1  # it knows none of these words
    clf = gs.baselines.SST().fit(SOURCE, LABELS, target=BRIDGE + NEW)
    assert clf.transduction_[12:].tolist() == ["good", "bad"] * 4
    assert clf.predict(["A tasty dinner.", "Stale bread!"]).tolist() == ["good", "bad"]


def test_features_are_words_of_the_source_and_entries_and_nothing_that_only_labels_bring():
    clf = gs.baselines.SST().fit(SOURCE, LABELS, target=BRIDGE + NEW)
    words, entries = clf._state["words"], clf._state["entries"]
    assert clf._state["linear"][0].shape == (len(words) + len(entries), 2)
    assert set(words) == set().union(*(document_elements(tag_text(text)) for text in SOURCE))
    spoken = {
        e
        for text in SOURCE + BRIDGE + NEW
        for sentence in tag_text(text)
        for e in sentence_elements(sentence)
    }
    assert set(entries) <= spoken
    assert clf._state["shares"].shape[1] > len(entries)  # with those of each class


def test_the_thesaurus_knows_the_classes_of_the_source_alone():
    sentences, codes = gather_sentences(
        ["A pan. A pot.", "A bad lid."], np.array([0, 1]), ["A film. A song. An end."]
    )
    assert codes.tolist() == [0, 0, 1, -1, -1, -1]
    assert [elements[-1] for elements in sentences] == [
        "pan",
        "pot",
        "bad lid",
        "film",
        "song",
        "end",
    ]


def test_texts_without_nouns_have_no_thesaurus_and_texts_without_words_are_an_error():
    clf = gs.baselines.SST().fit(["it was so", "it was not"], [1, 0], target=["so it goes", ""])
    assert clf._state["entries"] == []
    assert clf.transduction_.tolist()[0] == 1
    with pytest.raises(ValueError, match="the 2 documents have no word at all"):
        gs.baselines.SST().fit(["!!", "..."], [1, 0], target=["a film"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_expand": 0}, "n_expand=0: give a whole number from 1 on"),
        ({"n_entries": 2.5}, "n_entries=2.5: give a whole number"),
        ({"C": -1}, "C=-1: give a number above 0"),
        ({"adapt": "no"}, "adapt='no': give True or False"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        gs.baselines.SST(**options).fit(["a b", "b c"], [1, 0], target=["c"])
