"""Label one csv file from another, and write the result and a report.

    python examples/two_csv_files.py source.csv target.csv labels.csv report.html

Both files have a column "text", the source also a column "label". Without arguments the script
writes the demo files to a temporary folder and uses those. It needs pandas.
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd

import gramshift as gs
from gramshift.datasets.demo import load_demo


def main(source_file: str, target_file: str, labels_file: str, report_file: str) -> None:
    source = pd.read_csv(source_file)
    target = pd.read_csv(target_file)
    classifier = gs.TransductiveClassifier(verbose=True)
    classifier.fit(source["text"], source["label"], target=target["text"])

    verdict = classifier.diagnostics_.get("verdict")
    expected = classifier.expected_accuracy_
    print(f"{expected['value']:.0%} of the labels are expected to be right. {verdict}")

    classifier.to_frame().to_csv(labels_file, index=False)
    classifier.report(report_file, overwrite=True)
    print(f"labels in {labels_file}, report in {report_file}")


def write_demo(folder: Path) -> list[str]:
    """Write reviews of kitchenware with labels, and reviews of films without."""
    kitchen, films = load_demo("kitchen"), load_demo("films")
    names = [
        str(folder / name) for name in ("kitchen.csv", "films.csv", "labels.csv", "report.html")
    ]
    pd.DataFrame({"text": kitchen.texts, "label": kitchen.labels}).to_csv(names[0], index=False)
    pd.DataFrame({"text": films.texts}).to_csv(names[1], index=False)
    return names


if __name__ == "__main__":
    main(*(sys.argv[1:] or write_demo(Path(tempfile.mkdtemp()))))
