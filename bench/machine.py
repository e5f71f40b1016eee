"""Description of the machine, timing, memory, and tables for people."""

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "gramshift")
BEGUN = time.perf_counter()

Row = dict[str, Any]
"""Figures by the name that stands above them in a table."""


def describe() -> dict[str, Any]:
    """Return the machine, its load, the relevant versions and a fingerprint of the source."""
    import psutil

    from gramshift.parallel import count_threads

    machine = {
        "cpu": cpu_model(),
        "cores_used": count_threads(-1),
        "memory_gb": psutil.virtual_memory().total / 1e9,
        "load_before": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
    }
    versions = {"python": platform.python_version()} | {
        package: version(package) for package in PACKAGES
    }
    return {"machine": machine, "versions": versions, "source": source_state()}


def source_state() -> str:
    """Return a fingerprint of the source of gramshift."""
    import gramshift

    files = sorted(Path(gramshift.__file__).parent.rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def peak_bytes(process: int | str = "self") -> int:
    """Return the peak resident memory of a process, or 0 if the system does not report it.

    On Linux ru_maxrss survives exec and includes the peak of the parent process.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long one call takes, and its result."""
    begun = time.perf_counter()
    result = function()
    return time.perf_counter() - begun, result


def say(words: str) -> None:
    """Print progress on stderr, after the seconds since the start."""
    print(f"{time.perf_counter() - BEGUN:6.1f} s  {words}", file=sys.stderr, flush=True)


def table(rows: Sequence[Row]) -> str:
    """Align rows under the names of their figures: the first to the left, the others to the right.

    A figure that the first row has and another row lacks is a dash.
    """
    names = list(rows[0])
    cells = [names, *([cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *rest in cells:
        figures = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *figures]).rstrip())
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return three significant figures, or a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def machine_lines(result: dict[str, Any]) -> str:
    """Show machine and versions."""
    machine = result["machine"]
    used = (
        f"{machine['cores_used']} cores used, {machine['memory_gb']:.1f} GB, "
        f"load before {machine['load_before']:.1f}"
    )
    versions = (
        ", ".join(f"{name} {number}" for name, number in result["versions"].items())
        + f" (source {result['source']})"
    )
    return f"machine   {machine['cpu']}, {used}\nversions  {versions}"


def show(result: dict[str, Any]) -> str:
    """Show machine and texts, then all tables, notes and failed sections."""
    head = machine_lines(result)
    if "texts" in result:
        head += f"\ntexts     {result['texts']}"
    failed = [f"failed   {name}: {words}" for name, words in result.get("failed", {}).items()]
    tables = [table(rows) for rows in result["tables"].values()]
    return "\n\n".join([head, *tables, *result.get("notes", ()), *failed])
