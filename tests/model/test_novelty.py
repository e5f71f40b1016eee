"""Target documents that are unlike the source."""

from gramshift.datasets.demo import load_demo
from gramshift.model.data_problems import find_unlike

KITCHEN, FILMS = load_demo("kitchen").texts, load_demo("films").texts
FOREIGN = "Der Wasserkocher ist leider nach einer Woche kaputt gegangen und wurde nicht ersetzt."


def test_a_text_of_another_language_stands_out():
    (found,) = find_unlike(KITCHEN[:100], [*FILMS[:100], FOREIGN])
    assert found.number == 100
    assert found.known < 0.2


def test_garbage_stands_out_even_of_few_documents():
    assert [
        one.number
        for one in find_unlike(
            ["a good pan", "a bad one"], ["a good film", "zxq wvk qqq pfw zzt vvk"]
        )
    ] == [1]


def test_a_class_that_the_source_lacks_stands_out():
    other = [
        f"sir madam pursuant to your invoice number {i} the sum remains unpaid by our client"
        for i in range(15)
    ]
    found = find_unlike(KITCHEN[:200] + other[:1], FILMS[:200] + other)
    assert {one.number for one in found} >= set(range(200, 215))
    assert all(one.rarer > 1.5 for one in found if one.number >= 200)


def test_a_target_like_the_source_has_none():
    assert find_unlike(KITCHEN[:200], KITCHEN[200:400]) == []


def test_empty_and_very_short_texts_tell_nothing():
    assert find_unlike(KITCHEN[:50], [*FILMS[:50], "", "xyzzy", "qwrt plugh"]) == []
    assert find_unlike([], []) == []
