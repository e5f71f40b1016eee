"""Review on the page in Chromium: labels, marks, notes, a score, download and loading."""

import csv
import io
import shlex

import pytest

from gramshift.commands.classify.hand_labels import MIN_RANDOM_LABELS, read_corrections
from gramshift.report.page import count_doubtful
from page_visits import Visit, count, download, ids_shown, rows, wait_for
from sample_report import HOSTILE, make_contents, make_entry, make_many

COMMAND = (
    "gramshift classify kitchen.csv --target 'my films.csv' --corrections corrections.csv --force"
)
HEADER = ["id", "label", "was", "mark", "note", "drawn"]


def read_rows(data):
    """A download as a list of rows, the header first."""
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def text(page, name):
    return page.locator(f"#{name}").inner_text()


def load(page, lines):
    """Choose a table of earlier corrections, and wait until the page has told what it found."""
    page.locator("#file").set_input_files(
        {
            "name": "earlier.csv",
            "mimeType": "text/csv",
            "buffer": lines.encode("utf-8", "surrogatepass"),
        }
    )
    page.locator("#told:not(:empty)").wait_for()
    return text(page, "told")


def test_a_button_begins_with_the_doubtful_documents(visit):
    contents = make_contents()
    n = count_doubtful(contents)
    page = visit.open(contents)
    assert text(page, "begin") == f"Review {n} doubtful documents"
    page.locator("#search").fill("nothing like it")
    page.wait_for_selector(".none")
    page.locator("#begin").click()
    assert count(page) == f"{n} of 60 documents"
    first, second = ids_shown(page)[:2]
    assert page.evaluate("document.activeElement.id") == f"row-{first.removeprefix('doc-')}"
    assert rows(page).first.get_attribute("aria-expanded") == "true"
    page.keyboard.press("1")
    assert text(page, "begin") == f"Review {n - 1} doubtful documents"
    assert text(page, "begun") == f"1 of {n} doubtful documents reviewed"
    page.keyboard.press("j")
    page.locator("#begin").click()  # goes on where it was left
    assert page.evaluate("document.activeElement.id") == f"row-{second.removeprefix('doc-')}"
    sure = visit.open(make_contents([make_entry(0, confidence=0.9)]), name="sure.html")
    assert text(sure, "begin") == "Review documents, least sure first"
    sure.locator("#begin").click()
    assert sure.locator(".panel").count() == 1


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_a_document_opens_in_view(browser, tmp_path, size):
    one = Visit(
        browser,
        tmp_path,
        viewport=dict(zip(("width", "height"), size, strict=True)),
        reduced_motion="reduce",
    )
    page = one.open(make_contents())
    page.locator("#h-documents").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    for _ in range(4):
        panel, row = (
            page.locator(name).bounding_box() for name in (".panel", ".row[aria-expanded=true]")
        )
        assert 0 <= row["y"] < size[1] / 3
        room = page.evaluate("innerHeight - document.getElementById('review').offsetHeight")
        assert panel["y"] + min(panel["height"], 200) <= room
        page.keyboard.press("1")
    one.close()


def test_marks_and_notes_are_kept_and_downloaded(visit):
    page = visit.open(make_contents())
    page.locator("#sort").select_option("file")
    page.locator("#row-0").press("Enter")
    page.keyboard.press("0")
    page.keyboard.press("x")
    page.keyboard.press("e")
    page.keyboard.type('1 "odd" one, j')  # no key does anything else here
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "row-2"
    page.keyboard.press("2")
    page.locator("#note-3").fill("only a note")
    assert (
        text(page, "tally")
        == "1 label set, 1 changed and 0 confirmed, 1 unclear, 1 none of these, 2 notes"
    )
    assert "note" in page.locator("#row-3").inner_text()
    page.reload()
    page.wait_for_selector(".reviewed")
    page.locator("#sort").select_option("file")
    assert [row.inner_text().split("\n")[1] for row in rows(page).all()[:2]] == [
        "unclear",
        "none of these",
    ]
    assert read_rows(download(page)) == [
        HEADER,
        ["doc-0", "", "bad", "unclear", "", "chosen"],
        ["doc-1", "", "good", "none of these", "", "chosen"],
        ["doc-2", "good", "bad", "", '1 "odd" one, j', "chosen"],
        ["doc-3", "", "good", "", "only a note", "chosen"],
    ]
    page.locator("#show").select_option("noted")
    wait_for(page, "count", "2 of 60 documents")


def test_labels_that_are_digits_have_their_own_keys(visit):
    documents = [
        make_entry(number, label="01"[number % 2], reference_label="1") for number in range(9)
    ]
    both = {"0": 0.5, "1": 0.5}
    history = [
        {"added": {"0": 0, "1": 0}, "labels": {"0": 5, "1": 4}, "changed": 0, "seconds": 0.1}
    ]
    page = visit.open(
        make_contents(
            documents,
            classes=["0", "1"],
            shares={"source": both},
            history=history,
            before=None,
            after=None,
        )
    )
    assert "press 0 or 1, or" in text(page, "tally")
    page.locator("#sort").select_option("file")
    page.locator("#row-0").press("Enter")
    for key in ("1", "0", "-"):
        page.keyboard.press(key)
    assert [row[:4] for row in read_rows(download(page))[1:]] == [
        ["doc-0", "1", "0", ""], ["doc-1", "0", "1", ""], ["doc-2", "", "0", "unclear"]
    ]  # fmt: skip
    assert page.locator("#key-unclear").text_content() == "-"


def test_classes_after_the_ninth_have_letters_that_no_command_has(visit):
    contents = make_many(12)
    page = visit.open(contents)
    assert "press 1 to 9 or a to c, or" in text(page, "tally")
    assert page.locator("#keys-labels").text_content() == "1 … 9 a … c"
    assert page.locator("#numbers kbd").all_text_contents() == list("123456789abc")
    page.locator("#sort").select_option("file")
    page.locator("#row-0").press("Enter")
    bars = [bar.bounding_box() for bar in page.locator(".choice .bar").all()]
    assert len(bars) == 12
    assert len({(bar["x"], bar["width"]) for bar in bars}) == 1  # rows are laid out alike
    page.keyboard.press("a")
    page.keyboard.press("c")
    assert [row[:2] for row in read_rows(download(page))[1:]] == [
        ["doc-0", contents.classes[9]],
        ["doc-1", contents.classes[11]],
    ]


def test_of_many_classes_the_likely_ones_are_offered_and_all_others_can_be_typed(visit):
    contents = make_many(50)
    page = visit.open(contents)
    page.locator("#sort").select_option("file")
    page.locator("#row-20").press("Enter")
    chosen = page.locator("#panel-20 .choice:not(.mark)")
    assert chosen.count() == 50
    seen = [one.inner_text() for one in chosen.all() if one.is_visible()]
    assert len(seen) == 9
    assert any(contents.classes[20] in words for words in seen)
    page.locator("#panel-20 summary", has_text="41 other labels").click()
    page.locator("#panel-20 .choice", has_text=contents.classes[49]).click()
    page.keyboard.press("+")
    field = page.locator("#new-21")
    assert field.evaluate("one => [...one.list.options].map((option) => option.value)") == list(
        contents.classes
    )
    field.fill(contents.classes[45])
    field.press("Enter")
    assert [row[:4] for row in read_rows(download(page))[1:]] == [
        ["doc-20", contents.classes[49], contents.classes[20], ""],
        ["doc-21", contents.classes[45], contents.classes[21], ""],
    ]
    page.locator("#row-20").press("Enter")  # the one that was chosen is offered
    seen = [one.inner_text() for one in page.locator("#panel-20 .choice").all() if one.is_visible()]
    assert any(contents.classes[49] in words for words in seen)


def test_a_new_label_is_a_choice_for_all_documents(visit):
    page = visit.open(make_contents())
    page.locator("#sort").select_option("file")
    assert "press 1 or 2, or" in text(page, "tally")
    page.locator("#row-0").press("+")
    page.keyboard.type(" <b>mixed</b> ")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "row-1"
    page.keyboard.press("3")
    page.locator("#new-2").fill("good")  # a class that there is
    page.locator("#panel-2 .new-label button").click()
    page.locator("#new-3").press("Enter")  # nothing is no label
    assert page.locator("#panel-3").count() == 1
    page.locator("#label").select_option("2")
    wait_for(page, "count", "2 of 60 documents")
    page.reload()
    page.wait_for_selector(".reviewed")
    assert read_rows(download(page))[1:] == [
        ["doc-0", "<b>mixed</b>", "bad", "new label", "", "chosen"],
        ["doc-1", "<b>mixed</b>", "good", "new label", "", "chosen"],
        ["doc-2", "good", "bad", "", "", "chosen"],
    ]


def test_a_new_label_that_no_document_has_any_more_is_gone(visit):
    page = visit.open(make_contents())
    page.locator("#sort").select_option("file")

    def choices():
        shown = page.locator(".panel").first.locator(".choice:not(.mark)").all_inner_texts()
        options = page.locator("#label option").all_inner_texts()[1:-2]
        assert [one.split("\n")[1] for one in shown] == options
        assert page.locator("#keys-labels").text_content() == " ".join(
            one.split("\n")[0] for one in shown
        )
        assert page.locator("#numbers dt").count() == len(shown)
        return options

    page.locator("#row-0").press("Enter")
    assert choices() == ["bad", "good"]
    page.keyboard.press("+")
    page.keyboard.type("mixd")
    page.keyboard.press("Enter")
    assert choices() == ["bad", "good", "mixd"]
    page.keyboard.press("u")
    assert choices() == ["bad", "good"]
    page.keyboard.press("3")  # of no label
    assert page.locator("#download").is_disabled()
    page.keyboard.press("+")
    page.keyboard.type("mixd")
    page.keyboard.press("Enter")
    page.locator("#row-0").press("+")  # a slip is mended by another label
    page.keyboard.type("mixed")
    page.keyboard.press("Enter")
    page.keyboard.press("3")
    assert choices() == ["bad", "good", "mixed"]
    assert [row[:2] for row in read_rows(download(page))[1:]] == [
        ["doc-0", "mixed"],
        ["doc-1", "mixed"],
    ]
    page.reload()
    page.wait_for_selector(".reviewed")
    page.locator("#label").select_option(label="mixed")
    wait_for(page, "count", "2 of 60 documents")
    for _ in range(2):
        page.locator("#undo").click()
    assert page.locator("#label option").all_inner_texts()[1:-2] == [
        "bad",
        "good",
        "mixd",
    ]  # it was that before
    wait_for(page, "count", "60 documents")  # no filter by what is gone
    page.locator("#undo").click()
    assert page.locator("#label option").all_inner_texts()[1:-2] == ["bad", "good"]


def test_after_a_step_back_the_document_is_open_again(visit):
    page = visit.open(make_contents())
    page.locator("#sort").select_option("file")
    page.locator("#row-0").press("Enter")
    page.keyboard.press("1")
    assert page.locator(".panel").get_attribute("id") == "panel-1"
    page.keyboard.press("u")
    assert page.locator(".panel").get_attribute("id") == "panel-0"
    assert page.evaluate("document.activeElement.id") == "row-0"
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.keyboard.press("u")  # it was closed
    assert page.locator(".panel").count() == 0
    for _ in range(25):
        page.keyboard.press("1")
    page.locator("#row-25").press("Enter")
    page.keyboard.press("p")
    page.locator("#row-24").press("Enter")
    page.keyboard.press("2")
    assert text(page, "page") == "page 2 of 3"
    page.keyboard.press("u")  # over the end of a page
    assert text(page, "page") == "page 1 of 3"
    assert page.locator(".panel").get_attribute("id") == "panel-24"


def test_all_that_was_found_gets_one_label_and_loses_it_at_once(visit):
    page = visit.open(make_contents())
    page.locator("#label").select_option("1")
    assert page.locator("#bulk").is_hidden()  # for a search alone
    page.locator("#label").select_option("")
    page.locator("#sort").select_option("file")
    page.locator("#row-1").press("1")
    page.locator("#search").fill("document 1")
    wait_for(page, "count", "11 of 60 documents")
    assert text(page, "bulk-set") == "Set for 10 documents"
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    page.locator("#bulk-set").click()  # nothing chosen
    page.locator("#bulk-label").select_option("1")
    page.locator("#bulk-set").click()
    assert asked == ['Set "good" for all 10 documents found that you have not reviewed?']
    assert text(page, "tally").startswith("11 labels set")
    assert page.locator("#bulk").is_hidden()  # nothing is left
    given = {row[0]: row[1] for row in read_rows(download(page))[1:]}
    assert given == {"doc-1": "bad"} | {f"doc-{number}": "good" for number in range(10, 20)}
    page.locator("#undo").click()
    assert text(page, "tally").startswith("1 label set")


def test_a_random_sample_gives_a_score_with_its_interval(visit):
    documents = [make_entry(number, corrected=number < 5) for number in range(60)]
    page = visit.open(make_contents(documents))
    page.locator("#row-50").press("1")
    assert "not a random sample" in text(page, "score")
    page.locator("#undo").click()
    page.locator("#sample").click()
    order = ids_shown(page)
    assert sorted(order) != order
    assert not {f"doc-{number}" for number in range(5)} & set(order)  # a person has labelled these
    label = {one.id: one.label for one in documents}
    for place, one in enumerate(order[:20]):  # every fifth is wrong
        right = place % 5 != 0
        page.keyboard.press("2" if (label[one] == "good") == right else "1")
    assert (
        text(page, "score")
        == "Random sample: 16 of 20 right, accuracy 80\u202f% (58\u202f% to 92\u202f%)"
    )
    page.keyboard.press("0")
    page.keyboard.press("x")
    expected = (
        "Random sample: 16 of 21 right, accuracy 76\u202f% (55\u202f% to 89\u202f%);"
        " 1 unclear left out"
    )
    assert text(page, "score") == expected
    page.keyboard.press("j")
    page.keyboard.press("1")  # what stands before it is open
    assert text(page, "score") == f"{expected}; review document {order[22]} to extend the sample"
    page.reload()
    page.wait_for_selector("#list > li")
    assert text(page, "score") == expected
    page.locator("#sort").select_option("random")
    assert ids_shown(page) == order  # the same order again


def how_drawn(data):
    """Return how each document of a download was drawn, by id."""
    return {row[0]: row[HEADER.index("drawn")] for row in read_rows(data)[1:]}


def test_the_download_says_which_labels_are_a_random_sample(visit, tmp_path):
    drawn = {0: "random", 1: "doubtful"}
    documents = [
        make_entry(number, corrected=number < 5, drawn=drawn.get(number, ""))
        for number in range(60)
    ]
    page = visit.open(make_contents(documents))
    page.locator("#sample").click()
    order = ids_shown(page)
    for key in ("1", "0", "x", *("2" * 10)):  # unclear, none of these
        page.keyboard.press(key)
    page.keyboard.press("j")  # leaves one out
    page.keyboard.press("1")
    data = download(page)
    drawn = how_drawn(data)
    assert {one for one, how in drawn.items() if how == "random"} == {*order[:13], "doc-0"}
    assert {one: how for one, how in drawn.items() if how != "random"} == {
        order[14]: "chosen",
        "doc-1": "doubtful",
        **{f"doc-{number}": "chosen" for number in range(2, 5)},
    }  # fmt: skip
    (tmp_path / "c.csv").write_bytes(data)
    found = read_corrections(
        [str(tmp_path / "c.csv")], ids=[one.id for one in documents], classes=["bad", "good"]
    )
    assert found.random == {order[0], *order[3:13], "doc-0"}
    page.locator("#undo").click()
    page.keyboard.press("k")
    page.keyboard.press("1")  # what was left out extends the sample
    assert how_drawn(download(page))[order[13]] == "random"


def test_a_table_that_is_loaded_keeps_how_its_documents_were_drawn(visit):
    page = visit.open(make_contents())
    page.locator("#sample").click()
    some = ids_shown(page)[10:14]
    lines = [
        "id,label,drawn",
        f"{some[0]},good,random",
        f"{some[1]},bad,doubtful",
        f"{some[2]},bad,Chosen",
        f"{some[3]},,random",
    ]
    assert "3 labels" in load(page, "\n".join(lines))
    page.reload()
    page.wait_for_selector("#list > li")
    page.locator("#sort").select_option("random")
    page.locator(f"#row-{some[3].removeprefix('doc-')}").press("1")  # it was not labelled there
    assert how_drawn(download(page)) == dict(
        zip(some, ["random", "doubtful", "chosen", "chosen"], strict=True)
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#clear").click()
    page.locator(f"#row-{some[0].removeprefix('doc-')}").press("1")
    assert how_drawn(download(page)) == {some[0]: "chosen"}


def test_a_random_sample_that_is_large_enough_is_for_the_next_run(visit):
    page = visit.open(make_contents(next_command=COMMAND))
    assert page.locator("#use").is_hidden()
    page.locator("#sample").click()
    page.keyboard.press("x")  # has no label to use
    for left in range(MIN_RANDOM_LABELS, 0, -1):
        assert f"Label {left} more" in text(page, "use")
        page.keyboard.press("1")
    assert "run again with --corrections" in text(page, "use")
    page.locator("#sort").select_option("file")
    page.keyboard.press("u")
    assert page.locator("#use").is_hidden()  # nobody is about to draw a sample
    other = visit.open(
        make_contents([make_entry(number) for number in range(50)], next_command="clf.fit()"),
        name="other.html",
    )
    other.locator("#sample").click()
    for _ in range(12):
        other.keyboard.press("1")
    assert text(other, "score").startswith("Random sample")
    assert other.locator("#use").is_hidden()  # there is no such option


def test_earlier_corrections_are_loaded(visit):
    documents = [
        make_entry(number, id="half \ud83d" if number == 9 else f"doc-{number}")
        for number in range(60)
    ]
    page = visit.open(make_contents(documents))
    page.locator("#sort").select_option("file")
    page.locator("#row-1").press("1")
    lines = [
        "\ufeffID,label,was,mark,note",
        "doc-0,good,bad,,",
        "doc-1,good,good,,",  # a label of here stays
        'doc-2,,bad,unclear,"two\nlines, ""quoted"""',
        "doc-3,mixed,bad,new label,",
        "doc-4,postive,bad,,",
        "half \\ud83d,bad,good,,",
        "stranger,good,bad,,",
    ]
    told = load(page, "\r\n".join(lines))
    assert told == (
        "earlier.csv: 4 labels and 1 note loaded; 1 already known here; 1 id not on this page;"
        " no class is called postive."
    )
    found = {row[0]: row[1:] for row in read_rows(download(page))[1:]}
    assert found == {
        "doc-0": ["good", "bad", "", "", "chosen"],
        "doc-1": ["bad", "good", "", "", "chosen"],
        "doc-2": ["", "bad", "unclear", 'two\nlines, "quoted"', "chosen"],
        "doc-3": ["mixed", "good", "new label", "", "chosen"],
        "half \\ud83d": ["bad", "good", "", "", "chosen"],
    }
    page.locator("#undo").click()  # all of it at once
    assert text(page, "tally").startswith("1 label set")


def test_what_was_downloaded_comes_back_as_it_was(browser, tmp_path):
    documents = [make_entry(number, id=f"{number} {words}") for number, words in enumerate(HOSTILE)]
    first, second = (Visit(browser, tmp_path) for _ in range(2))
    page = first.open(make_contents(documents))
    page.locator("#sort").select_option("file")
    page.locator("#row-0").press("Enter")
    for number, words in enumerate(HOSTILE):  # after a label the next one opens
        page.locator(f"#note-{number}").fill(words.encode("utf-8", "replace").decode())
        page.locator(f"#new-{number}").fill(words.encode("utf-8", "replace").decode())
        page.locator(f"#panel-{number} .new-label button").click()
    data = download(page)
    again = second.open(make_contents(documents))
    told = load(again, data.decode())
    assert told == f"earlier.csv: {len(HOSTILE)} labels and {len(HOSTILE)} notes loaded."
    assert download(again) == data
    assert again.evaluate("window.hacked") is None
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", "has no columns id and label"),
        ("no table", "has no columns id and label"),
        ('id,label\n"doc-0', "0 labels and 0 notes loaded"),
        ('id,label\n"doc-0","good', "1 label and 0 notes loaded"),
        ("id;label\ndoc-0;good\n\n", "1 label and 0 notes loaded"),
        ("id\tlabel\ndoc-0\tgood\tmore\tcells\ndoc-1\t", "1 label and 0 notes loaded"),
        ("id,label\ndoc-0,good\ndoc-0,bad\n", "1 label and 0 notes loaded"),
        ("id,label\n__proto__,good\nconstructor,bad\n", "2 ids not on this page"),
        ("id,label\ndoc-0,__proto__\n", "no class is called __proto__"),
    ],
)
def test_tables_of_others_do_no_harm(visit, lines, expected):
    page = visit.open(make_contents())
    assert expected in load(page, lines)


def test_the_next_command_is_there_to_copy(visit):
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    documents = [make_entry(number, corrected=number == 7) for number in range(60)]
    page = visit.open(make_contents(documents, next_command=COMMAND, new_classes=["good"]))
    page.locator("#row-0").press("1")
    assert page.locator("#after").is_hidden()
    data = download(page)
    assert [row[:5] for row in read_rows(data)[1:]] == [
        ["doc-0", "bad", "bad", "", ""], ["doc-7", "good", "good", "new label", ""]
    ]  # fmt: skip
    assert text(page, "saved").startswith(
        "1 document and 1 of earlier runs saved as corrections.csv"
    )
    assert text(page, "saved").endswith("Now run (adjust the path to corrections.csv):")
    assert page.locator("#command").evaluate("one => one.textContent") == COMMAND
    page.locator("#copy").click()
    wait_for(page, "copy", "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == COMMAND
    assert shlex.split(COMMAND)[4] == "my films.csv"
    page.locator("#done").click()
    assert page.locator("#after").is_hidden()


def test_without_a_clipboard_the_command_is_selected(visit):
    visit.context.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
    )
    page = visit.open(make_contents(next_command=COMMAND))
    page.locator("#row-0").press("1")
    download(page)
    page.locator("#copy").click()
    wait_for(page, "copy", "Selected: press Ctrl+C")
    assert page.evaluate("getSelection().toString()") == COMMAND


def test_a_page_without_a_command_only_says_what_was_saved(visit):
    page = visit.open(make_contents())
    page.locator("#row-0").press("1")
    download(page)
    assert text(page, "saved").startswith("1 document saved")
    assert page.locator("#command").is_hidden()
    assert page.locator("#copy").is_hidden()


def test_a_finger_can_do_what_keys_do(browser, tmp_path):
    one = Visit(
        browser, tmp_path, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = one.open(make_contents(next_command=COMMAND))
    page.locator("#begin").tap()
    first, second, third, fourth = (one.removeprefix("doc-") for one in ids_shown(page)[:4])
    page.locator(f"#panel-{first} .choice", has_text="good").tap()
    page.locator(f"#panel-{second} .choice", has_text="unclear").tap()
    page.locator(f"#new-{third}").fill("mixed")
    page.locator(f"#panel-{third} .new-label button").tap()
    page.locator(f"#note-{fourth}").fill("so so")
    page.locator(f"#panel-{fourth} .choice", has_text="none of these").tap()
    page.locator("#undo").tap()
    with page.expect_download() as waiting:
        page.locator("#download").tap()
    with open(waiting.value.path(), "rb") as file:
        found = {row[0]: (row[1], row[3], row[4]) for row in read_rows(file.read())[1:]}
    assert found == {
        f"doc-{first}": ("good", "", ""),
        f"doc-{second}": ("", "unclear", ""),
        f"doc-{third}": ("mixed", "new label", ""),
        f"doc-{fourth}": ("", "", "so so"),
    }
    small = page.evaluate(
        """() => [...document.querySelectorAll(
            'button, select, input:not([type=checkbox], [hidden]), textarea'
          )]
          .map((one) => [one.getBoundingClientRect(), one.id || one.className])
          .filter(([box]) => box.width && (box.height < 24 || box.width < 24))
          .map(([, name]) => name)"""
    )
    assert small == []  # what is smaller is hard to hit
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    one.close()
