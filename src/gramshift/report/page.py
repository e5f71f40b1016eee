"""The report and review page: one HTML file that needs nothing else."""

import os
from base64 import b64encode
from collections import Counter
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from gramshift.report.contents import ReportContents
from gramshift.report.drawings import draw_accuracy, draw_confidence, draw_map, draw_shares
from gramshift.report.payload import as_json, make_payload
from gramshift.report.svg import colour, percent
from gramshift.runtime.storage import replaced_file

DOUBTFUL = 0.7


def write_page(path: str | os.PathLike[str], contents: ReportContents) -> None:
    """Make the page and write it, at once or not at all."""
    page = render_page(contents).encode()
    with replaced_file(path) as file:
        file.write(page)


def render_page(contents: ReportContents) -> str:
    """The whole page; the same contents give the same page. Everything in them may be hostile."""
    style, script = _asset("review.css"), _asset("review.js")
    page = _template().render(
        contents=contents,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        data=Markup(as_json(make_payload(contents))),
        plots=_plots(contents),
        facts=_facts(contents),
        diagnostics=_diagnostics(contents),
        scores=_scores(contents),
        rounds=sorted({one.round for one in contents.documents}),
        confusion=_confusion(contents),
        colour=colour,
        percent=percent,
    )
    page = page.replace("\0", "\N{REPLACEMENT CHARACTER}")  # neither it nor half a surrogate pair can stand in a page
    return page.encode("utf-8", "replace").decode()


@cache
def _asset(name: str) -> str:
    return files("gramshift.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = _shown
    return environment.from_string(_asset("report.html.j2"))


def _policy(style: str, script: str) -> str:
    """Nothing may be fetched, and no style or script but ours may run."""
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


def _facts(contents: ReportContents) -> list[tuple[str, str]]:
    """The figures at the top, most wanted first."""
    scores, counts = contents.scores or {}, Counter(one.label for one in contents.documents)
    facts = [("target documents", f"{contents.n_target}"), ("source documents", f"{contents.n_source}")]
    if "accuracy" in scores:
        facts.append(("right, of those with a known label", f"{100 * scores['accuracy']:.1f}\N{NARROW NO-BREAK SPACE}%"))
    doubtful = sum(one.confidence < DOUBTFUL for one in contents.documents)
    facts.append((f"less than {percent(DOUBTFUL)} sure", f"{doubtful}"))
    if len(contents.classes) <= 4:
        facts += [(f"labelled {name}", f"{counts[name]}") for name in contents.classes]
    return facts


def _diagnostics(contents: ReportContents) -> list[tuple[str, str, str]]:
    """Name, value, sentence; fractions are shares."""
    rows = []
    for name, one in contents.diagnostics.items():
        value, sentence = (one.get("value"), one.get("sentence", "")) if isinstance(one, dict) else (None, one)
        shown = f"{100 * value:.0f}\N{NARROW NO-BREAK SPACE}%" if isinstance(value, float) else _shown(value)
        rows.append((name.replace("_", " "), shown, str(sentence)))
    return rows


def _scores(contents: ReportContents) -> list[tuple[str, str]]:
    scores = contents.scores or {}
    names = {"accuracy": "accuracy", "macro_f1": "macro F1", "plain_accuracy": "accuracy of the plain kernel"}
    names["plain_macro_f1"] = "macro F1 of the plain kernel"
    rows = [(title, f"{100 * scores[key]:.1f}\N{NARROW NO-BREAK SPACE}%") for key, title in names.items() if key in scores]
    if scores.get("mcnemar_p") is not None:
        rows.append(("p of the difference to plain (McNemar)", f"{scores['mcnemar_p']:.3g}"))
    return rows


def _confusion(contents: ReportContents) -> list[tuple[str, list[tuple[int, bool]]]]:
    """Rows of the confusion matrix: the true label, and counts with whether they are right."""
    scores = contents.scores or {}
    names = scores.get("confusion_labels", contents.classes)
    return [
        (name, [(count, name == column) for count, column in zip(row, contents.classes, strict=True)])
        for name, row in zip(names, scores.get("confusion", []), strict=False)
    ]


def _shown(value: Any) -> str:
    """A value for a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(_shown, value)) if isinstance(value, (list, tuple)) else str(value)
