"""What options can be chosen from, and what they are called in errors; nothing here takes time to import."""

from gramshift.errors import InputError
from gramshift.methods import BEST

KERNELS = ("presence", "intersection", "spectrum")
FORMATS = ("csv", "tsv", "jsonl", "parquet")
ENGINES = ("threads", "dask")
PRESETS = ("paper", BEST)


def as_option(name: str, value: object = None) -> str:
    """Name an option of the command in an error: ``--label``, or ``--label stars``."""
    return f"--{name}" if value is None else f"--{name} {value}"


def check_preset(name: str) -> None:
    """Raise an error if there is no such preset: the paper's, or the best."""
    if name not in PRESETS:
        raise InputError(f"--preset {name}: there are {' and '.join(PRESETS)}")
