import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramshift.report.contents import SimilarDocument
from gramshift.report.payload import as_json, digest, fit_lengths, make_payload, to_units
from sample_report import HOSTILE, make_contents, make_entry

anything = st.text(
    alphabet=st.one_of(
        st.characters(), st.sampled_from("a<>&\u2028\u2029\0😀𝒳\ud83d\ude00\u202e\"'\\")
    )
)


@given(anything)
def test_json_stands_safely_in_a_page(text):
    made = as_json([text])
    assert made.encode().decode() == made
    assert not set("<>&\u2028\u2029\0\n\r") & set(made)
    units = json.loads(made)[0].encode("utf-16-le", "surrogatepass")
    assert units == text.encode(
        "utf-16-le", "surrogatepass"
    )  # what JavaScript has; a pair of halves is one character here


@given(anything, st.data())
def test_offsets_count_utf_16_units(text, data):
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    ((first, last, strength, code),) = to_units(text, [(start, stop, 0.12345, 3)])
    units = text.encode("utf-16-le", "surrogatepass")
    assert units[2 * first : 2 * last].decode("utf-16-le", "surrogatepass").encode(
        "utf-16-le", "surrogatepass"
    ) == text[start:stop].encode("utf-16-le", "surrogatepass")
    assert (strength, code) == (0.12, 3)


@given(st.lists(anything, max_size=8), st.integers(1, 200))
def test_texts_are_cut_only_as_far_as_needed(texts, budget):
    lengths = fit_lengths(texts, budget)
    sizes = [len(as_json(text).encode()) for text in texts]
    assert all(0 <= length <= len(text) for length, text in zip(lengths, texts, strict=True))
    if sum(sizes) <= budget:
        assert lengths == [len(text) for text in texts]
    kept = [
        size
        for size, length, text in zip(sizes, lengths, texts, strict=True)
        if length == len(text) > 0
    ]
    assert sum(kept) <= budget


def test_only_long_texts_are_cut():
    assert fit_lengths(["a" * 8, "b" * 98, "c" * 998], 210) == [
        8,
        98,
        99,
    ]  # quotes count: 10 and 100, which leaves 100
    assert fit_lengths([], 10) == []


def test_neighbours_are_kept_once():
    near = [SimilarDocument("s", "good", 0.5, "pan"), SimilarDocument("t", "bad", 0.25, "lid")]
    documents = [make_entry(0, neighbours=near), make_entry(1, neighbours=near[::-1])]
    payload = make_payload(make_contents(documents))
    assert payload["sources"] == [["s", "good", "pan", 0], ["t", "bad", "lid", 0]]
    assert [one["near"] for one in payload["documents"]] == [
        [[0, 0.5], [1, 0.25]],
        [[1, 0.25], [0, 0.5]],
    ]


def test_what_is_not_known_is_left_out():
    plain = make_payload(make_contents([make_entry(0, reference_label=None)]))["documents"][0]
    assert not {
        "reference",
        "truth",
        "corrected",
        "drawn",
        "abstained",
        "unexplained",
        "cut",
    } & set(plain)
    full = make_entry(
        0, reference_label="bad", truth="ugly", corrected=True, abstained=True, explained=False
    )
    full = make_payload(make_contents([full]))["documents"][0]
    assert (
        full["reference"],
        full["truth"],
        full["corrected"],
        full["abstained"],
        full["unexplained"],
    ) == (
        0,
        "ugly",
        True,
        True,
        True,
    )
    drawn = make_payload(make_contents([make_entry(0, corrected=True, drawn="random")]))[
        "documents"
    ][0]["drawn"]
    assert drawn == "random"


def test_spans_beyond_a_cut_are_dropped():
    contents = make_contents(
        [make_entry(0, text="0123456789" * 2, spans=[(0, 5, 1.0, 0), (8, 12, 0.5, 1)])]
    )
    assert len(make_payload(contents)["documents"][0]["spans"]) == 2
    one = make_payload(contents, max_target_bytes=12)["documents"][0]
    assert one["spans"] == [[0, 5, 1.0, 0]]


def test_the_digest_tells_runs_apart():
    base = make_contents([make_entry(0), make_entry(1)])
    assert digest(base) == digest(
        make_contents([make_entry(0), make_entry(1)], created="later", title="other")
    )
    changes = ({"label": "bad"}, {"id": "x"}, {"text": HOSTILE[9]}, {"corrected": True})
    others = [make_contents([make_entry(0), make_entry(1, **change)]) for change in changes]
    assert len({digest(one) for one in [base, *others]}) == 5


def test_a_number_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="JSON"):
        as_json(float("nan"))
