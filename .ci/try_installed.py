"""Label a few documents with an installed Gramshift, in an empty folder.

Usage: try_installed.py COMMAND VERSION
"""

import csv
import os
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points, metadata
from importlib.resources import files
from pathlib import Path

command, version = sys.argv[1:]
os.chdir(tempfile.mkdtemp())


def run(*words: str) -> str:
    """Run the command and return its standard output."""
    result = subprocess.run(
        [command, *words], capture_output=True, text=True, timeout=500, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


assert run("--version") == f"gramshift {version}\n"
assert metadata("gramshift")["License-Expression"] == "BSD-3-Clause"
assert [one.value for one in entry_points(group="console_scripts", name="gramshift")] == [
    "gramshift.commands.entry:run"
]
assert files("gramshift").joinpath("py.typed").is_file()

# needs the corpus, the template of the report and the compiled loops
run("demo", "--output", "shop")
files_in = ["shop/kitchen.csv", "--target", "shop/films.csv"]
run(
    "classify",
    *files_in,
    "--output",
    "labels.csv",
    "--report",
    "report.html",
    "--save",
    "model.gramshift",
)
with Path("labels.csv").open(newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
right = sum(row["predicted_label"] == row["label"] for row in rows)
assert len(rows) == 420
assert right == 295, right  # 70.2 %, as the documents have it

import gramshift as gs  # noqa: E402 after the folder was changed, which has no source

labels = gs.load("model.gramshift").predict([row["text"] for row in rows])
assert labels.tolist() == [row["predicted_label"] for row in rows]
where = Path(gs.__file__).parent
print(f"{gs.__version__} from {where}: {right} of {len(rows)} films labelled correctly")
