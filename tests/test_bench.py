"""The benchmarks run; what they measure is theirs to say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.development import read_development


@pytest.mark.parametrize("name", ["kernel", "weighted", "pairs", "classifier", "reproduce", "experiments", "unbalanced"])
def test_the_benchmark_runs(name):
    command = [sys.executable, "-m", "bench", name, "--smoke", "--json"]
    result = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)


def test_development_reviews_are_read_once_each(tmp_path):
    (tmp_path / "positive.txt").write_text("good\n\ngood\nfine\n")
    (tmp_path / "negative.txt").write_text("bad\n")
    assert read_development(tmp_path) == (["good", "fine", "bad"], [1, 1, 0])
