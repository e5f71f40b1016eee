"""The notebook and the scripts in examples/ run from top to bottom."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
(NOTEBOOK,) = EXAMPLES.glob("*.ipynb")


def test_the_notebook_is_kept_without_outputs():
    """Kept outputs grow stale: tests run it instead."""
    cells = [cell for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning"
)  # of Jupyter
def test_two_frames_become_corrected_labels(tmp_path):
    notebook = nbformat.read(NOTEBOOK, 4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(output.output_type == "error" for output in shown)
    said = "".join(output.text for output in shown if output.get("name") == "stderr").splitlines()
    assert not [
        line for line in said if not line.startswith("gramshift: compil")
    ]  # as it does once on every machine
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    for n_target, n_source in ((420, 420), (380, 460)):
        words = f"{n_target} target documents, labelled from {n_source} source documents"
        assert sum(words in page for page in pages) == 1
    assert sum("image/png" in output.get("data", {}) for output in shown) == 1
    words = "".join(output.get("text", "") for output in shown)
    assert "labels are expected to be right" in words
    assert "of 380 other labels changed" in words
    assert {path.name for path in tmp_path.iterdir()} >= {"report.html", "films.gramshift"}


SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.mark.process
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_run_on_the_demo_corpus(path, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    if path.stem == "two_csv_files":
        files = {file.name for file in tmp_path.glob("*/*")}
        assert files == {"kitchen.csv", "films.csv", "labels.csv", "report.html"}
    else:
        counts = dict(line.split(": ") for line in answer.stdout.splitlines())
        assert sum(map(int, counts.values())) == 420
