"""Packages of the extra ``baselines``: whether they are there, and where their files are."""

from importlib.util import find_spec
from pathlib import Path

COMMAND = "pip install 'gramshift[baselines]'"


def require(user: str, packages: tuple[str, ...]) -> None:
    """Raise an error that says what to install if one of the packages that ``user`` needs is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(f"{user} needs {', '.join(missing)}: {COMMAND}", name=missing[0])


def package_file(user: str, package: str, path: str) -> Path:
    """A file or folder within an installed package, which is not imported."""
    require(user, (package,))
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or []
    for folder in folders:
        if (Path(folder) / path).exists():
            return Path(folder) / path
    raise FileNotFoundError(f"{user} needs {path}, which the installed package {package!r} does not have: {COMMAND}")
