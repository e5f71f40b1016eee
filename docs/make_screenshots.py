"""Make the pictures of the report in docs/images from the demo corpus: python docs/make_screenshots.py

Needs Chromium, playwright and a font with emoji (fonts-noto-color-emoji).
"""

import contextlib
import csv
import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.run import classify
from gramshift.data.demo import load_demo

IMAGES = Path(__file__).parent / "images"


def make_report(folder: Path) -> list[str]:
    """Label reviews of films by what reviews of kitchen tools teach; the classes, in the order of the keys."""
    for name in ("kitchen", "films"):
        texts, labels = load_demo(name)
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [(f"{name}-{number}", *row) for number, row in enumerate(zip(texts, labels, strict=True), start=1)]
            known = 3 if name == "kitchen" else 2
            csv.writer(file).writerows(row[:known] for row in [("id", "text", "label"), *rows])
    options = ClassifyOptions(source=["kitchen.csv"], target="films.csv", output="labels.csv", report="report.html")
    with contextlib.chdir(folder):  # names on the page are as they were typed
        found = classify(options, say=lambda _: None)
    classes: list[str] = found["classes"]
    return classes


def find_least_sure(folder: Path) -> list[int]:
    """The numbers of the films as the page has them, least sure first."""
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as file:
        confidence = [round(float(row["confidence"]), 4) for row in csv.DictReader(file)]
    return sorted(range(len(confidence)), key=lambda row: confidence[row])


def main() -> None:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        classes, right = make_report(folder), load_demo("films").labels
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        page = browser.new_page(viewport={"width": 1280, "height": 1075}, reduced_motion="reduce")
        page.goto((folder / "report.html").as_uri())
        page.wait_for_selector(".row")
        page.screenshot(path=IMAGES / "report.png")
        page.set_viewport_size({"width": 1280, "height": 860})
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        for row in find_least_sure(folder)[:3]:
            page.keyboard.press(str(classes.index(right[row]) + 1))
        page.evaluate("document.getElementById('documents').scrollIntoView()")
        page.screenshot(path=IMAGES / "report-review.png")
        browser.close()


if __name__ == "__main__":
    main()
