"""The page in a real Chromium, as a person uses it: reading and finding."""

import csv
import io
import re
from dataclasses import replace

import pytest

from gramshift.report.contents import SimilarDocument
from gramshift.report.page import MAX_DOCUMENTS
from gramshift.report.payload import MAX_TEXT_LENGTH
from page_visits import Visit, count, download, ids_shown, rows, wait_for
from sample_report import HOSTILE, make_contents, make_entry, make_hostile, make_many


def test_doubtful_documents_come_first_and_pages_turn(visit):
    contents = make_contents()
    page = visit.open(contents)
    order = [one.id for one in sorted(contents.documents, key=lambda one: one.confidence)]
    assert ids_shown(page) == order[:25]
    assert count(page) == "60 documents"
    page.locator("#next").click()
    assert ids_shown(page) == order[25:50]
    assert page.locator("#page").inner_text() == "page 2 of 3"
    assert page.evaluate("document.activeElement.id") == f"row-{order[25].removeprefix('doc-')}"
    page.keyboard.press("n")
    assert ids_shown(page) == order[50:]
    assert page.locator("#next").is_disabled()
    page.keyboard.press("p")
    assert ids_shown(page) == order[25:50]
    page.locator("#sort").select_option("file")
    assert ids_shown(page) == [f"doc-{number}" for number in range(25)]
    page.locator("#sort").select_option("sure")
    assert (
        ids_shown(page)
        == [one.id for one in sorted(contents.documents, key=lambda one: -one.confidence)][:25]
    )


def test_search_and_filters_find_what_they_say(visit):
    documents = [make_entry(number, truth="good", corrected=number == 5) for number in range(60)]
    page = visit.open(make_contents(documents))
    page.locator("#search").fill("DOCUMENT 17:")
    wait_for(page, "count", "1 of 60 documents")
    assert ids_shown(page) == ["doc-17"]
    page.locator("#search").fill("nothing like it")
    page.wait_for_selector(".none")
    assert page.locator(".none").inner_text() == "No documents match."
    page.locator("button[type=reset]").click()
    wait_for(page, "count", "60 documents")

    def chosen(**filters):
        for name, value in filters.items():
            field = page.locator(f"#{name}")
            field.fill(value) if name in ("low", "high") else field.select_option(value)
        page.wait_for_timeout(30)
        page.locator("#sort").select_option("file")
        number = int(count(page).split()[0])
        page.locator("button[type=reset]").click()
        wait_for(page, "count", "60 documents")
        return number

    assert chosen(label="1") == 30
    assert chosen(round="1") == sum(one.round == 1 for one in documents)
    assert chosen(low="60", high="70") == sum(0.6 <= one.confidence <= 0.7 for one in documents)
    assert chosen(show="disagree") == 30
    assert chosen(show="wrong") == 30
    assert chosen(show="corrected") == 1
    assert chosen(show="wrong", label="1") == 0
    assert "abstained" not in [
        one.get_attribute("value") for one in page.locator("#show option").all()
    ]


def test_a_document_opens_to_its_text_and_neighbours(visit):
    text = "😀𝒳 emoji first, a great film\nbut the sound broke"
    start = text.index("great")
    near = [
        SimilarDocument("s-7", "good", 0.25, "a great pan"),
        SimilarDocument("s-8", "bad", 0.125, "the lid broke"),
    ]
    one = make_entry(
        0,
        text=text,
        spans=[(start, start + 5, 1.0, 1), (len(text) - 5, len(text), 0.3, 0)],
        neighbours=near,
    )
    page = visit.open(make_contents([one, make_entry(1, explained=False, spans=[], neighbours=[])]))
    row = rows(page).first
    assert row.get_attribute("aria-expanded") == "false"
    row.click()
    row = rows(page).first
    assert row.get_attribute("aria-expanded") == "true"
    panel = page.locator(f"#{row.get_attribute('aria-controls')}")
    assert panel.locator(".reading > .text").evaluate("one => one.textContent") == text
    marks = panel.locator("mark")
    assert marks.all_inner_texts() == ["great", "broke"]
    assert marks.nth(0).get_attribute("class") == "c1 s5"
    assert marks.nth(1).get_attribute("class") == "c0 s2"
    assert marks.nth(0).get_attribute("title") == "for good, strength 100\u202f%"
    near = panel.locator(".near li")
    assert ["s-7" in near.nth(0).inner_text(), "25\u202f% similar" in near.nth(0).inner_text()] == [
        True,
        True,
    ]
    near.nth(1).locator("summary").click()
    assert near.nth(1).locator(".text").inner_text() == "the lid broke"
    row.press("Enter")
    assert page.locator(".panel").count() == 0
    rows(page).nth(1).click()
    assert "Not explained" in page.locator(".panel").inner_text()
    assert "No source document has an n-gram in common" in page.locator(".panel").inner_text()


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "e\u0301" * 2_500_000], ids=["letters", "accents"]
)
def test_a_text_of_megabytes_without_a_blank_opens_with_its_beginning(visit, text):
    near = [SimilarDocument("s-7", "good", 0.25, text)]
    one = make_entry(
        0,
        id="y" * 1_000_000,
        text=text,
        spans=[(0, 3, 1.0, 1), (4_000_000, 4_000_003, 0.5, 0)],
        neighbours=near,
    )
    page = visit.open(make_contents([one]))
    rows(page).first.click()
    panel = page.locator(".panel")
    assert (
        panel.locator(".reading > .text").evaluate("one => one.textContent")
        == text[:MAX_TEXT_LENGTH]
    )
    assert (
        f"{len(text) - MAX_TEXT_LENGTH} more characters are not in this page" in panel.inner_text()
    )
    panel.locator(".near summary").click()
    assert (
        panel.locator(".near .text").evaluate("one => one.textContent.length")
        == MAX_TEXT_LENGTH + 2
    )
    assert rows(page).first.evaluate("one => one.textContent.length") < 500


def test_an_open_document_shows_what_else_the_user_knows_of_it(visit):
    page = visit.open(
        make_contents(
            [make_entry(0, more=[("title", "Tides <b>"), ("year", "1999")]), make_entry(1)]
        )
    )
    page.locator("#row-0").click()
    shown = page.locator("#panel-0 .columns > div").all_inner_texts()
    assert [one.split("\n") for one in shown] == [["title", "Tides <b>"], ["year", "1999"]]
    page.locator("#row-1").click()
    assert page.locator("#panel-1 .columns").count() == 0
    page.locator("#search").fill("tides")
    wait_for(page, "count", "1 of 2 documents")


def test_labels_are_set_by_keys_kept_over_a_reload_and_downloaded(visit):
    odd = ['say "hi", twice', "=1+1", " blank\r\nand line", "naïve 😀"]
    documents = [
        make_entry(number, id=odd[number] if number < 4 else f"doc-{number}")
        for number in range(60)
    ]
    contents = make_contents(documents)
    page = visit.open(contents)
    page.locator("#sort").select_option("file")
    page.locator("#h-documents").click()
    page.keyboard.press("j")
    for key in ("2", "2", "1", "1"):  # bad -> good, good -> good, bad -> bad, good -> bad
        page.keyboard.press(key)
    assert page.locator("#tally").inner_text() == "4 labels set, 2 changed and 2 confirmed"
    assert page.evaluate("document.activeElement.id") == "row-4"
    page.keyboard.press("2")
    page.keyboard.press("u")
    assert page.evaluate("document.activeElement.id") == "row-4"
    given = [
        (odd[0], "good", "bad"),
        (odd[1], "good", "good"),
        (odd[2], "bad", "bad"),
        (odd[3], "bad", "good"),
    ]
    expected = [
        ["id", "label", "was", "mark", "note", "drawn"],
        *([*one, "", "", "chosen"] for one in given),
    ]
    page.reload()
    page.wait_for_selector(".reviewed")
    assert page.locator("#tally").inner_text() == "4 labels set, 2 changed and 2 confirmed"
    data = download(page)
    assert data.endswith(b"\r\n")
    assert list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""))) == expected
    page.locator("#show").select_option("reviewed")
    wait_for(page, "count", "4 of 60 documents")
    other = visit.open(
        make_contents([make_entry(number, label="good") for number in range(60)]), name="other.html"
    )
    assert other.locator("#tally").inner_text().startswith("No label set yet")  # another run
    again = visit.open(replace(contents, title="the same run", created="later"), name="again.html")
    assert again.locator("#tally").inner_text().startswith("4 labels set")
    again.on("dialog", lambda dialog: dialog.accept())
    again.locator("#clear").click()
    assert again.locator("#tally").inner_text().startswith("No label set yet")
    page.locator("#download:disabled").wait_for()  # told from window to window


def test_half_a_surrogate_pair_is_downloaded_as_corrections_know_it(visit):
    """UTF-8 cannot encode lone surrogates: a browser would write another character instead."""
    halves = ["high \ud83d", "\ude00 low", "whole 😀"]
    documents = [
        make_entry(number, id=halves[number] if number < 3 else f"doc-{number}")
        for number in range(60)
    ]
    page = visit.open(make_contents(documents))
    page.locator("#sort").select_option("file")
    page.locator("#h-documents").click()
    page.keyboard.press("j")
    for _ in halves:
        page.keyboard.press("2")
    ids = [line.split(",")[0] for line in download(page).decode().splitlines()[1:]]
    assert ids == ["high \\ud83d", "\\ude00 low", "whole 😀"]
    assert list(ids) == [one.encode("utf-8", "backslashreplace").decode() for one in halves]


def test_the_mouse_can_do_what_keys_do(visit):
    page = visit.open(make_contents())
    rows(page).nth(0).click()
    first = ids_shown(page)[0]
    page.locator(".choice", has_text="good").click()
    assert page.locator(".panel").count() == 1  # the next one has opened
    assert rows(page).nth(1).get_attribute("aria-expanded") == "true"
    page.locator(".choice", has_text="bad").click()
    page.locator("#undo").click()
    assert download(page).decode().splitlines()[1].startswith(f"{first},good,")
    page.locator("#undo").click()
    assert page.locator("#download").is_disabled()
    page.locator("#help").click()
    assert page.locator("#keys").is_visible()
    page.keyboard.press("1")  # no shortcut while it is open
    page.locator("#shortcuts").uncheck()
    page.locator("#keys button").click()
    assert page.locator("#keys").is_hidden()
    rows(page).nth(0).focus()
    page.keyboard.press("1")
    assert page.locator("#download").is_disabled()


def test_keys_leave_fields_alone(visit):
    page = visit.open(make_contents())
    page.keyboard.press("j")
    page.keyboard.press("/")
    page.keyboard.type("j1u?k")
    assert page.locator("#search").input_value() == "j1u?k"
    assert page.locator("#download").is_disabled()
    assert page.locator("#keys").is_hidden()


def test_without_storage_a_message_says_so(visit):
    visit.context.add_init_script(
        "Object.defineProperty(window, 'localStorage',"
        " { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    page = visit.open(make_contents())
    assert (
        "keeps nothing for this page (SecurityError): download"
        in page.locator("#trouble").inner_text()
    )
    page.keyboard.press("j")
    page.keyboard.press("1")
    assert len(download(page).decode().splitlines()) == 2


def test_what_another_page_left_in_the_storage_does_no_harm(visit):
    contents = make_contents()
    page = visit.open(contents)
    for left in (
        "not json",
        '{"labels": [[999, 0], [0, 9], ["length", 1], [0, "length"]], "steps": [[999, 0], [0, 7]]}',
        "[]",
        "null",
        "7",
        '{"labels": 3}',
    ):
        page.evaluate(
            "left => { const data = JSON.parse(document.getElementById('data').textContent);"
            " for (const one of [data.key])"
            " localStorage.setItem('gramshift-review-' + one, left); }",
            left,
        )
        page.reload()
        page.wait_for_selector("#list > li")
        assert page.locator("#download").is_disabled()
        assert page.locator("#trouble").is_hidden()


def test_hostile_words_do_nothing(visit):
    page = visit.open(make_hostile())
    texts = [*HOSTILE, "x" * 100_000, "<" * 100_000]
    page.locator("#sort").select_option("file")
    units = (
        "one => Array.from({ length: one.textContent.length },"
        " (_, k) => one.textContent.charCodeAt(k))"
    )
    page.locator("#row-0").press("Enter")
    for number, text in enumerate(texts):  # after a label the next one opens
        shown = page.locator(f"#panel-{number} .reading > .text")
        if len(text) < 1000:
            found = b"".join(unit.to_bytes(2, "little") for unit in shown.evaluate(units))
            assert found == text.encode("utf-16-le", "surrogatepass")
        else:
            assert shown.evaluate("(one, text) => one.textContent === text", text)
        page.keyboard.press("2")
    download(page)
    page.locator("#help").click()
    page.keyboard.press("Escape")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main iframe, main script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_policy_stops_what_slips_through(visit):
    page = visit.open(make_contents())
    failed = {}
    page.on("requestfailed", lambda request: failed.update({request.url: request.failure}))
    page.evaluate(
        """async () => {
          const image = '<img src="https://localhost/a.png" onerror="window.hacked = 1">';
          document.body.insertAdjacentHTML('beforeend', image);
          const script = document.createElement('script');
          script.textContent = 'window.hacked = 2';
          document.body.append(script);
          await fetch('https://localhost/').catch(() => { window.refused = true; });
        }"""
    )
    assert page.evaluate("[window.hacked ?? null, window.refused]") == [None, True]
    assert failed == {"https://localhost/a.png": "csp"}  # it never left
    visit.requests.remove("https://localhost/a.png")
    assert len(visit.faults) >= 3
    assert all("Content Security Policy" in fault for fault in visit.faults)
    visit.faults.clear()


def test_twenty_thousand_documents_stay_smooth(visit):
    documents = [
        make_entry(number, text=f"document {number}: " + "a review of some length " * 29)
        for number in range(MAX_DOCUMENTS)
    ]
    page = visit.open(make_contents(documents))
    assert rows(page).count() == 25
    page.locator("#search").fill("document 77")
    wait_for(page, "count", "111 of 20000 documents")
    assert rows(page).count() == 25
    page.locator("#search").fill("")
    wait_for(page, "count", "20000 documents")
    page.evaluate(
        """() => { window.changed = 0;
          const count = (all) => {
            for (const one of all) window.changed += one.addedNodes.length;
          };
          const options = { childList: true, subtree: true };
          new MutationObserver(count).observe(document.body, options); }"""
    )
    page.locator("#label").select_option("1")
    wait_for(page, "count", "10000 of 20000 documents")
    assert (
        25 <= page.evaluate("window.changed") < 100
    )  # a page of rows is drawn, whatever the number of documents
    page.locator("#list").click()
    page.keyboard.press("j")
    page.evaluate("window.changed = 0")
    page.keyboard.press("1")
    page.wait_for_selector(".reviewed")
    assert page.evaluate("window.changed") < 10  # and for a label one row of it


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_the_page_fits_its_window(browser, tmp_path, scheme, width):
    visit = Visit(
        browser,
        tmp_path,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    long = make_entry(0, id="x" * 300, text="y" * 5000, label="good")
    contents = make_contents(
        [long, *(make_entry(number) for number in range(1, 60))],
        warnings=["w" * 400],
        title="t" * 200,
    )
    page = visit.open(contents)
    page.locator("#row-0").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (min(map(int, ground)) > 200) if scheme == "light" else (max(map(int, ground)) < 55)
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    visit.close()


@pytest.mark.parametrize("n", [2, 10, 50])
@pytest.mark.parametrize(("width", "most"), [(1280, 900), (390, 1500)])
def test_documents_begin_near_the_top_and_nothing_is_wider_than_the_page(
    browser, tmp_path, n, width, most
):
    """All else is below them, and the links of the first card lead there."""
    one = Visit(
        browser, tmp_path, viewport={"width": width, "height": 844}, reduced_motion="reduce"
    )
    page = one.open(make_many(n))
    assert rows(page).first.bounding_box()["y"] < most
    for closed in page.locator("#ngrams summary, .problems summary").all():
        closed.click()
    page.locator("#begin").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for link in page.locator("#h-result ~ p a").all():
        link.click()
        there = page.locator(link.get_attribute("href"))
        assert there.bounding_box()["y"] < 844
    assert page.locator("#h-result ~ p a").count() == 4
    one.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sixteen_classes_look_different(browser, tmp_path, scheme):
    one = Visit(browser, tmp_path, color_scheme=scheme)
    page = one.open(make_many(16))
    looks = page.evaluate(
        """() => [...document.querySelectorAll('.result .chip')].map((chip) => {
          const { backgroundImage, backgroundColor } = getComputedStyle(chip, '::before');
          return backgroundImage + backgroundColor;
        })"""
    )
    assert len(looks) == len(set(looks)) == 16
    assert sum("gradient" in look for look in looks) == 8  # stripes
    rows(page).nth(0).click()
    rows(page).nth(8).click()
    marks = page.evaluate(
        """() => [...document.querySelectorAll('mark')].map((mark) => {
          const { backgroundImage, borderBottomColor, borderBottomStyle } = getComputedStyle(mark);
          return [borderBottomColor, borderBottomStyle, backgroundImage === 'none'].join();
        })"""
    )
    assert len(set(marks)) == 4  # of two classes in each document
    one.close()


def test_fifty_classes_are_a_short_legend_and_tables_that_scroll(visit):
    page = visit.open(make_many(50))
    chips = page.locator(".result .chip").all_inner_texts()
    assert len(chips) == 16
    assert chips[-1].startswith("35 other classes")
    assert page.locator(".confusion tbody tr").count() == 50
    for table in (".confusion", ".rounds"):
        height, inner = page.locator(f".scroll:has({table})").evaluate(
            "one => [one.clientHeight, one.scrollHeight]"
        )
        assert height < 700 < inner
    scroll = page.locator(".scroll:has(.confusion)")
    scroll.scroll_into_view_if_needed()
    corner, before = scroll.bounding_box(), page.locator(".confusion thead").bounding_box()
    scroll.evaluate("one => one.scrollTo(500, 500)")
    after = page.locator(".confusion thead").bounding_box()
    assert after["y"] == before["y"] == pytest.approx(corner["y"], abs=2)  # it stays in view
    first = page.locator(".confusion tbody th").last.bounding_box()
    assert first["x"] == pytest.approx(corner["x"], abs=2)
    spot = [corner["x"] + 9, after["y"] + 9]  # names of rows are behind those of columns
    assert page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('thead') !== null", spot
    )


@pytest.mark.parametrize("n", [2, 10])
def test_plots_fill_their_columns(visit, n):
    cards = visit.open(make_many(n)).locator("#story .plots > .card")
    boxes = [card.bounding_box() for card in cards.all()]
    assert len({box["x"] for box in boxes}) == 3
    height = max(box["y"] + box["height"] for box in boxes) - min(box["y"] for box in boxes)
    assert 3 * height < 1.4 * sum(box["height"] for box in boxes)


def test_all_options_of_the_filters_can_be_read_on_a_phone(browser, tmp_path):
    one = Visit(browser, tmp_path, viewport={"width": 390, "height": 844})
    documents = [make_entry(k, truth="bad", corrected=k == 1, abstained=k == 2) for k in range(9)]
    page = one.open(make_contents(documents))
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.filters select')]
          .filter((field) => {
            const copy = field.cloneNode(true);
            copy.removeAttribute('id');
            document.getElementById('list').append(copy);
            return copy.offsetWidth > field.offsetWidth;
          })
          .map((field) => field.id)"""
    )
    assert cut == []
    one.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_lists_of_ngrams_fit_their_window(browser, tmp_path, scheme, width):
    """Bars and numbers stay in their card next to a long n-gram; bars have the right length."""
    one = Visit(browser, tmp_path, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = one.open(
        make_contents(
            strongest_ngrams=[
                [("broke", 4.0), ("W" * 300, 1.0)],
                [("great ", 2.0), ("</script>", 1.0)],
            ]
        )
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".ngrams li").all_inner_texts()[3].split() == ["</script>", "1.00"]
    assert [bdi.inner_text() for bdi in page.locator(".gram [aria-hidden]").all()] == [
        "\N{OPEN BOX}"
    ]
    bars = [bar.bounding_box() for bar in page.locator(".worth rect").all()]
    assert [bar["width"] / bars[0]["width"] for bar in bars] == pytest.approx(
        [1, 0.25, 0.5, 0.25], abs=0.01
    )
    for number in range(2):
        card = page.locator("section[aria-labelledby=h-ngrams] .card").nth(number)
        edges, figure = card.bounding_box(), card.locator(".figure").last.bounding_box()
        assert figure["x"] + figure["width"] <= edges["x"] + edges["width"]
        fills = {
            card.locator(name).first.evaluate("one => getComputedStyle(one).color")
            for name in (".worth", "h3")
        }
        assert len(fills) == 1
    one.close()


def test_names_and_landmarks_for_those_who_listen(visit):
    page = visit.open(
        make_contents(
            scores={
                "accuracy": 0.5,
                "by_confidence": [{"low": 0.5, "high": 1.0, "n": 3, "accuracy": 0.5}],
            },
            strongest_ngrams=[[("broke", 1.0)], [("great", 0.5)]],
        )
    )
    rows(page).first.click()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll(
            'button, input, select, svg[role=img], section, nav, dialog, [role=group]'
          )]
          .filter((one) => !(
            one.getAttribute('aria-label') || one.getAttribute('aria-labelledby')
            || one.labels?.length || (one.tagName === 'BUTTON' && one.textContent.trim())
          ))
          .map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert unnamed == []
    missing = page.evaluate(
        """() => [...document.querySelectorAll('[aria-labelledby], [aria-controls]')]
          .flatMap((one) => ['aria-labelledby', 'aria-controls']
            .flatMap((name) => (one.getAttribute(name) ?? '').split(/\\s+/))
            .filter((id) => id))
          .filter((id) => !document.getElementById(id))"""
    )
    assert missing == []
    assert page.evaluate(
        "new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size"
    ) == page.evaluate("document.querySelectorAll('[id]').length")
    assert page.locator("main").count() == page.locator("h1").count() == 1
    page.keyboard.press("1")
    assert "bad" in page.locator("#say").inner_text()
    page.keyboard.press("j")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
