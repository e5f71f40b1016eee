"""``gramshift info``: the contents of a model file."""

import os
from typing import Any

from numpy.typing import NDArray

from gramshift.memory import size_in_words
from gramshift.model.classifier import read_classifier
from gramshift.model.model_schema import OF_THE_MACHINE
from gramshift.terminal import Line, counts_in_words, visible, with_string_keys

SAFE = "all checksums match; loading runs no code"
MAX_CLASSES = 10  # that are shown
CONTINUATION_BITS = 0xC0  # the first two bits of a byte of UTF-8 ...
CONTINUATION = 0x80  # ... if it does not begin a character


def describe_model(path: str) -> dict[str, Any]:
    """Read and check a whole file, as for predictions, and return its description."""
    classifier, head, arrays = read_classifier(path)
    n_ngrams = [int((arrays[f"features_{part}"] >= 0).sum()) for part in range(head["parts"])]
    parameters = head["parameters"] | head["settings"]
    n_corrected, n_random = len(head["corrected"]), len(head["random"])
    return {
        "path": path,
        "class": type(classifier).__name__,
        "bytes": os.path.getsize(path),
        "saved": head["saved"][:40],
        "format_version": head["format_version"],
        "versions": {name[:40]: value[:40] for name, value in head["versions"].items()},
        "classes": classifier.classes_.tolist(),
        "n_source": int((classifier.labeled_iter_ == 0).sum()) - n_corrected,
        "n_corrected": n_corrected + n_random,
        "n_target": len(classifier.transduction_) - n_corrected - n_random,
        "n_texts": len(arrays["text_ends"]) if head["texts"] else 0,
        "n_characters": _count_characters(arrays["text_bytes"]) if head["texts"] else 0,
        "n_rows": len(arrays["rows"]) if "rows" in arrays else None,
        "n_ngrams": sum(n_ngrams) if n_ngrams else None,
        "encoder": head["encoder"],
        "rounds": [
            step | {name: with_string_keys(step[name]) for name in ("added", "labels")}
            for step in classifier.history_
        ],
        "parameters": {
            name: value for name, value in parameters.items() if name not in OF_THE_MACHINE
        },
        "safe": SAFE,
    }


def _count_characters(utf8: NDArray[Any]) -> int:
    return int(((utf8 & CONTINUATION_BITS) != CONTINUATION).sum())


def in_words(found: dict[str, Any]) -> list[Line]:
    """Return the description as lines for a terminal."""
    names = [visible(str(one)) for one in found["classes"]]
    classes = ", ".join(names[:MAX_CLASSES])
    if len(names) > MAX_CLASSES:
        classes += f" and {len(names) - MAX_CLASSES} more"
    versions = ", ".join(f"{name} {value}" for name, value in found["versions"].items())
    corrected = f", {found['n_corrected']} corrected" if found["n_corrected"] else ""
    lines = {
        "file": f"{visible(found['path'])}, {size_in_words(found['bytes'])}, "
        f"format {found['format_version']}",
        "saved": visible(found["saved"]),
        "made with": visible(versions),
        "classes": classes,
        "class": found["class"],
        "learnt from": f"{found['n_source']} source, {found['n_target']} target"
        f"{corrected} documents",
        "holds": _contents_in_words(found),
        **_encoder_in_words(found["encoder"]),
        "safe to open": found["safe"],
    }
    for number, step in enumerate(found["rounds"], start=1):
        n_added = sum(step["added"].values())
        added = f"{n_added} pseudo-labels, " if n_added else ""
        labels = visible(counts_in_words(step["labels"], MAX_CLASSES))
        lines[f"round {number}"] = f"{added}{labels}"
    parameters = {name: str(value) for name, value in found["parameters"].items()}
    return [
        Line("Model", "bold"),
        *_in_columns(lines),
        Line(""),
        Line("Parameters", "bold"),
        *_in_columns(parameters),
    ]


def _encoder_in_words(encoder: dict[str, Any] | None) -> dict[str, str]:
    if encoder is None:
        return {}
    shares = f"{encoder['width']} numbers for each text, {encoder['share']:.1%} of the kernel"
    return {"encoder": f"{visible(encoder['name'])}: {shares}; it is not in the file"}


def _contents_in_words(found: dict[str, Any]) -> str:
    if found["n_rows"] is not None:
        return f"{found['n_rows']} rows of numbers, those of all documents of the fit, and no texts"
    texts = "no texts"
    if found["n_texts"]:
        texts = (
            f"all {found['n_texts']} texts of the fit, {found['n_characters']} characters: treat "
            "it as you treat these"
        )
    if found["n_ngrams"] is None:
        return texts
    return f"{found['n_ngrams']} n-grams that documents share, and {texts}"


def _in_columns(values: dict[str, str]) -> list[Line]:
    width = max(map(len, values), default=0)
    return [Line(f"{name.ljust(width)}  {value}", indent=2) for name, value in values.items()]
