"""The whole loop of a review: files, page, labels, the command that the page shows, page again."""

from collections import Counter

import pytest

from docs.make_screenshots import N_REVIEWED, walk
from page_visits import Visit


@pytest.mark.slow
def test_a_walk_from_two_files_to_corrected_labels(browser, tmp_path):
    one = Visit(browser, tmp_path, viewport={"width": 1280, "height": 900})
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = one.context.new_page()
    page.on("pageerror", lambda error: one.faults.append(str(error)))
    seen = {}
    walked = walk(
        page, tmp_path, lambda step: seen.update({step: page.locator("body").inner_text()})
    )
    assert len(walked.given) == N_REVIEWED
    assert Counter(mark for _, mark, _ in walked.given.values()) == {"": 29, "unclear": 1}
    assert [note for *_, note in walked.given.values() if note] == ["Is this about the film?"]
    assert walked.command.endswith("--corrections corrections.csv --force")
    assert "documents without a label are left to the classifier (1 unclear)" in walked.said
    assert "29 corrections" in walked.said
    for document, (label, mark, _) in walked.given.items():
        assert mark or walked.after[document] == label
    changed = [
        document
        for document, (label, *_) in walked.given.items()
        if label and walked.before[document] != label
    ]
    assert changed  # or there was nothing to correct
    tally = f"29 labels set, {len(changed)} changed and {29 - len(changed)} confirmed"
    assert f"{tally}, 1 unclear, 1 note" in seen["3-reviewed"]
    assert "What the corrections changed" in seen["5-report-again"]
    assert "Random sample:" in seen["6-score"]
    page.locator("#show").select_option("corrected")
    page.locator("#count:text-is('29 of 420 documents')").wait_for()
    assert one.faults == []
    one.context.close()
