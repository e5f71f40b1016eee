"""The other systems of the paper's tables, with the interface of our own classifier."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramshift.errors import MissingPackageError

if TYPE_CHECKING:
    from gramshift.baselines.coral import CORAL as CORAL
    from gramshift.baselines.dci import DCI as DCI
    from gramshift.baselines.discriminant import KernelDiscriminant as KernelDiscriminant
    from gramshift.baselines.kemeta import KEMeta as KEMeta
    from gramshift.baselines.msda import MSDA as MSDA
    from gramshift.baselines.projecting import SCL as SCL
    from gramshift.baselines.projecting import SFA as SFA
    from gramshift.baselines.sst import SST as SST
    from gramshift.baselines.tfidf import NBSVM as NBSVM
    from gramshift.baselines.tfidf import BalancedSelfTraining as BalancedSelfTraining
    from gramshift.baselines.tfidf import SelfTraining as SelfTraining
    from gramshift.baselines.tfidf import TfidfCharacters as TfidfCharacters
    from gramshift.baselines.tfidf import TfidfLogistic as TfidfLogistic
    from gramshift.baselines.tradaboost import TopicTrAdaBoost as TopicTrAdaBoost
    from gramshift.baselines.tradaboost import TrAdaBoost as TrAdaBoost
    from gramshift.baselines.tsvm import TransductiveSVM as TransductiveSVM

_MODULES = {
    "coral": ["CORAL"],
    "dci": ["DCI"],
    "discriminant": ["KernelDiscriminant"],
    "kemeta": ["KEMeta"],
    "msda": ["MSDA"],
    "projecting": ["SCL", "SFA"],
    "sst": ["SST"],
    "tfidf": [
        *("BalancedSelfTraining", "NBSVM", "SelfTraining"),
        *("TfidfCharacters", "TfidfLogistic"),
    ],
    "tradaboost": ["TopicTrAdaBoost", "TrAdaBoost"],
    "tsvm": ["TransductiveSVM"],
}
CLASSES = {
    name: f"gramshift.baselines.{module}" for module, names in _MODULES.items() for name in names
}
"""The module of each class."""
EXTRA = "baselines"  # has the packages that baselines need
INSTALL = f"pip install 'gramshift[{EXTRA}]'"


def require(user: str, packages: tuple[str, ...]) -> None:
    """Raise an error that says what to install if a package is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingPackageError(f"{user} needs {', '.join(missing)}: {INSTALL}", name=missing[0])


def package_file(user: str, package: str, path: str) -> Path:
    """Return a file or folder of an installed package without importing it."""
    require(user, (package,))
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or []
    for folder in folders:
        if (Path(folder) / path).exists():
            return Path(folder) / path
    raise FileNotFoundError(
        f"{user} needs {path}, which the installed package {package!r} does not have: {INSTALL}"
    )


def __getattr__(name: str) -> Any:
    """Import a class when it is first used."""
    if name not in CLASSES:
        raise AttributeError(f"module 'gramshift.baselines' has no attribute {name!r}")
    value = getattr(import_module(CLASSES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(CLASSES)
