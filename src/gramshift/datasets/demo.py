"""The demo corpus: 840 short reviews of kitchen tools and films, written for this project."""

import csv
from importlib.resources import files
from typing import NamedTuple

from gramshift.errors import InputError

DOMAINS = ("kitchen", "films")


class Reviews(NamedTuple):
    """Texts and their labels."""

    texts: list[str]
    labels: list[str]


def load_demo(domain: str) -> Reviews:
    """Read the 420 reviews of one domain, half of them "positive", half "negative".

    >>> from gramshift.datasets.demo import load_demo
    >>> kitchen = load_demo("kitchen")
    >>> len(kitchen.texts), sorted(set(kitchen.labels))
    (420, ['negative', 'positive'])
    """
    if domain not in DOMAINS:
        raise InputError(f"domain={domain!r}: must be one of {', '.join(map(repr, DOMAINS))}")
    file = files("gramshift.datasets").joinpath("demo", f"{domain}.csv")
    text = file.read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines(keepends=True)))
    return Reviews([row["text"] for row in rows], [row["label"] for row in rows])
