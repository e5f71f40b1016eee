"""What the benchmark of landmarks found, in tables."""

from typing import Any

import numpy as np

from bench.kernel_tables import machine_lines
from bench.table import table

Result = dict[str, Any]
GROUPS = {"one source": 1, "several sources": 3}


def show(result: Result) -> str:
    """All tables, one below the other."""
    parts = [machine_lines(result), resemblance(result), growth(result), goals(result), others(result)]
    return "\n\n".join([*parts, workers(result), costs(result), carried(result), accuracy(result), seeds(result)])


def resemblance(result: Result) -> str:
    """Real and grown documents."""
    columns = ("length, real", "grown", "n-grams, real", "grown")
    keys = ("documents", "length_real", "length_grown", "ngrams_real", "ngrams_grown")
    return table("documents", columns, [[row[key] for key in keys] for row in result["resemblance"]])


def growth(result: Result) -> str:
    """Time and memory."""
    rows = [[row["documents"], row["seconds"], row["ms_per_document"], row["peak_mb"]] for row in result["growth"]]
    return table(f"documents, {result['landmarks']} landmarks", ("seconds", "ms/document", "peak MB"), rows)


def goals(result: Result) -> str:
    """What was to be reached, and whether it was."""
    found = result["goals"]
    lines = [
        (found["flat"], f"time per document changes by {found['change_percent']:+.1f} % from first to last (at most 15)"),
        (found["bounded"], f"peak memory is {found['peak_mb']:.0f} MB (at most 3000)"),
    ]
    ratio = result["workers"]["ratio"]
    lines.append((result["workers"]["reached"], f"2 Dask workers are {ratio:.2f} times as fast as 1 (at least 1.7)"))
    fixed = f"{found['fixed_s']:.2g} s before the first document, then {found['ms_per_document']:.2g} ms for each"
    beyond = f"without the former the change is {found['change_beyond_fixed_percent']:+.1f} %"
    told = [f"{'reached' if reached else 'missed '}  {words}" for reached, words in lines]
    return "\n".join([*told, f"fitted   {fixed}; {beyond}"])


def others(result: Result) -> str:
    """All runs: what was measured, and by how much the fitted model and what a user is told before a fit are off."""
    model, rows = result["model"], []
    runs = [*result["growth"], *result["others"], result["on_disk"], *result["unseen"]]
    off = [[*model[name]["off_percent"][0], *model[name]["off_percent"][1]] for name in ("seconds", "bytes")]
    for run, seconds, memory in zip(runs, *off, strict=True):
        name = f"{run['documents']:,} of {run['setting']}{', on disk' if run['on_disk'] else ''}"
        told = [100 * (run[told] / run[found] - 1) for told, found in (("told_seconds", "seconds"), ("told_mb", "peak_mb"))]
        fitted = f"{name}, not fitted on" if run in result["unseen"] else name
        percents = [f"{value:+.0f}" for value in (seconds, told[0], memory, told[1])]
        rows.append([fitted, run["landmarks"], run["seconds"], *percents[:2], run["peak_mb"], *percents[2:]])
    columns = ("landmarks", "seconds", "model (%)", "told (%)", "peak MB", "model (%)", "told (%)")
    return table("documents", columns, rows)


def workers(result: Result) -> str:
    """One and two workers under Dask."""
    found = result["workers"]
    rows = [[n, seconds] for n, seconds in found["seconds"].items()]
    apart = result["processes"]
    words = f"{apart['ratio']:.2f} times as much as one in the same time ({apart['documents']:,} documents each)"
    return table(f"Dask workers, {found['documents']:,} documents", ("seconds",), rows) + (
        f"\n\nTwo processes that know nothing of each other do {words}."
    )


def costs(result: Result) -> str:
    """The cost model."""
    parts = []
    for name in ("seconds", "bytes"):
        found = result["model"][name]["costs"]
        parts.append(table(f"{name} per", ("",), [[term, f"{value:.3g}"] for term, value in found.items()]))
    return "\n\n".join(parts)


def carried(result: Result) -> str:
    """What the model says of very many documents."""
    found = result["carried"]
    rows = [
        ["hours", found["seconds"] / 3600],
        ["GB that the client holds", found["client_bytes"] / 1e9],
        ["GB of these to know target documents again", found["digest_bytes"] / 1e9],
        ["GB of similarities on each machine", found["machine_bytes"] / 1e9],
        ["thousand pieces", found["pieces"] / 1e3],
        ["GB of sums that travel to the client in a round", found["travelling_bytes"] / 1e9],
    ]
    return table(f"100 million documents, {found['machines']} machines", ("",), rows)


def accuracy(result: Result) -> str:
    """Means over settings, exact last."""
    found, lines = result["accuracy"], []
    counts = sorted({row["landmarks"] for row in found["landmarks"]})
    for group, n_sources in GROUPS.items():
        exact = [value for name, value in found["exact"].items() if len(name.split("-")[0]) == n_sources]
        for choice in dict.fromkeys(row["choice"] for row in found["landmarks"]) if exact else ():
            means = [
                np.mean(
                    [
                        row["accuracy"]
                        for row in found["landmarks"]
                        if (row["choice"], row["landmarks"]) == (choice, n) and len(row["setting"].split("-")[0]) == n_sources
                    ]
                )
                for n in counts
            ]
            lines.append([f"{group}, {choice}", *(f"{mean:.2f}" for mean in means), f"{np.mean(exact):.2f}"])
    return table("accuracy (%), landmarks", [*map(str, counts), "exact"], lines)


def seeds(result: Result) -> str:
    """Least, mean and largest of several seeds."""
    found, lines = result["accuracy"]["seeds"], []
    counts = sorted({row["landmarks"] for row in found})
    for setting, choice in dict.fromkeys((row["setting"], row["choice"]) for row in found):
        cells = []
        for n in counts:
            values = [
                row["accuracy"] for row in found if (row["setting"], row["choice"], row["landmarks"]) == (setting, choice, n)
            ]
            cells.append(f"{np.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})")
        lines.append([f"{setting}, {choice}", *cells, f"{result['accuracy']['exact'][setting]:.1f}"])
    return table("accuracy (%), 5 seeds", [*map(str, counts), "exact"], lines)
