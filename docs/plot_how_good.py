"""Draw the picture of docs/trust.md, and print the table of docs/experiments.md.

Both are made from results of bench robust:

python -m bench robust --data DIR --json > robust.json
python -m docs.plot_how_good robust.json
"""

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

IMAGES = Path(__file__).parent / "images"
TITLES = {
    "video": "reviews of videos, 2 classes",
    "video skew": "the same, other class proportions",
    "chinese": "Chinese reviews, 2 classes",
    "short": "tweets, sentences of editorials, 2 classes",
    "short 3": "the same, 3 classes",
    "dialects": "Arabic dialects, 5 classes",
    "domains": "domain of a review, 4 classes",
    "categories": "Chinese product categories, 3 to 10 classes",
    "flip": "class proportions that flip, 2 and 3 classes",
}
SIZES = {"50 to 200 labelled documents": (0, 500), "1000 and more": (500, 10**9)}
SHOWN = {"tfidf": ("tf-idf + logistic regression", "#8a8a8a"), "best": ("Gramshift", "#b2182b")}
OWN = ("learning from the target's own labels", "#2b6cb0")
MIN_TARGET = 200  # documents; with fewer nothing is adapted


def group(rows: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, float | None]]]:
    """Return means by family and source size, of cells with at least MIN_TARGET documents."""
    result = []
    for family, title in TITLES.items():
        for size, (low, high) in SIZES.items():
            mine = []
            for row in rows:
                n_source = 10**6 if row["n_source"] is None else row["n_source"]
                enough = row["n_target"] is None or row["n_target"] >= MIN_TARGET
                if row["family"] == family and low < n_source <= high and enough:
                    mine.append(row)
            if not mine:
                continue
            means: dict[str, float | None] = {
                name: sum(row["methods"][name]["accuracy"] for row in mine) / len(mine)
                for name in ("plain", *SHOWN)
            }
            own = [row["own labels"] for row in mine if row["own labels"] is not None]
            means["own"] = sum(own) / len(own) if own else None
            off = [
                abs(row["expected"]["value"] - row["methods"]["best"]["accuracy"])
                for row in mine
                if row["expected"]
            ]
            means["off"] = sum(off) / len(off)
            result.append((title, size, means | {"cells": float(len(mine))}))
    return result


def draw(groups: list[tuple[str, str, dict[str, float | None]]]) -> Figure:
    """Draw a line per family and size, with a dot for each method and the ceiling."""
    figure = Figure(figsize=(9, 0.42 * len(groups) + 1.6), layout="constrained")
    axes = figure.subplots()
    for place, (_, _, means) in enumerate(reversed(groups)):
        known = [value for name in ("tfidf", "best", "own") if (value := means[name]) is not None]
        axes.plot([min(known), max(known)], [place, place], "-", color="#d5d9e0", lw=2, zorder=1)
        for name, (label, colour) in SHOWN.items():
            axes.plot(
                means[name],
                place,
                "o",
                ms=8,
                color=colour,
                label=label if place == 0 else None,
                zorder=3,
            )
        if means["own"] is not None:
            axes.plot(
                means["own"],
                place,
                "|",
                ms=14,
                mew=2.5,
                color=OWN[1],
                label=OWN[0] if place == len(groups) - 1 else None,
            )
    axes.set_yticks(
        range(len(groups)), [f"{title}\n{size}" for title, size, _ in reversed(groups)], fontsize=8
    )
    axes.set_xlabel("accuracy (%)")
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, fontsize=9, frameon=False)
    return figure


def main(path: str) -> None:
    """Write the picture and print the table."""
    groups = group(json.loads(Path(path).read_text("utf-8"))["rows"])
    draw(groups).savefig(IMAGES / "how-good.png", dpi=130, metadata={"Software": None})
    print(
        "| texts | source | cells | plain | tf-idf | Gramshift | own labels "
        "| expected accuracy is off by |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for title, size, means in groups:
        figures = " | ".join(
            "-" if (one := means[name]) is None else f"{one:.1f}"
            for name in ("plain", "tfidf", "best", "own")
        )
        print(f"| {title} | {size} | {means['cells']:.0f} | {figures} | {means['off']:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1])
