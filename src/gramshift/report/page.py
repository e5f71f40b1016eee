"""The report as one HTML page: its template, and its data in the form that the script reads."""

import json
import os
import re
from base64 import b64encode
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import floor, log10
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from gramshift.model.advice import tone_of
from gramshift.model.data_problems import KINDS
from gramshift.report.contents import DocumentEntry, IssueEntry, NGramFound, ReportContents
from gramshift.report.drawings import (
    N_COLOURS,
    colour,
    draw_accuracy,
    draw_bar,
    draw_confidence,
    draw_map,
    draw_shares,
    exact_percent,
    percent,
    shortened,
)
from gramshift.runtime.replacing import replaced_file

MOST_SHOWN = 20_000  # documents on a page: a browser holds no more of them with ease
LARGEST_TEXTS = 16_000_000  # bytes that all target texts take in the page
LARGEST_SOURCES = 6_000_000
LONGEST_TEXT = 100_000  # characters of a document in the page: browsers take minutes to lay out megabytes without a blank
LONGEST_VALUE = 300  # characters of what a further column says
MOST_COLUMNS = 12  # of the user's file that are shown
LARGEST_COLUMNS = 6_000_000  # bytes that all of their values take
DOUBTFUL = 0.7  # what is less sure should be looked at
MOST_ISSUES = 100  # of each kind that the page shows
MOST_CLASSES = 8  # whose labels are counted at the top
FEWEST_SCORED = 50  # documents with a known label: of fewer the accuracy is too uncertain to come first
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def as_json(value: Any) -> str:
    """Write JSON without what would end a script element, a line of JavaScript or UTF-8, such as half a surrogate pair."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def make_payload(contents: ReportContents, *, largest_texts: int = LARGEST_TEXTS) -> dict[str, Any]:
    """Return what the page's script reads. Offsets count UTF-16 units, as JavaScript does."""
    code = {name: number for number, name in enumerate(contents.classes)}
    lengths = fit_lengths([one.text[:LONGEST_TEXT] for one in contents.documents], largest_texts)
    neighbours = list(dict.fromkeys(near for one in contents.documents for near in map(_known, one.neighbours)))
    place = {near: number for number, near in enumerate(neighbours)}
    source_lengths = fit_lengths([text[:LONGEST_TEXT] for _, _, text in neighbours], LARGEST_SOURCES)
    further = {name for one in contents.documents for name, _ in one.more}
    longest = max(20, min(LONGEST_VALUE, LARGEST_COLUMNS // max(1, len(further) * len(contents.documents))))

    def pack(one: DocumentEntry, length: int) -> dict[str, Any]:
        packed: dict[str, Any] = {
            "id": one.id,
            "text": one.text[:length],
            "label": code[one.label],
            "confidence": round(one.confidence, 4),
            "probabilities": [round(value, 3) for value in one.probabilities],
            "round": one.round,
            "spans": to_units(one.text[:length], [span for span in one.spans if span[1] <= length]),
            "near": [[place[_known(near)], round(near.similarity, 3)] for near in one.neighbours],
        }
        known = {"reference": code.get(one.reference_label or ""), "truth": one.truth}
        flags = {
            "corrected": one.corrected,
            "drawn": one.drawn,
            "abstained": one.abstained,
            "unexplained": not one.explained,
            "cut": len(one.text) - length,
        }
        packed |= {name: value for name, value in known.items() if value is not None}
        if one.more:
            packed["more"] = [[name, shortened(value, longest)] for name, value in one.more]
        return packed | {name: value for name, value in flags.items() if value}

    return {
        "key": digest(contents),
        "classes": contents.classes,
        "new": [code[name] for name in contents.new_classes],
        "doubtful": DOUBTFUL,
        "reference": contents.reference,
        "command": contents.next_command,
        "documents": [pack(one, length) for one, length in zip(contents.documents, lengths, strict=True)],
        "sources": [
            [name, label, text[:length], len(text) - length]
            for (name, label, text), length in zip(neighbours, source_lengths, strict=True)
        ],
    }


def digest(contents: ReportContents) -> str:
    """Return what runs are known by: a digest of classes, ids, texts and labels, not of the time."""
    found = sha256(f"[{as_json(contents.classes)},[".encode())
    for number, one in enumerate(contents.documents):  # one by one, since they can be long
        found.update(f"{',' if number else ''}{as_json([one.id, one.text, one.label, one.corrected])}".encode())
    found.update(b"]]")
    return found.hexdigest()[:20]


def fit_lengths(texts: Sequence[str], budget: int) -> list[int]:
    """Count the characters of each text that fit: all of them, or of long ones as many as leave room for the others."""
    sizes = [len(as_json(text).encode()) for text in texts]
    limit, left = float(budget), budget
    for rank, size in enumerate(sorted(sizes)):
        limit = left / (len(sizes) - rank)
        if size > limit:
            break
        left -= size
    else:
        return [len(text) for text in texts]
    return [len(text) if size <= limit else int(len(text) * limit / size) for text, size in zip(texts, sizes, strict=True)]


def to_units(text: str, spans: Sequence[tuple[int, int, float, int]]) -> list[list[Any]]:
    """Return spans with offsets in UTF-16 units: a character beyond U+FFFF has two."""
    if text.isascii():
        return [[start, stop, round(strength, 2), code] for start, stop, strength, code in spans]
    wide = [place for place, char in enumerate(text) if char > "\uffff"]

    def units(offset: int) -> int:
        return offset + bisect_left(wide, offset)

    return [[units(start), units(stop), round(strength, 2), code] for start, stop, strength, code in spans]


def _known(near: Any) -> tuple[str, str, str]:
    return near.id, near.label, near.text


def write_page(path: str | os.PathLike[str], contents: ReportContents) -> None:
    """Make the page and write it, at once or not at all."""
    page = render_page(contents).encode()
    with replaced_file(path) as file:
        file.write(page)


def render_page(contents: ReportContents) -> str:
    """Make the whole page; the same contents give the same page. Everything in them may be hostile."""
    style, script = _asset("review.css"), page_script()
    page = _template().render(
        contents=contents,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        data=Markup(as_json(make_payload(contents))),
        plots=_plots(contents),
        facts=_facts(contents),
        headline=_headline(contents),
        diagnostics=_diagnostics(contents),
        scores=_scores(contents),
        rounds=sorted({one.round for one in contents.documents}),
        confusion=_confusion(contents),
        ngrams=_ngrams(contents),
        sentence="" if _known_accuracy(contents) else contents.sentence,
        issues=_issues(contents),
        colour=colour,
        percent=percent,
    )
    page = page.replace("\0", "\N{REPLACEMENT CHARACTER}")  # neither it nor half a surrogate pair can stand in a page
    return page.encode("utf-8", "replace").decode()


SCRIPTS = ("labels.js", "list.js", "review.js")  # in the order in which they need each other


@cache
def page_script() -> str:
    """The script of the page: its parts in one block, so that no name of theirs meets one of the browser's."""
    return '"use strict";\n{\n' + "".join(map(_asset, SCRIPTS)) + "}\n"


@cache
def _asset(name: str) -> str:
    return files("gramshift.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def class_colours() -> str:
    """The colours of the classes as style rules, for other pages: of a light page, then of a dark one."""
    found = re.findall(r"--c\d: #\w+;", _asset("review.css"))
    light, dark = (" ".join(found[start : start + N_COLOURS]) for start in (0, N_COLOURS))
    return f":root {{ {light} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = _shown
    environment.filters["begun"] = lambda words: words[:1].upper() + words[1:]
    return environment.from_string(_asset("report.html.j2"))


def _policy(style: str, script: str) -> str:
    """Return the policy of the page: nothing may be fetched, and no style or script but ours may run."""
    hashes = {name: b64encode(sha256(text.encode()).digest()).decode() for name, text in (("style", style), ("script", script))}
    allowed = "; ".join(f"{name}-src 'sha256-{value}'" for name, value in hashes.items())
    return f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def _plots(contents: ReportContents) -> dict[str, Markup]:
    plots: dict[str, Markup] = {}
    if contents.documents:
        plots["confidence"] = draw_confidence(contents.documents, contents.classes)
    if contents.shares:
        names = contents.share_names or [str(number) for number in range(1, len(contents.shares) + 1)]
        plots["shares"] = draw_shares(contents.shares, names, contents.classes)
    bins = (contents.scores or {}).get("by_confidence")
    if bins:
        plots["accuracy"] = draw_accuracy(bins)
    if contents.before is not None:
        plots["before"] = draw_map("before", "Documents before adapting", contents.before, contents.classes)
    if contents.after is not None:
        plots["after"] = draw_map("after", "Documents after adapting", contents.after, contents.classes)
    return plots


@dataclass(frozen=True)
class _Headline:
    """What comes first: how good the labels are, and whether they can be used."""

    question: str
    level: str
    """Good, careful or doubtful; what is doubtful is red."""
    measured: str
    """The accuracy on documents with a known label, if they are enough."""
    measured_on: str
    expected: str
    between: str
    opening: str
    verdict: str


def _measured(contents: ReportContents) -> tuple[str, str]:
    """Return the accuracy that was measured, and its interval with the number of documents; nothing of too few."""
    scores = contents.scores or {}
    if "accuracy" not in scores or scores.get("n", 0) < FEWEST_SCORED:
        return "", ""
    between = " to ".join(f"{100 * value:.1f}" for value in scores.get("accuracy_interval", ()))
    interval = f"({between}), " if between else ""
    return exact_percent(scores["accuracy"]), f"{interval}on {scores['n']} documents with a known label"


def _known_accuracy(contents: ReportContents) -> bool:
    return contents.expected_accuracy is not None or bool(_measured(contents)[0])


def _headline(contents: ReportContents) -> _Headline | None:
    """Return the accuracy, measured or expected, and the verdict, or None where none of them is known."""
    expected, verdict = contents.expected_accuracy, contents.diagnostics.get("verdict")
    if not _known_accuracy(contents) and not isinstance(verdict, str):
        return None
    opening, colon, rest = (verdict if isinstance(verdict, str) else "").partition(":")
    level = tone_of(verdict) if isinstance(verdict, str) else "doubtful" if contents.warnings else "careful"
    question = "Can these labels be used?"
    if not _known_accuracy(contents) and contents.history[1:]:
        question, level = "Did adapting help?", "careful" if level == "good" else level  # which says nothing of the labels
    value, between = "", ""
    if expected is not None:
        value, between = percent(expected["value"]), f"{percent(expected['low'])} to {percent(expected['high'])}"
    return _Headline(question, level, *_measured(contents), value, between, opening + colon, rest)


def count_doubtful(contents: ReportContents) -> int:
    """How many documents should be looked at, as the script counts them: those that a person has labelled are sure."""
    return sum(round(one.confidence, 4) < DOUBTFUL and not one.corrected for one in contents.documents)


def _facts(contents: ReportContents) -> list[tuple[str, str]]:
    """Return the figures at the top, most wanted first; what the headline or the sentence says is not said again."""
    scores = contents.scores or {}
    facts = [("target documents", f"{contents.n_target}"), ("source documents", f"{contents.n_source}")]
    if "accuracy" in scores and contents.expected_accuracy is not None and not _measured(contents)[0]:
        facts.append(("right, of those with a known label", exact_percent(scores["accuracy"])))
    facts.append((f"less than {percent(DOUBTFUL)} sure", f"{count_doubtful(contents)}"))
    if not _known_accuracy(contents):
        return facts
    counts = Counter(one.label for one in contents.documents if not one.abstained)
    if left := len(contents.documents) - counts.total():
        facts.append(("left without a label", f"{left}"))
    n_classes, most = len(contents.classes), {name for name, _ in counts.most_common(MOST_CLASSES)}
    shown = [name for name in contents.classes if n_classes <= MOST_CLASSES or name in most]
    facts += [(f"labelled {name}", f"{counts[name]}") for name in shown]
    if len(shown) < n_classes:
        others = sum(counts[name] for name in contents.classes if name not in shown)
        facts.append((f"of {n_classes - len(shown)} other classes", f"{others}"))
    return facts


def _diagnostics(contents: ReportContents) -> list[tuple[str, str, str]]:
    """Return name, value and sentence of each; fractions are shares."""
    rows = []
    for name, one in contents.diagnostics.items():
        if name == "verdict" and isinstance(one, str):
            continue  # it is the headline
        value, sentence = (one.get("value"), one.get("sentence", "")) if isinstance(one, dict) else (None, one)
        shown = f"{100 * value:.0f}\N{NARROW NO-BREAK SPACE}%" if isinstance(value, float) else _shown(value)
        rows.append((name.replace("_", " "), shown, str(sentence)))
    return rows


def _scores(contents: ReportContents) -> list[tuple[str, str]]:
    scores = contents.scores or {}
    reference = scores.get("reference", contents.reference)
    names = {"accuracy": "accuracy", "macro_f1": "macro F1"}
    names |= {"reference_accuracy": f"accuracy, {reference}", "reference_macro_f1": f"macro F1, {reference}"}
    rows = [(title, exact_percent(scores[key])) for key, title in names.items() if key in scores]
    if scores.get("mcnemar_p") is not None:
        rows.append((f"p of the difference from {reference} (McNemar)", f"{scores['mcnemar_p']:.3g}"))
    return rows


def _confusion(contents: ReportContents) -> list[tuple[str, list[tuple[int, bool]]]]:
    """Return the rows of the confusion matrix: the true label, and counts with whether they are right."""
    scores = contents.scores or {}
    names = scores.get("confusion_labels", contents.classes)
    return [
        (name, [(count, name == column) for count, column in zip(row, contents.classes, strict=True)])
        for name, row in zip(names, scores.get("confusion", []), strict=False)
    ]


def _issues(contents: ReportContents) -> list[tuple[str, str, int, list[IssueEntry], dict[str, int]]]:
    """Return for each kind of problem its name, what it means, how many there are, the first of them, and the rest by role."""
    kinds: dict[str, list[IssueEntry]] = {}
    for one in contents.issues:
        kinds.setdefault(one.issue, []).append(one)
    return [
        (kind, KINDS.get(kind, ""), len(found), found[:MOST_ISSUES], Counter(sorted(one.role for one in found[MOST_ISSUES:])))
        for kind, found in kinds.items()
    ]


@dataclass(frozen=True)
class _NGramRow:
    """An n-gram as the page shows it: how many blanks stand before and after it, its weight as a bar and in figures."""

    before: int
    text: str
    after: int
    bar: Markup
    worth: str
    in_source: int | None
    in_target: int | None


def _ngrams(contents: ReportContents) -> list[tuple[str, list[_NGramRow]]]:
    """Return the n-grams of each class; bars of all classes have one scale. Nothing if no class has any."""
    listed = [[NGramFound(*one) for one in several] for several in contents.strongest_ngrams]
    largest = max((one.worth for several in listed for one in several), default=0.0)
    if largest <= 0:
        return []
    digits = max(0, 2 - floor(log10(largest)))

    def show(one: NGramFound, code: int) -> _NGramRow:
        kept, begun = one.text.strip(), one.text.lstrip()
        before, after = len(one.text) - len(begun), len(begun) - len(kept)
        bar, worth = draw_bar(one.worth / largest, code), f"{one.worth:.{digits}f}"
        return _NGramRow(before, kept, after, bar, worth, one.in_source, one.in_target)

    both = zip(contents.classes, listed, strict=True)
    return [(name, [show(one, code) for one in several]) for code, (name, several) in enumerate(both)]


def _shown(value: Any) -> str:
    """Write a value for a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(_shown, value)) if isinstance(value, (list, tuple)) else str(value)
