"""The other systems of the paper's tables, behind the interface of our own classifier."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramshift.baselines.coral import CORAL
    from gramshift.baselines.dci import DCI
    from gramshift.baselines.discriminant import KernelDiscriminant
    from gramshift.baselines.kemeta import KEMeta
    from gramshift.baselines.msda import MSDA
    from gramshift.baselines.projecting import SCL, SFA
    from gramshift.baselines.sst import SST
    from gramshift.baselines.tfidf import NBSVM, BalancedSelfTraining, SelfTraining, TfidfCharacters, TfidfLogistic
    from gramshift.baselines.tradaboost import TopicTrAdaBoost, TrAdaBoost
    from gramshift.baselines.tsvm import TransductiveSVM

CLASSES = {  # where each class lives
    "SFA": "gramshift.baselines.projecting",
    "CORAL": "gramshift.baselines.coral",
    "TrAdaBoost": "gramshift.baselines.tradaboost",
    "TopicTrAdaBoost": "gramshift.baselines.tradaboost",
    "SST": "gramshift.baselines.sst",
    "KEMeta": "gramshift.baselines.kemeta",
    "SCL": "gramshift.baselines.projecting",
    "DCI": "gramshift.baselines.dci",
    "TransductiveSVM": "gramshift.baselines.tsvm",
    "KernelDiscriminant": "gramshift.baselines.discriminant",
    "TfidfLogistic": "gramshift.baselines.tfidf",
    "TfidfCharacters": "gramshift.baselines.tfidf",
    "NBSVM": "gramshift.baselines.tfidf",
    "MSDA": "gramshift.baselines.msda",
    "SelfTraining": "gramshift.baselines.tfidf",
    "BalancedSelfTraining": "gramshift.baselines.tfidf",
}

__all__ = [
    "CORAL",
    "DCI",
    "MSDA",
    "NBSVM",
    "SCL",
    "SFA",
    "SST",
    "BalancedSelfTraining",
    "KEMeta",
    "KernelDiscriminant",
    "SelfTraining",
    "TfidfCharacters",
    "TfidfLogistic",
    "TopicTrAdaBoost",
    "TrAdaBoost",
    "TransductiveSVM",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for."""
    if name not in CLASSES:
        raise AttributeError(f"module 'gramshift.baselines' has no attribute {name!r}")
    value = getattr(import_module(CLASSES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
