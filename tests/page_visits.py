"""Visits to pages in a real browser, and the data in a page."""

import json
import re
from pathlib import Path

from gramshift.report.page import write_page


def read_payload(path):
    """Return the data that the script of a page reads."""
    pattern = r'<script[^>]*type="application/json"[^>]*>(.*?)</script>'
    (data,) = re.findall(pattern, path.read_text(), flags=re.DOTALL)
    return json.loads(data)


class Visit:
    """A browser whose pages must not log errors or request anything but themselves."""

    def __init__(self, browser, folder, **options):
        self.folder = folder
        self.faults, self.requests = [], []
        self.addresses = set()
        self.context = browser.new_context(accept_downloads=True, **options)
        self.context.set_default_timeout(10_000)

    def open(self, contents, name="report.html"):
        path = self.folder / name
        write_page(path, contents)
        page = self.context.new_page()
        page.on("console", lambda message: self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        self.addresses.add(path.as_uri())
        page.goto(path.as_uri())
        page.wait_for_selector("#list > li")
        return page

    def close(self):
        self.context.close()
        assert self.faults == []
        assert {url for url in self.requests if not url.startswith("blob:")} == self.addresses


def rows(page):
    return page.locator("#list .row")


def ids_shown(page):
    """Return the ids of the documents on the page, from their numbers."""
    return [f"doc-{one.get_attribute('id').removeprefix('row-')}" for one in rows(page).all()]


def count(page):
    return page.locator("#count").inner_text()


def wait_for(page, name, words):
    """Wait until an element has a text; the policy of the page forbids conditions in JavaScript."""
    page.locator(f"#{name}:text-is('{words}')").wait_for()


def download(page):
    with page.expect_download() as waiting:
        page.locator("#download").click()
    assert waiting.value.suggested_filename == "corrections.csv"
    return Path(waiting.value.path()).read_bytes()
