"""From scores to rows of figures, and rows to files."""

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.evaluate.experiment import Outcome
from gramshift.evaluate.published import PUBLISHED
from gramshift.evaluate.significance import LEVEL, interval, mcnemar
from gramshift.methods import BEST, METHODS

COLUMNS = (
    "setting",
    "method",
    "kernel",
    "fields",
    "accuracy",
    "published",
    "n",
    "correct",
    "low",
    "high",
    "p_value",
    "against",
    "significant",
)
Right = NDArray[np.bool_]


def make_rows(outcomes: dict[str | None, list[Outcome]], codes: NDArray[np.intp], *, fields: str) -> list[dict[str, Any]]:
    """The figures of one setting, for every kernel and method; here, and here only, true labels are looked at.

    The p-value is that of McNemar's test against the better plain kernel of these; that kernel itself has none. The method
    "best" is tested against tkc with the presence kernel, if that is there.
    """
    right = {(kernel, one.method): (one.scores > 0) == (codes == 1) for kernel, several in outcomes.items() for one in several}
    plain = {kernel: answers for (kernel, method), answers in right.items() if method == "plain"}
    best = max(plain, key=lambda kernel: int(plain[kernel].sum())) if plain else None
    rows = []
    for kernel, several in outcomes.items():
        for one in several:
            answers = right[kernel, one.method]
            n, correct = len(answers), int(answers.sum())
            low, high = interval(correct, n)
            rival = ("presence", "tkc") if one.method == BEST and ("presence", "tkc") in right else (best or "", "plain")
            tested = rival in right and (kernel, one.method) != rival
            p_value = mcnemar(answers, right[rival]) if tested else None
            better = tested and correct > int(right[rival].sum())
            rows.append(
                {
                    "setting": one.setting.name,
                    "method": one.method,
                    "kernel": kernel,
                    "fields": fields,
                    "accuracy": round(100 * correct / n, 4),
                    "published": PUBLISHED.get((published_as(one.method), kernel, one.setting.name)),
                    "n": n,
                    "correct": correct,
                    "low": round(low, 2),
                    "high": round(high, 2),
                    "p_value": p_value,
                    "against": f"{rival[1]} {rival[0]}" if p_value is not None else None,
                    "significant": bool(better and p_value is not None and p_value < LEVEL),
                    "seconds": round(one.seconds, 3),
                }
            )
    return rows


def published_as(method: str) -> str:
    """The name of its row among the published figures."""
    return METHODS[method].published or method


def to_csv(rows: list[dict[str, Any]]) -> str:
    """Without the seconds: the same run gives the same bytes."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def means(rows: list[dict[str, Any]], settings: list[str]) -> dict[tuple[str, str | None], tuple[float, float | None]]:
    """Mean accuracy, ours and published, of each method and kernel over these settings; only where all of them are there."""
    found: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for row in rows:
        if row["setting"] in settings:
            found.setdefault((row["method"], row["kernel"]), []).append(row)
    result = {}
    for key, several in found.items():
        if len(several) == len(settings):
            published = [row["published"] for row in several]
            mean = None if None in published else float(np.mean(published))
            result[key] = float(np.mean([row["accuracy"] for row in several])), mean
    return result
