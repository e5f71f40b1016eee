"""What the benchmark robust makes of answers: figures of a cell, of a family and of all, and whether the goals are reached."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.linear_goals import Goal, at_least, at_most
from bench.robust_answers import BEST, EXPECTED, NAMES, OWN_LABELS, Answers
from bench.robust_cells import Cell
from bench.robust_rivals import RIVALS
from gramshift.evaluate.scoring import LEVEL, calibration_error, mcnemar

Row = dict[str, Any]
Found = Mapping[str, Answers]
FIRST_ROUND = "first round"
BELOW_PLAIN, BELOW_RIVAL = 2, 5  # % of the cells
ABOVE, NEAR = 2, 3  # points
ECE, AUC = 0.08, 0.6
WITHIN, WITHIN_SHARE = 5, 80  # points, and % of the cells


def measure(cell: Cell, found: Found) -> Row:
    """A row: what the methods reach in one cell, and how sure it is that best differs from others."""
    best = found[BEST]
    rival = max(RIVALS, key=lambda name: found[name].accuracy)
    own = found.get(OWN_LABELS)
    row: Row = {"cell": cell.name, "family": cell.family, "draws": cell.repeats, "documents": len(best.right)}
    row |= {"methods": {name: measure_method(found[name]) for name in NAMES}, "rival": rival}
    row |= {OWN_LABELS: None if own is None else own.accuracy}
    row["p"] = {"plain": mcnemar(best.right, found["plain"].right), "rival": mcnemar(best.right, found[rival].right)}
    return row | measure_told(best, row["p"])


def measure_method(answers: Answers) -> Row:
    """Accuracy and mean confidence in percent, the expected calibration error, and what confidence tells of right and wrong."""
    found = {
        "accuracy": answers.accuracy,
        "ece": calibration_error(answers.right, answers.confidence),
        "auc": area(answers.right, answers.confidence),
        "confidence": 100 * float(np.mean(answers.confidence)),
        "seconds": answers.seconds,
    }
    return {name: None if value is None else round(value, 4) for name, value in found.items()}


def measure_told(best: Answers, p: Row) -> Row:
    """What best tells of itself, the mean of all draws; its first round goes among the tests too."""
    row: Row = {"expected": None, "shares": None, FIRST_ROUND: None}
    if all("expected" in told for told in best.told):
        row["expected"] = {name: mean_of(told["expected"][name] for told in best.told) for name in EXPECTED}
    if all("shares" in told for told in best.told):
        row["shares"] = [told["shares"] for told in best.told]
    if all("first_right" in told for told in best.told):
        first = np.concatenate([told["first_right"] for told in best.told])
        row[FIRST_ROUND] = 100 * float(np.mean(first))
        p[FIRST_ROUND] = mcnemar(best.right, first)
    return row


def area(right: Any, confidence: Any) -> float | None:
    """The area under the curve of confidence against right or wrong; None if all answers are either."""
    return None if len(np.unique(right)) < 2 else float(roc_auc_score(right, confidence))


def summarise(rows: Sequence[Row], answers: Mapping[str, Found]) -> Row:
    """Figures of every family, and of all cells; one without an expected accuracy counts as not within reach of it."""
    families = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        several = [row for row in rows if row["family"] == family]
        families[family] = summarise_family(several, [answers[row["cell"]] for row in several])
    others = [other for other in ("plain", FIRST_ROUND, "rival") if all(other in row["p"] for row in rows)]
    below = {other: [row["cell"] for row in rows if is_below(row, other)] for other in others}
    off = {row["cell"]: row["expected"]["value"] - accuracy(row, BEST) for row in rows if row["expected"] is not None}
    return {
        "cells": len(rows),
        "families": families,
        "below": {other: {"percent": 100 * len(cells) / len(rows), "cells": cells} for other, cells in below.items()},
        "ece": mean_of(row["methods"][BEST]["ece"] for row in rows),
        "expected": {
            "cells": len(off),
            "within_percent": 100 * sum(abs(one) <= WITHIN for one in off.values()) / len(rows) if off else None,
            "off": off,
        },
    }


def summarise_family(rows: Sequence[Row], found: Sequence[Found]) -> Row:
    """Means over its cells; the ceiling and what the rival is below it over those that have a ceiling."""
    means = {name: mean_of(accuracy(row, name) for row in rows) for name in NAMES}
    rival = max(RIVALS, key=lambda name: means[name])
    with_own = [row for row in rows if row[OWN_LABELS] is not None]
    own = mean_of(row[OWN_LABELS] for row in with_own) if with_own else None
    return {
        "cells": len(rows),
        "means": means,
        OWN_LABELS: own,
        "rival": rival,
        "above_rival": means[BEST] - means[rival],
        "rival_below_own": None if own is None else own - mean_of(accuracy(row, rival) for row in with_own),
        "ece": {name: mean_of(row["methods"][name]["ece"] for row in rows) for name in NAMES},
        "auc": {name: area(*(pool(found, name, part) for part in ("right", "confidence"))) for name in NAMES},
    }


def accuracy(row: Row, name: str) -> float:
    """Of a method in a cell."""
    return float(row["methods"][name]["accuracy"])


def is_below(row: Row, other: str) -> bool:
    """Whether best is significantly worse than plain, its own first round, or the stronger rival of the cell."""
    name = row["rival"] if other == "rival" else other
    theirs = row[FIRST_ROUND] if other == FIRST_ROUND else accuracy(row, name)
    return theirs is not None and accuracy(row, BEST) < theirs and row["p"][other] < LEVEL


def mean_of(values: Any) -> float:
    """The mean of numbers that may come one by one."""
    return float(np.mean(list(values)))


def pool(found: Sequence[Found], name: str, part: str) -> Any:
    """The answers of all cells of a family in one array."""
    return np.concatenate([getattr(answers[name], part) for answers in found])


def judge(summary: Row) -> list[Goal]:
    """All goals; what could not be measured is not judged, but an expected accuracy that nobody tells is missed."""
    below = summary["below"]
    goals = [
        at_most(below["plain"]["percent"], BELOW_PLAIN, "% of the cells significantly below plain"),
        at_most(below["rival"]["percent"], BELOW_RIVAL, "% of the cells significantly below the stronger rival"),
    ]
    goals += [judge_family(name, family) for name, family in summary["families"].items()]
    goals.append(at_most(summary["ece"], ECE, "calibration error in the mean"))
    areas = {name: family["auc"][BEST] for name, family in summary["families"].items()}
    goals += [at_least(one, AUC, f"area under the curve, {name}") for name, one in areas.items() if one is not None]
    words, within = f"% of the cells with the expected accuracy within {WITHIN} points", summary["expected"]["within_percent"]
    missed = {"value": None, "goal": f"at least {WITHIN_SHARE}", "reached": False, "words": f"{words}: none is told"}
    return [*goals, missed if within is None else at_least(within, WITHIN_SHARE, words)]


def judge_family(name: str, family: Row) -> Goal:
    """Well above the stronger rival, or not below it where it is nearly as good as the target's own labels."""
    gap = family["rival_below_own"]
    near = gap is not None and gap <= NEAR
    words = f"points above {family['rival']}, {name}"
    return at_least(family["above_rival"], 0 if near else ABOVE, f"{words} (near own labels)" if near else words)
