"""``gramshift explain``: the words and documents that decide a label."""

import os
from dataclasses import asdict
from html import escape
from typing import Any

from gramshift.commands.encoders import load_with_encoder
from gramshift.commands.outputs import check_outputs, open_output
from gramshift.errors import InputError
from gramshift.model.explanation import Explanation, mark_style
from gramshift.model.word_spans import N_SHOWN
from gramshift.report.page import class_colours
from gramshift.tables.columns import Progress, find_columns, read_documents
from gramshift.tables.opening import open_table
from gramshift.terminal import with_string_keys

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; style-src 'unsafe-inline'">
<title>Gramshift: why</title>
<style>:root {{ color-scheme: light dark }} {colours}
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto }}
body {{ padding: 0 1rem }}
figure {{ margin: 0 0 2rem }} figcaption {{ font-weight: 600 }}
p {{ overflow-wrap: anywhere }}</style></head>
<body><h1>Why these labels</h1>{legend}
{figures}
</body></html>
"""
LEGEND = """<p>The five words of each text that count most, in the colour of the class that they
speak for: {names}. The stronger the colour, the more a word counts.</p>"""


def explain(
    model: str,
    text: str | None = None,
    input: str | None = None,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    html: str | None = None,
    top: int = N_SHOWN,
    encoder: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Explain one text, or each document of an input; with ``html`` also write a page."""
    if (text is None) == (input is None):
        raise InputError('give either one text in quotes, "like this", or a file with --input')
    if text is not None and os.path.isfile(text):
        raise InputError(
            f"{text} is a file: gramshift explain --model {model} --input {text} explains its "
            "documents"
        )
    if top < 1:
        raise InputError(f"--top {top}: give a number from 1 on")
    check_outputs({"--html": html}, [model] if input is None else [model, input], force=force)
    if text is not None:
        texts = [text]
    else:
        with open_table(str(input), format=format, encoding=encoding) as table:
            columns = find_columns(table, text=column)
            texts = read_documents(table, columns, progress=progress).texts
    classifier = load_with_encoder(model, encoder)
    explanations = []
    for number, one in enumerate(texts):
        if progress is not None:
            progress("explain", number, len(texts))
        explanations.append(classifier.explain(str(one)))
    if html is not None:
        with open_output(html) as file:
            page = _make_page(explanations, classifier.classes_.tolist())
            file.write(page.encode("utf-8", "replace"))
    return {
        "html": html,
        "texts": [one.text(n=top) for one in explanations],
        "explanations": [
            {
                "text": one.given,
                "label": one.label,
                "probability": with_string_keys(one.probability),
                "score": with_string_keys(one.score),
                "empty": with_string_keys(one.empty),
                "vectors": None if one.vectors is None else with_string_keys(one.vectors),
                "words": [_to_json(word) for word in one.words[:top]],
                "spans": [_to_json(span) for span in one.spans],
                "documents": [_to_json(document) for document in one.documents[:top]],
            }
            for one in explanations
        ],
    }


def _make_page(explanations: list[Explanation], classes: list[Any]) -> str:
    """Return a page of all texts, where classes have the colours of the report."""
    names = [
        f'<mark style="{mark_style(code, 0.5)}"><bdi>{escape(str(name))}</bdi></mark>'
        for code, name in enumerate(classes)
    ]
    figures = "\n".join(one.html() for one in explanations)
    legend = ""
    if all(one.has_words for one in explanations):
        legend = LEGEND.format(names=", ".join(names))
    return PAGE.format(colours=class_colours(), legend=legend, figures=figures)


def _to_json(part: Any) -> dict[str, Any]:
    fields = asdict(part)
    return fields | {"shares": with_string_keys(fields["shares"])}
