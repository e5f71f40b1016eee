"""Tasks for the Dask workers of tests, in a module of its own that workers import by name."""

import os
import signal
import time
from pathlib import Path

import numpy as np


def add(shared, item):
    return shared + item


def refuse_three(item):
    if item == 3:
        raise KeyError("three is refused")
    return item


def die_once(marker, shared, item):
    """Return shared + item; the first worker that gets item 5 is killed."""
    if item == 5 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return shared + item


def take_all_memory(item):
    """Take more memory than a worker may use, slowly, so that its nanny notices."""
    held = []
    for _ in range(500):
        held.append(np.ones(1 << 20))  # 8 MiB
        time.sleep(0.005)
    return item


def wait_for(path, item):
    """Wait for a file, for at most two minutes."""
    for _ in range(1200):
        if Path(path).exists():
            break
        time.sleep(0.1)
    return item


def dask_keys(client):
    """Return the configuration by which Dask reaches the scheduler of this client."""
    keys = client.security.get_tls_config_for_role("client")
    names = {"ca_file": "ca-file", "cert": "client.cert", "key": "client.key"}
    return {f"distributed.comm.tls.{name}": keys[key] for key, name in names.items()}
