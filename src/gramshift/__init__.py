"""Learn from labelled texts of one kind, and label texts of another, by words and n-grams."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramshift import baselines
    from gramshift.errors import FitWarning, GramshiftError
    from gramshift.evaluate.comparison import compare
    from gramshift.kernels.corpus import Corpus
    from gramshift.kernels.string_kernel import StringKernel
    from gramshift.model.classifier import TransductiveClassifier, load
    from gramshift.model.inputs import Target
    from gramshift.report import plot

__version__ = "1.0.0"
__all__ = [
    "Corpus",
    "FitWarning",
    "GramshiftError",
    "StringKernel",
    "Target",
    "TransductiveClassifier",
    "__version__",
    "baselines",
    "compare",
    "load",
    "plot",
]

_MODULES = {"baselines": "gramshift.baselines", "plot": "gramshift.report.plot"}
_HOMES = {
    "Corpus": "gramshift.kernels.corpus",
    "FitWarning": "gramshift.errors",
    "GramshiftError": "gramshift.errors",
    "StringKernel": "gramshift.kernels.string_kernel",
    "Target": "gramshift.model.inputs",
    "TransductiveClassifier": "gramshift.model.classifier",
    "compare": "gramshift.evaluate.comparison",
    "load": "gramshift.model.classifier",
}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that `gramshift --help` is fast."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'gramshift' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
