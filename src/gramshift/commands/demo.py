"""``gramshift demo``: learn from reviews of kitchen tools, label reviews of films."""

import os
import time
from pathlib import Path
from textwrap import shorten
from typing import Any

from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.run import classify
from gramshift.commands.outputs import check_folder
from gramshift.datasets.demo import DOMAINS, load_demo
from gramshift.errors import InputError
from gramshift.files import replaced_file
from gramshift.methods import BEST, METHODS
from gramshift.model.settings import UNADAPTED
from gramshift.tables.writing import csv_text

FILES = (*(f"{name}.csv" for name in DOMAINS), "labels.csv", "report.html")
FITTED = {"plain": "plain", "paper": "tkc", "best": BEST}  # name on the screen: method
SHOWN = ("plain", "paper", UNADAPTED, "best")
DESCRIPTION = """\
plain: shared n-grams, no adaptation; paper: the published method, --preset paper; best: the
default, which weighs n-grams by what they say about the classes, and retrains four times on its
own pseudo-labels; unadapted: its classifier before that, with the class proportions of the source.
One review is 0.24%. Differences below 6 points may be chance."""


def run_demo() -> dict[str, Any]:
    """Measure three methods in both directions; explain the most confident label of the default."""
    _measure()  # compiles what is not compiled yet
    begun = time.perf_counter()
    result = _measure()
    return result | {"seconds": round(time.perf_counter() - begun, 3)}


def _measure() -> dict[str, Any]:
    """Return the accuracies in both directions, and an explanation."""
    settings = []
    example = None
    for source_name, target_name in (("kitchen", "films"), ("films", "kitchen")):
        source = load_demo(source_name)
        target = load_demo(target_name)
        n_correct = {}
        for name, method in FITTED.items():
            classifier = METHODS[method].make()
            classifier.fit(source.texts, source.labels, target=target.texts)
            n_correct[name] = int((classifier.transduction_ == target.labels).sum())
            if method == BEST:
                unadapted = classifier.unadapted_transduction_
                n_correct[UNADAPTED] = int((unadapted == target.labels).sum())
                example = example or _explain_surest(classifier, target.texts)
        n = len(target.labels)
        settings.append(
            {
                "source": source_name,
                "target": target_name,
                "n": n,
                "accuracy": {name: 100 * n_correct[name] / n for name in SHOWN},
            }
        )
    return {"settings": settings, "example": example}


def _explain_surest(classifier: Any, texts: list[str]) -> dict[str, str]:
    text = texts[int(classifier.transduction_proba_.max(axis=1).argmax())]
    explanation = classifier.explain(text)
    return {"text": text, "label": str(explanation.label), "explanation": explanation.text(n=4)}


def check_demo(folder: Path) -> None:
    """Raise an error if the files cannot be written into a folder."""
    check_folder(folder)
    for name in FILES:
        path = folder / name
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
            raise InputError(
                f"{path} is not an ordinary file, and the demo writes one of this name;"
                " give another --output"
            )


def write_demo(folder: Path) -> dict[str, Any]:
    """Write the two domains as files, and the report of a run over them."""
    write_domains(folder)
    options = ClassifyOptions(
        source=[str(folder / "kitchen.csv")],
        target=str(folder / "films.csv"),
        output=str(folder / "labels.csv"),
        report=str(folder / "report.html"),
        truth="label",
        force=True,
    )
    classify(options, say=lambda _: None)
    return {"folder": str(folder), "report": str(folder / "report.html")}


def write_domains(folder: Path) -> None:
    """Write the two domains as files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in DOMAINS:
        reviews = load_demo(name)
        numbered = enumerate(zip(*reviews, strict=True), start=1)
        rows = [(f"{name}-{number}", *row) for number, row in numbered]
        with replaced_file(folder / f"{name}.csv", follow=False) as file:
            file.write(csv_text([("id", "text", "label"), *rows]).encode())


def describe(result: dict[str, Any]) -> str:
    """Return words for a terminal: the accuracies, an explanation, and where the report is."""
    lines = [
        "Trained on one domain, tested on the other, 420 reviews each: "
        f"{result['seconds']:.2f} s for all six.",
        "",
        "accuracy (%)".ljust(20) + "".join(f"{name:>10}" for name in SHOWN),
    ]
    for one in result["settings"]:
        figures = "".join(f"{value:10.1f}" for value in one["accuracy"].values())
        lines.append(f"{one['source']} -> {one['target']}".ljust(20) + figures)
    example = result["example"]
    folder = result["folder"]
    return "\n".join(
        [
            *lines,
            "",
            DESCRIPTION,
            "",
            f"The surest answer: {shorten(example['text'], 90, placeholder=' ...')}",
            *(f"  {line}".rstrip() for line in example["explanation"].splitlines()),
            "",
            f"The two domains are in {folder} as kitchen.csv and films.csv, the predicted labels "
            "of films.csv in labels.csv.",
            "To look at the labels, see why, and correct some, open this report in a browser:",
            str(Path(result["report"]).absolute()),
        ]
    )
