"""The page in a real Firefox."""

import shutil

import pytest

from firefox import ESCAPE, Firefox
from gramshift.report.page import write_page
from sample_report import make_contents, make_entry, make_hostile


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    path = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    if path is None:
        pytest.fail("no firefox on the path; on Debian: apt-get install firefox-esr")
    one = Firefox(path, tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.fixture
def firefox(running):
    running.events.clear()
    yield running
    logged = [
        event["params"]["text"] for event in running.events if event["method"] == "log.entryAdded"
    ]
    asked = [
        event["params"]["request"]["url"]
        for event in running.events
        if event["method"] == "network.beforeRequestSent"
    ]
    assert logged == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("width", [1280, 500])
def test_a_review_by_keys_and_mouse(firefox, tmp_path, width):
    documents = [
        make_entry(number, id=f"{width}-{number}", more=[("title", f"Film {number}")])
        for number in range(60)
    ]
    write_page(
        tmp_path / "report.html",
        make_contents(documents, next_command="gramshift classify --force"),
    )
    firefox.open((tmp_path / "report.html").as_uri(), width, 844)
    assert firefox.text("count") == "60 documents"
    assert firefox.evaluate("document.documentElement.scrollWidth") <= width
    firefox.click("begin")
    firefox.press("1", "0", "2", "x", "2", "u", "e")
    firefox.press(*"odd, 1", ESCAPE)
    counted = "2 labels set, {} confirmed, 1 unclear, 1 none of these, 1 note"
    changed = firefox.evaluate(
        "[...document.querySelectorAll('.reviewed .badge')]"
        ".filter((one) => one.textContent === 'confirmed').length"
    )
    assert firefox.text("tally") == counted.format(f"{2 - changed} changed and {changed}")
    assert firefox.evaluate("document.querySelectorAll('.panel').length") == 1
    assert firefox.evaluate("document.activeElement.className") == "row"
    firefox.open((tmp_path / "report.html").as_uri(), width, 844)
    assert firefox.text("tally").endswith(
        "1 unclear, 1 none of these, 1 note"
    )  # kept over a reload
    firefox.click("sample")
    firefox.press(*"11111")
    assert firefox.text("score").startswith("Random sample: ")
    firefox.click("download")
    assert firefox.text("saved").endswith("Now run (adjust the path to corrections.csv):")
    assert firefox.text("command") == "gramshift classify --force"


def test_hostile_words_do_nothing(firefox, tmp_path):
    write_page(tmp_path / "report.html", make_hostile())
    firefox.open((tmp_path / "report.html").as_uri(), 1280, 844)
    firefox.click("sample")
    firefox.press(*"2" * 12)
    assert firefox.text("tally").startswith("12 labels set")
    assert firefox.evaluate("window.hacked ?? null") is None
    assert (
        firefox.evaluate("document.querySelectorAll('main img, main iframe, main script').length")
        == 0
    )
