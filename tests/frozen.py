"""Results that a refactoring must not change: ``python tests/frozen.py record FILE``, and later
``check FILE``.

The demo corpus and two pairs of reviews: labels, scores, probabilities, class proportions, expected
accuracy and explanations
of the default, labels and scores of the paper's stages and of the systems in its tables.
With ``--reproduce`` also the
results of ``gramshift reproduce``.
"""

import csv
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from gramshift import TransductiveClassifier
from gramshift.datasets.demo import load_demo
from gramshift.datasets.reviews import load_sentiment
from gramshift.methods import METHODS

DATA = Path(__file__).parents[2] / "shared" / "data" / "sorted_data_acl"
STAGES = ["plain", "adapted", "tkc"]
SYSTEMS = ["kda", "kda-intersection", "sfa", "coral", "tr-tradaboost", "dci", "sst", "ke-meta"]
PAIRS = ["B-D", "E-K"]
N_SYSTEM_DOCUMENTS = 600  # of each domain, for the slower systems
N_EXPLAINED = 5


def read_pairs():
    """Return source texts, source labels and target texts by name."""
    source, target = load_demo("kitchen"), load_demo("films")
    pairs = {"demo": (source.texts, source.labels, target.texts)}
    domains = load_sentiment(DATA).domains
    for name in PAIRS:
        source, target = (domains[letter] for letter in name.split("-"))
        pairs[name] = (source.texts("text"), source.codes, target.texts("text"))
    return pairs


def describe_best(source, labels, target):
    """Return what the default says of a target."""
    clf = TransductiveClassifier().fit(source, labels, target=target)
    explained = [clf.explain(text) for text in target[:N_EXPLAINED]]
    return {
        "labels": clf.transduction_.tolist(),
        "unadapted": clf.unadapted_transduction_.tolist(),
        "scores": clf.transduction_score_.tolist(),
        "probabilities": clf.transduction_proba_.tolist(),
        "class_prior": clf.class_prior_,
        "expected": clf.expected_accuracy_,
        "explained": [[vars(span) for span in [*one.spans, *one.words]] for one in explained],
        "predicted": clf.predict_proba(source[:50]).tolist(),
    }


def describe_system(name, source, labels, target):
    """Return labels and scores of one of the other systems."""
    clf = METHODS[name].make().fit(source, labels, target=target)
    return {
        "labels": clf.transduction_.tolist(),
        "scores": np.asarray(clf.transduction_score_).tolist(),
    }


def plain(value):
    """Return a value of NumPy, or one of our records, as JSON has it."""
    return (
        value.tolist()
        if hasattr(value, "tolist")
        else vars(value)
        if hasattr(value, "__dict__")
        else str(value)
    )


def collect():
    """Return all results by name."""
    found = {}
    for pair, (source, labels, target) in read_pairs().items():
        found[f"{pair} best"] = describe_best(source, labels, target)
        for name in STAGES:
            found[f"{pair} {name}"] = describe_system(name, source, labels, target)
        some = np.random.default_rng(0).permutation(len(source))[:N_SYSTEM_DOCUMENTS]
        for name in SYSTEMS:
            chosen = (
                [source[i] for i in some],
                [labels[i] for i in some],
                target[:N_SYSTEM_DOCUMENTS],
            )
            found[f"{pair} {name}"] = describe_system(name, *chosen)
        print(pair, file=sys.stderr)
    return json.loads(json.dumps(found, default=plain))


def reproduce():
    """Return accuracy by method and setting."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-c",
            "from gramshift.commands.entry import run; run()",
            "reproduce",
            "--data",
            DATA,
            "--output",
            folder,
        ]
        subprocess.run(command, check=True)
        with open(Path(folder) / "results.csv", newline="") as file:
            return [
                {k: v for k, v in row.items() if k in ("method", "setting", "accuracy")}
                for row in csv.DictReader(file)
            ]


def compare(kept, found, path=""):
    """Return where two results differ: numbers by more than 1e-9 of the larger, anything else at
    all.
    """
    if isinstance(kept, float) and isinstance(found, float | int):
        return (
            []
            if abs(kept - found) <= 1e-9 * max(1.0, abs(kept))
            else [f"{path}: {kept} is now {found}"]
        )
    if isinstance(kept, dict) and isinstance(found, dict):
        missing = [f"{path}/{key}: missing" for key in kept if key not in found]
        return missing + [
            line
            for key in kept
            if key in found
            for line in compare(kept[key], found[key], f"{path}/{key}")
        ]
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        return [
            line
            for i, both in enumerate(zip(kept, found, strict=True))
            for line in compare(*both, f"{path}/{i}")
        ]
    return [] if kept == found else [f"{path}: {kept} is now {found}"]


def main(action, file, *options):
    """Record the results in a file, or check that they are those of the file."""
    warnings.simplefilter("ignore")
    found = collect()
    if "--reproduce" in options:
        found["reproduce"] = reproduce()
    if action == "record":
        Path(file).write_text(json.dumps(found))
        return 0
    kept = json.loads(Path(file).read_text())
    if "--reproduce" not in options:
        kept.pop("reproduce", None)
    differences = compare(kept, found)
    print("\n".join(differences[:20]) if differences else f"unchanged: {len(kept)} results")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
