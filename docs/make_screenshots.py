"""Take pictures of the review loop of the report in Chromium: label, review, download, run again.

python -m docs.make_screenshots makes the pictures of docs/report.md from the demo corpus. With the
name of a folder it writes
pictures of every step into it, 1280 and 390 pixels wide, light and dark. It needs Chromium,
playwright and a font with emoji
(fonts-noto-color-emoji).
"""

import csv
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from gramshift.datasets.demo import load_demo

IMAGES = Path(__file__).parent / "images"
CLASSES = ["negative", "positive"]  # in the order of the keys
COMMAND = (
    "gramshift classify kitchen.csv --target films.csv --output labels.csv --report report.html"
)
UNCLEAR, NOTED = 4, 6  # of the documents that are reviewed
N_REVIEWED = 30
VIEWS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
Snap = Callable[[str], Any]


def write_files(folder: Path) -> None:
    """Write labelled reviews of kitchen tools and unlabelled ones of films, with dates."""
    for name in ("kitchen", "films"):
        texts, labels = load_demo(name)
        known = (
            labels
            if name == "kitchen"
            else [f"2024-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(len(texts))]
        )
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [
                (f"{name}-{number}", *row)
                for number, row in enumerate(zip(texts, known, strict=True), start=1)
            ]
            csv.writer(file).writerows(
                [("id", "text", "label" if name == "kitchen" else "received"), *rows]
            )


def run_command(folder: Path, line: str) -> str:
    """Type a command, as it stands on the page, in a folder; what it says."""
    words = shlex.split(line)
    if words[0] != "gramshift":
        raise ValueError(f"not a command of ours: {line}")
    start = [sys.executable, "-c", "from gramshift.commands.entry import run; run()"]
    done = subprocess.run(
        [*start, *words[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stderr + done.stdout


def read_labels(folder: Path) -> dict[str, str]:
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"]: row["label"] for row in csv.DictReader(file)}


@dataclass(frozen=True)
class Walked:
    """The findings of a walk through the page."""

    command: str
    """That the page gave to copy."""
    said: str
    """By the run with the corrections."""
    given: dict[str, tuple[str, str, str]]
    """Label, mark and note of each document in the table of corrections."""
    before: dict[str, str]
    after: dict[str, str]


def review(page: Page, right: dict[str, str], n: int = N_REVIEWED) -> None:
    """Label the least confident documents by keys; one is unclear, one gets a note."""
    page.locator("#begin").click()
    for place in range(n):
        shown = page.locator(".row[aria-expanded=true] .snippet").inner_text()
        if place == NOTED:
            page.keyboard.press("e")
            page.keyboard.type("Is this about the film?")
            page.keyboard.press("Escape")
        page.keyboard.press("0" if place == UNCLEAR else str(CLASSES.index(right[shown]) + 1))


def walk(page: Page, folder: Path, snap: Snap) -> Walked:
    """Go from two files to corrected labels and their report; ``snap`` takes pictures."""
    right = {
        f"films-{number}": label for number, label in enumerate(load_demo("films").labels, start=1)
    }
    write_files(folder)
    run_command(folder, COMMAND)
    before = read_labels(folder)
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector(".row")
    snap("1-report")
    page.locator("#begin").click()
    snap("2-begin")
    review(page, right)
    snap("3-reviewed")
    with page.expect_download() as waiting:
        page.locator("#download").click()
    waiting.value.save_as(folder / "corrections.csv")
    page.locator("#copy").click()
    page.locator("#copy:text-is('Copied')").wait_for()
    snap("4-downloaded")
    command = page.evaluate("navigator.clipboard.readText()")
    said = run_command(folder, command)
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector(".row")
    snap("5-report-again")
    page.locator("#sample").click()
    for _ in range(5):
        page.keyboard.press("1")
    snap("6-score")
    with (folder / "corrections.csv").open(newline="", encoding="utf-8") as file:
        given = {
            row["id"]: (row["label"], row["mark"], row["note"]) for row in csv.DictReader(file)
        }
    return Walked(command, said, given, before, read_labels(folder))


@contextmanager
def open_browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[] if os.geteuid() else ["--no-sandbox"]
        )
        yield browser
        browser.close()


def new_page(browser: Browser, width: int, height: int, scheme: str = "light") -> Page:
    """Return a page that may use the clipboard."""
    size: Any = {"width": width, "height": height}
    context = browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce", accept_downloads=True
    )  # type: ignore[arg-type]
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    return context.new_page()


def take_picture(page: Page, folder: Path, view: str, step: str) -> None:
    """Write a picture of the page, named after the step and the view."""
    page.screenshot(path=folder / f"{step}-{view}.png")


def picture_steps(browser: Browser, pictures: Path) -> None:
    """Walk once for each width and scheme, and keep a picture of every step."""
    pictures.mkdir(parents=True, exist_ok=True)
    for width, scheme in VIEWS:
        page = new_page(browser, width, 900 if width > 600 else 844, scheme)
        with tempfile.TemporaryDirectory() as name:
            snap = partial(take_picture, page, pictures, f"{width}-{scheme}")
            walked = walk(page, Path(name), snap)
        changed = sum(walked.before[one] != walked.after[one] for one in walked.before)
        print(
            f"{width} {scheme}: {len(walked.given)} reviewed, "
            f"{changed} of {len(walked.before)} labels changed"
        )


def picture_documents(browser: Browser) -> None:
    """Take the two pictures of docs/report.md."""
    right = {
        f"films-{number}": label for number, label in enumerate(load_demo("films").labels, start=1)
    }
    with tempfile.TemporaryDirectory() as name:
        folder, page = Path(name), new_page(browser, 1280, 1075)
        write_files(folder)
        run_command(folder, COMMAND)
        page.goto((folder / "report.html").as_uri())
        page.wait_for_selector(".row")
        page.screenshot(path=IMAGES / "report.png")
        page.set_viewport_size({"width": 1280, "height": 860})
        review(page, right, 3)
        page.evaluate("document.getElementById('documents').scrollIntoView()")
        page.screenshot(path=IMAGES / "report-review.png")


def main() -> None:
    with open_browser() as browser:
        if sys.argv[1:]:
            picture_steps(browser, Path(sys.argv[1]))
        else:
            picture_documents(browser)


if __name__ == "__main__":
    main()
