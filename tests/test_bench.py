"""Every benchmark runs on a few texts: ``make test-all``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ["kernel", "classifier", "reproduce", "linear", "classify", "robust", "encoder"]


@pytest.mark.bench
@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_and_its_results_agree(name):
    command = [sys.executable, "-m", "bench", name, "--smoke", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["benchmark"] == name
    assert not result["source_changed"]
    assert not result.get("failed")
