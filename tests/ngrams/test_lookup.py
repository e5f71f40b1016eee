"""The tree of the landmarks' n-grams; what is summed over it is tested with the kernels."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import KINDS, examples, ngram_ranges, texts
from gramshift.ngrams.leaves import tree
from gramshift.ngrams.lookup import build_lookup
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.text.encode import encode


def look_up(texts, *, kind, ngram_range, shard_size=1 << 18, **options):
    return build_lookup(sort_ngrams(encode(texts), ngram_range, keep=False, shard_size=shard_size), kind=kind, **options)


def read_tree(lookup):
    """Every n-gram of the tree with the landmarks that have it, walking all edges from all tops."""
    lo, hi = lookup.ngram_range
    found = {}

    def visit(target, above):
        if target & tree.ALONE:
            place = target ^ tree.ALONE
            end = place + lookup.codes[place:].tolist().index(0)
            depth, owners = min(hi, end - place), {int(lookup.docs[place])}
        else:
            node = lookup.nodes[target]
            place, depth = node[tree.PLACE], node[tree.DEPTH]
            owners = set(lookup.members[node[tree.START] : node[tree.STOP]].tolist())
            for _, child in lookup.edges[node[tree.FIRST_EDGE] : lookup.nodes[target + 1, tree.FIRST_EDGE]].tolist():
                visit(child, int(depth))
        chars = "".join(chr(lookup.alphabet[code - 1]) for code in lookup.codes[place : place + depth])
        for length in range(max(above + 1, lo), int(depth) + 1):
            assert chars[:length] not in found
            found[chars[:length]] = owners

    for target in lookup.top_targets[lookup.top_keys > 0].tolist():
        visit(target, lookup.root - 1)
    return found


@given(texts=texts, ngram_range=ngram_ranges, kind=st.sampled_from(KINDS))
@examples(150)
def test_the_tree_holds_every_ngram_once_with_all_who_have_it(texts, ngram_range, kind):
    expected = {}
    for doc, text in enumerate(texts):
        for gram in naive.ngrams(text, ngram_range):
            expected.setdefault(gram, set()).add(doc)
    lookup = look_up(texts, kind=kind, ngram_range=ngram_range)
    assert read_tree(lookup) == expected
    assert (lookup.nodes[:, tree.FIRST_EDGE] < len(lookup.edges)).all()  # where walks look ahead


@pytest.mark.parametrize("kind", KINDS)
@given(texts=texts, ngram_range=ngram_ranges)
@examples(100)
def test_self_values_are_the_naive_ones(kind, texts, ngram_range):
    lookup = look_up(texts, kind=kind, ngram_range=ngram_range)
    assert lookup.n_landmarks == len(texts)
    assert lookup.self_values.tolist() == [naive.gram(kind, [text], [text], ngram_range)[0][0] for text in texts]


@pytest.mark.parametrize("kind", KINDS)
def test_shards_on_threads_give_the_same_tree(kind):
    rng = np.random.default_rng(2)
    documents = ["".join(rng.choice(list("abcde "), size)) for size in rng.integers(0, 200, 30)]
    whole = look_up(documents, kind=kind, ngram_range=(2, 6))
    with ThreadPoolExecutor(2) as pool:
        run = lambda function, items: list(pool.map(function, items))  # noqa: E731
        parts = look_up(documents, kind=kind, ngram_range=(2, 6), shard_size=64, run=run)
    assert read_tree(parts) == read_tree(whole)
    assert parts.self_values.tolist() == whole.self_values.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_is_told_before_and_right(kind):
    told = []
    texts = ["some words and some more words"] * 40 + ["other words entirely, words and words"] * 40
    lookup = look_up(texts, kind=kind, ngram_range=(2, 5), check_size=told.append)
    assert len(told) == 1
    assert told[0] == pytest.approx(lookup.nbytes, rel=0.05)


def test_a_size_that_is_refused():
    def refuse(n_bytes):
        raise MemoryError(n_bytes)

    with pytest.raises(MemoryError):
        look_up(["abcdef"], kind="presence", ngram_range=(2, 5), check_size=refuse)


def test_arrays_alone_survive_pickling():
    lookup = look_up(["abcab", "\ud800abc"], kind="spectrum", ngram_range=(1, 3))
    copy = pickle.loads(pickle.dumps(lookup))
    assert all(np.array_equal(value, getattr(copy, name)) for name, value in vars(lookup).items())
    assert copy.nbytes == lookup.nbytes > 0
