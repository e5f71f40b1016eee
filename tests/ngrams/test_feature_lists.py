"""Lists of documents by n-gram, compared with sets, and their products, compared with SciPy."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from conftest import examples, texts
from gramshift.ngrams.compiled.nesting import BLOCK_FEATURES, MAX_LENGTH_CLASS, SORTED_SHARE
from gramshift.ngrams.feature_lists import (
    CHUNK_ENTRIES,
    MAX_RESULT_CELLS,
    MIN_PARALLEL_ENTRIES,
    N_GROUPS,
    FeatureLists,
    arrange_in_chunks,
    build_lists,
)
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.text.encode import encode
from small_demo import load_demo

ranges = st.sampled_from([(1, 1), (1, 4), (2, 3), (3, 12), (5, 8), (1, 30)])
DEMO = load_demo("kitchen").texts + load_demo("films").texts
MANY = 60_000  # documents: a matrix of these is not written down


def build(documents, ngram_range, *, in_chunk=CHUNK_ENTRIES, **options):
    return build_lists(SortedNGrams(encode(documents), ngram_range, **options), in_chunk=in_chunk)


def make_lists(features, n_docs, *, in_chunk=CHUNK_ENTRIES):
    """Build the lists of features that are given as sets of documents, without parents."""
    sizes = np.array([len(feature) for feature in features], np.uint32)
    docs = np.array([doc for feature in features for doc in sorted(feature)], np.uint32)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    chunks = arrange_in_chunks(starts, sizes, docs, np.zeros(len(sizes), np.uint32), in_chunk)
    ones = np.ones_like(sizes)
    return FeatureLists(n_docs, chunks, sizes, ones, ones, ones, np.zeros(n_docs, np.int64))


def read_lists(lists):
    """The documents of every feature: those of its own lists, and those of its children."""
    found = []
    for chunk in lists.chunks:
        first_list = first = 0
        for end, (middle, last_list) in zip(
            chunk.ends.tolist(), chunk.list_ends.tolist(), strict=True
        ):
            block = [Counter() for _ in range(end - first)]
            for k in range(first_list, last_list):
                for p in range(chunk.starts[k], chunk.starts[k + 1]):
                    block[chunk.owners[k]][int(chunk.docs[p])] += 1 if k < middle else -1
            for f, parent in enumerate(chunk.parents[first:end].tolist()):
                assert parent > f, "children come first"
                if parent < end - first:
                    for doc, count in block[f].items():
                        block[parent][doc] += count
            assert {count for feature in block for count in feature.values()} <= {0, 1}
            found += [{doc for doc in feature if feature[doc]} for feature in block]
            first, first_list = end, last_list
    return found


def as_matrix(lists):
    """X, with a row per document and a column per feature."""
    cells = [(doc, f) for f, feature in enumerate(read_lists(lists)) for doc in sorted(feature)]
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
    return sparse.csr_array(
        (np.ones(len(cells)), (rows, columns)), shape=(lists.n_docs, lists.n_features)
    )


def draw_features(seed, n_docs, n_features, largest=30):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(2, min(n_docs, largest) + 1, n_features)
    return [set(chance.choice(n_docs, size, replace=False).tolist()) for size in sizes]


def draw_weights(lists, seed=0):
    """Some of them 0."""
    chance = np.random.default_rng(seed)
    return chance.uniform(0, 2, lists.n_features) * (chance.random(lists.n_features) < 0.8)


def check_against_sets(documents, ngram_range, **options):
    """Check that every n-gram of two documents or more is in one feature, of exactly these."""
    having = defaultdict(dict)
    for doc, text in enumerate(documents):
        for gram, count in naive.ngrams(text, ngram_range).items():
            having[gram][doc] = count
    known = {gram: docs for gram, docs in having.items() if len(docs) > 1}
    lists, whole = build(documents, ngram_range, **options), "".join(documents)
    in_features = Counter()
    for f, found in enumerate(read_lists(lists)):
        place, longest = int(lists.places[f]), int(lists.longest[f])
        gram = whole[place : place + longest]
        assert found == set(known[gram])
        assert lists.sizes[f] == len(found)
        together = [
            one for n in range(1, len(gram) + 1) if known.get(one := gram[:n]) == known[gram]
        ]
        assert lists.times[f] == len(together)
        in_features.update(together)
    assert in_features == Counter(known.keys())
    alone = Counter(min(docs) for docs in having.values() if len(docs) == 1)
    assert lists.unshared.tolist() == [alone[doc] for doc in range(len(documents))]
    return lists


@given(texts, ranges, st.sampled_from([1, 3, CHUNK_ENTRIES]))
@examples(60)
def test_lists_are_those_of_sets(documents, ngram_range, in_chunk):
    """Also in chunks of a tree each."""
    check_against_sets(documents, ngram_range, in_chunk=in_chunk)


def test_many_lists_are_those_of_sets():
    """In many chunks of demo texts, some short n-grams list all their documents, few or many."""
    documents = [text[:60] for text in DEMO]
    lists = check_against_sets(documents, (1, 8), in_chunk=900, shard_size=4000)
    assert len(lists.chunks) > N_GROUPS
    children = sum(int(np.count_nonzero(has_parents(chunk))) for chunk in lists.chunks)
    assert children > 1000
    whole = {size for chunk in lists.chunks for size in np.diff(chunk.starts).tolist()} & set(
        lists.sizes.tolist()
    )
    assert min(whole) * SORTED_SHARE < len(documents) < max(whole) * SORTED_SHARE


def has_parents(chunk):
    """Whether each feature has a parent, which is a number of its block."""
    sizes = np.diff(chunk.ends, prepend=0)
    return chunk.parents < np.repeat(sizes, sizes)


def test_a_plain_case():
    """Eight documents in several shards, two of them empty, two of them copies."""
    documents = [
        "abab abab",
        "",
        "ab",
        "bab",
        "abab abab",
        "",
        "xyz",
        "\N{GRINNING FACE}ab\N{GRINNING FACE}ab",
    ]
    assert check_against_sets(documents, (1, 5), shard_size=5).n_features > 5


def test_three_short_texts():
    lists = build(["abc", "abc", "bcc"], (1, 3))
    whole = "abcabcbcc"
    found = {
        whole[place : place + longest]: (times, found)
        for place, longest, times, found in zip(
            lists.places, lists.longest, lists.times, read_lists(lists), strict=True
        )
    }
    assert found == {
        "abc": (3, {0, 1}),  # with a and ab, which stand nowhere else
        "bc": (2, {0, 1, 2}),  # with b
        "c": (1, {0, 1, 2}),
    }
    assert lists.unshared.tolist() == [0, 0, 2]  # cc and bcc


@pytest.mark.parametrize("documents", [[], [""], ["", "", ""], ["abc"], ["ab", "cd", ""]])
def test_without_features(documents):
    lists, n = build(documents, (1, 8)), len(documents)
    weights, rows = np.zeros(0), np.arange(n)
    assert lists.n_features == 0
    assert lists.unshared.tolist() == [
        sum(naive.ngrams(text, (1, 8)).values()) for text in documents
    ]
    assert lists.multiply(weights, np.ones((n, 2))).tolist() == [[0.0, 0.0]] * n
    assert lists.own_values(weights).tolist() == [0.0] * n
    assert lists.gather(np.ones((n, 2))).shape == (0, 2)
    assert lists.rows(weights, rows, rows).tolist() == np.zeros((n, n)).tolist()
    assert lists.weigh(lambda count: count(np.zeros(n, np.int64), 1)[0].astype(float)).shape == (0,)
    narrowed, left, own = lists.narrow(weights, rows)
    assert (narrowed.n_docs, narrowed.n_features, left.size, own.tolist()) == (n, 0, 0, [0.0] * n)


@given(texts, ranges)
@examples(30)
def test_with_times_as_weights_it_is_the_kernel(documents, ngram_range):
    lists = build(documents, ngram_range)
    times = lists.times.astype(float)
    expected = naive.gram("presence", documents, documents, ngram_range)
    found = lists.rows(times, np.arange(len(documents)), np.arange(len(documents))) + np.diag(
        lists.unshared
    )
    assert found.tolist() == expected
    assert (
        lists.multiply(times, np.eye(len(documents))) + np.diag(lists.unshared)
    ).tolist() == expected


def test_a_document_is_listed_by_the_longest_ngram_that_brings_it_along():
    """A feature adds documents of no longer n-gram, and takes away those of several longer ones."""
    documents = ["ab", "ab", "ac", "ac", "abac", "abac", "abac", "a"]
    lists = build(documents, (1, 2))
    (chunk,), whole = lists.chunks, "".join(documents)
    names = [
        whole[place : place + longest]
        for place, longest in zip(lists.places, lists.longest, strict=True)
    ]
    entries = {names[owner]: [] for owner in chunk.owners}
    for k, owner in enumerate(chunk.owners):
        sign = 1 if k < chunk.list_ends[0, 0] else -1
        entries[names[owner]] += [
            (sign, doc) for doc in chunk.docs[chunk.starts[k] : chunk.starts[k + 1]].tolist()
        ]
    assert entries["ab"] == [(1, doc) for doc in (0, 1, 4, 5, 6)]
    assert entries["ac"] == [(1, doc) for doc in (2, 3, 4, 5, 6)]
    assert entries["a"] == [(1, 7), (-1, 4), (-1, 5), (-1, 6)]  # with ab and ac in it


def test_an_ngram_that_would_take_away_more_than_it_has_lists_all():
    """Each text has x before eight letters: to take each away seven times would be longer."""
    documents = [" ".join(f"x{letter}" for letter in "abcdefgh")] * 3
    lists = build([*documents, "x"], (1, 2))
    (chunk,), whole = lists.chunks, "".join([*documents, "x"])
    (x,) = (
        f
        for f, (place, n) in enumerate(zip(lists.places, lists.longest, strict=True))
        if whole[place : place + n] == "x"
    )
    (k,) = np.flatnonzero(chunk.owners == x)
    assert chunk.docs[chunk.starts[k] : chunk.starts[k + 1]].tolist() == [0, 1, 2, 3]
    assert not (chunk.parents == x).any()
    assert read_lists(lists)[x] == set(range(4))


def test_lists_of_more_than_65535_documents():
    short = {0: "aab", 3: "ab", 65534: "b", 65535: "aab", 65538: "bb", 131070: "ab", 139_999: "baa"}
    lists = build([short.get(doc, "") for doc in range(140_000)], (1, 2))
    few = build([short[doc] for doc in sorted(short)], (1, 2))
    places, numbers = sorted(short), dict(enumerate(sorted(short)))
    found = {frozenset(feature) for feature in read_lists(lists)}
    assert found == {frozenset(numbers[doc] for doc in feature) for feature in read_lists(few)}
    assert lists.unshared[places].tolist() == few.unshared.tolist()
    check_products(lists, width=1)


def check_products(lists, width, seed=0, atol=1e-12):
    """Compare all methods of lists with the matrix X diag(w) X', up to rounding of large sums."""
    chance, X, weights, n = (
        np.random.default_rng(seed),
        as_matrix(lists),
        draw_weights(lists, seed),
        lists.n_docs,
    )
    vectors = chance.normal(size=(n, width))
    gram = X @ sparse.diags_array(weights) @ X.T
    close = {"rtol": 1e-12, "atol": atol}
    np.testing.assert_allclose(lists.multiply(weights, vectors), gram @ vectors, **close)
    np.testing.assert_allclose(
        lists.multiply(weights, np.asfortranarray(vectors)), gram @ vectors, **close
    )
    np.testing.assert_allclose(lists.own_values(weights), gram.diagonal(), **close)
    np.testing.assert_allclose(lists.gather(vectors), X.T @ vectors, **close)
    some = np.flatnonzero(np.arange(lists.n_features) % 3 != 1)
    np.testing.assert_allclose(lists.gather(vectors, some), (X.T @ vectors)[some], **close)
    chosen = chance.choice(n, min(n, 4 if n > MANY else 40), replace=False)
    if X.nnz:
        chosen = np.union1d(chosen, chance.choice(X.nonzero()[0], 8))
    chosen = np.unique(chosen)
    mixed = chance.permutation(chosen)
    others = chance.permutation(n)[: 5 + n // 2] if n < MANY else chosen
    np.testing.assert_allclose(
        lists.rows(weights, mixed, others), gram[mixed][:, others].toarray(), **close
    )
    narrowed, left, own = lists.narrow(weights, chosen)
    assert (left > 0).all()
    assert all(len(feature) > 1 for feature in read_lists(narrowed))
    assert narrowed.n_docs == len(own) == len(chosen)
    among = narrowed.rows(left, *2 * [np.arange(len(chosen))]) + np.diag(own)
    np.testing.assert_allclose(among, gram[chosen][:, chosen].toarray(), **close)
    few = as_matrix(narrowed)
    np.testing.assert_allclose(
        (few @ sparse.diags_array(left) @ few.T).toarray() + np.diag(own), among, **close
    )
    most = (
        np.delete(np.arange(n), chance.choice(n, n // 5, replace=False))
        if n < MANY
        else np.arange(1, n)
    )
    narrowed, left, own = lists.narrow(weights, most)
    product = narrowed.multiply(left, vectors[most]) + own[:, None] * vectors[most]
    np.testing.assert_allclose(product, gram[most][:, most] @ vectors[most], **close)
    groups = chance.integers(-1, 3, n)
    by_group = np.array([(X[groups == group] > 0).sum(axis=0) for group in range(3)])
    found = lists.weigh(lambda count: np.array([1, 1e3, 1e6]) @ count(groups, 3))
    assert found.tolist() == (np.array([1, 1e3, 1e6]) @ by_group).tolist()
    assert (
        lists.weigh(lambda count: count(np.zeros(n, np.int64), 1)[0] / 2).tolist()
        == (lists.sizes / 2).tolist()
    )


@pytest.mark.parametrize("width", [1, 2, 7])
@pytest.mark.parametrize(("n_docs", "n_features"), [(2, 1), (5, 3), (60, 40), (300, 200)])
def test_products_are_those_of_matrices(n_docs, n_features, width):
    """Fewer features than groups too, and documents without any."""
    lists = make_lists(draw_features(n_docs, n_docs, n_features), n_docs + 2)
    check_products(lists, width, seed=width)


@given(st.lists(st.sets(st.integers(0, 9), min_size=2), max_size=12), st.integers(0, 9))
@examples(40)
def test_products_of_any_lists(features, seed):
    check_products(make_lists(features, 10), 1 + seed % 3, seed)


def test_results_of_many_documents_are_held_for_fewer_groups():
    n_docs, width = 200_000, 7
    assert N_GROUPS * n_docs * width > MAX_RESULT_CELLS
    lists = make_lists(draw_features(0, n_docs, 50), n_docs)
    chance, weights, X = np.random.default_rng(1), draw_weights(lists), as_matrix(lists)
    vectors = chance.normal(size=(n_docs, width))
    expected = X @ (weights[:, None] * (X.T @ vectors))
    np.testing.assert_allclose(lists.multiply(weights, vectors), expected, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def demo_lists():
    """N-grams of the demo in many chunks."""
    lists = build(DEMO, (1, 8), in_chunk=1000)
    assert len(lists.chunks) > N_GROUPS
    assert any(has_parents(chunk).any() for chunk in lists.chunks)
    return lists


def test_products_of_many_features(demo_lists):
    """In many chunks, and in one of several blocks."""
    check_products(demo_lists, width=2, atol=1e-10)  # beside products of thousands
    together = build(DEMO, (1, 8))
    (chunk,) = together.chunks
    assert chunk.ends.size > 1
    assert chunk.n_features > BLOCK_FEATURES
    assert read_lists(together) == read_lists(demo_lists)
    check_products(together, width=1, atol=1e-10)


def test_chunks_are_of_whole_trees_and_lists_of_any_length():
    features = draw_features(7, 700, 900, largest=3 * MAX_LENGTH_CLASS)
    lists = make_lists(features, 700)
    assert lists.n_entries > 2 * CHUNK_ENTRIES
    assert len(lists.chunks) == -(-lists.n_entries // CHUNK_ENTRIES)
    assert read_lists(lists) == features
    check_products(lists, width=1, atol=1e-10)  # beside products of thousands


@pytest.mark.parametrize("sort", ["flat", "nested"])
def test_bits_do_not_depend_on_threads(sort, demo_lists):
    """There are as many entries as threads are worth it for, and the pool is indeed asked."""
    lists = (
        demo_lists
        if sort == "nested"
        else make_lists(draw_features(3, 800, 500, 500), 800, in_chunk=2000)
    )
    assert lists.n_entries >= MIN_PARALLEL_ENTRIES
    assert len(lists.chunks) > N_GROUPS
    n, weights, chance = lists.n_docs, draw_weights(lists), np.random.default_rng(4)
    groups, rows = chance.integers(0, 2, n), np.sort(chance.choice(n, n // 3, replace=False))

    def everything(run):
        products = [
            lists.multiply(weights, chance.normal(size=(n, width)), run=run) for width in (1, 2, 7)
        ]
        narrowed, left, own = lists.narrow(weights, rows, run=run)
        return [
            *products,
            lists.own_values(weights, run=run),
            lists.gather(np.arange(2.0 * n).reshape(n, 2) ** 0.5, run=run),
            lists.weigh(lambda count: np.log1p(count(groups, 2)[0]), run=run),
            *(left, own),
            *(
                array
                for chunk in narrowed.chunks
                for array in (chunk.starts, chunk.docs, chunk.owners)
            ),
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
        assert set(asked) == {N_GROUPS}
        assert len(asked) >= 7  # once by each of them, or more often
    assert results[0] == results[1] == results[2]


def test_lists_do_not_depend_on_threads():
    """Found in several shards at once."""
    chance = np.random.default_rng(6)
    documents = ["".join(chance.choice(list("abcd e"), 60)) for _ in range(60)]
    ngrams = SortedNGrams(encode(documents), (2, 5), shard_size=300)
    alone = build_lists(ngrams)
    with ThreadPoolExecutor(7) as pool:
        together = build_lists(ngrams, run=lambda function, items: list(pool.map(function, items)))
    assert len(alone.chunks) == len(together.chunks) > 1
    for one, other in [(alone, together), *zip(alone.chunks, together.chunks, strict=True)]:
        for name, array in vars(one).items():
            assert name == "chunks" or np.array_equal(array, getattr(other, name)), name
