"""Figures of the benchmark robust for a cell, a family and all, goals, and tables that can be put into a Markdown page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.robust_answers import BEST, CHANGES, EXPECTED, N_LABELS, NAMES, OWN_LABELS, RIVALS, UNADAPTED, Answers
from bench.robust_cells import Cell
from bench.table import Goal, at_least, at_most, machine_lines
from gramshift.evaluate.scoring import LEVEL, calibration_error, mcnemar

Row = dict[str, Any]
Found = Mapping[str, Answers]
BELOW_UNADAPTED, BELOW_RIVAL = 1, 3  # % of the cells
LARGEST_DEFICIT = 5  # points below unadapted
ABOVE, NEAR = 2, 3  # points
ECE, AUC = 0.07, 0.6
COVERED = (85, 95)  # % of the draws
N_RANDOM, BELOW_TRUE = 50, 3  # labels, and points
LEAST_ACCURACY = {"video skew": 85}
PRIORS = ("source", "true")


def measure(cell: Cell, found: Found) -> Row:
    """Make a row: what the methods reach in one cell, and how sure it is that best differs from others."""
    best = found[BEST]
    rival = max(RIVALS, key=lambda name: found[name].accuracy)
    own = found.get(OWN_LABELS)
    row: Row = {"cell": cell.name, "family": cell.family, "draws": cell.repeats, "documents": len(best.right)}
    row |= {"methods": {name: measure_method(found[name]) for name in NAMES}, "rival": rival}
    row |= {OWN_LABELS: None if own is None else own.accuracy}
    row["p"] = {"plain": mcnemar(best.right, found["plain"].right), "rival": mcnemar(best.right, found[rival].right)}
    return row | measure_told(best, row["p"])


def measure_method(answers: Answers) -> Row:
    """Measure accuracy and mean confidence in percent, calibration error, and what confidence tells of right and wrong."""
    found = {
        "accuracy": answers.accuracy,
        "ece": calibration_error(answers.right, answers.confidence),
        "auc": area(answers.right, answers.confidence),
        "confidence": 100 * float(np.mean(answers.confidence)),
        "seconds": answers.seconds,
    }
    return {name: None if value is None else round(value, 4) for name, value in found.items()}


def measure_told(best: Answers, p: Row) -> Row:
    """Reduce what best tells of itself, and its other fits, to figures; its unadapted labels go among the tests too."""
    row: Row = {"expected": None, UNADAPTED: None}
    if all("expected" in told for told in best.told):
        row["expected"] = {name: mean_of(told["expected"][name] for told in best.told) for name in EXPECTED}
    if all(UNADAPTED in told["right"] for told in best.told):
        unadapted = np.concatenate([told["right"][UNADAPTED] for told in best.told])
        row[UNADAPTED] = 100 * float(np.mean(unadapted))
        p[UNADAPTED] = mcnemar(best.right, unadapted)
    row["told"] = [
        told | {"right": {name: 100 * float(np.mean(right)) for name, right in told["right"].items()}} for told in best.told
    ]
    first = row["told"][0]
    return row | {"priors": {name: first["right"][name] - first["accuracy"] for name in PRIORS if name in first["right"]}}


def area(right: Any, confidence: Any) -> float | None:
    """Compute the area under the curve of confidence against right or wrong; None if all answers are either."""
    return None if len(np.unique(right)) < 2 else float(roc_auc_score(right, confidence))


def summarise(rows: Sequence[Row], answers: Mapping[str, Found]) -> Row:
    """Sum up every family and all cells."""
    families = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        several = [row for row in rows if row["family"] == family]
        families[family] = summarise_family(several, [answers[row["cell"]] for row in several])
    others = [other for other in ("plain", UNADAPTED, "rival") if all(other in row["p"] for row in rows)]
    deficits = {other: {row["cell"]: deficit(row, other) for row in rows if is_below(row, other)} for other in others}
    return {
        "cells": len(rows),
        "families": families,
        "below": {
            other: {"percent": 100 * len(cells) / len(rows), "largest": max(cells.values(), default=0.0), "cells": cells}
            for other, cells in deficits.items()
        },
        "ece": mean_of(row["methods"][BEST]["ece"] for row in rows),
    }


def summarise_family(rows: Sequence[Row], found: Sequence[Found]) -> Row:
    """Take means over its cells; the ceiling and what the rival is below it over those that have a ceiling."""
    means = {name: mean_of(accuracy(row, name) for row in rows) for name in NAMES}
    rival = max(RIVALS, key=lambda name: means[name])
    with_own = [row for row in rows if row[OWN_LABELS] is not None]
    own = mean_of(row[OWN_LABELS] for row in with_own) if with_own else None
    several = {name: [row["priors"][name] for row in rows if name in row["priors"]] for name in PRIORS}
    return {
        "cells": len(rows),
        "means": means,
        OWN_LABELS: own,
        "rival": rival,
        "above_rival": means[BEST] - means[rival],
        "rival_below_own": None if own is None else own - mean_of(accuracy(row, rival) for row in with_own),
        "ece": {name: mean_of(row["methods"][name]["ece"] for row in rows) for name in NAMES},
        "auc": {name: area(*(pool(found, name, part) for part in ("right", "confidence"))) for name in NAMES},
        "priors": {name: mean_of(gains) if gains else None for name, gains in several.items()},
        "interval": summarise_interval([told for row in rows for told in row["told"] if "expected" in told]),
    }


def summarise_interval(draws: Sequence[Row]) -> Row:
    """Count the draws whose accuracy lies within the interval of the expected one; how much too high this is in the mean."""
    if not draws:
        return {"draws": 0, "covered_percent": None, "too_high": None}
    inside = [told["expected"]["low"] <= told["accuracy"] <= told["expected"]["high"] for told in draws]
    too_high = mean_of(told["expected"]["value"] - told["accuracy"] for told in draws)
    return {"draws": len(draws), "covered_percent": 100 * mean_of(inside), "too_high": too_high}


def accuracy(row: Row, name: str) -> float:
    """Return the accuracy of a method in a cell."""
    return float(row["methods"][name]["accuracy"])


def is_below(row: Row, other: str) -> bool:
    """Tell whether best is significantly worse than plain, its own unadapted labels, or the stronger rival of the cell."""
    return other in row["p"] and deficit(row, other) > 0 and row["p"][other] < LEVEL


def deficit(row: Row, other: str) -> float:
    """Subtract the accuracy of best from that of another."""
    theirs = row[UNADAPTED] if other == UNADAPTED else accuracy(row, row["rival"] if other == "rival" else other)
    return float(theirs - accuracy(row, BEST))


def mean_of(values: Any) -> float:
    """Take the mean of numbers that may come one by one."""
    return float(np.mean(list(values)))


def pool(found: Sequence[Found], name: str, part: str) -> Any:
    """Join the answers of all cells of a family in one array."""
    return np.concatenate([getattr(answers[name], part) for answers in found])


def judge(summary: Row | None, labels: Sequence[Row]) -> list[Goal]:
    """Judge by all goals of what ran; unadapted labels or an interval that best does not tell count as missed."""
    return [*(judge_cells(summary) if summary else []), *judge_labels(labels)]


def judge_cells(summary: Row) -> list[Goal]:
    """Judge the matrix."""
    below, families = summary["below"], summary["families"]
    goals = [at_most(below["rival"]["percent"], BELOW_RIVAL, "% of the cells significantly below the stronger rival")]
    words = "% of the cells significantly below unadapted"
    if UNADAPTED in below:
        goals.append(at_most(below[UNADAPTED]["percent"], BELOW_UNADAPTED, words))
        goals.append(
            at_most(below[UNADAPTED]["largest"], LARGEST_DEFICIT, "points, the largest significant deficit to unadapted")
        )
    else:
        goals.append({"value": None, "goal": f"at most {BELOW_UNADAPTED}", "reached": False, "words": words})
    goals += [judge_family(name, family) for name, family in families.items()]
    goals += [
        at_least(families[name]["means"][BEST], least, f"accuracy, {name}")
        for name, least in LEAST_ACCURACY.items()
        if name in families
    ]
    goals.append(at_most(summary["ece"], ECE, "calibration error in the mean"))
    areas = {name: family["auc"][BEST] for name, family in families.items()}
    goals += [at_least(one, AUC, f"area under the curve, {name}") for name, one in areas.items() if one is not None]
    return [*goals, *(judge_interval(name, family["interval"]) for name, family in families.items())]


def judge_labels(labels: Sequence[Row]) -> list[Goal]:
    """Judge random labels of each family by what the true proportions reach."""
    goals = []
    for family in dict.fromkeys(row["family"] for row in labels):
        several = [row for row in labels if row["family"] == family and str(N_RANDOM) in row["accuracy"]]
        if several:
            gap = mean_of(row["true"] - row["accuracy"][str(N_RANDOM)] for row in several)
            goals.append(at_most(gap, BELOW_TRUE, f"points from {N_RANDOM} random labels to true proportions, {family}"))
    return goals


def judge_interval(name: str, interval: Row) -> Goal:
    """Judge an interval, which may be too wide as well as too narrow."""
    low, high = COVERED
    value, words = interval["covered_percent"], f"% of {interval['draws']} draws within the expected interval, {name}"
    return {"value": value, "goal": f"{low} to {high}", "reached": value is not None and low <= value <= high, "words": words}


def judge_family(name: str, family: Row) -> Goal:
    """Ask that best is well above the stronger rival, or not below it where it is nearly as good as the target's own labels."""
    gap = family["rival_below_own"]
    near = gap is not None and gap <= NEAR
    words = f"points above {family['rival']}, {name}"
    return at_least(family["above_rival"], 0 if near else ABOVE, f"{words} (near own labels)" if near else words)


MARKS = {"plain": "p", "rival": "r", UNADAPTED: "u"}
PRIOR_COLUMNS = [f"{name} prior" for name in PRIORS]


def show(result: dict[str, Any]) -> str:
    """Show families, every cell, the parts beside the matrix and goals."""
    summary = result["summary"]
    failed = [f"failed   {name}: {words}" for name, words in result["failed"].items()]
    parts = [machine_lines(result)]
    if result["reused"]:
        words = f"{result['reused']} times the answers of others than best were kept from an earlier run"
        parts.append(f"{words}, {result['reused_older']} times from another state of the source")
    if summary is not None:
        parts += [show_families(summary), show_cells(result["rows"]), show_all(summary)]
    parts += [table(result[name]) for name, table in (("labels", show_labels), ("shuffled", show_shuffled)) if name in result]
    return "\n\n".join([*parts, "\n".join([*map(tell, result["goals"]), *failed])]).rstrip()


def show_families(summary: Row) -> str:
    """Show mean accuracies, what other proportions give beside best, and what its confidence and interval are worth."""
    columns = ("cells", *NAMES, OWN_LABELS, "best - rival", *PRIOR_COLUMNS, "ECE", "AUC", "covered %", "draws", "too high")
    lines = []
    for name, family in summary["families"].items():
        means = [points(family["means"][one]) for one in NAMES]
        gains = [signed(family["above_rival"]), *(signed(family["priors"][one]) for one in PRIORS)]
        interval = family["interval"]
        held = [points(interval["covered_percent"]), str(interval["draws"]), signed(interval["too_high"])]
        sure = [part(family["ece"][BEST]), part(family["auc"][BEST]), *held]
        lines.append([name, str(family["cells"]), *means, points(family[OWN_LABELS]), *gains, *sure])
    return markdown("family", columns, lines)


def show_cells(rows: Sequence[Row]) -> str:
    """Show accuracies of every cell; letters mark where best is significantly below plain, unadapted, the stronger rival."""
    others = (UNADAPTED, OWN_LABELS, "below", *PRIOR_COLUMNS)
    columns = ("answers", *NAMES, *others, "expected", "confidence", "ECE", "AUC", "seconds")
    lines = []
    for row in rows:
        best = row["methods"][BEST]
        below = "".join(mark for other, mark in MARKS.items() if is_below(row, other))
        figures = [points(accuracy(row, name)) for name in NAMES]
        sure = [show_expected(row["expected"]), points(best["confidence"]), part(best["ece"]), part(best["auc"])]
        gains = [signed(row["priors"].get(one)) for one in PRIORS]
        beside = [points(row[UNADAPTED]), points(row[OWN_LABELS]), below or "-", *gains]
        lines.append([row["cell"], str(row["documents"]), *figures, *beside, *sure, f"{best['seconds']:.1f}"])
    marks = ", ".join(f"{mark}: {other}" for other, mark in MARKS.items())
    words = "source and true prior: points that best gains with these class proportions, first draw"
    return f"{markdown('cell', columns, lines)}\n\nsignificantly below (0.01) {marks}; {words}"


def show_all(summary: Row) -> str:
    """Show in how many cells best is significantly below others."""
    lines = [
        f"significantly below {other}: {one['percent']:.1f} % of the cells, by {one['largest']:.1f} points at most"
        for other, one in summary["below"].items()
    ]
    return "\n".join(lines)


def show_labels(rows: Sequence[Row]) -> str:
    """Show the accuracy of documents that were not labelled, by the number of random labels."""
    columns = (*map(str, N_LABELS), "true proportions")
    lines = [[row["cell"], *(points(row["accuracy"].get(str(n))) for n in N_LABELS), points(row["true"])] for row in rows]
    return markdown("accuracy with random labels", columns, lines)


def show_shuffled(rows: Sequence[Row]) -> str:
    """Show how many labels change where none should, or few."""
    lines = [[row["cell"], str(row["documents"]), *(points(row["changed"][name]) for name in CHANGES)] for row in rows]
    return markdown("labels that change", ("documents", *CHANGES), lines)


def tell(goal: Row) -> str:
    """Tell one goal and whether it was reached."""
    value = "-" if goal["value"] is None else f"{goal['value']:.3g}"
    return f"{'reached' if goal['reached'] else 'missed '}  {value} {goal['words']} ({goal['goal']})"


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
    ruler = "|".join(["", "-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:]), ""])
    return "\n".join([lines[0], ruler, *lines[1:]])
