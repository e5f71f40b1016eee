"""Accessibility of the page, checked by axe-core in both colour schemes, wide and narrow."""

import pytest

from page_visits import Visit, download
from sample_report import make_contents, make_entry, make_issue, make_many

LONG = ["books", "dvd", "electronics", "kitchen and housewares"]


def make_full():
    """A report with all of its parts."""
    documents = [
        make_entry(
            number,
            label=LONG[number % 4],
            reference_label=LONG[number % 3],
            truth=LONG[number % 4],
            probabilities=[0.4, 0.3, 0.2, 0.1],
            corrected=number == 59,
            more=[("title", f"Film {number}")],
        )
        for number in range(60)
    ]
    share = dict(zip(LONG, (0.4, 0.3, 0.2, 0.1), strict=True))
    shares = dict.fromkeys(("source", "plain", "round 1"), share)
    return make_contents(
        documents,
        classes=LONG,
        shares=shares,
        warnings=["one class dominates"],
        diagnostics={
            "agreement": {"value": 0.9, "sentence": "Most."},
            "verdict": "No, not as they are: hardly more than chance.",
        },
        expected_accuracy={"value": 0.6, "low": 0.5, "high": 0.7},
        scores={
            "accuracy": 0.5,
            "confusion": [[5, 1, 0, 2]] * 4,
            "by_confidence": [{"low": 0.5, "high": 1.0, "n": 3, "accuracy": 0.5}],
        },
        changes=[{"id": "doc-1", "before": "dvd", "after": "books"}],
        command="gramshift classify a.csv",
        strongest_ngrams=[[("broke", 1.0, 3, 2)], [("great", 0.5, 1, 7)], [], []],
        issues=[make_issue("empty text", "t.csv 5", "empty text", "")],
        next_command="gramshift classify a.csv --target b.csv"
        " --corrections corrections.csv --force",
    )


def find_violations(page):
    """What axe-core finds: the rule, and the first of the elements that break it."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"][:300])
        for one in found
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_no_rule_of_axe_is_broken(browser, axe, tmp_path, scheme, width):
    one = Visit(
        browser,
        tmp_path,
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = one.open(make_full())
    assert find_violations(page) == []
    page.locator("#begin").click()
    page.keyboard.press("0")
    page.keyboard.press("1")
    page.keyboard.press("e")
    page.keyboard.type("a note")
    page.keyboard.press("Escape")
    page.locator(".strongest summary").click()
    page.locator("#search").fill("document")
    page.locator("#bulk").wait_for()
    assert page.locator(".panel").count() == 1
    download(page)
    assert find_violations(page) == []
    page.locator("#help").click()
    assert find_violations(page) == []
    page.keyboard.press("Escape")
    page.evaluate(
        "document.getElementById('sort').closest('label')"
        ".replaceWith(document.getElementById('sort'))"
    )
    assert find_violations(page)[0][0] == "select-name"  # it does look
    one.close()


@pytest.mark.parametrize(("scheme", "width"), [("dark", 390), ("light", 1280)])
def test_fifty_classes_break_no_rule_of_axe(browser, axe, tmp_path, scheme, width):
    size = {"width": width, "height": 844}
    one = Visit(browser, tmp_path, viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page = one.open(make_many(50))
    for closed in page.locator("#ngrams summary, .problems summary").all():
        closed.click()
    page.locator("#begin").click()
    page.locator(".choices summary").click()
    assert find_violations(page) == []
    page.locator("#help").click()
    assert find_violations(page) == []
    one.close()


DIALECTS = ["Egyptian", "Gulfarab", "Levantin", "Maghrebi", "Tunisian"]


def make_confused(n):
    """A report with a confusion matrix of n classes with eight letters each."""
    documents = [
        make_entry(
            number, label=DIALECTS[number % n], reference_label=None, probabilities=[1 / n] * n
        )
        for number in range(40)
    ]
    shares = dict.fromkeys(("source", "round 1"), dict.fromkeys(DIALECTS[:n], 1 / n))
    scores = {"accuracy": 0.5, "confusion": [[105] * n] * n}
    rounds = [
        {"added": dict.fromkeys(DIALECTS[:n], 9), "labels": {}, "changed": 0, "seconds": 0.1}
    ] * 5
    return make_contents(
        documents, classes=DIALECTS[:n], shares=shares, scores=scores, history=rounds
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_confusion_matrix_fits_a_phone_or_shows_that_there_is_more(browser, tmp_path, scheme):
    one = Visit(browser, tmp_path, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    inner, outer = one.open(make_confused(4)).locator(".scroll:has(.confusion)").evaluate(SIZES)
    assert inner <= outer
    scroll = one.open(make_many(20), "twenty.html").locator(".scroll:has(.confusion)")
    inner, outer = scroll.evaluate(SIZES)
    assert inner > outer
    more = scroll.screenshot()
    scroll.evaluate("one => { one.style.backgroundImage = 'none'; }")
    assert scroll.screenshot() != more  # the shadow at its edge
    one.close()


SIZES = "one => [one.scrollWidth, one.clientWidth]"


@pytest.mark.parametrize("n", [2, 4, 5])
def test_cards_are_as_high_as_what_they_hold(visit, n):
    page = visit.open(make_confused(n))
    blank = page.evaluate(
        """() => [...document.querySelectorAll('figure.card')].map((card) => {
          const both = [card, card.querySelector('svg')];
          const [box, plot] = both.map((one) => one.getBoundingClientRect());
          const caption = card.querySelector('figcaption').getBoundingClientRect();
          return Math.max(plot.top - box.top, box.bottom - caption.bottom);
        })"""
    )
    assert max(blank) < 20


def test_four_classes_fit_or_scroll_and_the_caption_is_whole(browser, tmp_path):
    for width in (1280, 390):
        one = Visit(browser, tmp_path, viewport={"width": width, "height": 844})
        page = one.open(make_full())
        scroll, card = (
            page.locator(".scroll:has(.confusion)"),
            page.locator(".card:has(.confusion)"),
        )
        inner, outer = scroll.evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert width < 1280 or inner <= outer  # all columns are seen
        caption, edges = page.locator("#about-confusion").bounding_box(), card.bounding_box()
        assert caption["x"] + caption["width"] <= edges["x"] + edges["width"]
        scroll.evaluate("one => { one.scrollLeft = 10000; }")
        last, seen = page.locator(".confusion thead th").last.bounding_box(), scroll.bounding_box()
        assert last["x"] + last["width"] <= seen["x"] + seen["width"] + 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        one.close()
