"""The picture of a comparison: every method's accuracy with its interval, and the settings it is the mean of."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gramshift.evaluate.comparison import Comparison
from gramshift.methods import METHODS
from gramshift.runtime.replacing import replaced_file

PICTURE = "comparison.png"
DOT, MEAN, REFERENCE = "#b8bdc7", "#2b6cb0", "#b2182b"


def plot_comparison(found: Comparison) -> Any:
    """Plot a line per method, best on top: its mean and interval, and a dot for each setting."""
    lines = sorted(found.summary, key=lambda line: line["accuracy"])
    figure = Figure(figsize=(8, 1.4 + 0.42 * len(lines)), layout="constrained")
    axes = figure.subplots()
    for place, line in enumerate(lines):
        mine = [100 * row["accuracy"] for row in found.rows if row["method"] == line["method"]]
        colour = REFERENCE if line["method"] == found.reference else MEAN
        if len(mine) > 1:
            axes.plot(mine, [place] * len(mine), "o", ms=4, color=DOT, zorder=1)
        mean, low, high = (100 * line[name] for name in ("accuracy", "low", "high"))
        axes.plot([low, high], [place, place], "-", lw=2.5, color=colour, zorder=2)
        axes.plot(mean, place, "o", ms=8, color=colour, zorder=3)
        axes.annotate(f"{mean:.1f}", (mean, place), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8)
    axes.set_yticks(range(len(lines)), [METHODS[line["method"]].title for line in lines])
    axes.set_ylim(-0.6, len(lines) - 0.3)
    axes.set_xlabel("accuracy (%): mean with 95 % interval" + ("; grey: single runs" if len(found.cases) > 1 else ""))
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def write_plot(found: Comparison, folder: Path) -> str:
    """Write the picture into a folder, and return its name."""
    with replaced_file(folder / PICTURE, follow=False) as file:
        plot_comparison(found).savefig(file, format="png", dpi=150, metadata={"Software": None})
    return PICTURE
