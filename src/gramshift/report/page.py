"""Render a report as one HTML page that needs no other file."""

import os
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import floor, log10
from typing import IO, Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from gramshift.files import replaced_file
from gramshift.model.data_problems import KINDS, Issue
from gramshift.model.verdict import by_random_labels, tone_of
from gramshift.report.contents import ReportContents
from gramshift.report.drawings import (
    N_COLOURS,
    STYLES,
    draw_accuracy,
    draw_bar,
    draw_confidence,
    draw_map,
    draw_shares,
    exact_percent,
    group_classes,
    percent,
)
from gramshift.report.payload import as_json, least_confidence, make_payload

MAX_DOCUMENTS = 20_000  # documents on a page; browsers become slow with more
MAX_COLUMNS = 12  # of the user's other columns
MAX_ISSUES = 100  # of each kind
MIN_SCORED = 50  # documents with a true label, for an accuracy that is certain enough to come first
SCRIPTS = ("labels.js", "list.js", "review.js")  # each uses those before it


def write_page(path: str | os.PathLike[str] | IO[bytes], contents: ReportContents) -> None:
    """Write the page to an open binary file, or to a path: whole or not at all."""
    page = render_page(contents).encode()
    if isinstance(path, (str, os.PathLike)):
        with replaced_file(path) as file:
            file.write(page)
    else:
        path.write(page)


def render_page(contents: ReportContents) -> str:
    """Return the page; equal contents give equal pages. Everything in them may be hostile."""
    style, script = _read_asset("review.css"), page_script()
    groups = group_classes(contents.classes, (one.label for one in contents.documents))
    page = _read_template().render(
        contents=contents,
        run=contents.run,
        style=Markup(style),
        script=Markup(script),
        policy=_make_policy(style, script),
        data=Markup(as_json(make_payload(contents))),
        plots=_draw_plots(contents, groups),
        legend=_count_labels(contents, groups),
        STYLES=STYLES,
        styles={name: STYLES[number] for name, number in groups.items()},
        facts=_list_facts(contents),
        headline=_make_headline(contents),
        diagnostics=_list_diagnostics(contents),
        scores=_list_scores(contents),
        rounds=sorted({one.round for one in contents.documents}),
        confusion=_list_confusion(contents),
        ngrams=_list_ngrams(contents, groups),
        sentence="" if _has_accuracy(contents) else contents.sentence,
        issues=_group_issues(contents),
        percent=percent,
    )
    page = page.replace("\0", "\N{REPLACEMENT CHARACTER}")  # HTML allows neither it nor surrogates
    return page.encode("utf-8", "replace").decode()


@cache
def page_script() -> str:
    """Return the script of the page, in a block of its own: its names must not become global."""
    return '"use strict";\n{\n' + "".join(map(_read_asset, SCRIPTS)) + "}\n"


@cache
def _read_asset(name: str) -> str:
    return files("gramshift.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def class_colours() -> str:
    """Return style rules with the colours of the classes, for light and dark pages."""
    found = re.findall(r"--c\d: #\w+;", _read_asset("review.css"))
    light, dark = (" ".join(found[start : start + N_COLOURS]) for start in (0, N_COLOURS))
    in_the_dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f":root {{ {light} }} {in_the_dark}"


@cache
def _read_template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = _format_value
    environment.filters["begun"] = lambda words: words[:1].upper() + words[1:]
    return environment.from_string(_read_asset("report.html.j2"))


def _make_policy(style: str, script: str) -> str:
    """Return a policy that forbids the page to fetch anything or to run other styles or scripts."""
    assets = {"style": style, "script": script}
    hashes = {
        name: b64encode(sha256(text.encode()).digest()).decode() for name, text in assets.items()
    }
    allowed = "; ".join(f"{name}-src 'sha256-{value}'" for name, value in hashes.items())
    return f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def _name_groups(groups: dict[str, int]) -> list[str]:
    """Return for each style the name of its class, or how many other classes share it."""
    members: dict[int, list[str]] = {}
    for name, number in groups.items():
        members.setdefault(number, []).append(name)
    return [
        found[0] if len(found) == 1 else f"{len(found)} other classes"
        for _, found in sorted(members.items())
    ]


def _count_labels(contents: ReportContents, groups: dict[str, int]) -> list[tuple[str, int, str]]:
    """Return the name, the number of labels and their percentage for each style."""
    counts = Counter(groups[one.label] for one in contents.documents if not one.abstained)
    total = max(1, counts.total())
    return [
        (name, counts[number], percent(counts[number] / total))
        for number, name in enumerate(_name_groups(groups))
    ]


def _draw_plots(contents: ReportContents, groups: dict[str, int]) -> dict[str, Markup]:
    classes = _name_groups(groups)
    shown = {name: classes[number] for name, number in groups.items()}
    plots: dict[str, Markup] = {}
    if contents.documents:
        labelled = [(shown[one.label], one.confidence) for one in contents.documents]
        plots["confidence"] = draw_confidence(labelled, classes)
    if contents.shares:
        shares = {stage: _add_up(share, shown) for stage, share in contents.shares.items()}
        plots["shares"] = draw_shares(shares, classes)
    bins = (contents.run.scores or {}).get("by_confidence")
    if bins:
        plots["accuracy"] = draw_accuracy(bins)
    maps = {"before": contents.before, "after": contents.after}
    for name, points in maps.items():
        if points is not None:
            labels = [shown.get(label, label) for label in points.labels]
            title = f"Documents {name} adapting"
            plots[name] = draw_map(name, title, replace(points, labels=labels), classes)
    return plots


def _add_up(share: Mapping[str, float], shown: Mapping[str, str]) -> dict[str, float]:
    """Return the sums of the proportions of classes that are shown under one name."""
    sums: dict[str, float] = {}
    for name, value in share.items():
        sums[shown.get(name, name)] = sums.get(shown.get(name, name), 0.0) + value
    return sums


def _measured_accuracy(contents: ReportContents) -> tuple[str, str]:
    """Return the measured accuracy, and its interval and basis as text; "" if too few are known."""
    scores = contents.run.scores or {}
    if "accuracy" not in scores or scores.get("n", 0) < MIN_SCORED:
        return "", ""
    between = " to ".join(f"{100 * value:.1f}" for value in scores.get("accuracy_interval", ()))
    interval = f"({between}), " if between else ""
    accuracy = exact_percent(scores["accuracy"])
    return accuracy, f"{interval}on {scores['n']} documents with a known label"


def _has_accuracy(contents: ReportContents) -> bool:
    return contents.expected_accuracy is not None or bool(_measured_accuracy(contents)[0])


def _make_headline(contents: ReportContents) -> dict[str, str] | None:
    """Return the accuracy and the verdict; None if neither is known.

    The "level" is good, careful or doubtful, which is red.
    """
    verdict = contents.diagnostics.get("verdict")
    if not _has_accuracy(contents) and not isinstance(verdict, str):
        return None
    level = "doubtful" if contents.warnings else "careful"
    opening, colon, rest = "", "", ""
    if isinstance(verdict, str):
        level = tone_of(verdict)
        opening, colon, rest = verdict.partition(":")
    question = "Can these labels be used?"
    if not _has_accuracy(contents) and len(contents.history) > 1:
        question = "Did adapting help?"
        level = "careful" if level == "good" else level  # a good answer is not one on the labels
    measured, measured_on = _measured_accuracy(contents)
    headline = {"question": question, "level": level, "opening": opening + colon, "verdict": rest}
    headline |= {"measured": measured, "measured_on": measured_on, "expected": "", "between": ""}
    expected = contents.expected_accuracy
    if expected is not None:
        headline["expected"] = percent(expected["value"])
        headline["between"] = f"{percent(expected['low'])} to {percent(expected['high'])}"
    headline["by"] = by_random_labels(contents.n_random) if contents.n_random else ""
    return headline


def count_doubtful(contents: ReportContents) -> int:
    """Return the number of documents to review, as the script counts them; not corrected ones."""
    least = least_confidence(len(contents.classes))
    return sum(round(one.confidence, 4) < least and not one.corrected for one in contents.documents)


def _list_facts(contents: ReportContents) -> list[tuple[str, str]]:
    """Return the numbers at the top; those of the headline or the sentence are not repeated."""
    scores, documents = contents.run.scores or {}, contents.documents
    facts = [("target documents", len(documents)), ("source documents", contents.n_source)]
    shown = [(name, str(value)) for name, value in facts]
    is_measured = bool(_measured_accuracy(contents)[0])
    if "accuracy" in scores and contents.expected_accuracy is not None and not is_measured:
        shown.append(("right, of those with a known label", exact_percent(scores["accuracy"])))
    least = percent(least_confidence(len(contents.classes)))
    shown.append((f"doubtful: less than {least} sure", str(count_doubtful(contents))))
    if n_left := sum(one.abstained for one in documents):
        shown.append(("left without a label", str(n_left)))
    return shown


def _list_diagnostics(contents: ReportContents) -> list[tuple[str, str, str]]:
    """Return the name, value and sentence of each diagnostic; a float is a share."""
    rows = []
    for name, one in contents.diagnostics.items():
        if name == "verdict" and isinstance(one, str):
            continue  # it is in the headline
        value, sentence = None, one
        if isinstance(one, dict):
            value, sentence = one.get("value"), one.get("sentence", "")
        shown = percent(value) if isinstance(value, float) else _format_value(value)
        rows.append((name.replace("_", " "), shown, str(sentence)))
    return rows


def _list_scores(contents: ReportContents) -> list[tuple[str, str]]:
    """Return the name and value of each score."""
    scores = contents.run.scores or {}
    reference = scores.get("reference", contents.reference)
    names = {
        "accuracy": "accuracy",
        "macro_f1": "macro F1",
        "reference_accuracy": f"accuracy, {reference}",
        "reference_macro_f1": f"macro F1, {reference}",
    }
    rows = [(title, exact_percent(scores[key])) for key, title in names.items() if key in scores]
    if scores.get("mcnemar_p") is not None:
        title = f"p of the difference from {reference} (McNemar)"
        rows.append((title, f"{scores['mcnemar_p']:.3g}"))
    return rows


def _list_confusion(contents: ReportContents) -> list[tuple[str, list[tuple[int, bool]]]]:
    """Return the rows of the confusion matrix: the true label, and (count, is right) by class."""
    scores = contents.run.scores or {}
    names = scores.get("confusion_labels", contents.classes)
    rows = zip(names, scores.get("confusion", []), strict=False)
    return [
        (name, [(count, name == found) for count, found in zip(row, contents.classes, strict=True)])
        for name, row in rows
    ]


def _group_issues(
    contents: ReportContents,
) -> list[tuple[str, str, int, list[Issue], dict[str, int]]]:
    """Return for each kind its name, meaning, number, first problems, and the others by role."""
    kinds: dict[str, list[Issue]] = {}
    for one in contents.issues:
        kinds.setdefault(one.issue, []).append(one)
    groups = []
    for kind, found in kinds.items():
        others: dict[str, int] = Counter(sorted(one.role for one in found[MAX_ISSUES:]))
        groups.append((kind, KINDS.get(kind, ""), len(found), found[:MAX_ISSUES], others))
    return groups


def _list_ngrams(
    contents: ReportContents, groups: dict[str, int]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the n-grams of each class, their bars on one scale; nothing if there are none.

    An n-gram comes with the numbers of blanks before and after it, and of documents that have it.
    """
    weights = [weight for found in contents.strongest_ngrams for _, weight, *_ in found]
    largest = max(weights, default=0.0)
    if largest <= 0:
        return []
    n_digits = max(0, 2 - floor(log10(largest)))

    def make_row(code: int, text: str, weight: float, *counts: int) -> dict[str, Any]:
        in_source, in_target = counts or (None, None)
        return {
            "before": len(text) - len(text.lstrip()),
            "text": text.strip(),
            "after": len(text.lstrip()) - len(text.strip()),
            "bar": draw_bar(weight / largest, groups[contents.classes[code]]),
            "worth": f"{weight:.{n_digits}f}",
            "in_source": in_source,
            "in_target": in_target,
        }

    by_class = enumerate(zip(contents.classes, contents.strongest_ngrams, strict=True))
    return [(name, [make_row(code, *one) for one in found]) for code, (name, found) in by_class]


def _format_value(value: Any) -> str:
    """Return a value as text for a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(_format_value, value)) if isinstance(value, (list, tuple)) else str(value)
