"""The table of n-grams that count: new documents are looked up in it."""

import pickle
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import examples, texts
from gramshift.ngrams import trie
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.ngrams.trie import NGramTable, build_table
from gramshift.text.encode import encode
from gramshift.text.steps import TextSteps
from gramshift.text.words import Vocabulary, number_words

MANY = [
    chr(point) for point in range(0x4E00, 0x4E00 + 5000)
]  # 13 bits each: four of them fit into 64 bits
NO_IDS = np.zeros(0, np.uint32)
ngram_ranges = st.sampled_from([(1, 1), (1, 8), (2, 3), (5, 8), (3, 12), (9, 20), (40, 70)])


def draw_features(documents, ngram_range, seed, share=0.5):
    """Draw features (text, start, longest, times) without common n-grams; map n-grams to them."""
    chance, (lo, hi) = random.Random(seed), ngram_range
    features, known = [], {}
    for doc, text in enumerate(documents):
        for start in range(len(text) - lo + 1):
            longest = chance.randint(lo, min(hi, len(text) - start))
            times = chance.randint(1, longest - lo + 1)
            grams = [
                text[start : start + length] for length in range(longest - times + 1, longest + 1)
            ]
            if chance.random() < share and not any(gram in known for gram in grams):
                known |= dict.fromkeys(grams, len(features))
                features.append((doc, start, longest, times))
    return features, known


def make_table(documents, features, ngram_range):
    encoded = encode(documents)
    places = np.array([encoded.bounds[doc] + start for doc, start, _, _ in features], np.uint32)
    longest, times = (np.array([feature[k] for feature in features], np.int64) for k in (2, 3))
    return build_table(encoded, places, longest, times, ngram_range)


def draw_table(documents, ngram_range, seed=0, share=0.5):
    features, known = draw_features(documents, ngram_range, seed, share)
    return make_table(documents, features, ngram_range), known


def draw_values(table, k=2, seed=0):
    return np.random.default_rng(seed).normal(size=(table.n_features, k))


def naive_sums(known, documents, values, ngram_range):
    sums = np.zeros((len(documents), values.shape[1]))
    for row, text in enumerate(documents):
        for gram in set(naive.ngrams(text, ngram_range)):
            if gram in known:
                sums[row] += values[known[gram]]
    return sums


def naive_spread(known, documents, amount, ngram_range):
    """``amount(feature, document)`` of every n-gram, over its places and their characters."""
    result = []
    for doc, text in enumerate(documents):
        shares = np.zeros((len(text), 2))
        for gram, count in naive.ngrams(text, ngram_range).items():
            for start in range(len(text)):
                if gram in known and text.startswith(gram, start):
                    shares[start : start + len(gram)] += (
                        amount(known[gram], doc) / count / len(gram)
                    )
        result.append(shares)
    return np.concatenate(result)


def rows_of(table):
    """The arrays that are saved, as arguments of from_arrays."""
    return dict(table.__getstate__())


def draw_documents(letters, n, length, seed):
    chance = random.Random(seed)
    return ["".join(chance.choices(letters, k=chance.randint(0, length))) for _ in range(n)]


@given(texts, texts, ngram_ranges, st.integers(0, 99))
@examples(80)
def test_sums_are_the_naive_ones(training, new, ngram_range, seed):
    table, known = draw_table(training, ngram_range, seed)
    values, documents = draw_values(table), [*new, *training]
    found = table.sum_values(encode(documents, known=table.alphabet), values)
    np.testing.assert_allclose(
        found, naive_sums(known, documents, values, ngram_range), rtol=1e-12, atol=1e-12
    )


@given(texts, texts, ngram_ranges, st.integers(0, 99))
@examples(60)
def test_shares_of_characters_are_the_naive_ones(training, new, ngram_range, seed):
    table, known = draw_table(training, ngram_range, seed)
    coefficients, documents, chance = (
        draw_values(table),
        [*new, *training],
        np.random.default_rng(seed),
    )
    weights, less = chance.normal(size=table.n_features), chance.normal(size=(len(documents), 2))
    found = table.spread_values(
        encode(documents, known=table.alphabet), weights, coefficients, less
    )
    expected = naive_spread(
        known, documents, lambda f, doc: weights[f] * (coefficients[f] - less[doc]), ngram_range
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@given(texts, ngram_ranges, st.integers(0, 99))
@examples(60)
def test_the_trie_has_every_ngram_once_in_order(training, ngram_range, seed):
    table, known = draw_table(training, ngram_range, seed)
    nodes = [table.ngram_text(node) for node in range(table.parents.size)]
    assert nodes == sorted(nodes)
    assert set(nodes) == {gram[:length] for gram in [*known, ""] for length in range(len(gram) + 1)}
    assert {
        gram: f for gram, f in zip(nodes, table.features.tolist(), strict=True) if f >= 0
    } == known
    assert table.n_ngrams == len(known)
    assert {*map(chr, table.alphabet)} == {char for gram in known for char in gram}
    same = NGramTable.from_arrays(**rows_of(table))
    assert all(np.array_equal(value, getattr(same, name)) for name, value in rows_of(table).items())


@pytest.mark.parametrize("ngram_range", [(1, 8), (5, 8), (2, 2)])
def test_an_alphabet_of_which_few_characters_fit_into_64_bits(ngram_range):
    again = draw_documents(MANY, 40, 60, 1)
    training = ["".join(MANY), *again]
    table, known = draw_table(training, ngram_range, share=0.9)
    values, documents = draw_values(table), [*again, again[0] * 2, "x".join(again[:3])]
    assert table.slots.root == min(4, ngram_range[0])
    found = table.sum_values(encode(documents, known=table.alphabet), values)
    np.testing.assert_allclose(
        found, naive_sums(known, documents, values, ngram_range), rtol=1e-12, atol=1e-12
    )
    assert found.any()


def test_unknown_characters_and_empty_documents():
    table, known = draw_table(["abcdefgh" * 3], (2, 4), share=1.0)
    values = draw_values(table)
    documents = ["", "😀", "ab😀cd", "abcd😀", "a", "ＡＢ", "bc", "\ud800ab"]
    found = table.sum_values(encode(documents, known=table.alphabet), values)
    np.testing.assert_allclose(found, naive_sums(known, documents, values, (2, 4)))
    assert found[0].tolist() == found[1].tolist() == [0.0, 0.0]
    assert found[2].any()


def test_a_table_without_ngrams():
    table = make_table(["abc"], [], (2, 4))
    encoded = encode(["abc", ""], known=table.alphabet)
    assert table.sum_values(encoded, np.empty((0, 3))).tolist() == [[0.0] * 3] * 2
    assert table.spread_values(encoded, np.empty(0), np.empty((0, 1))).tolist() == [[0.0]] * 3
    assert table.sum_values(encode([], known=table.alphabet), np.empty((0, 3))).shape == (0, 3)
    assert NGramTable.from_arrays(**rows_of(table)).n_ngrams == 0


def test_bits_do_not_depend_on_threads_or_on_other_documents():
    training, new = draw_documents("abcd e", 40, 120, 2), draw_documents("abcd ef", 40, 200, 3)
    table, _ = draw_table(training, (2, 8))
    values, weights = draw_values(table, 3), draw_values(table, 1)[:, 0].copy()
    encoded = encode(new, known=table.alphabet)
    sums, shares = table.sum_values(encoded, values), table.spread_values(encoded, weights, values)
    for n_threads in (1, 2, 7):
        with ThreadPoolExecutor(n_threads) as pool:
            run = lambda function, items: list(pool.map(function, items))  # noqa: E731
            assert table.sum_values(encoded, values, run=run, chunk=300).tobytes() == sums.tobytes()
            assert (
                table.spread_values(encoded, weights, values, run=run, chunk=300).tobytes()
                == shares.tobytes()
            )
    for size in (1, 3, 17):
        parts = [
            table.sum_values(encode(new[k : k + size], known=table.alphabet), values)
            for k in range(0, len(new), size)
        ]
        assert np.concatenate(parts).tobytes() == sums.tobytes()


def test_a_column_does_not_depend_on_the_others():
    table, _ = draw_table(draw_documents("abc ", 20, 80, 4), (1, 5))
    values, encoded = (
        draw_values(table, 5),
        encode(draw_documents("abc ", 20, 80, 5), known=table.alphabet),
    )
    together = table.sum_values(encoded, values)
    for c in range(5):
        assert table.sum_values(encoded, values[:, [c]])[:, 0].tolist() == together[:, c].tolist()


def test_shares_of_characters_add_up_to_sums():
    table, _ = draw_table(draw_documents("abcd ", 30, 100, 6), (2, 6))
    weights, coefficients = draw_values(table, 1)[:, 0].copy(), draw_values(table, 2, seed=1)
    encoded = encode(draw_documents("abcd ", 30, 100, 7), known=table.alphabet)
    less = np.random.default_rng(2).normal(size=(30, 2))
    shares = table.spread_values(encoded, weights, coefficients, less)
    sums = table.sum_values(encoded, np.column_stack([weights[:, None] * coefficients, weights]))
    added = [
        shares[start:stop].sum(axis=0)
        for start, stop in zip(encoded.bounds[:-1], encoded.bounds[1:], strict=True)
    ]
    np.testing.assert_allclose(added, sums[:, :2] - sums[:, 2:] * less, atol=1e-10)


def test_runs_of_sorted_ngrams_are_features():
    documents = draw_documents("ab ", 20, 60, 8)
    encoded, parts = encode(documents), []
    for shard in SortedNGrams(encoded, (3, 6), shard_size=100).map(lambda shard: shard):
        for begin, end, times in shard.runs(3).tolist():
            parts.append((shard.positions[begin], shard.common[begin + 1 : end].min(), times))
    places, longest, times = (np.array(column) for column in zip(*parts, strict=True))
    table = build_table(encoded, places, longest, times, (3, 6))
    counts = sum((naive.ngrams(text, (3, 6)) for text in documents), Counter())
    repeated = {gram for gram, count in counts.items() if count > 1}
    assert {table.ngram_text(node) for node in np.flatnonzero(table.features >= 0)} == repeated


def test_pairs_of_words():
    training = ["One two, three! Two three four", "two three! one", "(five) one two"]
    prepared = TextSteps().apply(training)
    written, words = number_words(prepared)
    features, known = draw_features(written, (1, 2), 0, share=0.8)
    table = make_table(written, features, (1, 2))
    vocabulary = Vocabulary.from_words([words[point] for point in table.alphabet], table.alphabet)
    pairs = {tuple(words[ord(char)] for char in gram): f for gram, f in known.items()}
    values, total = draw_values(table), np.zeros((2, 2))
    for row, text in enumerate([["one", "two", "six", "three", "!", "one", "two"], ["six"]]):
        grams = {tuple(text[k : k + n]) for n in (1, 2) for k in range(len(text) - n + 1)}
        for gram in grams & pairs.keys():
            total[row] += values[pairs[gram]]
    new = vocabulary.write(["one two six, three! one two", "six"])
    np.testing.assert_allclose(table.sum_values(encode(new, known=table.alphabet), values), total)
    assert total[0].any()


def test_slots_are_not_pickled():
    table, _ = draw_table(["abcab", "\ud800abc"], (1, 3))
    encoded, values = encode(["abc", "\ud800ab"], known=table.alphabet), draw_values(table)
    before, sums = pickle.dumps(table), table.sum_values(encoded, values)
    assert pickle.dumps(table) == before
    assert pickle.loads(before).sum_values(encoded, values).tolist() == sums.tolist()
    assert table.slots.nbytes >= 32 * table.n_ngrams
    assert table.nbytes == sum(
        value.nbytes for value in rows_of(table).values() if isinstance(value, np.ndarray)
    )


def test_what_does_not_fit_the_table_is_refused():
    table, _ = draw_table(["abcab"], (1, 3))
    encoded = encode(["abc"], known=table.alphabet)
    with pytest.raises(ValueError, match="the table has"):
        table.sum_values(encoded, np.ones((table.n_features + 1, 2)))
    with pytest.raises(ValueError, match="the table has"):
        table.spread_values(encoded, np.ones(table.n_features - 1), np.ones((table.n_features, 2)))
    with pytest.raises(ValueError, match="less has the shape"):
        table.spread_values(
            encoded, np.ones(table.n_features), np.ones((table.n_features, 2)), np.ones((2, 2))
        )
    with pytest.raises(ValueError, match="encoded with the alphabet"):
        table.sum_values(encode(["xyz"]), draw_values(table))


def put(name, place, value):
    """The same arguments with another value at one place."""

    def change(rows):
        array = rows[name].copy()
        array[place] = value
        return rows | {name: array}

    return change


def put_all(**changed):
    return lambda rows: rows | changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("parents", 0, 1), "the first node is not the empty n-gram"),
        (put("features", 0, 0), "the first node is not the empty n-gram"),
        (put("parents", 2, 2), "does not follow its parent"),
        (put("parents", 2, 2**32 - 1), "does not follow its parent"),
        (put("parents", -1, 1), "does not follow its parent"),
        (put("parents", 1, 3), "does not follow its parent"),
        (
            put("characters", 4, 1),
            "does not follow its parent and smaller characters",
        ),  # the same pair twice
        (put("characters", 2, 0), "a character is not in the alphabet"),
        (put("characters", 2, 5), "a character is not in the alphabet"),
        (put("characters", 2, 2**32 - 1), "a character is not in the alphabet"),
        (put("features", 2, 2), "a feature does not exist"),
        (put("features", 2, -2), "a feature does not exist"),
        (put("features", 1, 1), "shorter than the range"),
        (put_all(ngram_range=(1, 2)), "longer than the range"),
        (put_all(ngram_range=(0, 3)), r"its range is \(0, 3\)"),
        (put_all(ngram_range=(3, 2)), r"its range is \(3, 2\)"),
        (put_all(ngram_range=(2.0, 3)), r"its range is \(2.0, 3\)"),
        (put_all(ngram_range=(2, 3, 4)), r"its range is \(2, 3, 4\)"),
        (put_all(n_features=-1), "it has -1 features"),
        (put_all(n_features=1), "a feature does not exist"),
        (put("alphabet", 1, ord("a")), "a character twice"),
        (put("alphabet", 1, 0x110000), "one that does not exist"),
        (put_all(alphabet=NO_IDS), "a character is not in the alphabet"),
        (put_all(parents=np.zeros(4, np.int64)), "parents is not a list of uint32"),
        (put_all(features=np.zeros((4, 1), np.int32)), "features is not a list of int32"),
        (put_all(characters=[0, 1]), "characters is not a list of uint32"),
        (put_all(parents=np.zeros(3, np.uint32)), "different numbers of parents"),
        (put_all(parents=NO_IDS, characters=NO_IDS, features=NO_IDS.astype(np.int32)), "no nodes"),
    ],
)
def test_damaged_arrays_are_refused(change, message):
    table = make_table(["abcd"], [(0, 0, 3, 1), (0, 1, 2, 1)], (2, 3))  # "", a, ab, abc, b, bc
    rows = rows_of(table)
    assert rows["parents"].tolist() == [0, 0, 1, 2, 0, 4]
    assert rows["features"].tolist() == [-1, -1, -1, 0, -1, 1]
    NGramTable.from_arrays(**rows)
    with pytest.raises(ValueError, match=message):
        NGramTable.from_arrays(**change(rows))


def test_a_range_without_end_is_as_good_as_any():
    table, _ = draw_table(["abcabd"], (1, 3), share=1.0)
    endless = NGramTable.from_arrays(**rows_of(table) | {"ngram_range": (1, 10**30)})
    encoded, values = encode(["abcab"], known=table.alphabet), draw_values(table)
    assert (
        endless.sum_values(encoded, values).tolist() == table.sum_values(encoded, values).tolist()
    )


def longest_run(slots):
    """Return the most slots in use without a free one between them."""
    free = np.flatnonzero(slots[:, 0] == 0)
    return int(np.diff(free, prepend=-1).max())


def test_nobody_can_choose_ngrams_that_all_have_one_home(monkeypatch):
    """Last characters are chosen for the factor of another table: lookups would be quadratic."""
    monkeypatch.setattr(trie, "randbits", random.Random(1).getrandbits)
    n_firsts, n_chars = 40, 60_000
    points = np.arange(0x10000, 0x10000 + n_chars, dtype=np.uint32)
    factor = make_table(["abc"], [(0, 0, 3, 1)], (1, 3)).slots.factor
    parents, characters = [0], [0]
    for number in range(n_firsts * n_firsts):
        if number % n_firsts == 0:
            first = len(parents)
            parents, characters = [*parents, 0], [*characters, number // n_firsts + 1]
        second = len(parents)
        keys = np.uint64(second << 21) + np.arange(1, n_chars + 1, dtype=np.uint64)
        parents += [first, second]
        characters += [number % n_firsts + 1, int(np.argmin(keys * factor)) + 1]
    features = np.zeros(len(parents), np.int32)
    features[0] = -1
    nodes = (np.array(parents, np.uint32), np.array(characters, np.uint32), features, points)
    table = NGramTable.from_arrays(*nodes, (1, 3), 1)
    assert longest_run(table.slots.children) < 100


@given(st.data())
@examples(100)
def test_what_is_accepted_can_be_looked_up(data):
    """Random damage is refused, or makes a table that works."""
    table, _ = draw_table(["abcabdabc", "bcabca"], (2, 4), seed=1)
    rows = rows_of(table)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(["parents", "characters", "features"]))
        place = data.draw(st.integers(0, rows[name].size - 1))
        rows = put(name, place, data.draw(st.integers(0, rows[name].size)))(rows)
    try:
        damaged = NGramTable.from_arrays(**rows)
    except ValueError:
        return
    grams = [damaged.ngram_text(node) for node in range(damaged.parents.size)]
    known = {gram: f for gram, f in zip(grams, damaged.features.tolist(), strict=True) if f >= 0}
    assert len(set(grams)) == len(grams)
    documents, values = ["abcabdbcadcab"], draw_values(damaged)
    found = damaged.sum_values(encode(documents, known=damaged.alphabet), values)
    np.testing.assert_allclose(found, naive_sums(known, documents, values, (2, 4)), atol=1e-12)
