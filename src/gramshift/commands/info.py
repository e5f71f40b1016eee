"""``gramshift info``: what is in a model file."""

import os
from typing import Any

from gramshift.model.classifier import load_with_head
from gramshift.model.model_schema import OF_THE_MACHINE, ROWS
from gramshift.runtime.memory import human
from gramshift.text.terminal import Line, counts_in_words, visible

SAFE = "all checksums match; loading runs no code"


def describe_model(path: str) -> dict[str, Any]:
    """Tell what is in the file, which is read and checked as a whole, as it is for predictions."""
    classifier, head = load_with_head(path)
    fit, texts = classifier._fit, _texts(classifier)
    n_source = int((classifier.labeled_iter_ == 0).sum())
    parameters = head["parameters"] | head["settings"]
    parameters = {name: value for name, value in parameters.items() if name not in OF_THE_MACHINE}
    return {
        "path": path,
        "class": type(classifier).__name__,
        "bytes": os.path.getsize(path),
        "saved": head["saved"][:40],
        "format_version": head["format_version"],
        "versions": {name[:40]: value[:40] for name, value in head["versions"].items()},
        "classes": classifier.classes_.tolist(),
        "n_source": n_source,
        "n_corrected": fit.n_corrected,
        "n_target": len(classifier.transduction_) - fit.n_corrected,
        "n_texts": len(texts),
        "n_characters": sum(map(len, texts)),
        "n_rows": len(fit.model.documents) if classifier.kernel == ROWS else None,
        "n_ngrams": _count_ngrams(classifier),
        "rounds": [step | _by_name(step) for step in classifier.history_],
        "parameters": parameters,
        "safe": SAFE,
    }


def _texts(classifier: Any) -> list[str]:
    documents = classifier._fit.model.documents
    return documents if isinstance(documents, list) else []


def _count_ngrams(classifier: Any) -> int | None:
    """How many n-grams have coefficients of their own; None where documents have them."""
    model = classifier._fit.model.ngrams
    return None if model is None else sum(int((part.table.features >= 0).sum()) for part in model.parts)


def in_words(found: dict[str, Any]) -> list[Line]:
    """Tell for a terminal what was found."""
    classes = [visible(str(one)) for one in found["classes"]]
    shown = ", ".join(classes[:10]) + (f" and {len(classes) - 10} more" if len(classes) > 10 else "")
    versions = ", ".join(f"{name} {value}" for name, value in found["versions"].items())
    inside = f"all {found['n_texts']} texts of the fit, {found['n_characters']} characters: treat it as you treat these"
    if found["n_ngrams"] is not None:
        ngrams = f"{found['n_ngrams']} n-grams that documents share"
        inside = f"{ngrams}, and {inside}" if found["n_texts"] else f"{ngrams}, and no texts"
    if found["n_rows"] is not None:
        inside = f"{found['n_rows']} rows of numbers, those of all documents of the fit, and no texts"
    corrected = found["n_corrected"]
    more = f", {corrected} corrected" if corrected else ""
    lines = {
        "file": f"{visible(found['path'])}, {human(found['bytes'])}, format {found['format_version']}",
        "saved": visible(found["saved"]),
        "made with": visible(versions),
        "classes": shown,
        "class": found["class"],
        "learnt from": f"{found['n_source'] - corrected} source, {found['n_target']} target{more} documents",
        "holds": inside if found["n_texts"] or found["n_ngrams"] is not None or found["n_rows"] else "no texts",
        "safe to open": found["safe"],
    }
    for number, step in enumerate(found["rounds"], start=1):
        added = sum(step["added"].values())
        joined = f"{added} pseudo-labels, " if added else ""
        lines[f"round {number}"] = f"{joined}{visible(counts_in_words(step['labels'], 10))}"
    width = max(map(len, lines))
    told = [Line("Model", "bold"), *(Line(f"{name.ljust(width)}  {words}", indent=2) for name, words in lines.items())]
    parameters = {name: str(value) for name, value in found["parameters"].items()}
    width = max(map(len, parameters), default=0)
    told += [Line(""), Line("Parameters", "bold")]
    return told + [Line(f"{name.ljust(width)}  {value}", indent=2) for name, value in parameters.items()]


def _by_name(step: dict[str, dict[object, int]]) -> dict[str, dict[str, int]]:
    """Return the counts of a round by names: JSON has no keys but strings."""
    return {key: {str(name): count for name, count in step[key].items()} for key in ("added", "labels")}
