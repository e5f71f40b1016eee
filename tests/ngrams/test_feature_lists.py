"""Lists of documents by n-gram against counters, and what is multiplied by them against matrices of NumPy and SciPy."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from conftest import KINDS, examples, texts
from gramshift.ngrams.feature_lists import MOST_CELLS, N_CHUNKS, WORTH_THREADS, FeatureLists, build_lists
from gramshift.ngrams.leaves.lists import FAR, write_list
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.text.encode import encode

ranges = st.sampled_from([(1, 1), (1, 4), (2, 3), (3, 12), (5, 8), (1, 30)])
NONE = np.zeros(0, np.uint32)


def build(documents, ngram_range, kind, **options):
    return build_lists(sort_ngrams(encode(documents), ngram_range, keep=False, **options), kind=kind)


def make_lists(features, n_docs, *, counted=False):
    """Lists of features that are given as {document: count}, as if they had been found in texts."""
    starts, gaps, counts = [0], [], []
    for feature in features:
        members = np.array(sorted(feature), np.uint32)
        room = len(feature) + n_docs // FAR
        entries, entry_counts = np.zeros(room, np.uint16), np.zeros(room if counted else 0, np.uint32)
        tallied = np.array([feature[doc] for doc in sorted(feature)], np.uint32)
        end = write_list(members, tallied, len(feature), counted, 0, entries, entry_counts)
        starts.append(starts[-1] + end)
        gaps.append(entries[:end])
        counts.append(entry_counts[:end])
    ones, sizes = np.ones(len(features), np.uint32), np.array([len(feature) for feature in features], np.uint32)
    joined = (np.concatenate([np.zeros(0, dtype), *arrays]) for arrays, dtype in ((gaps, np.uint16), (counts, np.uint32)))
    return FeatureLists(n_docs, np.array(starts), *joined, sizes, ones, ones, ones, np.zeros(n_docs, np.int64))


def read_list(lists, f):
    """The documents of a feature and how often they have it: an entry of 65535 says that the next is that much further."""
    doc, found = 0, {}
    for p in range(lists.starts[f], lists.starts[f + 1]):
        doc += int(lists.gaps[p])
        if lists.gaps[p] < 65535:
            found[doc] = int(lists.counts[p]) if lists.counts.size else 1
    return found


def as_matrix(lists):
    """X, with a row per document and a column per feature."""
    features = [read_list(lists, f) for f in range(lists.n_features)]
    cells = [(doc, f, count) for f, feature in enumerate(features) for doc, count in feature.items()]
    rows, columns, values = np.array(cells, np.int64).reshape(-1, 3).T
    return sparse.csr_array((values.astype(float), (rows, columns)), shape=(lists.n_docs, lists.n_features))


def draw_features(seed, n_docs, n_features, largest=30):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(2, min(n_docs, largest) + 1, n_features)
    return [{int(doc): int(chance.integers(1, 5)) for doc in chance.choice(n_docs, size, replace=False)} for size in sizes]


def draw_weights(lists, seed=0):
    """Some of them 0."""
    chance = np.random.default_rng(seed)
    return chance.uniform(0, 2, lists.n_features) * (chance.random(lists.n_features) < 0.8)


def check_against_counters(documents, ngram_range, kind, **options):
    """Every n-gram of two documents or more is in one feature, with those of its beginnings that stand at the same places."""
    counters = [naive.ngrams(text, ngram_range) for text in documents]
    having = defaultdict(dict)
    for doc, counter in enumerate(counters):
        for gram, count in counter.items():
            having[gram][doc] = count
    known = {gram: docs for gram, docs in having.items() if len(docs) > 1}
    lists, whole = build(documents, ngram_range, kind, **options), "".join(documents)
    reached = defaultdict(Counter)  # what the features of an n-gram add up to, by document
    for f in range(lists.n_features):
        place, longest, found = int(lists.places[f]), int(lists.longest[f]), read_list(lists, f)
        gram = whole[place : place + longest]
        assert list(found) == sorted(found)
        assert lists.sizes[f] == len(found)
        if kind != "intersection":
            assert gram not in reached
            assert found == (known[gram] if kind == "spectrum" else dict.fromkeys(known[gram], 1))
        for doc in found:
            reached[gram][doc] += int(lists.times[f])
    in_features = Counter()
    for longest, found in reached.items():
        together = [gram for n in range(1, len(longest) + 1) if known.get(gram := longest[:n]) == known[longest]]
        in_features.update(together)
        second = sorted(known[longest].values())[-2]
        levels = {doc: min(count, second) for doc, count in known[longest].items()}
        per_ngram = levels if kind == "intersection" else dict.fromkeys(levels, 1)
        assert found == {doc: len(together) * value for doc, value in per_ngram.items()}
    assert in_features == Counter(known.keys())
    for doc, counter in enumerate(counters):
        alone = 0
        for gram, count in counter.items():
            others = max((one for other, one in having[gram].items() if other != doc), default=0)
            if kind == "intersection":
                alone += max(0, count - others)
            elif not others:
                alone += count**2 if kind == "spectrum" else 1
        assert lists.unshared[doc] == alone
    return lists


@pytest.mark.parametrize("kind", KINDS)
@given(texts, ranges)
@examples(60)
def test_lists_are_those_of_counters(kind, documents, ngram_range):
    check_against_counters(documents, ngram_range, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plain_case(kind):
    """Eight documents in several shards, two of them empty, two of them copies."""
    documents = ["abab abab", "", "ab", "bab", "abab abab", "", "xyz", "\N{GRINNING FACE}ab\N{GRINNING FACE}ab"]
    assert check_against_counters(documents, (1, 5), kind, shard_size=5).n_features > 5


def test_three_short_texts():
    lists = build(["abc", "abc", "bcc"], (1, 3), "spectrum")
    whole = "abcabcbcc"
    found = {
        whole[place : place + longest]: (times, read_list(lists, f))
        for f, (place, longest, times) in enumerate(zip(lists.places, lists.longest, lists.times, strict=True))
    }
    assert found == {
        "abc": (3, {0: 1, 1: 1}),  # with a and ab, which stand nowhere else
        "bc": (2, {0: 1, 1: 1, 2: 1}),  # with b
        "c": (1, {0: 1, 1: 1, 2: 2}),
    }
    assert lists.unshared.tolist() == [0, 0, 2]  # cc and bcc


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("documents", [[], [""], ["", "", ""], ["abc"], ["ab", "cd", ""]])
def test_without_features(kind, documents):
    lists, n = build(documents, (1, 8), kind), len(documents)
    weights, rows = np.zeros(0), np.arange(n)
    assert lists.n_features == 0
    assert lists.unshared.tolist() == [sum(naive.ngrams(text, (1, 8)).values()) for text in documents]
    assert lists.multiply(weights, np.ones((n, 2))).tolist() == [[0.0, 0.0]] * n
    assert lists.own_values(weights).tolist() == [0.0] * n
    assert lists.gather(np.ones((n, 2))).shape == (0, 2)
    assert lists.rows(weights, rows).tolist() == np.zeros((n, n)).tolist()
    assert lists.weigh(lambda count: count(np.zeros(n, np.int64), 1)[0].astype(float)).shape == (0,)
    narrowed, left, own = lists.narrow(weights, rows)
    assert (narrowed.n_docs, narrowed.n_features, left.size, own.tolist()) == (n, 0, 0, [0.0] * n)


@pytest.mark.parametrize("kind", KINDS)
@given(texts, ranges)
@examples(30)
def test_with_times_as_weights_it_is_the_kernel(kind, documents, ngram_range):
    lists = build(documents, ngram_range, kind)
    times = lists.times.astype(float)
    expected = naive.gram(kind, documents, documents, ngram_range)
    found = lists.rows(times, np.arange(len(documents))) + np.diag(lists.unshared)
    assert found.tolist() == expected
    assert (lists.multiply(times, np.eye(len(documents))) + np.diag(lists.unshared)).tolist() == expected


GAPS = [0, 1, FAR - 1, FAR, FAR + 1, 2 * FAR - 1, 2 * FAR, 2 * FAR + 1, 3 * FAR]


@pytest.mark.parametrize("counted", [False, True])
def test_gaps_of_65535_and_more_take_several_entries(counted):
    """Every gap once at the beginning of a list, and once between two documents."""
    features = [{gap: 3, gap + 7: 2} for gap in GAPS] + [{5: 1, 5 + gap: 4, 6 + 3 * FAR: 2} for gap in GAPS[1:]]
    lists = make_lists(features, 4 * FAR, counted=counted)
    expected = [feature if counted else dict.fromkeys(feature, 1) for feature in features]
    assert [read_list(lists, f) for f in range(lists.n_features)] == expected
    entries = [sum(1 + gap // 65535 for gap in np.diff([0, *sorted(feature)]).tolist()) for feature in features]
    assert np.diff(lists.starts).tolist() == entries
    check_products(lists, width=2)


@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_more_than_65535_documents(kind):
    short = {0: "aab", 3: "ab", 65534: "b", 65535: "aab", 65538: "bb", 131070: "ab", 139_999: "baa"}
    lists = build([short.get(doc, "") for doc in range(140_000)], (1, 2), kind)
    few = build([short[doc] for doc in sorted(short)], (1, 2), kind)
    places, numbers = sorted(short), dict(enumerate(sorted(short)))
    found = {frozenset(read_list(lists, f).items()) for f in range(lists.n_features)}
    assert found == {
        frozenset((numbers[doc], count) for doc, count in read_list(few, f).items()) for f in range(few.n_features)
    }
    assert lists.unshared[places].tolist() == few.unshared.tolist()
    check_products(lists, width=1)


def check_products(lists, width, seed=0):
    """All that lists are good for, beside X diag(w) X' as a matrix."""
    chance, X, weights, n = np.random.default_rng(seed), as_matrix(lists), draw_weights(lists, seed), lists.n_docs
    vectors = chance.normal(size=(n, width))
    gram = X @ sparse.diags_array(weights) @ X.T
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(lists.multiply(weights, vectors), gram @ vectors, **close)
    np.testing.assert_allclose(lists.multiply(weights, np.asfortranarray(vectors)), gram @ vectors, **close)
    np.testing.assert_allclose(lists.own_values(weights), gram.diagonal(), **close)
    np.testing.assert_allclose(lists.gather(vectors), X.T @ vectors, **close)
    some = np.flatnonzero(np.arange(lists.n_features) % 3 != 1)
    np.testing.assert_allclose(lists.gather(vectors, some), (X.T @ vectors)[some], **close)
    chosen = chance.choice(n, min(n, 4 if n > FAR else 40), replace=False)
    if X.nnz:
        chosen = np.union1d(chosen, chance.choice(X.nonzero()[0], 8))
    chosen = np.unique(chosen)
    mixed = chance.permutation(chosen)
    np.testing.assert_allclose(lists.rows(weights, mixed), gram[mixed].toarray(), **close)
    narrowed, left, own = lists.narrow(weights, chosen)
    assert (left > 0).all()
    assert all(len(read_list(narrowed, f)) > 1 for f in range(narrowed.n_features))
    assert narrowed.n_docs == len(own) == len(chosen)
    among = narrowed.rows(left, np.arange(len(chosen))) + np.diag(own)
    np.testing.assert_allclose(among, gram[chosen][:, chosen].toarray(), **close)
    few = as_matrix(narrowed)
    np.testing.assert_allclose((few @ sparse.diags_array(left) @ few.T).toarray() + np.diag(own), among, **close)
    most = np.delete(np.arange(n), chance.choice(n, n // 5, replace=False)) if n < FAR else np.arange(1, n)
    narrowed, left, own = lists.narrow(weights, most)
    product = narrowed.multiply(left, vectors[most]) + own[:, None] * vectors[most]
    np.testing.assert_allclose(product, gram[most][:, most] @ vectors[most], **close)
    groups = chance.integers(-1, 3, n)
    by_group = np.array([(X[groups == group] > 0).sum(axis=0) for group in range(3)])
    found = lists.weigh(lambda count: np.array([1, 1e3, 1e6]) @ count(groups, 3))
    assert found.tolist() == (np.array([1, 1e3, 1e6]) @ by_group).tolist()
    assert lists.weigh(lambda count: count(np.zeros(n, np.int64), 1)[0] / 2).tolist() == (lists.sizes / 2).tolist()


@pytest.mark.parametrize("width", [1, 2, 7])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("n_docs", "n_features"), [(2, 1), (5, 3), (60, 40), (300, 200)])
def test_products_are_those_of_matrices(n_docs, n_features, width, counted):
    """Fewer features than chunks too, and documents without any."""
    lists = make_lists(draw_features(n_docs, n_docs, n_features), n_docs + 2, counted=counted)
    check_products(lists, width, seed=width)


@given(
    st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 9), min_size=2), max_size=12), st.booleans(), st.integers(0, 9)
)
@examples(40)
def test_products_of_any_lists(features, counted, seed):
    check_products(make_lists(features, 10, counted=counted), 1 + seed % 3, seed)


def test_results_of_many_documents_are_held_for_fewer_chunks():
    n_docs, width = 200_000, 7
    assert N_CHUNKS * n_docs * width > MOST_CELLS
    lists = make_lists(draw_features(0, n_docs, 50), n_docs)
    chance, weights, X = np.random.default_rng(1), draw_weights(lists), as_matrix(lists)
    vectors = chance.normal(size=(n_docs, width))
    expected = X @ (weights[:, None] * (X.T @ vectors))
    np.testing.assert_allclose(lists.multiply(weights, vectors), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("counted", [False, True])
def test_bits_do_not_depend_on_threads(counted):
    """There are as many entries as threads are worth it for, and the pool is indeed asked."""
    lists = make_lists(draw_features(3, 800, 500, largest=500), 800, counted=counted)
    assert lists.gaps.size >= WORTH_THREADS
    weights, chance = draw_weights(lists), np.random.default_rng(4)
    groups, rows = chance.integers(0, 2, 800), np.sort(chance.choice(800, 300, replace=False))

    def everything(run):
        products = [lists.multiply(weights, chance.normal(size=(800, width)), run=run) for width in (1, 2, 7)]
        narrowed, left, own = lists.narrow(weights, rows, run=run)
        return [
            *products,
            lists.own_values(weights, run=run),
            lists.gather(np.arange(1600.0).reshape(800, 2) ** 0.5, run=run),
            lists.weigh(lambda count: np.log1p(count(groups, 2)[0]), run=run),
            *(left, own, narrowed.starts, narrowed.gaps, narrowed.counts),
        ]

    results = []
    for n_threads in (1, 2, 7):
        asked = []
        with ThreadPoolExecutor(n_threads) as pool:

            def run(function, items, pool=pool, asked=asked):
                asked.append(len(items))
                return list(pool.map(function, items))

            chance = np.random.default_rng(5)
            results.append([array.tobytes() for array in everything(run)])
        assert set(asked) == {N_CHUNKS}
        assert len(asked) >= 7  # once by each of them, or more often
    assert results[0] == results[1] == results[2]


def test_lists_do_not_depend_on_threads():
    """Found in several shards at once."""
    chance = np.random.default_rng(6)
    documents = ["".join(chance.choice(list("abcd e"), 60)) for _ in range(60)]
    ngrams = sort_ngrams(encode(documents), (2, 5), keep=False, shard_size=300)
    alone = build_lists(ngrams)
    with ThreadPoolExecutor(7) as pool:
        together = build_lists(ngrams, run=lambda function, items: list(pool.map(function, items)))
    for name, array in vars(alone).items():
        assert np.array_equal(array, getattr(together, name)), name
