"""What tests have Dask workers do, and how to reach them: a module of its own, because workers import it by name."""

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
    """shared + item; but the first worker that comes to item 5 dies as if the system had killed it."""
    if item == 5 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return shared + item


def take_all_memory(item):
    """More than any worker in these tests may use, by and by, so that it is the nanny who notices."""
    held = []
    for _ in range(500):
        held.append(np.ones(1 << 20))  # 8 MiB
        time.sleep(0.005)
    return item


def wait_for(path, item):
    """Until the file is there, for at most two minutes."""
    for _ in range(1200):
        if Path(path).exists():
            break
        time.sleep(0.1)
    return item


def dask_keys(client):
    """Return what Dask's configuration needs to reach a scheduler that asks for this client's certificate."""
    keys = client.security.get_tls_config_for_role("client")
    names = {"ca_file": "ca-file", "cert": "client.cert", "key": "client.key"}
    return {f"distributed.comm.tls.{name}": keys[key] for key, name in names.items()}
