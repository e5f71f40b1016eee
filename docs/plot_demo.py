"""Draw docs/images/plots.png: the plots of a classifier that was fitted on the demo corpus.

python -m docs.plot_demo
"""

from pathlib import Path

from matplotlib.figure import Figure

import gramshift as gs
from gramshift.datasets.demo import load_demo


def main() -> None:
    source, target = load_demo("kitchen"), load_demo("films")
    classifier = gs.TransductiveClassifier().fit(source.texts, source.labels, target=target.texts)
    figure = Figure(figsize=(11, 8), layout="constrained")
    plots = (gs.plot.confidence, gs.plot.shares, gs.plot.ngrams, gs.plot.map)
    for plot, ax in zip(plots, figure.subplots(2, 2).flat, strict=True):
        plot(classifier, ax=ax)
    figure.savefig(
        Path(__file__).parent / "images" / "plots.png", dpi=80, metadata={"Software": None}
    )


if __name__ == "__main__":
    main()
