"""What the classifier does where the user does not say: the paper's choices, or the best that we know."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.weighting import as_powers
from gramshift.learn.landmark_ridge import CHOICES

Floats = NDArray[np.float64]
WORDS, WORD_RANGE = "words", (1, 2)
SELECTIONS = ("surest", "source shares", "estimated shares")
MOST_LANDMARKS = 10_000  # that "auto" takes: training on more takes longer than it is worth
LARGEST_ALPHA = 1e12  # beyond it all scores are the same to rounding
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "kernel": "presence",
        "weighting": "none",
        "adapt": True,
        "n_rounds": 2,
        "n_added": 1000,
        "alpha": 1e-5,
        "select": "surest",
    },
    "best": {  # chosen on development data: docs/experiments.md
        "kernel": ("presence", "words"),
        "weighting": {"idf": 2, "classes": 1},
        "adapt": False,
        "n_rounds": 5,
        "n_added": (0.25, 0.5, 0.75, 1.0),
        "alpha": 1.0,
        "select": "estimated shares",
    },
}


def fill_in(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with the preset's value for each that is None; wrong ones are an error."""
    from gramshift.model.similarities import can_be_weighted  # brings compiled code along

    preset = parameters["preset"]
    if not isinstance(preset, str) or preset not in PRESETS:
        raise ValueError(f"preset={preset!r}: must be one of {', '.join(map(repr, PRESETS))}")
    settings = dict(parameters)
    for name, value in PRESETS[preset].items():
        if settings[name] is None:
            settings[name] = value
    if parameters["n_rounds"] is None and isinstance(parameters["n_added"], (list, tuple)):
        settings["n_rounds"] = 1 + len(parameters["n_added"])
    kernels = settings["kernel"] if isinstance(settings["kernel"], (list, tuple)) else [settings["kernel"]]
    if parameters["weighting"] is None and not all(map(can_be_weighted, kernels)):
        settings["weighting"] = "none"  # those of the preset are not meant for these
    _check(settings)
    return settings


def in_effect(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a fit, each with the value that held."""
    given = dict(parameters)
    settings: dict[str, Any] = given.pop("settings", {})
    return given | settings


def _check(settings: Mapping[str, Any]) -> None:
    n_rounds, alpha, select = (settings[name] for name in ("n_rounds", "alpha", "select"))
    if not _is(n_rounds, Integral) or n_rounds < 1:
        raise ValueError(f"n_rounds={n_rounds!r}: give a whole number from 1 on; 2 is the paper's")
    several = isinstance(settings["n_added"], (list, tuple))
    for n_added in settings["n_added"] if several else [settings["n_added"]]:
        share = _is(n_added, Real) and not isinstance(n_added, Integral)
        if not _is(n_added, Real) or not n_added > 0 or (share and n_added > 1):
            advice = "to add none, use n_rounds=1"
            raise ValueError(f"n_added={n_added!r}: give a count from 1 on, or a share of the target up to 1.0; {advice}")
    if several and not settings["n_added"]:
        raise ValueError("n_added is empty: give a number for each round after the first; to add none, use n_rounds=1")
    if not _is(alpha, Real) or not 0 < alpha <= LARGEST_ALPHA:
        raise ValueError(f"alpha={alpha!r}: give a number above 0, up to {LARGEST_ALPHA:g}; 1e-5 is the paper's")
    for name in ("adapt", "bias"):
        if not isinstance(settings[name], (bool, np.bool_)):
            raise ValueError(f"{name}={settings[name]!r}: give True or False")
    if not isinstance(select, Mapping) and select not in SELECTIONS:
        names = ", ".join(map(repr, SELECTIONS))
        raise ValueError(f"select={select!r}: must be one of {names}, or a dict with the share of each class")
    as_powers(settings["weighting"])


def check_landmarks(settings: Mapping[str, Any]) -> None:
    """Raise an error if the parameters do not go together with landmarks."""
    n, choice = settings["landmarks"], settings["landmark_choice"]
    if n != "auto" and (not _is(n, Integral) or n < 1):
        raise ValueError(f"landmarks={n!r}: give a number of documents from 1 on, for example 2000, 'auto', or None for all")
    if not isinstance(choice, str) or choice not in CHOICES:
        raise ValueError(f"landmark_choice={choice!r}: must be one of {', '.join(map(repr, CHOICES))}")
    if not _is(settings["random_state"], Integral) or not 0 <= settings["random_state"] < 2**32:
        raise ValueError(f"random_state={settings['random_state']!r}: give a whole number from 0 on")
    if settings["classifier"] != "ridge":
        raise ValueError(f"classifier={settings['classifier']!r} works on the exact kernel alone; with landmarks use 'ridge'")
    if isinstance(settings["kernel"], str) and settings["kernel"] == "precomputed":
        raise ValueError("kernel='precomputed' is exact already: landmarks are for documents; leave them out")


def count_added(n_added: Any, n_target: int) -> list[int]:
    """How many documents join after each round; shares are of the target."""
    several = n_added if isinstance(n_added, (list, tuple)) else [n_added]
    return [int(one) if isinstance(one, Integral) else max(1, round(one * n_target)) for one in several]


def given_shares(select: Mapping[Any, Any], classes: list[Any]) -> Floats:
    """The user's shares in the order of the classes, made to add up to 1."""
    wrong = set(select) != set(classes) or not all(_is(share, Real) and 0 <= share < np.inf for share in select.values())
    if wrong or not sum(select.values()) > 0:
        raise ValueError(f"select={dict(select)!r}: give a share from 0 on for each of the classes {classes}")
    shares = np.array([float(select[label]) for label in classes])
    total: Floats = shares / shares.sum()
    return total


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
