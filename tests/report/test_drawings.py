"""Drawings, compared with values computed by hand."""

from xml.etree import ElementTree

import pytest

from gramshift.report.contents import DocumentMap
from gramshift.report.drawings import (
    STYLES,
    Scale,
    count_by_confidence,
    draw_accuracy,
    draw_confidence,
    draw_map,
    draw_shares,
    find_levels,
    group_classes,
    number,
    shape,
)
from sample_report import HOSTILE

CLASSES = ["bad", "good"]


def parse(drawing):
    tree = ElementTree.fromstring(str(drawing))
    assert tree.get("role") == "img"
    names = tree.get("aria-labelledby").split()
    assert names == [tree[0].get("id"), tree[1].get("id")]
    assert tree[0].tag == "title"
    assert tree[1].tag == "desc"
    return tree


def find(tree, tag, style):
    return [one for one in tree.iter(tag) if style in one.get("class", "").split()]


def at(one, *names):
    return [float(one.get(name)) for name in names]


def entries(*pairs):
    return [(label, confidence) for confidence, label in pairs]


def test_documents_are_counted_by_confidence():
    documents = entries(
        (0.5, "bad"), (0.549, "good"), (0.55, "good"), (0.95, "bad"), (1.0, "bad"), (0.999, "good")
    )
    low, counts = count_by_confidence(documents, CLASSES)
    assert low == 0.5
    assert counts == [[1, 1], [0, 1], *[[0, 0]] * 7, [2, 1]]
    low, counts = count_by_confidence([("bad", 0.34), ("good", 0.6)], ["bad", "good", "ugly"])
    assert low == pytest.approx(0.3)
    assert counts[0] == [1, 0, 0]
    assert counts[6] == [0, 1, 0]
    assert len(counts) == 14


def test_a_histogram_is_stacked_by_class():
    tree = parse(
        draw_confidence(entries((0.5, "bad"), (0.5, "bad"), (0.5, "good"), (0.97, "good")), CLASSES)
    )
    (bad,), (above, alone) = find(tree, "rect", "c0"), find(tree, "rect", "c1")
    x, y, height = at(bad, "x", "y", "height")
    unit = height / 2
    assert at(above, "x", "y", "height") == pytest.approx([x, y - unit, unit])
    assert at(alone, "y", "height") == pytest.approx([y + unit, unit])
    assert at(alone, "x")[0] == pytest.approx(
        x + 9 * (at(bad, "width")[0] + 2)
    )  # the tenth column, with gaps of 2
    assert "50\u202f% to 55\u202f%: 3" in tree[1].text


def test_shares_fill_each_bar():
    tree = parse(
        draw_shares({"plain": {"bad": 0.25, "good": 0.75}, "round 1": {"good": 1.0}}, CLASSES)
    )
    (bad,), goods = find(tree, "rect", "c0"), find(tree, "rect", "c1")
    start, whole = at(goods[1], "x", "width")
    gap = at(goods[0], "x")[0] - start - at(bad, "width")[0]
    assert at(bad, "x", "width") == pytest.approx([start, (whole + gap) / 4 - gap])
    assert at(goods[0], "width") == pytest.approx([(whole + gap) * 3 / 4 - gap])
    assert [one.text for one in find(tree, "text", "inside")] == [
        "25\u202f%",
        "75\u202f%",
        "100\u202f%",
    ]
    assert [one.text for one in find(tree, "text", "side")] == ["plain", "round 1"]
    assert (
        tree[1].text
        == "plain: bad 25\u202f%, good 75\u202f%; round 1: bad 0\u202f%, good 100\u202f%."
    )


def test_a_map_keeps_its_proportions():
    points = DocumentMap(
        [0.0, 4.0, 2.0], [0.0, 1.0, 2.0], ["target", "source", "source"], ["bad", "good", "bad"]
    )
    tree = parse(draw_map("before", "Before", points, CLASSES))
    circles = list(tree.iter("circle"))
    assert [one.get("class") for one in circles] == [
        "source c1",
        "source c0",
        "target c0",
    ]  # the target on top
    (x1, y1), (x2, y2), (x0, y0) = (at(one, "cx", "cy") for one in circles)
    assert (
        (x1 - x0) / 4 == (x2 - x0) / 2 == (y0 - y1) == (y0 - y2) / 2 > 0
    )  # the same unit both ways, y upwards
    assert "2 source documents as rings and 1 target document as dots" in tree[1].text
    assert (
        len(
            list(
                parse(
                    draw_map("a", "b", DocumentMap([1.0], [1.0], ["source"], ["bad"]), CLASSES)
                ).iter("circle")
            )
        )
        == 1
    )


def test_accuracy_stands_beside_confidence():
    bins = [
        {"low": 0.5, "high": 0.75, "n": 8, "accuracy": 0.5},
        {"low": 0.75, "high": 1.0, "n": 4, "accuracy": 1.0},
    ]
    tree = parse(draw_accuracy(bins))
    first, second = find(tree, "rect", "column")
    (x, y, width, height), (x2, y2, width2, height2) = (
        at(one, "x", "y", "width", "height") for one in (first, second)
    )
    assert (height2, y2 + height2, width2) == (2 * height, y + height, width)
    assert x + width < x2
    (line,) = find(tree, "line", "ideal")
    assert at(line, "y1", "y2") == [y, y2]  # from 50 % to 100 %
    assert [one.text for one in find(tree, "text", "count")] == ["8", "4"]
    parts = list(tree)
    assert parts.index(line) < parts.index(find(tree, "text", "count")[0])  # numbers cover it


def test_classes_have_styles_of_their_own_until_there_are_none_left():
    names = [f"class {k}" for k in range(20)]
    assert list(group_classes(names[:16], []).values()) == list(range(16))
    assert len(set(STYLES)) == 16
    rare = {0, 2, 7, 11, 19}
    labels = [name for k, name in enumerate(names) for _ in range(1 if k in rare else 3)]
    places = list(group_classes(names, labels).values())
    assert {k for k, place in enumerate(places) if place == 15} == rare
    assert [place for place in places if place < 15] == list(range(15))


def test_a_class_beyond_the_colours_is_striped_and_a_diamond():
    names = [f"class {k}" for k in range(10)]
    tree = parse(draw_shares({"source": dict.fromkeys(names, 0.1)}, names))
    plain, striped = find(tree, "rect", "c1")
    assert (plain.get("class"), striped.get("class")) == ("c1", "c1 striped")
    (stripes,) = (
        one
        for one in tree.iter("rect")
        if one.get("fill") == "url(#stripes)" and one.get("x") == striped.get("x")
    )
    assert at(stripes, "y", "width", "height") == at(striped, "y", "width", "height")
    points = DocumentMap([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], ["target"] * 3, [*names[:2], names[9]])
    tree = parse(draw_map("before", "Before", points, names))
    assert [one.get("class") for one in tree.iter("circle")] == ["target c0", "target c1"]
    assert [one.get("class") for one in tree.iter("path")] == ["target c1 striped"]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (1, [0, 1]),
        (3, [0, 1, 2, 3]),
        (7, [0, 2, 4, 6]),
        (210, [0, 50, 100, 150, 200]),
        (1999, [0, 500, 1000, 1500]),
    ],
)
def test_axes_have_a_few_round_numbers(most, expected):
    assert find_levels(most) == expected


def test_the_highest_bar_is_as_high_as_the_plot():
    heights = []
    for n in (1, 210):
        drawing = draw_confidence([("bad", 0.52)] * n, CLASSES)
        heights += [at(one, "y", "height") for one in find(parse(drawing), "rect", "c0")]
    assert heights[0] == heights[1]


def test_shapes_are_escaped_and_short():
    made = shape("text", HOSTILE[0], x=1 / 3, class_='"><script>', y=-0.0)
    element = ElementTree.fromstring(str(made))
    assert element.text == HOSTILE[0]
    assert element.get("x") == "0.33"
    assert element.get("y") == "0"
    assert "<script" not in made
    assert number(2.50) == "2.5"
    assert number(100) == 100


def test_a_scale_without_extent_gives_the_middle():
    assert Scale(1, 1, 0, 10)(1) == 5
    assert Scale(0, 2, 10, 0)(0.5) == 7.5
