"""``gramshift info``: what is in a model file."""

import os
from typing import Any

from gramshift.methods import load_with_head
from gramshift.model.classifier import TransductiveClassifier
from gramshift.runtime.memory import human
from gramshift.text.terminal import visible

SAFE = "every checksum fits; nothing in the file is run when it is opened"


def describe_model(path: str) -> dict[str, Any]:
    """Tell what is in the file, which is read and checked as a whole, as it is for predictions."""
    classifier, head = load_with_head(path)
    is_own = isinstance(classifier, TransductiveClassifier)
    texts = _texts(classifier) if is_own else classifier._state.get("texts", [])
    n_source = int((classifier.labeled_iter_ == 0).sum())
    parameters = head["parameters"] | head.get("settings", {})
    return {
        "path": path,
        "class": type(classifier).__name__,
        "bytes": os.path.getsize(path),
        "saved": str(head.get("saved", "not recorded"))[:40],
        "format_version": head["format_version"],
        "versions": {str(name)[:40]: str(value)[:40] for name, value in dict(head.get("versions") or {}).items()},
        "classes": classifier.classes_.tolist(),
        "n_source": n_source,
        "n_target": len(classifier.transduction_),
        "n_texts": len(texts),
        "n_characters": sum(map(len, texts)),
        "rounds": [step | _by_name(step) for step in classifier.history_],
        "parameters": parameters,
        "safe": SAFE,
    }


def _texts(classifier: Any) -> list[str]:
    return list(classifier._fit.model.documents)


def in_words(found: dict[str, Any]) -> list[str]:
    """Tell for a terminal what was found."""
    classes = [visible(str(one)) for one in found["classes"]]
    shown = ", ".join(classes[:10]) + (f" and {len(classes) - 10} more" if len(classes) > 10 else "")
    versions = ", ".join(f"{name} {value}" for name, value in found["versions"].items())
    every = found["n_texts"] == found["n_source"] + found["n_target"]
    which = f"all {found['n_texts']} texts of the fit" if every else f"the texts of {found['n_texts']} landmarks"
    inside = f"{which}, {found['n_characters']} characters: treat it as you treat these"
    lines = {
        "file": f"{found['path']}, {human(found['bytes'])}, format {found['format_version']}",
        "saved": visible(found["saved"]),
        "made with": visible(versions),
        "classes": shown,
        "class": found["class"],
        "learnt from": f"{found['n_source']} source and {found['n_target']} target documents",
        "parameters": visible(", ".join(f"{name}={value}" for name, value in found["parameters"].items())),
        "holds": inside if found["n_texts"] else "no texts",
        "safe to open": found["safe"],
    }
    for number, step in enumerate(found["rounds"], start=1):
        added, counts = sum(step["added"].values()), step["labels"]
        joined = f"{added} target documents joined, " if added else ""
        labels = "" if counts is None else ", ".join(f"{count} {visible(name)}" for name, count in list(counts.items())[:10])
        lines[f"round {number}"] = f"{joined}{labels or 'labels not recorded'}"
    width = max(map(len, lines))
    return [f"{name.ljust(width)}  {words}" for name, words in lines.items()]


def _by_name(step: dict[str, dict[object, int] | None]) -> dict[str, dict[str, int] | None]:
    """Return the counts of a round by names: JSON has no keys but strings."""
    return {
        key: None if counts is None else {str(name): count for name, count in counts.items()}
        for key, counts in ((key, step[key]) for key in ("added", "labels"))
    }
