"""The table of methods that a user can name."""

from difflib import get_close_matches
from typing import Any

STAGES: dict[str, dict[str, Any]] = {  # the three of the paper
    "plain": {"adapt": False, "n_rounds": 1},
    "adapted": {"adapt": True, "n_rounds": 1},
    "tkc": {"adapt": True, "n_rounds": 2},
}
METHODS = tuple(STAGES)


def check_method(name: str) -> None:
    """Raise an error if there is no such method."""
    if name not in METHODS:
        close = get_close_matches(name.lower(), METHODS, n=1)
        advice = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"method {name!r} is not known; there are {', '.join(METHODS)}{advice}")


def make_classifier(name: str, **options: Any) -> Any:
    """A classifier, not fitted; ``options`` are parameters of TransductiveClassifier."""
    from gramshift.estimators.transductive import TransductiveClassifier

    check_method(name)
    return TransductiveClassifier(**options | STAGES[name])
