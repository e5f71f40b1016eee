"""The notebook and the scripts in examples/ run from top to bottom."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS] == ["two-frames.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    """What was computed once grows stale: tests run them instead."""
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::RuntimeWarning"
)  # of Jupyter
def test_two_frames_become_corrected_labels(tmp_path):
    notebook = nbformat.read(NOTEBOOKS[0], 4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(output.output_type == "error" for output in shown)
    said = "".join(output.text for output in shown if output.get("name") == "stderr").splitlines()
    assert not [
        line for line in said if not line.startswith("gramshift: compil")
    ]  # as it does once on every machine
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert (
        sum("420 target documents, labelled from 420 source documents" in page for page in pages)
        == 1
    )
    assert (
        sum("380 target documents, labelled from 460 source documents" in page for page in pages)
        == 1
    )
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
