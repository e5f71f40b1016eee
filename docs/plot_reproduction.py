"""Draw the pictures of docs/reproducing.md from the results of ``reproduce``.

python -m docs.plot_reproduction DATA
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gramshift.evaluate.protocol import GROUPS, MULTI, SINGLE
from gramshift.evaluate.reproduce import reproduce
from gramshift.kernels.string_kernel import StringKernel
from gramshift.learn.features import KernelFeatures
from gramshift.methods import STAGES

IMAGES = Path(__file__).parent / "images"
KERNEL = "presence"
COLOURS = {"plain": "#8a8a8a", "adapted": "#4393c3", "tkc": "#b2182b"}
PER_GROUP = 240  # documents of each domain and class in the heat map
N_ADDED = 1000  # pseudo-labels of the paper's second round
POOLED = 8  # documents that make one cell of it
Result = dict[str, Any]


def plot_accuracy(result: Result, kernel: str) -> Any:
    """Plot ours beside published, setting by setting; a line joins the two figures of a method."""
    rows = [row for row in result["rows"] if row["kernel"] == kernel]
    names = list(dict.fromkeys(row["setting"] for row in rows))
    figure = Figure(figsize=(max(6, 0.75 * len(names) + 2), 4.8), layout="constrained")
    axes = figure.subplots()
    methods = [method for method in STAGES if any(row["method"] == method for row in rows)]
    for place, method in enumerate(methods):
        shift = 0.22 * (place - (len(methods) - 1) / 2)
        for row in rows:
            if row["method"] != method:
                continue
            x = names.index(row["setting"]) + shift
            error = [[row["accuracy"] - row["low"]], [row["high"] - row["accuracy"]]]
            axes.errorbar(
                x,
                row["accuracy"],
                yerr=error,
                color=COLOURS[method],
                fmt="o",
                ms=5,
                lw=0.8,
                alpha=0.9,
            )
            if row["published"] is not None:
                axes.plot(x, row["published"], marker="_", ms=12, mew=2, color=COLOURS[method])
        axes.plot([], [], "o", color=COLOURS[method], label=f"{method}, ours")
    axes.plot([], [], marker="_", ms=12, mew=2, ls="", color="black", label="published")
    axes.set_xticks(range(len(names)), names, rotation=45)
    axes.set_ylabel("accuracy (%), with 95 % interval")
    axes.set_title(f"Ours and published, {kernel} kernel")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(ncols=4, fontsize=9, loc="upper left")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.12 * (high - low))
    return figure


def plot_stages(result: Result, kernel: str) -> Any:
    """Plot what each stage of the method adds, setting by setting and in the mean."""
    rows = [row for row in result["rows"] if row["kernel"] == kernel]
    stages = [method for method in STAGES if any(row["method"] == method for row in rows)]
    if len(stages) < 2:
        return None
    groups = {"one source": SINGLE, "several sources": MULTI}
    present = {row["setting"] for row in rows}
    groups = {
        name: [one for one in several if one.name in present] for name, several in groups.items()
    }
    groups = {name: several for name, several in groups.items() if several}
    figure = Figure(figsize=(4.6 * len(groups), 4.4), layout="constrained")
    axes = figure.subplots(1, len(groups), squeeze=False, sharey=True)
    for axis, (name, several) in zip(axes[0], groups.items(), strict=True):
        found = {(row["setting"], row["method"]): row for row in rows}
        ours = np.array(
            [[found[one.name, stage]["accuracy"] for stage in stages] for one in several]
        )
        heights = _spread(ours[:, -1], gap=0.55)
        for line, one, height in zip(ours, several, heights, strict=True):
            axis.plot(stages, line, color="#bbbbbb", lw=1, marker=".")
            axis.annotate(
                one.name,
                (len(stages) - 0.92, height),
                fontsize=7,
                va="center",
                annotation_clip=False,
            )
        axis.plot(
            stages, ours.mean(axis=0), color=COLOURS["tkc"], lw=2.5, marker="o", label="ours, mean"
        )
        published = [[found[one.name, stage]["published"] for stage in stages] for one in several]
        if not any(value is None for line in published for value in line):
            axis.plot(
                stages,
                np.mean(published, axis=0),
                color="black",
                ls="--",
                marker="_",
                ms=10,
                label="published, mean",
            )
        axis.set_title(f"{name}, {kernel} kernel")
        axis.set_xlim(-0.3, len(stages) - 0.5)
        axis.grid(axis="y", alpha=0.3)
        axis.legend(fontsize=9, loc="upper left")
    low, high = axes[0][0].get_ylim()
    axes[0][0].set_ylim(low, high + 0.15 * (high - low))
    axes[0][0].set_ylabel("accuracy (%)")
    return figure


def _spread(values: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Move the values apart as little as needed to leave ``gap`` between any two."""
    order = np.argsort(values, kind="stable")
    result = values[order].astype(float)
    for _ in range(100):
        short = gap - np.diff(result)
        if (short <= 1e-9).all():
            break
        push = np.maximum(short, 0) / 2
        result[:-1] -= push
        result[1:] += push
    back = np.empty_like(result)
    back[order] = result
    return back


def plot_confidence(result: Result, kernel: str) -> Any:
    """Plot how often labels of the first round are right, from the most confident down."""
    documents = result["documents"]
    figure = Figure(figsize=(7, 4.4), layout="constrained")
    axis = figure.subplots()
    curves = []
    for (setting, used, method), one in result["outcomes"].items():
        if (used, method) == (kernel, "adapted"):
            order = np.argsort(-np.abs(one.scores), kind="stable")
            curves.append(_windowed(((one.scores > 0) == documents.truth(setting.target))[order]))
            axis.plot(curves[-1], color="#cccccc", lw=0.8)
    if not curves:
        return None
    axis.plot(
        np.mean(curves, axis=0), color=COLOURS["adapted"], lw=2.5, label="mean of all settings"
    )
    n_added = N_ADDED
    label = f"the {n_added} most confident are pseudo-labelled for round 2"
    axis.axvline(n_added, color=COLOURS["tkc"], ls="--", lw=1.2, label=label)
    axis.set_xlabel("target documents, surest first")
    axis.set_ylabel("right among the 200 around it (%)")
    axis.set_title(f"Are sure answers right? Adapted kernel, first round, {kernel}")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=9)
    return figure


def _windowed(right: NDArray[np.bool_], width: int = 200) -> NDArray[np.float64]:
    """Return the percentage right within a window that is cut off at the ends."""
    sums = np.concatenate([[0], np.cumsum(right)])
    places = np.arange(len(right))
    left, stop = np.maximum(places - width // 2, 0), np.minimum(places + width // 2, len(right))
    share: NDArray[np.float64] = 100 * (sums[stop] - sums[left]) / (stop - left)
    return share


def plot_kernel(result: Result, kernel: str) -> Any:
    """Plot the adapted kernel among some documents of every domain and class, sorted by these.

    Values are close to one another, so what all documents have in common is removed, and squares of
    documents are
    averaged.
    """
    documents, codes = result["documents"], result["documents"].codes
    rows: list[int] = []
    for letter in documents.letters:
        mine = documents.rows(letter)
        for code in (1, 0):
            rows += mine[codes[mine] == code][:PER_GROUP].tolist()
    gram = StringKernel(kernel).gram([result["texts"][row] for row in rows])
    values = KernelFeatures.from_gram(gram, adapt=True).kernel(np.arange(len(rows)))
    values = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
    scale = np.sqrt(np.diagonal(values))
    likeness = values / np.outer(scale, scale)
    np.fill_diagonal(likeness, np.nan)
    n = len(rows) // POOLED
    with np.errstate(invalid="ignore"):
        pooled = np.nanmean(
            likeness[: n * POOLED, : n * POOLED].reshape(n, POOLED, n, POOLED), axis=(1, 3)
        )
    figure = Figure(figsize=(7, 6), layout="constrained")
    axis = figure.subplots()
    high = np.quantile(np.abs(pooled), 0.99)
    image = axis.imshow(
        100 * pooled, cmap="RdBu_r", vmin=-100 * high, vmax=100 * high, interpolation="nearest"
    )
    group = PER_GROUP / POOLED
    ticks = group * (np.arange(2 * len(documents.letters)) + 0.5) - 0.5
    labels = [f"{letter}{sign}" for letter in documents.letters for sign in "+\N{MINUS SIGN}"]
    axis.set_xticks(ticks, labels)
    axis.set_yticks(ticks, labels)
    for edge in range(1, 2 * len(documents.letters)):
        axis.axhline(edge * group - 0.5, color="black", lw=0.5 if edge % 2 else 1.5)
        axis.axvline(edge * group - 0.5, color="black", lw=0.5 if edge % 2 else 1.5)
    axis.set_title(
        f"Adapted {kernel} kernel, centred\n{PER_GROUP} documents of each domain and class"
    )
    figure.colorbar(image, label=f"correlation (%), mean of {POOLED} x {POOLED} documents")
    return figure


def main(data: str) -> None:
    """Run the paper's experiments with one kernel, and draw all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        result = reproduce(
            Path(data), Path(folder), settings=GROUPS["all"], methods=STAGES, kernels=[KERNEL]
        )
    makers = {
        "accuracy": plot_accuracy,
        "stages": plot_stages,
        "confidence": plot_confidence,
        "kernel": plot_kernel,
    }
    for name, make in makers.items():
        make(result, KERNEL).savefig(
            IMAGES / f"reproduction-{name}.png", dpi=150, metadata={"Software": None}
        )


if __name__ == "__main__":
    main(sys.argv[1])
