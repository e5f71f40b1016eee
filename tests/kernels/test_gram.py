import logging
import os
import threading

import numpy as np
import pytest

import gramshift as gs
from conftest import KINDS, PAIR_KINDS
from gramshift.kernels import gram as grams
from gramshift.kernels import registry as kinds
from gramshift.kernels.gram import clip_range, compute_gram, tiles
from gramshift.kernels.kernel import ROW_BYTES, TILE_NANOSECONDS, TilePlan, plan_pairs, plan_strips
from gramshift.runtime import Runtime
from gramshift.text.encode import Encoded

RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcd é"), size)) for size in RNG.integers(0, 120, 45)]
OTHERS = TEXTS[30:] + ["".join(RNG.choice(list("abcd é"), 60)) for _ in range(10)]


def compute(
    texts=TEXTS,
    others=None,
    *,
    kind="presence",
    ngram_range=(2, 4),
    normalize=False,
    out=None,
    **resources,
):
    given = {"kind": kind, "ngram_range": ngram_range, "normalize": normalize, "out": out}
    return compute_gram(texts, others, runtime=Runtime(**resources), **given)


@pytest.mark.parametrize("kind", KINDS + PAIR_KINDS)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("others", [None, OTHERS], ids=["symmetric", "rectangular"])
@pytest.mark.slow
def test_the_bits_do_not_depend_on_threads_or_tiles(kind, normalize, others):
    expected = compute(others=others, kind=kind, normalize=normalize, n_jobs=1)
    for n_threads in (1, 3):
        for tile in [(1, 1), (3, 7), (64, 1), (8, 16), (44, 46), (45, 45)]:
            result = compute(
                others=others, kind=kind, normalize=normalize, n_jobs=n_threads, tile=tile
            )
            assert result.dtype == expected.dtype
            assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS + PAIR_KINDS)
@pytest.mark.parametrize("normalize", [False, True])
def test_a_gram_with_itself_has_the_same_bits_both_ways(kind, normalize):
    once, twice = (
        compute(kind=kind, normalize=normalize),
        compute(others=list(TEXTS), kind=kind, normalize=normalize),
    )
    assert once.tobytes() == twice.tobytes()
    assert (once == once.T).all()


@pytest.mark.parametrize("kind", KINDS + PAIR_KINDS)
def test_a_normalised_diagonal_is_exactly_one_or_zero(kind):
    diagonal = compute(kind=kind, normalize=True, ngram_range=(3, 9)).diagonal()
    assert diagonal.tolist() == [float(len(text) >= 3) for text in TEXTS]


def test_plans_respect_the_budget():
    for budget in (0, 10_000, 10**6, 10**9):
        for n_rows, n_cols in [(0, 0), (1, 1), (3, 100_000), (100_000, 3), (8000, 8000)]:
            plan = plan_strips(n_rows, n_cols, n_threads=2, budget=budget)
            assert plan.height >= 1
            assert plan.width >= 1
            assert plan.nbytes <= max(budget, TilePlan(1, 1, 2, row_bytes=ROW_BYTES).nbytes)


def test_plans_for_pairs_keep_tiles_short_except_for_one_long_pair():
    def cost(n_rows, row_length, n_cols, col_length):
        return 2.0 * row_length * col_length

    def worst(plan, rows, cols):
        return max(
            cost(0, rows[i].sum(), 0, cols[j].sum())
            for i, j in tiles(len(rows), len(cols), plan.height, plan.width)
        )

    for n_rows, n_cols, length in [
        (1, 1, 5),
        (1, 4000, 1000),
        (700, 3, 1000),
        (2000, 2000, 1000),
        (9000, 9000, 30),
    ]:
        rows, cols = np.full(n_rows, length), np.full(n_cols, length)
        plan = plan_pairs(rows, cols, n_threads=2, tile_bytes=7, nanoseconds=cost)
        assert worst(plan, rows, cols) <= TILE_NANOSECONDS
        assert plan.nbytes == 14
    rows = np.full(3000, 50)
    rows[1234] = 10**6  # takes minutes alone, whatever the others do
    plan = plan_pairs(rows, rows, n_threads=2, tile_bytes=0, nanoseconds=cost)
    assert plan.height == plan.width == 1024
    assert (
        plan_pairs(
            np.full(100_000, 10**6), rows, n_threads=2, tile_bytes=0, nanoseconds=cost
        ).height
        == 196
    )  # few enough tiles


def test_when_the_result_does_not_fit_the_error_has_both_numbers():
    with pytest.raises(
        MemoryError,
        match=r"45 x 45 documents needs 15.8 KiB, but the memory limit is 1000 bytes: .*out=",
    ):
        compute(memory_limit=1000)


def test_when_the_index_does_not_fit_the_error_says_so(tmp_path):
    with pytest.raises(
        MemoryError, match=r"with its index \(estimated\), needs .* but the memory limit is 2.0 KiB"
    ):
        compute(memory_limit="2 KiB", out=tmp_path / "gram.npy")
    assert os.listdir(tmp_path) == []


def test_an_index_larger_than_expected_is_refused_before_it_is_allocated(monkeypatch):
    monkeypatch.setattr(kinds, "estimate_index", lambda *_: 0)
    with pytest.raises(
        MemoryError, match=r"with its index, needs .* but the memory limit is 19.5 KiB"
    ):
        compute(memory_limit=20_000)


@pytest.mark.parametrize("kind", KINDS + PAIR_KINDS)
@pytest.mark.parametrize("normalize", [False, True])
def test_written_to_disk_it_is_the_same(tmp_path, kind, normalize):
    mapped = compute(kind=kind, normalize=normalize, out=tmp_path / "gram.npy")
    assert isinstance(mapped, np.memmap)
    assert not mapped.flags.writeable
    assert mapped.tobytes() == compute(kind=kind, normalize=normalize).tobytes()
    assert np.load(tmp_path / "gram.npy").dtype == (
        np.float64 if normalize or kind in PAIR_KINDS else np.int64
    )


@pytest.mark.parametrize(
    ("kind", "stage"),
    [
        ("presence", "gram"),
        ("subsequence", "gram"),
        ("subsequence", "diagonal"),
        ("local_rank", "index"),
    ],
)
def test_an_interrupt_leaves_no_file_and_no_thread(tmp_path, kind, stage):
    def interrupt(reached, done, total):
        if reached == stage:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        compute(kind=kind, out=tmp_path / "gram.npy", progress=interrupt, n_jobs=2)
    assert os.listdir(tmp_path) == []
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("kind", "first"), [("presence", "index"), ("subsequence", "diagonal"), ("local_rank", "index")]
)
def test_progress_tells_both_stages_to_their_end(kind, first):
    calls = []
    compute(kind=kind, progress=lambda *call: calls.append(call))
    for stage in (first, "gram"):
        done = [call for call in calls if call[0] == stage]
        assert done
        assert done[-1][1] == done[-1][2]


def test_one_line_is_logged_and_nothing_by_default(caplog, capfd):
    compute()
    assert capfd.readouterr() == ("", "")
    with caplog.at_level(logging.DEBUG, logger="gramshift"):
        compute()
    (record,) = caplog.records
    assert record.getMessage().startswith("a kernel matrix of 45 x 45 documents by presence: ")
    assert record.levelno == logging.DEBUG


@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_inputs(kind):
    assert compute([], kind=kind).shape == (0, 0)
    assert compute([], ["abc"], kind=kind).shape == (0, 1)
    assert compute(["abc"], [], kind=kind).shape == (1, 0)
    assert compute(["abab"] * 5000, [], kind=kind, ngram_range=(1, 2)).shape == (5000, 0)
    assert compute(["abc"], kind=kind, ngram_range=(3, 3)).tolist() == [[1]]
    assert compute(["abc"] * 3, kind=kind, ngram_range=(3, 3)).tolist() == [[1] * 3] * 3
    assert compute(["", "abc", "a"], kind=kind, ngram_range=(2, 2)).tolist() == [
        [0, 0, 0],
        [0, 2, 0],
        [0, 0, 0],
    ]
    normalized = compute(["", "abc", "abc"], kind=kind, ngram_range=(2, 2), normalize=True)
    assert normalized.tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize("kind", PAIR_KINDS)
def test_degenerate_inputs_of_kernels_that_look_at_pairs(kind):
    for shape, others in [((0, 0), None), ((0, 1), ["abc"])]:
        empty = compute([], others, kind=kind)
        assert empty.shape == shape
        assert empty.dtype == np.float64
    for texts in (["", "ab"], ["", ""], ["a"]):
        with pytest.warns(UserWarning, match="the kernel matrix is all zeros"):
            assert not compute(texts, kind=kind, ngram_range=(3, 5), normalize=True).any()
    for normalize in (False, True):
        gram = compute(["", "abc", "a", "abc"], kind=kind, ngram_range=(2, 2), normalize=normalize)
        assert (gram > 0).tolist() == [[False] * 4, [False, True] * 2] * 2
        gram = compute(
            ["a", "abc"], ["", "abc"], kind=kind, ngram_range=(2, 2), normalize=normalize
        )
        assert (gram > 0).tolist() == [[False, False], [False, True]]


def test_a_warning_points_to_the_line_that_called_us():
    texts, kernel = ["ab", "abc", "b"], gs.StringKernel("presence", ngram_range=(5, 8))
    weighted = {"kernel": gs.StringKernel(ngram_range=(5, 8), weighting="idf")}
    calls = [
        lambda: kernel.gram(texts),
        lambda: kernel(texts, texts),
        lambda: kernel.fit_transform(texts),
        lambda: kernel.parse().compute(texts, runtime=Runtime(1)),
        lambda: gs.TransductiveClassifier(preset="paper", n_added=1, **weighted).fit(
            texts, ["x", "y", "x"], target=["abcd"]
        ),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="the kernel matrix is all zeros") as caught:
            call()
        assert {warning.filename for warning in caught if "all zeros" in str(warning.message)} == {
            __file__
        }


def test_what_takes_long_is_said_beforehand(caplog, monkeypatch):
    compute(["x" * 30], kind="subsequence")
    monkeypatch.setattr(grams, "ANNOUNCED_SECONDS", 0)
    compute(kind="presence")
    assert caplog.messages == []
    told_first = {"progress": lambda *_: caplog.messages or pytest.fail("too late")}
    compute(["x" * 30], kind="subsequence", n_jobs=2, **told_first)
    assert caplog.messages == [
        "gramshift: a kernel matrix of 1 x 1 documents by subsequence "
        "will take roughly 1 s on 2 threads"
    ]


def test_a_range_too_long_for_every_document_is_all_zeros_and_one_warning():
    with pytest.warns(
        UserWarning,
        match=r"ngram_range=\(9, 12\): no document has 9 characters \(the longest has 3\)",
    ) as caught:
        result = compute(["abc", "ab"], ngram_range=(9, 12))
    assert len(caught) == 1
    assert result.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("kind", KINDS)
def test_counts_that_could_overflow_are_refused_and_others_are_not(kind):
    long = Encoded(np.empty(0, np.uint32), np.array([0, 100_000]), np.array([97, 98], np.uint32))
    assert clip_range(long, kind, (1, 10**9)) == (1, 100_000)
    huge = Encoded(
        np.empty(0, np.uint32), np.array([0, 4_000_000_000]), np.array([97, 98], np.uint32)
    )
    if kind == "spectrum":
        with pytest.raises(
            ValueError, match="a document of 4000000000 characters has too many n-grams"
        ):
            clip_range(huge, kind, (5, 8))
    else:
        assert clip_range(huge, kind, (5, 8)) == (5, 8)


def test_a_range_far_longer_than_all_documents_costs_nothing_more():
    assert compute(["abab", "ab"], ngram_range=(1, 10**12)).tolist() == [[7, 3], [3, 3]]
