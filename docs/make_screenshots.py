"""Make the pictures of the report in docs/images from the demo corpus: python docs/make_screenshots.py

Needs Chromium, playwright and a font with emoji (fonts-noto-color-emoji).
"""

import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import sync_playwright

import gramshift as gs
from gramshift.data.demo import load_demo
from gramshift.report.contents import ReportContents, ShownAsItIs, SourceDocuments, TargetDocuments
from gramshift.report.gather import gather_contents
from gramshift.report.page import write_page

IMAGES = Path(__file__).parent / "images"
OPTIONS = {"ngram_range": (3, 5), "n_added": 0.5}


def make_contents() -> ReportContents:
    """Reviews of films, labelled by what was learnt on reviews of kitchen tools."""
    source, target = load_demo("kitchen"), load_demo("films")
    tkc = gs.TransductiveClassifier(**OPTIONS).fit(source.texts, source.labels, target=target.texts)
    plain = gs.TransductiveClassifier(**OPTIONS, adapt=False, n_rounds=1).fit(source.texts, source.labels, target=target.texts)
    counts, agree = Counter(tkc.transduction_.tolist()), float((tkc.transduction_ == plain.transduction_).mean())
    told = ", ".join(f"{count} {label}" for label, count in sorted(counts.items()))
    return gather_contents(
        tkc,
        plain,
        target=TargetDocuments([f"films-{number}" for number in range(1, 121)], target.texts),
        source=SourceDocuments([f"kitchen-{number}" for number in range(1, 121)], source.texts, source.labels),
        shown=ShownAsItIs(
            title="films.csv",
            sentence=f"{len(target.texts)} documents labelled: {told}.",
            options={"source": "kitchen.csv", "target": "films.csv", "ngrams": "3-5", "added": 0.5},
            sources=[("kitchen.csv", len(source.texts))],
            target_name="films.csv",
            diagnostics={
                "agreement": {"value": f"{agree:.0%}", "sentence": "of the labels are those of the plain kernel."},
                "size": {
                    "value": len(target.texts),
                    "sentence": "target documents are few: adapting helps with thousands of them.",
                },
            },
            created="2026-01-02 03:04",
        ),
    )


def main() -> None:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        contents = make_contents()
        write_page(report, contents)
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        page = browser.new_page(viewport={"width": 1280, "height": 1075}, reduced_motion="reduce")
        page.goto(report.as_uri())
        page.wait_for_selector(".row")
        page.screenshot(path=IMAGES / "report.png")
        page.set_viewport_size({"width": 1280, "height": 860})
        right = load_demo("films").labels
        order = sorted(range(len(right)), key=lambda row: round(contents.documents[row].confidence, 4))
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        for row in order[:3]:
            page.keyboard.press(str(contents.classes.index(right[row]) + 1))
        page.evaluate("document.getElementById('documents').scrollIntoView()")
        page.screenshot(path=IMAGES / "report-review.png")
        browser.close()


if __name__ == "__main__":
    main()
