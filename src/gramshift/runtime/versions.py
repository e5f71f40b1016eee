"""Whether the workers of a cluster have what this process has: other versions could give other bits, or other answers."""

from functools import cache
from importlib.metadata import version
from typing import Any

PACKAGES = ("gramshift", "numpy", "numba")
"""The last two decide how floating-point sums are rounded, and with one version each the bits are the same everywhere."""


@cache
def own_versions() -> tuple[str, ...]:
    """Of this process, in the order of PACKAGES."""
    return tuple(version(package) for package in PACKAGES)


def check_versions(client: Any) -> None:
    """Raise a ValueError that says which worker has what, if one of them has not what this process has.

    Workers are asked by a function of the standard library, so that one without our package can answer too.
    """
    for package, ours in zip(PACKAGES, own_versions(), strict=True):
        theirs = client.run(version, package, on_error="return")
        wrong = [
            f"worker {worker} has {found if isinstance(found, str) else 'none'}"
            for worker, found in sorted(theirs.items())
            if found != ours
        ]
        if wrong:
            raise ValueError(
                f"every worker must have {package} {ours}, as here, but {', '.join(wrong[:5])}"
                f"{f' and {len(wrong) - 5} more differ' if len(wrong) > 5 else ''}: "
                f"pip install {package}=={ours} there, and start the workers anew"
            )


def call_checked(ours: tuple[str, ...], function: Any, arguments: Any, keywords: Any, item: Any) -> Any:
    """function(*arguments, item, **keywords), on a worker that may have joined after the others were asked for versions."""
    if own_versions() != ours:
        raise ValueError(f"this worker has {own_versions()} of {PACKAGES}, not {ours}")
    return function(*arguments, item, **keywords)
