"""What a figure was measured on, and how."""

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "gramshift")
BEGUN = time.perf_counter()


def describe_machine() -> dict[str, Any]:
    """Processor, cores that we use, memory, and how busy the machine is before we start."""
    import psutil

    from gramshift.runtime.threads import count_threads

    return {
        "cpu": cpu_model(),
        "cores_used": count_threads(-1),
        "memory_gb": psutil.virtual_memory().total / 1e9,
        "load_before": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
    }


def describe_versions() -> dict[str, str]:
    """Of Python and the packages that matter."""
    return {"python": platform.python_version()} | {package: version(package) for package in PACKAGES}


def dask_keys(client: Any) -> dict[str, str]:
    """What Dask's configuration needs to let others of this user in, where a scheduler asks for this client's certificate."""
    keys = client.security.get_tls_config_for_role("client")
    names = {"ca_file": "ca-file", "cert": "client.cert", "key": "client.key"}
    return {f"distributed.comm.tls.{name}": keys[key] for key, name in names.items()}


def source_state(folders: Sequence[str]) -> str:
    """A fingerprint of these folders of gramshift: figures from before and after a change do not belong together."""
    import gramshift

    home = Path(gramshift.__file__).parent
    missing = [folder for folder in folders if not (home / folder).is_dir()]
    assert not missing, f"no such folders of gramshift: {missing}"
    files = [file for folder in folders for file in sorted((home / folder).rglob("*.py"))]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def cpu_model() -> str:
    """The name that the system gives its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """How long one call takes, and its result."""
    begun = time.perf_counter()
    result = function()
    return time.perf_counter() - begun, result


def least_and_median(times: list[float]) -> dict[str, float]:
    """Two figures for several runs."""
    return {"min_s": min(times), "median_s": median(times)}


def say(words: str) -> None:
    """Tell people how far we are, and since when."""
    print(f"{time.perf_counter() - BEGUN:6.1f} s  {words}", file=sys.stderr, flush=True)
