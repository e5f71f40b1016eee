"""Where the preset "best" does harm: a matrix of languages, sizes and class proportions.

Compares plain, the paper's method, best, tf-idf and tf-idf with balanced self-training, all on
development data. Labels of a target are used for scoring and for the ceiling only.
"""

import json
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.corpus import CorpusError, Texts
from bench.machine import machine_lines, say, timed
from bench.rivals import RIVALS, learn_own_labels
from bench.robust_cells import (
    Cell,
    Labelled,
    Sets,
    load_demo_sets,
    load_sets,
    make_cells,
    make_demo_cells,
)
from gramshift.evaluate.scoring import SIGNIFICANCE_LEVEL, calibration_error, mcnemar
from gramshift.methods import METHODS
from gramshift.model.settings import PRESETS

LABELS = "labels"
"""The part that fits with some random labels of the target."""
MIN_OWN, MIN_OWN_DEMO = 1000, 100  # target documents for the ceiling
MIN_LABELS, MIN_LABELS_DEMO = 500, 60  # target documents for the part with random labels
BEST, UNADAPTED, OWN_LABELS = "best", "unadapted", "own labels"
NAMES = ("plain", "paper", *RIVALS, BEST)
MIN_PAPER_TARGET = 2000  # documents; the 1000 pseudo-labels of the paper need a larger target
PAPER_ADDED = 0.5  # share of a smaller target that gets pseudo-labels
EXPECTED = ("value", "low", "high")
N_DIGITS = 5  # of a confidence
PRIORS = ("source", "true")
MAX_PRIOR_DOCUMENTS = 2000  # for fits of best with the proportions of PRIORS
N_LABELS = (0, 25, 50, 100)
SEEDS = 3

Row = dict[str, Any]
Draw = tuple[Labelled, Labelled]
Draws = Sequence[Draw]


def run(
    texts: Texts,
    *,
    smoke: bool,
    repeat: int,
    only: Sequence[str] | None = None,
    rivals: str | None = None,
) -> dict[str, Any]:
    """Run the matrix and the part with random labels, or some families.

    Families alone leave out the part; the part alone uses cells of all families.
    """
    if smoke and only:
        raise CorpusError(
            "--only names families of the development data, which --smoke does not have; "
            "leave one out"
        )
    cells, sets = (
        (make_demo_cells(), load_demo_sets()) if smoke else (make_cells(only), load_sets())
    )
    own_from, least = (MIN_OWN_DEMO, MIN_LABELS_DEMO) if smoke else (MIN_OWN, MIN_LABELS)
    kept, failed, answers = RivalAnswers(rivals), dict[str, str](), dict[str, Found]()

    def measure_cell(cell: Cell) -> Row:
        answers[cell.name] = ask_all(cell, sets, kept, own_from=own_from)
        return measure(cell, answers[cell.name])

    rows = run_each(cells, measure_cell, "row", failed)
    result: Row = {"best": PRESETS["best"], "failed": failed, "rows": rows, "reused": kept.n_reused}
    if only is None or LABELS in only:
        result[LABELS] = run_each(
            choose(cells or make_cells(), least), partial(try_labels, sets=sets), LABELS, failed
        )
    return result | {"summary": summarise(rows, answers) if rows else None}


def run_each(
    cells: Sequence[Cell], work: Callable[[Cell], Row], name: str, failed: dict[str, str]
) -> list[Row]:
    """Return the row of each cell; the error of a cell that fails goes to ``failed``."""
    rows = []
    for i, cell in enumerate(cells, start=1):
        try:
            rows.append(work(cell))
        except (
            Exception
        ) as error:  # the other cells, which may take hours, are measured all the same
            traceback.print_exc()
            failed[f"{name}, {cell.name}"] = f"{type(error).__name__}: {error}"
        else:
            say(f"{name} {i} of {len(cells)}: {json.dumps(rows[-1])}")
    return rows


@dataclass(frozen=True)
class Answers:
    """Right labels and confidence of the target documents, and the seconds of all fits."""

    right: Any
    confidence: Any
    seconds: float
    diagnostics: list[dict[str, Any]] = field(default_factory=list)
    """Diagnostics of best for each draw; not kept in the file."""

    @property
    def accuracy(self) -> float:
        """Return the share of right labels in percent."""
        return 100 * float(np.mean(self.right))


Found = Mapping[str, Answers]


class RivalAnswers:
    """Answers in a JSON file by cell and method, reused while the documents stay the same.

    Answers of other code are reused too: delete the file if plain, paper or a rival was changed.
    """

    def __init__(self, path: str | None) -> None:
        self.path = None if path is None else Path(path)
        self.n_reused = 0
        self._entries = self._read()

    def ask(
        self, cell: str, method: str, documents: str, make: Callable[[], Answers | None]
    ) -> Answers | None:
        """Return kept answers, else new ones, which are then kept; None if there are none."""
        key = f"{cell} | {method}"
        entry = self._entries.get(key)
        if entry is None or entry["documents"] != documents:
            entry = {"documents": documents} | pack(make())
            self._entries[key] = entry
            self._write(key)
        else:
            self.n_reused += 1
        return unpack(entry)

    def _read(self) -> dict[str, Any]:
        if self.path is None or not self.path.exists():
            return {}
        try:
            entries = json.loads(self.path.read_text("utf-8"))
            assert all(entry.keys() >= {"documents", "right"} for entry in entries.values())
        except (OSError, ValueError, AttributeError, TypeError, AssertionError):
            raise CorpusError(
                f"--rivals {self.path}: robust has not written this file; name another one"
            ) from None
        return dict(entries)

    def _write(self, key: str) -> None:
        """Add an entry to the file, which a killed run leaves whole."""
        if self.path is not None:
            entries = self._read() | {key: self._entries[key]}
            part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
            part.write_text(json.dumps(entries), "utf-8")
            part.replace(self.path)


def pack(answers: Answers | None) -> dict[str, Any]:
    """Make an entry of the file."""
    if answers is None:
        return {"right": None}
    right = "".join("01"[int(one)] for one in answers.right)
    confidence = None if answers.confidence is None else answers.confidence.tolist()
    return {
        "accuracy": answers.accuracy,
        "right": right,
        "confidence": confidence,
        "seconds": answers.seconds,
    }


def unpack(entry: dict[str, Any]) -> Answers | None:
    """Read the answers of an entry."""
    if entry["right"] is None:
        return None
    right = np.array([one == "1" for one in entry["right"]])
    confidence = None if entry["confidence"] is None else np.array(entry["confidence"])
    return Answers(right, confidence, entry["seconds"])


def ask_all(cell: Cell, sets: Sets, kept: RivalAnswers, *, own_from: int) -> dict[str, Answers]:
    """Return the answers of all methods, and the ceiling for a target of ``own_from`` documents."""
    draws = [cell.draw(sets, repeat) for repeat in range(cell.repeats)]
    documents = fingerprint(draws)
    found: dict[str, Answers] = {}
    for name in NAMES:
        fresh = partial(ask, name, draws)
        answers = fresh() if name == BEST else kept.ask(cell.name, name, documents, fresh)
        assert answers is not None, "every method labels"
        say(f"{cell.name}, {name}: {answers.accuracy:.1f} ({answers.seconds:.0f} s)")
        found[name] = answers
    if len(draws[0][1][0]) >= own_from:
        own = kept.ask(cell.name, OWN_LABELS, documents, partial(ask_own_labels, *draws[0][1]))
        found |= {} if own is None else {OWN_LABELS: own}
    return found


def fingerprint(draws: Draws) -> str:
    """Return a digest of the documents and labels of all draws."""
    parts = [(texts, labels.tolist()) for draw in draws for texts, labels in draw]
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def ask(name: str, draws: Draws) -> Answers:
    """Fit a method on every draw, without true labels of the target."""
    right, confidence, diagnostics = [], [], []
    seconds = 0.0
    for i, ((X, y), (target, truth)) in enumerate(draws):
        took, classifier = timed(partial(make(name, len(target)).fit, X, y, target=target))
        seconds += took
        right.append(np.asarray(classifier.transduction_) == truth)
        confidence.append(np.round(classifier.transduction_proba_.max(axis=1), N_DIGITS))
        if name == BEST:
            diagnostics.append(diagnose(classifier, truth))
            if i == 0 and max(len(X), len(target)) <= MAX_PRIOR_DOCUMENTS:
                diagnostics[-1]["right"] |= refit(draws[i])
    return Answers(
        np.concatenate(right), np.concatenate(confidence), round(seconds, 2), diagnostics
    )


def make(name: str, n_target: int) -> Any:
    """Make an unfitted method, by its name in the tables."""
    if name in RIVALS:
        return RIVALS[name]()
    if name == "paper":
        return METHODS["tkc"].make(
            **({"n_added": PAPER_ADDED} if n_target < MIN_PAPER_TARGET else {})
        )
    return METHODS[name].make()


def ask_own_labels(texts: list[str], labels: Any) -> Answers | None:
    """Return the ceiling: cross-validation on the target's own labels, which no method gets."""
    seconds, right = timed(lambda: learn_own_labels(texts, labels))
    return None if right is None else Answers(right, None, round(seconds, 2))


def refit(draw: Draw) -> dict[str, Any]:
    """Return right labels of best with the source's and with the true class proportions."""
    (_, y), (_, truth) = draw
    priors: dict[str, Any] = {"source": "source", "true": true_prior(y, truth)}
    return {name: label(draw, class_prior=prior) == truth for name, prior in priors.items()}


def label(draw: Draw, random_labels: Sequence[str | None] | None = None, **options: Any) -> Any:
    """Fit best, and return the label of each target document."""
    (X, y), (target, _) = draw
    more = {} if random_labels is None else {"random_labels": random_labels}
    return np.asarray(METHODS[BEST].make(**options).fit(X, y, target=target, **more).transduction_)


def true_prior(y: Any, truth: Any) -> dict[str, float]:
    """Return the proportions of the source's classes in the target."""
    return {name: float(np.mean(truth == name)) for name in np.unique(y).tolist()}


def diagnose(classifier: Any, truth: Any) -> dict[str, Any]:
    """Return the diagnostics of best, with the true values."""
    found: dict[str, Any] = {
        "accuracy": 100 * float(np.mean(np.asarray(classifier.transduction_) == truth)),
        "right": {},
    }
    names = ("expected_accuracy_", "class_prior_", "unadapted_transduction_")
    expected, prior, unadapted = (getattr(classifier, name, None) for name in names)
    if expected is not None and expected["value"] is not None:
        found["expected"] = {name: 100 * float(expected[name]) for name in EXPECTED}
    if prior is not None:
        found["class_prior"] = prior | {"true": true_prior(truth, truth)}
    if unadapted is not None:
        found["right"][UNADAPTED] = np.asarray(unadapted) == truth
    return found


def choose(cells: Sequence[Cell], least: int) -> list[Cell]:
    """Return up to two cells of each family: of equal sizes and of changed proportions.

    Targets have ``least`` documents or more.
    """
    chosen = []
    for family in dict.fromkeys(cell.family for cell in cells):
        large = [
            cell
            for cell in cells
            if cell.family == family and cell.n_target is not None and cell.n_target >= least
        ]
        usual = [cell for cell in large if not cell.words and cell.n_source == cell.n_target]
        changed = [cell for cell in large if cell.words]
        chosen += [*usual[:1], *changed, *usual[1:]][:2]
    return chosen


def try_labels(cell: Cell, sets: Sets) -> dict[str, Any]:
    """Return accuracy with random labels, averaged over draws, and with true proportions."""
    draw = cell.draw(sets, 0)
    (_, y), (_, truth) = draw
    found = {
        str(n): float(
            np.mean([score_unlabelled(draw, n, seed) for seed in range(SEEDS if n else 1)])
        )
        for n in N_LABELS
        if n < len(truth)
    }
    true = 100 * float(np.mean(label(draw, class_prior=true_prior(y, truth)) == truth))
    return {"cell": cell.name, "family": cell.family, "accuracy": found, "true": true}


def score_unlabelled(draw: Draw, n: int, seed: int) -> float:
    """Fit with the labels of n random target documents; the accuracy of all others in percent."""
    truth = draw[1][1]
    order = np.random.default_rng(seed).permutation(
        len(truth)
    )  # nested: 25 labels are among the 50
    known: list[str | None] = [None] * len(truth)
    for row in order[:n]:
        known[row] = str(truth[row])
    found = label(draw, random_labels=known if n else None)
    return 100 * float(np.mean((found == truth)[order[n:]]))


def measure(cell: Cell, found: Found) -> Row:
    """Return the figures of a cell, and tests of best against others."""
    best = found[BEST]
    rival = max(RIVALS, key=lambda name: found[name].accuracy)
    own = found.get(OWN_LABELS)
    row: Row = {
        "cell": cell.name,
        "family": cell.family,
        "draws": cell.repeats,
        "documents": len(best.right),
    }
    row |= {"n_source": cell.n_source, "n_target": cell.n_target}
    row |= {"methods": {name: measure_method(found[name]) for name in NAMES}, "rival": rival}
    row |= {OWN_LABELS: None if own is None else own.accuracy}
    row["p"] = {
        "plain": mcnemar(best.right, found["plain"].right),
        "rival": mcnemar(best.right, found[rival].right),
    }
    return row | measure_diagnostics(best, row["p"])


def measure_method(answers: Answers) -> Row:
    """Return accuracy and mean confidence in percent, calibration error and AUC."""
    found = {
        "accuracy": answers.accuracy,
        "ece": calibration_error(answers.right, answers.confidence),
        "auc": area(answers.right, answers.confidence),
        "confidence": 100 * float(np.mean(answers.confidence)),
        "seconds": answers.seconds,
    }
    return {name: None if value is None else round(value, 4) for name, value in found.items()}


def measure_diagnostics(best: Answers, p: Row) -> Row:
    """Return figures of the diagnostics of best, and a test against its unadapted labels."""
    row: Row = {"expected": None, UNADAPTED: None}
    if all("expected" in one for one in best.diagnostics):
        row["expected"] = {
            name: mean_of(one["expected"][name] for one in best.diagnostics) for name in EXPECTED
        }
    if all(UNADAPTED in one["right"] for one in best.diagnostics):
        unadapted = np.concatenate([one["right"][UNADAPTED] for one in best.diagnostics])
        row[UNADAPTED] = 100 * float(np.mean(unadapted))
        p[UNADAPTED] = mcnemar(best.right, unadapted)
    row["diagnostics"] = [
        one | {"right": {name: 100 * float(np.mean(right)) for name, right in one["right"].items()}}
        for one in best.diagnostics
    ]
    first = row["diagnostics"][0]
    return row | {
        "priors": {
            name: first["right"][name] - first["accuracy"]
            for name in PRIORS
            if name in first["right"]
        }
    }


def area(right: Any, confidence: Any) -> float | None:
    """Return the AUC of confidence against right or wrong; None if all labels are either."""
    return None if len(np.unique(right)) < 2 else float(roc_auc_score(right, confidence))


def summarise(rows: Sequence[Row], answers: Mapping[str, Found]) -> Row:
    """Sum up every family and all cells."""
    families = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        several = [row for row in rows if row["family"] == family]
        families[family] = summarise_family(several, [answers[row["cell"]] for row in several])
    others = [
        other for other in ("plain", UNADAPTED, "rival") if all(other in row["p"] for row in rows)
    ]
    deficits = {
        other: {row["cell"]: deficit(row, other) for row in rows if is_below(row, other)}
        for other in others
    }
    return {
        "cells": len(rows),
        "families": families,
        "below": {
            other: {
                "percent": 100 * len(cells) / len(rows),
                "largest": max(cells.values(), default=0.0),
                "cells": cells,
            }
            for other, cells in deficits.items()
        },
        "ece": mean_of(row["methods"][BEST]["ece"] for row in rows),
    }


def summarise_family(rows: Sequence[Row], found: Sequence[Found]) -> Row:
    """Return means over the cells of a family."""
    means = {name: mean_of(accuracy(row, name) for row in rows) for name in NAMES}
    rival = max(RIVALS, key=lambda name: means[name])
    with_own = [row for row in rows if row[OWN_LABELS] is not None]
    own = mean_of(row[OWN_LABELS] for row in with_own) if with_own else None
    several = {
        name: [row["priors"][name] for row in rows if name in row["priors"]] for name in PRIORS
    }
    return {
        "cells": len(rows),
        "means": means,
        OWN_LABELS: own,
        "rival": rival,
        "above_rival": means[BEST] - means[rival],
        "rival_below_own": None
        if own is None
        else own - mean_of(accuracy(row, rival) for row in with_own),
        "ece": {name: mean_of(row["methods"][name]["ece"] for row in rows) for name in NAMES},
        "auc": {
            name: area(*(pool(found, name, part) for part in ("right", "confidence")))
            for name in NAMES
        },
        "priors": {name: mean_of(gains) if gains else None for name, gains in several.items()},
        "interval": summarise_interval(
            [one for row in rows for one in row["diagnostics"] if "expected" in one]
        ),
    }


def summarise_interval(draws: Sequence[Row]) -> Row:
    """Return how often the interval of the expected accuracy covers the true one."""
    if not draws:
        return {"draws": 0, "covered_percent": None, "too_high": None}
    inside = [one["expected"]["low"] <= one["accuracy"] <= one["expected"]["high"] for one in draws]
    too_high = mean_of(one["expected"]["value"] - one["accuracy"] for one in draws)
    return {"draws": len(draws), "covered_percent": 100 * mean_of(inside), "too_high": too_high}


def accuracy(row: Row, name: str) -> float:
    """Return the accuracy of a method in a cell."""
    return float(row["methods"][name]["accuracy"])


def is_below(row: Row, other: str) -> bool:
    """Return True if best is significantly worse than another method in a cell."""
    return other in row["p"] and deficit(row, other) > 0 and row["p"][other] < SIGNIFICANCE_LEVEL


def deficit(row: Row, other: str) -> float:
    """Return the accuracy of another method minus that of best."""
    theirs = (
        row[UNADAPTED]
        if other == UNADAPTED
        else accuracy(row, row["rival"] if other == "rival" else other)
    )
    return float(theirs - accuracy(row, BEST))


def mean_of(values: Any) -> float:
    """Return the mean of an iterable of numbers."""
    return float(np.mean(list(values)))


def pool(found: Sequence[Found], name: str, part: str) -> Any:
    """Join the answers of all cells of a family in one array."""
    return np.concatenate([getattr(answers[name], part) for answers in found])


MARKS = {"plain": "p", "rival": "r", UNADAPTED: "u"}
PRIOR_COLUMNS = [f"{name} prior" for name in PRIORS]


def show(result: dict[str, Any]) -> str:
    """Show families, every cell and the part with random labels."""
    summary = result["summary"]
    failed = [f"failed   {name}: {words}" for name, words in result["failed"].items()]
    parts = [machine_lines(result)]
    if result["reused"]:
        parts.append(
            f"{result['reused']} answers of other methods than best were kept from an earlier run"
        )
    if summary is not None:
        parts += [show_families(summary), show_cells(result["rows"]), show_all(summary)]
    parts += [show_labels(result[LABELS])] if LABELS in result else []
    return "\n\n".join([*parts, *failed])


def show_families(summary: Row) -> str:
    """Show mean accuracies of families, and the quality of confidence and interval."""
    columns = (
        "cells",
        *NAMES,
        OWN_LABELS,
        "best - rival",
        *PRIOR_COLUMNS,
        "ECE",
        "AUC",
        "covered %",
        "draws",
        "too high",
    )
    lines = []
    for name, family in summary["families"].items():
        means = [points(family["means"][one]) for one in NAMES]
        gains = [signed(family["above_rival"]), *(signed(family["priors"][one]) for one in PRIORS)]
        interval = family["interval"]
        held = [
            points(interval["covered_percent"]),
            str(interval["draws"]),
            signed(interval["too_high"]),
        ]
        sure = [part(family["ece"][BEST]), part(family["auc"][BEST]), *held]
        lines.append(
            [name, str(family["cells"]), *means, points(family[OWN_LABELS]), *gains, *sure]
        )
    return markdown("family", columns, lines)


def show_cells(rows: Sequence[Row]) -> str:
    """Show accuracies of every cell; letters mark methods that are significantly better."""
    others = (UNADAPTED, OWN_LABELS, "below", *PRIOR_COLUMNS)
    columns = ("answers", *NAMES, *others, "expected", "confidence", "ECE", "AUC", "seconds")
    lines = []
    for row in rows:
        best = row["methods"][BEST]
        below = "".join(mark for other, mark in MARKS.items() if is_below(row, other))
        figures = [points(accuracy(row, name)) for name in NAMES]
        sure = [
            show_expected(row["expected"]),
            points(best["confidence"]),
            part(best["ece"]),
            part(best["auc"]),
        ]
        gains = [signed(row["priors"].get(one)) for one in PRIORS]
        more = [points(row[UNADAPTED]), points(row[OWN_LABELS]), below or "-", *gains]
        lines.append(
            [row["cell"], str(row["documents"]), *figures, *more, *sure, f"{best['seconds']:.1f}"]
        )
    marks = ", ".join(f"{mark}: {other}" for other, mark in MARKS.items())
    words = "source and true prior: points that best gains with these class proportions, first draw"
    return f"{markdown('cell', columns, lines)}\n\nsignificantly below (0.01) {marks}; {words}"


def show_all(summary: Row) -> str:
    """Show in how many cells best is significantly below others."""
    lines = [
        f"significantly below {other}: {one['percent']:.1f} % of the cells, "
        f"by {one['largest']:.1f} points at most"
        for other, one in summary["below"].items()
    ]
    return "\n".join(lines)


def show_labels(rows: Sequence[Row]) -> str:
    """Show the accuracy of documents that were not labelled, by the number of random labels."""
    columns = (*map(str, N_LABELS), "true proportions")
    lines = [
        [row["cell"], *(points(row["accuracy"].get(str(n))) for n in N_LABELS), points(row["true"])]
        for row in rows
    ]
    return markdown("accuracy with random labels", columns, lines)


def show_expected(expected: Row | None) -> str:
    """Format an accuracy and its interval."""
    return "-" if expected is None else "{value:.1f} ({low:.0f}-{high:.0f})".format(**expected)


def signed(value: float | None) -> str:
    """Format a difference in points."""
    return "-" if value is None else f"{value:+.1f}"


def points(value: float | None) -> str:
    """Format a percentage."""
    return "-" if value is None else f"{value:.1f}"


def part(value: float | None) -> str:
    """Format a part of one."""
    return "-" if value is None else f"{value:.3f}"


def markdown(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns between bars, figures to the right."""
    cells = [[title, *columns], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *rest in cells:
        figures = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        lines.append(" | ".join([f"| {first.ljust(widths[0])}", *figures]) + " |")
    ruler = "|".join(
        ["", "-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:]), ""]
    )
    return "\n".join([lines[0], ruler, *lines[1:]])
