"""The benchmarks run; what they measure is theirs to say."""

import json
import subprocess
import sys
from pathlib import Path


def test_the_kernel_benchmark_runs():
    command = [sys.executable, "-m", "bench", "kernel", "--smoke", "--json"]
    result = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)
