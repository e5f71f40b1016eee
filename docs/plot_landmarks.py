"""Draw the picture of docs/scale.md: python -m bench scale --json > scale.json; python docs/plot_landmarks.py scale.json"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot

IMAGE = Path(__file__).parent / "images" / "scale-landmarks.png"
COLOURS = {"uniform": "#4393c3", "spread": "#b2182b"}
GROUPS = {"one source": 1, "several sources": 3}


def plot(found: dict[str, Any]) -> Any:
    """What is lost to the exact fit, setting by setting and in the mean; to the right several seeds."""
    counts = sorted({row["landmarks"] for row in found["landmarks"]})
    again = list(dict.fromkeys(row["setting"] for row in found["seeds"]))
    figure, axes = pyplot.subplots(1, 2 + len(again), figsize=(3.3 * (2 + len(again)), 4), layout="constrained", sharey=True)
    for axis, (title, n_sources) in zip(axes, GROUPS.items(), strict=False):
        rows = [row for row in found["landmarks"] if len(row["setting"].split("-")[0]) == n_sources]
        draw(axis, rows, found["exact"], counts, marker=".")
        axis.set_title(f"{title}, {len({row['setting'] for row in rows})} settings")
    for axis, setting in zip(axes[2:], again, strict=True):
        draw(axis, [row for row in found["seeds"] if row["setting"] == setting], found["exact"], counts, marker=".")
        axis.set_title(f"{setting}, 5 seeds")
    axes[0].set_ylabel("accuracy less that of the exact fit (points)")
    axes[0].legend(loc="lower right", fontsize=9)
    figure.supxlabel("landmarks", fontsize=10)
    return figure


def draw(axis: Any, rows: list[dict[str, Any]], exact: dict[str, float], counts: list[int], *, marker: str) -> None:
    axis.axhline(0, color="black", lw=1)
    for choice, colour in COLOURS.items():
        means = []
        for n in counts:
            lost = [row["accuracy"] - exact[row["setting"]] for row in rows if (row["choice"], row["landmarks"]) == (choice, n)]
            shift = 0.97 if choice == "uniform" else 1.03
            axis.plot([n * shift] * len(lost), lost, marker, color=colour, alpha=0.45, ms=5, mew=0)
            means.append(np.mean(lost))
        axis.plot(counts, means, color=colour, lw=2, marker="o", ms=5, label=f"{choice}, mean")
    axis.set_xscale("log")
    axis.set_xticks(counts, map(str, counts))
    axis.minorticks_off()
    axis.grid(axis="y", alpha=0.3)


if __name__ == "__main__":
    figure = plot(json.loads(Path(sys.argv[1]).read_text())["accuracy"])
    figure.savefig(IMAGE, dpi=150, metadata={"Software": None})
