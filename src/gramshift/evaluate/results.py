"""The results of a run: kept, counted, and set beside the published figures in tables."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.evaluate.experiment import Outcome
from gramshift.evaluate.kept import Kept
from gramshift.evaluate.protocol import MULTI, PUBLISHED, PUBLISHED_RIVALS, SINGLE, Setting
from gramshift.evaluate.scoring import LEVEL, Clustered, correct_by_holm, differs, interval, interval_of, mcnemar
from gramshift.methods import BEST, METHODS
from gramshift.runtime.schema import Array, Listed, Number, Record, Text

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
NUMBERS = Listed(Number(), most=10**8)
KEPT = Listed(Record({"method": Text(100), "scores": NUMBERS, "added": NUMBERS, "seconds": Number(0)}))


class Parts:
    """Results of a run that may be stopped: each setting of each kernel is kept as soon as it is there.

    A file per kernel and setting, methods without a given kernel in one of their own; each depends on ``key`` and on the
    data of its domains.
    """

    def __init__(self, folder: Path, key: dict[str, Any], data: dict[str, str], sizes: dict[str, int] | None = None) -> None:
        """With ``sizes``, the numbers of documents of the domains, results of other numbers are not taken."""
        self._kept, self.key, self.data, self._sizes = Kept(folder), key, data, sizes or {}

    def load(self, kernel: str | None, setting: Setting, methods: list[str]) -> list[Outcome] | None:
        """Return what an earlier run found, if it is whole, has all methods and depends on the same."""
        found = self._read(kernel, setting)
        return [found[name] for name in methods] if set(methods) <= set(found) else None

    def save(self, kernel: str | None, setting: Setting, outcomes: list[Outcome]) -> None:
        """Keep outcomes beside what is there of other methods."""
        together = self._read(kernel, setting) | {one.method: one for one in outcomes}
        kept = [
            {"method": one.method, "scores": one.scores.tolist(), "added": one.added.tolist(), "seconds": one.seconds}
            for one in together.values()
        ]
        self._kept.save(self._name(kernel, setting), self._key(setting), kept)

    def _read(self, kernel: str | None, setting: Setting) -> dict[str, Outcome]:
        found = self._kept.load(self._name(kernel, setting), self._key(setting)) or []
        try:
            KEPT.check("results", found, {})
            return {one["method"]: _outcome(setting, one, self._sizes.get(setting.target)) for one in found}
        except (ValueError, TypeError, OverflowError):
            return {}

    def _key(self, setting: Setting) -> dict[str, Any]:
        return self.key | {"data": {letter: self.data[letter] for letter in setting.letters}}

    def _name(self, kernel: str | None, setting: Setting) -> str:
        alone = "-source-only" if self.key.get("source_only") else ""
        return f"{self.key['fields'].replace('+', '-')}-{kernel or 'rivals'}-{setting.name}{alone}"


def _outcome(setting: Setting, kept: dict[str, Any], n: int | None) -> Outcome:
    """What was kept, if its numbers go together and there are n of them."""
    scores, added = np.array(kept["scores"], np.float64), np.array(kept["added"], np.int64)
    sizes = {} if n is None else {"documents": n}
    Array("<f8", ("documents",)).check("scores", scores, sizes)
    Array("<i8", ("joined",), low=0, below="documents").check("added", added, sizes)
    return Outcome(setting, kept["method"], scores, added.astype(np.intp), float(kept["seconds"]))


def make_rows(
    outcomes: dict[str | None, list[Outcome]], codes: NDArray[np.intp], *, fields: str, source_only: bool = False
) -> list[dict[str, Any]]:
    """Return the figures of one setting, for every kernel and method; here, and here only, true labels are looked at.

    The p-value is that of McNemar's test against the better plain kernel of these; that kernel itself has none. The method
    "best" is tested against tkc with the presence kernel, if that is there. With ``source_only``, figures were published of
    methods that do not adapt alone.
    """
    right = {(kernel, one.method): (one.scores > 0) == (codes == 1) for kernel, several in outcomes.items() for one in several}
    plain = {kernel: answers for (kernel, method), answers in right.items() if method == "plain"}
    best = max(plain, key=lambda kernel: int(plain[kernel].sum())) if plain else None
    rows = []
    for kernel, several in outcomes.items():
        for one in several:
            answers, unadapted = right[kernel, one.method], source_only and METHODS[one.method].adapts
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
                    "published": None if unadapted else PUBLISHED.get((published_as(one.method), kernel, one.setting.name)),
                    "n": n,
                    "correct": correct,
                    "low": round(low, 2),
                    "high": round(high, 2),
                    "p_value": p_value,
                    "against": f"{rival[1]} {rival[0]}" if p_value is not None else None,
                    "significant": bool(better and p_value is not None and p_value < LEVEL),
                    "seconds": round(one.seconds, 3),
                }
                | ({"source_only": True} if source_only else {})
            )
    return rows


def published_as(method: str) -> str:
    """Return the name of its row among the published figures."""
    return METHODS[method].published or method


def to_csv(rows: list[dict[str, Any]]) -> str:
    """Write the rows without the seconds, so that the same run gives the same bytes."""
    out = io.StringIO()
    columns = (*COLUMNS, "source_only") if any("source_only" in row for row in rows) else COLUMNS
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def means(rows: list[dict[str, Any]], settings: list[str]) -> dict[tuple[str, str | None], tuple[float, float | None]]:
    """Return the mean accuracy, ours and published, of each method and kernel that has all of these settings."""
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


GROUPS = {"one source": SINGLE, "several sources": MULTI}


def make_means(
    outcomes: dict[str, dict[str | None, list[Outcome]]], codes: dict[str, NDArray[np.intp]]
) -> list[dict[str, Any]]:
    """Return the mean of each method and kernel that has all settings of a group, with an interval and a test.

    ``codes`` are the true classes of each target domain. Documents are drawn as often in one setting as in any other of the
    same target. Methods are tested against tkc with the presence kernel, else against plain; p-values are Holm's.
    """
    result = []
    for name, settings in GROUPS.items():
        if any(setting.name not in outcomes for setting in settings):
            continue
        right: dict[tuple[str, str | None], list[NDArray[np.float64]]] = {}
        for setting in settings:
            for kernel, several in outcomes[setting.name].items():
                for one in several:
                    truth = codes[setting.target]
                    answers = ((one.scores > 0) == (truth == 1)).astype(np.float64)
                    right.setdefault((one.method, kernel), []).append(answers)
        whole = {key: values for key, values in right.items() if len(values) == len(settings)}
        clusters = Clustered([np.arange(len(codes[one.target])) for one in settings], [one.target for one in settings])
        drawn = dict(zip(whole, clusters.means_of(list(whole.values())), strict=True))
        against = next((key for key in (("tkc", "presence"), ("plain", "presence")) if key in whole), None)
        lines: list[dict[str, Any]] = []
        for (method, kernel), values in whole.items():
            low, high = interval_of(drawn[method, kernel])
            line: dict[str, Any] = {
                "settings": name,
                "method": method,
                "kernel": kernel,
                "accuracy": 100 * float(np.mean([one.mean() for one in values])),
            }
            line |= {"low": 100 * low, "high": 100 * high, "against": None, "difference": None, "p_value": None}
            if against is not None and (method, kernel) != against:
                apart = drawn[method, kernel] - drawn[against]
                line["against"], line["p_value"] = " ".join(against), differs(apart)
                line["difference"] = [100 * float(value) for value in (np.mean(apart), *interval_of(apart))]
            lines.append(line)
        tested = [line for line in lines if line["p_value"] is not None]
        for line, p_value in zip(tested, correct_by_holm([line["p_value"] for line in tested]), strict=True):
            line["p_value"] = p_value
        result += lines
    return result


SYMBOLS = {"presence": "0/1", "intersection": "∩", "spectrum": "spectrum"}


@dataclass(frozen=True)
class Cell:
    """One figure of a table: published, ours; the best of its column and kind is marked."""

    published: float | None = None
    ours: float | None = None
    star: bool = False
    best: bool = False
    interval: tuple[float, float] | None = None

    def text(self, *, bold: tuple[str, str] = ("", ""), starred: str = "*") -> str:
        if self.ours is None:
            return "-" if self.published is None else f"{self.published:.1f} /  -"
        ours = f"{bold[0]}{self.ours:.1f}{bold[1]}" if self.best else f"{self.ours:.1f}"
        star = starred if self.star else ""
        if self.interval is not None:
            star += f" [{self.interval[0]:.1f} to {self.interval[1]:.1f}]"
        if self.published is None:
            return f"- / {ours}{star}"
        return f"{self.published:.1f} / {ours}{star} ({self.ours - self.published:+.1f})"


@dataclass(frozen=True)
class Table:
    title: str
    columns: list[str]
    rows: list[tuple[str, list[Cell]]]


def make_tables(rows: list[dict[str, Any]], *, fields: str, mean_rows: Sequence[dict[str, Any]] = ()) -> list[Table]:
    """Make the tables: multi-source, single-source in two halves as in the paper, and the means, with intervals if given."""
    rows = [row for row in rows if row["fields"] == fields]
    halves = (("multi", MULTI), ("single", SINGLE[:6]), ("single", SINGLE[6:]))
    tables = [_table(rows, kind, settings, fields) for kind, settings in halves]
    return [table for table in tables if table.rows] + _mean_table(rows, fields, mean_rows)


def _table(rows: list[dict[str, Any]], kind: str, settings: list[Setting], fields: str) -> Table:
    names = [setting.name for setting in settings if any(row["setting"] == setting.name for row in rows)]
    found = {(row["method"], row["kernel"], row["setting"]): row for row in rows}
    best = {name: max((row["accuracy"] for row in rows if row["setting"] == name), default=None) for name in names}
    lines = []
    if names:
        run = {published_as(row["method"]) for row in rows if row["kernel"] is None and not _is_unadapted(row)}
        for rival in (name for name in PUBLISHED_RIVALS[kind] if name not in run):
            lines.append((rival, [Cell(PUBLISHED.get((rival, None, name))) for name in names]))
    for method, kernel in dict.fromkeys((row["method"], row["kernel"]) for row in _in_order(rows)):
        cells = []
        for name in names:
            row = found.get((method, kernel, name))
            if row is None:
                cells.append(Cell(PUBLISHED.get((published_as(method), kernel, name))))
            else:
                accuracy = row["accuracy"]
                cells.append(Cell(row["published"], accuracy, row["significant"], accuracy == best[name]))
        if names:
            lines.append((_label(rows, method, kernel), cells))
    title = {"multi": "Several sources", "single": "One source"}[kind]
    return Table(f"{title}, {fields}: accuracy in %, published / ours (difference)", names, lines)


def _mean_table(rows: list[dict[str, Any]], fields: str, mean_rows: Sequence[dict[str, Any]]) -> list[Table]:
    found = {name: means(rows, [setting.name for setting in settings]) for name, settings in GROUPS.items()}
    shown = {name: values for name, values in found.items() if values}
    reach = {(row["settings"], row["method"], row["kernel"]): (row["low"], row["high"]) for row in mean_rows}
    keys = list(dict.fromkeys(key for values in shown.values() for key in values))
    lines = []
    for method, kernel in keys:
        cells = []
        for name, values in shown.items():
            ours, published = values.get((method, kernel), (None, None))
            cells.append(Cell(published, ours, interval=reach.get((name, method, kernel)) if ours is not None else None))
        lines.append((_label(rows, method, kernel), cells))
    title = f"Means, {fields}: published / ours{' [95 % interval]' if reach else ''} (difference)"
    return [Table(title, list(shown), lines)] if shown else []


def _is_unadapted(row: dict[str, Any]) -> bool:
    """Return True if the row is of a method that would adapt, run without adaptation."""
    return row.get("source_only", False) and METHODS[row["method"]].adapts


def _label(rows: list[dict[str, Any]], method: str, kernel: str | None) -> str:
    """Name a row, with a mark where published figures were obtained in another way."""
    if any(row["method"] == method and _is_unadapted(row) for row in rows):
        return f"{METHODS[method].title}, source only"
    if kernel is not None:
        return f"{METHODS[method].title} {SYMBOLS[kernel]}"
    return METHODS[method].title + (MARK if METHODS[method].difference else "")


def differences(rows: list[dict[str, Any]]) -> list[str]:
    """Tell what the mark means, for each method that has one."""
    names = dict.fromkeys(row["method"] for row in rows if not _is_unadapted(row))
    marked = [METHODS[name] for name in names if METHODS[name].difference]
    return [f"{MARK} {one.title}: published with {one.difference}." for one in marked]


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort rows method by method, as in the paper."""
    order = list(dict.fromkeys(row["method"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row["method"]))


STAR = "\\*"  # in Markdown
MARK = "†"
NOTE = (
    "*: better than the better plain kernel of this run (best: than tkc 0/1, if it ran), McNemar's test at 0.01. "
    "Bold: our best in the column."
)


def to_markdown(tables: list[Table], notes: Sequence[str] = ()) -> str:
    """Write all tables, and the notes below them."""
    lines = []
    for table in tables:
        lines += [f"### {table.title}", "", f"| | {' | '.join(table.columns)} |", "|---" * (len(table.columns) + 1) + "|"]
        lines += [
            f"| {name} | {' | '.join(cell.text(bold=('**', '**'), starred=STAR) for cell in cells)} |"
            for name, cells in table.rows
        ]
        lines.append("")
    return "\n".join([*lines, NOTE.replace("*", STAR, 1), *(f"\n{note}" for note in notes), ""])
